"""Layer 9 · compat: TensorFlow's sums, means and extremes of segments: rows with one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import shaped
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.templates import KINDS, rows


def _sum(x, places, count: int) -> Any:
    start = wg.as_tensor(np.zeros((count, *x.payload.shape[1:]), x.payload.dtype))
    return wg.index_add(start, 0, places, x)


def _counts(x, places, count: int) -> Any:
    """How many rows each segment has, at least 1, to divide by."""
    found = np.maximum(np.bincount(V.numbers_of(places), minlength=count), 1)
    return wg.as_tensor(found.reshape(-1, *(1,) * (x.payload.ndim - 1)).astype(x.payload.dtype))


def _mean(x, places, count: int) -> Any:
    total, many = _sum(x, places, count), _counts(x, places, count)
    if x.payload.dtype.kind in "iu":
        return wg.div(total, many, rounding_mode="trunc")
    return wg.div(total, many)


def _sqrt_n(x, places, count: int) -> Any:
    return wg.div(_sum(x, places, count), wg.sqrt(_counts(x, places, count)))


def _by(reduce: str, empty) -> Any:
    """`index_reduce` with the rows of a segment; `empty` gives the value of one without rows."""

    def reduced(x, places, count: int) -> Any:
        shape = (count, *x.payload.shape[1:])
        start = wg.as_tensor(np.full(shape, empty(x.payload.dtype), x.payload.dtype))
        return wg.index_reduce(start, 0, places, x, reduce, include_self=False)

    return reduced


def _bound(end: str) -> Callable[[Any], Any]:
    return lambda kind: getattr((np.iinfo if kind.kind in "iu" else np.finfo)(kind), end)


_product = _by("prod", lambda kind: 1)
_greatest_or_0, _least_or_0 = _by("amax", lambda kind: 0), _by("amin", lambda kind: 0)
_greatest, _least = _by("amax", _bound("min")), _by("amin", _bound("max"))


def _numbers(op: str, value) -> Any:
    x = V.tensor_of(value)
    V.check(op, x, ("int32", "int64"), "Tindices")
    return V.numbers_of(x).astype(np.int64)


def _sorted(path: str, op: str, function, kinds, words: str, line: str, none: str) -> Any:
    @V.operation(op)
    def segments(data, segment_ids, name=None) -> Any:
        """{words} of the rows of each segment.

        Parameters
        ----------
        data : Tensor. Of {kinds}.
        segment_ids : Tensor. The number of the segment of each row, in order.

        Returns
        -------
        Tensor: One row for each segment; of a number that does not come, {none}. Differentiable.

        Raises
        ------
        InvalidArgumentError: If the numbers are not in order, or not as many as rows.

        Examples
        --------
        >>> print(tf.{path}([1.0, 2.0, 3.0], [0, 0, 1]).numpy())
        {line}
        """
        x, ids = V.tensor_of(data), _numbers(op, segment_ids)
        V.check(op, x, kinds)
        if ids.ndim != 1 or not x.payload.ndim or ids.size != x.payload.shape[0]:
            raise V.invalid(op, "segment_ids should be the same size as dimension 0 of input.")
        if (np.diff(ids) < 0).any():
            takes = path.replace("math.", "tf.math.unsorted_")
            raise V.invalid(op, f"segment ids are not increasing: {takes} takes them")
        if ids.size and ids[0] < 0:
            raise V.invalid(op, "segment ids must be >= 0")
        return function(x, wg.as_tensor(ids), int(ids[-1]) + 1 if ids.size else 0)

    return shaped(segments, path, words=words, kinds=KINDS[kinds], line=line, none=none)


def _unsorted(path: str, op: str, function, kinds, words: str, line: str, none: str) -> Any:
    @V.operation(op)
    def segments(data, segment_ids, num_segments, name=None) -> Any:
        """{words} of the rows of each segment, whose numbers need not be in order.

        Parameters
        ----------
        data : Tensor. Of {kinds}.
        segment_ids : Tensor. The number of the segment of each row, or of each part; what has a
            negative one is left out.
        num_segments : int. How many segments there are.

        Returns
        -------
        Tensor: One row for each segment; of a number that does not come, {none}. Differentiable.

        Raises
        ------
        InvalidArgumentError: If a number is too great, or the shapes do not fit.

        Examples
        --------
        >>> print(tf.{path}([1.0, 2.0, 3.0], [1, 0, 1], 2).numpy())
        {line}
        """
        x, ids = V.tensor_of(data), _numbers(op, segment_ids)
        V.check(op, x, kinds)
        (count,) = V.integers(num_segments, "num_segments")
        sizes = x.payload.shape
        if sizes[: ids.ndim] != ids.shape:
            raise V.invalid(
                op,
                f"data.shape = {V.shown(sizes)} does not start with segment_ids.shape = "
                f"{V.shown(ids.shape)}",
            )
        if ids.size and ids.max() >= count:
            where = tuple(np.argwhere(ids >= count)[0])
            raise V.invalid(
                op, f"segment_ids{V.shown(where)} = {ids[where]} is out of range [0, {count})"
            )
        rows = wg.reshape(x, (ids.size, *sizes[ids.ndim :]))
        flat = ids.reshape(-1)
        if ids.size and ids.min() < 0:
            kept = np.flatnonzero(flat >= 0)
            rows, flat = wg.index_select(rows, 0, wg.as_tensor(kept)), flat[kept]
        return function(rows, wg.as_tensor(flat), count)

    return shaped(segments, path, words=words, kinds=KINDS[kinds], line=line, none=none)


rows(
    globals(),
    _sorted,
    """
    math.segment_sum | SegmentSum | =_sum | =NUMBERS | The sum | [3. 3.] | 0
    math.segment_mean | SegmentMean | =_mean | =NUMBERS | The mean | [1.5 3. ] | 0
    math.segment_prod | SegmentProd | =_product | =REAL | The product | [2. 3.] | 1
    math.segment_max | SegmentMax | =_greatest_or_0 | =REAL | The greatest | [2. 3.] | 0
    math.segment_min | SegmentMin | =_least_or_0 | =REAL | The least | [1. 3.] | 0
    """,
)
rows(
    globals(),
    _unsorted,
    """
    math.unsorted_segment_sum | UnsortedSegmentSum | =_sum | =NUMBERS | The sum | [2. 4.] | 0
    math.unsorted_segment_mean | UnsortedSegmentSum | =_mean | =NUMBERS | The mean | [2. 2.] | 0
    math.unsorted_segment_sqrt_n | UnsortedSegmentSum | =_sqrt_n | =NUMBERS
        | The sum, divided by the square root of their number, | [2.        2.828427] | 0
    math.unsorted_segment_prod | UnsortedSegmentProd | =_product | =REAL | The product | [2. 3.] | 1
    math.unsorted_segment_max | UnsortedSegmentMax | =_greatest | =REAL | The greatest | [2. 3.]
        | the least number
    math.unsorted_segment_min | UnsortedSegmentMin | =_least | =REAL | The least | [2. 1.]
        | the greatest number
    """,
)
__all__ = defined(globals())
fill_sections(globals())
