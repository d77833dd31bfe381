"""Layer 9 · compat: TensorFlow's determinants, inverses, solutions, and diagonals of matrices."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.products import turned

MATRIX = ("double", "float", "half", "complex64", "complex128")
"""The dtypes that kernels of linear algebra take."""
LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])


def matrices(op: str, value, square: bool = True) -> Any:
    """A tensor of matrices, square ones if that is needed."""
    x = V.tensor_of(value)
    V.check(op, x, MATRIX)
    if x.payload.ndim < 2:
        raise V.invalid(
            op, f"Input tensor 0 must have rank >= 2, not shape {V.shown(x.payload.shape)}"
        )
    if square and x.payload.shape[-1] != x.payload.shape[-2]:
        raise V.invalid(
            op, f"Input matrix must be square, not of shape {V.shown(x.payload.shape)}."
        )
    return x


@V.operation("MatrixDeterminant")
def det(input, name=None) -> Any:
    """The determinant of a square matrix, or of each of a batch.

    Raises
    ------
    InvalidArgumentError: If the matrix is not square, or no floating or complex one.

    Examples
    --------
    >>> print(tf.linalg.det([[2.0, 1.0], [0.0, 3.0]]).numpy())
    6.0
    """
    return wg.linalg.det(matrices("MatrixDeterminant", input))


@V.operation("LogMatrixDeterminant")
def slogdet(input, name=None) -> Any:
    """The sign of the determinant, and the logarithm of its absolute value.

    Examples
    --------
    >>> print(tf.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]]).sign.numpy())
    -1.0
    """
    return LogMatrixDeterminant(*wg.linalg.slogdet(matrices("LogMatrixDeterminant", input)))


@V.operation("Cholesky")
def logdet(matrix, name=None) -> Any:
    """The logarithm of the determinant of a positive definite matrix.

    Raises
    ------
    InvalidArgumentError: If it is not positive definite.

    Examples
    --------
    >>> print(round(float(tf.linalg.logdet([[2.0, 0.0], [0.0, 2.0]])), 4))
    1.3863
    """
    factor = wg.linalg.cholesky(matrices("Cholesky", matrix))
    diagonal = wg.diagonal(factor, dim1=-2, dim2=-1)
    if V.is_complex(diagonal):
        diagonal = wg.real(diagonal)
    return wg.mul(wg.sum(wg.log(diagonal), -1), 2.0)


@V.operation("MatrixInverse")
def inv(input, adjoint: bool = False, name=None) -> Any:
    """The inverse of a square matrix, or of its conjugate transpose.

    Raises
    ------
    InvalidArgumentError: If the matrix has no inverse.

    Examples
    --------
    >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy())
    [[0.5  0.  ]
     [0.   0.25]]
    """
    x = matrices("MatrixInverse", input)
    if adjoint:
        x = turned(x, True, True)
    try:
        return wg.linalg.inv(x)
    except RuntimeError as error:
        raise V.invalid("MatrixInverse", f"Input is not invertible: {error}") from None


def _sides(op: str, matrix, rhs, square: bool = True) -> tuple[Any, Any]:
    """A matrix and right-hand sides of as many dimensions."""
    x, y = V.aligned(op, matrix, rhs)
    x = matrices(op, x, square)
    if x.payload.ndim != y.payload.ndim and op != "MatrixTriangularSolve":
        raise V.invalid(
            op,
            "All input tensors must have the same rank: matrices of shape "
            f"{V.shown(x.payload.shape)}, right-hand sides of shape {V.shown(y.payload.shape)}; "
            "write rhs[:, tf.newaxis] for one vector",
        )
    if y.payload.ndim < 2 or x.payload.shape[-2] != y.payload.shape[-2]:
        raise V.invalid(
            op,
            f"Input matrix and rhs are incompatible: {V.shown(x.payload.shape)} and "
            f"{V.shown(y.payload.shape)}",
        )
    return x, y


@V.operation("MatrixSolve")
def solve(matrix, rhs, adjoint: bool = False, name=None) -> Any:
    """The solution `x` of ``matrix @ x = rhs``.

    Parameters
    ----------
    matrix : Tensor. A square matrix, or a batch of them.
    rhs : Tensor. A matrix of right-hand sides, its columns, or a batch.
    adjoint : bool. Whether to solve with the conjugate transpose of `matrix`.

    Returns
    -------
    Tensor: Of the shape of `rhs`; differentiable.

    Raises
    ------
    InvalidArgumentError: If the matrix has no inverse, or the shapes do not fit.

    Examples
    --------
    >>> print(tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy())
    [[1. ]
     [0.5]]
    """
    x, y = _sides("MatrixSolve", matrix, rhs)
    if adjoint:
        x = turned(x, True, True)
    try:
        return wg.linalg.solve(x, y)
    except RuntimeError as error:
        raise V.invalid("MatrixSolve", f"Input matrix is not invertible: {error}") from None


@V.operation("MatrixTriangularSolve")
def triangular_solve(matrix, rhs, lower: bool = True, adjoint: bool = False, name=None) -> Any:
    """The solution of ``matrix @ x = rhs``, where only one triangle of `matrix` is looked at.

    Examples
    --------
    >>> print(tf.linalg.triangular_solve([[1.0, 0.0], [1.0, 2.0]], [[1.0], [5.0]]).numpy())
    [[1.]
     [2.]]
    """
    x, y = _sides("MatrixTriangularSolve", matrix, rhs)
    if adjoint:
        x = turned(x, True, True)
    return wg.linalg.solve_triangular(x, y, upper=bool(lower) == bool(adjoint))


@V.operation("MatrixTriangularSolve")
def cholesky_solve(chol, rhs, name=None) -> Any:
    """The solution of ``A @ x = rhs``, given the factor that `cholesky` makes of `A`.

    Examples
    --------
    >>> print(tf.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [3.0]]).numpy())
    [[1.]
     [3.]]
    """
    x, y = _sides("MatrixTriangularSolve", chol, rhs)
    return triangular_solve(x, triangular_solve(x, y), adjoint=True)


@V.operation("MatrixSolveLs")
def lstsq(matrix, rhs, l2_regularizer: float = 0.0, fast: bool = True, name=None) -> Any:
    """The `x` for which ``matrix @ x`` is closest to `rhs`.

    Parameters
    ----------
    matrix : Tensor. Of full rank, or a batch of such.
    rhs : Tensor. A matrix of right-hand sides, or a batch.
    l2_regularizer : float. How much the square of `x` counts beside the square of the distance.
    fast : bool. Has no effect.

    Returns
    -------
    Tensor: Differentiable; the smallest solution where there are several.

    Examples
    --------
    >>> print(tf.linalg.lstsq([[1.0], [1.0]], [[1.0], [3.0]]).numpy().round(3))
    [[2.]]
    """
    x, y = _sides("MatrixSolveLs", matrix, rhs, square=False)
    if not l2_regularizer:
        return wg.linalg.lstsq(x, y).solution
    across = turned(x, True, True)
    rows, columns = x.payload.shape[-2:]
    size = min(rows, columns)
    added = wg.as_tensor((np.eye(size) * l2_regularizer).astype(x.payload.dtype))
    if rows >= columns:
        return wg.linalg.solve(wg.matmul(across, x) + added, wg.matmul(across, y))
    return wg.matmul(across, wg.linalg.solve(wg.matmul(x, across) + added, y))


@V.operation("MatrixExponential")
def expm(input, name=None) -> Any:
    """The exponential of a square matrix.

    Examples
    --------
    >>> print(tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy())
    [[1. 1.]
     [0. 1.]]
    """
    return wg.linalg.matrix_exp(matrices("MatrixExponential", input))


@V.operation("Cross")
def cross(a, b, name=None) -> Any:
    """The cross product of vectors of three elements.

    Raises
    ------
    InvalidArgumentError: If the shapes differ, or the last dimension is not of size 3.

    Examples
    --------
    >>> print(tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy())
    [0 0 1]
    """
    x, y = V.aligned("Cross", a, b)
    V.check("Cross", x, V.REAL)
    if x.payload.shape != y.payload.shape or x.payload.shape[-1:] != (3,):
        raise V.invalid(
            "Cross",
            "Both inputs must be of same shape, with a last dimension of 3: "
            f"{V.shown(x.payload.shape)} vs. {V.shown(y.payload.shape)}",
        )
    return wg.linalg.cross(x, y)


__all__ = defined(globals())
fill_sections(globals())
