"""Layer 9 · compat: TensorFlow's decompositions of matrices."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.matrices import matrices
from wengert.compat.tensorflow.functions.products import turned

Qr = namedtuple("Qr", ["q", "r"])
Lu = namedtuple("Lu", ["lu", "p"])


@V.operation("Cholesky")
def cholesky(input, name=None) -> Any:
    """The lower triangular `L` with ``L @ L.T = input``, for a positive definite matrix.

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
    """An orthogonal matrix ``q`` and an upper triangular ``r``, whose product is the input.

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
    """Singular values, and left and right singular vectors: ``u @ diag(s) @ v.T`` is the input.

    Parameters
    ----------
    tensor : Tensor. A matrix, or a batch.
    full_matrices : bool. Whether ``u`` and ``v`` are square.
    compute_uv : bool. Whether to compute them at all.

    Returns
    -------
    s, u, v : Tensor. In this order, the vectors in columns; differentiable where singular values
        differ. Only ``s`` if `compute_uv` is false.

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
    return s, u, wg.conj_physical(v) if v.payload.dtype.kind == "c" else v


@V.operation("SelfAdjointEigV2")
def eigh(tensor, name=None) -> Any:
    """Eigenvalues, in order, and eigenvectors, in columns, of a symmetric or Hermitian matrix.

    Examples
    --------
    >>> values, vectors = tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
    >>> print(values.numpy())
    [1. 2.]
    """
    return tuple(wg.linalg.eigh(_lower(tensor)))


@V.operation("SelfAdjointEigV2")
def eigvalsh(tensor, name=None) -> Any:
    """Eigenvalues, in order, of a symmetric or Hermitian matrix.

    Examples
    --------
    >>> print(tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).numpy())
    [1. 2.]
    """
    return wg.linalg.eigvalsh(_lower(tensor))


def _lower(tensor) -> Any:
    """The Hermitian matrix whose lower triangle is given: the gradient is of that triangle."""
    x = matrices("SelfAdjointEigV2", tensor)
    return wg.add(wg.tril(x), turned(wg.tril(x, -1), True, True))


@V.operation("Eig")
def eig(tensor, name=None) -> Any:
    """Eigenvalues and eigenvectors, in columns, of a square matrix; complex ones.

    Examples
    --------
    >>> values, vectors = tf.linalg.eig([[2.0, 0.0], [0.0, 1.0]])
    >>> print(values.numpy())
    [2.+0.j 1.+0.j]
    """
    return tuple(wg.linalg.eig(matrices("Eig", tensor)))


@V.operation("Eig")
def eigvals(tensor, name=None) -> Any:
    """Eigenvalues of a square matrix; complex ones.

    Examples
    --------
    >>> print(tf.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]).numpy())
    [2.+0.j 1.+0.j]
    """
    return wg.linalg.eigvals(matrices("Eig", tensor))


@V.operation("Lu")
def lu(input, output_idx_type=None, name=None) -> Any:
    """The factors of a square matrix in one, and the order ``p`` of the rows that they are of.

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
    """The number of singular values above `tol`, as int32.

    Examples
    --------
    >>> print(tf.linalg.matrix_rank([[1.0, 1.0], [1.0, 1.0]]).numpy())
    1
    """
    s = V.tensor_of(svd(a, compute_uv=False))
    x = V.tensor_of(a)
    if tol is None:
        eps = float(np.finfo(x.payload.dtype).eps)
        bound = wg.amax(s, -1, True) * (max(x.payload.shape[-2:]) * eps)
    else:
        bound = wg.unsqueeze(V.tensor_of(tol, dtype_hint=s.payload.dtype), -1)
    int32 = np.dtype(np.int32)
    return V.computed(
        "Sum", lambda s: V.converted(wg.sum(V.converted(wg.gt(s, bound), int32), -1), int32), s
    )


@V.operation("MatMul")
def pinv(a, rcond=None, validate_args: bool = False, name=None) -> Any:
    """The pseudoinverse of a matrix; singular values below `rcond` times the greatest count as 0.

    Examples
    --------
    >>> print(tf.linalg.pinv([[2.0], [0.0]]).numpy())
    [[0.5 0. ]]
    """
    x = matrices("MatMul", a, square=False)
    if rcond is None:
        rcond = 10 * max(x.payload.shape[-2:]) * float(np.finfo(x.payload.dtype).eps)
    return wg.linalg.pinv(x, rtol=rcond)


__all__ = defined(globals())
fill_sections(globals())
