"""Transforms: gradients of small functions, per-example gradients, Hessians, sparse Jacobians.

The first table has the value and the gradient of Rosenbrock's function, as an optimiser asks for
them, beside the value alone in NumPy; the second the gradients of a network for each of 256
examples, mapped and in a loop, and a Hessian; the third the time of a banded Jacobian.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any

from _measure import Row, arguments, chosen, measure, optional, report, rows

# isort: split
import numpy as np

import wengert as wg

torch = optional("torch")
hips = optional("autograd")
scipy = optional("scipy")
if torch is not None:
    torch.set_num_threads(1)

REPEATS = 20
BAND = 10_000
"""The size of the banded Jacobian."""

Step = Callable[[], Any]


def rosenbrock(x: Any) -> Any:
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


# -- value and gradient ---------------------------------------------------------------------------


def ours(x: Any) -> Step:
    both = wg.scipy.callables(rosenbrock, x).value_and_grad
    return lambda: both(x)[1]


def torch_style(torch: Any, x: Any) -> Step:
    def step() -> Any:
        leaf = torch.tensor(x, requires_grad=True)
        y = rosenbrock(leaf)
        y.backward()
        return y.item(), leaf.grad.numpy()

    return lambda: step()[1]


def hips_style(hips: Any, x: Any) -> Step:
    both = hips.value_and_grad(rosenbrock)
    return lambda: both(x)[1]


def first_of(function: Callable[..., Any], *args: Any) -> Any:
    """The first of the gradients that `function` gives."""
    return function(*args)[0]


def contestant(step: Step, repeats: int) -> Callable[[], Mapping[str, float]]:
    """Seconds per step."""

    def run() -> dict[str, float]:
        start = perf_counter()
        for _ in range(repeats):
            step()
        return {"both": (perf_counter() - start) / repeats}

    return run


def small_functions(peers: str | None, rounds: int) -> list[Row]:
    styles: dict[str, Callable[[Any], Step]] = {"wengert": ours}
    if torch is not None:
        styles["torch"] = partial(torch_style, torch)
    if hips is not None:
        styles["autograd"] = partial(hips_style, hips)
    lines = []
    for size in (5, 100):
        x = np.linspace(0.5, 1.5, size)
        steps = {name: style(x) for name, style in chosen(styles, peers).items()}
        truth = steps["wengert"]()
        for peer, step in steps.items():
            if not np.allclose(step(), truth):
                sys.exit(f"Rosenbrock in {size} variables: the gradient of {peer} differs")
        steps["numpy value"] = partial(rosenbrock, x)
        runs = {name: contestant(step, REPEATS) for name, step in steps.items()}
        lines += rows(f"Rosenbrock, {size} variables", measure(runs, rounds))
    return lines


# -- many gradients in one pass --------------------------------------------------------------------


def network(module: Any) -> Callable[..., Any]:
    """The loss of the demo's network for one example, with the functions of a library."""

    def loss(parameters: Any, image: Any, label: Any) -> Any:
        w1, b1, w2, b2 = parameters
        hidden = (image @ w1 + b1).relu()
        return module.nn.functional.cross_entropy(hidden @ w2 + b2, label)

    return loss


def bumps(matrix: Any) -> Callable[[Any], Any]:
    """A function of as many variables as `matrix` has columns."""
    return lambda x: ((matrix @ x).tanh() ** 2).sum() + (x[1:] * x[:-1]).sin().sum()


def many(peers: str | None, rounds: int) -> list[Row]:
    rng = np.random.default_rng(0)
    shapes = ((64, 100), (100,), (100, 10), (10,))
    arrays = [(0.1 * rng.standard_normal(shape)).astype(np.float32) for shape in shapes]
    images, labels = rng.standard_normal((256, 64)).astype(np.float32), rng.integers(0, 10, 256)
    square, point = rng.standard_normal((100, 100)), 0.1 * rng.standard_normal(100)
    each: dict[str, Step] = {}
    hessians: dict[str, Step] = {}
    for name, module in chosen({"wengert": wg, "torch": torch}, peers).items():
        if module is None:
            continue
        parameters = tuple(map(module.tensor, arrays))
        data, classes = module.tensor(images), module.tensor(labels)
        one = module.func.grad(network(module))
        mapped = module.func.vmap(one, in_dims=(None, 0, 0))
        each[name] = partial(first_of, mapped, parameters, data, classes)
        if name == "wengert":

            def loop(f: Any = one, p: Any = parameters, x: Any = data, y: Any = classes) -> Any:
                return wg.stack([f(p, a, b)[0] for a, b in zip(x, y, strict=True)])

            each["in a loop"] = loop
        second = module.func.hessian(bumps(module.tensor(square)))
        at = module.tensor(point)
        hessians[name] = partial(second, at)
    if hips is not None and (peers is None or "autograd" in peers):
        second = hips.hessian(hips_bumps(square))
        hessians["autograd"] = lambda: second(point)
    lines = []
    cases = (("256 per-example gradients", each), ("Hessian, 100 variables", hessians))
    for title, steps in cases:
        truth = np.asarray(steps["wengert"]())
        for name, step in steps.items():
            if not np.allclose(np.asarray(step()), truth, rtol=1e-4, atol=1e-5):
                sys.exit(f"{title}: that of {name} differs")
        runs = {name: contestant(step, 1) for name, step in steps.items()}
        lines += rows(title, measure(runs, rounds))
    return lines


def hips_bumps(matrix: Any) -> Callable[[Any], Any]:
    hips_numpy = optional("autograd.numpy")

    def function(x: Any) -> Any:
        assert hips_numpy is not None
        curved = hips_numpy.sum(hips_numpy.tanh(hips_numpy.dot(matrix, x)) ** 2)
        return curved + hips_numpy.sum(hips_numpy.sin(x[1:] * x[:-1]))

    return function


# -- sparse Jacobians -----------------------------------------------------------------------------


def tridiagonal(x: Any) -> Any:
    """Broyden's function: each element of the result depends on three neighbours."""
    y = (3 - 2 * x) * x + 1
    below = wg.cat([wg.zeros(1, dtype=x.dtype), x[:-1]])
    above = wg.cat([x[1:], wg.zeros(1, dtype=x.dtype)])
    return y - below - 2 * above


def sparse_jacobian(rounds: int) -> list[Row]:
    x = np.linspace(-1.0, 1.0, BAND)

    def run() -> dict[str, float]:
        start = perf_counter()
        pattern = wg.sparse.pattern(tridiagonal, x)
        found = perf_counter()
        coloring = wg.sparse.color(pattern)
        colored = perf_counter()
        wg.sparse.jacobian(tridiagonal, x, coloring)
        end = perf_counter()
        if coloring.passes > 5:
            sys.exit(f"a banded Jacobian takes {coloring.passes} passes")
        return {"pattern": found - start, "color": colored - found, "jacobian": end - colored}

    return rows(f"tridiagonal, n = {BAND}", measure({"wengert": run}, rounds))


def main() -> None:
    options = arguments(__doc__)
    rounds = 15 if options.quick else 51
    lines = small_functions(options.peers, rounds)
    report("Value and gradient", "µs", 1e6, lines, options.json)
    lines = many(options.peers, max(rounds // 5, 3))
    report("Many gradients in one pass", "ms", 1e3, lines, options.json)
    if scipy is not None:
        lines = sparse_jacobian(rounds // 5)
        report("Sparse Jacobians", "ms", 1e3, lines, options.json)


if __name__ == "__main__":
    main()
