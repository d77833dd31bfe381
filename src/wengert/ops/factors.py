"""Layer 5 · ops · matrices: `linalg`: Cholesky factors, LU factors, and products of reflections."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.base.names import defined
from wengert.base.shapes import broadcast
from wengert.interp.levels import Lifted, is_elsewhere, memory_of
from wengert.kernels.factors import first_failure
from wengert.ops.checks import flag
from wengert.ops.coerce import dtype_name, operand, wide
from wengert.ops.linear_checks import (
    adjoint_of,
    check_floating,
    check_lapack,
    check_same_dtype,
    check_system,
    expand_batch,
    square_of,
    transposed,
    triangles,
)
from wengert.ops.linear_types import geqrf as _geqrf
from wengert.ops.linear_types import (
    linalg_cholesky_ex,
    linalg_lu,
    linalg_lu_factor,
    linalg_lu_factor_ex,
)
from wengert.ops.matmul import matmul
from wengert.ops.options import placed
from wengert.ops.out import into, into_several
from wengert.prims import factors as factors
from wengert.tape.base import new_tensor
from wengert.tape.modes import is_recording, untraced
from wengert.tape.record import T


def cholesky(input: Any, *, upper: bool = False, out: Any = None) -> Any:
    """Return the Cholesky factors of symmetric or Hermitian positive definite matrices.

    Parameters
    ----------
    input : Tensor. Of shape (..., n, n), of floating or complex dtype. Only the triangle of the
        factor is read.
    upper : bool. Whether to return the upper triangular factor U with ``input = U.mH @ U``, or the
        lower one L with ``input = L @ L.mH``.

    Returns
    -------
    Tensor: Of the same shape. Differentiable, to any order, with gradients that are Hermitian.

    %(raises_definite, error_square)s

    Examples
    --------
    >>> wg.linalg.cholesky(wg.tensor([[4.0, 2.0], [2.0, 10.0]]))
    tensor([[2., 0.],
            [1., 3.]])
    """
    x = square_of(input, "linalg_cholesky", "linalg.cholesky", "input")
    check_floating(x, "linalg.cholesky", "cholesky_cpu")
    result = T.linalg_cholesky(x, upper=flag(upper, "upper"), what="linalg.cholesky")
    return result if out is None else into(out, result, "linalg_cholesky")


def cholesky_ex(
    input: Any, *, upper: bool = False, check_errors: bool = False, out: Any = None
) -> Any:
    """Return the Cholesky factors, with an error code per matrix instead of an exception.

    Parameters
    ----------
    input : Tensor. As for `cholesky`.
    upper : bool. As for `cholesky`.
    check_errors : bool. Whether to raise where a matrix has none.
    %(outs)s

    Returns
    -------
    L : Tensor. As from `cholesky`; NaN from the leading minor on that is not positive.
    info : Tensor. Of int32 and the shape of the batch: 0, or the order of that minor.

    Raises
    ------
    LinAlgError: With `check_errors`, if a matrix is not positive definite.
    %(error_square)s

    Examples
    --------
    >>> wg.linalg.cholesky_ex(wg.tensor([[1.0, 2.0], [2.0, 1.0]])).info
    tensor(2, dtype=torch.int32)
    """
    x = square_of(input, "linalg_cholesky_ex", "linalg.cholesky", "input")
    check_floating(x, "linalg.cholesky", "cholesky_cpu")
    found = T.linalg_cholesky_ex(
        x, upper=flag(upper, "upper"), check=flag(check_errors, "check_errors")
    )
    return into_several(out, linalg_cholesky_ex(found), "linalg_cholesky_ex")


# -- LU -------------------------------------------------------------------------------------------


def _factored(A: Any, pivot: bool, op: str, name: str) -> tuple[Any, Any, Any]:
    x = operand(A, op, "A")
    if x._payload.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(x._payload.shape)} instead"
        )
    check_lapack(x, "lu_cpu")
    if not flag(pivot, "pivot"):
        raise RuntimeError(
            "linalg.lu_factor: LU without pivoting is not implemented on the CPU: it is not "
            "stable. Leave out pivot=False"
        )
    return T.linalg_lu_factor_ex(x)[1:]


def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """Return the compact LU decomposition, with an error code per matrix if it is singular.

    Parameters
    ----------
    A : Tensor. As for `lu_factor`.
    %(pivot)s
    check_errors : bool. Whether to raise where U has a 0 on its diagonal.
    %(outs)s

    Returns
    -------
    LU, pivots : Tensor. As from `lu_factor`.
    info : Tensor. Of int32 and the shape of the batch: 0, or where U has its first 0, counted from
        1.

    Raises
    ------
    LinAlgError: With `check_errors`, if U has a 0 on its diagonal.
    %(error_pivot)s

    Examples
    --------
    >>> wg.linalg.lu_factor_ex(wg.tensor([[1.0, 2.0], [2.0, 4.0]])).info
    tensor(2, dtype=torch.int32)
    """
    factors = _factored(A, pivot, "linalg_lu_factor_ex", "torch.lu_factor")
    if check_errors:
        _refuse_zeros(factors[2], "torch.linalg.lu_factor_ex")
    return into_several(out, linalg_lu_factor_ex(factors), "linalg_lu_factor_ex")


def _refuse_zeros(info: Any, name: str) -> None:
    if info._payload.any():
        raise first_failure(
            name,
            info._payload,
            "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If "
            "you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
            "linalg.lu_factor_ex(A, pivot)",
        )


def lu_factor(A: Any, *, pivot: bool = True, out: Any = None) -> Any:
    """Return the triangular factors of matrices with exchanged rows, for `lu_solve`.

    Parameters
    ----------
    %(rectangular, pivot, outs)s

    Returns
    -------
    LU : Tensor. Of the shape of `A`: U, and below the diagonal L, which has ones on its own
        diagonal. Differentiable, to any order, where the exchanges do not change.
    pivots : Tensor. Of int32 and shape (..., min(m, n)): with which row each row was exchanged, one
        after the other; counted from 1.

    Raises
    ------
    LinAlgError: If U has a 0 on its diagonal.
    %(error_pivot)s

    Examples
    --------
    >>> wg.linalg.lu_factor(wg.tensor([[1.0, 2.0], [4.0, 4.0]])).LU
    tensor([[4.0000, 4.0000],
            [0.2500, 1.0000]])
    """
    LU, pivots, info = _factored(A, pivot, "linalg_lu_factor", "torch.lu_factor")
    _refuse_zeros(info, "torch.linalg.lu_factor")
    return into_several(out, linalg_lu_factor((LU, pivots)), "linalg_lu_factor")


def lu(A: Any, *, pivot: bool = True, out: Any = None) -> Any:
    """Return the factors of matrices: a permutation, a lower and an upper triangular matrix.

    Parameters
    ----------
    %(rectangular, pivot, outs)s

    Returns
    -------
    P : Tensor. Of shape (..., m, m), with ``A = P @ L @ U``.
    L, U : Tensor. Of shapes (..., m, k) and (..., k, n) for k = min(m, n); L has ones on its
        diagonal. Differentiable, to any order, where the permutation does not change.

    %(raises_pivot)s

    Examples
    --------
    >>> P, L, U = wg.linalg.lu(wg.tensor([[1.0, 2.0], [4.0, 4.0]]))
    >>> P @ L @ U
    tensor([[1., 2.],
            [4., 4.]])
    """
    LU, pivots, _ = _factored(A, pivot, "linalg_lu", "linalg.lu")
    return into_several(out, linalg_lu((T.lu_permutation(LU, pivots), *triangles(LU))), "linalg_lu")


def lu_solve(
    LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False, out: Any = None
) -> Any:
    """Return the solutions of systems of linear equations with the factors from `lu_factor`.

    Parameters
    ----------
    LU : Tensor. Of shape (..., n, n).
    pivots : Tensor. Of int32 and shape (..., n).
    B : Tensor. Right-hand sides of shape (..., n, k) or, not `left`, (..., k, n).
    left : bool. Whether to solve ``A @ X = B`` or ``X @ A = B``.
    adjoint : bool. Whether to solve with ``A.mH`` instead of the matrix A of which these are the
        factors.

    Returns
    -------
    Tensor: X. Differentiable with respect to `LU` and `B`, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> factors = wg.linalg.lu_factor(wg.tensor([[0.0, 2.0], [4.0, 0.0]]))
    >>> wg.linalg.lu_solve(*factors, wg.tensor([[2.0], [4.0]]))
    tensor([[1.],
            [1.]])
    """
    name = "linalg.lu_solve"
    x = square_of(LU, "linalg_lu_solve", f"torch.{name}", "LU")
    p, y = operand(pivots, "linalg_lu_solve", "pivots", 2), wide(B, "linalg_lu_solve", "B", 3)
    _check_pivots(x, p, name)
    check_same_dtype(
        x,
        y,
        f"{name}: Expected LU and B to have the same dtype, but found LU of type {{}} and B "
        "of type {} instead",
    )
    check_system(x._payload.shape, y._payload.shape, left, name)
    check_lapack(x, "lu_solve_cpu")
    _check_targets(p._payload, x._payload.shape[-1])
    batch = broadcast(x._payload.shape[:-2], y._payload.shape[:-2])
    x, p, y = expand_batch(x, batch), expand_batch(p, batch, 1), expand_batch(y, batch)
    if left:
        result = T.linalg_lu_solve(x, y, p, adjoint=flag(adjoint, "adjoint"))
    else:
        result = adjoint_of(T.linalg_lu_solve(x, adjoint_of(y), p, adjoint=not adjoint))
    return result if out is None else into(out, result, "linalg_lu_solve")


def _check_pivots(x: Any, p: Any, name: str) -> None:
    if p._payload.dtype != np.int32:
        raise RuntimeError(
            f"{name}: pivots should be a Tensor of scalar type torch.int32, as lu_factor gives "
            f"them, but are {p._payload.dtype}"
        )
    shape = x._payload.shape[:-1]
    if p._payload.shape != shape:
        if p._payload.shape[-1:] != shape[-1:]:
            raise RuntimeError(
                f"{name}: Number of pivots per batch should be same as the dimension of the matrix:"
                f" {shape[-1]}, but the shape of the pivots is {list(p._payload.shape)}"
            )
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(p._payload.shape)} instead"
        )


def _check_targets(pivots: Any, size: int) -> None:
    if pivots.size and not 1 <= pivots.min() <= pivots.max() <= size:
        bound = "greater or equal to 1" if pivots.min() < 1 else "smaller or equal to LU.size(-2)"
        raise RuntimeError(
            f"Pivots given to lu_solve must all be {bound}. Did you properly pass the result of "
            f"lu_factor? The matrices have {size} rows"
        )


# -- reflections ----------------------------------------------------------------------------------


def householder_product(input: Any, tau: Any, *, out: Any = None) -> Any:
    """Return the first columns of a product of reflections.

    Parameters
    ----------
    input : Tensor. Of shape (..., m, n) with m >= n. Below the diagonal, the column j holds the
        elements after the first one, which is 1, of a vector v that starts at element j.
    tau : Tensor. Factors of shape (..., k) with k <= n.

    Returns
    -------
    Tensor: The first n columns of the product of the k matrices ``I - tau * v @ v.mH``; of shape
        (..., m, n). Differentiable with respect to both, to any order.

    %(raises_shapes_or_dtypes)s

    References
    ----------
    The product as one matrix: C. Puglisi, "Modification of the Householder method based on the
    compact WY representation", SIAM J. Sci. Stat. Comput. 13 (1992).

    Examples
    --------
    >>> wg.linalg.householder_product(wg.zeros(2, 1), wg.tensor([2.0]))
    tensor([[-1.],
            [ 0.]])
    """
    x, t = _reflections("linalg_householder_product", "linalg.householder_product", input, tau)
    check_lapack(x, "orgqr_cpu")
    return into(out, _reflected(x, t, x._payload.shape[-1]), "linalg_householder_product")


@export("wengert", "Tensor")
def ormqr(
    input: Any,
    tau: Any,
    other: Any,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Any = None,
) -> Any:
    """Return the products of the matrices Q of a factorisation by reflections with other matrices.

    Parameters
    ----------
    input : Tensor. The vectors, of shape (..., m, k), as `geqrf` gives them.
    tau : Tensor. Their factors, of shape (..., k).
    other : Tensor. Of shape (..., m, n), or (..., n, m) without `left`.
    left : bool. Whether Q is the left factor.
    transpose : bool. Whether Q is replaced by its conjugate transpose.

    Returns
    -------
    Tensor: Of the shape of `other`. Differentiable with respect to all three, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> A = wg.tensor([[3.0, 1.0], [4.0, 2.0]])
    >>> a, tau = wg.geqrf(A)
    >>> wg.ormqr(a, tau, a.triu()).round(decimals=3)
    tensor([[3., 1.],
            [4., 2.]])
    """
    x, t = _reflections("ormqr", "ormqr", input, tau, bounded=False)
    y = wide(other, "ormqr", "other", 3)
    m, shape = x._payload.shape[-2], y._payload.shape
    side = -2 if flag(left, "left") else -1
    if len(shape) < 2:
        raise RuntimeError("torch.ormqr: other must have at least 2 dimensions.")
    if shape[side] != m:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if t._payload.shape[-1] != min(m, x._payload.shape[-1]):
        raise RuntimeError(
            f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], "
            f"input.shape[-1]), but they are {t._payload.shape[-1]}, {m} and {x._payload.shape[-1]}"
        )
    if len(shape) != x._payload.ndim:
        raise RuntimeError(
            "torch.ormqr: Expected other to have the same number of dimensions as input, but got "
            f"other.ndim equal to {len(shape)} and input.ndim is equal to {x._payload.ndim}"
        )
    if shape[:-2] != x._payload.shape[:-2]:
        raise RuntimeError(
            "torch.ormqr: Expected batch dimensions of other to be equal to input.shape[:-2], but "
            f"got {list(shape[:-2])}"
        )
    check_same_dtype(x, y, "torch.ormqr: Expected input and other of one dtype, but got {} and {}")
    check_lapack(x, "ormqr_cpu")
    q = _reflected(x, t, m)
    q, y = transposed(adjoint_of(q) if flag(transpose, "transpose") else q), transposed(y)
    # the columns of the result are contiguous, as LAPACK's are
    return into(out, transposed(matmul(y, q) if left else matmul(q, y)), "ormqr")


@export("wengert", "Tensor")
def geqrf(input: Any, *, out: Any = None) -> Any:
    """Return the reflections of a QR factorisation, as LAPACK stores them.

    Parameters
    ----------
    input : Tensor. Of shape (..., m, n), of floating or complex dtype.

    Returns
    -------
    return_types.geqrf: A named tuple ``(a, tau)``: R in the upper triangle of `a`, the vectors
        below it (see `linalg.householder_product`), and their factors. Not differentiable.

    Raises
    ------
    RuntimeError: If the input is not a matrix.
    NotImplementedError: If a gradient or a tangent would be lost.

    Examples
    --------
    >>> a, tau = wg.geqrf(wg.tensor([[3.0], [4.0]]))
    >>> a, tau
    (tensor([[-5.0000],
            [ 0.5000]]), tensor([1.6000]))
    """
    x = wide(input, "geqrf")
    if x._payload.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_lapack(x, "geqrf_cpu")
    if isinstance(x._payload, Lifted) and (is_elsewhere(x._payload) or not x._payload.traced):
        raise NotImplementedError(
            "geqrf() of a value of a transform, or of another device: use linalg.qr"
        )
    if x._edge is not None and is_recording():
        raise NotImplementedError(
            "the derivative for 'geqrf' is not implemented: use linalg.qr, or detach() the input"
        )
    untraced("geqrf() is computed outside of the graph")
    a, tau = np.linalg.qr(memory_of(x._array()), mode="raw")
    results = _geqrf((new_tensor(np.ascontiguousarray(a).swapaxes(-1, -2)), new_tensor(tau)))
    return results if out is None else into_several(out, results, "geqrf")


def _reflections(
    op: str, function: str, input: Any, tau: Any, bounded: bool = True
) -> tuple[Any, Any]:
    """Return the vectors and the factors of reflections, if their shapes and dtypes fit."""
    name = f"torch.{function}"
    x, t = wide(input, op, "input"), wide(tau, op, "tau", 2)
    a, factors = x._payload, t._payload
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    *batch, m, n = a.shape
    if m < n and bounded:
        raise RuntimeError(
            f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1], but the "
            f"shape is {list(a.shape)}"
        )
    if factors.ndim != a.ndim - 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal "
            f"to {factors.ndim} and input.ndim is equal to {a.ndim}"
        )
    k = factors.shape[-1]
    if n < k and bounded:
        raise RuntimeError(
            f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1], but they are "
            f"{n} and {k}"
        )
    if factors.shape[:-1] != tuple(batch):
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(factors.shape[:-1])}"
        )
    if a.dtype != factors.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {dtype_name(factors)} does not match input dtype {dtype_name(a)}"
        )
    return x, t


def _reflected(x: Any, tau: Any, n: int) -> Any:
    """Return the first n columns of the products of reflections."""
    nd, dtype = x._payload.ndim, x._payload.dtype
    (m, known), k = x._payload.shape[-2:], tau._payload.shape[-1]
    columns = x if k == known else T.slice(x, dim=nd - 1, start=0, end=k, step=1)
    v = T.unit_lower(columns)
    back = adjoint_of(v)
    factors = T.unsqueeze(tau, dim=nd - 1)
    # I - V S V' with a triangular S, whose inverse has the diagonal 1 / tau and, above it, V' V
    coupled = T.mul(factors, matmul(back, v))
    first = back if n == m else T.slice(back, dim=nd - 1, start=0, end=n, step=1)
    inner = T.linalg_solve_triangular(
        coupled, T.mul(factors, first), upper=True, left=True, unitriangular=True
    )
    return T.sub(placed(tau, np.eye(m, n, dtype=dtype)), matmul(v, inner))


__all__ = defined(globals(), without="geqrf ormqr")
