"""Layer 9 · compat: TensorFlow's sums, means, extremes, running sums and positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import of_rows
from wengert.compat.tensorflow.functions.values import (
    FLOATING,
    NUMBERS,
    REAL,
    axes_of,
    axis_of,
    check,
    computed,
    converted,
    dtype_of,
    is_complex,
    is_floating,
    made,
    operation,
    tensor_of,
    truths,
    type_of,
)

_DOC = """{words}, of all elements or along dimensions.

Parameters
----------
input_tensor : Tensor
    Or what becomes one; of a {kinds} dtype.
axis : int or sequence of int, optional
    The dimensions to reduce; all by default.
keepdims : bool
    Whether to leave a dimension of size 1 for each that is reduced.
name : str, optional
    Accepted, and of no effect.

Returns
-------
Tensor
    {result}

Raises
------
InvalidArgumentError
    If the dtype is another one, or a dimension does not exist or is named twice.

Examples
--------
>>> import wengert.compat.tensorflow as tf
>>> print(tf.math.{name}({example}, axis=1).numpy())
{shown}
"""
_KINDS = {NUMBERS: "number", REAL: "real", FLOATING: "real floating"}


def _reduction(
    op: str,
    function: Callable[[Any, tuple[int, ...], bool], Any],
    kinds: Sequence[str],
    name: str,
    words: str,
    example: str,
    line: str,
) -> Any:
    """The reduction `name`: `function` of a tensor, its dimensions to reduce, and ``keepdims``."""

    def reduced(input_tensor, axis=None, keepdims: bool = False, name: str | None = None) -> Any:
        x = tensor_of(input_tensor)
        check(op, x, kinds)
        axes = axes_of(op, axis, x.payload.ndim)
        if not axes:
            return computed(op, wg.clone, x)
        return computed(op, function, x, axes, bool(keepdims))

    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = _DOC.format(
        words=words,
        kinds=_KINDS[tuple(kinds)],
        name=name,
        example=example,
        shown=line,
        result="Of the input's dtype; differentiable.",
    )
    return reduced


def _sum(x, axes: tuple[int, ...], keepdims: bool) -> Any:
    return wg.sum(x, axes, keepdims, dtype=x.payload.dtype)


def _mean(x, axes: tuple[int, ...], keepdims: bool) -> Any:
    if x.payload.dtype.kind in "iu":
        count = int(np.prod([x.payload.shape[axis] for axis in axes]))
        return wg.div(_sum(x, axes, keepdims), count, rounding_mode="trunc")
    return wg.mean(x, axes, keepdims)


def _prod(x, axes: tuple[int, ...], keepdims: bool) -> Any:
    for axis in sorted(axes, reverse=True):
        x = wg.prod(x, axis, keepdims, dtype=x.payload.dtype)
    return x


def _extreme(function: Callable[..., Any], low: bool) -> Callable[..., Any]:
    def extreme(x, axes: tuple[int, ...], keepdims: bool) -> Any:
        if x.payload.size:
            return function(x, axes, keepdims)
        # nothing to compare: the least number, or the greatest, where the result has elements
        kind = x.payload.dtype
        bound = np.inf if kind.kind == "f" else np.iinfo(kind).max
        least = -np.inf if kind.kind == "f" else np.iinfo(kind).min
        return wg.full_like(
            wg.sum(x, axes, keepdims, dtype=x.payload.dtype), least if low else bound
        )

    return extreme


def _logsumexp(x, axes: tuple[int, ...], keepdims: bool) -> Any:
    return wg.logsumexp(x, axes, keepdims)


reduce_sum = _reduction("Sum", _sum, NUMBERS, "reduce_sum", "The sum", "[[1, 2], [3, 4]]", "[3 7]")
reduce_max = _reduction(
    "Max",
    _extreme(wg.amax, True),
    REAL,
    "reduce_max",
    "The greatest element; equal ones share the gradient",
    "[[1, 2], [3, 4]]",
    "[2 4]",
)
reduce_min = _reduction(
    "Min",
    _extreme(wg.amin, False),
    REAL,
    "reduce_min",
    "The least element; equal ones share the gradient",
    "[[1, 2], [3, 4]]",
    "[1 3]",
)
of_rows(
    globals(),
    _reduction,
    """
    reduce_mean | Mean | =_mean | =NUMBERS | .
        | The mean, which of whole numbers is a whole number | [[1.0, 2.0], [3.0, 4.0]]
        | [1.5 3.5]
    reduce_prod | Prod | =_prod | =NUMBERS | . | The product | [[1, 2], [3, 4]] | [ 2 12]
    reduce_logsumexp | Exp | =_logsumexp | =FLOATING | .
        | The logarithm of the sum of the exponentials, without overflow
        | [[0.0, 0.0], [1000.0, 0.0]] | [6.931472e-01 1.000000e+03]
    """,
    FLOATING=FLOATING,
    NUMBERS=NUMBERS,
    _logsumexp=_logsumexp,
    _mean=_mean,
    _prod=_prod,
)


def reduce_euclidean_norm(
    input_tensor, axis=None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The square root of the sum of the squares, of all elements or along dimensions.

    Examples
    --------
    >>> print(tf.math.reduce_euclidean_norm([[3.0, 4.0], [5.0, 12.0]], axis=1).numpy())
    [ 5. 13.]
    """
    x = tensor_of(input_tensor)
    check("EuclideanNorm", x, NUMBERS)
    axes = axes_of("EuclideanNorm", axis, x.payload.ndim)
    if x.payload.dtype.kind in "iu":
        total = computed("EuclideanNorm", _sum, x * x, axes, bool(keepdims))
        return computed("EuclideanNorm", _whole_root, total)
    if not axes:
        return computed("EuclideanNorm", wg.abs, x)
    result = computed("EuclideanNorm", wg.linalg.vector_norm, x, 2, axes, bool(keepdims))
    return (
        computed("EuclideanNorm", converted, result, x.payload.dtype) if is_complex(x) else result
    )


