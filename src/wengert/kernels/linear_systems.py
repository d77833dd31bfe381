"""Layer 1 · kernels: systems of linear equations, inverses, determinants, least squares."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.kernels import batches
from wengert.kernels.factors import (
    LinAlgError,
    first_failure,
    lu,
    lu_solve,
    solve_triangular,
    swapped,
)
from wengert.kernels.protocols import zeros
from wengert.kernels.scipy import BLOCK, LARGE, routine_of
from wengert.kernels.spectral import adjoint

_SOLVER = "The solver failed because the input matrix is singular."
_DIAGONAL = (
    "The diagonal element {} is zero, the inversion could not be completed because the input "
    "matrix is singular."
)


def _zeros(A: Any) -> Any:
    """Return the step at which elimination met a 0, after NumPy found a singular matrix."""
    info = lu(A)[2]
    if np.count_nonzero(info):
        return info
    # a different LAPACK has different rounding errors: ask NumPy's
    for at in np.ndindex(*A.shape[:-2]):
        try:
            np.linalg.inv(A[at])
        except np.linalg.LinAlgError:
            info[at] = A.shape[-1]
    return info


# -- systems --------------------------------------------------------------------------------------


def _solved(A: Any, B: Any, left: bool, vector: bool) -> Any:
    if vector:
        return np.linalg.solve(A, B[..., None])[..., 0]
    if left:
        return np.linalg.solve(A, B)
    return swapped(np.linalg.solve(swapped(A), swapped(B)))


def solve(A: Any, B: Any, left: bool, vector: bool) -> Any:
    """Solve ``A @ X = B``, or ``X @ A = B`` if not `left`, or for a `vector` ``A @ x = b``."""
    try:
        return _solved(A, B, left, vector)
    except np.linalg.LinAlgError:
        raise first_failure("torch.linalg.solve", _zeros(A), _SOLVER) from None


def solve_ex(A: Any, B: Any, left: bool, vector: bool, check: bool) -> tuple[Any, Any]:
    """Return (solution, info): info is the step that met a 0, where the solution is not finite."""
    try:
        return _solved(A, B, left, vector), zeros(A, A.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        info = _zeros(A)
    if check:
        raise first_failure("torch.linalg.solve_ex", info, _SOLVER)
    if not left:
        return swapped(_unchecked(swapped(A), swapped(B))), info
    return (_unchecked(A, B[..., None])[..., 0] if vector else _unchecked(A, B)), info


def _unchecked(A: Any, B: Any) -> Any:
    """Solve systems some of which are singular: their solutions are infinities and NaN."""
    shape = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    factors, pivots, _ = lu(A)
    factors = np.broadcast_to(factors, (*shape, *factors.shape[-2:]))
    pivots = np.broadcast_to(pivots, (*shape, pivots.shape[-1]))
    return lu_solve(factors, np.broadcast_to(B, (*shape, *B.shape[-2:])), pivots, False)


def _inverse(self: Any, needs_det: bool = False) -> Any:
    """Return the inverses of matrices; with `needs_det` also their determinants."""
    n = self.shape[-1]
    getri = None
    if n >= LARGE and self.ndim == 2 and self.__class__ is np.ndarray:
        getri = routine_of("lapack", "getri", self.dtype)
    if getri is None:
        inverse = np.linalg.inv(self)
        return (inverse, np.linalg.det(self)) if needs_det else inverse
    # half the time of a solution with the identity, which NumPy computes
    factors, pivots, info = routine_of("lapack", "getrf", self.dtype)(self)
    if info:
        raise np.linalg.LinAlgError
    diagonal = factors.diagonal().copy()
    inverse = np.ascontiguousarray(getri(factors, pivots, BLOCK * n, 1)[0])
    if not needs_det:
        return inverse
    size = np.abs(diagonal)
    turns = np.count_nonzero(pivots != np.arange(n))
    sign = np.multiply.reduce(diagonal / size) * (-1) ** turns
    return inverse, sign * np.exp(np.add.reduce(np.log(size)))


def inv(self: Any) -> Any:
    """Return the inverses of matrices."""
    try:
        return _inverse(self)
    except np.linalg.LinAlgError:
        raise first_failure("linalg.inv", _zeros(self), _DIAGONAL) from None


def inv_ex(self: Any, check: bool) -> tuple[Any, Any]:
    """Return (inverse, info): info is the step that met a 0, where the inverse is not finite."""
    try:
        return _inverse(self), zeros(self, self.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        info = _zeros(self)
    if check:
        raise first_failure("linalg.inv_ex", info, _DIAGONAL)
    return _unchecked(self, np.eye(self.shape[-1], dtype=self.dtype)), info


# -- determinants ---------------------------------------------------------------------------------


@errstate(over="ignore", under="ignore", invalid="ignore")
def det(self: Any) -> Any:
    """Return the determinants of matrices."""
    return np.linalg.det(self)


def slogdet(self: Any) -> tuple[Any, Any]:
    """Return (sign, log of the absolute value) of determinants: 0 and -inf if singular."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sign, logabsdet = np.linalg.slogdet(self)
    # a NaN determinant has no sign
    return np.where(np.isnan(logabsdet), sign.dtype.type(0), sign)[()], logabsdet


