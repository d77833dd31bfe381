"""Layer 8 · compiler: exponentials and logarithms as vector instructions.

NOTE [formulas]
Each formula is branch-free and serves vectors of any length;
`wengert.compiler.codegen.vectors` compiles functions from them.

Exponentials reduce x to k ln 2 + r with an integer k (W. J. Cody and W. Waite, "Software manual for
the elementary functions", 1980, chapter 6). ln 2 is split in two, and the first part is short
enough that k times it is exact. expm1(r) is r + r ** 2 q(r). 2 ** k is k in the exponent bits; the
sum ``x / ln 2 + 1.5 * 2 ** 52`` has k in its low bits.

Logarithms reduce x to 2 ** k m with m between the square roots of 1/2 and 2. With f = m - 1 and
s = f / (2 + f) they are k ln 2 + 2 artanh(s) (ibid., chapter 5), where
2 artanh(s) = f - s (f - s ** 2 p(s ** 2)) keeps the digits of f, which is exact.

The polynomials q and p interpolate at Chebyshev points, for |r| <= ln(2) / 2 and 0 <= s <= 0.1716.
Errors are below 2 units in the last place, and below 3 for expm1 and tanh.

A loop whose iterations wait for each other, such as a recurrent network's, takes as long as one
element does. So the tanh of one float, `ALONE`, is a quotient of polynomials in double precision,
x p(x ** 2) / q(x ** 2), with an error below 4e-9, small enough to round to 1 from 9.05 on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.codegen.scalars.lane import Lane, cast
from wengert.kernels.protocols import floats

Rule = Callable[[Lane, str], str]


class Formula(NamedTuple):
    """A function of the C library as vector instructions.

    Attributes
    ----------
    rule: ``rule(lane, x)``, which emits them and returns the result.
    own: The element types for which it replaces a vector library's function.
    """

    rule: Rule
    own: tuple[str, ...] = ()


FORMULAS: dict[str, Formula] = {}


def _formula(name: str, **how: Any) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        FORMULAS[name] = Formula(rule, **how)
        return rule

    return register


class _Format(NamedTuple):
    """Constants that depend on the precision."""

    mantissa: int
    bias: int
    shifter: float
    ln2: tuple[float, float]
    least: float
    most: float
    normal: float
    flat: float
    q: tuple[float, ...]
    p: tuple[float, ...]


_DOUBLE = _Format(
    mantissa=52,
    bias=1023,
    shifter=1.5 * 2.0**52,
    ln2=(0.6931471803691238, 1.9082149292705877e-10),
    least=-746.0,
    most=710.0,
    normal=-708.0,
    flat=20.0,
    q=floats(
        "2.510038549551032e-08 2.7620088445409746e-07 2.7557268459997064e-06 "
        "2.4801521295954376e-05 0.00019841269863053618 0.0013888888917213717 0.008333333333330062 "
        "0.04166666666662413 0.16666666666666669 0.5000000000000001"
    ),
    p=floats(
        "0.14616585424888623 0.15331710618210773 0.18182889455674947 0.22222211130259878 "
        "0.2857142862600327 0.39999999999899444 0.666666666666667"
    ),
)
_FLOAT = _Format(
    mantissa=23,
    bias=127,
    shifter=1.5 * 2.0**23,
    ln2=(0.693359375, -2.12194440e-4),
    least=-104.0,
    most=89.0,
    normal=-87.0,
    flat=9.5,
    q=floats(
        "0.0013926183587713494 0.008363179052722578 0.041666554617204574 0.16666576989698775 0.5"
    ),
    p=floats("0.23330581938241893 0.2855081659971155 0.40000121876972 0.6666666655445165"),
)


def _format(m: Lane) -> _Format:
    return _DOUBLE if m.bits == 64 else _FLOAT


# -- exponentials ---------------------------------------------------------------------------------


def _reduce(m: Lane, x: str) -> tuple[str, str]:
    """Return an integer with k in its low bits, and expm1(r) (see NOTE [formulas])."""
    fmt = _format(m)
    shifted = m.fma(x, m.number(1.0 / math.log(2.0)), m.number(fmt.shifter))
    k = m.sub(shifted, m.number(fmt.shifter))
    r = m.fma(k, m.number(-fmt.ln2[0]), x)
    r = m.fma(k, m.number(-fmt.ln2[1]), r)
    expm1_r = m.fma(m.mul(r, r), m.polynomial(r, fmt.q), r)
    return m.to_bits(shifted), expm1_r


def _power_of_two(m: Lane, bits: str, biased: str) -> str:
    """Return 2 ** (k + n), with n plus the exponent's bias as `more`."""
    fmt = _format(m)
    raised = m.on_bits("add", bits, biased)
    return m.from_bits(m.on_bits("shl", raised, m.whole(fmt.mantissa)))


@_formula("exp", own=("double", "float"))
def _exp(m: Lane, x: str) -> str:
    fmt = _format(m)
    x = m.at_most(m.at_least(x, m.number(fmt.least)), m.number(fmt.most))
    bits, expm1_r = _reduce(m, x)
    # results that may be subnormal are scaled at the end
    tiny = m.compare("lt", x, m.number(fmt.normal))
    more, usual = (f"{m.integer} {m.whole(fmt.bias + by)}" for by in (63, -1))
    more = m.code.let(f"select {m.flag} {tiny}, {more}, {usual}")
    scale = _power_of_two(m, bits, more)
    final = m.select(tiny, m.number(2.0**-63), m.number(2))
    return m.mul(m.fma(scale, expm1_r, scale), final)


