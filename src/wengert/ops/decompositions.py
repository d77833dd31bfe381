"""Layer 5 · ops · matrices: decompositions outside of `linalg`, and with random projections."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.dtypes import FLOATING, default_float
from wengert.base.export import export
from wengert.ops import spectral
from wengert.ops.checks import flag
from wengert.ops.coerce import is_sparse, operand
from wengert.ops.create import ones
from wengert.ops.matmul import matmul
from wengert.ops.options import placed
from wengert.ops.out import into_several
from wengert.ops.permute import mH
from wengert.ops.pseudoinverse import pinv
from wengert.ops.random import randn
from wengert.ops.spectral_types import qr as qr_result
from wengert.ops.spectral_types import svd as svd_result
from wengert.tape.record import T
from wengert.tape.sites import warn_outdated


@export("wengert", "Tensor")
def svd(input: Any, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """Return singular values and singular vectors: ``input = U @ diag(S) @ V.mH``.

    `linalg.svd` is the newer form, which returns the adjoint of V.

    Parameters
    ----------
    %(matrices)s
    some : bool. Whether U and V have k = min(m, n) columns only; else they are square.
    compute_uv : bool. Whether to compute U and V; else they are square and 0.
    %(outs)s

    Returns
    -------
    U, S, V : Tensor. Of shapes (..., m, k), (..., k) and (..., n, k). Differentiable as the results
        of `linalg.svd`.

    Raises
    ------
    RuntimeError: If the input is not a matrix, or holds NaN or infinity.

    Examples
    --------
    >>> U, S, V = wg.svd(wg.tensor([[3.0, 0.0], [0.0, -4.0]]))
    >>> S
    tensor([4., 3.])
    """
    x = operand(input, "svd")
    shape = x._payload.shape
    if len(shape) < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {len(shape)} dimensions "
            "instead"
        )
    if flag(compute_uv, "compute_uv"):
        U, S, Vh = spectral.svd(x, not flag(some, "some"))
        results = svd_result((U, S, mH(Vh)))
    else:
        S = spectral.svdvals(x)
        *lead, m, n = shape
        U, V = (placed(x, np.zeros((*lead, k, k), x._payload.dtype)) for k in (m, n))
        results = svd_result((U, S, V))
    return results if out is None else into_several(out, results, "svd")


@export("wengert", "Tensor")
def qr(input: Any, some: bool = True, *, out: Any = None) -> Any:
    """Return an orthogonal and a triangular factor; an old form of `linalg.qr`.

    Parameters
    ----------
    %(matrices)s
    some : bool. True stands for the mode "reduced", False for "complete".
    %(outs)s

    Returns
    -------
    Q, R : Tensor. As `linalg.qr` returns them.

    Warns
    -----
    UserWarning: That `linalg.qr` takes its place.

    Examples
    --------
    >>> import warnings, wengert as wg
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     Q, R = wg.qr(wg.tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> R.shape
    torch.Size([2, 2])
    """
    warn_outdated("qr", "linalg.qr")
    return into_several(
        out, qr_result(spectral.qr(input, "reduced" if flag(some, "some") else "complete")), "qr"
    )


@export("wengert", "Tensor")
def pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """Return the pseudoinverse of matrices; `linalg.pinv` is the newer form.

    Parameters
    ----------
    %(matrices)s
    rcond : number. Singular values up to `rcond` times the largest one count as 0.

    Returns
    -------
    Tensor: Of shape (..., n, m). Differentiable, to any order, in directions that keep the rank.

    Raises
    ------
    RuntimeError: If the input is not a matrix of a floating or complex dtype.

    Examples
    --------
    >>> wg.pinverse(wg.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])
    """
    return pinv(input, rcond)


# -- random projections ---------------------------------------------------------------------------


def _range_of(A: Any, q: int, niter: int, M: Any) -> Any:
    """Return an orthonormal basis of q columns that nearly spans the columns of ``A - M``."""

    def times(left: Any, right: Any, basis: Any) -> Any:
        product = matmul(left, basis)
        return product if right is None else T.sub(product, matmul(right, basis))

    projection = randn(A.shape[-1], q, dtype=A.dtype, device=A.device)
    basis = spectral.qr(times(A, M, projection))[0]
    back, mean = A.mH, None if M is None else mH(M)
    for _ in range(niter):
        basis = spectral.qr(times(back, mean, basis))[0]
        basis = spectral.qr(times(A, M, basis))[0]
    return basis


def _lowrank(A: Any, q: int, niter: int, M: Any) -> tuple[Any, Any, Any]:
    m, n = A.shape[-2:]
    if m < n:
        A, M = A.mH, None if M is None else mH(M)
    basis = _range_of(A, q, niter, M)
    back = mH(basis)
    small = matmul(back, A)
    if M is not None:
        small = T.sub(small, matmul(back, M))
    left, S, Vh = spectral.svd(small, False)
    U, V = matmul(basis, left), mH(Vh)
    return (V, S, U) if m < n else (U, S, V)


def _samples(A: Any, op: str) -> Any:
    x = A if is_sparse(A) else operand(A, op, "A")
    if x.ndim < 2:
        raise ValueError(f"{op}(): A must have at least 2 dimensions, but has shape {[*x.shape]}")
    if x.dtype.category < FLOATING:
        x = T.to_copy(x, dtype=default_float())
    return x


@export("wengert")
def svd_lowrank(
    A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None
) -> tuple[Any, Any, Any]:
    """Approximate the largest singular values and their vectors by random projections.

    Parameters
    ----------
    A : Tensor, SparseTensor or CompressedTensor. Of shape (..., m, n).
    q : int, optional. The number of singular values to estimate: a few more than needed.
    niter : int, optional. How often to improve the projection; each time is another two products
        with `A`.
    M : Tensor, optional. What to subtract from `A`, without computing the difference; it broadcasts
        to `A`.

    Returns
    -------
    U, S, V : Tensor. Of shapes (..., m, q), (..., q) and (..., n, q). Differentiable.

    Raises
    ------
    ValueError: If `A` is not a matrix.

    References
    ----------
    N. Halko, P.-G. Martinsson, J. Tropp, "Finding structure with randomness" (2011), algorithm 5.1.

    Examples
    --------
    >>> A = wg.ones(5, 1) * wg.arange(1.0, 4.0)
    >>> U, S, V = wg.svd_lowrank(A, q=1)
    >>> wg.allclose(A, U * S @ V.mT, atol=1e-5)
    True
    """
    x = _samples(A, "svd_lowrank")
    if M is not None:
        M = T.expand(operand(M, "svd_lowrank", "M", 4), shape=tuple(x.shape))
    return _lowrank(x, 6 if q is None else q, 2 if niter is None else niter, M)


@export("wengert")
def pca_lowrank(
    A: Any, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Any, Any, Any]:
    """Return approximate principal components, by random projections.

    Parameters
    ----------
    A : Tensor, SparseTensor or CompressedTensor. Of shape (..., m, n): m samples of n features.
    q : int, optional. The number of components to estimate; min(6, m, n) by default.
    center : bool. Whether to subtract the mean of the samples first.
    niter : int. The number of power iterations.

    Returns
    -------
    U, S, V : Tensor. Of shapes (..., m, q), (..., q) and (..., n, q); the columns of V are the
        principal directions, and ``S ** 2 / (m - 1)`` the variances along them. Differentiable.

    Raises
    ------
    ValueError: If `A` is not a matrix, or `q` or `niter` is out of range.

    Examples
    --------
    >>> U, S, V = wg.pca_lowrank(wg.tensor([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), q=1)
    >>> V.abs()
    tensor([[0.4472],
            [0.8944]])
    """
    x = _samples(A, "pca_lowrank")
    m, n = x.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center and is_sparse(x):
        # the difference would have no zeros
        mean = T.div(matmul(ones(1, m, dtype=x.dtype), x), m)
        return _lowrank(x, q, niter, T.expand(mean, shape=(m, n)))
    if center:
        mean = T.mean_dim(x, dim=(x._payload.ndim - 2,), keepdim=True)
        x = T.sub(x, mean)
    return _lowrank(x, q, niter, None)
