"""Optimisers: one step over many small, a few large, and some tiny parameters.

PyTorch goes through the parameters one by one by default; ``foreach=True`` hands them over in
lists, and ``fused=True`` to kernels that were written for the one optimiser.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from _measure import Row, arguments, chosen, clock, measure, optional, report, rows

# isort: split
import numpy as np

import wengert as wg

torch = optional("torch")
if torch is not None:
    torch.set_num_threads(1)
wg.set_num_threads(1)

CASES = {
    "100 of 64 x 64": ([(64, 64)] * 100, 5),
    "4 of 1000 x 1000": ([(1000, 1000)] * 4, 1),
    "20 of 10": ([(10,)] * 20, 40),
}
OPTIMISERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.01, "momentum": 0.9},
    "AdamW": {"lr": 0.01},
}

Run = Callable[[], Mapping[str, float]]


def prepared(
    module: Any, name: str, options: dict[str, Any], shapes: list[tuple[int, ...]]
) -> tuple[Any, list[Any]]:
    """An optimiser of `module` whose parameters have gradients, and its parameters."""
    rng = np.random.default_rng(0)
    params = []
    for shape in shapes:
        value, grad = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
        param = module.tensor(value).requires_grad_()
        param.grad = module.tensor(grad)
        params.append(param)
    return getattr(module.optim, name)(params, **options), params


def contestant(optimizer: Any, repeats: int) -> Run:
    """Seconds per step."""

    def run() -> dict[str, float]:
        start = clock()
        for _ in range(repeats):
            optimizer.step()
        return {"step": (clock() - start) / repeats}

    return run


def case(label: str, name: str, peers: str | None, rounds: int) -> list[Row]:
    """The rows of one optimiser on some parameters."""
    shapes, repeats = CASES[label]
    styles: dict[str, tuple[Any, dict[str, Any]]] = {"wengert": (wg, {})}
    if torch is not None:
        for style, options in (
            ("torch", {}),
            ("torch foreach", {"foreach": True}),
            ("torch fused", {"fused": True}),
        ):
            styles[style] = torch, options
    runs: dict[str, Run] = {}
    truth: Any = None
    for style, (module, options) in chosen(styles, peers).items():
        optimizer, params = prepared(module, name, {**OPTIMISERS[name], **options}, shapes)
        optimizer.step()
        found = params[-1].detach().numpy()
        if truth is None:
            truth = found
        elif not np.allclose(found, truth, atol=1e-6):
            sys.exit(f"{name}, {label}: the first step of {style} differs")
        runs[style] = contestant(optimizer, repeats)
    return rows(f"{name}, {label}", measure(runs, rounds))


def main() -> None:
    options = arguments(__doc__)
    lines = [
        row
        for label in CASES
        for name in OPTIMISERS
        for row in case(label, name, options.peers, options.rounds)
    ]
    report("Steps of optimisers", "microseconds", 1e6, lines, options.json)


if __name__ == "__main__":
    main()