@_formula("expm1", own=("double", "float"))
def _expm1(m: Lane, x: str) -> str:
    fmt = _format(m)
    bounded = m.at_most(m.at_least(x, m.number(-2.5 * fmt.flat)), m.number(fmt.most))
    bits, expm1_r = _reduce(m, bounded)
    # half the result, since 2 ** k may overflow
    half = _power_of_two(m, bits, m.whole(fmt.bias - 1))
    result = m.mul(m.fma(half, expm1_r, m.sub(half, m.number(0.5))), m.number(2))
    # tiny x is its own result; half of a subnormal would round to 0
    return m.select(m.compare("lt", m.size(x), m.number(2.0**-60)), x, result)


@_formula("tanh", own=("double", "float"))
def _tanh(m: Lane, x: str) -> str:
    fmt = _format(m)
    size = m.at_most(m.size(x), m.number(fmt.flat))
    bits, expm1_r = _reduce(m, m.add(size, size))
    scale = _power_of_two(m, bits, m.whole(fmt.bias))
    numerator = m.fma(scale, expm1_r, m.sub(scale, m.number(1)))
    return m.intrinsic("copysign", m.div(numerator, m.add(numerator, m.number(2))), x)


_UP = floats(
    "0.9999999986965944 0.13679926320252456 0.003868341781522549 2.800773765607636e-05 "
    "3.0585669621916455e-08 -1.2203918250489732e-11"
)
_DOWN = floats(
    "1.0 0.47013258382865375 0.027245890335367867 0.00039386557152332733 1.2873857920257302e-06"
)


def _in_pairs(m: Lane, x: str, square: str, coefficients: Sequence[float]) -> str:
    """Emit a polynomial, its coefficients with the lowest power first, in half as many steps."""
    pairs = [m.polynomial(x, coefficients[i : i + 2][::-1]) for i in range(0, len(coefficients), 2)]
    total = pairs.pop()
    while pairs:
        total = m.fma(total, square, pairs.pop())
    return total


def _tanh_of_float(m: Lane, x: str) -> str:
    """Return the tanh of one float (see NOTE [formulas])."""
    wide = Lane(m.code, np.dtype(np.float64), exact=True)
    long = cast(m.code, x, m.dtype, wide.dtype)
    long = wide.at_most(wide.at_least(long, wide.number(-9.1)), wide.number(9.1))
    square = wide.mul(long, long)
    fourth = wide.mul(square, square)
    up, down = (_in_pairs(wide, square, fourth, part) for part in (_UP, _DOWN))
    return cast(m.code, wide.div(wide.mul(long, up), down), wide.dtype, m.dtype)


ALONE: dict[tuple[str, str], Rule] = {("tanh", "float"): _tanh_of_float}
"""Formulas for one element, by the function and the element type."""


# -- logarithms -----------------------------------------------------------------------------------


def _frexp(m: Lane, x: str) -> tuple[str, str]:
    """Return k and f of a normal number."""
    fmt = _format(m)
    bits = m.to_bits(x)
    above = m.on_bits("sub", bits, m.whole(m.bits_of(math.sqrt(0.5))))
    k = m.on_bits("ashr", above, m.whole(fmt.mantissa))
    exponent = m.on_bits("shl", k, m.whole(fmt.mantissa))
    f = m.sub(m.from_bits(m.on_bits("sub", bits, exponent)), m.number(1))
    # k in the low bits of the shifter, since vectors lack a conversion of 64-bit integers
    moved = m.on_bits("add", k, m.whole(m.bits_of(fmt.shifter)))
    return m.sub(m.from_bits(moved), m.number(fmt.shifter)), f


def _logarithm(m: Lane, x: str, added: str | None) -> str:
    """Return the logarithm of a positive number, plus `added`, which is far smaller."""
    fmt = _format(m)
    k, f = _frexp(m, x)
    s = m.div(f, m.add(f, m.number(2)))
    square = m.mul(s, s)
    inner = m.sub(f, m.mul(square, m.polynomial(square, fmt.p)))
    low = m.mul(k, m.number(fmt.ln2[1]))
    low = m.add(low, added) if added else low
    low = m.sub(low, m.mul(s, inner))
    return m.add(m.mul(k, m.number(fmt.ln2[0])), m.add(f, low))


def _special_cases(m: Lane, x: str, result: str, zero: float) -> str:
    """Return the result for finite x above `zero`, minus infinity at `zero`, NaN below."""
    result = m.select(m.compare("lt", x, m.number(math.inf)), result, x)
    result = m.select(m.compare("lt", x, m.number(zero)), m.number(math.nan), result)
    return m.select(m.compare("eq", x, m.number(zero)), m.number(-math.inf), result)


@_formula("log", own=("float",))
def _log(m: Lane, x: str) -> str:
    fmt = _format(m)
    tiny = m.compare("lt", x, m.number(2.0 ** (1 - fmt.bias)))
    shift = fmt.mantissa + 2
    normal = m.select(tiny, m.mul(x, m.number(2.0**shift)), x)
    k = m.select(tiny, m.number(-shift * math.log(2.0)), m.number(0))
    return _special_cases(m, x, m.add(_logarithm(m, normal, None), k), 0.0)


@_formula("log1p")
def _log1p(m: Lane, x: str) -> str:
    one = m.number(1)
    rounded = m.add(x, one)
    # the sum's rounding error, exactly (D. E. Knuth, "The art of computer programming", 4.2.2)
    whole = m.sub(rounded, x)
    lost = m.add(m.sub(one, whole), m.sub(x, m.sub(rounded, whole)))
    result = _logarithm(m, rounded, m.div(lost, rounded))
    # for tiny x the result is x, with the sign of 0
    result = m.select(m.compare("eq", rounded, one), x, result)
    return _special_cases(m, x, result, -1.0)
