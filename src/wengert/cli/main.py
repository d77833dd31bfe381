"""Layer 11 · cli: the command `wengert` and its arguments."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sys
from collections.abc import Sequence

import numpy as np

import wengert as wg
from wengert.cli.bench import bench
from wengert.cli.check import check
from wengert.cli.demo import demo
from wengert.cli.operations import page
from wengert.cli.request import BadRequest
from wengert.prims.whole import TABLE

__all__ = ["main"]

PEERS = ("torch", "autograd", "mygrad", "jax")


def _info() -> int:
    rows = [
        ("wengert", f"{wg.__version__}, {len(TABLE)} primitives"),
        ("Python", f"{platform.python_version()} ({platform.system()} {platform.machine()})"),
        ("NumPy", np.__version__),
    ]
    for name in PEERS:
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = "not installed"
        rows.append((name, found))
    for name, value in rows:
        print(f"{name:10} {value}")
    return 0


def _ops(part: str) -> int:
    rows = [
        (
            name,
            prim.family,
            prim.node if prim.is_differentiable else "-",
            ", ".join(prim.saved) or "-",
            prim.doc,
        )
        for name, prim in sorted(TABLE.items())
        if part in name
    ]
    if not rows:
        raise BadRequest(f"no primitive has {part!r} in its name")
    rows.insert(0, ("primitive", "family", "node", "saves", "computes"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    return 0


def _shape(text: str) -> tuple[int, ...]:
    """``"3,4"`` as a shape; ``"()"`` or ``""`` is that of a number."""
    try:
        shape = tuple(int(size) for size in text.strip("() ").split(",") if size.strip())
    except ValueError:
        shape = (-1,)
    if min(shape, default=0) < 0:
        raise argparse.ArgumentTypeError(f"a shape is sizes with commas, as in 3,4; got {text!r}")
    return shape


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="wengert", description=wg.__doc__.split("\n")[0])
    parser.add_argument("--version", action="version", version=f"wengert {wg.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    command = commands.add_parser("demo", help="train a network on handwritten digits")
    command.add_argument("--epochs", type=_positive, default=30, help="default: 30")
    command.add_argument("--seed", type=int, default=0, help="default: 0")

    commands.add_parser("info", help="versions, and what is installed beside")

    command = commands.add_parser("ops", help="the primitives, and what each one saves")
    command.add_argument("part", nargs="?", default="", help="only those with this in their name")
    command.add_argument(
        "--markdown",
        action="store_true",
        help="all public operations with their derivatives: the page docs/operations.md",
    )

    command = commands.add_parser("bench", help="run the benchmarks of a source checkout")
    command.add_argument(
        "script", nargs="?", help="only this one: overhead, train, startup, anomaly, ops"
    )
    command.add_argument("--quick", action="store_true", help="fewer rounds")
    command.add_argument("--json", action="store_true", help="print JSON instead of tables")

    command = commands.add_parser(
        "check",
        help="compare a function's derivatives with finite differences",
        description=(
            "Run gradcheck and gradgradcheck on a function of tensors. Its inputs are drawn from "
            "a normal distribution, one for each --shape; without any, they are what the "
            "function's attribute `inputs` holds (tensors), or returns if it is a function."
        ),
    )
    command.add_argument("target", metavar="module:function")
    command.add_argument("--shape", type=_shape, action="append", default=[], metavar="3,4")
    command.add_argument(
        "--dtype", default="float64", choices=("float64", "complex128"), help="default: float64"
    )
    command.add_argument("--seed", type=int, default=0, help="of the inputs; default: 0")
    command.add_argument("--first", action="store_true", help="first derivatives only")
    command.add_argument("--fast", action="store_true", help="along random directions only")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `wengert`.

    Parameters
    ----------
    argv
        The arguments; those of the process if None.

    Returns
    -------
    int
        The exit status: 0, 1 if a check failed, 2 if the request makes no sense.

    Examples
    --------
    >>> from wengert.cli.main import main
    >>> main(["ops", "rsqrt"])
    primitive  family       node            saves   computes
    rsqrt      elementwise  RsqrtBackward0  result  1 / sqrt(self)
    0
    """
    options = _parser().parse_args(argv)
    try:
        if options.command == "demo":
            return demo(options.epochs, options.seed)
        if options.command == "info":
            return _info()
        if options.command == "ops" and options.markdown:
            sys.stdout.write(page())
            return 0
        if options.command == "ops":
            return _ops(options.part)
        if options.command == "bench":
            return bench(options.script, options.quick, options.json)
        return check(
            options.target,
            options.shape,
            options.dtype,
            seed=options.seed,
            second=not options.first,
            fast=options.fast,
        )
    except BadRequest as error:
        print(f"wengert {options.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # the reader (`wengert ops | head`) has seen enough; what is left in the buffer goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
