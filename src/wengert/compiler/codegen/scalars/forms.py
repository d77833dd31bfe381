"""Layer 8 · compiler: the native form of an element-wise primitive, and how it is registered.

NOTE [dtypes of native elements]
Where a kernel computes follows from its result: in the dtype of the result, to which NumPy brings
every argument first, but for comparisons, which compute in the common dtype of their arguments, and
for what only asks whether elements are 0, which makes them bools. Conditions (`Primitive.fixed`)
are bools, too. Python numbers among the parameters take that dtype, as weak as they are in NumPy.
Complex numbers and what has two bytes are left to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from wengert.prims.facet import Facet
from wengert.prims.record import Primitive

__all__ = ["SCALARS", "Scalar", "native"]

Rule = Callable[..., str]


class Scalar(NamedTuple):
    """The native form of an element-wise primitive.

    Attributes
    ----------
    rule: ``rule(lane, *operands, **params)``, which emits instructions and returns the result.
    cost: Rough cycles for one element, where several are computed at a time.
    kinds: The kinds of the dtypes in which it computes.
    inside: Where that dtype comes from: "result", "arguments" or "bool".
    vectors: The kinds of the dtypes in which several elements are computed at a time.
    params: Whether it takes certain parameters in a kind of dtype.
    """

    rule: Rule
    cost: int = 1
    kinds: str = "f"
    inside: str = "result"
    vectors: str = "f"
    params: Callable[[Mapping[str, Any], str], bool] | None = None


SCALARS: Facet[Scalar | None] = Facet("elements", lambda prim: None)
"""The native form of one element, where there is one."""


def native(*prims: Primitive, **how: Any) -> Callable[[Rule], Rule]:
    """The decorator of the rule of primitives, with what else there is to a `Scalar`."""

    def register(rule: Rule) -> Rule:
        SCALARS.of(*prims)(Scalar(rule, **how))
        return rule

    return register
