"""Layer 1 · kernels: parts and neighbours of floating-point numbers, and rounding to digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels.create import dense_order

_BITS: dict[Any, Any] = {
    np.dtype(np.float32): np.dtype(np.int32),
    np.dtype(np.float64): np.dtype(np.int64),
}
_BRAIN = (2.0 - 2.0**-7) * 2.0**127
"""The greatest number of bfloat16."""
# the number of elements up to which NumPy's own function is faster
_FEW = 1024


def frac(self: Any) -> Any:
    """Return the fractional part, with the sign of self."""
    return self - np.trunc(self)


def frexp(self: Any) -> tuple[Any, Any]:
    """Return mantissas in [1/2, 1) with the sign of self, and the exponents of 2."""
    mantissa, exponent = np.frexp(self)
    return mantissa, exponent.astype(np.int32, copy=False)


def frexp_scale(self: Any) -> Any:
    """Return the power of 2 that scales self to its mantissa; 1 at 0, infinity and NaN."""
    if self.dtype.kind == "c":
        raise TypeError(f"not defined for {self.dtype}")
    return np.ldexp(self.dtype.type(1), -np.frexp(self)[1])


def ldexp(self: Any, other: Any) -> Any:
    """Compute self * 2 ** other."""
    if other.dtype.kind == "c":
        return self * np.exp(other * math.log(2.0))
    return self * np.exp2(other)


def heaviside(self: Any, values: Any) -> Any:
    """Return 0 below 0, 1 above, `values` at 0."""
    if self.dtype.kind == "f":
        # NumPy's own function gives NaN for NaN
        return np.where(self == 0, values, (self > 0).astype(self.dtype))[()]
    return np.where(self == 0, values, self > 0).astype(self.dtype)[()]


def nan_to_num(self: Any, nan: float, posinf: float | None, neginf: float | None) -> Any:
    """Replace NaN and the infinities by numbers."""
    if self.dtype.kind == "c":
        result = np.empty_like(self)
        result.real = nan_to_num(self.real, nan, posinf, neginf)
        result.imag = nan_to_num(self.imag, nan, posinf, neginf)
        return result[()]
    if self.dtype.kind == "V":
        bounds = (-_BRAIN if neginf is None else neginf), (_BRAIN if posinf is None else posinf)
        return nan_to_num(self.astype(np.float32), nan, bounds[1], bounds[0]).astype(self.dtype)
    result = np.array(self, order=dense_order(self))
    if self.dtype.kind != "f":
        return result[()]
    finite = np.isfinite(result)
    if np.count_nonzero(finite) != result.size:
        limits = np.finfo(result.dtype)
        for where, value in (
            (np.isnan(self), nan),
            (self == math.inf, limits.max if posinf is None else posinf),
            (self == -math.inf, limits.min if neginf is None else neginf),
        ):
            with np.errstate(over="ignore"):
                np.copyto(result, result.dtype.type(value), where=where)
    return result[()]


def nextafter(self: Any, other: Any) -> Any:
    """Return the number next to self in the direction of other."""
    bits = _BITS.get(self.dtype)
    if bits is None or max(self.size, other.size) <= _FEW:
        return np.nextafter(self, other)
    self, other = np.broadcast_arrays(self, other)
    # floating-point numbers of one sign are ordered as their bits
    step = ((other > self) == (self > 0)).astype(bits)
    step *= 2
    step -= 1
    step += np.ascontiguousarray(self).view(bits)
    result = step.view(self.dtype)
    if np.count_nonzero(self) != self.size:
        least = self.dtype.type(np.finfo(self.dtype).smallest_subnormal)
        np.copyto(result, np.copysign(least, other), where=self == 0)
    apart = self != other
    if np.count_nonzero(apart) != apart.size:
        np.copyto(result, other, where=~apart)
    missing = np.isnan(self) | np.isnan(other)
    if np.count_nonzero(missing):
        result[missing] = math.nan
    return result


def round_decimals(self: Any, decimals: int) -> Any:
    """Round self to a number of decimal places, halves to even."""
    power = 10.0 ** abs(decimals)
    if decimals < 0:
        return np.rint(self / power) * power
    return np.rint(self * power) / power
