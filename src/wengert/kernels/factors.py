"""Layer 1 · kernels: triangular systems, LU factors, Cholesky factors.

NumPy lacks LAPACK's triangular solves and LU factors. If SciPy is installed, its routines are
called once per matrix; otherwise, and for many small matrices, elimination runs in NumPy (see NOTE
[matrices last] in `wengert.kernels.batches`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels import batches
from wengert.kernels.protocols import beside, is_numpys, zeros
from wengert.kernels.scipy import routine_of
from wengert.kernels.spectral import LinAlgError as LinAlgError
from wengert.kernels.spectral import adjoint as adjoint_of


def _check_dtype(dtype: Any) -> None:
    """Refuse dtypes that LAPACK does not support, as NumPy's functions do."""
    if dtype.char not in "fdFD":
        raise TypeError(f"array type {dtype} is unsupported in linalg")


def swapped(self: Any) -> Any:
    """Swap the rows and columns of matrices."""
    return self.swapaxes(-1, -2)


def first_failure(name: str, info: Any, message: str) -> LinAlgError:
    """Return the error for the first nonzero `info`, which replaces {} in `message`."""
    flat = np.ravel(info)
    at = int(np.flatnonzero(flat)[0])
    which = f"(Batch element {at}): " if np.ndim(info) else ""
    return LinAlgError(f"{name}: {which}{message.format(int(flat[at]))}")


# -- triangular systems ---------------------------------------------------------------------------


def solve_triangular(A: Any, B: Any, upper: bool, left: bool, unitriangular: bool) -> Any:
    """Solve ``A @ X = B``, or ``X @ A = B``, for X, reading one triangle of A, unchecked for 0."""
    _check_dtype(A.dtype)
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    shape, size = (*batch, *B.shape[-2:]), A.shape[-1]
    count = math.prod(batch)
    if not (size and count and B.size):
        return zeros(B, shape, B.dtype)
    here = is_numpys(A)
    trsm = routine_of("blas", "trsm", A.dtype) if here else None
    if count == 1 and trsm is not None:
        x = np.array(B.reshape(B.shape[-2:]), order="C")
        _trsm(trsm, A.reshape(size, size), x, upper, left, unitriangular)
        return x.reshape(shape)
    if trsm is not None and not batches.many(count, size):
        x = np.empty(shape, B.dtype)
        x[...] = B
        flat = x.reshape(count, *B.shape[-2:])
        matrices = np.broadcast_to(A, (*batch, size, size)).reshape(count, size, size)
        for a, b in zip(matrices, flat, strict=True):
            _trsm(trsm, a, b, upper, left, unitriangular)
        return x
    if not left:
        turned = solve_triangular(swapped(A), swapped(B), not upper, True, unitriangular)
        return swapped(turned)
    if not (here and batches.many(count, size)):
        triangle = (np.triu if upper else np.tril)(A)
        if unitriangular:
            triangle = np.where(beside(A, np.eye(size, dtype=bool)), A.dtype.type(1), triangle)
        try:
            return np.linalg.solve(triangle, B)
        except np.linalg.LinAlgError:
            pass  # divides by any 0 on the diagonal
    a, x = batches.last(A, (*batch, size, size)), batches.last(B, shape)
    batches.substitute(a, x, upper, unitriangular)
    return batches.first(x, shape)


def _trsm(trsm: Any, a: Any, x: Any, upper: bool, left: bool, unitriangular: bool) -> None:
    """Solve one system in place, in `x`, which is in C order."""
    # BLAS is column-major: transpose everything and swap the sides
    if a.flags.f_contiguous:
        trsm(1, a, x.T, int(left), int(not upper), 1, int(unitriangular), 1)
    else:
        trsm(1, a.T, x.T, int(left), int(upper), 0, int(unitriangular), 1)


# -- LU -------------------------------------------------------------------------------------------


