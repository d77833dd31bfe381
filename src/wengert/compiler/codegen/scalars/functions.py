"""Layer 8 · compiler: elements of exponentials, logarithms, angles and special functions.

The functions of the C library are called (see NOTE [vector functions] in
`wengert.compiler.codegen.vectors`); the others are composed of them as their kernels are. All agree
with the kernels to a few units in the last place: the vector forms are accurate to 4, and what is
composed of them to twice as many.
"""

from __future__ import annotations

import math
from typing import Any

from wengert.compiler.codegen.code import llvm_type
from wengert.compiler.codegen.library import call_function
from wengert.compiler.codegen.scalars.forms import native
from wengert.compiler.codegen.scalars.lane import Lane
from wengert.compiler.ir.facets import CYCLES, having
from wengert.prims import records

__all__: list[str] = []

_LN2 = math.log(2.0)


def _call(m: Lane, name: str, *operands: str) -> str:
    return call_function(m.code, name, llvm_type(m.dtype), operands, m.count)


def _called(name: str) -> Any:
    return lambda m, *operands: _call(m, name, *operands)


# -- of exponentials and logarithms ---------------------------------------------------------------


@native(records.sigmoid, cost=12)
def _sigmoid(m: Lane, a: str) -> str:
    one = m.number(1)
    return m.div(one, m.add(one, _call(m, "exp", m.neg(a))))


@native(records.rpow_scalar, cost=20)
def _rpow_scalar(m: Lane, a: str, base: Any) -> str:
    if base == 2:
        return _call(m, "exp2", a)
    return _call(m, "pow", m.value(base), a)


def _vanishing(name: str, root: float) -> Any:
    """self * log(other), where a 0 as self prevails over any other that is not NaN."""

    def rule(m: Lane, a: str, b: str) -> str:
        zero = m.compare("eq", a, m.number(0))
        kept = m.select(zero, m.select(m.is_nan(b), b, m.number(root)), b)
        return m.mul(a, _call(m, name, kept))

    return rule


@native(records.special_entr, cost=12)
def _entr(m: Lane, a: str) -> str:
    zero = m.number(0)
    inside = m.compare("gt", a, zero)
    size = m.select(inside, a, m.number(1))
    below = m.select(m.is_nan(a), a, zero)
    below = m.select(m.compare("lt", a, zero), m.number(-math.inf), below)
    return m.select(inside, m.mul(size, m.neg(_call(m, "log", size))), below)


@native(records.logit, cost=12)
def _logit(m: Lane, a: str, eps: float | None) -> str:
    if eps is not None:
        a = m.minimum(m.maximum(a, m.number(eps)), m.number(1 - eps))
    rest = m.sub(m.number(1), a)
    # it vanishes at 1/2, near which the quotient is rounded to 1
    apart = m.sub(a, m.number(0.5))
    middle = m.compare("lt", m.size(apart), m.number(0.25))
    near = _call(m, "log1p", m.div(m.mul(apart, m.number(2)), rest))
    return m.select(middle, near, _call(m, "log", m.div(a, rest)))


def _logarithm_of_sum(scale: float) -> Any:
    """The larger of two logarithms, and what the smaller adds."""

    def rule(m: Lane, a: str, b: str) -> str:
        gap = m.size(m.sub(a, b))
        grown = _call(m, "exp", m.mul(gap, m.number(-scale)))
        added = _call(m, "log1p", grown)
        added = m.mul(added, m.number(1.0 / scale)) if scale != 1 else added
        # two equal infinities have no difference
        added = m.select(m.compare("eq", a, b), m.number(_LN2 / scale), added)
        return m.add(m.maximum(a, b), added)

    return rule


for _prim in having(CYCLES):
    native(_prim, cost=CYCLES[_prim])(_called(_prim.name))
native(records.ldexp, cost=12)(lambda m, a, b: m.mul(a, _call(m, "exp2", b)))
native(records.xlogy, cost=12)(_vanishing("log", 1))
native(records.special_xlog1py, cost=12)(_vanishing("log1p", 0))
native(records.logaddexp, cost=24)(_logarithm_of_sum(1.0))
native(records.logaddexp2, cost=24)(_logarithm_of_sum(_LN2))
