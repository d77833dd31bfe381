"""Layer 0 · base: process-wide settings; all but one are stored without effect.

The alternatives that they select in PyTorch are the same here: every operation is deterministic,
and products have the full precision of their dtype. Only new memory is filled, where results that
do not depend on what it holds are asked for.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wengert.base.errors import kind_of, wrong_type
from wengert.base.patches import Setting

_MODES = ("default", "warn", "error")
_PRECISIONS = ("highest", "high", "medium")


_DETERMINISTIC, _WARN_ONLY = Setting(False), Setting(False)
_FILLS = Setting(True)
_PRECISION, _INTEROP_THREADS = Setting("highest"), Setting(1)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Request the same results in each run, which every operation gives anyway. Then `empty` and
    `resize_` fill memory with NaN or the largest number, unless
    ``utils.deterministic.fill_uninitialized_memory`` is False.

    Examples
    --------
    >>> wg.use_deterministic_algorithms(True)
    >>> wg.are_deterministic_algorithms_enabled()
    True
    >>> wg.use_deterministic_algorithms(False)
    """
    for arg, value in {"mode": mode, "warn_only": warn_only}.items():
        if not isinstance(value, bool):
            raise wrong_type("use_deterministic_algorithms", arg, "bool", value)
    _DETERMINISTIC.set(mode)
    _WARN_ONLY.set(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Return the last setting of `use_deterministic_algorithms`.

    Examples
    --------
    >>> wg.are_deterministic_algorithms_enabled()
    False
    """
    return bool(_DETERMINISTIC.value)


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return whether `use_deterministic_algorithms` was last called with ``warn_only=True``.

    Examples
    --------
    >>> wg.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return bool(_WARN_ONLY.value)


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set what `use_deterministic_algorithms` does, by a number or a word.

    Parameters
    ----------
    debug_mode : int or str. 0 or "default", 1 or "warn", 2 or "error".

    Examples
    --------
    >>> wg.set_deterministic_debug_mode("warn")
    >>> wg.get_deterministic_debug_mode()
    1
    >>> wg.set_deterministic_debug_mode(0)
    """
    if not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode not in (*_MODES, 0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected one of 0, 1, 2, {_MODES}, but got {debug_mode}"
        )
    mode = _MODES.index(debug_mode) if isinstance(debug_mode, str) else debug_mode
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """Return the last setting of `set_deterministic_debug_mode` or `use_deterministic_algorithms`.

    Examples
    --------
    >>> wg.get_deterministic_debug_mode()
    0
    """
    return _DETERMINISTIC.value + (_DETERMINISTIC.value and not _WARN_ONLY.value)


def _get_deterministic_fill_uninitialized_memory() -> bool:
    return bool(_FILLS.value)


def _set_deterministic_fill_uninitialized_memory(mode: bool) -> None:
    if not isinstance(mode, bool):
        raise RuntimeError(f"expected a bool, but got {kind_of(mode)}")
    _FILLS.set(mode)


def unwritten(array: Any) -> Any:
    """Return new memory, after filling it if results must not depend on what it holds."""
    if _DETERMINISTIC.value and _FILLS.value:
        whole = array.dtype.kind in "iu"
        array[...] = np.iinfo(array.dtype).max if whole else np.array(np.nan).astype(array.dtype)
    return array


def set_float32_matmul_precision(precision: str) -> None:
    """Set the precision of float32 products, which are always exact; stored, without effect.

    Parameters
    ----------
    precision : {"highest", "high", "medium"}. Kept for `get_float32_matmul_precision`.

    Raises
    ------
    RuntimeError: If it is another word.

    Examples
    --------
    >>> wg.set_float32_matmul_precision("highest")
    """
    if precision not in _PRECISIONS:
        raise RuntimeError(
            f"float32 matmul precision must be one of {', '.join(_PRECISIONS)}, not {precision!r}"
        )
    _PRECISION.set(precision)


def get_float32_matmul_precision() -> str:
    """Return the last setting of `set_float32_matmul_precision`.

    Examples
    --------
    >>> wg.get_float32_matmul_precision()
    'highest'
    """
    return str(_PRECISION.value)


def set_flush_denormal(mode: bool) -> bool:
    """Return False: denormal numbers are kept as they are.

    Examples
    --------
    >>> wg.set_flush_denormal(True)
    False
    """
    return False


def set_num_interop_threads(num: int) -> None:
    """Set how many operations may run at a time; they run one at a time anyway.

    Raises
    ------
    RuntimeError: If it is less than one.

    Examples
    --------
    >>> wg.set_num_interop_threads(1)
    """
    if operator.index(num) < 1:
        raise RuntimeError(f"set_num_interop_threads expects a positive number, not {num}")
    _INTEROP_THREADS.set(operator.index(num))


def get_num_interop_threads() -> int:
    """Return the last setting of `set_num_interop_threads`; initially 1.

    Examples
    --------
    >>> wg.get_num_interop_threads()
    1
    """
    return int(_INTEROP_THREADS.value)
