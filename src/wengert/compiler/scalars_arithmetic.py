"""Layer 8 · compiler: elements of arithmetic, comparison, choice, rounding, whole numbers, bits.

Each rule says in instructions what the kernel of a primitive computes from one element of each
argument; `wengert.compiler.scalars` has the table. Results are the kernels' to the last bit, signs
of zeros, infinities and NaN included, but for sums of products, which LLVM may be told to fuse.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.compiler.code import llvm_type
from wengert.compiler.library import call_function, setup
from wengert.compiler.scalars_lane import Lane

__all__ = ["ARITHMETIC", "CHOICES", "COMPARISONS", "ROUNDING", "WHOLE", "power_scalar_accepts"]


def is_number(param: Any) -> bool:
    """Whether a parameter is known while compiling: None or a number, not an operand."""
    return param is None or isinstance(param, int | float)


# -- arithmetic -----------------------------------------------------------------------------------


def _add_scaled(m: Lane, a: str, b: str, alpha: Any) -> str:
    return m.add(a, m.mul(b, m.value(alpha)))


def _sub_scaled(m: Lane, a: str, b: str, alpha: Any) -> str:
    return m.sub(a, m.mul(b, m.value(alpha)))


def _addcmul(m: Lane, a: str, b: str, c: str, value: Any) -> str:
    return m.add(a, m.mul(m.mul(b, c), m.value(value)))


def _addcdiv(m: Lane, a: str, b: str, c: str, value: Any) -> str:
    return m.add(a, m.mul(m.value(value), m.div(b, c)))


def _lerp_tensor(m: Lane, start: str, end: str, weight: str) -> str:
    step = m.sub(end, start)
    near = m.compare("lt", m.size(weight), m.number(0.5))
    from_start = m.add(start, m.mul(weight, step))
    from_end = m.sub(end, m.mul(step, m.sub(m.number(1), weight)))
    return m.select(near, from_start, from_end)


def _lerp(m: Lane, start: str, end: str, weight: Any) -> str:
    step = m.sub(end, start)
    if not is_number(weight):
        return _lerp_tensor(m, start, end, m.value(weight))
    if abs(weight) < 0.5:
        return m.add(start, m.mul(m.number(weight), step))
    return m.sub(end, m.mul(step, m.number(1 - weight)))


def _sign(m: Lane, a: str) -> str:
    if m.kind == "b":
        return a
    if m.kind == "u":
        return m.select(m.compare("ne", a, "0"), "1", "0")
    zero, one = m.number(0), m.number(1)
    # of what is neither above nor below 0: 0, or NaN itself
    rest = m.select(m.is_nan(a), a, zero) if m.kind == "f" else zero
    below = m.select(m.compare("lt", a, zero), m.number(-1), rest)
    return m.select(m.compare("gt", a, zero), one, below)


def _power_scalar(m: Lane, a: str, exponent: Any) -> str:
    if not is_number(exponent):
        return _power(m, a, m.value(exponent))
    if exponent == int(exponent) and 0 <= exponent <= (64 if m.kind in "iu" else 4):
        return _whole_power(m, a, int(exponent))
    one = m.number(1)
    if exponent == -1:
        return m.div(one, a)
    if exponent == -2:
        return m.div(one, m.mul(a, a))
    if exponent == 0.5:
        return m.intrinsic("sqrt", a)
    if exponent == -0.5:
        return m.div(one, m.intrinsic("sqrt", a))
    return _power(m, a, m.number(exponent))


def _power(m: Lane, a: str, exponent: str) -> str:
    return call_function(m.code, "pow", llvm_type(m.dtype), (a, exponent), m.count)


def _whole_power(m: Lane, a: str, exponent: int) -> str:
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


def power_scalar_accepts(params: Any, kind: str) -> bool:
    """Whether a power by a number has a native form in dtypes of a kind."""
    exponent = params["exponent"]
    if kind == "f":
        return not is_number(exponent) or math.isfinite(exponent)
    return isinstance(exponent, int) and 0 <= exponent <= 64


def _scalar(name: str, swapped: bool = False) -> Any:
    """The rule of an operation of two elements with a number in place of the second, or first."""

    def rule(m: Lane, a: str, other: Any) -> str:
        b = m.value(other)
        operands = (b, a) if swapped else (a, b)
        return str(getattr(m, name)(*operands))

    return rule


def _times(factor: float) -> Any:
    return lambda m, a: m.mul(a, m.number(factor))


ARITHMETIC = {
    "add": Lane.add,
    "sub": Lane.sub,
    "mul": Lane.mul,
    "div": Lane.div,
    "rsub": lambda m, a, b: m.sub(b, a),
    "add_scalar": _scalar("add"),
    "sub_scalar": _scalar("sub"),
    "rsub_scalar": _scalar("sub", swapped=True),
    "mul_scalar": _scalar("mul"),
    "div_scalar": _scalar("div"),
    "add_scaled": _add_scaled,
    "sub_scaled": _sub_scaled,
    "addcmul": _addcmul,
    "addcdiv": _addcdiv,
    "lerp": _lerp,
    "lerp_tensor": _lerp_tensor,
    "neg": Lane.neg,
    "abs": Lane.size,
    "sign": _sign,
    "sgn": _sign,
    "real": lambda m, a: a,
    "conj": lambda m, a: a,
    "to_copy": lambda m, a, dtype: a,
    "sqrt": lambda m, a: m.intrinsic("sqrt", a),
    "rsqrt": lambda m, a: m.div(m.number(1), m.intrinsic("sqrt", a)),
    "reciprocal": lambda m, a: m.div(m.number(1), a),
    "pow_scalar": _power_scalar,
    "deg2rad": _times(math.pi / 180.0),
    "rad2deg": _times(180.0 / math.pi),
    "copysign": lambda m, a, b: m.intrinsic("copysign", a, b),
}

# -- choices --------------------------------------------------------------------------------------


def _clamp(m: Lane, a: str, **bounds: Any) -> str:
    # the upper bound is the last, for it prevails where they cross
    for name, of_number, of_element in (
        ("min", m.at_least, m.maximum),
        ("max", m.at_most, m.minimum),
    ):
        bound = bounds.get(name)
        if bound is not None:
            plain = is_number(bound) and bound == bound
            a = of_number(a, m.value(bound)) if plain else of_element(a, m.value(bound))
    return a


def _past_nan(name: str) -> Any:
    def rule(m: Lane, a: str, b: str) -> str:
        if m.kind != "f":
            return m.maximum(a, b) if name == "ge" else m.minimum(a, b)
        first = m.either(m.compare(name, a, b), m.is_nan(b))
        return m.select(first, a, b)

    return rule


def _heaviside(m: Lane, a: str, values: str) -> str:
    zero = m.number(0)
    step = m.select(m.compare("gt", a, zero), m.number(1), zero)
    return m.select(m.compare("eq", a, zero), values, step)


def _nan_to_num(m: Lane, a: str, nan: float, posinf: float | None, neginf: float | None) -> str:
    if m.kind != "f":
        return a
    top = float(np.finfo(m.dtype).max)
    high, low = top if posinf is None else posinf, -top if neginf is None else neginf
    b = m.select(m.compare("eq", a, m.number(math.inf)), m.number(high), a)
    b = m.select(m.compare("eq", a, m.number(-math.inf)), m.number(low), b)
    return m.select(m.is_nan(a), m.number(nan), b)


CHOICES = {
    "where": lambda m, condition, a, b: m.select(condition, a, b),
    "masked_fill": lambda m, a, mask, value: m.select(mask, m.value(value), a),
    "masked_fill_tensor": lambda m, a, mask, value: m.select(mask, value, a),
    "threshold_backward": lambda m, g, a: m.select(m.compare("le", a, m.number(0)), m.number(0), g),
    "relu": lambda m, a: m.at_least(a, m.number(0)),
    "maximum": Lane.maximum,
    "minimum": Lane.minimum,
    "clamp_min_tensor": Lane.maximum,
    "clamp_max_tensor": Lane.minimum,
    "clamp_tensor": lambda m, a, low, high: m.minimum(m.maximum(a, low), high),
    "clamp": _clamp,
    "clamp_min": _clamp,
    "clamp_max": _clamp,
    "fmax": _past_nan("ge"),
    "fmin": _past_nan("le"),
    "heaviside": _heaviside,
    "nan_to_num": _nan_to_num,
}

# -- comparisons ----------------------------------------------------------------------------------


def _is_infinite(m: Lane, a: str) -> str:
    if m.kind != "f":
        return "false"
    return m.compare("eq", m.size(a), m.number(math.inf))


def _is_finite(m: Lane, a: str) -> str:
    if m.kind != "f":
        return "true"
    return m.compare("lt", m.size(a), m.number(math.inf))


def _sign_bit(m: Lane, a: str) -> str:
    if m.kind != "f":
        return "false" if m.kind in "bu" else m.compare("lt", a, "0")
    bits = m.code.let(f"bitcast {m.type} {a} to i{m.bits}")
    return m.code.let(f"icmp slt i{m.bits} {bits}, 0")


def _is_this(value: float) -> Any:
    return lambda m, a: m.compare("eq", a, m.number(value)) if m.kind == "f" else "false"


def _compared(name: str) -> Any:
    return lambda m, a, b: m.compare(name, a, b)


COMPARISONS = {
    **{name: _compared(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "isnan": lambda m, a: m.is_nan(a) if m.kind == "f" else "false",
    "isinf": _is_infinite,
    "isfinite": _is_finite,
    "isposinf": _is_this(math.inf),
    "isneginf": _is_this(-math.inf),
    "isreal": lambda m, a: "true",
    "signbit": _sign_bit,
}

# -- rounding -------------------------------------------------------------------------------------


def _rounding(name: str) -> Any:
    return lambda m, a: m.intrinsic(name, a) if m.kind == "f" else a


def _round_decimals(m: Lane, a: str, decimals: int) -> str:
    power = m.number(10.0 ** abs(decimals))
    if decimals < 0:
        return m.mul(m.intrinsic("rint", m.div(a, power)), power)
    return m.div(m.intrinsic("rint", m.mul(a, power)), power)


ROUNDING = {
    "floor": _rounding("floor"),
    "ceil": _rounding("ceil"),
    "trunc": _rounding("trunc"),
    "round": _rounding("rint"),
    "frac": lambda m, a: m.sub(a, m.intrinsic("trunc", a)),
    "round_decimals": _round_decimals,
}

# -- whole numbers, remainders, bits --------------------------------------------------------------


def _divided(m: Lane, a: str, b: str) -> tuple[str, str, str]:
    """Quotient towards 0, remainder with the sign of a, and whether rounding down differs."""
    known = b.lstrip("-").isdigit()
    if known and int(b) not in (0, -1):
        safe = b
    else:
        m.code.trouble(m.compare("eq", b, "0"))
        # the smallest number divided by -1 wraps, which the instruction does not do
        safe = m.select(m.compare("eq", b, "0"), "1", b)
        safe = safe if m.kind == "u" else m.select(m.compare("eq", b, "-1"), "1", safe)
    letter = m.kind.replace("i", "s")
    quotient = m.exact(f"{letter}div", a, safe)
    rest = m.exact(f"{letter}rem", a, safe)
    if m.kind == "u":
        return quotient, rest, "false"
    if safe is not b:
        turned = m.compare("eq", b, "-1")
        quotient = m.select(turned, m.neg(a), quotient)
    differs = m.both(m.compare("ne", rest, "0"), m.compare("lt", m.exact("xor", rest, b), "0"))
    return quotient, rest, differs


def _left_over(m: Lane, a: str, b: str) -> str:
    """The remainder of floats with the sign of the first, for which LLVM calls the C library."""
    setup()
    return m.exact("frem", a, b)


def _floor_quotient(m: Lane, a: str, b: str) -> str:
    if m.kind != "f":
        quotient, _, differs = _divided(m, a, b)
        return quotient if m.kind == "u" else m.select(differs, m.sub(quotient, "1"), quotient)
    rest = _left_over(m, a, b)
    zero, one = m.number(0), m.number(1)
    quotient = m.exact("fdiv", m.exact("fsub", a, rest), b)
    differs = _other_signs(m, rest, b)
    quotient = m.select(differs, m.exact("fsub", quotient, one), quotient)
    low = m.intrinsic("floor", quotient)
    near = m.compare("gt", m.exact("fsub", quotient, low), m.number(0.5))
    whole = m.select(near, m.exact("fadd", low, one), low)
    ratio = m.exact("fdiv", a, b)
    of_zero = m.intrinsic("copysign", zero, ratio)
    result = m.select(m.compare("eq", quotient, zero), of_zero, whole)
    return m.select(m.compare("eq", b, zero), ratio, result)


def _other_signs(m: Lane, rest: str, b: str) -> str:
    """Whether a remainder other than 0 has not the sign of the divisor."""
    zero = m.number(0)
    below = m.code.let(f"xor i1 {m.compare('lt', rest, zero)}, {m.compare('lt', b, zero)}")
    return m.both(m.compare("ne", rest, zero), below)


def _remainder(m: Lane, a: str, b: str) -> str:
    if m.kind != "f":
        _, rest, differs = _divided(m, a, b)
        return rest if m.kind == "u" else m.select(differs, m.add(rest, b), rest)
    rest = _left_over(m, a, b)
    zero = m.number(0)
    result = m.select(_other_signs(m, rest, b), m.exact("fadd", rest, b), rest)
    return m.select(m.compare("eq", rest, zero), m.intrinsic("copysign", zero, b), result)


def _fmod(m: Lane, a: str, b: str) -> str:
    return _divided(m, a, b)[1] if m.kind != "f" else _left_over(m, a, b)


def _trunc_quotient(m: Lane, a: str, b: str) -> str:
    if m.kind != "f":
        return _divided(m, a, b)[0]
    return m.intrinsic("trunc", m.exact("fdiv", a, b))


def _shifted(operation: str) -> Any:
    def rule(m: Lane, a: str, b: str) -> str:
        # shifts by all bits and more are undefined for LLVM, and negative ones count as such
        within = m.code.let(f"icmp ult {m.type} {b}, {m.bits}")
        moved = m.exact(operation.replace("?", "a" if m.kind == "i" else "l"), a, m.mask(b))
        gone = "0"
        if operation == "?shr" and m.kind == "i":
            gone = m.select(m.compare("lt", a, "0"), "-1", "0")
        return m.select(within, moved, gone)

    return rule


def _bits(operation: str) -> Any:
    return lambda m, a, b: m.exact(operation, a, b)


WHOLE = {
    "floor_divide": _floor_quotient,
    "div_floor": _floor_quotient,
    "div_trunc": _trunc_quotient,
    "remainder": _remainder,
    "remainder_scalar": lambda m, a, other: _remainder(m, a, m.value(other)),
    "fmod": _fmod,
    "fmod_scalar": lambda m, a, other: _fmod(m, a, m.value(other)),
    "bitwise_and": _bits("and"),
    "bitwise_or": _bits("or"),
    "bitwise_xor": _bits("xor"),
    "bitwise_not": lambda m, a: m.exact("xor", a, "true" if m.kind == "b" else "-1"),
    "bitwise_left_shift": _shifted("shl"),
    "bitwise_right_shift": _shifted("?shr"),
}
