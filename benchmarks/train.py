"""Training: a network of two layers and a deep one, with the update written by hand.

The two-layer network is that of PyTorch's tutorials: 64 samples of 1,000 inputs, 100 hidden units,
10 outputs, 500 steps. The deep one has ten hidden layers. All contestants run in one process, on
one thread, in turns, from the same weights, and must end at the same loss.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any

from _builds import BUILDS, Build
from _measure import arguments, measure, optional, report, rows

# isort: split
import numpy as np
from _styles import installed

SAMPLES = 64
NETWORKS: dict[str, tuple[tuple[int, ...], float]] = {
    "2 layers, 64x1000x100x10": ((1000, 100, 10), 1e-6),
    "11 layers, 64x100x...x100x10": ((100, *(100,) * 10, 10), 1e-5),
}
STEPS_PER_ROUND = 25
ROUNDS = 18
"""With the two rounds to warm up: 500 steps."""

Arrays = Sequence[Any]
Trainer = Callable[[], float]
"""One step of training; returns the loss before it."""


def torch_style(lib: Any, x: Any, y: Any, weights: Arrays, rate: float) -> Trainer:
    """PyTorch and we: the very same code."""
    inputs, targets = lib.tensor(x), lib.tensor(y)
    ws = [lib.tensor(w).requires_grad_() for w in weights]

    def step() -> float:
        h = inputs
        for w in ws[:-1]:
            h = h.mm(w).clamp(min=0)
        loss = (h.mm(ws[-1]) - targets).pow(2).sum()
        loss.backward()
        with lib.no_grad():
            for w in ws:
                w -= rate * w.grad
                w.grad = None
        return loss.item()

    return step


def our_style(build: Build, x: Any, y: Any, weights: Arrays, rate: float) -> Trainer:
    with build.set_up():
        # a step of another network: all that is imported when it is first needed
        torch_style(build.package, x, y, weights, rate)()
        return torch_style(build.package, x, y, weights, rate)


def hips_style(lib: Any, x: Any, y: Any, weights: Arrays, rate: float) -> Trainer:
    anp: Any = optional("autograd.numpy")
    ws = [w.copy() for w in weights]

    def loss_of(ws: Arrays) -> Any:
        h = x
        for w in ws[:-1]:
            h = anp.maximum(anp.dot(h, w), 0)
        return anp.sum((anp.dot(h, ws[-1]) - y) ** 2)

    gradient = lib.value_and_grad(loss_of)

    def step() -> float:
        loss, grads = gradient(ws)
        for w, grad in zip(ws, grads, strict=True):
            w -= rate * grad
        return float(loss)

    return step


def mygrad_style(lib: Any, x: Any, y: Any, weights: Arrays, rate: float) -> Trainer:
    ws = [lib.tensor(w) for w in weights]

    def step() -> float:
        h = x
        for w in ws[:-1]:
            h = lib.maximum(lib.matmul(h, w), 0)
        loss = ((lib.matmul(h, ws[-1]) - y) ** 2).sum()
        loss.backward()
        for w in ws:
            w.data -= rate * w.grad
            w.null_grad()
        return loss.item()

    return step


def jax_style(lib: Any, x: Any, y: Any, weights: Arrays, rate: float) -> Trainer:
    """JAX as its users run it: the whole step compiled."""
    jnp = lib.numpy
    inputs, targets = jnp.asarray(x), jnp.asarray(y)

    def loss_of(ws: Arrays) -> Any:
        h = inputs
        for w in ws[:-1]:
            h = jnp.maximum(h @ w, 0)
        return ((h @ ws[-1] - targets) ** 2).sum()

    @lib.jit
    def update(ws: Arrays) -> Any:
        loss, grads = lib.value_and_grad(loss_of)(ws)
        return loss, [w - rate * grad for w, grad in zip(ws, grads, strict=True)]

    state = [jnp.asarray(w) for w in weights]

    def step() -> float:
        loss, state[:] = update(state)
        return float(loss)

    return step


STYLES = {
    **dict.fromkeys(BUILDS, our_style),
    "torch": torch_style,
    "autograd": hips_style,
    "mygrad": mygrad_style,
    "jax (jit)": jax_style,
}


def contestant(step: Trainer, losses: list[float]) -> Callable[[], Mapping[str, float]]:
    """Seconds per step."""

    def run() -> dict[str, float]:
        start = perf_counter()
        for _ in range(STEPS_PER_ROUND):
            loss = step()
        seconds = perf_counter() - start
        losses.append(loss)
        return {"step": seconds / STEPS_PER_ROUND}

    return run


def main() -> None:
    options = arguments(__doc__, rounds=(4, ROUNDS))
    styles = installed(STYLES, options.peers)
    lines = []
    for name, (sizes, rate) in NETWORKS.items():
        rng = np.random.default_rng(0)
        x = rng.standard_normal((SAMPLES, sizes[0]), dtype=np.float32)
        y = rng.standard_normal((SAMPLES, sizes[-1]), dtype=np.float32)
        # PyTorch's tutorial draws from a standard normal; deep networks need a scale
        scale = 1.0 if len(sizes) == 3 else (2 / sizes[0]) ** 0.5
        weights = [
            np.float32(scale) * rng.standard_normal(pair, dtype=np.float32)
            for pair in pairwise(sizes)
        ]
        losses: dict[str, list[float]] = {n: [] for n in styles}
        runs = {
            n: contestant(style(lib, x, y, weights, rate), losses[n])
            for n, (lib, style) in styles.items()
        }
        times = measure(runs, options.rounds)
        for peer, theirs in losses.items():
            if not np.isclose(losses["wengert"][-1], theirs[-1], rtol=0.02):
                sys.exit(f"{name}: the loss of {peer} is {theirs[-1]}, not {losses['wengert'][-1]}")
        lines += rows(name, times)
    report("Training", "ms per step", 1e3, lines, options.json)


if __name__ == "__main__":
    main()
