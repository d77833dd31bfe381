"""Layer 1 · kernels: element-wise functions that NumPy lacks or computes otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.kernels import single
from wengert.kernels.select import clamp
from wengert.kernels.special import erf as erf
from wengert.kernels.special import erfc as erfc


def reciprocal(self: Any) -> Any:
    """Compute 1 / self."""
    return 1 / self


def rsqrt(self: Any) -> Any:
    """Compute 1 / sqrt(self)."""
    return 1 / np.sqrt(self)


def relu(self: Any, out: Any = None) -> Any:
    """Return the larger of self and 0; NaN stays."""
    return clamp(self, 0 if self.dtype.kind == "f" else self.dtype.type(0), None, out)


def sigmoid(self: Any) -> Any:
    """Compute 1 / (1 + exp(-self))."""
    if self.dtype.kind == "c":
        return 1 / (1 + np.exp(-self))
    return np.reciprocal(exp_of_minus_plus_one(self))


# over: the infinity is intended
@errstate(over="ignore")
def exp_of_minus_plus_one(self: Any) -> Any:
    """Compute 1 + exp(-self)."""
    grown = np.exp(-self)
    grown += 1
    return grown


def sgn(self: Any) -> Any:
    """Return the sign of a real number, the direction of a complex one; 0 at 0."""
    return np.sign(self) if self.dtype.kind != "b" else np.array(self)[()]


def power(self: Any, exponent: Any) -> Any:
    """Compute self ** exponent; for integers, truncate results between -1 and 1 to 0."""
    if self.dtype.kind == "i":
        negative = np.less(exponent, 0)
        if np.count_nonzero(negative):
            turned = np.where(exponent & 1, self, 1)  # 1 and -1 are their own inverses
            inverse = np.where(np.abs(self) == 1, turned, 0)
            whole = np.power(self, np.maximum(exponent, 0))
            return np.where(negative, inverse, whole)[()]
    if self.dtype.kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    result = np.power(self, exponent)
    if self.dtype.kind == "f" and (exponent.size == 1 or exponent.shape != self.shape):
        # NumPy takes the square root where it reads one exponent of 0.5 for several elements
        roots = np.equal(exponent, 0.5)
        if np.count_nonzero(roots):
            powers = np.where(np.equal(self, -np.inf), np.inf, result + 0.0)
            result = np.where(roots, powers, result)[()]
    return result


def power_scalar(self: Any, exponent: Any) -> Any:
    """Compute self to the power of a number; by products for the common ones."""
    if exponent == 2:
        return self * self
    if exponent == 3:
        return self * self * self
    if exponent == 1:
        return self.copy()
    if self.dtype.kind in "fc":
        if exponent == 0.5:
            return np.sqrt(self)
        if exponent == -1:
            return 1 / self
        if exponent == -0.5:
            return 1 / np.sqrt(self)
        if exponent == -2:
            return 1 / (self * self)
    if self.dtype.kind in "iu" and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return self**exponent


def rpower_scalar(self: Any, base: Any) -> Any:
    """Compute a number to the power self."""
    return power(self.dtype.type(base), self)


def sign(self: Any) -> Any:
    """Return -1, 0 or 1; booleans are returned unchanged."""
    return self.copy() if self.dtype.kind == "b" else np.sign(self)


def _rounding(function: Any) -> Any:
    """Make a rounding function that leaves integers unchanged, as NumPy's do not always."""

    def kernel(self: Any) -> Any:
        return self.copy() if self.dtype.kind in "iu" else function(self)

    return kernel


floor, ceil, trunc, rint = map(_rounding, (np.floor, np.ceil, np.trunc, np.rint))


def fmod(self: Any, other: Any) -> Any:
    """Return the remainder with the sign of self."""
    _integer_division_check(self, other)
    return single.fmod(self, other)


def remainder(self: Any, other: Any) -> Any:
    """Return the remainder with the sign of other."""
    _integer_division_check(self, other)
    return single.remainder(self, other)


def floor_divide(self: Any, other: Any) -> Any:
    """Return the quotient rounded down."""
    _integer_division_check(self, other)
    return np.floor_divide(self, other)


def trunc_divide(self: Any, other: Any) -> Any:
    """Return the quotient rounded towards zero."""
    _integer_division_check(self, other)
    if self.dtype.kind in "iu":
        # not via floats, which do not hold every integer
        quotient = np.floor_divide(self, other)
        away = (np.less(self, 0) != np.less(other, 0)) & (quotient * other != self)
        return quotient + away.astype(self.dtype)
    return np.trunc(np.true_divide(self, other))


def _integer_division_check(self: Any, other: Any) -> None:
    if self.dtype.kind in "iu" and self.size and np.count_nonzero(other) != np.size(other):
        raise RuntimeError("ZeroDivisionError\n  an integer was divided by zero")


def real(self: Any) -> Any:
    """Return the real part; a real array itself."""
    return self.real if self.dtype.kind == "c" else self


def imag(self: Any) -> Any:
    """Return the imaginary part."""
    return self.imag