@errstate(over="ignore", under="ignore", invalid="ignore")
def cofactor(self: Any) -> Any:
    """Return the gradient of the determinant, also for singular matrices."""
    try:
        # the pivot, which may be tiny, cancels: it is the same in both
        inverse, scale = _inverse(self, True)
        return swapped(inverse * scale[..., None, None])
    except np.linalg.LinAlgError:
        found = _decomposed(self)
    if found is None:
        return np.full_like(self, np.nan)
    u, s, vh, sign = found
    return (sign * ((u * _others(s)[..., None, :]) @ vh).conj()).astype(self.dtype, copy=False)


@errstate(over="ignore", under="ignore", invalid="ignore")
def cofactor_backward(g: Any, self: Any) -> Any:
    """Return the second derivative of the determinant, applied to g, also if singular."""
    try:
        inverse, scale = _inverse(self, True)
    except np.linalg.LinAlgError:
        inverse = scale = None
    if inverse is not None and _well_conditioned(self, inverse):
        turned = swapped(inverse)
        minors = turned * scale[..., None, None]
        total = (turned * g).sum((-2, -1))[..., None, None]
        return total * minors - minors @ swapped(g) @ turned
    found = _decomposed(self)
    if found is None:
        return np.full_like(self, np.nan)
    u, s, vh, sign = found
    size = s.shape[-1]
    inner = adjoint(u) @ g @ adjoint(vh)
    # all products of the singular values that leave out two
    where = np.eye(size, dtype=bool)
    pairs = _others(np.where(where, 1, s[..., None, :]))
    pairs = np.where(where, 0, pairs)
    diagonal = (pairs * np.diagonal(inner, axis1=-2, axis2=-1)[..., None, :]).sum(-1)
    middle = np.where(where, diagonal[..., None], -pairs * swapped(inner))
    return (sign * u.conj() @ middle @ vh.conj()).astype(self.dtype, copy=False)


def _well_conditioned(self: Any, inverse: Any) -> Any:
    """Return whether every inverse loses at most a quarter of the digits."""
    size = abs(self).sum(-1).max(-1, initial=0) * abs(inverse).sum(-1).max(-1, initial=0)
    return np.all(size <= np.finfo(self.dtype).eps ** -0.25)


