"""Layer 9 · compat: TensorFlow's reductions and cumulative sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import shaped
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.templates import BOOLS, KINDS, rows
from wengert.compat.tensorflow.words import refusal


def _described(function, path: str, words: str, kinds, example: str, line: str) -> Any:
    result = "Of bools." if kinds is BOOLS else "Of the input's dtype; differentiable."
    said = {"words": words, "kinds": KINDS[kinds], "example": example, "line": line}
    return shaped(function, path, **said, result=result)


def _reduction(path: str, op: str, function: Callable[..., Any], kinds, *said: str) -> Any:
    """Make the reduction `path` of ``function(tensor, dimensions, keep)``."""

    @V.operation(op, input_tensor=bool if kinds is BOOLS else kinds)
    def reduced(input_tensor, axis=None, keepdims=False, name=None) -> Any:
        """{words}, of all elements or along dimensions.

        Parameters
        ----------
        input_tensor : Tensor or tensor-like. The input, of {kinds}.
        axis : int or sequence of int, optional. The dimensions to reduce; all by default.
        keepdims : bool. Whether to keep reduced dimensions with size 1.

        Returns
        -------
        Tensor: {result}

        Raises
        ------
        InvalidArgumentError: If the dtype is not supported, or a dimension is out of range or
            repeated.

        Examples
        --------
        >>> print(tf.{path}({example}, axis=1).numpy())
        {line}
        """
        axes = V.axes_of(axis, input_tensor._payload.ndim)
        return function(input_tensor, axes, bool(keepdims)) if axes else wg.clone(input_tensor)

    words, *rest = said
    return _described(reduced, path, words, kinds, *rest)


def _sum(x, axes: tuple[int, ...], keepdims: bool) -> Any:
    return wg.sum(x, axes, keepdims, dtype=x._payload.dtype)


def _mean(x, axes: tuple[int, ...], keepdims: bool) -> Any:
    if x._payload.dtype.kind in "iu":
        count = int(np.prod([x._payload.shape[axis] for axis in axes]))
        wide: Any = np.dtype(np.uint64 if x._payload.dtype.kind == "u" else np.int64)
        total = wg.sum(x, axes, keepdims, dtype=wide)
        return V.converted(wg.div(total, count, rounding_mode="trunc"), x._payload.dtype)
    return wg.mean(x, axes, keepdims)


def _prod(x, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.prod(x, axes, dtype=x._payload.dtype, keepdims=keepdims)


def _extreme(function: Callable[..., Any], low: bool) -> Callable[..., Any]:
    def extreme(x, axes: tuple[int, ...], keepdims: bool) -> Any:
        if x._payload.size:
            return function(x, axes, keepdims)
        # empty dimensions: the identity of the reduction
        kind = x._payload.dtype
        bound = np.inf if kind.kind == "f" else np.iinfo(kind).max
        least = -np.inf if kind.kind == "f" else np.iinfo(kind).min
        return _sum(x, axes, keepdims) + (least if low else bound)

    return extreme


def _one_by_one(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(x, axes: tuple[int, ...], keepdims: bool) -> Any:
        for axis in sorted(axes, reverse=True):
            x = function(x, axis, keepdims)
        return x

    return reduced


_all, _any = _one_by_one(wg.all), _one_by_one(wg.any)
_largest, _least = _extreme(wg.amax, True), _extreme(wg.amin, False)
rows(
    globals(),
    _reduction,
    """
    math.reduce_sum | Sum | =_sum | =NUMBERS | The sum | [[1, 2], [3, 4]] | [3 7]
    math.reduce_max | Max | =_largest | =REAL
        | The greatest element; equal ones share the gradient | [[1, 2], [3, 4]] | [2 4]
    math.reduce_min | Min | =_least | =REAL
        | The least element; equal ones share the gradient | [[1, 2], [3, 4]] | [1 3]
    math.reduce_mean | Mean | =_mean | =NUMBERS
        | The mean, which of whole numbers is a whole number | [[1.0, 2.0], [3.0, 4.0]]
        | [1.5 3.5]
    math.reduce_prod | Prod | =_prod | =NUMBERS | The product | [[1, 2], [3, 4]] | [ 2 12]
    math.reduce_logsumexp | Exp | =wg.logsumexp | =FLOATING
        | The logarithm of the sum of the exponentials, without overflow
        | [[0.0, 0.0], [1000.0, 0.0]] | [6.931472e-01 1.000000e+03]
    math.reduce_all | All | =_all | =BOOLS | Whether every element is true
        | [[True, False], [True, True]] | [False  True]
    math.reduce_any | Any | =_any | =BOOLS | Whether an element is true
        | [[True, False], [True, True]] | [ True  True]
    """,
)


@V.operation("EuclideanNorm", input_tensor=V.NUMBERS)
def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None) -> Any:
    """Return the root of the sum of squares, of all elements or along dimensions.

    Examples
    --------
    >>> print(tf.math.reduce_euclidean_norm([[3.0, 4.0], [5.0, 12.0]], axis=1).numpy())
    [ 5. 13.]
    """
    x, kind = input_tensor, input_tensor._payload.dtype
    axes = V.axes_of(axis, x._payload.ndim)
    if kind.kind in "iu":
        total = _sum(x * x, axes, bool(keepdims)) if axes else x * x
        return V.converted(wg.sqrt(V.converted(total, np.dtype(np.float64))), kind)
    if not axes:
        return wg.abs(x)
    result = wg.linalg.vector_norm(x, 2, axes, bool(keepdims))
    return V.converted(result, kind) if V.is_complex(x) else result


def _numbers(value) -> Any:
    x = V.tensor_of(value)
    if not (V.is_floating(x) or V.is_complex(x)):
        raise refusal(TypeError, "Input must be", V.type_of(x))
    return x


@V.operation("Mean", input_tensor=_numbers)
def reduce_variance(input_tensor, axis=None, keepdims=False, name=None) -> Any:
    """Return the variance of all elements or along dimensions.

    Raises
    ------
    TypeError: If the elements are integers.

    Examples
    --------
    >>> print(tf.math.reduce_variance([[1.0, 3.0], [3.0, 9.0]], axis=1).numpy())
    [1. 9.]
    """
    axes = V.axes_of(axis, input_tensor._payload.ndim)
    if not axes:  # of single elements: 0, or NaN
        return wg.abs(wg.sub(input_tensor, input_tensor))
    return wg.var(input_tensor, axes, correction=0, keepdim=bool(keepdims))


def reduce_std(input_tensor, axis=None, keepdims=False, name=None) -> Any:
    """Return the root of `reduce_variance`; arguments as for `reduce_variance`.

    Examples
    --------
    >>> print(tf.math.reduce_std([[1.0, 3.0], [3.0, 9.0]], axis=1).numpy())
    [1. 3.]
    """
    return V.computed("Sqrt", wg.sqrt, reduce_variance(input_tensor, axis, keepdims))


@V.operation("Sum", input=V.ANY)
def count_nonzero(input, axis=None, keepdims=None, dtype=None, name=None) -> Any:
    """Count the nonzero elements, over all or along dimensions; int64 by default.

    Examples
    --------
    >>> print(tf.math.count_nonzero([[0, 2], [3, 4]], axis=1).numpy())
    [1 2]
    """
    counted = V.converted(wg.ne(input, 0), V.dtype_of(dtype, np.dtype(np.int64)))
    axes = V.axes_of(axis, input._payload.ndim)
    return _sum(counted, axes, bool(keepdims)) if axes else counted


@V.operation("Mean", value=V.ANY)
def zero_fraction(value, name=None) -> Any:
    """Return the fraction of elements that are 0, as float32.

    Examples
    --------
    >>> print(tf.math.zero_fraction([0, 2, 3, 0]).numpy())
    0.5
    """
    return wg.mean(V.converted(wg.eq(value, 0), np.dtype(np.float32)))


# -- running sums ----------------------------------------------------------------------------------


def _running_sum(x, axis: int) -> Any:
    return wg.cumsum(x, axis, dtype=x._payload.dtype)


def _running_product(x, axis: int) -> Any:
    return wg.cumprod(x, axis, dtype=x._payload.dtype)


def _running(path: str, op: str, function, kinds, start: str, words: str, line: str) -> Any:
    """Make the cumulative `function` under the name `path`, with the identity `start`."""

    @V.operation(op, x=kinds)
    def running(x, axis=0, exclusive=False, reverse=False, name=None) -> Any:
        """{words} of the elements up to each, along a dimension.

        Parameters
        ----------
        x : Tensor. The input, of {kinds}.
        axis : int. The dimension.
        exclusive : bool. Whether to exclude the element itself.
        reverse : bool. Whether to accumulate from the end.

        Returns
        -------
        Tensor: The result, of the shape and dtype of `x`; differentiable.

        Raises
        ------
        InvalidArgumentError: If `axis` is out of range, or the dtype is not supported.

        Examples
        --------
        >>> print(tf.{path}([1.0, 2.0, 3.0]).numpy())
        {line}
        """
        ndim = x._payload.ndim
        place = V.axis_of(
            axis, ndim, f"ScanOp: Expected scan axis in the range [{-ndim}, {ndim}), but got"
        )
        if reverse:
            x = wg.flip(x, (place,))
        if exclusive and x._payload.shape[place]:
            first = wg.full_like(wg.narrow(x, place, 0, 1), float(start))
            x = wg.cat([first, wg.narrow(x, place, 0, x._payload.shape[place] - 1)], place)
        x = function(x, place)
        return wg.flip(x, (place,)) if reverse else x

    return shaped(running, path, words=words, kinds=KINDS[kinds], line=line)


rows(
    globals(),
    _running,
    """
    cumsum | Cumsum | =_running_sum | =NUMBERS | 0 | The sums | [1. 3. 6.]
    math.cumprod | Cumprod | =_running_product | =NUMBERS | 1 | The products | [1. 2. 6.]
    math.cumulative_logsumexp | CumulativeLogsumexp | =wg.logcumsumexp | =FLOATING | -inf
        | The logarithms of the sums of the exponentials | [1.        2.3132617 3.407606 ]
    """,
)
__all__ = defined(globals())
