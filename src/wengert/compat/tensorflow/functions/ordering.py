"""Layer 9 · compat: TensorFlow's sorting, searching and counting."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.words import refusal


@V.operation("DenseBincount", arr=V.numbers_of, weights=V.ANY, minlength=int, maxlength=int)
def bincount(
    arr,
    weights=None,
    minlength=None,
    maxlength=None,
    dtype=None,
    name=None,
    axis=None,
    binary_output=False,
) -> Any:
    """Count each nonnegative integer, or sum the weights at its positions.

    Parameters
    ----------
    arr : Tensor. The nonnegative integers to count.
    weights : Tensor, optional. The weights, of the shape of `arr`.
    minlength, maxlength : int, optional. The minimum and the maximum length of the result; larger
        integers are ignored.
    dtype : DType, optional. The dtype of the counts; int32 by default.
    axis : None or 0. The counts are over all elements; other axes are not supported.
    binary_output : bool. Whether to return 1 instead of a positive count.

    Returns
    -------
    Tensor: Differentiable in `weights`.

    Raises
    ------
    InvalidArgumentError: If a number is negative, or `axis` is not supported.

    Examples
    --------
    >>> print(tf.math.bincount([1, 1, 3]).numpy())
    [0 2 0 1]
    """
    if axis not in (None, 0):
        raise V.invalid(f"axis must be None or 0 here, not {axis}")
    numbers = arr.reshape(-1) if arr.size else np.zeros(0, np.int32)  # [] holds floats
    if (numbers < 0).any():
        raise V.invalid("Input arr must be non-negative!")
    size = max(int(numbers.max(initial=-1)) + 1, minlength or 0)
    size = size if maxlength is None else min(size, maxlength)
    inside = numbers < size
    if weights is None:
        counts: Any = np.bincount(numbers[inside], minlength=size)
        counts = counts > 0 if binary_output else counts
        return wg.as_tensor(counts.astype(V.dtype_of(dtype, _INT32)))
    values: Any = wg.reshape(weights, (-1,))
    values = wg.index_select(values, 0, wg.as_tensor(np.flatnonzero(inside)))
    start = wg.as_tensor(np.zeros(size, values._payload.dtype))
    return wg.index_add(start, 0, wg.as_tensor(numbers[inside].astype(np.int64)), values)


@V.operation("ScatterNd", labels=V.numbers_of, predictions=V.numbers_of, num_classes=int)
def confusion_matrix(
    labels, predictions, num_classes=None, weights=None, dtype=None, name=None
) -> Any:
    """Count how often each label (rows) was predicted as each class (columns).

    Examples
    --------
    >>> print(tf.math.confusion_matrix([0, 1, 1], [1, 1, 1]).numpy())
    [[0 1]
     [0 2]]
    """
    pair = tuple(part.reshape(-1).astype(np.int64) for part in (labels, predictions))
    size = num_classes
    if size is None:
        size = max(int(part.max(initial=0)) + 1 for part in pair)
    for what, part in zip(("labels", "predictions"), pair, strict=True):
        if ((part < 0) | (part >= size)).any():
            raise V.invalid(f"`{what}` out of bound: they must be in [0, {size})", "Assert")
    counts = np.zeros((size, size))
    np.add.at(counts, pair, 1 if weights is None else V.numbers_of(weights))
    return wg.as_tensor(counts.astype(V.dtype_of(dtype, _INT32)))


@V.operation("HistogramFixedWidth", nbins=int)
def histogram_fixed_width(values, value_range, nbins=100, dtype=None, name=None) -> Any:
    """Count the values in each of `nbins` equal bins; the outer bins include values out of range.

    Examples
    --------
    >>> print(tf.histogram_fixed_width([-1.0, 0.5, 5.0], [0.0, 2.0], nbins=2).numpy())
    [2 1]
    """
    # in float64, so that the range of a smaller dtype does not overflow
    numbers, (low, high) = (V.numbers_of(x).reshape(-1).astype("d") for x in (values, value_range))
    place = np.clip(np.floor((numbers - low) / ((high - low) / nbins)), 0, nbins - 1).astype(int)
    return wg.as_tensor(np.bincount(place, minlength=nbins).astype(V.dtype_of(dtype, _INT32)))


_INT32 = np.dtype(np.int32)
TopKV2 = namedtuple("TopKV2", ["values", "indices"])
Unique = namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = namedtuple("UniqueWithCounts", ["y", "idx", "count"])


def _sorted(values, axis, direction: str) -> Any:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise refusal(ValueError, "Argument `direction` should", direction)
    place = V.axis_of(axis, values._payload.ndim)
    return wg.sort(values, dim=place, descending=direction == "DESCENDING", stable=True)


@V.operation("TopKV2", values=V.REAL)
def sort(values, axis=-1, direction="ASCENDING", name=None) -> Any:
    """Sort the elements along a dimension.

    Parameters
    ----------
    values : Tensor. The input, of a real dtype.
    axis : int. The dimension; the last by default.
    direction : str. ``"ASCENDING"`` or ``"DESCENDING"``.

    %(returns_differentiable)s

    Raises
    ------
    ValueError: If `direction` is unknown.

    Examples
    --------
    >>> print(tf.sort([3, 1, 2], direction="DESCENDING").numpy())
    [3 2 1]
    """
    return _sorted(values, axis, direction)[0]


@V.operation("TopKV2", values=V.REAL)
def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None) -> Any:
    """Return the indices, as int32, that sort the elements; the sort is stable.

    Examples
    --------
    >>> print(tf.argsort([3, 1, 2]).numpy())
    [1 2 0]
    """
    return V.converted(_sorted(values, axis, direction)[1], _INT32)


@V.operation("TopKV2", input=V.REAL, k=int)
def top_k(input, k=1, sorted=True, index_type=None, name=None) -> Any:
    """Return the `k` largest elements along the last dimension, and their indices.

    Parameters
    ----------
    input : Tensor. Of a real dtype.
    k : int. The number of elements.
    sorted : bool. Ignored: results are always sorted, and ties are in order of index.
    index_type : DType, optional. int32 by default.

    Returns
    -------
    TopKV2: A pair of ``values``, which are differentiable, and ``indices``.

    Raises
    ------
    InvalidArgumentError: If there are fewer than `k` elements.

    Examples
    --------
    >>> values, indices = tf.math.top_k([1, 3, 2], k=2)
    >>> print(values.numpy(), indices.numpy())
    [3 2] [1 2]
    """
    if not input._payload.ndim or input._payload.shape[-1] < k or k < 0:
        raise refusal(V.invalid, "input must have", (input._payload.shape or (0,))[-1], k)
    values, positions = wg.sort(input, dim=-1, descending=True, stable=True)
    return TopKV2(
        wg.narrow(values, -1, 0, k),
        V.converted(wg.narrow(positions, -1, 0, k), V.dtype_of(index_type, _INT32)),
    )


@V.operation("InTopKV2", k=int)
def in_top_k(targets, predictions, k, name=None) -> Any:
    """Return whether the target's prediction is among the `k` largest of its row.

    Examples
    --------
    >>> print(tf.math.in_top_k([1, 0], [[0.1, 0.9], [0.2, 0.8]], 1).numpy())
    [ True False]
    """
    labels = V.numbers_of(targets)
    scores = V.numbers_of(predictions)
    inside = (labels >= 0) & (labels < scores.shape[1])
    own = np.take_along_axis(scores, np.where(inside, labels, 0)[:, None], 1)
    finite = np.isfinite(scores).all(1)
    return wg.as_tensor(inside & finite & ((scores > own).sum(1) < k))


@V.operation("Unique", x=V.ANY)
def unique(x, out_idx=None, name=None) -> Any:
    """Return the distinct elements in order of first appearance, and the index of each element.

    Returns
    -------
    Unique: A pair of ``y``, which is differentiable, and ``idx``.

    Raises
    ------
    InvalidArgumentError: If `x` does not have one dimension.

    Examples
    --------
    >>> y, idx = tf.unique([7, 3, 7])
    >>> print(y.numpy(), idx.numpy())
    [7 3] [0 1 0]
    """
    return Unique(*_distinct(x, out_idx)[:2])


@V.operation("UniqueWithCounts", x=V.ANY)
def unique_with_counts(x, out_idx=None, name=None) -> Any:
    """Return the distinct elements, the index of each element among them, and their counts.

    Examples
    --------
    >>> print(tf.unique_with_counts([7, 3, 7]).count.numpy())
    [2 1]
    """
    return UniqueWithCounts(*_distinct(x, out_idx))


def _distinct(x, out_idx) -> tuple[Any, Any, Any]:
    if x._payload.ndim != 1:
        raise V.invalid(f"unique expects a 1D vector, not shape {V.shown(x._payload.shape)}")
    _, first, back, count = np.unique(
        V.numbers_of(x), True, True, return_counts=True, equal_nan=False
    )
    order = np.argsort(first)
    rank = np.argsort(order)
    kind = V.dtype_of(out_idx, _INT32)
    return (
        wg.index_select(x, 0, wg.as_tensor(first[order])),
        wg.as_tensor(rank[back].astype(kind)),
        wg.as_tensor(count[order].astype(kind)),
    )


@V.operation("LowerBound", "sorted_sequence", "values")
def searchsorted(sorted_sequence, values, side="left", out_type=None, name=None) -> Any:
    """Return the indices, as int32, at which to insert values into a sorted sequence.

    Raises
    ------
    ValueError: If `side` is neither ``"left"`` nor ``"right"``.

    Examples
    --------
    >>> print(tf.searchsorted([1, 3, 5], [2, 3], side="right").numpy())
    [1 2]
    """
    if side not in ("left", "right"):
        raise refusal(ValueError, "Argument `side` must", side)
    right = side == "right"
    found = wg.searchsorted(sorted_sequence.detach(), values.detach(), right=right)
    return V.converted(found, V.dtype_of(out_type, _INT32))


@V.operation("InvertPermutation", x=("int32", "int64"))
def invert_permutation(x, name=None) -> Any:
    """Invert a permutation.

    Examples
    --------
    >>> print(tf.math.invert_permutation([2, 0, 1]).numpy())
    [1 2 0]
    """
    order = V.numbers_of(x)
    if not np.array_equal(np.sort(order, axis=None), np.arange(order.size)):
        raise V.invalid(f"{order.tolist()} is not a permutation")
    return wg.as_tensor(np.argsort(order).astype(order.dtype))


@V.operation("UnravelIndex", indices=V.ANY, dims=tuple)
def unravel_index(indices, dims, name=None) -> Any:
    """Convert indices of the flattened tensor to indices along each dimension.

    Examples
    --------
    >>> print(tf.unravel_index([3, 4], [2, 3]).numpy())
    [[1 1]
     [0 1]]
    """
    try:
        found = np.unravel_index(V.numbers_of(indices), dims)
    except ValueError as error:
        raise V.invalid(f"index is out of bound as with dims: {error}") from None
    return wg.as_tensor(np.stack(found).astype(indices._payload.dtype))


@V.operation("All", x=V.numbers_of)
def is_non_decreasing(x, name=None) -> Any:
    """Return whether no element is less than the previous one, in the flattened tensor.

    Examples
    --------
    >>> print(tf.math.is_non_decreasing([1, 1, 2]).numpy())
    True
    """
    x = x.reshape(-1)
    return wg.as_tensor((x[1:] >= x[:-1]).all())


@V.operation("All", x=V.numbers_of)
def is_strictly_increasing(x, name=None) -> Any:
    """Return whether each element is greater than the previous one, in the flattened tensor.

    Examples
    --------
    >>> print(tf.math.is_strictly_increasing([1, 1, 2]).numpy())
    False
    """
    x = x.reshape(-1)
    return wg.as_tensor((x[1:] > x[:-1]).all())


# -- positions -------------------------------------------------------------------------------------


@V.operation("ArgMax", input=(*V.NUMBERS, "bool"))
def argmax(input, axis=None, output_type=None, name=None) -> Any:
    """Return the index of the largest element along a dimension, the first one for ties.

    Parameters
    ----------
    input : Tensor. The input, of a real or bool dtype.
    axis : int, optional. The dimension; 0 by default.
    output_type : DType, optional. int64 by default.

    Returns
    -------
    Tensor: The indices.

    Raises
    ------
    InvalidArgumentError: If `axis` is out of range, or the dimension is empty.

    Examples
    --------
    >>> print(tf.argmax([1, 5, 2]).numpy())
    1
    """
    return _position(wg.argmax, -np.inf, input, axis, output_type)


@V.operation("ArgMin", input=(*V.NUMBERS, "bool"))
def argmin(input, axis=None, output_type=None, name=None) -> Any:
    """Return the index of the smallest element along a dimension; see `argmax`.

    Examples
    --------
    >>> print(tf.argmin([[1, 5, 2], [3, 1, 0]], axis=1).numpy())
    [0 2]
    """
    return _position(wg.argmin, np.inf, input, axis, output_type)


def _position(function, last: float, x, axis, output_type) -> Any:
    place = V.axis_of(0 if axis is None else axis, x._payload.ndim)
    if not x._payload.shape[place]:
        raise V.invalid(f"Reduction axis {place} is empty in shape {V.shown(x._payload.shape)}")
    if x._payload.dtype.kind == "b":
        x = V.converted(x, np.dtype(np.uint8))
    kind = V.dtype_of(output_type, np.dtype(np.int64))
    if x._payload.dtype.kind == "f" and np.isnan(x._payload).any():  # the position of a number
        x = V.tensor_of(np.where(np.isnan(x._payload), x._payload.dtype.type(last), x._payload))
    return V.converted(function(x, place), kind)


__all__ = defined(globals())
