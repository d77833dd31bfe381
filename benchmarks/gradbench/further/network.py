"""network: the loss of two layers, and a step of gradient descent, which gives the new weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg

RATE = 1e-6


def arguments(input: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(wg.from_numpy(input[name]) for name in ("w1", "w2", "x", "y"))


def objective(w1: Any, w2: Any, x: Any, y: Any) -> Any:
    return ((x @ w1).relu() @ w2 - y).square().sum()


def gradient(w1: Any, w2: Any, x: Any, y: Any) -> tuple[Any, Any]:
    by_w1, by_w2 = wg.func.grad(objective, argnums=(0, 1))(w1, w2, x, y)
    return w1 - RATE * by_w1, w2 - RATE * by_w2
