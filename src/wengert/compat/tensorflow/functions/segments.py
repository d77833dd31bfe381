"""Layer 9 · compat: TensorFlow's segment reductions, scatters and partitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert.base.dtypes import limits
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import shaped
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.binary import fractional
from wengert.compat.tensorflow.functions.indexing import flat_positions, positions
from wengert.compat.tensorflow.functions.templates import KINDS, rows
from wengert.compat.tensorflow.words import refusal


@V.operation("ScatterNd", indices=positions, updates=V.ANY, shape=V.shape_of)
def scatter_nd(indices, updates, shape, bad_indices_policy="", name=None) -> Any:
    """Add `updates` at given positions to a tensor of zeros.

    Parameters
    ----------
    indices : Tensor. Rows of indices into the leading dimensions of the result.
    updates : Tensor. One slice for each row.
    shape : sequence of int, or Tensor. The shape of the result.
    bad_indices_policy, name : optional. Accepted, and of no effect.

    Returns
    -------
    Tensor: Differentiable in `updates`.

    Raises
    ------
    InvalidArgumentError: If an index is out of range, or the shapes do not match.

    Examples
    --------
    >>> print(tf.scatter_nd([[1], [3], [1]], [5, 6, 7], [4]).numpy())
    [ 0 12  0  6]
    """
    start = wg.as_tensor(np.zeros(shape, updates._payload.dtype))
    return _written(start, indices, updates, _added)


def _added(rows, places, parts) -> Any:
    return wg.index_add(rows, 0, places, parts)


def _subtracted(rows, places, parts) -> Any:
    return wg.index_add(rows, 0, places, parts, alpha=-1)


def _replaced(rows, places, parts) -> Any:
    return wg.index_copy(rows, 0, places, parts)


def _raised(rows, places, parts) -> Any:
    return wg.index_reduce(rows, 0, places, parts, "amax")


def _lowered(rows, places, parts) -> Any:
    return wg.index_reduce(rows, 0, places, parts, "amin")


def _written(x, found, parts, write) -> Any:
    """Write `parts` into a copy of `x` at the positions in the rows of `found`, by `write`."""
    sizes, depth = x._payload.shape, found.shape[-1]
    flat = flat_positions(found, sizes)
    wanted = found.shape[:-1] + sizes[depth:]
    if parts._payload.shape != wanted:
        raise V.invalid(
            "Dimensions [0,{0}) of indices[shape={1}] must match dimensions [0,{0}) of "
            "updates[shape={2}]: updates of shape {3} are needed".format(
                found.ndim - 1, V.shown(found.shape), V.shown(parts._payload.shape), V.shown(wanted)
            )
        )
    rows = wg.reshape(x, (math.prod(sizes[:depth]), *sizes[depth:]))
    parts = wg.reshape(parts, (len(flat), *sizes[depth:]))
    return wg.reshape(write(rows, wg.as_tensor(flat), parts), sizes)


def _scatter(path: str, op: str, write: Callable[..., Any], words: str, line: str) -> Any:
    """Make the scatter `path`, which writes parts into the rows of a tensor by `write`."""

    @V.operation(op, "tensor", "updates", indices=positions)
    def scatter(tensor, indices, updates, bad_indices_policy="", name=None) -> Any:
        """The tensor with `updates` {words} at positions; `tensor` itself stays as it is.

        Parameters
        ----------
        tensor : Tensor or tensor-like.
        indices : Tensor. Rows of indices into the leading dimensions of `tensor`.
        updates : Tensor. One slice for each row, of the dtype of `tensor`.

        Returns
        -------
        Tensor: Differentiable in `tensor` and `updates`.

        Raises
        ------
        InvalidArgumentError: If an index is out of range, or shapes or dtypes do not match.

        Examples
        --------
        >>> print(tf.{path}([1, 5, 3], [[0], [1]], [4, 4]).numpy())
        {line}
        """
        return _written(tensor, indices, updates, write)

    return shaped(scatter, path, words=words, line=line)


rows(
    globals(),
    _scatter,
    """
    tensor_scatter_nd_update | TensorScatterUpdate | =_replaced | put | [4 4 3]
    tensor_scatter_nd_add | TensorScatterAdd | =_added | added | [5 9 3]
    tensor_scatter_nd_sub | TensorScatterSub | =_subtracted | subtracted | [-3  1  3]
    tensor_scatter_nd_max | TensorScatterMax | =_raised | put, where they are greater, | [4 5 3]
    tensor_scatter_nd_min | TensorScatterMin | =_lowered | put, where they are less, | [1 4 3]
    """,
)


# -- parts by number -------------------------------------------------------------------------------


@V.operation("DynamicPartition", data=V.ANY, partitions=positions)
def dynamic_partition(data, partitions, num_partitions: int, name=None) -> Any:
    """Distribute the slices of a tensor over lists, by the indices in `partitions`.

    Examples
    --------
    >>> [part.numpy().tolist() for part in tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)]
    [[1, 3], [2]]
    """
    sizes, ndim = data._payload.shape, partitions.ndim
    if sizes[:ndim] != partitions.shape:
        raise refusal(V.invalid, "data.shape must start", V.shown(sizes), V.shown(partitions.shape))
    if ((partitions < 0) | (partitions >= num_partitions)).any():
        raise V.invalid(f"partitions must be in [0, {num_partitions})")
    rows = wg.reshape(data, (partitions.size, *sizes[ndim:]))
    chosen = [np.flatnonzero(partitions == i) for i in range(num_partitions)]
    return [wg.index_select(rows, 0, wg.as_tensor(places)) for places in chosen]


@V.operation("DynamicStitch")
def dynamic_stitch(indices, data, name=None) -> Any:
    """Place slices at lists of indices: ``result[indices[i][j]] = data[i][j]``.

    Examples
    --------
    >>> print(tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]).numpy())
    [10 20 30]
    """
    places = [positions(part) for part in indices]
    parts = V.aligned("DynamicStitch", *data)
    rest = parts[0]._payload.shape[places[0].ndim :]
    rows = wg.cat([wg.reshape(part, (-1, *rest)) for part in parts])
    flat = np.concatenate([place.reshape(-1) for place in places])
    # if indices are repeated, the last part wins
    source = np.full(int(flat.max(initial=-1)) + 1, -1)
    source[flat] = np.arange(flat.size)
    return wg.index_select(rows, 0, wg.as_tensor(np.maximum(source, 0)))


def _sum(x, places, count: int) -> Any:
    start = wg.as_tensor(np.zeros((count, *x._payload.shape[1:]), x._payload.dtype))
    return wg.index_add(start, 0, places, x)


def _counts(x, places, count: int) -> Any:
    """Return the number of rows in each segment, at least 1, as a divisor."""
    found = np.maximum(np.bincount(V.numbers_of(places), minlength=count), 1)
    return wg.as_tensor(found.reshape(-1, *(1,) * (x._payload.ndim - 1)).astype(x._payload.dtype))


def _mean(x, places, count: int) -> Any:
    total, many = _sum(x, places, count), _counts(x, places, count)
    if x._payload.dtype.kind in "iu":
        return wg.div(total, many, rounding_mode="trunc")
    return wg.div(total, many)


def _fractional_mean(x, places, count: int) -> Any:
    # not a kernel of TensorFlow: whole numbers are divided as Python divides them
    return _mean(fractional(x), places, count)


def _sqrt_n(x, places, count: int) -> Any:
    return wg.div(_sum(x, places, count), wg.sqrt(_counts(x, places, count)))


def _by(reduce: str, empty) -> Any:
    """Return a segment reduction by `index_reduce`; `empty` gives the value of empty segments."""

    def reduced(x, places, count: int) -> Any:
        shape = (count, *x._payload.shape[1:])
        start = wg.as_tensor(np.full(shape, empty(x._payload.dtype), x._payload.dtype))
        return wg.index_reduce(start, 0, places, x, reduce, include_self=False)

    return reduced


def _bound(end: str) -> Callable[[Any], Any]:
    return lambda kind: getattr(limits(kind), end)


_product = _by("prod", lambda kind: 1)
_greatest_or_0, _least_or_0 = _by("amax", lambda kind: 0), _by("amin", lambda kind: 0)
_greatest, _least = _by("amax", _bound("min")), _by("amin", _bound("max"))


def _numbers(value) -> Any:
    return positions(value, ("int32", "int64"))


def _sorted(path: str, op: str, function, kinds, words: str, line: str, none: str) -> Any:
    @V.operation(op, data=kinds, segment_ids=_numbers)
    def segments(data, segment_ids, name=None) -> Any:
        """{words} of the rows of each segment.

        Parameters
        ----------
        data : Tensor. The rows, of {kinds}.
        segment_ids : Tensor. The index of the segment of each row, in nondecreasing order.

        Returns
        -------
        Tensor: One row for each segment; for an empty segment, {none}. Differentiable.

        Raises
        ------
        InvalidArgumentError: If `segment_ids` are not sorted, or their number differs from that of
            the rows.

        Examples
        --------
        >>> print(tf.{path}([1.0, 2.0, 3.0], [0, 0, 1]).numpy())
        {line}
        """
        ids = segment_ids
        if ids.ndim != 1 or not data._payload.ndim or ids.size != data._payload.shape[0]:
            raise V.invalid("segment_ids should be the same size as dimension 0 of input.")
        if (np.diff(ids) < 0).any():
            takes = path.replace("math.", "tf.math.unsorted_")
            raise V.invalid(f"segment ids are not increasing: {takes} takes them")
        if ids.size and ids[0] < 0:
            raise V.invalid("segment ids must be >= 0")
        return function(data, wg.as_tensor(ids), int(ids[-1]) + 1 if ids.size else 0)

    return shaped(segments, path, words=words, kinds=KINDS[kinds], line=line, none=none)


def _unsorted(path: str, op: str, function, kinds, words: str, line: str, none: str) -> Any:
    @V.operation(op, data=kinds, segment_ids=_numbers, num_segments=int)
    def segments(data, segment_ids, num_segments, name=None) -> Any:
        """{words} of the rows of each segment; `segment_ids` need not be sorted.

        Parameters
        ----------
        data : Tensor. The rows, of {kinds}.
        segment_ids : Tensor. The index of the segment of each row, or of each part; rows with a
            negative index are dropped.
        num_segments : int. The number of segments.

        Returns
        -------
        Tensor: One row for each segment; for an empty segment, {none}. Differentiable.

        Raises
        ------
        InvalidArgumentError: If an index is out of range, or the shapes do not match.

        Examples
        --------
        >>> print(tf.{path}([1.0, 2.0, 3.0], [1, 0, 1], 2).numpy())
        {line}
        """
        ids, sizes = segment_ids, data._payload.shape
        if sizes[: ids.ndim] != ids.shape:
            raise refusal(V.invalid, "data.shape = {}", V.shown(sizes), V.shown(ids.shape))
        if ids.size and ids.max() >= num_segments:
            where = tuple(np.argwhere(ids >= num_segments)[0])
            raise refusal(V.invalid, "segment_ids{} = {}", V.shown(where), ids[where], num_segments)
        rows = wg.reshape(data, (ids.size, *sizes[ids.ndim :]))
        flat = ids.reshape(-1)
        if ids.size and ids.min() < 0:
            kept = np.flatnonzero(flat >= 0)
            rows, flat = wg.index_select(rows, 0, wg.as_tensor(kept)), flat[kept]
        return function(rows, wg.as_tensor(flat), num_segments)

    return shaped(segments, path, words=words, kinds=KINDS[kinds], line=line, none=none)


rows(
    globals(),
    _sorted,
    """
    math.segment_sum | SegmentSum | =_sum | =NUMBERS | The sum | [3. 3.] | 0
    math.segment_mean | SegmentMean | =_mean | =NUMBERS | The mean | [1.5 3. ] | 0
    math.segment_prod | SegmentProd | =_product | =NUMBERS | The product | [2. 3.] | 1
    math.segment_max | SegmentMax | =_greatest_or_0 | =REAL | The greatest | [2. 3.] | 0
    math.segment_min | SegmentMin | =_least_or_0 | =REAL | The least | [1. 3.] | 0
    """,
)
rows(
    globals(),
    _unsorted,
    """
    math.unsorted_segment_sum | UnsortedSegmentSum | =_sum | =NUMBERS | The sum | [2. 4.] | 0
    math.unsorted_segment_mean | UnsortedSegmentSum | =_fractional_mean | =NUMBERS
        | The mean | [2. 2.] | 0
    math.unsorted_segment_sqrt_n | UnsortedSegmentSum | =_sqrt_n | =COMPLEX
        | The sum, divided by the square root of their number, | [2.        2.828427] | 0
    math.unsorted_segment_prod | UnsortedSegmentProd | =_product | =NUMBERS | The product
        | [2. 3.] | 1
    math.unsorted_segment_max | UnsortedSegmentMax | =_greatest | =REAL | The greatest | [2. 3.]
        | the least number
    math.unsorted_segment_min | UnsortedSegmentMin | =_least | =REAL | The least | [2. 1.]
        | the greatest number
    """,
)
__all__ = defined(globals())
