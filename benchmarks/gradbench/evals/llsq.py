"""llsq: how far a polynomial is from the sign function, at evenly spaced points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg

from ._types import Compile, Functions


def arguments(input: Mapping[str, Any]) -> tuple[Any, int]:
    return wg.tensor(input["x"], dtype=wg.float64), input["n"]


def objective(x: Any, n: int) -> Any:
    t = wg.linspace(-1, 1, n, dtype=wg.float64)
    residuals = t.sign() - wg.linalg.vander(t, N=len(x)) @ x
    return residuals.square().sum() / 2


gradient = wg.func.grad(objective)


def functions(compile: Compile) -> Functions:
    return {"primal": compile(objective), "gradient": compile(gradient)}
