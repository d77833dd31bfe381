"""Layer 8 · compiler: scalar forms of arithmetic, comparison, selection, rounding and bits.

Each rule emits the instructions that compute what the primitive's kernel does from one element of
each argument. Primitives that `wengert.compiler.decompose` decomposes have no rule here. Results
equal the kernels' bit for bit, signs of zeros, infinities and NaN included. Exceptions are sums of
products, which LLVM may fuse, and functions of the C library (see NOTE [vector functions] in
`wengert.compiler.codegen.vectors`), which agree to a few units in the last place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.compiler.codegen.code import llvm_type
from wengert.compiler.codegen.library import call_function, setup
from wengert.compiler.codegen.scalars.forms import native
from wengert.compiler.codegen.scalars.lane import Lane
from wengert.compiler.ir.facets import CYCLES, having
from wengert.prims import records

_ALL = "fiub"


# -- arithmetic -----------------------------------------------------------------------------------


@native(records.sign, records.sgn, kinds=_ALL)
def _sign(m: Lane, a: str) -> str:
    if m.kind == "b":
        return a
    if m.kind == "u":
        return m.select(m.compare("ne", a, "0"), "1", "0")
    zero, one = m.number(0), m.number(1)
    # neither above nor below 0: 0, or NaN itself
    otherwise = m.select(m.is_nan(a), a, zero) if m.kind == "f" else zero
    below = m.select(m.compare("lt", a, zero), m.number(-1), otherwise)
    return m.select(m.compare("gt", a, zero), one, below)


def _takes_exponent(params: Any, kind: str) -> bool:
    """Return whether a power with this exponent has a native form in a kind of dtype."""
    exponent = params["exponent"]
    if kind == "f":
        return not isinstance(exponent, int | float) or math.isfinite(exponent)
    return isinstance(exponent, int) and 0 <= exponent <= 64


@native(records.pow_scalar, kinds="fiu", params=_takes_exponent)
def _power_scalar(m: Lane, a: str, exponent: Any) -> str:
    if m.kind != "f":
        return _integer_power(m, a, exponent)
    operand = m.value(exponent)
    power = _call_libm(m, "pow", a, operand)
    if not isinstance(exponent, int | float):
        # an exponent known only at run time: the kernel uses sqrt
        root = m.intrinsic("sqrt", a)
        for known, result in ((0.5, root), (-0.5, m.div(m.number(1), root))):
            power = m.select(m.compare("eq", operand, m.number(known)), result, power)
    return power


def _integer_power(m: Lane, a: str, exponent: int) -> str:
    if exponent == 0:
        return m.number(1)
    power, square = "", a
    while True:
        if exponent & 1:
            power = m.mul(power, square) if power else square
        exponent >>= 1
        if not exponent:
            return power
        square = m.mul(square, square)


def _with_number(name: str, swapped: bool = False) -> Any:
    """Return the rule of a binary operation with a number as second operand, or as first."""

    def rule(m: Lane, a: str, other: Any) -> str:
        b = m.value(other)
        operands = (b, a) if swapped else (a, b)
        return str(getattr(m, name)(*operands))

    return rule


native(records.add, kinds=_ALL, vectors=_ALL)(Lane.add)
native(records.sub, kinds="fiu", vectors=_ALL)(Lane.sub)
native(records.mul, kinds=_ALL, vectors=_ALL)(Lane.mul)
native(records.div, cost=4)(Lane.div)
native(records.add_scalar, kinds=_ALL, vectors=_ALL)(_with_number("add"))
native(records.sub_scalar, kinds="fiu", vectors=_ALL)(_with_number("sub"))
native(records.rsub_scalar, kinds="fiu", vectors=_ALL)(_with_number("sub", swapped=True))
native(records.mul_scalar, kinds=_ALL, vectors=_ALL)(_with_number("mul"))
native(records.div_scalar, cost=4)(_with_number("div"))
native(records.neg, kinds="fiu")(Lane.neg)
native(records.abs, kinds="fiu")(Lane.size)
native(records.real, kinds=_ALL)(lambda m, a: a)
native(records.conj, kinds=_ALL, vectors=_ALL)(lambda m, a: a)
native(records.to_copy, kinds=_ALL, vectors=_ALL)(lambda m, a, dtype: a)
native(records.sqrt, cost=4)(lambda m, a: m.intrinsic("sqrt", a))
native(records.reciprocal, cost=4)(lambda m, a: m.div(m.number(1), a))
native(records.copysign)(lambda m, a, b: m.intrinsic("copysign", a, b))

# -- functions of the C library -------------------------------------------------------------------


def _call_libm(m: Lane, name: str, *operands: str) -> str:
    return call_function(m.code, name, llvm_type(m.dtype), operands, m.count)


def _libm_rule(name: str) -> Any:
    return lambda m, *operands: _call_libm(m, name, *operands)


@native(records.rpow_scalar, cost=20)
def _rpow_scalar(m: Lane, a: str, base: Any) -> str:
    return _call_libm(m, "exp2", a) if base == 2 else _call_libm(m, "pow", m.value(base), a)


for _prim in having(CYCLES):
    native(_prim, cost=CYCLES[_prim])(_libm_rule(_prim.name))

# -- selection ------------------------------------------------------------------------------------

native(records.strong_zero)(
    lambda m, a, b: m.select(
        m.is_nan(a), m.select(m.compare("eq", b, m.number(0)), m.number(0), a), a
    )
)
native(records.where, kinds=_ALL, vectors=_ALL)(lambda m, on, a, b: m.select(on, a, b))
native(records.maximum, kinds=_ALL, vectors=_ALL)(Lane.maximum)
native(records.minimum, kinds=_ALL, vectors=_ALL)(Lane.minimum)

# -- comparisons ----------------------------------------------------------------------------------


_PREDICATE: dict[str, Any] = {"kinds": _ALL, "inside": "arguments"}


@native(records.isinf, **_PREDICATE)
def _is_infinite(m: Lane, a: str) -> str:
    if m.kind != "f":
        return "false"
    return m.compare("eq", m.size(a), m.number(math.inf))


@native(records.isfinite, **_PREDICATE)
def _is_finite(m: Lane, a: str) -> str:
    if m.kind != "f":
        return "true"
    return m.compare("lt", m.size(a), m.number(math.inf))


@native(records.signbit, **_PREDICATE, vectors="")
def _sign_bit(m: Lane, a: str) -> str:
    if m.kind != "f":
        return "false" if m.kind in "bu" else m.compare("lt", a, "0")
    bits = m.code.let(f"bitcast {m.type} {a} to i{m.bits}")
    return m.code.let(f"icmp slt i{m.bits} {bits}, 0")


def _comparison(name: str) -> Any:
    return lambda m, a, b: m.compare(name, a, b)


for _prim in (records.eq, records.ne, records.lt, records.le, records.gt, records.ge):
    native(_prim, **_PREDICATE, vectors=_ALL)(_comparison(_prim.name))
native(records.isnan, **_PREDICATE)(lambda m, a: m.is_nan(a) if m.kind == "f" else "false")
native(records.isreal, **_PREDICATE, vectors="")(lambda m, a: "true")

# -- truth values ---------------------------------------------------------------------------------

_LOGICAL: dict[str, Any] = {"kinds": "b", "inside": "bool"}

native(records.logical_and, **_LOGICAL, vectors=_ALL)(lambda m, a, b: m.mul(a, b))
native(records.logical_or, **_LOGICAL, vectors=_ALL)(lambda m, a, b: m.add(a, b))
native(records.logical_xor, **_LOGICAL, vectors=_ALL)(lambda m, a, b: m.exact("xor", a, b))
native(records.logical_not, **_LOGICAL, vectors=_ALL)(
    lambda m, a: m.exact("xor", a, m.number(True))
)

# -- rounding -------------------------------------------------------------------------------------


def _rounding(name: str) -> Any:
    return lambda m, a: m.intrinsic(name, a) if m.kind == "f" else a


native(records.floor, kinds="fiu")(_rounding("floor"))
native(records.ceil, kinds="fiu")(_rounding("ceil"))
native(records.trunc, kinds="fiu")(_rounding("trunc"))
native(records.round, kinds="fiu")(_rounding("rint"))

# -- integers, remainders, bits -------------------------------------------------------------------

_DIVISION: dict[str, Any] = {"kinds": "fiu", "cost": 20}
_BITS: dict[str, Any] = {"kinds": "iub", "vectors": _ALL}


def _divide(m: Lane, a: str, b: str) -> tuple[str, str, str]:
    """Return the truncated quotient, its remainder, and whether the floored quotient differs."""
    known = b.lstrip("-").isdigit()
    if known and int(b) not in (0, -1):
        safe = b
    else:
        m.code.fail_if(m.compare("eq", b, "0"))
        # the least integer divided by -1 wraps in NumPy; the instruction would trap
        safe = m.select(m.compare("eq", b, "0"), "1", b)
        safe = safe if m.kind == "u" else m.select(m.compare("eq", b, "-1"), "1", safe)
    letter = m.kind.replace("i", "s")
    quotient = m.exact(f"{letter}div", a, safe)
    remainder = m.exact(f"{letter}rem", a, safe)
    if m.kind == "u":
        return quotient, remainder, "false"
    if safe is not b:
        negated = m.compare("eq", b, "-1")
        quotient = m.select(negated, m.neg(a), quotient)
    differs = m.both(
        m.compare("ne", remainder, "0"), m.compare("lt", m.exact("xor", remainder, b), "0")
    )
    return quotient, remainder, differs


def _float_remainder(m: Lane, a: str, b: str) -> str:
    """Return the remainder of floats, with the sign of the dividend.

    If the quotient's integer part fits the mantissa, rounding makes it at most 1 too large, and the
    remainder is exact. For larger quotients LLVM calls the C library.
    """
    setup()
    code = m.code
    dividend, divisor = m.size(a), m.size(b)
    ratio = m.exact("fdiv", dividend, divisor)
    fits = m.both(
        m.compare("lt", ratio, m.number(2.0 ** np.finfo(m.dtype).nmant)),
        m.compare("lt", divisor, m.number(math.inf)),
    )
    if m.count > 1:
        bits = code.let(f"bitcast {m.flag} {fits} to i{m.count}")
        fits = code.let(f"icmp eq i{m.count} {bits}, -1")
    quick, slow, done = (code.fresh(name) for name in ("quick", "slow", "done"))
    code.branch(fits, quick, slow)
    code.label(quick)
    truncated = m.intrinsic("trunc", ratio)
    remainder = m.intrinsic("fma", m.code.let(f"fneg {m.type} {truncated}"), divisor, dividend)
    negative = m.compare("lt", remainder, m.number(0))
    remainder = m.select(negative, m.exact("fadd", remainder, divisor), remainder)
    remainder = m.intrinsic("copysign", remainder, a)
    code.jump(done)
    code.label(slow)
    called = m.exact("frem", a, b)
    code.jump(done)
    code.label(done)
    return code.let(f"phi {m.type} [ {remainder}, {quick} ], [ {called}, {slow} ]")


@native(records.floor_divide, records.div_floor, **_DIVISION)
def _floor_quotient(m: Lane, a: str, b: str) -> str:
    if m.kind != "f":
        quotient, _, differs = _divide(m, a, b)
        return quotient if m.kind == "u" else m.select(differs, m.sub(quotient, "1"), quotient)
    remainder = _float_remainder(m, a, b)
    zero, one = m.number(0), m.number(1)
    quotient = m.exact("fdiv", m.exact("fsub", a, remainder), b)
    differs = _signs_differ(m, remainder, b)
    quotient = m.select(differs, m.exact("fsub", quotient, one), quotient)
    floor = m.intrinsic("floor", quotient)
    round_up = m.compare("gt", m.exact("fsub", quotient, floor), m.number(0.5))
    rounded = m.select(round_up, m.exact("fadd", floor, one), floor)
    ratio = m.exact("fdiv", a, b)
    of_zero = m.intrinsic("copysign", zero, ratio)
    result = m.select(m.compare("eq", quotient, zero), of_zero, rounded)
    return m.select(m.compare("eq", b, zero), ratio, result)


def _signs_differ(m: Lane, remainder: str, b: str) -> str:
    """Return whether a nonzero remainder and the divisor differ in sign."""
    zero = m.number(0)
    differ = m.code.let(
        f"xor {m.flag} {m.compare('lt', remainder, zero)}, {m.compare('lt', b, zero)}"
    )
    return m.both(m.compare("ne", remainder, zero), differ)


@native(records.remainder, **_DIVISION)
def _remainder(m: Lane, a: str, b: str) -> str:
    if m.kind != "f":
        _, remainder, differs = _divide(m, a, b)
        return remainder if m.kind == "u" else m.select(differs, m.add(remainder, b), remainder)
    remainder = _float_remainder(m, a, b)
    zero = m.number(0)
    result = m.select(_signs_differ(m, remainder, b), m.exact("fadd", remainder, b), remainder)
    return m.select(m.compare("eq", remainder, zero), m.intrinsic("copysign", zero, b), result)


@native(records.fmod, **_DIVISION)
def _fmod(m: Lane, a: str, b: str) -> str:
    return _divide(m, a, b)[1] if m.kind != "f" else _float_remainder(m, a, b)


@native(records.div_trunc, **_DIVISION)
def _trunc_quotient(m: Lane, a: str, b: str) -> str:
    if m.kind != "f":
        return _divide(m, a, b)[0]
    return m.intrinsic("trunc", m.exact("fdiv", a, b))


def _shift(operation: str) -> Any:
    def rule(m: Lane, a: str, b: str) -> str:
        # LLVM shifts by fewer than all bits only; unsigned, negative counts are too large as well
        within = m.code.let(f"icmp ult {m.type} {b}, {m.number(m.bits)}")
        count = m.exact("and", b, m.number(m.bits - 1))
        moved = m.exact(operation.replace("?", "a" if m.kind == "i" else "l"), a, count)
        shifted_out = zero = m.number(0)
        if operation == "?shr" and m.kind == "i":
            shifted_out = m.select(m.compare("lt", a, zero), m.number(-1), zero)
        return m.select(within, moved, shifted_out)

    return rule


def _bits(operation: str) -> Any:
    return lambda m, a, b: m.exact(operation, a, b)


native(records.floor_divide_scalar, **_DIVISION)(
    lambda m, a, other: _floor_quotient(m, a, m.value(other))
)
native(records.remainder_scalar, **_DIVISION)(lambda m, a, other: _remainder(m, a, m.value(other)))
native(records.fmod_scalar, **_DIVISION)(lambda m, a, other: _fmod(m, a, m.value(other)))
native(records.bitwise_and, **_BITS)(_bits("and"))
native(records.bitwise_or, **_BITS)(_bits("or"))
native(records.bitwise_xor, **_BITS)(_bits("xor"))
native(records.bitwise_not, **_BITS)(
    lambda m, a: m.exact("xor", a, m.number(True if m.kind == "b" else -1))
)
native(records.bitwise_left_shift, kinds="iu", cost=3, vectors="iu")(_shift("shl"))
native(records.bitwise_right_shift, kinds="iu", cost=3, vectors="iu")(_shift("?shr"))
