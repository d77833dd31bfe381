"""Layer 1 · kernels: eigenvalues, singular values, orthogonal factors, and pseudoinverses.

NOTE [packed results]
A node saves its first output, but the derivative of a decomposition needs all of its factors. So
each of these kernels returns, before the factors, one array with copies of them, stacked by rows:
the rules slice it, and the public functions drop it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels.protocols import arange, empty
from wengert.kernels.scipy import BLOCK, LARGE, routine_of


class LinAlgError(RuntimeError):
    """Raised for a matrix without an inverse, or a decomposition that does not converge."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "wengert._C"


def adjoint(self: Any) -> Any:
    """Transpose and conjugate every matrix."""
    turned = self.swapaxes(-1, -2)
    return np.conjugate(turned) if self.dtype.kind == "c" else turned


def _packed(*factors: Any) -> Any:
    """Stack factors with equal numbers of columns by rows, in one dtype."""
    return np.concatenate(factors, -2)


# -- decompositions -------------------------------------------------------------------------------


def _hermitian(self: Any, UPLO: str | None) -> tuple[Any, Any]:
    """Return the matrix to read, or for None the mean of both triangles, and which triangle."""
    if UPLO is None:
        return (self + adjoint(self)) / 2, "L"
    return self, UPLO


def _no_convergence(name: str) -> LinAlgError:
    return LinAlgError(
        f"linalg.{name}: The algorithm failed to converge because the input matrix is "
        "ill-conditioned, has too many repeated eigenvalues, or holds values that are not finite"
    )


def eigh(self: Any, UPLO: str | None) -> tuple[Any, Any, Any]:
    """Return (packed, ascending eigenvalues, eigenvectors as columns) of a Hermitian matrix."""
    matrix, triangle = _hermitian(self, UPLO)
    try:
        values, vectors = np.linalg.eigh(matrix, triangle)
    except np.linalg.LinAlgError:
        raise _no_convergence("eigh") from None
    return _packed(vectors, values[..., None, :]), values, vectors


def eigvalsh(self: Any, UPLO: str | None) -> Any:
    """Return only the eigenvalues of a Hermitian matrix, in ascending order."""
    matrix, triangle = _hermitian(self, UPLO)
    try:
        return np.linalg.eigvalsh(matrix, triangle)
    except np.linalg.LinAlgError:
        raise _no_convergence("eigh") from None


def _no_eigenvalues(self: Any, name: str) -> LinAlgError:
    if np.isfinite(self).all():
        return _no_convergence(name)
    return LinAlgError(
        f"torch.linalg.{name}: input tensor should not contain infs or NaNs: find where they come "
        "from"
    )


def eig(self: Any) -> tuple[Any, Any, Any]:
    """Return (packed, eigenvalues, eigenvectors as columns) of a square matrix, always complex."""
    try:
        values, vectors = np.linalg.eig(self)
    except np.linalg.LinAlgError:
        raise _no_eigenvalues(self, "eig") from None
    dtype = _complex_of(self.dtype)
    values, vectors = values.astype(dtype, copy=False), vectors.astype(dtype, copy=False)
    return _packed(vectors, values[..., None, :]), values, vectors


def eigvals(self: Any) -> Any:
    """Return only the eigenvalues of a square matrix."""
    try:
        values = np.linalg.eigvals(self)
    except np.linalg.LinAlgError:
        raise _no_eigenvalues(self, "eigvals") from None
    return values.astype(_complex_of(self.dtype), copy=False)


_COMPLEX = {
    "f": np.dtype(np.complex64),
    "F": np.dtype(np.complex64),
    "d": np.dtype(np.complex128),
    "D": np.dtype(np.complex128),
}


def _complex_of(dtype: Any) -> Any:
    return _COMPLEX[dtype.char]


def _no_svd(self: Any) -> LinAlgError:
    if np.isfinite(self).all():
        return LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix is "
            "ill-conditioned or has too many repeated singular values"
        )
    return LinAlgError(
        "linalg.svd: The algorithm failed to converge because the input matrix contained "
        "non-finite values."
    )


