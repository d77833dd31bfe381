"""Layer 9 · compat: TensorFlow's sums, means and extremes of segments: rows with one number."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions.values import (
    NUMBERS,
    REAL,
    check,
    integers,
    invalid,
    numbers_of,
    operation,
    shown,
    tensor_of,
)

_SORTED = """{words} of the rows of each segment.

Parameters
----------
data : Tensor
    Of a {kinds} dtype.
segment_ids : Tensor
    The number of the segment of each row, in order.
name : str, optional
    Accepted, and of no effect.

Returns
-------
Tensor
    One row for each segment; of a number that does not come, {empty}. Differentiable.

Raises
------
InvalidArgumentError
    If the numbers are not in order, or not as many as rows.

Examples
--------
>>> import wengert.compat.tensorflow as tf
>>> print(tf.math.{name}([1.0, 2.0, 3.0], [0, 0, 1]).numpy())
{line}
"""
_UNSORTED = """{words} of the rows of each segment, whose numbers need not be in order.

Parameters
----------
data : Tensor
    Of a {kinds} dtype.
segment_ids : Tensor
    The number of the segment of each row, or of each part; what has a negative one is left out.
num_segments : int
    How many segments there are.
name : str, optional
    Accepted, and of no effect.

Returns
-------
Tensor
    One row for each segment; of a number that does not come, {empty}. Differentiable.

Raises
------
InvalidArgumentError
    If a number is too great, or the shapes do not fit.

Examples
--------
>>> import wengert.compat.tensorflow as tf
>>> print(tf.math.{name}([1.0, 2.0, 3.0], [1, 0, 1], 2).numpy())
{line}
"""


def _sum(x, places, count: int) -> Any:
    start = wg.as_tensor(np.zeros((count, *x.payload.shape[1:]), x.payload.dtype))
    return wg.index_add(start, 0, places, x)


def _counts(x, places, count: int) -> Any:
    """How many rows each segment has, at least 1, to divide by."""
    found = np.maximum(np.bincount(numbers_of(places), minlength=count), 1)
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


def _least(kind) -> Any:
    return np.iinfo(kind).min if kind.kind in "iu" else np.finfo(kind).min


def _most(kind) -> Any:
    return np.iinfo(kind).max if kind.kind in "iu" else np.finfo(kind).max


def _zero(kind) -> Any:
    return 0


def _one(kind) -> Any:
    return 1


def _numbers(op: str, value) -> Any:
    x = tensor_of(value)
    check(op, x, ("int32", "int64"), "Tindices")
    return numbers_of(x).astype(np.int64)


def _sorted(op: str, function, kinds, name: str, words: str, line: str, none: str) -> Any:
    @operation(op)
    def segments(data, segment_ids, name: str | None = None) -> Any:
        x, ids = tensor_of(data), _numbers(op, segment_ids)
        check(op, x, kinds)
        if ids.ndim != 1 or not x.payload.ndim or ids.size != x.payload.shape[0]:
            raise invalid(op, "segment_ids should be the same size as dimension 0 of input.")
        if (np.diff(ids) < 0).any():
            raise invalid(
                op, f"segment ids are not increasing: tf.math.unsorted_{name_} takes them"
            )
        if ids.size and ids[0] < 0:
            raise invalid(op, "segment ids must be >= 0")
        return function(x, wg.as_tensor(ids), int(ids[-1]) + 1 if ids.size else 0)

    name_ = name
    return _described(segments, _SORTED, name, words, kinds, line, none)


def _unsorted(op: str, function, kinds, name: str, words: str, line: str, none: str) -> Any:
    @operation(op)
    def segments(data, segment_ids, num_segments, name: str | None = None) -> Any:
        x, ids = tensor_of(data), _numbers(op, segment_ids)
        check(op, x, kinds)
        (count,) = integers(num_segments, "num_segments")
        sizes = x.payload.shape
        if sizes[: ids.ndim] != ids.shape:
            raise invalid(
                op,
                f"data.shape = {shown(sizes)} does not start with segment_ids.shape = "
                f"{shown(ids.shape)}",
            )
        if ids.size and ids.max() >= count:
            where = tuple(np.argwhere(ids >= count)[0])
            raise invalid(
                op, f"segment_ids{shown(where)} = {ids[where]} is out of range [0, {count})"
            )
        rows = wg.reshape(x, (ids.size, *sizes[ids.ndim :]))
        flat = ids.reshape(-1)
        if ids.size and ids.min() < 0:
            kept = np.flatnonzero(flat >= 0)
            rows, flat = wg.index_select(rows, 0, wg.as_tensor(kept)), flat[kept]
        return function(rows, wg.as_tensor(flat), count)

    return _described(segments, _UNSORTED, name, words, kinds, line, none)


def _described(function, doc: str, name: str, words: str, kinds, line: str, none: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc.format(
        words=words,
        name=name,
        kinds="number" if kinds is NUMBERS else "real",
        line=line,
        empty=none,
    )
    return function


segment_sum = _sorted("SegmentSum", _sum, NUMBERS, "segment_sum", "The sum", "[3. 3.]", "0")
segment_mean = _sorted("SegmentMean", _mean, NUMBERS, "segment_mean", "The mean", "[1.5 3. ]", "0")
segment_prod = _sorted(
    "SegmentProd", _by("prod", _one), REAL, "segment_prod", "The product", "[2. 3.]", "1"
)
segment_max = _sorted(
    "SegmentMax", _by("amax", _zero), REAL, "segment_max", "The greatest", "[2. 3.]", "0"
)
segment_min = _sorted(
    "SegmentMin", _by("amin", _zero), REAL, "segment_min", "The least", "[1. 3.]", "0"
)
unsorted_segment_sum = _unsorted(
    "UnsortedSegmentSum", _sum, NUMBERS, "unsorted_segment_sum", "The sum", "[2. 4.]", "0"
)
unsorted_segment_mean = _unsorted(
    "UnsortedSegmentSum", _mean, NUMBERS, "unsorted_segment_mean", "The mean", "[2. 2.]", "0"
)
unsorted_segment_sqrt_n = _unsorted(
    "UnsortedSegmentSum",
    _sqrt_n,
    NUMBERS,
    "unsorted_segment_sqrt_n",
    "The sum, divided by the square root of their number,",
    "[2.        2.828427]",
    "0",
)
unsorted_segment_prod = _unsorted(
    "UnsortedSegmentProd",
    _by("prod", _one),
    REAL,
    "unsorted_segment_prod",
    "The product",
    "[2. 3.]",
    "1",
)
unsorted_segment_max = _unsorted(
    "UnsortedSegmentMax",
    _by("amax", _least),
    REAL,
    "unsorted_segment_max",
    "The greatest",
    "[2. 3.]",
    "the least number",
)
unsorted_segment_min = _unsorted(
    "UnsortedSegmentMin",
    _by("amin", _most),
    REAL,
    "unsorted_segment_min",
    "The least",
    "[2. 1.]",
    "the greatest number",
)


__all__ = defined(globals())
