"""What anomaly mode costs: a chain of 200 operations forward and backward, with and without it.

Our time under anomaly mode stands beside our plain time, and beside PyTorch under its own.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from _measure import arguments, chosen, measure, optional, report, rows

# isort: split
import numpy as np

import wengert as wg

torch = optional("torch")
if torch is not None:
    torch.set_num_threads(1)

PAIRS = 100


def contestant(lib: Any, context: Callable[[], Any], shape: Any) -> Callable[[], Mapping]:
    """Seconds per operation of a chain of products and sines."""
    x = lib.tensor(np.full(shape, 0.5, np.float32)).requires_grad_()
    w = lib.tensor(np.full(shape, 0.9, np.float32)).requires_grad_()

    def run() -> dict[str, float]:
        with context():
            start = perf_counter()
            y = x
            for _ in range(PAIRS):
                y = (y * w).sin()
            middle = perf_counter()
            y.sum().backward()
            end = perf_counter()
        x.grad = w.grad = None
        per = 2 * PAIRS
        return {
            "forward": (middle - start) / per,
            "backward": (end - middle) / per,
            "both": (end - start) / per,
        }

    return run


def main() -> None:
    options = arguments(__doc__)
    warnings.simplefilter("ignore")
    contestants = {
        "wengert": (wg, wg.autograd.detect_anomaly),
        "wengert plain": (wg, contextlib.nullcontext),
    }
    if torch is not None:
        contestants["torch"] = (torch, torch.autograd.detect_anomaly)
    contestants = chosen(contestants, options.peers)
    lines = []
    for shape in ((8,), (1000,), (100, 100)):
        runs = {name: contestant(*parts, shape) for name, parts in contestants.items()}
        lines += rows(f"chain {shape}", measure(runs, 7 if options.quick else 21))
    report("What anomaly mode costs", "µs per operation", 1e6, lines, options.json)


if __name__ == "__main__":
    main()
