"""Layer 11 · cli: the command `wengert` and its arguments."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import traceback
from collections.abc import Sequence

import wengert as wg
from wengert.cli.bench import SCRIPTS, bench
from wengert.cli.check import check
from wengert.cli.demo import demo
from wengert.cli.graph import graph
from wengert.cli.info import info, operations
from wengert.cli.operations import page
from wengert.cli.request import BadRequest
from wengert.tape.tracebacks import print_users


def _shape(text: str) -> tuple[int, ...]:
    """Parse ``"3,4"`` as a shape; ``"()"`` or ``""`` is that of a number."""
    try:
        sizes = text.strip("() ").removesuffix(",")
        shape = tuple(map(int, sizes.split(","))) if sizes else ()
    except ValueError:
        shape = (-1,)
    if min(shape, default=0) < 0:
        raise argparse.ArgumentTypeError(f"a shape is sizes with commas, as in 3,4; got {text!r}")
    return shape


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def _inputs(command: argparse.ArgumentParser, dtypes: tuple[str, ...]) -> None:
    command.add_argument("target", metavar="module:function")
    command.add_argument(
        "--shape",
        dest="shapes",
        type=_shape,
        action="append",
        default=[],
        metavar="3,4",
        help="draw an input of this shape at random; once for each input",
    )
    help = "read the inputs from a .npy or .npz"
    command.add_argument("--inputs", dest="file", metavar="FILE", help=help)
    command.add_argument(
        "--dtype", default=dtypes[0], choices=dtypes, help=f"of drawn inputs; default: {dtypes[0]}"
    )
    command.add_argument("--seed", type=int, default=0, help="of the inputs; default: 0")


_WHERE_FROM = (
    "Its inputs are drawn from a normal distribution, one for each --shape, or read from a file. "
    "Without either, they are what the function's attribute `inputs` holds (tensors), or returns "
    "if it is a function."
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="wengert", description=wg.__doc__.split("\n")[0])
    parser.add_argument("--version", action="version", version=f"wengert {wg.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    command = commands.add_parser("demo", help="train a network on handwritten digits")
    command.add_argument("--epochs", type=_positive, default=30, help="default: 30")
    command.add_argument("--seed", type=int, default=0, help="default: 0")
    command.add_argument(
        "--output",
        default="wengert-demo",
        metavar="FOLDER",
        help="where the pictures go; default: wengert-demo",
    )

    commands.add_parser("info", help="the versions of wengert and of packages that it can use")

    command = commands.add_parser(
        "ops", help="the primitives, what each one saves, and its derivative"
    )
    command.add_argument("part", nargs="?", default="", help="only those with this in their name")
    command.add_argument(
        "--markdown",
        action="store_true",
        help="all public operations with their derivatives: the page docs/operations.md",
    )

    command = commands.add_parser("bench", help="run the benchmarks of a source checkout")
    command.add_argument("script", nargs="?", help=f"only this one: {', '.join(SCRIPTS)}")
    command.add_argument("--quick", action="store_true", help="fewer rounds")

    command = commands.add_parser(
        "check",
        help="compare a function's derivatives with finite differences",
        description=f"Run gradcheck and gradgradcheck on a function of tensors. {_WHERE_FROM}",
    )
    _inputs(command, ("float64", "complex128"))
    help = "first derivatives only"
    command.add_argument("--first", dest="second", action="store_false", help=help)
    command.add_argument("--forward", action="store_true", help="check forward mode, too")
    command.add_argument("--fast", action="store_true", help="along random directions only")

    command = commands.add_parser(
        "graph",
        help="draw the graph that a function records",
        description=f"Run a function of tensors, and draw what it recorded. {_WHERE_FROM}",
    )
    _inputs(command, ("float32", "float64", "complex128"))
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="a .svg, .html, .dot or .png; without one, a tree is printed",
    )
    command.add_argument("--mode", default="backward", choices=("backward", "double", "forward"))
    command.add_argument(
        "--show",
        default="shape",
        metavar="WORDS",
        help="with commas, of value, shape, grad, saved, local, bytes; default: shape",
    )
    command.add_argument("--depth", type=_positive, help="leave out what lies deeper")

    # options are the arguments of the functions, by name
    runs = (demo, info, _listed, bench, check, graph)
    for command, run in zip(commands.choices.values(), runs, strict=True):
        command.set_defaults(run=run)
        help = "print JSON, for programs"
        command.add_argument("--json", dest="as_json", action="store_true", help=help)
    return parser


def _listed(part: str, markdown: bool, as_json: bool) -> int:
    if not markdown:
        return operations(part, as_json)
    if as_json or part:
        raise BadRequest("--markdown is the whole page: it takes no name and no --json")
    sys.stdout.write(page())
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `wengert`.

    Parameters
    ----------
    argv: The arguments; those of the process if None.

    Returns
    -------
    int: The exit status: 0, 1 if a check failed, 2 if the request makes no sense or the code that
        it runs raises.

    Examples
    --------
    >>> from wengert.cli.main import main
    >>> main(["ops", "rsqrt"])
    primitive  family       node            saves   computes        derivative
    rsqrt      elementwise  RsqrtBackward0  result  1 / sqrt(self)  -g * result ** 3 / 2
    0
    """
    options = vars(_parser().parse_args(argv))
    name, run = options.pop("command"), options.pop("run")
    status, said = 2, ""
    try:
        status = run(**options)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()  # the reader (`wengert ops | head`) has closed the pipe
        status = 0
    except BadRequest as error:
        said = str(error)
    except KeyboardInterrupt:
        status, said = 130, "interrupted"
    except SystemExit as error:
        said = f"the code that it ran called sys.exit({error.code!r})"
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            _discard_output()
        said = "".join(traceback.format_exception_only(error)).strip()
        if print_users(error):  # a traceback serves only those whose code is in it
            said = f"the code that it ran raised {type(error).__name__}"
    if said:
        print(f"wengert {name}: {said}", file=sys.stderr)
    return status


def _discard_output() -> None:
    """Drop what the buffer still holds, so that Python does not try to write it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
