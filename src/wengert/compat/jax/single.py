"""Layer 9 · compat: three functions of float32 as XLA computes them, to the last bit.

The samplers of `wengert.compat.jax.random` use these, so that equal seeds give equal numbers, to
the last printed digit. XLA fuses a product and a sum into one operation with a single rounding; so
does native code. For arrays we compute both in float64, in which products of float32 are exact, and
round once. Each function is written once, for a `Lane` or its counterpart for arrays.

References
----------
S. L. Moshier's Cephes library, for the coefficients of the logarithms; M. Giles, "Approximating the
erfinv function", GPU Computing Gems 2 (2011), 109-116, for those of the inverse error function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.kernels.normal import erfinv
from wengert.prims.families import constant
from wengert.prims.record import case
from wengert.prims.scalar import Scalar

_BLOCK = 16384
_LOG = (
    (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1),
    (-1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1),
    (2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
_ROOT_HALF = 0.707106781186547524
_LOG_2 = (0.693359375, -2.12194440e-4)
"""The logarithm of 2: a leading part with few bits, and the remainder."""
_SMALL = 0.41421356237309504880
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
_ABOVE, _BELOW = ([*map(float, text.split())] for text in _LOG1P)
_PAIRS = [[*map(float, text.split())] for text in _ERFINV]


def _fused(a, b, c) -> Any:
    product = np.multiply(a, b, dtype=np.float64)
    product += c
    return product.astype(np.float32)


_BY_NAME: dict[str, Callable[..., Any]] = {
    "and": np.bitwise_and,
    "fma": _fused,
    "lshr": np.right_shift,
    "lt": np.less,
    "or": np.bitwise_or,
    "shl": np.left_shift,
    "sqrt": np.sqrt,
    "xor": np.bitwise_xor,
}


class Arrays:
    """The methods of a `Lane` of 32 bits, for NumPy's arrays."""

    add, sub, mul, div, neg = np.add, np.subtract, np.multiply, np.divide, np.negative
    maximum, size, select = np.maximum, np.abs, staticmethod(np.where)
    number = staticmethod(functools.cache(np.float32))
    whole = staticmethod(functools.cache(np.uint32))
    to_bits = staticmethod(lambda a: a.view(np.uint32))
    from_bits = staticmethod(lambda a: a.view(np.float32))
    compare = intrinsic = on_bits = staticmethod(lambda name, *given: _BY_NAME[name](*given))


ARRAYS = Arrays()


def in_blocks(rule: Callable[..., Any], kind, *arrays) -> Any:
    """Apply a function to arrays in blocks, so that intermediates stay in the cache."""
    wide = np.broadcast_arrays(*arrays)
    result = np.empty(wide[0].shape, kind)
    flat, into = [array.reshape(-1) for array in wide], result.reshape(-1)
    for start in range(0, into.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        into[part] = rule(*[array[part] for array in flat])
    return result


def _polynomial(m, coefficients, x) -> Any:
    result = m.number(coefficients[0])
    for c in coefficients[1:]:
        result = m.intrinsic("fma", result, x, m.number(c))
    return result


def _log(m, x) -> Any:
    fma = functools.partial(m.intrinsic, "fma")
    one, bits = m.number(1.0), m.to_bits(x)
    # the exponent's bits below the leading one of 2 ** 23
    power = m.from_bits(m.on_bits("or", m.on_bits("lshr", bits, m.whole(23)), m.whole(0x4B000000)))
    power = m.sub(power, m.number(2.0**23 + 126))
    part = m.on_bits("and", bits, m.whole(0x007FFFFF))
    part = m.from_bits(m.on_bits("or", part, m.whole(0x3F000000)))
    low = m.compare("lt", part, m.number(_ROOT_HALF))
    power = m.select(low, m.sub(power, one), power)
    less = m.sub(part, one)
    part = m.select(low, m.add(part, less), less)
    square = m.mul(part, part)
    cube = m.mul(square, part)
    parts = [_polynomial(m, coefficients, part) for coefficients in _LOG]
    tail = fma(fma(parts[0], cube, parts[1]), cube, parts[2])
    tail = fma(tail, cube, m.mul(power, m.number(_LOG_2[1])))
    tail = m.add(fma(square, m.number(-0.5), part), tail)
    return fma(power, m.number(_LOG_2[0]), tail)


def _log1p(m, x) -> Any:
    square = m.mul(x, x)
    ratio = m.div(_polynomial(m, _ABOVE, x), _polynomial(m, _BELOW, x))
    tail = m.mul(m.mul(x, square), ratio)
    near = m.add(x, m.intrinsic("fma", m.number(-0.5), square, tail))
    least = m.number(float(np.finfo(np.float32).tiny))
    far = _log(m, m.maximum(m.add(x, m.number(1.0)), least))
    return m.select(m.compare("lt", m.size(x), m.number(_SMALL)), near, far)


def _erfinv(m, x) -> Any:
    w = m.neg(_log1p(m, m.mul(m.neg(x), x)))
    near = m.compare("lt", w, m.number(5.0))
    root = m.sub(m.intrinsic("sqrt", m.size(w)), m.number(3.0))
    w = m.select(near, m.sub(w, m.number(2.5)), root)
    first, *rest = [m.select(near, *map(m.number, pair)) for pair in zip(*_PAIRS, strict=True)]
    for c in rest:
        first = m.intrinsic("fma", first, w, c)
    return m.mul(first, x)


def _function(
    name: str, rule: Callable[..., Any], others: Callable[..., Any], cost: int, doc: str
) -> None:
    def kernel(self) -> Any:
        if self.dtype != np.float32:
            return others(self)
        return in_blocks(functools.partial(rule, ARRAYS), np.float32, self)

    def drawn(rng) -> Any:
        return rng.random(3, np.float32)

    constant(
        name,
        kernel,
        args=("self",),
        promote=None,
        batching="pointwise",
        cases=(case(drawn),),
        doc=f"{doc}, of float32 to the last bit",
        raises=False,
        fused="elements",
        elements=Scalar(rule, cost, bits=32),
        lacks="complex half",
    )


_function("xla_log", _log, np.log, 30, "the natural logarithm of positive, finite numbers")
_function("xla_log1p", _log1p, np.log1p, 60, "ln(1 + x) for x > -1")
_function("xla_erfinv", _erfinv, erfinv, 80, "the inverse error function between -1 and 1")
