"""Figures that the guides state: docs/autograd.md, docs/implicit.md and docs/performance.md.

``autograd``: `value_and_grad` of the autograd idiom beside HIPS autograd, which must agree.
``implicit``: a gradient through `odeint` in units of a solution without derivatives. ``first``: the
first uses of fused kernels in a fresh process, beside later ones.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from _measure import OURS, Row, arguments, clock, measure, optional, report, rows

# isort: split
import numpy as np

import wengert as wg

Call = Callable[[], Any]
ENOUGH = 5e-3
"""Seconds that a round of one contestant takes at least."""


def timed(call: Call) -> Callable[[], Mapping[str, float]]:
    """Seconds of one call, over as many calls as take `ENOUGH`."""
    start = clock()
    call()
    count = max(1, int(ENOUGH / max(clock() - start, 1e-6)))

    def run() -> dict[str, float]:
        begin = clock()
        for _ in range(count):
            call()
        return {"time": (clock() - begin) / count}

    return run


def of_autograd(package: str) -> dict[str, Call]:
    """The cases of docs/autograd.md by the package of that interface that is named."""
    library: Any = importlib.import_module(package)
    anp: Any = importlib.import_module(f"{package}.numpy")
    extend: Any = importlib.import_module(f"{package}.extend")
    draw = np.random.default_rng(0).normal

    def recurrent(weights: Any) -> Any:
        state = anp.zeros((3, 8))
        for x in steps:
            state = anp.tanh(anp.dot(state, weights["w"]) + x + weights["b"])
        return anp.sum(state**2)

    def layers(weights: Any) -> Any:
        hidden = anp.tanh(anp.dot(inputs, weights[0]) + weights[1])
        return anp.mean((anp.dot(hidden, weights[2]) - targets) ** 2)

    def elements(x: Any) -> Any:
        total = 0.0
        for i in range(30):
            total = total + x[i] * x[i]
        return total

    def rosenbrock(x: Any) -> Any:
        return anp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def product(x: Any) -> Any:
        result = 1.0
        for _ in range(50):
            result = result * x
        return result

    own = extend.primitive(lambda x: x**2)
    extend.defvjp(own, lambda result, x: lambda g: 2 * g * x)
    steps, inputs, targets = draw(size=(10, 3, 8)), draw(size=(32, 20)), draw(size=(32, 5))
    cell = {"w": draw(size=(8, 8)) / 3, "b": draw(size=8)}
    weights = [draw(size=(20, 30)) / 5, draw(size=30), draw(size=(30, 5)) / 5]
    grad = library.value_and_grad
    return {
        "a product of 50 numbers": partial(grad(product), 1.01),
        "a recurrent network, 10 steps of 3 by 8": partial(grad(recurrent), cell),
        "a network of two layers": partial(grad(layers), weights),
        "a sum over 30 elements, read one by one": partial(grad(elements), draw(size=30)),
        "Rosenbrock's function of 5 variables": partial(grad(rosenbrock), draw(size=5)),
        "its Hessian, of 6 variables": partial(library.hessian(rosenbrock), draw(size=6)),
        "forward mode (`deriv`) of a product of 50 numbers": partial(library.deriv(product), 1.01),
        "a primitive of your own": partial(grad(own), 0.5),
    }


def autograd(rounds: int) -> tuple[str, str, float, list[Row]]:
    """`value_and_grad` beside HIPS autograd."""
    packages = {OURS: "wengert.compat.autograd"}
    if optional("autograd") is not None:
        packages["autograd"] = "autograd"
    cases = {name: of_autograd(package) for name, package in packages.items()}
    lines = []
    for case in cases[OURS]:
        calls = {name: found[case] for name, found in cases.items()}
        results = [np.concatenate([*map(np.ravel, _leaves(call()))]) for call in calls.values()]
        for result in results[1:]:
            np.testing.assert_allclose(results[0], result, rtol=1e-9)
        lines += rows(case, measure({name: timed(call) for name, call in calls.items()}, rounds))
    return "A gradient in the idiom of autograd", "µs", 1e6, lines


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = [value[name] for name in sorted(value)]
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def equations() -> dict[str, tuple[Any, Any, float, tuple[Any, ...]]]:
    """The equations of docs/implicit.md: function, start, end, parameters."""
    draw = np.random.default_rng(0).normal

    def species(t: Any, y: Any, a: Any) -> Any:
        return wg.stack([a[0] * y[0] - a[1] * y[0] * y[1], a[2] * y[0] * y[1] - a[3] * y[1]])

    def network(t: Any, y: Any, w: Any, v: Any) -> Any:
        return wg.tanh(y @ w) @ v

    def reaction(t: Any, y: Any, a: Any) -> Any:
        spread = wg.roll(y, 1) + wg.roll(y, -1) - 2 * y
        return a[0] * spread + a[1] * y * (1 - y)

    weights = draw(size=(50, 200)) / 7, draw(size=(200, 50)) / 14
    return {
        "two species, 4 parameters": (species, [1.0, 0.5], 5.0, (np.array([1.5, 1, 1, 3]),)),
        "network 50 → 200 → 50, 20,000 parameters": (network, draw(size=50), 1.0, weights),
        "the same on a batch of 64": (network, draw(size=(64, 50)), 1.0, weights),
        "reaction and diffusion at 1,000 points": (
            *(reaction, np.exp(-(np.linspace(-5, 5, 1000) ** 2)), 5.0),
            (np.array([0.5, 1.0]),),
        ),
    }


def solved(equation: Any, sensitivity: str | None, times: int) -> Any:
    """Solve, and differentiate with respect to the parameters unless `sensitivity` is None."""
    function, start, end, values = equation
    recorded = sensitivity is not None
    values = [wg.tensor(v, dtype=wg.float64).requires_grad_(recorded) for v in values]
    way = {"sensitivity": sensitivity} if recorded else {}
    found = wg.integrate.odeint(
        function,
        wg.tensor(start, dtype=wg.float64),
        np.linspace(0.0, end, times),
        tuple(values),
        tfirst=True,
        method="RK45",
        **way,
    )
    return wg.autograd.grad((found**2).sum(), values) if recorded else found


def implicit(rounds: int) -> tuple[str, str, float, list[Row]]:
    """Gradients of solutions in units of the solution."""
    ways = {"discrete, 2 times": ("discrete", 2), "discrete, 20 times": ("discrete", 20)}
    ways |= {"adjoint, 2 times": ("adjoint", 2), "adjoint, 20 times": ("adjoint", 20)}
    lines = []
    for case, equation in equations().items():
        for way, (sensitivity, times) in ways.items():
            calls = {
                OURS: timed(partial(solved, equation, sensitivity, times)),
                "solution": timed(partial(solved, equation, None, times)),
            }
            lines += rows(f"{case}, {way}", measure(calls, max(3, rounds // 3)))
    return "A gradient through a solution beside the solution", "ms", 1e3, lines


FIRST = """
import time, wengert as wg
x = wg.randn(128, 128)
def took(f):
    start = time.process_time()
    f()
    return time.process_time() - start
print(*[took(f) for f in (lambda: wg.nn.functional.gelu(x), lambda: wg.nn.functional.silu(x))])
"""


def first(rounds: int) -> tuple[str, str, float, list[Row]]:
    """First uses of fused kernels, in fresh processes."""

    def run() -> dict[str, float]:
        done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, check=True)
        very, next_ = map(float, done.stdout.split())
        return {"first": very, "next": next_}

    times = measure({OURS: run}, max(3, rounds // 3))
    return "First uses of operations with fused kernels", "ms", 1e3, rows("a kind", times)


PARTS = {"autograd": autograd, "implicit": implicit, "first": first}


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")

    options = arguments(__doc__, more)
    for name in options.parts or PARTS:
        title, unit, scale, lines = PARTS[name](options.rounds)
        report(title, unit, scale, lines, options.json)


if __name__ == "__main__":
    main()