def _whole_root(total) -> Any:
    return converted(wg.sqrt(converted(total, np.dtype(np.float64))), total.payload.dtype)


def reduce_variance(
    input_tensor, axis=None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean of the squared distances from the mean, of all elements or along dimensions.

    Raises
    ------
    TypeError: If the elements are whole numbers.

    Examples
    --------
    >>> print(tf.math.reduce_variance([[1.0, 3.0], [3.0, 9.0]], axis=1).numpy())
    [1. 9.]
    """
    x = _spread("reduce_variance", input_tensor)
    axes = axes_of("Mean", axis, x.payload.ndim)
    return computed("Mean", wg.var, x, axes or (), correction=0, keepdim=bool(keepdims))


def reduce_std(input_tensor, axis=None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of `reduce_variance`, whose arguments it takes.

    Examples
    --------
    >>> print(tf.math.reduce_std([[1.0, 3.0], [3.0, 9.0]], axis=1).numpy())
    [1. 3.]
    """
    return computed("Sqrt", wg.sqrt, reduce_variance(input_tensor, axis, keepdims))


def _spread(name: str, value) -> Any:
    x = tensor_of(value)
    if not (is_floating(x) or is_complex(x)):
        raise TypeError(
            f"Input must be either real or complex. Received integer type {type_of(x)}: "
            "tf.cast it to tf.float32"
        )
    return x


def _truth(op: str, function: Callable[..., Any], name: str, words: str, line: str) -> Any:
    """A reduction of truth values."""

    def reduced(input_tensor, axis=None, keepdims: bool = False, name: str | None = None) -> Any:
        (x,) = truths(op, input_tensor)
        for place in sorted(axes_of(op, axis, x.payload.ndim), reverse=True):
            x = computed(op, function, x, place, bool(keepdims))
        return made(x)

    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = _DOC.format(
        words=words,
        kinds="truth-value",
        name=name,
        example="[[True, False], [True, True]]",
        shown=line,
        result="Of bools.",
    )
    return reduced


reduce_all = _truth("All", wg.all, "reduce_all", "Whether every element is true", "[False  True]")
reduce_any = _truth("Any", wg.any, "reduce_any", "Whether an element is true", "[ True  True]")


def count_nonzero(input, axis=None, keepdims=None, dtype=None, name: str | None = None) -> Any:
    """How many elements are not 0, of all or along dimensions; int64 by default.

    Examples
    --------
    >>> print(tf.math.count_nonzero([[0, 2], [3, 4]], axis=1).numpy())
    [1 2]
    """
    x = tensor_of(input)
    kind = dtype_of(dtype, np.dtype(np.int64))
    counted = computed("NotEqual", lambda x: converted(wg.ne(x, 0), kind), x)
    return reduce_sum(counted, axis, bool(keepdims))


def zero_fraction(value, name: str | None = None) -> Any:
    """The share of the elements that are 0, as a float32.

    Examples
    --------
    >>> print(tf.math.zero_fraction([0, 2, 3, 0]).numpy())
    0.5
    """
    x = tensor_of(value)
    return computed("Mean", _share_of_zeros, x)


def _share_of_zeros(x) -> Any:
    return wg.mean(converted(wg.eq(x, 0), np.dtype(np.float32)))


# -- running sums ----------------------------------------------------------------------------------


def _scan(
    op: str, function: Callable[..., Any], start: float, x, axis, after: bool, back: bool
) -> Any:
    """`function` along an axis: without the element itself (`after`), from the end (`back`)."""
    place = _scanned(op, x, axis)
    if back:
        x = wg.flip(x, (place,))
    if after and x.payload.shape[place]:
        first = wg.full_like(wg.narrow(x, place, 0, 1), start)
        x = wg.cat([first, wg.narrow(x, place, 0, x.payload.shape[place] - 1)], place)
    x = function(x, place)
    return wg.flip(x, (place,)) if back else x


def _scanned(op: str, x, axis) -> int:
    ndim = x.payload.ndim
    return axis_of(
        op, axis, ndim, f"ScanOp: Expected scan axis in the range [{-ndim}, {ndim}), but got"
    )


@operation("Cumsum")
def cumsum(
    x, axis=0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """The running sum along a dimension.

    Parameters
    ----------
    x : Tensor. Of a number dtype.
    axis : int. The dimension.
    exclusive : bool. Whether each element is left out of its own sum.
    reverse : bool. Whether to add up from the end.

    Returns
    -------
    Tensor: Of the shape and dtype of `x`; differentiable.

    Raises
    ------
    InvalidArgumentError: If there is no such dimension.

    Examples
    --------
    >>> print(tf.cumsum([1, 2, 3]).numpy(), tf.cumsum([1, 2, 3], exclusive=True).numpy())
    [1 3 6] [0 1 3]
    """
    x = tensor_of(x)
    check("Cumsum", x, NUMBERS)
    return _scan("Cumsum", _running_sum, 0, x, axis, exclusive, reverse)


@operation("Cumprod")
def cumprod(
    x, axis=0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """The running product along a dimension; arguments as for `cumsum`.

    Examples
    --------
    >>> print(tf.math.cumprod([1, 2, 3]).numpy())
    [1 2 6]
    """
    x = tensor_of(x)
    check("Cumprod", x, NUMBERS)
    return _scan("Cumprod", _running_product, 1, x, axis, exclusive, reverse)


@operation("CumulativeLogsumexp")
def cumulative_logsumexp(
    x, axis=0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """The logarithm of the running sum of exponentials; arguments as for `cumsum`.

    Examples
    --------
    >>> print(tf.math.cumulative_logsumexp([0.0, 0.0]).numpy())
    [0.        0.6931472]
    """
    x = tensor_of(x)
    check("CumulativeLogsumexp", x, FLOATING)
    least = float(np.finfo(x.payload.dtype).min)
    return _scan("CumulativeLogsumexp", wg.logcumsumexp, least, x, axis, exclusive, reverse)


def _running_sum(x, axis: int) -> Any:
    return wg.cumsum(x, axis, dtype=x.payload.dtype)


def _running_product(x, axis: int) -> Any:
    return wg.cumprod(x, axis, dtype=x.payload.dtype)


__all__ = defined(globals())
fill_sections(globals())
