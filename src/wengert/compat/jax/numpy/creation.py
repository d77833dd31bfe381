"""Layer 9 · compat: functions of `jax.numpy` that make arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray as converted
from wengert.compat.jax.array import convert, is_weak, made, of_kind, result_type
from wengert.compat.jax.dtypes import canonical_dtype, default_dtype, inexact_of, is_of_keys
from wengert.compat.jax.numpy import calling as C
from wengert.ops import expand, foreign, shape
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T


def array(
    object, dtype=None, copy=True, order="K", ndmin=0, *, device=None, out_sharding=None
) -> Any:
    """Build an array from numbers, arrays, or nested lists of them.

    Parameters
    ----------
    object : array_like. Lists may contain arrays, to which the gradient flows.
    dtype : dtype, optional. Default: the promoted dtype of the elements, of at most 32 bits unless
        x64 is enabled.
    ndmin : int. The minimum number of dimensions; leading ones of size 1 are added.

    Returns
    -------
    Array: The array, differentiable. A Python number becomes a weakly typed array.

    Examples
    --------
    >>> jnp.array([1, 2.5]), jnp.array(1.0)
    (Array([1. , 2.5], dtype=float32), Array(1., dtype=float32, weak_type=True))
    """
    if order not in ("K", "C", None):
        raise NotImplementedError(f"jnp.array with order={order!r}: only 'K' and 'C' are there")
    if isinstance(object, range):
        object = np.asarray(object)
    if is_of_keys(getattr(object, "dtype", None)):
        return object
    x = converted(object, C.checked_dtype(dtype, "array"))
    if x is object and copy:
        x = of_kind(x, x.__class__)
    if x.ndim < ndmin:
        weak = x.weak_type
        x = made(shape.reshape(x, (1,) * (ndmin - x.ndim) + tuple(x.shape)), weak)
    return x


def asarray(
    a, dtype=None, order=None, *, copy: bool | None = None, device=None, out_sharding=None
) -> Any:
    """Like `array`, but without a copy where none is needed.

    Examples
    --------
    >>> x = jnp.ones(2)
    >>> jnp.asarray(x) is x
    True
    """
    return array(a, dtype, bool(copy), order or "K")


def copy(a, order=None) -> Any:
    """Return a copy of an array."""
    C.check_arrays("copy", a)
    return array(a)


def astype(x, dtype, /, *, copy=False, device=None) -> Any:
    """Convert `x` to another dtype; differentiable between inexact ones."""
    (x,) = C.operands("astype", x)
    return x.astype(dtype)


def _filled(name: str, value: float) -> Callable[..., Any]:
    def function(shape, dtype=None, *, device=None, out_sharding=None) -> Any:
        if isinstance(dtype, str) and isinstance(shape, str):
            C.shape_of(shape)
        kind = C.checked_dtype(dtype, name) or default_dtype("f")
        return made(new_tensor(np.full(C.shape_of(shape), value, kind)))

    return function


def _filled_like(name: str, value: float) -> Callable[..., Any]:
    def function(a, dtype=None, shape=None, *, device=None, out_sharding=None) -> Any:
        if not hasattr(a, "dtype"):
            C.check_arrays(name, a)
        return _like(name, a, value, dtype, shape)

    return function


def _like(name: str, a, value, dtype, sizes) -> Any:
    """Build an array of one value, with the dtype and shape of `a` unless given."""
    weak = dtype is None and is_weak(a)
    own = a.dtype if hasattr(a, "dtype") else result_type(a)[0]
    kind = C.checked_dtype(dtype, name) or canonical_dtype(own)
    made_of = C.sizes_of(a)
    wanted = made_of if sizes is None else C.shape_of(sizes)
    if isinstance(value, TensorBase):
        (value,) = C.operands(name, value)
        filled = T.expand(converted(value, kind), shape=wanted)
    else:
        one = convert(new_tensor(np.asarray(value)), kind)._payload
        filled = new_tensor(np.full(wanted, one, kind))
    return made(filled, weak)


def full(shape, fill_value, dtype=None, *, device=None, out_sharding=None) -> Any:
    """Build an array of one value, which may be an array that receives the gradient.

    Examples
    --------
    >>> jnp.full(2, 7)
    Array([7, 7], dtype=int32, weak_type=True)
    """
    C.check_arrays("full", fill_value)
    kind = C.checked_dtype(dtype, "full")
    # floats that do not fit become the limits; integers that do not fit are refused
    value = converted(fill_value, kind if fill_value.__class__ is int else None)
    found = value if kind is None else value.astype(kind)
    weak = kind is None and value.weak_type
    return made(T.expand(C.plain(found), shape=C.shape_of(shape)), weak)


def full_like(a, fill_value, dtype=None, shape=None, *, device=None, out_sharding=None) -> Any:
    """Build an array of one value, with the shape and dtype of another."""
    C.check_arrays("full_like", *([] if hasattr(a, "dtype") else [a]), fill_value)
    return _like("full_like", a, fill_value, dtype, shape)


def arange(start, stop=None, step=None, dtype=None, *, device=None, out_sharding=None) -> Any:
    """Return numbers from `start` (default: 0) up to `stop`, exclusive, `step` apart.

    Examples
    --------
    >>> jnp.arange(3), jnp.arange(1, 2, 0.5)
    (Array([0, 1, 2], dtype=int32), Array([1. , 1.5], dtype=float32))
    """
    if start is None:
        raise TypeError("arange does not support start=None: write jnp.arange(stop)")
    given = [value for value in (start, stop, step) if value is not None]
    C.check_arrays("arange", *given)
    kind = C.checked_dtype(dtype, "arange")
    if kind is None:
        kind, _ = result_type(*given)
    if kind.kind == "b":
        raise TypeError("arange does not accept dtype bool: numbers are")
    if any(C.sizes_of(value) for value in given):
        raise ValueError("jax.numpy.arange takes numbers, not arrays")
    numbers = [C.value_of(value, "arange").item() for value in given]
    if any(isinstance(number, complex) for number in numbers):
        raise ValueError("jax.numpy.arange takes real numbers")
    if stop is None:
        numbers = [0, *numbers]
    first, last, by = (*numbers, 1)[:3]
    if by == 0:
        raise ValueError("jax.numpy.arange: step must not be 0")
    count = max(0, math.ceil((last - first) / by))
    start, step = (convert(new_tensor(np.asarray(number)), kind)._payload for number in (first, by))
    return made(new_tensor(start + np.arange(count).astype(kind) * step))


def linspace(
    start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None
) -> Any:
    """Return evenly spaced numbers, with both ends; differentiable in the ends.

    Examples
    --------
    >>> jnp.linspace(0, 1, 3)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    num = C.static(num, "num of linspace")
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    wanted = C.checked_dtype(dtype, "linspace")
    first, last = C.as_operands("linspace", start, stop, inexact=True)
    kind = inexact_of(first._payload.dtype)
    first, last = expand.broadcast_tensors(C.plain(first), C.plain(last))
    parts = num - 1 if endpoint else num
    if num > 1:
        places = np.arange(parts, dtype=kind) / kind.type(parts)
        at = new_tensor(places.reshape((-1,) + (1,) * first.ndim))
        points = T.add(T.mul(first, T.rsub(at, 1)), T.mul(last, at))
        if endpoint:
            points = T.cat(points, shape.unsqueeze(last, 0), dim=0)
    else:
        points = T.expand(shape.unsqueeze(first, 0), shape=(num, *first.shape))
    points = C.call("moveaxis", points, 0, axis)
    if wanted is not None:
        if wanted.kind in "iu":
            points = C.call("floor", points)
        points = points.astype(wanted)
    if not retstep:
        return points
    step = (made(last) - made(first)) / parts if parts > 0 else made(first) * np.nan
    return points, step if wanted is None else step.astype(inexact_of(wanted))


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0) -> Any:
    """Return powers of a base with evenly spaced exponents."""
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    found = converted(base, exponents._payload.dtype) ** exponents
    return found if dtype is None else found.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0) -> Any:
    """Return numbers with a constant ratio."""
    first, last = C.as_operands("geomspace", start, stop, inexact=True)
    sign: Any = 1
    if first._payload.dtype.kind != "c":
        below = T.logical_and(T.lt(first, 0), T.lt(last, 0))
        sign = 1 - 2 * made(convert(below, first._payload.dtype))
    low, high = (C.call("log10", sign * made(C.plain(end))) for end in (first, last))
    found = sign * logspace(low, high, num, endpoint, axis=axis)
    return found if dtype is None else found.astype(dtype)


