"""Layer 1 · kernels: element-wise functions that NumPy lacks or computes otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.special import erf, erfc

__all__ = [
    "erf",
    "erfc",
    "floor_divide",
    "fmod",
    "power",
    "power_scalar",
    "reciprocal",
    "relu",
    "remainder",
    "rpower_scalar",
    "rsqrt",
    "sgn",
    "sigmoid",
    "trunc_divide",
]


def reciprocal(self: Any) -> Any:
    return 1 / self


def rsqrt(self: Any) -> Any:
    return 1 / np.sqrt(self)


def relu(self: Any) -> Any:
    return np.maximum(self, self.dtype.type(0))


def sigmoid(self: Any) -> Any:
    if self.dtype.kind == "c":
        return 1 / (1 + np.exp(-self))
    # exp only of what is not positive: never overflows
    small = np.exp(-np.absolute(self))
    return np.where(self >= 0, 1, small)[()] / (1 + small)


def sgn(self: Any) -> Any:
    """The sign of a real, the unit direction of a complex number; 0 at 0."""
    return np.sign(self)


def _integer_power_check(base: Any, exponent: Any) -> None:
    if base.dtype.kind in "iu" and np.any(np.less(exponent, 0)):
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def power(self: Any, exponent: Any) -> Any:
    _integer_power_check(self, exponent)
    return np.power(self, exponent)


def power_scalar(self: Any, exponent: Any) -> Any:
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
    _integer_power_check(self, exponent)
    return self**exponent


def rpower_scalar(self: Any, base: Any) -> Any:
    _integer_power_check(self, self)
    return np.power(self.dtype.type(base), self)


def fmod(self: Any, other: Any) -> Any:
    _integer_division_check(self, other)
    return np.fmod(self, other)


def remainder(self: Any, other: Any) -> Any:
    _integer_division_check(self, other)
    return np.remainder(self, other)


def floor_divide(self: Any, other: Any) -> Any:
    _integer_division_check(self, other)
    return np.floor_divide(self, other)


def trunc_divide(self: Any, other: Any) -> Any:
    _integer_division_check(self, other)
    if self.dtype.kind in "iu":
        return np.trunc(np.true_divide(self, other)).astype(self.dtype)
    return np.trunc(np.true_divide(self, other))


def _integer_division_check(self: Any, other: Any) -> None:
    if self.dtype.kind in "iu" and np.any(np.equal(other, 0)):
        raise RuntimeError("ZeroDivisionError: integer division or modulo by zero")


def real(self: Any) -> Any:
    return self.real if self.dtype.kind == "c" else self


def imag(self: Any) -> Any:
    return self.imag
