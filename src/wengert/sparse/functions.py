"""Layer 8 · sparse: patterns and sparse derivatives of functions of one array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.base.sections import fill_sections
from wengert.sparse.coloring import Coloring, color
from wengert.sparse.passes import compressed, is_recorded, rows_of, square_of
from wengert.sparse.patterns import hessian_pattern_of, pattern_of
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.modes import enable_grad


def _called(f: Callable[..., Any], x: Any, args: Any, name: str) -> tuple[Any, Any]:
    """A leaf with the value of `x`, and what `f` makes of it."""
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
    """A leaf with the value of `x`, and the gradient of `f` there, recorded."""
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
    """Where the Jacobian of a function may be nonzero, from what the function records at `x`.

    The pattern holds for all values: operations are taken for what they may do, not for what they
    do at `x`, so that maxima, comparisons and ``where`` count for all their branches. It changes
    only if `f` runs otherwise, by Python's ``if`` or by indices that it computes. What is known of
    an operation: element-wise ones, sums and the like along dimensions, all kinds of indexing,
    views and rearrangement, writes in place, matrix products, convolutions, pooling. Others count
    as dense: the pattern may be too large there, never too small.

    Parameters
    ----------
    f : callable. ``f(x, *args)``, which gets a tensor and returns one.
    x : array or tensor. Where to record; any shape.
    args : tuple. Further arguments of `f`.

    Returns
    -------
    scipy.sparse.csr_array of bool: A row for each element of the result, a column for each of `x`,
        in row-major order.

    Raises
    ------
    TypeError: If `x` is not one array of real numbers or `f` does not return one tensor of such.
    ImportError: If SciPy is not installed.

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
    """Where the Hessian of a function may be nonzero; symmetric. See `pattern`.

    Parameters
    ----------
    f : callable. ``f(x, *args)``, which gets a tensor and returns one number.
    x, args: As of `pattern`.

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
    """The Jacobian of a function as a sparse matrix, in as many passes as its colouring has.

    Parameters
    ----------
    f : callable. ``f(x, *args)``, which gets a tensor and returns one.
    x : array or tensor. Where to differentiate; any shape.
    coloring : Coloring, optional. From `color`, to be used at many points; by default made here,
        from the pattern at `x`.
    args : tuple. Further arguments of `f`.
    check : bool. Compare with one more pass, which finds out (but for rounding) if the pattern is
        too small: for functions whose operations depend on values.

    Returns
    -------
    scipy.sparse.csr_array: A row for each element of the result, a column for each of `x`, in
        row-major order.

    Raises
    ------
    ValueError: If the colouring is for another shape, or for Hessians; if `check` finds a
        difference.
    TypeError: If `x` is not one array of real numbers or `f` does not return one tensor of such.
    ImportError: If SciPy is not installed.

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
    """The Hessian of a function as a sparse matrix, in as many passes as its colouring has.

    Parameters
    ----------
    f : callable. ``f(x, *args)``, which gets a tensor and returns one number.
    x : array or tensor. Where to differentiate; any shape.
    coloring : Coloring, optional. From ``color(hessian_pattern(f, x), mode="star")``, to be used at
        many points; by default made here.
    args, check: As of `jacobian`.

    Returns
    -------
    scipy.sparse.csr_array: A row and a column for each element of `x`, in row-major order.

    Raises
    ------
    ValueError: If `f` returns more than one number; if the colouring is for another shape; if
        `check` finds a difference.
    ImportError: If SciPy is not installed.

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
    """Compare the matrix with a product that the pattern has no part in."""
    vector = np.random.default_rng(0).uniform(0.5, 1.0, matrix.shape[0])
    true = np.asarray(product(vector), np.float64)
    error = np.abs(matrix.T @ vector - true)
    # rounding errors are those of what cancelled on the way, of which nothing is known here
    size = 1 + np.abs(true).max(initial=0)
    bad = np.flatnonzero(error > 1e4 * np.finfo(matrix.dtype).eps * size)
    if bad.size:
        raise ValueError(
            f"the {name} does not have the pattern of the colouring: column {bad[0]} has entries "
            "elsewhere. Does the function use other elements at this point than where its pattern "
            "was taken?"
        )


fill_sections(globals())
