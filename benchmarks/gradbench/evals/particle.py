"""particle: a charged particle flies past two charges, one of which is moved until it hits 0.

The force is the gradient of a potential, and the charge is placed by gradient descent: a derivative
of derivatives. The letters of a function say how it takes them, forwards or in reverse: first the
one of the descent, then the one of the force.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg

from ._descent import GRADIENTS, Gradient, argmin
from ._types import Compile, Function, Functions

STEP = 0.1


def arguments(input: Mapping[str, Any]) -> tuple[Any]:
    return (wg.tensor(input["w"], dtype=wg.float64),)


def potential(x: Any, w: Any) -> Any:
    fixed = wg.tensor([10.0, 0.0], dtype=wg.float64)
    moved = wg.stack((wg.full_like(w, 10.0), 10 - w))
    return 1 / (x - fixed).norm() + 1 / (x - moved).norm()


def miss(gradient: Gradient) -> Function:
    """The function of `w` that says how far from 0, squared, the particle comes down."""
    force = gradient(potential)

    def squared(w: Any) -> Any:
        x = wg.tensor([0.0, 8.0], dtype=wg.float64)
        v = wg.tensor([0.75, 0.0], dtype=wg.float64)
        while (there := x + STEP * v)[1] > 0:
            x, v = there, v - STEP * force(x, w)
        landing = x - x[1] / v[1] * v
        return landing[0] ** 2

    return squared


objective = miss(wg.func.grad)
# forwards, since the loop is longer than its argument is wide
gradient = wg.func.jacfwd(objective)


def functions(compile: Compile) -> Functions:
    def solver(outer: Gradient, inner: Gradient) -> Function:
        f = miss(inner)
        value, slope = compile(f), compile(outer(f))
        return lambda w: argmin(value, slope, w)

    return {a + b: solver(GRADIENTS[a], GRADIENTS[b]) for a in GRADIENTS for b in GRADIENTS}
