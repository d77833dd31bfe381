"""Transforms: gradients of small functions beside the function itself, sparse Jacobians.

The first table has the value and the gradient of Rosenbrock's function, as an optimiser asks for
them, beside the value alone in NumPy; the second the passes and the time of a banded Jacobian.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
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


def torch_style(x: Any) -> Step:
    def step() -> Any:
        leaf = torch.tensor(x, requires_grad=True)  # type: ignore[union-attr]
        y = rosenbrock(leaf)
        y.backward()
        return y.item(), leaf.grad.numpy()

    return lambda: step()[1]


def hips_style(x: Any) -> Step:
    both = hips.value_and_grad(rosenbrock)  # type: ignore[union-attr]
    return lambda: both(x)[1]


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
        styles["torch"] = torch_style
    if hips is not None:
        styles["autograd"] = hips_style
    lines = []
    for size in (5, 100):
        x = np.linspace(0.5, 1.5, size)
        steps = {name: style(x) for name, style in chosen(styles, peers).items()}
        truth = steps["wengert"]()
        for peer, step in steps.items():
            if not np.allclose(step(), truth):
                sys.exit(f"Rosenbrock in {size} variables: the gradient of {peer} differs")
        steps["numpy value"] = lambda x=x: rosenbrock(x)  # type: ignore[misc]
        runs = {name: contestant(step, REPEATS) for name, step in steps.items()}
        lines += rows(f"Rosenbrock, {size} variables", measure(runs, rounds))
    return lines


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
    if scipy is not None:
        lines = sparse_jacobian(rounds // 5)
        report("Sparse Jacobians", "ms", 1e3, lines, options.json)


if __name__ == "__main__":
    main()
