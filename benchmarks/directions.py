"""What each direction of differentiation costs beside the function, and what first calls cost.

The first table has times of derivatives as multiples of the function's own, of a network-like
function of 500 numbers. The second has the calls of a compiled training step one after the other:
the first traces and compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from _measure import OURS, Row, arguments, clock, measure, report, rows

# isort: split
import numpy as np

import wengert as wg

SIZE = 500
CALLS = 12
ENOUGH = 2e-3


def function(x: Any, matrix: Any) -> Any:
    return (matrix @ x).tanh() @ x.sin()


def contestant(call: Callable[[], Any]) -> Callable[[], Mapping[str, float]]:
    """Seconds per call."""
    call()
    start = clock()
    call()
    repeats = max(1, round(ENOUGH / max(clock() - start, 1e-7)))

    def run() -> dict[str, float]:
        start = clock()
        for _ in range(repeats):
            call()
        return {"call": (clock() - start) / repeats}

    return run


def directions(rounds: int) -> list[Row]:
    """The function, and its derivatives in each direction."""
    rng = np.random.default_rng(0)
    matrix = wg.tensor(rng.standard_normal((SIZE, SIZE)) / SIZE**0.5)
    x, v = (wg.tensor(rng.standard_normal(SIZE)) for _ in range(2))
    transforms = wg.func

    def f(x: Any) -> Any:
        return function(x, matrix)

    calls = {
        "the function": lambda: f(x),
        "jvp": lambda: transforms.jvp(f, (x,), (v,)),
        "grad": lambda: transforms.grad(f)(x),
        "hvp": lambda: transforms.hvp(f, (x,), (v,)),
        "jacfwd": lambda: transforms.jacfwd(f)(x),
        "hessian": lambda: transforms.hessian(f)(x),
    }
    times = measure({name: contestant(call) for name, call in calls.items()}, rounds)
    return [Row(name, "call", {OURS: of["call"]}) for name, of in times.items()]


def calls(rounds: int) -> list[Row]:
    """The calls of a training step, compiled and not, in the order in which they are made."""
    rng = np.random.default_rng(0)
    images = wg.tensor(rng.standard_normal((64, 100), dtype=np.float32))
    labels = wg.tensor(rng.integers(0, 10, 64))

    def task() -> Callable[[], Any]:
        wg.manual_seed(0)
        model = wg.nn.Sequential(wg.nn.Linear(100, 100), wg.nn.Tanh(), wg.nn.Linear(100, 10))
        optimizer = wg.optim.Adam(model.parameters())

        def step() -> Any:
            optimizer.zero_grad()
            loss = wg.nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            return loss

        return step

    def one_by_one(step: Callable[[], Any]) -> Callable[[], Mapping[str, float]]:
        def run() -> dict[str, float]:
            found = {}
            made = step()
            for call in range(1, CALLS + 1):
                start = clock()
                made()
                found[str(call)] = clock() - start
            return found

        return run

    runs = {
        OURS: one_by_one(lambda: wg.compile(task())),
        "wengert (eager)": one_by_one(task),
    }
    return rows("a training step", measure(runs, max(1, rounds // 7)))


def main() -> None:
    options = arguments(__doc__)
    report("Derivatives, by direction", "µs", 1e6, directions(options.rounds), options.json)
    report("Calls of a step, one by one", "ms", 1e3, calls(options.rounds), options.json)


if __name__ == "__main__":
    main()
