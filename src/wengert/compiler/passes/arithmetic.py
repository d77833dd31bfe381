"""Layer 8 · compiler: identities of arithmetic, element by element.

NOTE [identities]
An identity holds for every number, infinities, NaN and zeros of both signs included, or it is left
to ``fastmath``: so ``x * 1`` and ``x - 0.0`` are `x`, while ``x * 0`` and ``x + 0.0`` are not. What
an operation itself filled with zeros (`zeros`) is no number of the user's: adding it is adding
nothing, be the sum 0.0 or -0.0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from wengert.compiler.decompose import ELEMENTWISE
from wengert.compiler.ir import Number, Value
from wengert.compiler.passes.builder import Builder, Rule

__all__ = ["ARITHMETIC"]

Values = tuple[Value, ...]
Params = Mapping[str, Any]

ARITHMETIC: dict[str, list[Rule]] = {name: [] for name in sorted(ELEMENTWISE)}
"""Rules by primitive."""


def _rule(*names: str) -> Any:
    def register(rule: Rule) -> Rule:
        for name in names:
            ARITHMETIC[name].append(rule)
        return rule

    return register


def _is_float(out: Value, args: Values) -> bool:
    """Whether arithmetic is that of floating numbers of one dtype."""
    return out.dtype.kind == "f" and all([arg.dtype == out.dtype for arg in args])


def _number(params: Params) -> Any:
    """The number of a form with a number, or None where it is not known."""
    (number,) = params.values()
    return number if number.__class__ in (int, float) else None


def _is(number: Any, wanted: float) -> bool:
    return bool(number == wanted) and math.copysign(1, number) == math.copysign(1, wanted)


# -- what is repeated is computed once ------------------------------------------------------------


@_rule(*sorted(ELEMENTWISE))
def _before_expanding(b: Builder, args: Values, params: Params, out: Value) -> Value | None:
    found = False
    sources = []
    for arg in args:
        expand = b.maker(arg, "expand", "zeros") if arg.shape else None
        if expand is None:
            sources.append(arg)
        else:
            found = True
            known = b.uniform(arg)
            sources.append(b.constant(known) if known is not None else expand.args[0])
    if not found:
        return None
    name = _NAME[id(params)] if False else None
    return None


