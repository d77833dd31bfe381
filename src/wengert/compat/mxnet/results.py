"""Layer 9 · compat: operands and results of operations on MXNet's arrays.

NOTE [dtypes of MXNet]
The default dtype is float32, also for integers. A number never changes the dtype of an array. Only
float64 arguments give float64 results, so results that NumPy computes in float64 from integers
(means, quotients, mixtures with float32) become float32.

NOTE [memory of MXNet]
The result of an operation has its own buffer, even where NumPy would return a view (`reshape`,
`transpose`, ...). Only indexing, ``x[1:3]``, returns a view, and only if the elements are
contiguous.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import numpy as wnp
from wengert.autograd import Function
from wengert.base.ports import PORTS
from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet.base import reraise
from wengert.compat.mxnet.state import NUMPY, RECORDING, cleared
from wengert.ops.shape import reshape as reshaped
from wengert.tape.base import LEAF, Extra, TensorBase, new_tensor
from wengert.tape.node import Unrecorded
from wengert.tape.record import T

_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
CLASSES: dict[str, type] = {}
"""The class of results for each namespace, ``nd`` and ``np``."""


def default_float() -> Any:
    """Return the default floating dtype."""
    return _FLOAT64 if NUMPY.get()[2] else _FLOAT32


def default_int() -> Any:
    """Return the default integer dtype."""
    return np.dtype(np.int64) if NUMPY.get()[2] else _FLOAT32


# -- operands and results --------------------------------------------------------------------------


def plain(value) -> Any:
    """Return a tensor over the memory of an array, without its history."""
    alias = TensorBase.__new__(wnp.ndarray)
    alias._payload = value._array()
    alias._edge = None
    alias._vc = value._share_version()
    alias._ext = None
    return alias


def _written(value) -> bool:
    """Return whether an array must be copied before a node saves it.

    See NOTE [written arrays] in `wengert.numpy.arrays`.
    """
    if value._vc.__class__ is not list or not value._vc[0]:
        return False
    base = None if value._ext is None else value._ext.base
    return value._edge is not LEAF if base is None else base._edge is not LEAF


def operand(value, writes=False) -> Any:
    """Return the operand for an argument of an operation (NOTE [MXNet records on request]).

    Parameters
    ----------
    writes: Whether the operation writes to the argument, which must then not be copied.
    """
    if isinstance(value, TensorBase):
        edge = value._edge
        if edge is None:
            return value
        if not RECORDING.get() or edge.__class__ is Unrecorded or cleared(edge):
            return plain(value)
        if not writes and value._vc is not None and _written(value):
            return T.clone(value)
        return value
    cls = value.__class__
    if cls is list or cls is tuple:
        return cls([operand(part) for part in value]) if holds_array(value) else value
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return value.item()  # MXNet does not distinguish NumPy scalars from Python numbers
    return value


def holds_array(value) -> bool:
    """Return whether a nested list contains an array."""
    return any(
        isinstance(part, TensorBase) or (isinstance(part, list | tuple) and holds_array(part))
        for part in value
    )


def _wide(value) -> bool:
    """Return whether any argument is float64."""
    if isinstance(value, TensorBase):
        return bool(value._payload.dtype == _FLOAT64)
    if isinstance(value, np.ndarray):
        return bool(value.dtype == _FLOAT64)
    return isinstance(value, list | tuple) and any(map(_wide, value))


def adopt(result, cls: type, narrow=False) -> Any:
    """Convert the result of an operation to class `cls`, also in tuples and lists."""
    kind = result.__class__
    if kind is wnp.ndarray or kind is PORTS.tensor:
        if narrow and result._payload.dtype == _FLOAT64:
            result = T.to_copy(result, dtype=default_float())
        if cls is CLASSES["nd"] and not result._payload.ndim:
            result = reshaped(result, (1,))
        result.__class__ = cls
        return result
    if isinstance(result, list | tuple):
        # named tuples become plain tuples
        return (list if kind is list else tuple)(adopt(part, cls, narrow) for part in result)
    if isinstance(result, np.ndarray) and result.dtype.kind in "biufc":
        return adopt(new_tensor(result), cls, narrow)
    return result


def _own(result, views: bool) -> Any:
    """Return the result in its own buffer (see NOTE [memory of MXNet])."""
    if isinstance(result, TensorBase):
        ext = result._ext
        if ext is None or ext.base is None or (views and result._payload.flags.c_contiguous):
            return result
        return T.clone(result)
    if isinstance(result, list | tuple):
        return (list if isinstance(result, list) else tuple)(_own(part, views) for part in result)
    return result


def computed(
    cls: type,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    views=False,
) -> Any:
    """Call ``function(*args, **kwargs)`` as an operation of MXNet with a result of class `cls`.

    With `views` the result may be a view of an argument.

    Raises
    ------
    MXNetError: If shapes do not match, or the tape raises an error.
    """
    given = [operand(value) for value in args]
    named = {name: operand(value) for name, value in kwargs.items()} if kwargs else {}
    out = kwargs.get("out") if kwargs else None
    if out is not None:
        named["out"] = operand(out, writes=True)
    try:
        result = function(*given, **named)
    except (RuntimeError, ValueError) as error:
        reraise(error)
    if out is not None:
        return out
    for before, now in zip(args, given, strict=True):
        if result is now and isinstance(now, TensorBase):
            return before  # a method that returns its own array
    result = _own(result, views)
    narrow = not (any(map(_wide, args)) or (kwargs and any(map(_wide, kwargs.values()))))
    narrow = narrow and (not kwargs or kwargs.get("dtype") is None)
    return adopt(result, cls, narrow)


def index_of(index) -> Any:
    """Convert arrays in an index to NumPy arrays of integers, since positions may be floats."""
    if isinstance(index, TensorBase):
        places = index._array()
        return places.astype(np.int64) if places.dtype.kind == "f" else places
    if index.__class__ is tuple or (index.__class__ is list and holds_array(index)):
        return type(index)([index_of(part) for part in index])
    if isinstance(index, np.ndarray | np.generic) and index.dtype.kind == "f":
        return index.astype(np.int64)
    return index


def array_of(value) -> Any:
    """Return the elements of an array of MXNet's, or of anything else, as an array."""
    return value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)


