"""Layer 9 · compat: TensorFlow's linear algebra: determinants, solvers, decompositions,
diagonals."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import wengert as wg
from wengert.base.dtypes import limits
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.products import turned
from wengert.compat.tensorflow.words import refusal

MATRIX = ("double", "float", "half", "complex64", "complex128")
"""The dtypes that kernels of linear algebra take."""
LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])


def matrices(value) -> Any:
    """Return a tensor of matrices."""
    x = V.tensor_of(value)
    V.check(x, MATRIX)
    if x._payload.ndim < 2:
        shape = V.shown(x._payload.shape)
        raise V.invalid(f"Input tensor 0 must have rank >= 2, not shape {shape}")
    return x


def square(value) -> Any:
    """Return a tensor of square matrices."""
    x = matrices(value)
    if x._payload.shape[-1] != x._payload.shape[-2]:
        raise V.invalid(f"Input matrix must be square, not of shape {V.shown(x._payload.shape)}.")
    return x


@V.operation("Sum", x=V.NUMBERS)
def trace(x, name=None) -> Any:
    """Return the trace of a matrix, or of a batch.

    Examples
    --------
    >>> print(tf.linalg.trace([[1, 2], [3, 4]]).numpy())
    5
    """
    return wg.sum(wg.diagonal(x, dim1=-2, dim2=-1), -1, dtype=x._payload.dtype)


def _offset(k) -> int:
    offsets = V.integers(k, "k")
    if len(offsets) != 1:
        raise V.invalid("one diagonal at a time is offered here: k is a number")
    return offsets[0]


@V.operation("MatrixDiagV3", diagonal=V.ANY, k=_offset)
def diag(
    diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"
) -> Any:
    """Build a matrix with the given diagonal, or a batch of matrices.

    Parameters
    ----------
    diagonal : Tensor. The elements of the diagonal.
    name, align : optional. Accepted, and of no effect.
    k : int. The index of the diagonal: 0 is the main one, positive ones are above it.
    num_rows, num_cols : int. The size of the matrix; by default the smallest that fits the
        diagonal, and square if neither is given.
    padding_value : number. The value of the other elements.

    %(returns_differentiable)s

    Examples
    --------
    >>> print(tf.linalg.diag([1, 2]).numpy())
    [[1 0]
     [0 2]]
    """
    result: Any = wg.diag_embed(diagonal, k)
    count, need = diagonal._payload.shape[-1], result._payload.shape[-1]
    least = (count + max(-k, 0), count + max(k, 0))
    if num_rows == num_cols == -1:
        least = need, need
    rows = least[0] if num_rows == -1 else num_rows
    columns = least[1] if num_cols == -1 else num_cols
    if rows < least[0] or columns < least[1]:
        raise V.invalid(f"a {rows} by {columns} matrix is too small for {count} elements")
    if (rows, columns) != (need, need):
        result = wg.nn.functional.pad(result, (0, columns - need, 0, rows - need))
    if padding_value:
        place = np.eye(rows, columns, k, dtype=bool)
        fill = wg.as_tensor(np.array(padding_value, diagonal._payload.dtype))
        result = wg.where(wg.as_tensor(place), result, fill)
    return result


@V.operation("MatrixDiagPartV3", input=V.ANY, k=_offset)
def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT") -> Any:
    """Return a diagonal of a matrix, or of a batch.

    Examples
    --------
    >>> print(tf.linalg.diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    return wg.diagonal(input, k, -2, -1)


@V.operation("MatrixSetDiagV3", "input", "diagonal", k=_offset)
def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT") -> Any:
    """Replace a diagonal of a matrix.

    Raises
    ------
    InvalidArgumentError: If the number of elements differs from that of the diagonal.

    Examples
    --------
    >>> print(tf.linalg.set_diag([[1, 2], [3, 4]], [9, 9]).numpy())
    [[9 2]
     [3 9]]
    """
    return wg.diagonal_scatter(input, diagonal, k, -2, -1)


@V.operation("MatrixBandPart", input=V.ANY, num_lower=int, num_upper=int)
def band_part(input, num_lower, num_upper, name=None) -> Any:
    """Zero a matrix outside a band of diagonals around the main one; -1 keeps all.

    Examples
    --------
    >>> print(tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy())
    [[1 0]
     [3 4]]
    """
    if num_lower >= 0:
        input = wg.triu(input, -num_lower)
    return wg.tril(input, num_upper) if num_upper >= 0 else wg.clone(input)


@V.operation("Diag", diagonal=V.ANY)
def tensor_diag(diagonal, name=None) -> Any:
    """Build a tensor with the given elements where both halves of the index are equal.

    Examples
    --------
    >>> print(tf.linalg.tensor_diag([1, 2]).numpy())
    [[1 0]
     [0 2]]
    """
    shape = diagonal._payload.shape
    return wg.reshape(wg.diag(wg.reshape(diagonal, (-1,))), (*shape, *shape))


@V.operation("DiagPart", input=V.ANY)
def tensor_diag_part(input, name=None) -> Any:
    """Return the elements where both halves of the index are equal.

    Examples
    --------
    >>> print(tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    half = input._payload.ndim // 2
    sizes = input._payload.shape[:half]
    if sizes != input._payload.shape[half:]:
        raise V.invalid(f"Received shape {V.shown(input._payload.shape)}: its halves differ")
    count = int(np.prod(sizes))
    return wg.reshape(wg.diagonal(wg.reshape(input, (count, count))), sizes)


Qr = namedtuple("Qr", ["q", "r"])
Lu = namedtuple("Lu", ["lu", "p"])


@V.operation("Cholesky", input=square)
def cholesky(input, name=None) -> Any:
    """Return the lower triangular `L` with ``L @ L.T = input``, for a positive definite matrix.

    Raises
    ------
    InvalidArgumentError: If the matrix is not positive definite.

    Examples
    --------
    >>> print(tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy())
    [[2. 0.]
     [1. 2.]]
    """
    try:
        return wg.linalg.cholesky(input)
    except RuntimeError as error:
        raise refusal(V.invalid, "Cholesky decomposition was", error) from None


@V.operation("Qr", input=matrices)
def qr(input, full_matrices=False, name=None) -> Any:
    """Factor a matrix into an orthogonal ``q`` and an upper triangular ``r``.

    Examples
    --------
    >>> q, r = tf.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> print(abs(r.numpy()).round(3))
    [[5.  2.2]
     [0.  0.4]]
    """
    return Qr(*wg.linalg.qr(input, "complete" if full_matrices else "reduced"))


@V.operation("Svd", tensor=matrices)
def svd(tensor, full_matrices=False, compute_uv=True, name=None) -> Any:
    """Return singular values and vectors: ``u @ diag(s) @ v.T`` is the input.

    Parameters
    ----------
    tensor : Tensor. A matrix, or a batch of matrices.
    full_matrices : bool. Whether to return square ``u`` and ``v``.
    compute_uv : bool. Whether to compute the singular vectors.

    Returns
    -------
    s, u, v : Tensor. The singular values and vectors, in columns; differentiable where the singular
        values are distinct. Only ``s`` if `compute_uv` is false.

    Examples
    --------
    >>> s, u, v = tf.linalg.svd([[2.0, 0.0], [0.0, 1.0]])
    >>> print(s.numpy())
    [2. 1.]
    """
    if not compute_uv:
        return wg.linalg.svdvals(tensor)
    u, s, vh = wg.linalg.svd(tensor, full_matrices=bool(full_matrices))
    v: Any = wg.transpose(vh, -1, -2)
    return s, u, wg.conj_physical(v) if v._payload.dtype.kind == "c" else v


@V.operation("SelfAdjointEigV2", tensor=square)
def eigh(tensor, name=None) -> Any:
    """Return ordered eigenvalues, and eigenvectors in columns, of a Hermitian matrix.

    Examples
    --------
    >>> values, vectors = tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
    >>> print(values.numpy())
    [1. 2.]
    """
    values, vectors = wg.linalg.eigh(_lower(tensor))
    return _typed(values, tensor), vectors


@V.operation("SelfAdjointEigV2", tensor=square)
def eigvalsh(tensor, name=None) -> Any:
    """Return the ordered eigenvalues of a Hermitian matrix.

    Examples
    --------
    >>> print(tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).numpy())
    [1. 2.]
    """
    return _typed(wg.linalg.eigvalsh(_lower(tensor)), tensor)


def _typed(result, x) -> Any:
    # TensorFlow returns real numbers of complex matrices as complex ones
    return V.converted(result, x._payload.dtype) if V.is_complex(x) else result


def _lower(tensor) -> Any:
    """Build the Hermitian matrix with the given lower triangle, which receives the gradient."""
    return wg.add(wg.tril(tensor), turned(wg.tril(tensor, -1), True, True))


@V.operation("Eig", tensor=square)
def eig(tensor, name=None) -> Any:
    """Return complex eigenvalues, and eigenvectors in columns, of a square matrix.

    Examples
    --------
    >>> values, vectors = tf.linalg.eig([[2.0, 0.0], [0.0, 1.0]])
    >>> print(values.numpy())
    [2.+0.j 1.+0.j]
    """
    return tuple(wg.linalg.eig(tensor))


@V.operation("Eig", tensor=square)
def eigvals(tensor, name=None) -> Any:
    """Return the complex eigenvalues of a square matrix.

    Examples
    --------
    >>> print(tf.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]).numpy())
    [2.+0.j 1.+0.j]
    """
    return wg.linalg.eigvals(tensor)


@V.operation("Lu", input=square)
def lu(input, output_idx_type=None, name=None) -> Any:
    """Return the LU factors of a square matrix in one matrix, and the row permutation ``p``.

    Examples
    --------
    >>> factors, p = tf.linalg.lu([[0.0, 1.0], [2.0, 0.0]])
    >>> print(p.numpy())
    [1 0]
    """
    permutation, lower, upper = wg.linalg.lu(input)
    order = V.numbers_of(permutation).argmax(-2)
    order = order.astype(V.dtype_of(output_idx_type, np.dtype(np.int32)))
    return Lu(wg.tril(lower, -1) + upper, wg.as_tensor(order))


@V.operation("Svd", a=matrices)
def matrix_rank(a, tol=None, validate_args=False, name=None) -> Any:
    """Return the number of singular values above `tol`, as int32.

    Examples
    --------
    >>> print(tf.linalg.matrix_rank([[1.0, 1.0], [1.0, 1.0]]).numpy())
    1
    """
    s: Any = wg.linalg.svdvals(a)
    if tol is None:
        eps = float(limits(a._payload.dtype).eps)
        bound = wg.amax(s, -1, True) * (max(a._payload.shape[-2:]) * eps)
    else:
        bound = wg.unsqueeze(V.tensor_of(tol, dtype_hint=s._payload.dtype), -1)
    return V.converted(wg.sum(wg.gt(s, bound), -1), np.dtype(np.int32))


@V.operation("MatMul", a=matrices)
def pinv(a, rcond=None, validate_args=False, name=None) -> Any:
    """Return the pseudoinverse; singular values below `rcond` times the largest count as 0.

    Examples
    --------
    >>> print(tf.linalg.pinv([[2.0], [0.0]]).numpy())
    [[0.5 0. ]]
    """
    if rcond is None:
        rcond = 10 * max(a._payload.shape[-2:]) * float(limits(a._payload.dtype).eps)
    return wg.linalg.pinv(a, rtol=rcond)


@V.operation("MatrixDeterminant", input=square)
def det(input, name=None) -> Any:
    """Return the determinant of a square matrix, or of a batch.

    Raises
    ------
    InvalidArgumentError: If the matrix is not square, or neither floating nor complex.

    Examples
    --------
    >>> print(tf.linalg.det([[2.0, 1.0], [0.0, 3.0]]).numpy())
    6.0
    """
    return wg.linalg.det(input)


@V.operation("LogMatrixDeterminant", input=square)
def slogdet(input, name=None) -> Any:
    """Return the sign of the determinant, and the logarithm of its absolute value.

    Examples
    --------
    >>> print(tf.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]]).sign.numpy())
    -1.0
    """
    sign, size = wg.linalg.slogdet(input)
    return LogMatrixDeterminant(sign, _typed(size, input))


@V.operation("Cholesky", matrix=square)
def logdet(matrix, name=None) -> Any:
    """Return the logarithm of the determinant of a positive definite matrix.

    Raises
    ------
    InvalidArgumentError: If the matrix is not positive definite.

    Examples
    --------
    >>> print(round(float(tf.linalg.logdet([[2.0, 0.0], [0.0, 2.0]])), 4))
    1.3863
    """
    factor = wg.linalg.cholesky(matrix)
    diagonal = wg.diagonal(factor, dim1=-2, dim2=-1)
    if V.is_complex(diagonal):
        diagonal = wg.real(diagonal)
    return wg.mul(wg.sum(wg.log(diagonal), -1), 2.0)


@V.operation("MatrixInverse", input=square)
def inv(input, adjoint=False, name=None) -> Any:
    """Return the inverse of a square matrix, or of its conjugate transpose.

    Raises
    ------
    InvalidArgumentError: If the matrix is singular.

    Examples
    --------
    >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy())
    [[0.5  0.  ]
     [0.   0.25]]
    """
    try:
        return wg.linalg.inv(turned(input, adjoint, adjoint))
    except RuntimeError as error:
        raise V.invalid(f"Input is not invertible: {error}") from None


def _check_sides(matrix, rhs, broadcast=False) -> None:
    """Raise an error unless a matrix and right-hand sides fit together."""
    left, right = matrix._payload.shape, rhs._payload.shape
    if len(left) != len(right) and not broadcast:
        raise refusal(V.invalid, "All input tensors", V.shown(left), V.shown(right))
    if len(right) < 2 or left[-2] != right[-2]:
        raise refusal(V.invalid, "Input matrix and", V.shown(left), V.shown(right))


@V.operation("MatrixSolve", "matrix", "rhs", matrix=square)
def solve(matrix, rhs, adjoint=False, name=None) -> Any:
    """Solve ``matrix @ x = rhs``.

    Parameters
    ----------
    matrix : Tensor. A square matrix, or a batch of square matrices.
    rhs : Tensor. A matrix whose columns are the right-hand sides, or a batch of them.
    adjoint : bool. Whether to use the conjugate transpose of `matrix`.

    Returns
    -------
    Tensor: The solutions, of the shape of `rhs`; differentiable.

    Raises
    ------
    InvalidArgumentError: If the matrix is singular, or the shapes do not match.

    Examples
    --------
    >>> print(tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy())
    [[1. ]
     [0.5]]
    """
    _check_sides(matrix, rhs)
    try:
        return wg.linalg.solve(turned(matrix, adjoint, adjoint), rhs)
    except RuntimeError as error:
        raise V.invalid(f"Input matrix is not invertible: {error}") from None


@V.operation("MatrixTriangularSolve", "matrix", "rhs", matrix=square)
def triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None) -> Any:
    """Solve ``matrix @ x = rhs`` with one triangle of `matrix`.

    Examples
    --------
    >>> print(tf.linalg.triangular_solve([[1.0, 0.0], [1.0, 2.0]], [[1.0], [5.0]]).numpy())
    [[1.]
     [2.]]
    """
    _check_sides(matrix, rhs, broadcast=True)
    matrix = turned(matrix, adjoint, adjoint)
    return wg.linalg.solve_triangular(matrix, rhs, upper=bool(lower) == bool(adjoint))


@V.operation("MatrixTriangularSolve", "chol", "rhs", chol=square)
def cholesky_solve(chol, rhs, name=None) -> Any:
    """Solve ``A @ x = rhs``, given the `cholesky` factor of `A`.

    Examples
    --------
    >>> print(tf.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [3.0]]).numpy())
    [[1.]
     [3.]]
    """
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)


@V.operation("MatrixSolveLs", "matrix", "rhs", matrix=matrices)
def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None) -> Any:
    """Return the `x` that minimizes ``norm(matrix @ x - rhs)``.

    Parameters
    ----------
    matrix : Tensor. A matrix of full rank, or a batch of them.
    rhs : Tensor. A matrix of right-hand sides, or a batch of them.
    l2_regularizer : float. The weight of the squared norm of `x`, relative to the squared residual.
    fast : bool. Ignored.

    Returns
    -------
    Tensor: The solution, of minimum norm if there are several; differentiable.

    Examples
    --------
    >>> print(tf.linalg.lstsq([[1.0], [1.0]], [[1.0], [3.0]]).numpy().round(3))
    [[2.]]
    """
    _check_sides(matrix, rhs)
    if not l2_regularizer:
        return wg.linalg.lstsq(matrix, rhs).solution
    across = turned(matrix, True, True)
    rows, columns = matrix._payload.shape[-2:]
    size = min(rows, columns)
    added = wg.as_tensor((np.eye(size) * l2_regularizer).astype(matrix._payload.dtype))
    if rows >= columns:
        return wg.linalg.solve(wg.matmul(across, matrix) + added, wg.matmul(across, rhs))
    return wg.matmul(across, wg.linalg.solve(wg.matmul(matrix, across) + added, rhs))


@V.operation("MatrixExponential", input=square)
def expm(input, name=None) -> Any:
    """Return the matrix exponential.

    Examples
    --------
    >>> print(tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy())
    [[1. 1.]
     [0. 1.]]
    """
    return wg.linalg.matrix_exp(input)


@V.operation("Cross", "a", "b", a=V.REAL)
def cross(a, b, name=None) -> Any:
    """Return the cross product of three-element vectors.

    Raises
    ------
    InvalidArgumentError: If the shapes differ, or the size of the last dimension is not 3.

    Examples
    --------
    >>> print(tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy())
    [0 0 1]
    """
    if a._payload.shape != b._payload.shape or a._payload.shape[-1:] != (3,):
        raise refusal(
            V.invalid, "Both inputs must", V.shown(a._payload.shape), V.shown(b._payload.shape)
        )
    return wg.linalg.cross(a, b)


__all__ = defined(globals())
