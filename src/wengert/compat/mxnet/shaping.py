"""Layer 9 · compat: functions of ``mxnet.nd`` that change shapes, pick elements or sort.

``mxnet.npx`` shares some of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert import numpy as wnp
from wengert.compat.kit.namespaces import defined, functions_of
from wengert.compat.mxnet.base import MXNetError, refusal
from wengert.compat.mxnet.neural import FUNCTIONS as NEURAL
from wengert.compat.mxnet.results import index_of
from wengert.nn import functional as F
from wengert.ops.shape import reshape as reshaped
from wengert.tape.base import new_tensor
from wengert.tape.record import T


def reshape(data, shape=None, reverse=False, **kwargs) -> Any:
    """Reshape `data`.

    0 keeps a size, -1 is inferred, -2 keeps all remaining sizes, -3 merges two sizes, and
    ``-4, a, b`` splits one size into two.
    """
    sizes, have = [shape] if isinstance(shape, int) else list(shape), tuple(data._payload.shape)
    if reverse:
        return reshaped(data, resolved(have[::-1], sizes[::-1])[::-1])
    return reshaped(data, resolved(have, sizes))


DROPPED = -7
"""The code of ``npx.reshape``'s -3 in `resolved`: a dimension of size 1 is dropped."""


def resolved(have: tuple[int, ...], wanted: Sequence[int]) -> tuple[int, ...]:
    """Resolve MXNet's codes in the shape `wanted` for an array of shape `have`."""
    result: list[int] = []
    at, codes = 0, iter(wanted)
    for code in codes:
        if code == 0:
            result.append(have[at])
            at += 1
        elif code == -2:
            result += have[at:]
            at = len(have)
        elif code == -3:
            result.append(have[at] * have[at + 1])
            at += 2
        elif code == -4:
            parts = [next(codes), next(codes)]
            if -1 in parts:
                parts[parts.index(-1)] = have[at] // -(parts[0] * parts[1])
            result += parts
            at += 1
        elif code == DROPPED:
            if have[at] != 1:
                raise MXNetError(f"Cannot drop a dimension of size {have[at]} of {list(have)}")
            at += 1
        else:
            result.append(code)
            at += 1
    count = int(np.prod(have))
    if -1 in result:
        others = -int(np.prod(result))
        if not others or count % others:
            raise MXNetError(f"Cannot reshape array of shape {list(have)} into {list(wanted)}")
        result[result.index(-1)] = count // others
    if int(np.prod(result)) != count:
        raise refusal(MXNetError, "Cannot reshape array", count, result, list(have))
    return tuple(result)


def flatten(data) -> Any:
    """Flatten all dimensions but the first."""
    return reshaped(data, resolved(tuple(data._payload.shape), [0, -1]))


def transpose(data, axes=None) -> Any:
    """Permute the axes; reverse them by default."""
    return wnp.transpose(data, axes or None)


def concat(*data, dim=1, num_args: int | None = None) -> Any:
    """Join arrays along `dim`."""
    return wnp.concatenate(data, axis=dim)


def stack(*data, axis=0, num_args: int | None = None) -> Any:
    """Join arrays along a new axis."""
    parts = data[0] if len(data) == 1 and isinstance(data[0], list | tuple) else data
    return wnp.stack(list(parts), axis=axis)


def concatenate(arrays, axis=0, always_copy=True) -> Any:
    """Join a list of arrays along `axis`."""
    return wnp.concatenate(arrays, axis=axis)


def split(data, num_outputs: int, axis=1, squeeze_axis=False) -> Any:
    """Split `data` into `num_outputs` equal parts along `axis`."""
    parts = wnp.split(data, num_outputs, axis=axis)
    if num_outputs == 1:
        return wnp.squeeze(data, axis) if squeeze_axis else data * 1
    return [wnp.squeeze(part, axis) for part in parts] if squeeze_axis else parts


def broadcast_to(data, shape) -> Any:
    """Broadcast `data` to `shape`, in which 0 keeps a size."""
    sizes = tuple(size or data._payload.shape[i] for i, size in enumerate(shape))
    return wnp.broadcast_to(data, sizes)


def broadcast_like(lhs, rhs, lhs_axes=None, rhs_axes=None) -> Any:
    """Broadcast `lhs` to the shape of `rhs`, or some of its axes to some of `rhs`."""
    sizes = tuple(rhs._payload.shape)
    if lhs_axes is None:
        return wnp.broadcast_to(lhs, sizes)
    return broadcast_axis(lhs, lhs_axes, [sizes[axis] for axis in rhs_axes])


def swapaxes(data, dim1=0, dim2=0) -> Any:
    """Exchange two axes."""
    return wnp.swapaxes(data, dim1, dim2)