def into(out, result) -> Any:
    """Write a result to `out` unless that is None, and return the array that contains it."""
    if out is None:
        return result
    out[...] = result
    return out


def mark(array, gradient, request: str) -> None:
    """Turn `array` into a leaf whose gradient is written to `gradient`."""
    ext = array._ext
    base = None if ext is None else ext.base
    if base is not None and base._ext is not None and base._ext.views:
        # no longer regenerated when its base is written to
        base._ext.views = [ref for ref in base._ext.views if ref() is not array]
    array._share_version()
    array._ext = Extra()
    array._ext.grad = gradient
    array._edge = LEAF if array._payload.dtype.kind in "fc" else None
    vars(array)["_grad_req"] = request
    vars(array)["_fresh_grad"] = False


class _Extreme(Function):
    """The largest or smallest elements; each of equal ones has the whole gradient, as in MXNet."""

    @staticmethod
    def forward(ctx, data, below, axis, keepdims) -> Any:
        result = below(data, axis=axis, keepdims=True)
        ctx.save_for_backward(data, result)
        ctx.kept = keepdims
        ctx.shape = result.shape
        return result if keepdims else wnp.squeeze(result, axis)

    @staticmethod
    def backward(ctx, *grads) -> Any:
        data, result = ctx.saved_tensors
        chosen = new_tensor(data._payload == result._payload)
        return reshaped(grads[0], ctx.shape) * chosen, None, None, None


def extreme(name: str) -> Callable[..., Any]:
    """Return the reduction ``max`` or ``min`` with MXNet's rule for ties."""
    below = getattr(wnp, name)

    def reduce(a, axis=None, out=None, keepdims=False, **more) -> Any:
        recorded = isinstance(a, TensorBase) and a._edge is not None
        if out is None and not more and recorded:
            return _Extreme.apply(a, below, axis, keepdims)
        return below(a, axis=axis, out=out, keepdims=keepdims, **more)

    return reduce


EXTREMES = {name: extreme(name[-3:]) for name in ("amax", "amin", "max", "min")}


__all__ = defined(globals())
