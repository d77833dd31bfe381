"""A recurrent network: an LSTM cell over 100 steps, hidden size 64, forward and backward.

The same source runs with each library's namespace; JAX runs it compiled, its loop as `lax.scan`.
All contestants run in one process, on one thread, in turns, and must agree on the gradients.
"""

from __future__ import annotations

import argparse
from typing import Any

from _measure import arguments, measure, report, rows

# isort: split
import numpy as np
from _styles import contestant, passes_of

STEPS = 100
HIDDEN = 64
BATCHES = (1, 16)


def network(F: Any, items: Any, w: Any, u: Any, b: Any, h: Any, c: Any) -> Any:
    def cell(state: Any, x: Any) -> Any:
        h, c = state
        i, f, g, o = F.quarters(x @ w + h @ u + b)
        c = F.sigmoid(f) * c + F.sigmoid(i) * F.tanh(g)
        return F.sigmoid(o) * F.tanh(c), c

    return F.loop(cell, (h, c), items)[0]


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=int, default=STEPS, metavar="N", help="so many steps")


def main() -> None:
    options = arguments(__doc__, options_of)
    lines = []
    for batch in BATCHES:
        rng = np.random.default_rng(0)

        def draw(*shape: int, scale: float = 1.0, rng: Any = rng) -> np.ndarray:
            return (scale * rng.standard_normal(shape)).astype(np.float32)

        arrays = [
            draw(HIDDEN, 4 * HIDDEN, scale=0.1),
            draw(HIDDEN, 4 * HIDDEN, scale=0.1),
            draw(4 * HIDDEN),
            draw(batch, HIDDEN),
            draw(batch, HIDDEN),
        ]
        case = f"batch {batch}, {options.steps} steps, hidden size {HIDDEN}"
        passes = passes_of(
            case,
            network,
            arrays,
            np.ones((batch, HIDDEN), np.float32),
            items=draw(options.steps, batch, HIDDEN),
            peers=options.peers,
            without=("jax (eager)", "candle"),
        )
        runs = {name: contestant(each, 1, 1) for name, each in passes.items()}
        lines += rows(case, measure(runs, options.rounds))
    report("An LSTM cell", "ms per pass over all steps", 1e3, lines, options.json)


if __name__ == "__main__":
    main()