def where(condition, x, y) -> Any:
    """Return the elements of `x` where the condition is not 0, else those of `y`.

    A condition of one dimension chooses rows.
    """
    rows = condition._payload.ndim == 1 and x._payload.ndim > 1
    shape = (-1, *[1] * (x._payload.ndim - 1)) if rows else condition._payload.shape
    return wnp.where(condition.reshape(shape), x, y)


def diag(data, k=0, axis1=0, axis2=1) -> Any:
    """Return a diagonal of `data`, or a matrix with the diagonal `data`."""
    return wnp.diag(data, k) if data._payload.ndim == 1 else wnp.diagonal(data, k, axis1, axis2)


def broadcast_axis(data, axis=(), size=()) -> Any:
    """Broadcast `data` along axes of size 1."""
    sizes = list(data._payload.shape)
    for i, n in zip(np.ravel(axis), np.ravel(size), strict=True):
        sizes[int(i)] = int(n)
    return wnp.broadcast_to(data, tuple(sizes))


def slice(data, begin, end, step=()) -> Any:
    """Return the elements from `begin` to `end` in each dimension."""
    spans = itertools.zip_longest(begin, end, step or ())
    return wnp.ndarray.__getitem__(data, tuple(_span(*span) for span in spans))


_span = type(np.s_[:])


def slice_axis(data, axis: int, begin: int, end: int | None) -> Any:
    """Return the elements from `begin` to `end` along one axis."""
    at = [_span(None)] * data._payload.ndim
    at[axis] = _span(begin, end)
    return wnp.ndarray.__getitem__(data, tuple(at))


def take(a, indices, axis=0, mode="clip") -> Any:
    """Take slices of `a` along `axis` by index."""
    return wnp.take(a, index_of(indices), axis=axis, mode=mode)


def clip(data, a_min: float, a_max: float) -> Any:
    """Clamp elements to [a_min, a_max]."""
    return wnp.clip(data, a_min, a_max)


def sort(data, axis: int | None = -1, is_ascend=True) -> Any:
    """Sort the elements along an axis."""
    ordered = wnp.sort(data, axis)
    return ordered if is_ascend else wnp.flip(ordered, -1 if axis is None else axis)


def argsort(data, axis: int | None = -1, is_ascend=True, dtype="float32") -> Any:
    """Return the indices that sort the elements along an axis."""
    if axis is None:
        data, axis = reshaped(data, (data._payload.size,)), -1
    places = wnp.argsort(data, axis=axis, stable=True, descending=not is_ascend)
    return new_tensor(np.asarray(places._payload).astype(dtype))


def cast(data, dtype) -> Any:
    """Convert `data` to another dtype."""
    return T.to_copy(data, dtype=np.dtype(dtype))


def ones_like(data) -> Any:
    """Return ones in the shape and dtype of `data`."""
    return new_tensor(np.ones_like(data._payload))


def zeros_like(data) -> Any:
    """Return zeros in the shape and dtype of `data`."""
    return new_tensor(np.zeros_like(data._payload))


def softmax(data, axis=-1, **kwargs) -> Any:
    """Return exp(data) divided by its sum along `axis`."""
    return NEURAL["softmax"](data, None, axis, **kwargs)


def softsign(data) -> Any:
    """Return ``data / (1 + |data|)``."""
    return F.softsign(data)


def hard_sigmoid(data, alpha=0.2, beta=0.5) -> Any:
    """Return ``alpha * data + beta``, clamped to [0, 1]."""
    return wnp.clip(alpha * data + beta, 0, 1)


def rcbrt(data) -> Any:
    """Return one over the cube root of `data`."""
    return 1 / wnp.cbrt(data)


def shape_array(data) -> Any:
    """Return the shape of `data` as an array."""
    return new_tensor(np.asarray(data._payload.shape, np.int64))


def size_array(data) -> Any:
    """Return the number of elements of `data` as an array."""
    return new_tensor(np.asarray([data._payload.size], np.int64))


def cumsum(a, axis: int | None = None, dtype=None) -> Any:
    """Return the running sum along an axis, or of all elements."""
    return wnp.cumsum(a, axis, dtype or a._payload.dtype)


def moments(data, axes=None, keepdims=False) -> Any:
    """Return the mean and the variance."""
    return wnp.mean(data, axes, keepdims=keepdims), wnp.var(data, axes, keepdims=keepdims)


def split_v2(data, indices_or_sections, axis=0, squeeze_axis=False) -> Any:
    """Split `data` into equal parts, or before the given indices."""
    if isinstance(indices_or_sections, int):
        return split(data, indices_or_sections, axis, squeeze_axis)
    parts = wnp.split(data, list(indices_or_sections), axis)
    return [wnp.squeeze(part, axis) for part in parts] if squeeze_axis else parts


