"""Layer 5 · ops: helpers of the normalisation functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.errors import long_name, not_implemented, wrong_type
from wengert.interp.levels import Lifted
from wengert.kernels.normalisation import are_few, three_axes
from wengert.ops.checks import refuse_gradients
from wengert.ops.coerce import operand
from wengert.ops.constants import ONE, ZERO
from wengert.ops.out import into
from wengert.prims import normalisation as normalisation
from wengert.prims.table import TABLE
from wengert.tape.base import new_tensor
from wengert.tape.inplace import is_plain, write, written
from wengert.tape.operands import cast
from wengert.tape.record import T

_NOT_BATCHED = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
    "updated in place, were not batched. Call eval() first, make the layer with "
    "track_running_stats=False, or map over the running values, too."
)
SINGLE = np.dtype(np.float32)
UNKNOWN = new_tensor(np.empty((3, 0), SINGLE))


def parameter(value: Any, name: str, arg: str, position: int) -> Any:
    """Return a parameter as a tensor, if it is given."""
    return None if value is None else operand(value, name, arg, position)


def check_dtypes(x: Any, kernel: str, *params: Any) -> None:
    """Refuse an input that is not floating, and parameters of another dtype than the input's.

    Parameters of float32 may come with an input of half precision.
    """
    dtype = x._payload.dtype
    given = [param._payload.dtype for param in params if param is not None]
    if dtype.kind == "f" and given.count(dtype) == len(given):
        return
    if dtype.kind in "biuc" and (kernel == "batch_norm" or all(own == dtype for own in given)):
        raise not_implemented(
            kernel, x._payload.dtype, "convert the input to a real floating dtype"
        )
    if not given or all(own == dtype for own in given):
        return
    if given[0] == dtype:
        other = next(own for own in given if own != dtype)
        raise RuntimeError(
            f"expected scalar type {long_name(dtype)} but found {long_name(other)}: convert the "
            "parameters to one dtype"
        )
    if given[0] != SINGLE or any(own != SINGLE for own in given):
        raise RuntimeError(
            "mixed dtype (CPU): expect parameter to have scalar type of Float, or the input's, "
            f"{long_name(dtype)}, but got {', '.join(long_name(own) for own in given)}"
        )
    if dtype.itemsize != 2 or dtype.kind in "biu":
        raise RuntimeError(
            "mixed dtype (CPU): all inputs must share same datatype. The input is "
            f"{long_name(dtype)}, the parameters {long_name(given[0])}."
        )


def widened(x: Any) -> Any:
    """Return `x`, in float32 if its dtype has two bytes."""
    return cast(x, SINGLE) if x._payload.dtype.itemsize == 2 else x


def moments(x: Any, dim: tuple[int, ...], eps: float) -> Any:
    """Return moments for records to reuse (see NOTE [known moments]); none for small inputs."""
    x = widened(x)
    payload = x._payload
    if are_few(payload, three_axes(payload.shape, dim)):
        return UNKNOWN
    return T.moments(x, dim=dim, eps=eps)


def applied(name: str, x: Any, weight: Any, bias: Any, *others: Any, **params: Any) -> Any:
    """The record `name`; 1 and 0 take the places of a weight and a bias that are None."""
    dtype = x._payload.dtype
    if dtype.itemsize == 2:
        x = cast(x, SINGLE)
        wide = [t if t is None else widened(t) for t in (weight, bias, *others)]
        weight, bias, others = wide[0], wide[1], tuple(wide[2:])
    weight = ONE[x._payload.dtype] if weight is None else weight
    bias = ZERO[x._payload.dtype] if bias is None else bias
    result = getattr(T, name)(x, weight, bias, *others, **params)
    return result if dtype.itemsize > 2 else cast(result, dtype)


def check_count(param: Any, arg: str, channels: int) -> None:
    """Refuse a parameter that does not have one element for each channel."""
    if param is not None and param._payload.size != channels:
        raise RuntimeError(
            f"{arg} should contain {channels} elements not {param._payload.size}: one for each "
            "channel, the second dimension of the input"
        )


def running(name: str, running_mean: Any, running_var: Any) -> tuple[Any, Any]:
    """The running mean and variance: both or neither, and neither in a graph."""
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if running_mean is None:
        return None, None
    mean = operand(running_mean, name, "running_mean", 2)
    var = operand(running_var, name, "running_var", 3)
    refuse_gradients("native_batch_norm", running_mean=mean, running_var=var)
    return mean, var


def refuse_escape(held: Any, value: Any, message: str) -> None:
    """Refuse to keep, beyond a transform, a value that means something in it alone."""
    levels = [
        payload._level if isinstance(payload, Lifted) and not payload.traced else 0
        for payload in (held._payload, value._payload)
    ]
    if levels[1] > levels[0]:
        raise RuntimeError(message)


def update(name: str, mean: Any, var: Any, known: Any, count: int, momentum: float) -> None:
    """Move the running mean and variance towards those of `count` elements each."""
    further = count / (count - 1)
    if known.__class__ is np.ndarray and _can_move(mean, known) and _can_move(var, known):
        for old, new in ((mean, known[0]), (var, known[1] * further)):
            old._payload *= 1 - momentum
            old._payload += momentum * new
            written(old, name)
        return
    if isinstance(known, Lifted):
        # a batch has statistics for each of its elements, but no tangents
        known = known.constant()
    rows = [T.select(new_tensor(known), dim=0, index=i)._payload for i in (0, 1)]
    refuse_escape(mean, new_tensor(rows[0]), _NOT_BATCHED)
    for old, new in ((mean, rows[0]), (var, rows[1] * further)):
        value = (1 - momentum) * old._payload + momentum * new
        moved = new_tensor(value.astype(old._payload.dtype, copy=False))
        if isinstance(moved._payload, Lifted):
            write(TABLE["assign"], old, (moved,), {}, name)
        else:
            into(old, moved, name)


def _can_move(old: Any, known: Any) -> bool:
    """Return whether a running value is an array that may be written to, without conversions."""
    return is_plain(old) and old._payload.dtype is known.dtype


def _sizes(name: str, normalized_shape: Any) -> tuple[int, ...]:
    """Return `normalized_shape` as a tuple of integers."""
    if not isinstance(normalized_shape, Sequence):
        raise wrong_type(name, "normalized_shape", "tuple of ints", normalized_shape, 2)
    for i, size in enumerate(normalized_shape):
        if not hasattr(size, "__index__"):
            raise TypeError(
                f"{name}(): argument 'normalized_shape' (position 2) must be tuple of ints, but "
                f"found element of type {type(size).__name__} at pos {i}"
            )
    return tuple(normalized_shape)


def last_dims(name: str, input: Any, normalized_shape: Any, **params: Any) -> tuple[int, ...]:
    """The dimensions that `normalized_shape` says; the parameters must be of this shape."""
    shape = input._payload.shape
    last = normalized_shape
    if not isinstance(last, tuple) or {*map(type, last)} != {int}:
        last = _sizes(name, last)
    if not last:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    for arg, param in params.items():
        if param is not None and param._payload.shape != last:
            raise RuntimeError(
                f"Expected {arg} to be of same shape as normalized_shape, but got {arg} of shape "
                f"{list(param._payload.shape)} and normalized_shape = {list(last)}"
            )
    if shape[-len(last) :] != last:
        raise RuntimeError(
            f"Given normalized_shape={list(last)}, expected input with shape "
            f"[*, {', '.join(map(str, last))}], but got input of size{list(shape)}"
        )
    return tuple(range(len(shape) - len(last), len(shape)))
