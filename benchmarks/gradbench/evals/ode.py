"""ode: s steps of the Runge-Kutta method for y₀' = x₀, yᵢ' = xᵢ yᵢ₋₁, from 0 to 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg

from ._types import Compile, Functions


def arguments(input: Mapping[str, Any]) -> tuple[Any, int]:
    return wg.tensor(input["x"], dtype=wg.float64), input["s"]


def objective(x: Any, s: int) -> Any:
    one = x.new_ones(1)

    def slope(y: Any) -> Any:
        return x * wg.cat((one, y[:-1]))

    h = 2 / s
    y = wg.zeros_like(x)
    for _ in range(s):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


gradient = wg.func.grad(lambda x, s: objective(x, s)[-1])


def functions(compile: Compile) -> Functions:
    return {"primal": compile(objective), "gradient": compile(gradient)}
