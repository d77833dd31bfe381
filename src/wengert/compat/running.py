"""Layer 9 · compat: `python -m wengert.compat --as torch script.py`: run unmodified programs."""

from __future__ import annotations

import argparse
import builtins
import code
import importlib.util
import io
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wengert.compat.installing import install
from wengert.tensor.overrides import prepare

__all__ = ["main"]


class _Arguments(list[str]):
    """``sys.argv`` of a program. A spawned process receives it before it imports anything, and then
    installs the same names.
    """

    def __init__(self, arguments: Iterable[str], names: tuple[str, ...]) -> None:
        super().__init__(arguments)
        self.names = names

    def __reduce__(self) -> Any:
        return _arguments, (list(self), self.names)


def _arguments(arguments: list[str], names: tuple[str, ...]) -> _Arguments:
    """Return the arguments in a spawned process, after installing the names."""
    for name in names:
        install(name)
    return _Arguments(arguments, names)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m wengert.compat",
        description="Run a program that imports another library, with what stands for it here. "
        "Without a program, start Python's prompt, or read the program from standard input.",
        usage="%(prog)s --as NAME ... [-v] [script.py | -m module | -c code | -] [args ...]",
    )
    parser.add_argument(
        "--as",
        action="append",
        dest="names",
        required=True,
        metavar="NAME",
        help="torch, jax, autograd, tensorflow or mxnet; may be given several times",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="say what was installed")
    return parser


def _own(arguments: list[str]) -> int:
    """Return the number of arguments before the program's name."""
    count = 0
    while count < len(arguments) and (word := arguments[count])[:1] == "-":
        if word in ("-m", "-c", "-"):
            break
        count += 2 if word == "--as" else 1
    return count


def main() -> None:
    """Install the requested names, and run the program."""
    parser = _parser()
    own = _own(sys.argv[1:]) + 1
    options, program = parser.parse_args(sys.argv[1:own]), sys.argv[own:]
    kind = program[0] if program else ""
    program = program[1:] if kind in ("-m", "-c") else program or ["-"]
    if not program:
        parser.error(f"Argument expected for the {kind} option")
    names = tuple(options.names)
    try:
        installed = [install(name) for name in names]
    except (RuntimeError, ValueError) as error:
        parser.error(str(error))
    if options.verbose:
        print(*installed, sep="\n", file=sys.stderr)
    sys.argv = _Arguments(["-c", *program[1:]] if kind == "-c" else program, names)
    if kind == "-m":
        if importlib.util.find_spec(program[0].partition(".")[0]) is None:
            parser.error(f"No module named {program[0]}")
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        _run(program[0], "<string>")
    elif not kind and sys.stdin.isatty():
        code.interact(local={"__name__": "__main__"}, exitmsg="")
    elif program[0] == "-":
        _run(sys.stdin.read(), "<stdin>")
    else:
        path = Path(program[0])
        try:
            with io.open_code(str(path.absolute())) as file:
                text: Any = file.read()
        except OSError as error:
            parser.error(f"cannot read the program: {error}")
        sys.path[0] = str(path.resolve().parent)
        _run(text, str(path.absolute()), __file__=str(path.absolute()))


def _run(text: Any, name: str, **more: Any) -> None:
    """Run code as ``__main__``, which its pickles and subprocesses refer to."""
    names = vars(sys.modules["__main__"])
    compiled = compile(text, name, "exec", dont_inherit=True)
    if "__torch_function__" in str(text):
        # tables of functions may stand before the classes that implement them
        prepare()
    names.clear()
    names.update(__name__="__main__", __builtins__=builtins, __spec__=None, __doc__=None, **more)
    exec(compiled, names)
