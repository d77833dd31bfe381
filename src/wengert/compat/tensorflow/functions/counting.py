"""Layer 9 · compat: TensorFlow's counts of numbers: histograms and the like."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.functions import values as V

__all__ = ["bincount", "confusion_matrix", "histogram_fixed_width"]

_INT32 = np.dtype(np.int32)


@V.operation("DenseBincount")
def bincount(
    arr,
    weights=None,
    minlength=None,
    maxlength=None,
    dtype=None,
    name=None,
    axis=None,
    binary_output: bool = False,
) -> Any:
    """How often each whole number comes, or the sum of the weights of its places.

    Parameters
    ----------
    arr : Tensor. Of whole numbers, not negative.
    weights : Tensor, optional. Of the shape of `arr`.
    minlength, maxlength : int, optional. The least and the greatest number of counts; what lies
        beyond is left out.
    dtype : DType, optional. Of the counts; int32 by default.
    axis : None or 0. Only all elements together are counted here.
    binary_output : bool. Whether to say only if a number comes at all.

    Returns
    -------
    Tensor: Differentiable in `weights`.

    Raises
    ------
    InvalidArgumentError: If a number is negative, or `axis` is another.

    Examples
    --------
    >>> print(tf.math.bincount([1, 1, 3]).numpy())
    [0 2 0 1]
    """
    if axis not in (None, 0):
        raise V.invalid("DenseBincount", f"axis must be None or 0 here, not {axis}")
    numbers = V.numbers_of(arr).reshape(-1)
    if numbers.size and numbers.min() < 0:
        raise V.invalid("DenseBincount", "Input arr must be non-negative!")
    size = int(numbers.max(initial=-1)) + 1
    size = max(size, 0 if minlength is None else V.integers(minlength, "minlength")[0])
    size = min(size, size if maxlength is None else V.integers(maxlength, "maxlength")[0])
    inside = numbers < size
    if weights is None:
        counts: Any = np.bincount(numbers[inside], minlength=size)
        counts = counts > 0 if binary_output else counts
        return wg.as_tensor(counts.astype(V.dtype_of(dtype, _INT32)))
    values: Any = wg.reshape(V.tensor_of(weights), (-1,))
    values = wg.index_select(values, 0, wg.as_tensor(np.flatnonzero(inside)))
    start = wg.as_tensor(np.zeros(size, values.payload.dtype))
    return wg.index_add(start, 0, wg.as_tensor(numbers[inside].astype(np.int64)), values)


@V.operation("ScatterNd")
def confusion_matrix(
    labels, predictions, num_classes=None, weights=None, dtype=None, name=None
) -> Any:
    """How often each label (rows) was predicted as each class (columns).

    Examples
    --------
    >>> print(tf.math.confusion_matrix([0, 1, 1], [1, 1, 1]).numpy())
    [[0 1]
     [0 2]]
    """
    true = V.numbers_of(labels).reshape(-1).astype(np.int64)
    guessed = V.numbers_of(predictions).reshape(-1).astype(np.int64)
    found = [int(part.max(initial=0)) + 1 for part in (true, guessed)]
    size = max(found) if num_classes is None else V.integers(num_classes, "num_classes")[0]
    for name_, part in (("labels", true), ("predictions", guessed)):
        if part.size and (part.min() < 0 or part.max() >= size):
            raise V.invalid("Assert", f"`{name_}` out of bound: they must be in [0, {size})")
    amounts = 1 if weights is None else V.numbers_of(weights)
    counts = np.zeros((size, size))
    np.add.at(counts, (true, guessed), amounts)
    return wg.as_tensor(counts.astype(V.dtype_of(dtype, _INT32)))


@V.operation("HistogramFixedWidth")
def histogram_fixed_width(values, value_range, nbins=100, dtype=None, name=None) -> Any:
    """How many values lie in each of `nbins` equal parts of a range; the outer ones are open.

    Examples
    --------
    >>> print(tf.histogram_fixed_width([-1.0, 0.5, 5.0], [0.0, 2.0], nbins=2).numpy())
    [2 1]
    """
    numbers = V.numbers_of(values).reshape(-1)
    low, high = V.numbers_of(value_range).tolist()
    (bins,) = V.integers(nbins, "nbins")
    place = np.clip(np.floor((numbers - low) / (high - low) * bins), 0, bins - 1).astype(np.int64)
    return wg.as_tensor(np.bincount(place, minlength=bins).astype(V.dtype_of(dtype, _INT32)))


fill_sections(globals())
