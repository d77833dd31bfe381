"""Layer 9 · compat: MXNet's switches between legacy arrays and NumPy's semantics."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet.state import NUMPY


def set_np(shape=True, array=True, dtype=False) -> None:
    """Use ``mxnet.np`` arrays in `gluon`, and with `dtype` NumPy's default dtypes.

    Raises
    ------
    ValueError: If `array` is set without `shape`.

    Examples
    --------
    >>> npx.set_np(dtype=True)
    >>> np.array([1.5])
    array([1.5])
    >>> np.array([1.5]).dtype
    dtype('float64')
    >>> npx.set_np()
    """
    if array and not shape:
        raise ValueError("NumPy Shape semantics is required in using NumPy array semantics.")
    NUMPY.set((bool(shape), bool(array), bool(dtype)))


def reset_np() -> None:
    """Go back to the legacy arrays."""
    NUMPY.set((False, False, False))


def is_np_shape() -> bool:
    """Return whether NumPy's shape semantics are enabled."""
    return NUMPY.get()[0]


def is_np_array() -> bool:
    """Return whether ``mxnet.np`` arrays are enabled."""
    return NUMPY.get()[1]


def is_np_default_dtype() -> bool:
    """Return whether NumPy's default dtypes are enabled."""
    return NUMPY.get()[2]


def set_np_shape(active: bool) -> bool:
    """Enable or disable NumPy's shape semantics, and return the previous setting."""
    before = NUMPY.get()
    NUMPY.set((bool(active), *before[1:]))
    return before[0]


@contextlib.contextmanager
def _within(setting: Callable[[], tuple[bool, bool, bool]]) -> Iterator[None]:
    token = NUMPY.set(setting())
    try:
        yield
    finally:
        NUMPY.reset(token)


def np_shape(active=True) -> Any:
    """Call `set_np_shape` for the duration of a ``with`` statement."""
    return _within(lambda: (bool(active), *NUMPY.get()[1:]))


def np_array(active=True) -> Any:
    """Enable or disable ``mxnet.np`` arrays inside a ``with`` block."""
    return _within(lambda: (NUMPY.get()[0] or bool(active), bool(active), NUMPY.get()[2]))


_METHODS = ("__init__", "forward", "hybrid_forward")


def use_np(function) -> Any:
    """Decorate a function or a block to run as after `set_np`.

    Examples
    --------
    >>> npx.reset_np()
    >>> @npx.use_np
    ... def chosen():
    ...     return npx.is_np_array()
    >>> chosen(), npx.is_np_array()
    (True, False)
    """
    if isinstance(function, type):
        for name in _METHODS:
            if name in vars(function):
                setattr(function, name, use_np(vars(function)[name]))
        return function

    @functools.wraps(function)
    def call(*args, **kwargs) -> Any:
        with np_array():
            return function(*args, **kwargs)

    return call


__all__ = defined(globals())
