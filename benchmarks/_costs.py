"""What costs what: small things that programs do, on arrays of 8 doubles, beside PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from _builds import BUILDS
from _measure import Row, clock, measure, rows

# isort: split
import numpy as np
from _styles import library

__all__ = ["costs"]

REPEATS = 100
LENGTH = 20
"""Operations of the graphs that are walked."""

Program = Callable[[], Any]


def _programs(lib: Any) -> dict[str, Program]:
    data = np.linspace(0.5, 1.0, 8)
    x, w = lib.tensor(data).requires_grad_(), lib.tensor(data).requires_grad_()
    a, b = lib.tensor(data), lib.tensor(data)
    ones = lib.tensor(np.ones(8))
    grid = lib.tensor(np.ones((4, 4))).requires_grad_()
    seed = lib.ones_like(x)

    class Product(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, left: Any, right: Any) -> Any:
            ctx.save_for_backward(left, right)
            return left * right

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            left, right = ctx.saved_tensors
            return grad * right, grad * left

    def chain() -> Any:
        y = x
        for _ in range(LENGTH):
            y = y * w
        return y

    def without_recording() -> Any:
        with lib.no_grad():
            return x * w

    def backward() -> None:
        chain().backward(seed)
        x.grad = w.grad = None

    def hooked() -> None:
        y = chain()
        handle = y.register_hook(lambda g: None)
        y.backward(seed)
        handle.remove()
        x.grad = w.grad = None

    def anomaly() -> None:
        with lib.autograd.detect_anomaly():
            backward()

    def second() -> None:
        grads = lib.autograd.grad(chain(), (x, w), seed, create_graph=True)
        lib.autograd.grad(grads, (x, w), (seed, seed))

    def packed() -> None:
        with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            chain()

    return {
        "`np.multiply` on arrays": lambda: data * data,
        "`a * b`, neither requires a gradient": lambda: a * b,
        "`x * w`, recorded": lambda: x * w,
        "`x * 2.0`, recorded": lambda: x * 2.0,
        "`with no_grad(): x * w`": without_recording,
        "`a.mul_(b)`, in place, not recorded": lambda: a.mul_(ones),
        "`x.sum()`, recorded": lambda: x.sum(),
        "`x[3]`, recorded": lambda: x[3],
        "`x[2:5]`, recorded": lambda: x[2:5],
        "`grid.reshape(16)`, recorded": lambda: grid.reshape(16),
        "`grid @ grid`, recorded": lambda: grid @ grid,
        "`x.detach()`": x.detach,
        "`tensor(array)`": lambda: lib.tensor(data),
        "`Product.apply(x, w)`, a custom `Function`": lambda: Product.apply(x, w),
        f"a chain of {LENGTH} products": chain,
        "· and `backward()`": backward,
        "· and `autograd.grad()`": lambda: lib.autograd.grad(chain(), (x, w), seed),
        "· and `backward()` with a hook on one tensor": hooked,
        "· and `backward()` under `detect_anomaly()`": anomaly,
        "· and second derivatives (`create_graph=True`)": second,
        "· recorded under `saved_tensors_hooks`": packed,
    }


def costs(rounds: int, peers: str | None) -> list[Row]:
    """A row for each program; its phase says nothing."""
    programs: dict[str, dict[str, Program]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each entry into anomaly mode warns
        for name, build in BUILDS.items():
            with build.set_up():
                programs[name] = _programs(build.package)
                for program in programs[name].values():
                    program()
        if peers is None or "torch" in peers.split(","):
            torch = library("torch")
            if torch is not None:
                programs["torch"] = _programs(torch)

        def contestant(own: dict[str, Program]) -> Callable[[], dict[str, float]]:
            def run() -> dict[str, float]:
                found = {}
                for name, program in own.items():
                    program()
                    start = clock()
                    for _ in range(REPEATS):
                        program()
                    found[name] = (clock() - start) / REPEATS
                return found

            return run

        times = measure({name: contestant(own) for name, own in programs.items()}, rounds)
    return [row._replace(case=row.phase, phase="") for row in rows("", times)]