def slice_like(data, shape_like, axes=()) -> Any:
    """Return the leading part of `data` with the sizes of `shape_like`, along all axes or some."""
    ends, chosen = shape_like._payload.shape, {axis % data._payload.ndim for axis in axes}
    spans = [
        _span(ends[i]) if (i in chosen or not axes) else _span(None)
        for i in range(data._payload.ndim)
    ]
    return wnp.ndarray.__getitem__(data, tuple(spans))


def pad(data, mode="constant", pad_width=(), constant_value=0.0) -> Any:
    """Pad each dimension by two sizes of `pad_width`: before and after."""
    pairs = list(zip(pad_width[::2], pad_width[1::2], strict=True))
    more = {"constant_values": constant_value} if mode == "constant" else {}
    return wnp.pad(data, pairs, mode, **more)


def batch_take(a, indices) -> Any:
    """Return one element of each row."""
    return NEURAL["pick"](a, indices)


def scatter_nd(data, indices, shape) -> Any:
    """Return zeros of a shape, with `data` at the indices in the columns of `indices`."""
    places = tuple(np.asarray(indices._payload).astype(np.int64))
    result = wnp.zeros(tuple(shape), data._payload.dtype)
    result[places] = data
    return result


def ravel_multi_index(data, shape) -> Any:
    """Return the positions of indices, in columns, in a flat array."""
    rows = tuple(np.asarray(data._payload).astype(np.int64))
    return new_tensor(np.ravel_multi_index(rows, tuple(shape)).astype(data._payload.dtype))


def unravel_index(data, shape) -> Any:
    """Return the indices, in columns, of positions in a flat array."""
    places = np.unravel_index(np.asarray(data._payload).astype(np.int64), tuple(shape))
    return new_tensor(np.stack(places).astype(data._payload.dtype))


def depth_to_space(data, block_size: int) -> Any:
    """Move channels into squares of `block_size` pixels."""
    n, c, h, w = data._payload.shape
    parts = reshaped(data, (n, block_size, block_size, c // block_size**2, h, w))
    return reshaped(
        wnp.transpose(parts, (0, 3, 4, 1, 5, 2)), (n, -1, h * block_size, w * block_size)
    )


def space_to_depth(data, block_size: int) -> Any:
    """Move squares of `block_size` pixels into channels."""
    n, c, h, w = data._payload.shape
    parts = reshaped(data, (n, c, h // block_size, block_size, w // block_size, block_size))
    return reshaped(
        wnp.transpose(parts, (0, 3, 5, 1, 2, 4)), (n, -1, h // block_size, w // block_size)
    )


def up_sampling(*data, scale: int, sample_type="nearest", num_args=1) -> Any:
    """Repeat each pixel `scale` times in both directions."""
    if sample_type != "nearest" or len(data) != 1:
        raise NotImplementedError("UpSampling of one array by sample_type='nearest' is offered")
    return wnp.repeat(wnp.repeat(data[0], scale, 2), scale, 3)


def lrn(data, nsize: int, alpha=1e-4, beta=0.75, knorm=2.0) -> Any:
    """Divide by a power of the mean square over `nsize` neighbouring channels."""
    return F.local_response_norm(data, nsize, alpha, beta, knorm)


def sequence_last(data, sequence_length=None, use_sequence_length=False, axis=0) -> Any:
    """Return the last step of each sequence; steps run along `axis`, 0 or 1."""
    steps = wnp.moveaxis(data, axis, 0)
    count, batch = steps._payload.shape[:2]
    last = _lengths(sequence_length, use_sequence_length, count, batch) - 1
    return wnp.ndarray.__getitem__(steps, (last, np.arange(batch)))


def sequence_reverse(data, sequence_length=None, use_sequence_length=False, axis=0) -> Any:
    """Reverse the steps of each sequence; they run along the first axis."""
    count, batch = data._payload.shape[:2]
    lengths = _lengths(sequence_length, use_sequence_length, count, batch)
    steps = np.arange(count)[:, None]
    order = np.where(steps < lengths, lengths - 1 - steps, steps)
    return wnp.ndarray.__getitem__(data, (order, np.arange(batch)))


def _lengths(lengths, used: bool, count: int, batch: int) -> Any:
    if not used or lengths is None:
        return np.full(batch, count)
    return np.asarray(lengths._payload).astype(np.int64)


def boolean_mask(data, index, axis=0) -> Any:
    """Return the slices along `axis` where `index` is not 0."""
    return wnp.compress(np.asarray(index._payload) != 0, data, axis)


def adaptive_average(data, output_size=1) -> Any:
    """Average over a grid of windows that cover the image."""
    return F.adaptive_avg_pool2d(data, output_size)


def add_n(*args) -> Any:
    """Return the sum of arrays."""
    total = args[0]
    for other in args[1:]:
        total = wnp.add(total, other)
    return total


SHAPING = functions_of(globals())
__all__ = defined(globals())
