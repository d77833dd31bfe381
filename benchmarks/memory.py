"""Memory: what a recorded operation keeps, and how much a forward and a backward pass need at most.

Each contestant runs in a process of its own, which measures what the operating system has given it:
so allocators, caches and fragmentation count as they do for users. What is kept is the growth of
the process per operation, while a long chain on arrays of 8 elements is recorded and held. The peak
is the largest size during a forward and a backward pass, less the size just before; the same
program has run on small arrays by then, so that all code has been loaded. Smaller is better.

Linux only: other systems do not say what a process needed since a given moment.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from _builds import Build
from _measure import OURS, Row, arguments, as_object, chosen, report

# isort: split
import numpy as np
from _styles import STYLES, Function, installed, library

PROCESS = Path("/proc/self")
WITHOUT = ("candle", "jax (jit)", "wengert compiled")
HELD = 20_000
LAYERS = 20


def _size(name: str) -> int:
    """A size of this process in bytes: ``VmRSS`` now, ``VmHWM`` at most."""
    for line in (PROCESS / "status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"the system does not tell {name}")


# -- what a recorded operation keeps ---------------------------------------------------------------

KEPT: dict[str, Function] = {
    "mul": lambda F, y, w: y * w,
    "add": lambda F, y, w: y + w,
    "mul by a number": lambda F, y, w: y * 0.999,
    "sin": lambda F, y, w: F.sin(y),
    "tanh": lambda F, y, w: F.tanh(y),
    "sin, mul, add": lambda F, y, w: F.sin(y) * w + w,
}
OPERATIONS = {"sin, mul, add": 3}


def _torch_graph(lib: Any, function: Function, arrays: list[Any]) -> Any:
    return function(lib, *(lib.tensor(array).requires_grad_() for array in arrays))


def _hips_graph(lib: Any, function: Function, arrays: list[Any]) -> Any:
    names = library("autograd.numpy")
    return lib.make_vjp(lambda *values: function(names, *values), (0, 1))(*arrays)


def _mygrad_graph(lib: Any, function: Function, arrays: list[Any]) -> Any:
    return function(lib, *map(lib.tensor, arrays))


def _jax_graph(lib: Any, function: Function, arrays: list[Any]) -> Any:
    return lib.vjp(lambda *values: function(lib.numpy, *values), *map(lib.numpy.asarray, arrays))


GRAPHS: dict[str, Callable[[Any, Function, list[Any]], Any]] = {
    OURS: _torch_graph,
    "torch": _torch_graph,
    "autograd": _hips_graph,
    "mygrad": _mygrad_graph,
    "jax (eager)": _jax_graph,
}


def kept(peer: str, case: str, held: int) -> float:
    """Bytes per operation of a chain that is recorded and held."""
    lib = installed({peer: None}, peer)[peer][0]
    lib = lib.package if isinstance(lib, Build) else lib
    link = KEPT[case]
    arrays = [np.full(8, 0.5, np.float32), np.full(8, 0.9999, np.float32)]

    def chain(length: int) -> Function:
        def run(F: Any, x: Any, w: Any) -> Any:
            y = x
            for _ in range(length):
                y = link(F, y, w)
            return y

        return run

    # what the allocators have taken in advance is used up first
    first = GRAPHS[peer](lib, chain(2000), arrays)
    gc.collect()
    before = _size("VmRSS")
    graph = GRAPHS[peer](lib, chain(held), arrays)
    after = _size("VmRSS")
    del first, graph
    return (after - before) / (held * OPERATIONS.get(case, 1))


# -- peaks -----------------------------------------------------------------------------------------


class Program(NamedTuple):
    """A function of arrays with these shapes, for a scale of the sizes from 0 to 1."""

    function: Function
    shapes: Callable[[float], list[tuple[int, ...]]]


def _chain(F: Any, x: Any, w: Any, b: Any) -> Any:
    y = x
    for _ in range(10):
        y = F.sin(y) * w + b
    return y


def _fan(F: Any, x: Any, w: Any) -> Any:
    y = x * w
    for _ in range(4):
        y = y * y + F.tanh(y) * y
    return y


def _perceptron(F: Any, x: Any, *parameters: Any) -> Any:
    for layer in range(LAYERS):
        x = F.tanh(x @ parameters[2 * layer] + parameters[2 * layer + 1])
    return x


def _elements(count: int) -> Callable[[float], list[tuple[int, ...]]]:
    return lambda scale: [(max(1, int(1_000_000 * scale)),)] * count


def _layers(scale: float) -> list[tuple[int, ...]]:
    batch, wide = max(1, int(1000 * scale)), max(1, int(256 * scale))
    return [(batch, wide), *[(wide, wide), (wide,)] * LAYERS]


PEAKS: dict[str, Program] = {
    "chain of 10 sin, mul, add (10^6)": Program(_chain, _elements(3)),
    "4 steps with fan-out (10^6)": Program(_fan, _elements(2)),
    f"perceptron of {LAYERS} layers (1000 x 256)": Program(_perceptron, _layers),
}


def peak(peer: str, case: str, scale: float) -> float:
    """Bytes that a forward and a backward pass need at most."""
    program = PEAKS[case]
    lib, style = installed({peer: STYLES[peer]}, peer)[peer]

    def step_of(scale: float) -> Any:
        rng = np.random.default_rng(0)
        arrays = [rng.uniform(0.5, 1.0, s) / max(1, s[0]) ** 0.5 for s in program.shapes(scale)]
        g = np.ones(arrays[0].shape)
        return style(lib, program.function, arrays, g, None).step

    step_of(0.001 * scale)()
    step = step_of(scale)
    gc.collect()
    before = _size("VmRSS")
    # makes the largest size that of now
    (PROCESS / "clear_refs").write_text("5", encoding="ascii")
    for _ in range(3):
        step()
    return _size("VmHWM") - before


# -- all contestants -------------------------------------------------------------------------------


def _in_a_process(peer: str, kind: str, case: str, options: argparse.Namespace) -> float:
    command = [sys.executable, __file__, "--measure", json.dumps([peer, kind, case])]
    command += ["--held", str(options.held), "--scale", str(options.scale)]
    # memory that is free, and kept, would hide what a pass needs
    given = {**os.environ, "WENGERT_KEEP_MEMORY": "0"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=given)
    return float(done.stdout)


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--held", type=int, default=HELD, metavar="N", help="operations to hold")
    parser.add_argument(
        "--scale", type=float, default=1.0, metavar="X", help="sizes of arrays, as a fraction"
    )
    parser.add_argument("--measure", help=argparse.SUPPRESS)


def main() -> None:
    options = arguments(__doc__, options_of, (1, 3))
    if not (PROCESS / "clear_refs").exists():
        sys.exit("memory: this needs Linux, which tells what a process needed")
    if options.measure:
        peer, kind, case = json.loads(options.measure)
        print(kept(peer, case, options.held) if kind == "kept" else peak(peer, case, options.scale))
        return
    names = {name: None for name in STYLES if name not in WITHOUT}
    peers = [name for name in chosen(names, options.peers) if name in installed(names, None)]
    tables = (
        ("Memory kept by a recorded operation on 8 elements", "kept", KEPT, "bytes", 1.0),
        ("Peak memory of a forward and a backward pass", "peak", PEAKS, "MB", 1e-6),
    )
    found = {}
    for peer in peers:
        # a process that compiles what it imports has memory left, which would hide growth
        _in_a_process(peer, "kept", "add", options)
    for title, kind, cases, unit, scale in tables:
        lines = [
            Row(
                case,
                kind,
                {
                    peer: [_in_a_process(peer, kind, case, options) for _ in range(options.rounds)]
                    for peer in peers
                },
            )
            for case in cases
        ]
        if options.json:
            found[kind] = as_object(title, unit, scale, lines)
        else:
            report(title, unit, scale, lines, False)
    if options.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
