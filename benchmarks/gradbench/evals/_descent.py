"""Gradient descent as particle and saddle prescribe it, and the gradients that they name.

A step that lowers the function is taken, and after ten of them in a row steps become twice as long;
a step that does not makes them half as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as wg

from ._types import Function

Gradient = Callable[[Function], Function]


def forward(f: Function) -> Function:
    """The gradient of `f` for its first argument in forward mode, direction by direction."""

    def gradient(x: Any, *others: Any) -> Any:
        def along(direction: Any) -> Any:
            return wg.func.jvp(lambda x: f(x, *others), (x,), (direction,))[1]

        directions = wg.eye(x.numel(), dtype=x.dtype).reshape(-1, *x.shape)
        return wg.stack([along(direction) for direction in directions]).reshape(x.shape)

    return gradient


GRADIENTS: dict[str, Gradient] = {"f": forward, "r": wg.func.grad}
"""Forward and reverse mode, by the letters in the names of the functions."""

TOLERANCE = 1e-5
FIRST = wg.tensor(1e-5, dtype=wg.float64)


def argmin(f: Function, gradient: Function, x: Any, rate: Any = 1e-5) -> Any:
    """Where `f` is least, from `x` on. `gradient` is its gradient, `rate` the first one.

    Numbers that change are part of a compiled loop where they are tensors, like `FIRST`.
    """
    value, slope, taken = f(x), gradient(x), 0
    while (slope * slope).sum() > TOLERANCE**2:
        if taken == 10:
            rate, taken = 2 * rate, 0
            continue
        moved = x - rate * slope
        if ((moved - x) * (moved - x)).sum() <= TOLERANCE**2:
            break
        new = f(moved)
        if new < value:
            x, value, slope, taken = moved, new, gradient(moved), taken + 1
        else:
            rate, taken = rate / 2, 0
    return x


def argmax(f: Function, gradient: Function, x: Any, rate: Any = 1e-5) -> Any:
    """Where `f` is greatest, from `x` on. `gradient` is its gradient."""
    return argmin(lambda y: -f(y), lambda y: -gradient(y), x, rate)
