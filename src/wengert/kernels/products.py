"""Layer 1 · kernels: products of vectors in space, and exponentials of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.kernels.protocols import beside, zeros

_NEXT, _BEFORE = np.array([1, 2, 0]), np.array([2, 0, 1])


def cross(self: Any, other: Any, dim: int) -> Any:
    """Compute the cross products of vectors of three elements, along `dim`."""
    if self.size + other.size < 2000:
        result = self.take(_NEXT, dim) * other.take(_BEFORE, dim)
        result -= self.take(_BEFORE, dim) * other.take(_NEXT, dim)
        return result
    a, b = np.moveaxis(self, dim, 0), np.moveaxis(other, dim, 0)
    result = np.empty(np.broadcast_shapes(self.shape, other.shape), self.dtype)
    r = np.moveaxis(result, dim, 0)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.multiply(a[j], b[k], out=r[i, ...])
        r[i] -= a[k] * b[j]
    return result


def addr(self: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    """Compute beta * self + alpha * outer(vec1, vec2), without reading self if beta is 0."""
    if alpha != 1:
        vec1 = vec1 * alpha
    result = np.multiply.outer(vec1, vec2)
    if beta == 1:
        result += self
    elif beta != 0:
        result += self * beta
    return result


# -- exponentials of matrices ---------------------------------------------------------------------

# Degrees m of the diagonal Padé approximants of exp, and the largest 1-norm for which each is exact
# to rounding: N. J. Higham, "The scaling and squaring method for the matrix exponential revisited",
# SIAM J. Matrix Anal. Appl. 26 (2005), table 2.3.
_DEGREES = (3, 5, 7, 9, 13)
_BOUNDS = np.array(
    [
        1.495585217958292e-2,
        2.539398330063230e-1,
        9.504178996162932e-1,
        2.097847961257068,
        5.371920351148152,
    ]
)


def _coefficients(m: int) -> list[float]:
    """Return the coefficients of the numerator, scaled to integers, which floats hold exactly."""
    f = math.factorial
    return [float(f(2 * m - j) // (f(j) * f(m - j))) for j in range(m + 1)]


_COEFFICIENTS = {m: _coefficients(m) for m in _DEGREES}


@errstate(over="ignore", under="ignore", invalid="ignore")
def matrix_exp(self: Any) -> Any:
    """Compute the exponentials of matrices in double precision, by scaling and squaring."""
    size = self.shape[-1]
    if size <= 1:
        return np.exp(self)
    if not self.size:
        return self.copy()
    wide = np.complex128 if self.dtype.kind == "c" else np.float64
    result = _exp(self.astype(wide, copy=False).reshape(-1, size, size)).reshape(self.shape)
    return result.astype(self.dtype, copy=False)


def _exp(a: Any) -> Any:
    """Return the exponentials of a batch of matrices, grouped by the degree that each needs."""
    norms = abs(a).sum(-2).max(-1)
    degrees = np.searchsorted(beside(norms, _BOUNDS[:-1]), norms)
    first = int(degrees[0])
    if np.isfinite(norms).all() and (degrees == first).all():
        return _of_degree(a, norms, _DEGREES[first])
    result = np.full_like(a, np.nan)
    for i, degree in enumerate(_DEGREES):
        at = np.flatnonzero((degrees == i) & np.isfinite(norms))
        if at.size:
            result[at] = _of_degree(a[at], norms[at], degree)
    return result


def _of_degree(a: Any, norms: Any, degree: int) -> Any:
    """Return the exponentials by the approximant of one degree, scaled for the highest one."""
    steps = zeros(a, len(a), int)
    if degree == _DEGREES[-1]:
        steps = np.ceil(np.log2(np.maximum(norms / _BOUNDS[-1], 1))).astype(int)
        # by powers of two, which are exact
        a = a * np.exp2(-steps)[:, None, None]
    odd, even = _pade(a, degree)
    result = np.linalg.solve(even - odd, even + odd)
    for step in range(int(steps.max())):
        again = steps > step
        if again.all():
            result = result @ result
        else:
            result[again] = result[again] @ result[again]
    return result


def _pade(a: Any, degree: int) -> tuple[Any, Any]:
    """Return the odd and the even part of the numerator; the denominator is even - odd."""
    c = _COEFFICIENTS[degree]
    diagonal = beside(a, np.eye(a.shape[-1], dtype=a.dtype))
    squares = [a @ a]
    if degree == 13:
        a2 = squares[0]
        a4 = a2 @ a2
        a6 = a4 @ a2
        odd = a6 @ (c[13] * a6 + c[11] * a4 + c[9] * a2) + c[7] * a6 + c[5] * a4 + c[3] * a2
        even = a6 @ (c[12] * a6 + c[10] * a4 + c[8] * a2) + c[6] * a6 + c[4] * a4 + c[2] * a2
    else:
        for _ in range(degree // 2 - 1):
            squares.append(squares[-1] @ squares[0])
        odd = sum(c[2 * i + 3] * power for i, power in enumerate(squares))
        even = sum(c[2 * i + 2] * power for i, power in enumerate(squares))
    return a @ (odd + c[1] * diagonal), even + c[0] * diagonal
