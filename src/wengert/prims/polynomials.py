"""Layer 2 · prims: orthogonal polynomials.

A record computes the derivative of any order of its polynomial, so its rule is the record itself,
one order higher.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from wengert.kernels.polynomials import FAMILIES, polynomial, polynomial_of_degree
from wengert.prims.families import elementwise
from wengert.prims.record import TABLE, case, not_implemented


def _register(family: str) -> None:
    name = f"special_{family}"

    def slope(F: Any, g: Any, self: Any, n: Any, order: int) -> Any:
        return g * getattr(F, name)(self, n, order=order + 1)

    def slope_of_degree(F: Any, g: Any, self: Any, n: float, order: int) -> Any:
        return g * getattr(F, f"{name}_of_degree")(self, n=n, order=order + 1)

    def degree(F: Any, g: Any) -> Any:
        raise NotImplementedError(
            f"the derivative for '{name}: n' is not implemented: the degree is an integer; "
            "detach() it"
        )

    def degrees(rng: Any) -> Any:
        return rng.integers(0, 6, (2, 3))

    elementwise(
        name,
        partial(polynomial, family=family),
        args=("self", "n"),
        params=("order",),
        lin=(slope, degree),
        cases=(
            case((2, 3), degrees, order=0),
            case((3,), lambda rng: np.array(5), order=0),
            case((), lambda rng: np.array(3), order=1),
            case((2, 1), degrees, order=1),
            case((0,), lambda rng: np.array([2]), order=0),
        ),
        refuses=not_implemented(f"{family}_cpu"),
        doc=f"the derivative of an order of the polynomial {family} of degree n",
    )
    elementwise(
        f"{name}_of_degree",
        partial(polynomial_of_degree, family=family),
        params=("n", "order"),
        lin=slope_of_degree,
        node=TABLE[name].node,
        cases=(
            case((2, 3), n=4, order=0),
            case((), n=3, order=1),
            case((3,), n=1.5, order=0),
            case((0,), n=-1, order=0),
        ),
        refuses=TABLE[name].refuses,
        doc=f"the derivative of an order of the polynomial {family} of a degree that is a number",
    )


for _family in FAMILIES:
    _register(_family)
    if _family.startswith("chebyshev"):
        _register(f"shifted_{_family}")