def _decomposed(self: Any) -> Any:
    """Return (U, S, Vh, det(U) * det(Vh)), or None if the decomposition does not converge."""
    try:
        u, s, vh = np.linalg.svd(self)
    except np.linalg.LinAlgError:
        return None
    return u, s, vh, (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def _others(values: Any) -> Any:
    """Return, for each value, the product of all others along the last dimension."""
    before, after = np.ones_like(values), np.ones_like(values)
    np.cumprod(values[..., :-1], -1, out=before[..., 1:])
    after[..., :-1] = np.cumprod(values[..., :0:-1], -1)[..., ::-1]
    return before * after


# -- least squares --------------------------------------------------------------------------------


def lstsq(A: Any, B: Any, rcond: float, driver: str) -> tuple[Any, Any, Any]:
    """Return (the minimum-norm X that minimises ``A @ X - B``, rank, singular values).

    `driver` is LAPACK's routine: "gels" assumes full rank, "gelsy" finds the rank from an
    orthogonal factorization, "gelsd" and "gelss" from the singular values, which they return.
    """
    *batch, m, n = A.shape
    if np.count_nonzero(np.isnan(A)):
        # LAPACK would find a rank, and from it a solution
        raise LinAlgError("torch.linalg.lstsq: input tensor should not contain NaNs")
    columns, count, k = B.shape[-1], math.prod(batch), min(m, n)
    matrices, right = A.reshape(count, m, n), B.reshape(count, m, columns)
    values = np.zeros((count, k), A.real.dtype)
    found = None
    if count and k and columns:
        if driver in ("gels", "gelsy") and batches.many(count, k):
            found = _by_factors(matrices, right, rcond)
        if found is None:
            found = _one_by_one(matrices, right, rcond, driver, values)
    x, rank = found or (np.zeros((count, n, columns), A.dtype), np.zeros(count, np.int64))
    return x.reshape(*batch, n, columns), rank.reshape(batch), values.reshape(*batch, k)


def _by_factors(A: Any, B: Any, rcond: float) -> tuple[Any, Any] | None:
    """Return (solutions, ranks) if all matrices clearly have full rank, else None."""
    wide = A.shape[-2] < A.shape[-1]
    q, r = np.linalg.qr(adjoint(A) if wide else A)
    k = r.shape[-1]
    one = np.broadcast_to(np.eye(k, dtype=A.dtype), r.shape)
    inverse = solve_triangular(r, one, True, True, False)
    size = abs(r).sum(-1).max(-1) * abs(inverse).sum(-1).max(-1)
    if not np.all(size * max(rcond, np.finfo(A.dtype).eps) * 10 * k < 1):
        return None
    if wide:
        x = q @ solve_triangular(adjoint(r), B, False, True, False)
    else:
        x = solve_triangular(r, adjoint(q) @ B, True, True, False)
    return x, np.full(len(A), k, np.int64)


def _one_by_one(A: Any, B: Any, rcond: float, driver: str, values: Any) -> tuple[Any, Any]:
    (count, m, n), columns = A.shape, B.shape[-1]
    x, rank = np.empty((count, n, columns), A.dtype), np.empty(count, np.int64)
    solver = _driver(A.dtype, m, n, columns, rcond, driver)
    for i in range(count):
        x[i], rank[i], found = solver(A[i], B[i])
        if found is not None:
            values[i] = found
    return x, rank


def lstsq_inverse(self: Any, rcond: float, driver: str) -> Any:
    """Return the pseudoinverses that `lstsq` multiplies its right-hand sides by."""
    n = self.shape[-1]
    one = np.broadcast_to(np.eye(n, dtype=self.dtype), (*self.shape[:-2], n, n))
    return adjoint(lstsq(adjoint(self), one, rcond, driver)[0])


def _driver(dtype: Any, m: int, n: int, columns: int, rcond: float, driver: str) -> Any:
    """Return ``solve(a, b)`` for one matrix: (solution, rank, singular values or None)."""
    routine = routine_of("lapack", driver, dtype)
    if routine is None:
        return lambda a, b: _by_numpy(a, b, rcond)
    k = min(m, n)
    sizes = routine_of("lapack", f"{driver}_lwork", dtype)
    extra = () if driver == "gels" else (rcond,)
    needed = sizes(m, n, columns, *extra)
    work = int(needed[0].real)

    def solved(a: Any, b: Any) -> Any:
        a = np.array(a, order="F")
        right = np.zeros((max(m, n), columns), dtype, order="F")
        right[:m] = b
        if driver == "gels":
            _, x, info = routine(a, right, lwork=work, overwrite_a=1, overwrite_b=1)
            if info:
                raise LinAlgError(
                    "torch.linalg.lstsq: The least squares solution could not be computed because "
                    f"the input matrix does not have full rank: the diagonal element {info} of "
                    'its triangular factor is 0. Use driver="gelsy"'
                )
            return x[:n], k, None
        if driver == "gelsy":
            free = np.zeros(n, np.int32)
            _, x, _, rank, info = routine(a, right, free, rcond, work, 1, 1)
            return x[:n], rank, None
        if driver == "gelss":
            _, x, s, rank, _, info = routine(a, right, rcond, work, 1, 1)
        else:
            # further work array sizes, which differ between real and complex routines
            x, s, rank, info = routine(a, right, work, *map(int, needed[1:-1]), rcond, 1, 1)
        if info:
            raise LinAlgError(
                "torch.linalg.lstsq: The algorithm for computing the SVD failed to converge: "
                "the input may hold values that are not finite"
            )
        return x[:n], rank, s

    return solved


def _by_numpy(a: Any, b: Any, rcond: float) -> Any:
    x, _, rank, values = np.linalg.lstsq(a, b, rcond)
    return x, rank, values
