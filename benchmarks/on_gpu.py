"""A GPU: what operations and training take on it, through CuPy, beside PyTorch.

Says so and ends where there is no GPU. Times are wall-clock, after the GPU has computed everything.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

from _measure import optional

# isort: split
import wengert

CASES = ("sin", "product", "sum", "mlp step")
SIZES = (64, 1024, 4096)


def case(torch: Any, name: str, n: int) -> Callable[[], Any]:
    """One line of work of a library under PyTorch's names."""
    torch.manual_seed(0)
    if name == "mlp step":
        layers = [torch.nn.Linear(n, n), torch.nn.ReLU(), torch.nn.Linear(n, 10)]
        net = torch.nn.Sequential(*layers).to("cuda")
        optimiser = torch.optim.SGD(net.parameters(), 0.01)
        x, target = torch.randn(64, n).to("cuda"), (torch.arange(64) % 10).to("cuda")

        def step() -> Any:
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x), target)
            loss.backward()
            optimiser.step()
            return loss

        return step
    x = torch.randn(n, n).to("cuda").requires_grad_()
    forward = {"sin": torch.sin, "product": lambda x: x @ x, "sum": torch.sum}[name]

    def both() -> Any:
        x.grad = None
        total = forward(x).sum()
        total.backward()
        return total

    return both


def seconds(torch: Any, work: Callable[[], Any], rounds: int) -> float:
    """The median of some rounds."""
    times = []
    for _ in range(rounds + 2):
        torch.cuda.synchronize()
        started = perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(perf_counter() - started)
    return statistics.median(times[2:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    if not wengert.cuda.is_available():
        print("no GPU: CuPy is not installed, or finds none; nothing was measured")
        return 0
    torch = optional("torch")
    peers = {"wengert": wengert}
    if torch is not None and torch.cuda.is_available():
        peers["PyTorch"] = torch
    print(f"on {wengert.cuda.get_device_name()}, milliseconds: {', '.join(peers)}")
    for name in CASES:
        for n in SIZES:
            work = {peer: case(library, name, n) for peer, library in peers.items()}
            values = [float(one()) for one in work.values()]
            spread = max(values) - min(values)
            took = [seconds(peers[peer], one, rounds) * 1e3 for peer, one in work.items()]
            columns = "  ".join(f"{ms:9.3f}" for ms in took)
            print(f"{name:10} {n:5}  {columns}   results differ by {spread:.2g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
