"""Layer 8 · compiler: the scalar form of an element-wise primitive, and its registration.

NOTE [dtypes of native elements]
A kernel computes in the dtype of its result, to which NumPy casts every argument first. Comparisons
compute in the common dtype of their arguments instead, and logical operations in bools. Conditions
(`Primitive.fixed`) are bools, too. Python numbers among the parameters are weak, as in NumPy, and
take the computing dtype. Complex numbers and half precision are left to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.prims.facet import Facet
from wengert.prims.record import Primitive
from wengert.prims.scalar import Scalar

Rule = Callable[..., str]

SCALARS: Facet[Scalar | None] = Facet("elements", lambda prim: None)
"""The scalar form of a primitive, or None."""


def native(*prims: Primitive, **how: Any) -> Callable[[Rule], Rule]:
    """Register a function as the rule of primitives; `how` holds further fields of `Scalar`."""

    def register(rule: Rule) -> Rule:
        SCALARS.of(*prims)(Scalar(rule, **how))
        return rule

    return register