def eye(N, M=None, k=0, dtype=None, *, device=None) -> Any:
    """Return a matrix with ones on a diagonal.

    Examples
    --------
    >>> jnp.eye(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    kind = C.checked_dtype(dtype, "eye") or default_dtype("f")
    sizes = (C.static(N, "N of eye"), C.static(M, "M of eye"))
    return made(new_tensor(np.eye(*sizes, k=C.static(k, "k of eye"), dtype=kind)))


def identity(n, dtype=None) -> Any:
    """Return the identity matrix."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k=0, dtype=None) -> Any:
    """Return a matrix with ones at and below a diagonal."""
    kind = C.checked_dtype(dtype, "tri") or default_dtype("f")
    return made(new_tensor(np.tri(N, M, k, kind)))


def indices(dimensions, dtype=None, sparse=False) -> Any:
    """Return the coordinates of each element."""
    kind = C.checked_dtype(dtype, "indices") or default_dtype("i")
    found: Any = np.indices(C.shape_of(dimensions), kind, sparse=bool(sparse))  # type: ignore[call-overload]
    return C.finished(found)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy") -> Any:
    """Return coordinate matrices from coordinate vectors."""
    given = C.operands("meshgrid", *xi)
    if not copy:
        raise ValueError("jax.numpy.meshgrid only supports copy=True")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Valid values for indexing are 'xy' and 'ij', got {indexing}")
    if any(x.ndim > 1 for x in given):
        shapes = [tuple(x.shape) for x in given]
        raise ValueError(f"Arguments to jax.numpy.meshgrid must be 0D or 1D, got shapes {shapes}")
    laid = C.call("meshgrid", *given, copy=False, sparse=sparse, indexing=indexing)
    return [made(x, own.weak_type) for x, own in zip(laid, given, strict=True)]


def frombuffer(buffer, dtype=float, count=-1, offset=0) -> Any:
    """Interpret a buffer as an array."""
    return converted(np.frombuffer(buffer, canonical_dtype(dtype), count, offset))


def fromstring(string: str, dtype=float, count=-1, *, sep: str) -> Any:
    """Parse numbers from a string."""
    return converted(np.fromstring(string, dtype=canonical_dtype(dtype), count=count, sep=sep))


def from_dlpack(x, /, *, device=None, copy: bool | None = None) -> Any:
    """Convert an array of another library through DLPack."""
    if isinstance(x, TensorBase):
        return converted(x)
    return converted(foreign.from_dlpack(x, copy=copy))


NAMES = C.table(
    globals(),
    made={
        "empty": _filled("empty", 0),
        "empty_like": _filled_like("empty_like", 0),
        "ones": _filled("ones", 1),
        "ones_like": _filled_like("ones_like", 1),
        "zeros": _filled("zeros", 0),
        "zeros_like": _filled_like("zeros_like", 0),
    },
)
