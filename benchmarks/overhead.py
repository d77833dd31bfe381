"""What one recorded operation costs: chains of some fifty, forwards and backwards.

Small arrays show the cost of recording and of the walk back; 1,000 elements add NumPy's own work.
All contestants run in one process, on one thread, in turns, and must agree on the gradient.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from _measure import arguments, chosen, measure, optional, report, rows

# isort: split
import numpy as np

import wengert as wg

torch = optional("torch")
hips = optional("autograd")
mygrad = optional("mygrad")
jax = optional("jax")
if torch is not None:
    torch.set_num_threads(1)
if jax is not None:
    jax.config.update("jax_enable_x64", True)

PRODUCTS = 50
MIXED = 17
REPEATS = 10

Chain = Callable[[Any, Any, Callable[[Any], Any]], Any]
"""A function of two arrays and of the library's sine."""
Step = Callable[[], tuple[float, float, list[Any]]]
"""One forward and one backward pass: the seconds of each, and both gradients."""


def product(x: Any, w: Any, sin: Callable[[Any], Any]) -> Any:
    y = x
    for _ in range(PRODUCTS):
        y = y * w
    return y


def mixed(x: Any, w: Any, sin: Callable[[Any], Any]) -> Any:
    y = x
    for _ in range(MIXED):
        y = sin(y) * w + x
    return y


CHAINS: dict[str, tuple[Chain, int]] = {
    "product": (product, PRODUCTS),
    "sin, mul, add": (mixed, 3 * MIXED),
}


def torch_style(lib: Any, chain: Chain, x: Any, w: Any, g: Any) -> Step:
    """PyTorch and we: the very same code."""
    a, b, seed = lib.tensor(x), lib.tensor(w), lib.tensor(g)
    a.requires_grad_()
    b.requires_grad_()

    def step() -> tuple[float, float, list[Any]]:
        start = perf_counter()
        y = chain(a, b, lib.sin)
        middle = perf_counter()
        y.backward(seed)
        del y
        end = perf_counter()
        grads = [a.grad.numpy(), b.grad.numpy()]
        a.grad = b.grad = None
        return middle - start, end - middle, grads

    return step


def hips_style(lib: Any, chain: Chain, x: Any, w: Any, g: Any) -> Step:
    sin = optional("autograd.numpy").sin  # type: ignore[union-attr]

    def step() -> tuple[float, float, list[Any]]:
        start = perf_counter()
        vjp, y = lib.make_vjp(lambda a, b: chain(a, b, sin), (0, 1))(x, w)
        middle = perf_counter()
        grads = vjp(g)
        del vjp, y
        return middle - start, perf_counter() - middle, list(grads)

    return step


def mygrad_style(lib: Any, chain: Chain, x: Any, w: Any, g: Any) -> Step:
    a, b = lib.tensor(x), lib.tensor(w)

    def step() -> tuple[float, float, list[Any]]:
        start = perf_counter()
        y = chain(a, b, lib.sin)
        middle = perf_counter()
        y.backward(g)
        del y
        end = perf_counter()
        grads = [a.grad, b.grad]
        a.null_grad()
        b.null_grad()
        return middle - start, end - middle, grads

    return step


def jax_style(lib: Any, chain: Chain, x: Any, w: Any, g: Any) -> Step:
    a, b, seed = map(lib.numpy.asarray, (x, w, g))

    def step() -> tuple[float, float, list[Any]]:
        start = perf_counter()
        y, vjp = lib.vjp(lambda a, b: chain(a, b, lib.numpy.sin), a, b)
        y.block_until_ready()
        middle = perf_counter()
        grads = lib.block_until_ready(vjp(seed))
        del vjp, y
        return middle - start, perf_counter() - middle, list(grads)

    return step


STYLES = {
    "wengert": (wg, torch_style),
    "torch": (torch, torch_style),
    "autograd": (hips, hips_style),
    "mygrad": (mygrad, mygrad_style),
    "jax (eager)": (jax, jax_style),
}


def contestant(step: Step, ops: int, repeats: int) -> Callable[[], Mapping[str, float]]:
    """Seconds per operation: forward, backward, both."""

    def run() -> dict[str, float]:
        step()  # its own code back into the processor's caches, where the others have been
        forward = backward = 0.0
        for _ in range(repeats):
            there, back, _ = step()
            forward += there
            backward += back
        per = repeats * ops
        return {
            "forward": forward / per,
            "backward": backward / per,
            "both": (forward + backward) / per,
        }

    return run


def main() -> None:
    options = arguments(__doc__)
    styles = chosen({name: style for name, style in STYLES.items() if style[0]}, options.peers)
    rounds = 7 if options.quick else 21
    lines = []
    for name, (chain, ops) in CHAINS.items():
        for dtype in (np.float32, np.float64):
            for shape in ((), (8,), (1000,)):
                rng = np.random.default_rng(0)
                x = rng.uniform(0.5, 1.0, shape).astype(dtype)
                w = rng.uniform(0.9, 1.0, shape).astype(dtype)
                g = np.ones(shape, dtype)
                steps = {n: style(lib, chain, x, w, g) for n, (lib, style) in styles.items()}
                truth = steps["wengert"]()[2]
                for peer, step in steps.items():
                    for ours, theirs in zip(truth, step()[2], strict=True):
                        if not np.allclose(ours, theirs, rtol=1e-4):
                            sys.exit(f"{name} {shape}: the gradient of {peer} differs")
                # an un-jitted step of JAX takes as long as fifty of the others
                runs = {
                    n: contestant(step, ops, 1 if styles[n][0] is jax else REPEATS)
                    for n, step in steps.items()
                }
                case = f"{name} {shape} {np.dtype(dtype)}"
                lines += rows(case, measure(runs, rounds))
    report("The cost of one recorded operation", "µs per operation", 1e6, lines, options.json)


if __name__ == "__main__":
    main()
