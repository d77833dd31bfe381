"""Layer 8 · sparse: patterns and sparse derivatives of functions of one array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.sparse.coloring import Coloring, color
from wengert.sparse.passes import compressed, is_recorded, rows_of, square_of
from wengert.sparse.patterns import hessian_pattern_of, pattern_of
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.modes import enable_grad


def _called(f: Callable[..., Any], x: Any, args: Any, name: str) -> tuple[Any, Any]:
    """Return a leaf with the value of `x`, and the result of `f` on it."""
    array = x._payload if isinstance(x, TensorBase) else np.asarray(x)
    if array.dtype.kind in "iub":
        array = array.astype(np.float64)
    if not is_differentiable(array.dtype) or array.dtype.kind == "c":
        raise TypeError(
            f"wengert.sparse.{name}: x must be one array or tensor of real numbers; got "
            f"{type(x).__name__} of {array.dtype}"
        )
    leaf = new_tensor(np.array(array), LEAF)
    with enable_grad():
        output = f(leaf, *(args if isinstance(args, tuple) else (args,)))
    if not isinstance(output, TensorBase):
        raise TypeError(
            f"wengert.sparse.{name}: the function must return one tensor; got "
            f"{type(output).__name__}"
        )
    if output._payload.dtype.kind not in "f":
        raise TypeError(
            f"wengert.sparse.{name}: the function must return floating values; got "
            f"{output._payload.dtype}"
        )
    return leaf, output


def _slope(f: Callable[..., Any], x: Any, args: Any, name: str) -> tuple[Any, Any]:
    """Return a leaf with the value of `x`, and the recorded gradient of `f` there."""
    leaf, output = _called(f, x, args, name)
    if output._payload.size != 1:
        raise ValueError(
            f"wengert.sparse.{name}: the function must return one number; got the shape "
            f"{tuple(output._payload.shape)}"
        )
    slope = run_grad([output], [leaf], [None], True, True)[0] if is_recorded(output) else None
    if slope is None:
        slope = new_tensor(np.zeros_like(leaf._payload))
    return leaf, slope


def pattern(f: Callable[..., Any], x: Any, args: Any = ()) -> Any:
    """Find the sparsity pattern of a function's Jacobian from the operations recorded at `x`.

    The pattern holds for all values: operations count with all their possible dependences, not only
    those at `x`, so maxima, comparisons and ``where`` count with all their branches. It changes
    only if `f` takes another path, by Python's ``if`` or by computed indices. The structure is
    known for element-wise operations, reductions along dimensions, all kinds of indexing, views and
    rearrangements, in-place writes, matrix products, convolutions and pooling. Other operations
    count as dense: there the pattern may be too large, but never too small.

    Parameters
    ----------
    f : callable. ``f(x, *args)``, which gets a tensor and returns one.
    x : array or tensor. The point at which to record, of any shape.
    args : tuple. Further arguments of `f`.

    Returns
    -------
    scipy.sparse.csr_array of bool: A row for each element of the result, a column for each of `x`,
        in row-major order.

    Raises
    ------
    TypeError: If `x` is not one real array or `f` does not return one real tensor.
    %(error_scipy)s

    Examples
    --------
    >>> sparse.pattern(lambda x: x[1:] * x[:-1], np.ones(4)).toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    leaf, output = _called(f, x, args, "pattern")
    return pattern_of([output], [leaf])