def lu(self: Any) -> tuple[Any, Any, Any]:
    """Return (L below the diagonal and U, pivots from 1, the first 0 of U from 1, or 0 if none)."""
    _check_dtype(self.dtype)
    *batch, m, n = self.shape
    k, count = min(m, n), math.prod(batch)
    getrf = routine_of("lapack", "getrf", self.dtype)
    if getrf is None or not (k and count) or (batches.many(count, k) and k <= 4):
        return _eliminated(self)
    if not batch:
        factors, pivots, info = getrf(np.array(self, order="F"), 1)
        return factors, pivots.astype(np.int32, copy=False) + np.int32(1), np.array(info, np.int32)
    # factor matrices in column-major order in place
    columns = np.array(swapped(self).reshape(count, n, m), order="C")
    pivots, info = np.empty((count, k), np.int32), np.empty(count, np.int32)
    for i, matrix in enumerate(swapped(columns)):
        _, pivots[i], info[i] = getrf(matrix, 1)
    factors = np.ascontiguousarray(swapped(columns))
    pivots += 1
    return factors.reshape(self.shape), pivots.reshape(*batch, k), info.reshape(batch)


def _eliminated(self: Any) -> tuple[Any, Any, Any]:
    *batch, m, n = self.shape
    a = batches.last(self, self.shape)
    pivots, info = batches.eliminate(a)
    return (
        batches.first(a, self.shape),
        np.ascontiguousarray(pivots.T).reshape(*batch, min(m, n)),
        info.reshape(batch),
    )


def lu_factor_ex(self: Any) -> tuple[Any, Any, Any, Any]:
    """Return (packed, LU, pivots, info); packed has the pivots as numbers in a row below LU."""
    factors, pivots, info = lu(self)
    m, n = self.shape[-2:]
    packed = np.zeros((*self.shape[:-2], m + 1, n), self.dtype)
    packed[..., :m, :] = factors
    packed[..., m, : min(m, n)] = pivots
    return packed, factors, pivots, info


def permutation(pivots: Any, size: int) -> Any:
    """Return the original row of each row of ``L @ U``, undoing the exchanges of the pivots."""
    *batch, k = pivots.shape
    targets = pivots.real.astype(np.intp) - 1
    if not batch:
        order = list(range(size))
        for i, j in enumerate(targets.tolist()):
            order[i], order[j] = order[j], order[i]
        return np.array(order, np.intp)
    targets = targets.reshape(math.prod(batch), k)
    orders = np.tile(np.arange(size), (math.prod(batch), 1))
    every = np.arange(len(targets))
    for i in range(k):
        other = orders[every, targets[:, i]]
        orders[every, targets[:, i]] = orders[:, i]
        orders[:, i] = other
    return orders.reshape(*batch, size)


def lu_permutation(self: Any, pivots: Any) -> Any:
    """Return the permutation matrices of LU factors `self`."""
    size = self.shape[-2]
    rows = np.eye(size, dtype=self.dtype)[permutation(pivots, size)]
    return swapped(rows)


@lru_cache(maxsize=256)
def _lower_mask(rows: int, columns: int) -> tuple[Any, Any]:
    return np.tri(rows, columns, -1, dtype=bool), np.eye(rows, columns, dtype=np.int8)


def unit_lower(self: Any) -> Any:
    """Return the elements below the diagonal, and ones on it."""
    below, ones = _lower_mask(*self.shape[-2:])
    return np.where(beside(self, below), self, beside(self, ones))


def permute_rows(self: Any, pivots: Any, back: bool) -> Any:
    """Exchange the rows of matrices as the pivots say, or `back`."""
    order = permutation(pivots, self.shape[-2])
    if back:
        order = order.argsort(-1)
    if order.ndim == 1:
        return self[..., order, :]
    return np.take_along_axis(self, order[..., None], -2)


def lu_solve(LU: Any, B: Any, pivots: Any, adjoint: bool) -> Any:
    """Solve ``A @ X = B``, or with the adjoint of A, for X, given the LU factors of A."""
    size = LU.shape[-1]
    if batches.many(math.prod(B.shape[:-2]), size):
        return _lu_solve_many(LU, B, pivots, adjoint)
    if not adjoint:
        y = solve_triangular(LU, permute_rows(B, pivots, False), False, True, True)
        return solve_triangular(LU, y, True, True, False)
    turned = adjoint_of(LU)
    y = solve_triangular(turned, B, False, True, False)
    return permute_rows(solve_triangular(turned, y, True, True, True), pivots, True)


def _lu_solve_many(LU: Any, B: Any, pivots: Any, adjoint: bool) -> Any:
    _check_dtype(LU.dtype)
    a, x = batches.last(adjoint_of(LU) if adjoint else LU, LU.shape), batches.last(B, B.shape)
    targets = pivots.reshape(-1, pivots.shape[-1]).T - 1
    steps = list(enumerate(targets))
    if not adjoint:
        for j, at in steps:
            batches.exchange(x, j, at)
    batches.substitute(a, x, False, not adjoint)
    batches.substitute(a, x, True, adjoint)
    if adjoint:
        for j, at in reversed(steps):
            batches.exchange(x, j, at)
    return batches.first(x, B.shape)


