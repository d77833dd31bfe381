"""saddle: where the greatest value over y of a function of x and y is least, by nested descents.

The letters of a function say how it takes derivatives, forwards or in reverse: first those of the
search for x, then those of the search for y that it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg

from ._descent import FIRST, GRADIENTS, Gradient, argmax, argmin
from ._types import Compile, Function, Functions


def arguments(input: Mapping[str, Any]) -> tuple[Any]:
    return (wg.tensor(input["start"], dtype=wg.float64),)


def height(x: Any, y: Any) -> Any:
    return x.square().sum() - y.square().sum()


def highest(gradient: Gradient) -> Function:
    """The function of `x` and `start` that finds the greatest height over y."""

    def over_y(x: Any, start: Any) -> Any:
        def f(y: Any) -> Any:
            return height(x, y)

        return f(argmax(f, gradient(f), start, FIRST))

    return over_y


def objective(start: Any) -> Any:
    return highest(wg.func.grad)(start, start)


def gradient(start: Any) -> Any:
    return wg.func.grad(highest(wg.func.grad))(start, start)


def functions(compile: Compile) -> Functions:
    def solver(outer: Gradient, inner: Gradient) -> Function:
        f = highest(inner)
        value, slope = compile(f), compile(outer(f))

        def solve(start: Any) -> Any:
            x = argmin(lambda x: value(x, start), lambda x: slope(x, start), start)

            def last(y: Any) -> Any:
                return height(x, y)

            return wg.cat((x, argmax(last, outer(last), start)))

        return solve

    return {a + b: solver(GRADIENTS[a], GRADIENTS[b]) for a in GRADIENTS for b in GRADIENTS}
