"""Layer 5 · ops · matrices: eigenvalues, singular values and orthogonal factors.

NOTE [derivatives of vectors]
Eigenvectors and singular vectors are determined only up to a sign, for complex matrices up to a
phase, and not at all where values are repeated. A gradient through them is meaningful only if the
loss does not depend on that choice. If it does, the backward pass raises where it can detect that:
for a phase, for values that are equal to rounding errors, and for vectors that
``full_matrices=True`` adds. Losses of the values alone have a gradient everywhere. The closer two
values, the less precise are the gradients of their vectors.
"""

from __future__ import annotations

from typing import Any

from wengert.base.errors import wrong_type
from wengert.kernels.spectral import LinAlgError
from wengert.ops.checks import flag
from wengert.ops.coerce import dtype_name
from wengert.ops.linear_checks import check_floating, check_lapack, matrices_of, square_of
from wengert.ops.out import into, into_several
from wengert.ops.spectral_types import linalg_eig, linalg_eigh, linalg_qr, linalg_svd
from wengert.prims import spectral as spectral
from wengert.tape.modes import is_recording
from wengert.tape.record import T

__all__ = [
    "LinAlgError",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "qr",
    "svd",
    "svdvals",
]


def _traced(x: Any) -> bool:
    """Return whether a gradient may be asked for, so that keeping a decomposition pays."""
    return x._edge is not None and is_recording()


# -- Hermitian matrices ---------------------------------------------------------------------------


def _triangle(UPLO: Any, op: str) -> str:
    if not isinstance(UPLO, str):
        raise wrong_type(f"linalg_{op}", "UPLO", "str", UPLO)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(
            f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}: which triangle to read, the "
            "lower or the upper one"
        )
    return UPLO.upper()


def eigh(input: Any, UPLO: str = "L", *, out: Any = None) -> Any:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Parameters
    ----------
    %(square_matrices)s
    UPLO : {"L", "U"}. The triangle that is read, the lower or the upper one; the other one is
        ignored.
    %(outs)s

    Returns
    -------
    eigenvalues : Tensor. Real, in ascending order, of shape (..., n).
    eigenvectors : Tensor. Of shape (..., n, n), the columns, of length 1. Both are differentiable,
        to any order, with gradients that are Hermitian. See "Raises".

    Raises
    ------
    RuntimeError: If the matrices are not square, or do not converge. In the backward pass, if the
        loss depends on the phase of complex eigenvectors, or on eigenvectors of eigenvalues that
        are the same to rounding errors: such eigenvectors have no derivative.

    Examples
    --------
    >>> values, vectors = wg.linalg.eigh(wg.tensor([[2.0, 1.0], [1.0, 2.0]]))
    >>> values
    tensor([1., 3.])
    """
    x = square_of(input, "linalg_eigh", "linalg.eigh", "input")
    UPLO = _triangle(UPLO, "eigh")
    check_lapack(x, "linalg_eigh_cpu")
    return into_several(out, linalg_eigh(T.linalg_eigh(x, UPLO=UPLO)[1:]), "linalg_eigh")


def eigvalsh(input: Any, UPLO: str = "L", *, out: Any = None) -> Any:
    """Eigenvalues of symmetric or Hermitian matrices.

    Parameters
    ----------
    %(square_matrices)s
    UPLO : {"L", "U"}. The triangle that is read.

    Returns
    -------
    Tensor: Real, in ascending order, of shape (..., n). Differentiable, to any order; the first
        derivative is finite also where eigenvalues are repeated.

    Raises
    ------
    RuntimeError: If the matrices are not square, or do not converge.

    Examples
    --------
    >>> wg.linalg.eigvalsh(wg.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    x = square_of(input, "linalg_eigvalsh", "linalg.eigh", "input")
    UPLO = _triangle(UPLO, "eigvalsh")
    check_lapack(x, "linalg_eigh_cpu")
    result = T.linalg_eigh(x, UPLO=UPLO)[1] if _traced(x) else T.linalg_eigvalsh(x, UPLO=UPLO)
    return result if out is None else into(out, result, "linalg_eigvalsh")


# -- any square matrices --------------------------------------------------------------------------


def _complexible(x: Any) -> None:
    if x._payload.dtype.kind in "biu":
        raise RuntimeError(
            f"Unknown Complex ScalarType for {dtype_name(x._payload)}: eigenvalues are complex; "
            "convert the input with .to(dtype)"
        )
    check_lapack(x, "linalg_eig_out_cpu")


def eig(input: Any, *, out: Any = None) -> Any:
    """Eigenvalues and eigenvectors of square matrices.

    Parameters
    ----------
    %(square_matrices, outs)s

    Returns
    -------
    eigenvalues : Tensor. Complex, in no particular order, of shape (..., n).
    eigenvectors : Tensor. Complex, of shape (..., n, n): the columns, of length 1. Both are
        differentiable, to any order. See "Raises".

    Raises
    ------
    RuntimeError: If the matrices are not square, or hold NaN or infinity. In the backward pass, if
        the loss depends on the phase of eigenvectors, or on eigenvectors of eigenvalues that are
        the same to rounding errors, or if there are fewer eigenvectors than dimensions.

    Examples
    --------
    >>> values, vectors = wg.linalg.eig(wg.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    >>> values.imag.abs()
    tensor([1., 1.])
    """
    x = square_of(input, "linalg_eig", "linalg.eig", "input")
    _complexible(x)
    return into_several(out, linalg_eig(T.linalg_eig(x)[1:]), "linalg_eig")


def eigvals(input: Any, *, out: Any = None) -> Any:
    """Eigenvalues of square matrices.

    Parameters
    ----------
    %(square_matrices)s

    Returns
    -------
    Tensor: Complex, in no particular order, of shape (..., n). Differentiable, to any order, where
        there are as many eigenvectors as dimensions.

    Raises
    ------
    RuntimeError: If the matrices are not square, or hold NaN or infinity.

    Examples
    --------
    >>> wg.linalg.eigvals(wg.tensor([[3.0, 1.0], [0.0, 3.0]])).real
    tensor([3., 3.])
    """
    x = square_of(input, "linalg_eigvals", "linalg.eigvals", "input")
    _complexible(x)
    values = T.linalg_eig(x)[1] if _traced(x) else T.linalg_eigvals(x)
    return into(out, values, "linalg_eigvals", "eigenvalues")


# -- singular values ------------------------------------------------------------------------------


def _for_svd(A: Any, op: str) -> Any:
    x = matrices_of(A, f"linalg_{op}", "linalg.svd")
    check_floating(x, "linalg.svd", "linalg_svd_cpu")
    return x


def svd(A: Any, full_matrices: bool = True, *, driver: str | None = None, out: Any = None) -> Any:
    """Singular values and singular vectors: ``A = U @ diag(S) @ Vh``.

    Parameters
    ----------
    A : Tensor. Of shape (..., m, n) and of a floating or complex dtype.
    full_matrices : bool. Whether U and Vh are square. For gradients, say False: the vectors that
        True adds may be any basis.
    driver : None. There is one driver for all.
    %(outs)s

    Returns
    -------
    U : Tensor. Of shape (..., m, m), or (..., m, k) with k = min(m, n).
    S : Tensor. Real, in descending order, of shape (..., k).
    Vh : Tensor. Of shape (..., n, n), or (..., k, n). All are differentiable, to any order. See
        "Raises".

    Raises
    ------
    RuntimeError: If the input is not a matrix, or holds NaN or infinity. In the backward pass, if
        the loss depends on the phase of complex singular vectors, on singular vectors of singular
        values that are the same to rounding errors, or on those that ``full_matrices`` adds.

    Examples
    --------
    >>> U, S, Vh = wg.linalg.svd(wg.tensor([[3.0, 0.0], [0.0, -4.0]]))
    >>> S
    tensor([4., 3.])
    """
    x = _for_svd(A, "svd")
    _no_driver(driver)
    results = linalg_svd(T.linalg_svd(x, full_matrices=flag(full_matrices, "full_matrices"))[1:])
    return results if out is None else into_several(out, results, "linalg_svd")


def _no_driver(driver: Any) -> None:
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            f"cuSOLVER backend. Leave it out (got {driver!r})."
        )


