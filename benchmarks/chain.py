"""Large arrays: chains of element-wise operations on 1,000,000 doubles, forward and backward.

Each array takes 8 MB, more than a processor caches: memory counts as much as arithmetic.
All contestants run in one process, in turns, and must agree on the gradients: on one thread each,
or on several where the library can.
"""

from __future__ import annotations

import argparse
from typing import Any

from _measure import arguments, measure, report, rows

# isort: split
import numpy as np
from _styles import Function, contestant, passes_of, use_threads

SIZE = 1_000_000
LINKS = 4


def _chain(link: Function) -> Function:
    def chain(F: Any, x: Any, w: Any) -> Any:
        y = x
        for _ in range(LINKS):
            y = link(F, y, w, x)
        return y

    return chain


CHAINS: dict[str, tuple[Function, int]] = {
    "mul, add": (_chain(lambda F, y, w, x: y * w + x), 2),
    "mul, tanh, add": (_chain(lambda F, y, w, x: F.tanh(y * w) + x), 3),
    "sin, mul, add": (_chain(lambda F, y, w, x: F.sin(y) * w + x), 3),
    "exp, add, log, mul": (_chain(lambda F, y, w, x: F.log(F.exp(y) + x) * w), 4),
}


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--size", type=int, default=SIZE, metavar="N", help="so many elements")
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="so many threads for us and PyTorch"
    )


def main() -> None:
    options = arguments(__doc__, options_of, (5, 11))
    title = "Chains on large arrays"
    if options.threads > 1:
        use_threads(options.threads)
        title += f", {options.threads} threads"
    lines = []
    for name, (chain, ops) in CHAINS.items():
        rng = np.random.default_rng(0)
        x, w = rng.uniform(0.5, 1.0, options.size), rng.uniform(0.9, 1.0, options.size)
        case = f"{name} ({options.size:,})"
        passes = passes_of(case, chain, [x, w], np.ones(options.size), peers=options.peers)
        runs = {name: contestant(each, LINKS * ops, 1) for name, each in passes.items()}
        lines += rows(case, measure(runs, options.rounds))
    report(title, "ms per operation", 1e3, lines, options.json)


if __name__ == "__main__":
    main()