def svd(self: Any, full_matrices: bool) -> tuple[Any, Any, Any, Any]:
    """Return (packed, U, S, Vh), ``self = U @ diag(S) @ Vh``; packed has U, S and Vh's adjoint.

    The packed array has only as many columns of U and V as there are singular values.
    """
    try:
        u, s, vh = np.linalg.svd(self, full_matrices)
    except np.linalg.LinAlgError:
        raise _no_svd(self) from None
    k = s.shape[-1]
    # LAPACK's zeros may be negative
    s += 0.0
    packed = _packed(u[..., :k], s[..., None, :], adjoint(vh[..., :k, :]))
    return packed, u, s, vh


def svdvals(self: Any) -> Any:
    """Return only the singular values, in descending order."""
    try:
        return np.linalg.svd(self, compute_uv=False) + 0.0
    except np.linalg.LinAlgError:
        raise _no_svd(self) from None


def qr(self: Any, mode: Any) -> tuple[Any, Any, Any]:
    """Return (packed, Q, R) of self; packed has Q and R's adjoint, and Q is empty for mode "r"."""
    if mode == "r":
        none = np.empty((0,), self.dtype)
        return none, none.copy(), np.linalg.qr(self, "r")
    q, r = _orthogonal(self, mode) or np.linalg.qr(self, mode)
    return _packed(q, adjoint(r)), q, r


def _orthogonal(self: Any, mode: str) -> tuple[Any, Any] | None:
    """Return the factors of one matrix by the routines that NumPy calls, in half the time."""
    k = min(self.shape[-2:])
    if self.ndim != 2 or k < LARGE or self.__class__ is not np.ndarray:
        return None
    m, n = self.shape
    factored = routine_of("lapack", "geqrf", self.dtype)
    if factored is None or (mode == "complete" and k < m):
        return None
    made = routine_of("lapack", "ungqr" if self.dtype.kind == "c" else "orgqr", self.dtype)
    both, scales, _, _ = factored(self, lwork=BLOCK * n)
    r = both[:k].copy("C")
    r[_below(k, n)] = 0
    return made(both[:, :k], scales, lwork=BLOCK * k)[0], r


@lru_cache(maxsize=16)
def _below(rows: int, columns: int) -> Any:
    """Return the mask of the elements below the diagonal."""
    return np.tri(rows, columns, -1, bool)


