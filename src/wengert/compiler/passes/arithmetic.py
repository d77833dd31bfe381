"""Layer 8 · compiler: peephole rules for element-wise arithmetic, selection and copies.

NOTE [identities]
Identities of numbers, such as ``x * 1`` or the product of two signs, are left to LLVM. Rules are
for what it does not see: whole arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wengert.compiler.ir.facets import MAPS, having
from wengert.compiler.ir.programs import Value
from wengert.compiler.passes.builder import RULES, Builder
from wengert.prims import records
from wengert.prims.record import TABLE

Values = tuple[Value, ...]
Params = Mapping[str, Any]

_rule = RULES.rule


def _is_float(out: Value, args: Values) -> bool:
    """Return whether arithmetic is floating-point, in one dtype."""
    dtype = out.dtype
    return dtype.kind == "f" and all(arg.dtype is dtype or arg.dtype == dtype for arg in args)


# -- identities ------------------------------------------------------------------------------------


@_rule(records.add, records.sub, on=(records.zeros,))
def _of_nothing(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    first, second = args
    # -0.0 + 0.0 is 0.0
    exact = name == "sub" or out.dtype.kind not in "fc"
    if first.dtype == second.dtype and exact and b.is_zero(second):
        return b.expanded(first, out.shape)
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


@_rule(
    *[prim for prim in TABLE.values() if prim.scalar and prim is not records.pow],
    on=("number", records.zeros),
)
def _with_a_number(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    # programs for other sizes share code that has numbers among the parameters, not in arrays
    if not _is_float(out, args):
        return None
    prim = TABLE[name]
    first, second = args
    for array, other, form in ((first, second, prim.scalar), (second, first, prim.rscalar)):
        number = b.uniform(other)
        # the dtype of a scalar does not widen that of the array
        if number is not None and form and array.shape == out.shape:
            return b.emit(form, (array,), {TABLE[form].params[0]: number.item()}, out)
    return None


@_rule(
    *(records.add_scalar, records.sub_scalar, records.rsub_scalar),
    *(records.mul_scalar, records.div_scalar),
)
def _float_number(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    # canonical numbers, so that equal and repeated steps are recognised
    number = params["other"]
    if number.__class__ is not int or not _is_float(out, args):
        return None
    try:
        return b.emit(name, args, {"other": float(number)}, out)
    except OverflowError:
        return None


# -- exponentials ----------------------------------------------------------------------------------


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


@_rule(records.strong_zero)
def _of_no_zero(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    return b.expanded(args[0], out.shape) if b.uniform(args[1]) else None


@_rule(records.clone, records.alias, records.contiguous)
def _copy(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    return args[0]


@_rule(records.to_copy)
def _cast(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    return args[0] if args[0].dtype == out.dtype else None
