"""Layer 9 · compat: functions of ``mxnet.nd`` that create arrays, by default of float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.arrays import unmasked
from wengert.compat.kit.namespaces import defined, functions_of
from wengert.compat.kit.signatures import named
from wengert.compat.mxnet import storage
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import shown
from wengert.compat.mxnet.context import checked
from wengert.compat.mxnet.numpy.creation import filled, made
from wengert.compat.mxnet.results import into
from wengert.tape.base import TensorBase


def array(source_array, ctx=None, dtype=None) -> Any:
    """Build an array in its own memory from numbers, lists, or another array.

    Parameters
    ----------
    source_array : array_like
    ctx : Context, optional
    dtype : dtype, optional. Default: that of an `NDArray`, else float32.

    Raises
    ------
    TypeError: If `source_array` contains anything but numbers.

    Examples
    --------
    >>> nd.array([[1, 2]]).shape
    (1, 2)
    """
    checked(ctx)
    if isinstance(source_array, TensorBase):
        kind = source_array._payload.dtype if dtype is None else dtype
        return made(np.array(source_array._payload, kind), NDArray)
    parts = source_array
    if isinstance(parts, list | tuple) and any(isinstance(p, TensorBase) for p in parts):
        parts = [p.asnumpy() if isinstance(p, NDArray) else p for p in parts]
    values = np.asarray(unmasked(parts))
    if values.dtype.kind not in "biufc":
        raise TypeError(f"source_array must be array like object, got {shown(source_array)}")
    return made(values.astype(np.float32 if dtype is None else dtype), NDArray)


def _filled(name: str) -> Callable[..., Any]:
    below = getattr(np, name)

    def make(shape, ctx=None, dtype=None, **kwargs) -> Any:
        checked(ctx)
        result = filled(below(shape, dtype or np.float32), name, NDArray)
        return into(kwargs.get("out"), result)

    return named(make, name, f"NumPy's `{name}`, of float32 where no dtype is asked for.")


def full(shape, val, ctx=None, dtype=np.float32, out=None) -> Any:
    """Return an array filled with one value."""
    checked(ctx)
    return into(out, filled(np.full(shape, val, dtype), "full", NDArray))


def arange(
    start: float,
    stop: float | None = None,
    step=1.0,
    repeat=1,
    infer_range=None,
    ctx=None,
    dtype=np.float32,
) -> Any:
    """Return numbers from `start` (or 0) to `stop` (or `start`), each `repeat` times.

    Examples
    --------
    >>> nd.arange(2, 6, step=2, repeat=2).asnumpy()
    array([2., 2., 4., 4.], dtype=float32)
    """
    checked(ctx)
    values = np.arange(start, stop, step) if stop is not None else np.arange(0, start, step)
    return made(np.repeat(values, repeat).astype(dtype), NDArray)


def linspace(start: float, stop: float, num: int, endpoint=True, ctx=None, dtype=None) -> Any:
    """Return `num` evenly spaced numbers from `start` to `stop`."""
    checked(ctx)
    return made(np.linspace(start, stop, num, endpoint).astype(dtype or np.float32), NDArray)


def eye(N: int, M=0, k=0, ctx=None, dtype=None) -> Any:
    """Return a matrix with ones on a diagonal."""
    checked(ctx)
    return made(np.eye(N, M or None, k, dtype or np.float32), NDArray)


def save(fname: str, data) -> None:
    """Write an array, or a list or dict of arrays, to a file in NumPy's ``.npz`` format."""
    storage.save(fname, data)


def load(fname: str) -> Any:
    """Load arrays that `save` wrote."""
    return storage.load(fname, NDArray)


CREATORS: dict[str, Callable[..., Any]] = {
    **functions_of(globals()),
    "from_numpy": array,
    **{name: _filled(name) for name in ("empty", "ones", "zeros")},
}

__all__ = defined(globals())
