"""Layer 1 · kernels: special functions of arrays, without SciPy.

NOTE [error function]
`erf` and `erfc` are the rational Chebyshev approximations of W. J. Cody, "Rational Chebyshev
approximations for the error function", Mathematics of Computation 23 (1969), 631-637, with the
coefficients of his Fortran program CALERF (SPECFUN, netlib). They are accurate to a few units in
the last place of float64. One rational function serves |x| <= 0.46875, one goes on up to 4, one
from there; the tails carry the factor exp(-x * x), split so that no digits of x * x are lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.extras import scipy_module
from wengert.kernels import single
from wengert.kernels.protocols import floats, is_numpys

_SMALL = 0.46875
_LARGE = 4.0
# erfc is 0 in float64 from here on
_ZERO = 28.0
_ONE_OVER_SQRT_PI = 1.0 / math.sqrt(math.pi)
# up to this many elements, Python's function of one number is faster
FEW = 128
# up to here SciPy's erfc is accurate
_ACCURATE = 2.0
# from this many elements on, importing SciPy pays
_MANY = 4096
# the number of elements per block: what its passes touch stays in the cache
_BLOCK = 16384

# numerator and denominator of each rational function, highest power first
_CENTRE = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e0,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (
        1.0,
        2.36012909523441209e1,
        2.44024637934444173e2,
        1.28261652607737228e3,
        2.84423683343917062e3,
    ),
)
_SHOULDER = (
    floats(
        "2.15311535474403846e-8 5.64188496988670089e-1 8.88314979438837594e0 "
        "6.61191906371416295e1 2.98635138197400131e2 8.81952221241769090e2 1.71204761263407058e3 "
        "2.05107837782607147e3 1.23033935479799725e3"
    ),
    floats(
        "1.0 1.57449261107098347e1 1.17693950891312499e2 5.37181101862009858e2 "
        "1.62138957456669019e3 3.29079923573345963e3 4.36261909014324716e3 3.43936767414372164e3 "
        "1.23033935480374942e3"
    ),
)
_TAIL = (
    floats(
        "1.63153871373020978e-2 3.05326634961232344e-1 3.60344899949804439e-1 "
        "1.25781726111229246e-1 1.60837851487422766e-2 6.58749161529837803e-4"
    ),
    floats(
        "1.0 2.56852019228982242e0 1.87295284992346725e0 5.27905102951428412e-1 "
        "6.05183413124413191e-2 2.33520497626869185e-3"
    ),
)

Coefficients = tuple[float, ...]


def ratio(x: Any, coefficients: tuple[Coefficients, Coefficients]) -> Any:
    """Evaluate a rational function of x; coefficients have the highest power first."""
    above, below = coefficients
    numerator = single.horner(x, above[::-1])
    numerator /= single.horner(x, below[::-1])
    return numerator


def _gaussian(y: Any) -> Any:
    """Compute exp(-y * y), with the square split into an exact part and a small rest."""
    exact = np.floor(y * 16.0)
    exact *= 0.0625
    rest = y - exact
    rest *= y + exact
    return np.exp(-(exact * exact)) * np.exp(-rest)


def _outer(y: Any) -> Any:
    """Compute erfc above _SMALL."""
    y = np.minimum(y, _ZERO)
    far = y > _LARGE
    if not np.count_nonzero(far):
        return ratio(y, _SHOULDER) * _gaussian(y)
    result = np.empty_like(y)
    near = ~far
    result[near] = ratio(y[near], _SHOULDER)
    z = y[far]
    square = 1.0 / (z * z)
    result[far] = (_ONE_OVER_SQRT_PI - square * ratio(square, _TAIL)) / z
    result *= _gaussian(y)
    return result


def _erf_block(x: Any, out: Any) -> None:
    size = np.absolute(x)
    small = size <= _SMALL
    centre = x[small]
    out[small] = centre * ratio(centre * centre, _CENTRE)
    rest = ~small
    out[rest] = np.copysign(1.0 - _outer(size[rest]), x[rest])


def _erfc_block(x: Any, out: Any) -> None:
    size = np.absolute(x)
    small = size <= _SMALL
    centre = x[small]
    out[small] = 1.0 - centre * ratio(centre * centre, _CENTRE)
    rest = ~small
    tail = _outer(size[rest])
    out[rest] = np.where(x[rest] < 0, 2.0 - tail, tail)


def _apply(
    self: Any, name: str, one: Callable[[float], float], block: Callable[[Any, Any], None]
) -> Any:
    if not is_numpys(self):
        return getattr(scipy_module("special", name), name)(self)
    if self.size <= FEW:
        flat = np.fromiter(map(one, self.ravel().tolist()), self.dtype, self.size)
        return flat.reshape(self.shape)[()]
    if self.size >= _MANY and self.dtype.kind == "f":
        # SciPy's function does not make dozens of passes over an array
        try:
            result = getattr(scipy_module("special", name), name)(self)
        except ImportError:
            pass
        else:
            # SciPy's loses digits where erfc vanishes
            far = self > _ACCURATE
            if name == "erfc" and np.count_nonzero(far):
                result[far] = _outer(np.asarray(self[far], np.float64))
            return result
    x = np.ascontiguousarray(self, dtype=np.float64).ravel()
    result = np.empty_like(x)
    for start in range(0, x.size, _BLOCK):
        block(x[start : start + _BLOCK], result[start : start + _BLOCK])
    return result.reshape(self.shape).astype(self.dtype, copy=False)


def _erf(self: Any) -> Any:
    """Compute the error function (see NOTE [error function])."""
    return _apply(self, "erf", math.erf, _erf_block)


def _erfc(self: Any) -> Any:
    """Compute 1 - erf(self), without cancellation where erf is near 1."""
    return _apply(self, "erfc", math.erfc, _erfc_block)


erf = single.large(_erf, single.erf_of_block, FEW + 1)
erfc = single.large(_erfc, single.erfc_of_block, FEW + 1)