# -- Cholesky -------------------------------------------------------------------------------------

_NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the "
    "leading minor of order {} is not positive-definite)."
)


def _one_triangle(self: Any, upper: bool | None) -> tuple[Any, bool]:
    """Return the matrix to read, or for None the mean of both triangles, and which triangle."""
    return ((self + adjoint_of(self)) / 2, False) if upper is None else (self, upper)


def cholesky(self: Any, upper: bool | None, what: str = "linalg.cholesky") -> Any:
    """Return the triangular factor of a Hermitian positive definite matrix, from one triangle."""
    matrix, upper = _one_triangle(self, upper)
    try:
        return _positive_factor(matrix, upper)
    except np.linalg.LinAlgError:
        raise first_failure(what, _cholesky_by_one(matrix, upper)[1], _NOT_POSITIVE) from None


def cholesky_ex(self: Any, upper: bool | None, check: bool) -> tuple[Any, Any]:
    """Return (factor, order of the first leading minor that is not positive, or 0).

    If a matrix is not positive definite, the factor is valid for the minors before that one, and
    NaN elsewhere.
    """
    matrix, upper = _one_triangle(self, upper)
    try:
        return _positive_factor(matrix, upper), zeros(self, self.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        factor, info = _cholesky_by_one(matrix, upper)
    if check:
        raise first_failure("linalg.cholesky_ex", info, _NOT_POSITIVE)
    return factor, info


def _positive_factor(self: Any, upper: bool) -> Any:
    if is_numpys(self):
        factor = np.linalg.cholesky(self, upper=upper)
    else:
        # of the lower triangle alone, as in other libraries
        factor = np.linalg.cholesky(np.conj(self.swapaxes(-1, -2)) if upper else self)
        factor = np.conj(factor.swapaxes(-1, -2)) if upper else factor
    # LAPACK implementations differ in whether NaN counts as positive
    if not np.isfinite(np.diagonal(factor, axis1=-2, axis2=-1)).all():
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return factor


def _cholesky_by_one(self: Any, upper: bool) -> tuple[Any, Any]:
    size = self.shape[-1]
    factors = (np.triu if upper else np.tril)(np.full(self.shape, np.nan, self.dtype))
    info = np.zeros(self.shape[:-2], np.int32)
    for at in np.ndindex(*self.shape[:-2]):
        done, failed = 0, size + 1
        # bisect: if a minor has no factor, neither has a larger one
        while failed - done > 1:
            middle = (done + failed) // 2 if failed <= size else size
            try:
                factor = _positive_factor(self[at][:middle, :middle], upper)
            except np.linalg.LinAlgError:
                failed = middle
            else:
                done = middle
                factors[at][:done, :done] = factor
                if done == size:
                    break
        info[at] = 0 if done == size else failed
    return factors, info


def cholesky_inverse(self: Any, upper: bool) -> Any:
    """Return the inverse of the matrix of which `self` is the Cholesky factor."""
    size = self.shape[-1]
    flat = np.diagonal(self, axis1=-2, axis2=-1) == 0
    if np.count_nonzero(flat):
        info = np.where(flat.any(-1), flat.argmax(-1) + 1, 0)
        raise first_failure(
            "cholesky_inverse",
            info,
            "The diagonal element {} is zero, the inversion could not be completed because the "
            "input matrix is singular.",
        )
    # for complex numbers it would read only the real part of the diagonal
    fits = self.dtype.kind == "f" and is_numpys(self)
    potri = routine_of("lapack", "potri", self.dtype) if fits else None
    if potri is not None and self.ndim == 2 and size:
        # in column-major order the factor is transposed, and so is the inverse of a Hermitian
        # matrix
        half = potri(self.T, int(upper))[0].T
        if upper:
            return np.triu(half) + adjoint_of(np.triu(half, 1))
        return np.tril(half) + adjoint_of(np.tril(half, -1))
    eye = np.broadcast_to(beside(self, np.eye(size, dtype=self.dtype)), self.shape)
    inverse = solve_triangular(self, eye, upper, True, False)
    if upper:
        return np.matmul(inverse, adjoint_of(inverse))
    return np.matmul(adjoint_of(inverse), inverse)
