"""rosenbrock: Rosenbrock's function of many variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg


def arguments(input: Mapping[str, Any]) -> tuple[Any]:
    return (wg.from_numpy(input["x"]),)


def objective(x: Any) -> Any:
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


gradient = wg.func.grad(objective)