def pinv(self: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """Return the pseudoinverse; singular values up to ``max(atol, rtol * largest)`` count as 0."""
    if not self.size:
        return empty(self, (*self.shape[:-2], self.shape[-1], self.shape[-2]), self.dtype)
    if hermitian:
        _, signed, u = eigh(self, "L")
        s, v = np.abs(signed), u
    else:
        _, u, s, vh = svd(self, False)
        signed, v = s, adjoint(vh)
    largest = s.max(-1, initial=0)
    least = np.maximum(atol, rtol * largest)[..., None].astype(s.dtype)
    kept = s > least
    inverse = np.where(kept, 1, 0).astype(s.dtype) / np.where(kept, signed, 1)
    return (v * inverse[..., None, :]) @ adjoint(u)


# -- parts of their derivatives -------------------------------------------------------------------


def _steps(dtype: Any, size: int) -> float:
    """Return the relative distances up to which eigenvalues are equal to rounding errors."""
    return float(np.finfo(dtype).eps) * max(10.0, math.sqrt(size))


def inverse_gaps(self: Any, left: Any, right: Any, squares: bool, what: str) -> Any:
    """Return 1 / (self[j] - self[i]), or of their squares, for each i and j; 0 for i = j.

    It is also 0 where two values are equal to rounding errors: their eigenvectors have no
    derivative, so none may be asked for. The columns of `left` and `right` are the cotangents of
    the vectors.
    """
    size = self.shape[-1]
    gaps = self[..., None, :] - self[..., :, None]
    magnitude = np.abs(self)
    same = np.abs(gaps) <= _steps(self.dtype, size) * np.maximum(
        magnitude[..., None, :], magnitude[..., :, None]
    )
    if squares:
        gaps = gaps * (self[..., None, :] + self[..., :, None])
    places = arange(self, size)
    pairs = same & (places[:, None] != places)
    if pairs.any():
        asked = (left != 0).any(-2) | (right != 0).any(-2)
        bad = pairs & (asked[..., None, :] | asked[..., :, None])
        if bad.any():
            *where, i, j = (int(n) for n in np.argwhere(bad)[0])
            raise _repeated(self[tuple(where)], where, i, j, what)
    # squares of tiny values may underflow
    same |= gaps == 0
    return np.where(same, 0, 1 / np.where(same, 1, gaps)).astype(self.dtype)


def _repeated(values: Any, where: list[int], i: int, j: int, what: str) -> LinAlgError:
    kind, vectors = (
        ("singular values", "singular vectors")
        if "svd" in what
        else (
            "eigenvalues",
            "eigenvectors",
        )
    )
    of = f" of matrix {where}" if where else ""
    return LinAlgError(
        f"{what}: the {kind} {min(i, j)} and {max(i, j)}{of} are the same to rounding errors "
        f"({values[min(i, j)]} and {values[max(i, j)]}), where {vectors} have no derivative, but "
        f"the loss depends on them. Use the {kind} alone, or disturb the input a little."
    )


def inverse_values(self: Any, left: Any, right: Any, what: str) -> Any:
    """Return 1 / self, but 0 where self is 0 and the cotangents of its vectors are, too."""
    none = self == 0
    if none.any():
        asked = (left != 0).any(-2) | (right != 0).any(-2)
        if (none & asked).any():
            *where, i = (int(n) for n in np.argwhere(none & asked)[0])
            of = f" of matrix {where}" if where else ""
            raise LinAlgError(
                f"{what}: the singular value {i}{of} is 0, where the singular vectors have no "
                "derivative, but the loss depends on them. Use the singular values alone, or "
                "disturb the input a little."
            )
    return (np.where(none, 0, 1) / np.where(none, 1, self)).astype(self.dtype)


_PHASE = {
    "linalg_eigh_backward": "The eigenvectors",
    "linalg_eig_backward": "The eigenvectors",
    "svd_backward": "The singular vectors",
}


def phase_free(self: Any, other: Any, what: str) -> Any:
    """Return self; raise if a change of the phase of vectors changes the loss.

    The arguments are the products of left and of right vectors with their cotangents; the effect of
    a phase is the imaginary part of their diagonals, which must cancel.
    """
    left, right = (np.imag(np.einsum("...ii->...i", part)) for part in (self, other))
    off = np.abs(left + right)
    if not np.all(off <= 1e-2 + 1e-2 * np.abs(right)):
        raise RuntimeError(
            f"{what}: {_PHASE[what]} in the complex case are specified up to multiplication by "
            "e^{i phi}. The specified loss function depends on this quantity, so it is "
            f"ill-defined: turning the phase of a vector changes it at a rate of "
            f"{float(off.max()):.3g}. Make the loss depend on absolute values, or on "
            "products in which the phases cancel."
        )
    return self


def unused(self: Any, part: Any, what: str) -> Any:
    """Return self; raise unless `part`, the cotangent of vectors with an arbitrary basis, is 0."""
    if part.any():
        raise RuntimeError(
            f"{what}: the loss depends on the columns of U or the rows of Vh that "
            "full_matrices=True adds, which may be any orthonormal basis of what the others leave, "
            "so that it is ill-defined. Use full_matrices=False."
        )
    return self


def solve(self: Any, other: Any, turned: bool, what: str) -> Any:
    """Solve ``self @ X = other``, or with the adjoint of self, for the matrix X."""
    if "eig" in what:
        _check_basis(self, what)
    try:
        return np.linalg.solve(adjoint(self) if turned else self, other)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            f"{what}: a matrix is singular, its columns are linearly dependent, and there is no "
            "derivative"
        ) from None


def _check_basis(vectors: Any, what: str) -> None:
    """Refuse eigenvectors that are linearly dependent, to rounding errors."""
    values = svdvals(vectors)
    if values.size:
        least = np.finfo(values.dtype).eps * values.shape[-1]
        bad = values[..., -1] <= least * values[..., 0]
        if bad.any():
            where = [int(n) for n in np.argwhere(bad)[0]]
            raise LinAlgError(
                f"{what}: {f'matrix {where}' if where else 'the matrix'} has fewer eigenvectors "
                "than dimensions, so that its eigenvalues have no derivative. Disturb it a little."
            )
