"""hello: the square of a number, and its derivative."""

from __future__ import annotations

from typing import Any

import wengert as wg

from ._types import Compile, Functions


def arguments(input: float) -> tuple[Any]:
    return (wg.tensor(input, dtype=wg.float64),)


def objective(x: Any) -> Any:
    return x * x


gradient = wg.func.grad(objective)


def functions(compile: Compile) -> Functions:
    return {"square": compile(objective), "double": compile(gradient)}
