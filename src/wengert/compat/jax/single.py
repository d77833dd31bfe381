"""Layer 9 · compat: three functions of float32 as XLA computes them, to the last bit.

The samplers of `wengert.compat.jax.random` use these, so that equal seeds give equal numbers, to
the last printed digit. XLA fuses a product and a sum into one operation with a single rounding. We
compute both in float64, in which products of float32 are exact, and round once.

References
----------
S. L. Moshier's Cephes library, for the coefficients of the logarithms; M. Giles, "Approximating the
erfinv function", GPU Computing Gems 2 (2011), 109-116, for those of the inverse error function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_BLOCK = 16384
_LOG = (
    (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1),
    (-1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1),
    (2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
_ROOT_HALF = np.float32(0.707106781186547524)
_LOG_2 = (np.float32(0.693359375), np.float32(-2.12194440e-4))
"""The logarithm of 2: a leading part with few bits, and the remainder."""
_SMALL = np.float32(0.41421356237309504880)
_LOG1P = (
    """
4.5270000862445199635215e-5 4.9854102823193375972212e-1 6.5787325942061044846969
2.9911919328553073277375e1 6.0949667980987787057556e1 5.7112963590585538103336e1
2.0039553499201281259648e1
""",
    """
1 1.5062909083469192043167e1 8.3047565967967209469434e1 2.2176239823732856465394e2
3.0909872225312059774938e2 2.1642788614495947685003e2 6.0118660497603843919306e1
""",
)
_ERFINV = (
    """
2.81022636e-08 3.43273939e-07 -3.5233877e-06 -4.39150654e-06 0.00021858087
-0.00125372503 -0.00417768164 0.246640727 1.50140941
""",
    """
-0.000200214257 0.000100950558 0.00134934322 -0.00367342844 0.00573950773
-0.0076224613 0.00943887047 1.00167406 2.83297682
""",
)
"""Polynomials of w = -ln(1 - x²), for w < 5 and above, highest power first."""
_ABOVE, _BELOW = (np.array(text.split(), np.float32) for text in _LOG1P)
_PAIRS = [np.array(text.split(), np.float32) for text in _ERFINV]


def _fused(a, b, c) -> Any:
    """Return ``a * b + c``, rounded once."""
    product = np.multiply(a, b, dtype=np.float64)
    product += c
    return product.astype(np.float32)


def _polynomial(coefficients, x) -> Any:
    result = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        result = _fused(result, x, np.float32(c))
    return result


def _log(x) -> Any:
    bits = x.view(np.uint32)
    power = (bits >> np.uint32(23)).astype(np.float32) - np.float32(126)
    m = ((bits & np.uint32(0x807FFFFF)) | np.uint32(0x3F000000)).view(np.float32)
    low = m < _ROOT_HALF
    power -= low
    m = np.where(low, m + (m - np.float32(1)), m - np.float32(1))
    square = m * m
    cube = square * m
    parts = [_polynomial(part, m) for part in _LOG]
    tail = _fused(_fused(parts[0], cube, parts[1]), cube, parts[2])
    tail = _fused(tail, cube, power * _LOG_2[1])
    return _fused(power, _LOG_2[0], _fused(square, np.float32(-0.5), m) + tail)


def _log1p(x) -> Any:
    square = x * x
    ratio = _polynomial(_ABOVE, x) / _polynomial(_BELOW, x)
    near = x + _fused(np.float32(-0.5), square, x * square * ratio)
    far = _log(np.maximum(x + np.float32(1), np.finfo(np.float32).tiny))
    return np.where(np.abs(x) < _SMALL, near, far)


def _erfinv(x) -> Any:
    w = -_log1p(-x * x)
    near = w < 5
    w = np.where(near, w - np.float32(2.5), np.sqrt(np.abs(w)) - np.float32(3))
    pairs = zip(*_PAIRS, strict=True)
    result = np.where(near, *next(pairs))
    for a, b in pairs:
        result = _fused(result, w, np.where(near, a, b))
    return result * x


def _in_blocks(function, x) -> Any:
    """Apply `function` to an array in blocks, so that intermediates stay in the cache."""
    if x.size <= _BLOCK:
        return function(x)
    result = np.empty(x.shape, np.float32)
    flat, into = np.ravel(x), result.reshape(-1)
    for start in range(0, x.size, _BLOCK):
        into[start : start + _BLOCK] = function(flat[start : start + _BLOCK])
    return result


def log(x) -> Any:
    """Return the natural logarithm of positive, finite numbers."""
    return _in_blocks(_log, x)


def log1p(x) -> Any:
    """Return ln(1 + x) for x > -1."""
    return _in_blocks(_log1p, x)


def erfinv(x) -> Any:
    """Return the inverse error function between -1 and 1."""
    return _in_blocks(_erfinv, x)
