"""Layer 9 · compat: TensorFlow's linear algebra: determinants, solvers, decompositions,
diagonals."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import completed
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.products import turned


@V.operation("MatrixTrace")
def trace(x, name=None) -> Any:
    """Return the trace of a matrix, or of a batch.

    Examples
    --------
    >>> print(tf.linalg.trace([[1, 2], [3, 4]]).numpy())
    5
    """
    x = V.tensor_of(x)
    V.check("Sum", x, V.NUMBERS)
    return wg.sum(wg.diagonal(x, dim1=-2, dim2=-1), -1, dtype=x._payload.dtype)


def _offset(k) -> int:
    offsets = V.integers(k, "k")
    if len(offsets) != 1:
        raise V.invalid("MatrixDiagV3", "one diagonal at a time is offered here: k is a number")
    return offsets[0]


@V.operation("MatrixDiagV3")
def diag(
    diagonal,
    name="diag",
    k=0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value=0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """Build a matrix with the given diagonal, or a batch of matrices.

    Parameters
    ----------
    diagonal : Tensor. The elements of the diagonal.
    name, align : optional. Accepted, and of no effect.
    k : int. The index of the diagonal: 0 is the main one, positive ones are above it.
    num_rows, num_cols : int. The size of the matrix; by default the smallest that fits the
        diagonal.
    padding_value : number. The value of the other elements.

    Returns
    -------
    Tensor: Differentiable.

    Examples
    --------
    >>> print(tf.linalg.diag([1, 2]).numpy())
    [[1 0]
     [0 2]]
    """
    x = V.tensor_of(diagonal)
    offset = _offset(k)
    result: Any = wg.diag_embed(x, offset)
    need = result._payload.shape[-1]
    rows = need if num_rows == -1 else num_rows
    columns = need if num_cols == -1 else num_cols
    count = x._payload.shape[-1]
    if rows < count + max(-offset, 0) or columns < count + max(offset, 0):
        if num_rows == num_cols == -1:
            rows = columns = need
        else:
            raise V.invalid(
                "MatrixDiagV3", f"a {rows} by {columns} matrix is too small for {count} elements"
            )
    if (rows, columns) != (need, need):
        result = wg.nn.functional.pad(result, (0, columns - need, 0, rows - need))
    if padding_value:
        place = np.eye(rows, columns, offset, dtype=bool)
        fill = wg.as_tensor(np.array(padding_value, x._payload.dtype))
        result = wg.where(wg.as_tensor(place), result, fill)
    return result


@V.operation("MatrixDiagPartV3")
def diag_part(input, name="diag_part", k=0, padding_value=0, align: str = "RIGHT_LEFT") -> Any:
    """Return a diagonal of a matrix, or of a batch.

    Examples
    --------
    >>> print(tf.linalg.diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    x = V.tensor_of(input)
    return wg.diagonal(x, _offset(k), -2, -1)


@V.operation("MatrixSetDiagV3")
def set_diag(input, diagonal, name="set_diag", k=0, align: str = "RIGHT_LEFT") -> Any:
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
    x, y = V.aligned("MatrixSetDiagV3", input, diagonal)
    return wg.diagonal_scatter(x, y, _offset(k), -2, -1)


@V.operation("MatrixBandPart")
def band_part(input, num_lower, num_upper, name=None) -> Any:
    """Zero a matrix outside a band of diagonals around the main one; -1 keeps all.

    Examples
    --------
    >>> print(tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy())
    [[1 0]
     [3 4]]
    """
    x = V.tensor_of(input)
    (lower,), (upper,) = V.integers(num_lower, "num_lower"), V.integers(num_upper, "num_upper")
    if lower >= 0:
        x = wg.triu(x, -lower)
    return wg.tril(x, upper) if upper >= 0 else wg.clone(x)


@V.operation("Diag")
def tensor_diag(diagonal, name=None) -> Any:
    """Build a tensor with the given elements where both halves of the index are equal.

    Examples
    --------
    >>> print(tf.linalg.tensor_diag([1, 2]).numpy())
    [[1 0]
     [0 2]]
    """
    x = V.tensor_of(diagonal)
    return wg.reshape(wg.diag(wg.reshape(x, (-1,))), (*x._payload.shape, *x._payload.shape))


@V.operation("DiagPart")
def tensor_diag_part(input, name=None) -> Any:
    """Return the elements where both halves of the index are equal.

    Examples
    --------
    >>> print(tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    x = V.tensor_of(input)
    half = x._payload.ndim // 2
    sizes = x._payload.shape[:half]
    if sizes != x._payload.shape[half:]:
        raise V.invalid(
            "DiagPart", f"Received shape {V.shown(x._payload.shape)}: its halves differ"
        )
    count = int(np.prod(sizes))
    return wg.reshape(wg.diagonal(wg.reshape(x, (count, count))), sizes)


Qr = namedtuple("Qr", ["q", "r"])
Lu = namedtuple("Lu", ["lu", "p"])


@V.operation("Cholesky")
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
    x = matrices("Cholesky", input)
    try:
        return wg.linalg.cholesky(x)
    except RuntimeError as error:
        raise V.invalid(
            "Cholesky",
            f"Cholesky decomposition was not successful. The input might not be valid: {error}",
        ) from None


@V.operation("Qr")
def qr(input, full_matrices: bool = False, name=None) -> Any:
    """Factor a matrix into an orthogonal ``q`` and an upper triangular ``r``.

    Examples
    --------
    >>> q, r = tf.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> print(abs(r.numpy()).round(3))
    [[5.  2.2]
     [0.  0.4]]
    """
    x = matrices("Qr", input, square=False)
    return Qr(*wg.linalg.qr(x, "complete" if full_matrices else "reduced"))


@V.operation("Svd")
def svd(tensor, full_matrices: bool = False, compute_uv: bool = True, name=None) -> Any:
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
    x = matrices("Svd", tensor, square=False)
    if not compute_uv:
        return wg.linalg.svdvals(x)
    u, s, vh = wg.linalg.svd(x, full_matrices=bool(full_matrices))
    v: Any = wg.transpose(vh, -1, -2)
    return s, u, wg.conj_physical(v) if v._payload.dtype.kind == "c" else v


@V.operation("SelfAdjointEigV2")
def eigh(tensor, name=None) -> Any:
    """Return ordered eigenvalues, and eigenvectors in columns, of a Hermitian matrix.

    Examples
    --------
    >>> values, vectors = tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
    >>> print(values.numpy())
    [1. 2.]
    """
    return tuple(wg.linalg.eigh(_lower(tensor)))


@V.operation("SelfAdjointEigV2")
def eigvalsh(tensor, name=None) -> Any:
    """Return the ordered eigenvalues of a Hermitian matrix.

    Examples
    --------
    >>> print(tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).numpy())
    [1. 2.]
    """
    return wg.linalg.eigvalsh(_lower(tensor))


def _lower(tensor) -> Any:
    """Build the Hermitian matrix with the given lower triangle, which receives the gradient."""
    x = matrices("SelfAdjointEigV2", tensor)
    return wg.add(wg.tril(x), turned(wg.tril(x, -1), True, True))


@V.operation("Eig")
def eig(tensor, name=None) -> Any:
    """Return complex eigenvalues, and eigenvectors in columns, of a square matrix.

    Examples
    --------
    >>> values, vectors = tf.linalg.eig([[2.0, 0.0], [0.0, 1.0]])
    >>> print(values.numpy())
    [2.+0.j 1.+0.j]
    """
    return tuple(wg.linalg.eig(matrices("Eig", tensor)))


@V.operation("Eig")
def eigvals(tensor, name=None) -> Any:
    """Return the complex eigenvalues of a square matrix.

    Examples
    --------
    >>> print(tf.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]).numpy())
    [2.+0.j 1.+0.j]
    """
    return wg.linalg.eigvals(matrices("Eig", tensor))


@V.operation("Lu")
def lu(input, output_idx_type=None, name=None) -> Any:
    """Return the LU factors of a square matrix in one matrix, and the row permutation ``p``.

    Examples
    --------
    >>> factors, p = tf.linalg.lu([[0.0, 1.0], [2.0, 0.0]])
    >>> print(p.numpy())
    [1 0]
    """
    factors, pivots = wg.linalg.lu_factor(matrices("Lu", input))
    swaps = V.numbers_of(pivots).astype(np.int64) - 1
    count = swaps.shape[-1]
    order = np.broadcast_to(np.arange(count), swaps.shape).copy()
    for step in range(count):
        other = swaps[..., step : step + 1]
        here = order[..., step : step + 1].copy()
        order[..., step : step + 1] = np.take_along_axis(order, other, -1)
        np.put_along_axis(order, other, here, -1)
    return Lu(factors, wg.as_tensor(order.astype(V.dtype_of(output_idx_type, np.dtype(np.int32)))))


def matrix_rank(a, tol=None, validate_args: bool = False, name=None) -> Any:
    """Return the number of singular values above `tol`, as int32.

    Examples
    --------
    >>> print(tf.linalg.matrix_rank([[1.0, 1.0], [1.0, 1.0]]).numpy())
    1
    """
    s = V.tensor_of(svd(a, compute_uv=False))
    x = V.tensor_of(a)
    if tol is None:
        eps = float(np.finfo(x._payload.dtype).eps)
        bound = wg.amax(s, -1, True) * (max(x._payload.shape[-2:]) * eps)
    else:
        bound = wg.unsqueeze(V.tensor_of(tol, dtype_hint=s._payload.dtype), -1)
    int32 = np.dtype(np.int32)
    return V.computed(
        "Sum", lambda s: V.converted(wg.sum(V.converted(wg.gt(s, bound), int32), -1), int32), s
    )


@V.operation("MatMul")
def pinv(a, rcond=None, validate_args: bool = False, name=None) -> Any:
    """Return the pseudoinverse; singular values below `rcond` times the largest count as 0.

    Examples
    --------
    >>> print(tf.linalg.pinv([[2.0], [0.0]]).numpy())
    [[0.5 0. ]]
    """
    x = matrices("MatMul", a, square=False)
    if rcond is None:
        rcond = 10 * max(x._payload.shape[-2:]) * float(np.finfo(x._payload.dtype).eps)
    return wg.linalg.pinv(x, rtol=rcond)


MATRIX = ("double", "float", "half", "complex64", "complex128")
"""The dtypes that kernels of linear algebra take."""
LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])


def matrices(op: str, value, square: bool = True) -> Any:
    """Return a tensor of matrices, checked to be square if needed."""
    x = V.tensor_of(value)
    V.check(op, x, MATRIX)
    if x._payload.ndim < 2:
        raise V.invalid(
            op, f"Input tensor 0 must have rank >= 2, not shape {V.shown(x._payload.shape)}"
        )
    if square and x._payload.shape[-1] != x._payload.shape[-2]:
        raise V.invalid(
            op, f"Input matrix must be square, not of shape {V.shown(x._payload.shape)}."
        )
    return x


@V.operation("MatrixDeterminant")
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
    return wg.linalg.det(matrices("MatrixDeterminant", input))


@V.operation("LogMatrixDeterminant")
def slogdet(input, name=None) -> Any:
    """Return the sign of the determinant, and the logarithm of its absolute value.

    Examples
    --------
    >>> print(tf.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]]).sign.numpy())
    -1.0
    """
    return LogMatrixDeterminant(*wg.linalg.slogdet(matrices("LogMatrixDeterminant", input)))


@V.operation("Cholesky")
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
    factor = wg.linalg.cholesky(matrices("Cholesky", matrix))
    diagonal = wg.diagonal(factor, dim1=-2, dim2=-1)
    if V.is_complex(diagonal):
        diagonal = wg.real(diagonal)
    return wg.mul(wg.sum(wg.log(diagonal), -1), 2.0)


@V.operation("MatrixInverse")
def inv(input, adjoint: bool = False, name=None) -> Any:
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
    x = matrices("MatrixInverse", input)
    if adjoint:
        x = turned(x, True, True)
    try:
        return wg.linalg.inv(x)
    except RuntimeError as error:
        raise V.invalid("MatrixInverse", f"Input is not invertible: {error}") from None


def _sides(op: str, matrix, rhs, square: bool = True) -> tuple[Any, Any]:
    """Return a matrix and right-hand sides with the same number of dimensions."""
    x, y = V.aligned(op, matrix, rhs)
    x = matrices(op, x, square)
    if x._payload.ndim != y._payload.ndim and op != "MatrixTriangularSolve":
        raise V.invalid(
            op,
            "All input tensors must have the same rank: matrices of shape "
            f"{V.shown(x._payload.shape)}, right-hand sides of shape {V.shown(y._payload.shape)}; "
            "write rhs[:, tf.newaxis] for one vector",
        )
    if y._payload.ndim < 2 or x._payload.shape[-2] != y._payload.shape[-2]:
        raise V.invalid(
            op,
            f"Input matrix and rhs are incompatible: {V.shown(x._payload.shape)} and "
            f"{V.shown(y._payload.shape)}",
        )
    return x, y


@V.operation("MatrixSolve")
def solve(matrix, rhs, adjoint: bool = False, name=None) -> Any:
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
    x, y = _sides("MatrixSolve", matrix, rhs)
    if adjoint:
        x = turned(x, True, True)
    try:
        return wg.linalg.solve(x, y)
    except RuntimeError as error:
        raise V.invalid("MatrixSolve", f"Input matrix is not invertible: {error}") from None


@V.operation("MatrixTriangularSolve")
def triangular_solve(matrix, rhs, lower: bool = True, adjoint: bool = False, name=None) -> Any:
    """Solve ``matrix @ x = rhs`` with one triangle of `matrix`.

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
    """Solve ``A @ x = rhs``, given the `cholesky` factor of `A`.

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
    x, y = _sides("MatrixSolveLs", matrix, rhs, square=False)
    if not l2_regularizer:
        return wg.linalg.lstsq(x, y).solution
    across = turned(x, True, True)
    rows, columns = x._payload.shape[-2:]
    size = min(rows, columns)
    added = wg.as_tensor((np.eye(size) * l2_regularizer).astype(x._payload.dtype))
    if rows >= columns:
        return wg.linalg.solve(wg.matmul(across, x) + added, wg.matmul(across, y))
    return wg.matmul(across, wg.linalg.solve(wg.matmul(x, across) + added, y))


@V.operation("MatrixExponential")
def expm(input, name=None) -> Any:
    """Return the matrix exponential.

    Examples
    --------
    >>> print(tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy())
    [[1. 1.]
     [0. 1.]]
    """
    return wg.linalg.matrix_exp(matrices("MatrixExponential", input))


@V.operation("Cross")
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
    x, y = V.aligned("Cross", a, b)
    V.check("Cross", x, V.REAL)
    if x._payload.shape != y._payload.shape or x._payload.shape[-1:] != (3,):
        raise V.invalid(
            "Cross",
            "Both inputs must be of same shape, with a last dimension of 3: "
            f"{V.shown(x._payload.shape)} vs. {V.shown(y._payload.shape)}",
        )
    return wg.linalg.cross(x, y)


__all__ = completed(globals())
