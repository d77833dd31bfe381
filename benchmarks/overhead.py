"""What one recorded operation costs: chains of some fifty, forward and backward.

Small arrays show the cost of recording and of the walk back; 1,000 elements add NumPy's own work.
All contestants run in one process, on one thread, in turns, and must agree on the gradient.
"""

from __future__ import annotations

from typing import Any

from _measure import arguments, measure, report, rows

# isort: split
import numpy as np
from _styles import JAX, Function, contestant, passes_of

PRODUCTS = 50
MIXED = 17
REPEATS = 10


def product(F: Any, x: Any, w: Any) -> Any:
    y = x
    for _ in range(PRODUCTS):
        y = y * w
    return y


def mixed(F: Any, x: Any, w: Any) -> Any:
    y, sin = x, F.sin
    for _ in range(MIXED):
        y = sin(y) * w + x
    return y


CHAINS: dict[str, tuple[Function, int]] = {
    "product": (product, PRODUCTS),
    "sin, mul, add": (mixed, 3 * MIXED),
}


def main() -> None:
    options = arguments(__doc__)
    lines = []
    for name, (chain, ops) in CHAINS.items():
        for dtype in (np.float32, np.float64):
            for shape in ((), (8,), (1000,)):
                rng = np.random.default_rng(0)
                x = rng.uniform(0.5, 1.0, shape).astype(dtype)
                w = rng.uniform(0.9, 1.0, shape).astype(dtype)
                case = f"{name} {shape} {np.dtype(dtype)}"
                passes = passes_of(
                    case,
                    chain,
                    [x, w],
                    np.ones(shape, dtype),
                    peers=options.peers,
                    without=("jax (jit)", "candle"),
                )
                # an un-jitted step of JAX takes as long as fifty of the others
                runs = {
                    peer: contestant(each, ops, 1 if peer in JAX else REPEATS)
                    for peer, each in passes.items()
                }
                lines += rows(case, measure(runs, options.rounds))
    report("The cost of one recorded operation", "µs per operation", 1e6, lines, options.json)


if __name__ == "__main__":
    main()
