"""Layer 9 · compat: functions of ``mxnet.np`` that create arrays, by default of float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import numpy as wnp
from wengert.base.arrays import plain_array, unmasked
from wengert.compat.kit.signatures import named
from wengert.compat.mxnet.context import checked
from wengert.compat.mxnet.results import CLASSES, adopt, computed, default_float, default_int, into
from wengert.compat.mxnet.signatures import showing
from wengert.tape.base import TensorBase, new_tensor

__all__ = ["CREATORS", "filled", "made", "numbers"]


def made(array, cls: type | None = None) -> Any:
    """Convert a NumPy array without other references to an array of class `cls`."""
    return adopt(new_tensor(plain_array(np.asarray(array))), CLASSES["np"] if cls is None else cls)


def filled(array, name: str, cls: type | None = None) -> Any:
    """Convert a NumPy array, like `made`, to an array whose memory is writable."""
    result = made(array, cls)
    result._vc = [1, name]
    return result


def numbers(value, dtype) -> Any:
    """Convert numbers, lists and NumPy arrays to an array; lists become float32 by default."""
    if dtype is None and not isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind not in "biufc":
            raise TypeError("source_array must be array like object of numbers")
        # also for booleans
        kind = default_float() if array.dtype.kind in "fc" else default_int()
        return array.astype(array.dtype if array.dtype.kind == "c" else kind)
    return np.array(unmasked(value), dtype)


def array(object, dtype=None, ctx=None) -> Any:
    """Build an array in its own memory from numbers, lists, or arrays.

    Parameters
    ----------
    object : array_like
    dtype : dtype, optional
        The dtype; by default that of an array, or float32 for numbers and lists, even of integers.
    ctx : Context, optional

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from wengert.compat.mxnet import np
    >>> np.array([1, 2])
    array([1., 2.])
    >>> np.array([1, 2], dtype="int32")
    array([1, 2], dtype=int32)
    """
    checked(ctx)
    if _arrays(object):
        result = computed(CLASSES["np"], wnp.array, (object,), {})
        return result if dtype is None else result.astype(dtype)
    return made(numbers(object, dtype))


def _arrays(value) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_arrays, value))
    return isinstance(value, TensorBase)


def _parts(args: tuple[Any, ...]) -> list[Any]:
    """Replace tensors among arguments by NumPy arrays."""
    return [np.asarray(a._payload) if isinstance(a, TensorBase) else a for a in args]


def _shown(make: Callable[..., Any], name: str, words: str) -> Any:
    doc = f"NumPy's `{name}`{words} (see `numpy.{name}`)."
    return showing(named(make, name, doc), getattr(np, name), creates=True)


def _of_default(name: str) -> Callable[..., Any]:
    """Wrap a function of NumPy to return float32 if no dtype is given."""
    below = getattr(np, name)

    def make(*args, ctx=None, dtype=None, **kwargs) -> Any:
        checked(ctx)
        given = _parts(args)
        if dtype is None and name in _WITH_DTYPE and len(given) > _WITH_DTYPE[name]:
            dtype = given.pop(_WITH_DTYPE[name])
        whole = name == "arange" and not any(isinstance(a, float) for a in given)
        kind = (default_int() if whole else default_float()) if dtype is None else dtype
        if name == "logspace" or name == "linspace":
            result = below(*given, **kwargs)
            if isinstance(result, tuple):
                return made(result[0].astype(kind)), result[1]
            return made(result.astype(kind))
        result = below(*given, dtype=kind, **kwargs)
        return filled(result, name) if name in ("empty", "ones", "zeros") else made(result)

    return _shown(make, name, ", of float32 where no dtype is asked for")


_WITH_DTYPE = {"zeros": 1, "ones": 1, "empty": 1, "arange": 3, "identity": 1}
"""The position of the dtype argument in each function."""


def full(shape, fill_value, order="C", ctx=None, dtype=None, out=None) -> Any:
    """Build an array of one value, which may be an array and is then differentiable.

    Examples
    --------
    >>> from wengert.compat.mxnet import np
    >>> np.full((2,), 3)
    array([3., 3.])
    """
    checked(ctx)
    if isinstance(fill_value, TensorBase):
        result = computed(CLASSES["np"], wnp.full, (shape, fill_value), {})
        result = result if dtype is None else result.astype(dtype)
    elif dtype is None:
        kind = np.dtype(bool) if isinstance(fill_value, bool) else default_float()
        result = filled(np.full(shape, fill_value, kind), "full")
    else:
        result = filled(np.full(shape, fill_value, dtype), "full")
    return into(out, result)


def _like(name: str) -> Callable[..., Any]:
    below = getattr(np, name)

    def make(a, *args, ctx=None, out=None, **kwargs) -> Any:
        checked(ctx)
        kwargs.pop("order", None)
        return filled(below(*_parts((a, *args)), **kwargs), name)

    return _shown(make, name, ": shape and dtype of another array")


def _plain(name: str) -> Callable[..., Any]:
    """Wrap a function of NumPy, and keep the dtype of its result."""
    below = getattr(np, name)

    def make(*args, ctx=None, **kwargs) -> Any:
        checked(ctx)
        result = below(*_parts(args), **kwargs)
        if isinstance(result, tuple):
            return tuple(map(made, result))
        if result.dtype == np.float64 and "dtype" not in kwargs:
            result = result.astype(default_float())
        return made(result)

    return _shown(make, name, ", as an array of MXNet's")


_DEFAULT = "arange empty eye identity linspace logspace ones tri zeros"
_LIKE = "empty_like full_like ones_like zeros_like"
_PLAIN = "blackman hamming hanning bartlett kaiser indices"
CREATORS: dict[str, Callable[..., Any]] = {
    "array": array,
    "full": full,
    **{name: _of_default(name) for name in _DEFAULT.split()},
    **{name: _like(name) for name in _LIKE.split()},
    **{name: _plain(name) for name in _PLAIN.split()},
}