def hessian_pattern(f: Callable[..., Any], x: Any, args: Any = ()) -> Any:
    """Find the sparsity pattern of a function's Hessian, which is symmetric. See `pattern`.

    Parameters
    ----------
    f : callable. ``f(x, *args)``, which gets a tensor and returns one number.
    x, args: As for `pattern`.

    Returns
    -------
    scipy.sparse.csr_array of bool: A row and a column for each element of `x`.

    Examples
    --------
    >>> sparse.hessian_pattern(lambda x: (x[1:] * x[:-1]).sum(), np.ones(3)).toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    leaf, slope = _slope(f, x, args, "hessian_pattern")
    return hessian_pattern_of([slope], [leaf])


def jacobian(
    f: Callable[..., Any],
    x: Any,
    coloring: Coloring | None = None,
    args: Any = (),
    check: bool = False,
) -> Any:
    """Compute the Jacobian of a function as a sparse matrix, in one pass per colour.

    Parameters
    ----------
    f : callable. ``f(x, *args)``, which gets a tensor and returns one.
    x : array or tensor. Where to differentiate; any shape.
    coloring : Coloring, optional. The result of `color`, for use at many points; by default it is
        computed from the pattern at `x`.
    args : tuple. Further arguments of `f`.
    check : bool. Whether to verify the result with one more pass, which detects (up to rounding) a
        pattern that is too small: for functions whose operations depend on values.

    Returns
    -------
    scipy.sparse.csr_array: A row for each element of the result, a column for each of `x`, in
        row-major order.

    Raises
    ------
    ValueError: If the colouring is for another shape, or for Hessians; if `check` finds a
        difference.
    TypeError: If `x` is not one real array or `f` does not return one real tensor.
    %(error_scipy)s

    Examples
    --------
    >>> f = lambda x: x[1:] - x[:-1] ** 2
    >>> coloring = sparse.color(sparse.pattern(f, np.zeros(1000)))
    >>> coloring.passes
    2
    >>> sparse.jacobian(f, np.linspace(0, 1, 1000), coloring)[[0, 998]].toarray()[:, -3:]
    array([[ 0.      ,  0.      ,  0.      ],
           [ 0.      , -1.997998,  1.      ]])
    """
    leaf, output = _called(f, x, args, "jacobian")
    if coloring is None:
        coloring = color(pattern_of([output], [leaf]))
    _check_coloring(coloring, (output._payload.size, leaf._payload.size), False)
    matrix = compressed([output], [leaf], coloring)
    if check:
        _check(matrix, rows_of([output], [leaf]), "jacobian")
    return matrix


def hessian(
    f: Callable[..., Any],
    x: Any,
    coloring: Coloring | None = None,
    args: Any = (),
    check: bool = False,
) -> Any:
    """Compute the Hessian of a function as a sparse matrix, in one pass per colour.

    Parameters
    ----------
    f : callable. ``f(x, *args)``, which gets a tensor and returns one number.
    x : array or tensor. Where to differentiate; any shape.
    coloring : Coloring, optional. The result of ``color(hessian_pattern(f, x), mode="star")``, for
        use at many points; computed by default.
    args, check: As for `jacobian`.

    Returns
    -------
    scipy.sparse.csr_array: A row and a column for each element of `x`, in row-major order.

    Raises
    ------
    ValueError: If `f` returns more than one number; if the colouring is for another shape; if
        `check` finds a difference.
    %(error_scipy)s

    Examples
    --------
    >>> f = lambda x: (x[1:] * x[:-1] ** 2).sum()
    >>> sparse.hessian(f, np.array([1.0, 2.0, 3.0])).toarray()
    array([[4., 2., 0.],
           [2., 6., 4.],
           [0., 4., 0.]])
    """
    leaf, slope = _slope(f, x, args, "hessian")
    if coloring is None:
        coloring = color(hessian_pattern_of([slope], [leaf]), mode="star")
    _check_coloring(coloring, (leaf._payload.size,) * 2, True)
    matrix = square_of([slope], [leaf], coloring)
    if check:
        _check(matrix, rows_of([slope], [leaf]), "hessian")
    return matrix


def _check_coloring(coloring: Coloring, shape: tuple[int, int], square: bool) -> None:
    if coloring.pattern.shape != shape:
        raise ValueError(
            f"the colouring is for a matrix of shape {coloring.pattern.shape}, but the derivative "
            f"has {shape}: make one from the pattern of this function"
        )
    if coloring.mode == "star" and not square:
        raise ValueError(
            'the colouring is for Hessians (mode="star"): colour rows or columns for a Jacobian'
        )


def _check(matrix: Any, product: Callable[[Any], Any], name: str) -> None:
    """Compare the matrix with a product that does not depend on the pattern."""
    vector = np.random.default_rng(0).uniform(0.5, 1.0, matrix.shape[0])
    true = np.asarray(product(vector), np.float64)
    error = np.abs(matrix.T @ vector - true)
    # rounding errors come from cancellation in between, about which nothing is known here
    size = 1 + np.abs(true).max(initial=0)
    bad = np.flatnonzero(error > 1e4 * np.finfo(matrix.dtype).eps * size)
    if bad.size:
        raise ValueError(
            f"the {name} does not have the pattern of the colouring: column {bad[0]} has entries "
            "elsewhere. Does the function use other elements at this point than where its pattern "
            "was taken?"
        )