def svdvals(A: Any, *, driver: str | None = None, out: Any = None) -> Any:
    """Singular values of matrices.

    Parameters
    ----------
    A : Tensor. Of shape (..., m, n) and of a floating or complex dtype.
    driver : None. There is one driver for all.

    Returns
    -------
    Tensor: Real, in descending order, of shape (..., min(m, n)). Differentiable, to any order; the
        first derivative is finite also where singular values are repeated.

    Raises
    ------
    RuntimeError: If the input is not a matrix, or holds NaN or infinity.

    Examples
    --------
    >>> wg.linalg.svdvals(wg.tensor([[3.0, 0.0], [0.0, -4.0]]))
    tensor([4., 3.])
    """
    x = _for_svd(A, "svdvals")
    _no_driver(driver)
    return into(out, values_of(x), "linalg_svdvals")


def values_of(x: Any) -> Any:
    """The singular values of what is known to be matrices."""
    return T.linalg_svd(x, full_matrices=False)[2] if _traced(x) else T.linalg_svdvals(x)


# -- orthogonal factors ---------------------------------------------------------------------------


def qr(A: Any, mode: str = "reduced", *, out: Any = None) -> Any:
    """Return an orthogonal (unitary) and an upper triangular factor: ``A = Q @ R``.

    Parameters
    ----------
    A : Tensor. Of shape (..., m, n) and of a floating or complex dtype.
    mode : {"reduced", "complete", "r"}. "reduced": Q has k = min(m, n) columns; "complete": it has
        m; "r": it is not computed.
    %(outs)s

    Returns
    -------
    Q : Tensor. Of shape (..., m, k) or (..., m, m); empty for the mode "r".
    R : Tensor. Of shape (..., k, n) or (..., m, n). Both are differentiable, to any order, if the
        first k columns of A are linearly independent; for the mode "complete" only if m <= n, for
        the mode "r" not at all.

    Raises
    ------
    RuntimeError: If the input is not a matrix, or the mode is unknown; in the backward pass, if
        there is not a derivative.

    Examples
    --------
    >>> Q, R = wg.linalg.qr(wg.tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> R.abs()
    tensor([[5.0000, 2.2000],
            [0.0000, 0.4000]])
    """
    if not isinstance(mode, str):
        raise wrong_type("linalg_qr", "mode", "str", mode)
    x = matrices_of(A, "linalg_qr", "linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    check_floating(x, "linalg.qr", "geqrf_cpu")
    return into_several(out, linalg_qr(T.linalg_qr(x, mode=mode)[1:]), "linalg_qr")
