"""Layer 0 · base: settings of the whole process that are kept, and read back, without effect.

What they choose between in PyTorch is one and the same here: every operation is deterministic, and
products are as exact as their dtype.
"""

from __future__ import annotations

import operator

from wengert.base.sections import fill_sections

_PRECISIONS = ("highest", "high", "medium")


class _Settings:
    deterministic = False
    warn_only = False
    precision = "highest"
    interop_threads = 1


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same results from each run, which every operation gives anyway.

    Examples
    --------
    >>> wg.use_deterministic_algorithms(True)
    >>> wg.are_deterministic_algorithms_enabled()
    True
    >>> wg.use_deterministic_algorithms(False)
    """
    _Settings.deterministic = bool(mode)
    _Settings.warn_only = bool(mode) and bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was last told.

    Examples
    --------
    >>> wg.are_deterministic_algorithms_enabled()
    False
    """
    return _Settings.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was last told to warn only.

    Examples
    --------
    >>> wg.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _Settings.warn_only


def set_float32_matmul_precision(precision: str) -> None:
    """Say how exact products of float32 have to be; they are exact whatever is said.

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
    _Settings.precision = precision


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was last told.

    Examples
    --------
    >>> wg.get_float32_matmul_precision()
    'highest'
    """
    return _Settings.precision


def set_flush_denormal(mode: bool) -> bool:
    """False: numbers below the smallest normal one stay what they are.

    Examples
    --------
    >>> wg.set_flush_denormal(True)
    False
    """
    return False


def set_num_interop_threads(num: int) -> None:
    """Say how many operations may run at a time; they run one after the other.

    Raises
    ------
    RuntimeError: If it is less than one.

    Examples
    --------
    >>> wg.set_num_interop_threads(1)
    """
    if operator.index(num) < 1:
        raise RuntimeError(f"set_num_interop_threads expects a positive number, not {num}")
    _Settings.interop_threads = operator.index(num)


def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` was last told; 1 at first.

    Examples
    --------
    >>> wg.get_num_interop_threads()
    1
    """
    return _Settings.interop_threads


fill_sections(globals())
