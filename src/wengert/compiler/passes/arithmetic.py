"""Layer 8 · compiler: peephole rules for element-wise arithmetic, selection and copies.

NOTE [identities]
A rule must hold for every number, including infinities, NaN and signed zeros: ``x * 1`` and ``x -
0.0`` are `x`, while ``x * 0`` and ``x + 0.0`` are not. Identities of real numbers are left to
LLVM's fast-math flags. The exception is an array that an operation filled with zeros (`zeros`): the
addition is dropped, although that may change 0.0 to -0.0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from wengert.compiler.ir.facets import MAPS, POSITIVE, having
from wengert.compiler.ir.programs import Value
from wengert.compiler.passes.builder import RULES, Builder
from wengert.prims import records
from wengert.prims.record import TABLE

__all__: list[str] = []

Values = tuple[Value, ...]
Params = Mapping[str, Any]

_rule = RULES.rule


def _is_float(out: Value, args: Values) -> bool:
    """Return whether arithmetic is floating-point, in one dtype."""
    dtype = out.dtype
    return dtype.kind == "f" and all(arg.dtype is dtype or arg.dtype == dtype for arg in args)


def _is(number: Any, wanted: float) -> bool:
    """Return whether two numbers are equal, with equal signs of zeros."""
    return bool(number == wanted) and math.copysign(1, number) == math.copysign(1, wanted)


# -- identities ------------------------------------------------------------------------------------


@_rule(records.add, records.sub, on=(records.zeros,))
def _of_nothing(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    first, second = args
    if first.dtype != second.dtype:
        return None
    if b.is_zero(second):
        return b.expanded(first, out.shape)
    if b.is_zero(first) and out.dtype.kind != "b":
        second = b.expanded(second, out.shape)
        return second if name == "add" else b.emit("neg", (second,), {}, out)
    return None


# -- uniform and expanded operands -----------------------------------------------------------------


@_rule(*having(MAPS), on=(records.expand, records.zeros))
def _before_expanding(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    sources = []
    found = False
    for arg in args:
        step = b.maker(arg, "expand", "zeros") if arg.shape else None
        if step is None:
            sources.append(arg)
            continue
        found = True
        number = b.uniform(arg)
        sources.append(step.args[0] if number is None else b.constant(number))
    if not found:
        return None
    shape = np.broadcast_shapes(*[source.shape for source in sources])
    if shape == out.shape:
        return b.emit(name, sources, params, out)
    small = b.emit(name, sources, params, Value(out.dtype, shape))
    return b.expanded(small, out.shape)


# -- numbers --------------------------------------------------------------------------------------


@_rule(*[prim for prim in TABLE.values() if prim.scalar], on=("number", records.zeros))
def _with_a_number(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    if not _is_float(out, args):
        return None
    prim = TABLE[name]
    first, second = args
    for array, other, form in ((first, second, prim.scalar), (second, first, prim.rscalar)):
        number = b.uniform(other)
        # the dtype of a scalar does not widen that of the array
        if number is None or not form or array.shape != out.shape:
            continue
        if name == "pow" and abs(number) == 0.5:
            # this power is a square root, which differs at -0.0 and at minus infinity
            continue
        return b.emit(form, (array,), {TABLE[form].params[0]: number.item()}, out)
    if name == "div" and args[1].shape == out.shape and b.uniform(args[0]) == 1:
        return b.emit("reciprocal", (args[1],), {}, out)
    return None


def _known(params: Params, out: Value, args: Values) -> Any:
    """Return the scalar operand of a step if it and the arithmetic are floating-point."""
    (number,) = params.values()
    if number.__class__ not in (int, float) or not _is_float(out, args):
        return None
    try:
        return float(number)
    except OverflowError:
        return None


# -- sums -----------------------------------------------------------------------------------------


@_rule(records.add, records.sub, on=(records.neg,))
def _with_a_sign(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    first, second = args
    if not _is_float(out, args):
        return None
    neg = b.maker(second, "neg")
    if neg is not None:
        return b.emit("sub" if name == "add" else "add", (first, *neg.args), {}, out)
    neg = b.maker(first, "neg") if name == "add" else None
    if neg is not None:
        return b.emit("sub", (second, *neg.args), {}, out)
    return None


@_rule(records.add_scalar, records.sub_scalar)
def _plus_a_number(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    number = _known(params, out, args)
    if number is None:
        return None
    if name == "sub_scalar":
        return b.emit("add_scalar", args, {"other": -number}, out)
    return args[0] if _is(number, -0.0) else None


# -- signs ----------------------------------------------------------------------------------------


@_rule(records.neg, on=(records.neg, records.mul_scalar))
def _of_a_sign(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    inner = b.maker(args[0], "neg")
    if inner is not None:
        return inner.args[0]
    if not _is_float(out, args):
        return None
    inner = b.maker(args[0], "mul_scalar")
    if inner is not None and inner.params["other"].__class__ is float and b.once(args[0]):
        return b.emit("mul_scalar", inner.args, {"other": -inner.params["other"]}, out)
    return None


@_rule(records.mul, records.div, on=(records.neg,))
def _product_of_signs(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    if not _is_float(out, args):
        return None
    signs = [b.maker(arg, "neg") for arg in args]
    first, second = [arg if s is None else s.args[0] for arg, s in zip(args, signs, strict=True)]
    if all(signs):
        return b.emit(name, (first, second), {}, out)
    # a negation may move out of a product into a sum if the product does not grow
    for arg, sign in zip(args, signs, strict=True):
        if sign is not None and arg.shape == out.shape:
            return b.emit("neg", (b.emit(name, (first, second), {}, out),), {}, out)
    return None


# -- products -------------------------------------------------------------------------------------


@_rule(records.mul_scalar)
def _times_a_number(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    number = _known(params, out, args)
    if number is None:
        return None
    if number == 1:
        return args[0]
    if number == -1:
        return b.emit("neg", args, {}, out)
    if params["other"].__class__ is int:
        return b.emit("mul_scalar", args, {"other": number}, out)
    inner = b.maker(args[0], "neg")
    return None if inner is None else b.emit("mul_scalar", inner.args, {"other": -number}, out)


def _inverse(number: float, out: Value) -> float | None:
    """Return the reciprocal of a power of two, by which to multiply is exact; else None.

    Numbers that may be sizes are left to LLVM, so that programs for other sizes have equal text.
    """
    if math.frexp(abs(number))[0] != 0.5 or 8 < abs(number) < 2**32:
        return None
    limits = np.finfo(out.dtype)
    low, high = float(limits.smallest_normal), float(limits.max)
    return 1 / number if low <= abs(number) <= high and low <= 1 / abs(number) <= high else None


@_rule(records.div_scalar)
def _by_a_number(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    number = _known(params, out, args)
    if number is None or number == 0 or not math.isfinite(number):
        return None
    inverse = _inverse(number, out)
    if inverse is not None:
        return b.emit("mul_scalar", args, {"other": inverse}, out)
    inner = b.maker(args[0], "neg")
    return None if inner is None else b.emit(name, inner.args, {"other": -number}, out)


@_rule(records.add_scalar, records.rsub_scalar, records.div_scalar)
def _float_number(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    # canonical numbers, so that equal steps are recognised
    number = _known(params, out, args)
    if number is None or params["other"].__class__ is float:
        return None
    return b.emit(name, args, {"other": number}, out)


# -- powers ---------------------------------------------------------------------------------------

_DEPTH = 6


def _is_negative_nowhere(b: Builder, value: Value, depth: int = _DEPTH) -> bool:
    """Return whether it is known that no element is below 0; NaN may occur."""
    number = b.uniform(value)
    if number is not None:
        return bool(number >= 0)
    step = b.maker(value)
    if step is None or not depth or value.dtype.kind == "c":
        return False
    prim, args = step.prim, step.args
    if POSITIVE[prim] != "kept":
        return POSITIVE[prim] == "always"
    if prim.name == "mul" and args[0] is args[1]:
        return True
    if prim.of_number:
        (number,) = step.params.values()
        if number.__class__ not in (int, float) or not number >= 0:
            return False
    return all(_is_negative_nowhere(b, arg, depth - 1) for arg in args)


@_rule(records.pow_scalar)
def _small_power(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    exponent = _known(params, out, args)
    if exponent is None:
        return None
    (x,) = args
    size = abs(exponent)

    def mul(a: Value, c: Value) -> Value:
        return b.emit("mul", (a, c), {}, out)

    if size == 0:
        return b.filled(1, out.dtype, out.shape)
    if size in (1.0, 2.0) or exponent in (3.0, 4.0):
        power = x if size == 1 else mul(x, x)
        power = mul(power, x) if size == 3 else mul(power, power) if size == 4 else power
    elif size == 0.5:
        power = b.emit("sqrt", (x,), {}, out)
    elif size in (1.5, 2.5) and _is_negative_nowhere(b, x):
        # the root of minus infinity would be NaN
        power = mul(x, b.emit("sqrt", (x,), {}, out))
        power = mul(power, x) if size == 2.5 else power
    else:
        return None
    return power if exponent > 0 else b.emit("reciprocal", (power,), {}, out)


def _unshaped(b: Builder, value: Value) -> Value:
    """Return the value that a value is a reshape of."""
    step = b.maker(value, "view")
    return value if step is None else step.args[0]


def _exponentials(b: Builder, logarithm: Value) -> tuple[Value, Value, Value] | None:
    """Match ``log(sum(exp(x)))``: return `x`, the exponentials, and the sum."""
    log = b.maker(logarithm, "log")
    total = log and b.maker(_unshaped(b, log.args[0]), "sum_dim")
    powers = total and b.maker(total.args[0], "exp")
    if log is None or total is None or powers is None:
        return None
    return powers.args[0], total.args[0], log.args[0]


@_rule(records.exp, on=(records.sub,))
def _share_of_a_sum(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    """Rewrite ``exp(x - log(sum(exp(x))))`` for negative exponents to ``exp(x) / sum(exp(x))``."""
    step = b.maker(args[0], "sub")
    if step is None or not _is_float(out, step.args):
        return None
    x, far = step.args[0], _unshaped(b, step.args[1])
    found = _exponentials(b, far)
    plus = b.maker(far, "add")
    if found is not None:
        below = b.maker(x, "sub")
        if found[0] is not x or below is None or not _is_greatest(b, below.args[1]):
            return None
    elif plus is not None:
        # the logarithm, and the shift of all exponents
        for log, top in (plus.args, plus.args[::-1]):
            found = _exponentials(b, _unshaped(b, log))
            below = b.maker(found[0], "sub") if found is not None else None
            if below is not None and below.args[0] is x and _is_greatest(b, below.args[1]):
                if _unshaped(b, below.args[1]) is _unshaped(b, top):
                    break
                found = None
    if found is None or found[1].shape != out.shape:
        return None
    total = b.shaped(found[2], step.args[1].shape)
    share = b.emit("reciprocal", (total,), {}, total)
    return b.emit("mul", (found[1], share), {}, out)


def _is_greatest(b: Builder, value: Value) -> bool:
    """Return whether a value is the maximum, or 0 where the maximum is infinite."""
    value = _unshaped(b, value)
    choice = b.maker(value, "where")
    return b.maker(value if choice is None else _unshaped(b, choice.args[1]), "amax") is not None


# -- selection and copies --------------------------------------------------------------------------


@_rule(records.where)
def _choice(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    condition, first, second = args
    known = b.uniform(condition)
    if not first.dtype == second.dtype == out.dtype or (known is None and first is not second):
        return None
    return b.expanded(second if known is not None and not known else first, out.shape)


@_rule(records.clone, records.alias, records.contiguous)
def _copy(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    return args[0]


def _is_exact(source: np.dtype[Any], wider: np.dtype[Any]) -> bool:
    """Return whether every number of one dtype is exact in another."""
    if source.kind == "b":
        return True
    if source.kind in "iu" and wider.kind in "fc":
        digits = np.finfo(wider).nmant + 1
        return source.itemsize * 8 <= digits
    return bool(np.can_cast(source, wider, "safe"))


@_rule(records.to_copy)
def _cast(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    (x,) = args
    if x.dtype == out.dtype:
        return x
    inner = b.maker(x, "to_copy")
    if inner is None:
        return None
    source = inner.args[0].dtype
    kept = source.kind == out.dtype.kind or out.dtype.kind in "fc"
    if kept and out.dtype.kind in "biufc" and _is_exact(source, x.dtype):
        return b.cast(inner.args[0], out.dtype)
    return None
