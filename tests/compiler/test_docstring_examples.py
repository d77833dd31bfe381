"""Each expression of the docstrings' examples gives compiled what it gives as it is.

Expressions that give something else when they are evaluated again are left out, as are those whose
text shows where objects lie in memory.
"""

import ast
import contextlib
import doctest
import importlib
import io
import os
import random
import re
import subprocess
import sys
import traceback
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import wengert as wg
from wengert.compat.mxnet.sampling import STREAM
from wengert.tape.base import TensorBase

PACKAGE = Path(wg.__file__).parent
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.relative_to(PACKAGE).parts[0] not in ("_dynamo.py", "cli", "compiler", "viz")
    and ">>> " in path.read_text(encoding="utf-8")
]
ADDRESS = re.compile("0x[0-9a-f]+|at [0-9A-F]{6,}")


def described(value):
    """What a value shows of itself: classes, dtypes, layout, history and digits."""
    if isinstance(value, TensorBase):
        strides = [s for s, n in zip(value.stride(), value.shape, strict=True) if n > 1]
        shown = np.asarray(value.detach())
        return type(value), value.requires_grad, value.is_leaf, strides, described(shown)
    if isinstance(value, np.ndarray | np.generic):
        kept = value if value.dtype.kind in "OUSV" else np.round(value.astype("D"), 4).tolist()
        return type(value), value.dtype.str, value.shape, str(kept)
    if isinstance(value, list | tuple):
        return type(value), [described(part) for part in value]
    if isinstance(value, dict):
        return type(value), [(repr(key), described(part)) for key, part in value.items()]
    if isinstance(value, types.ModuleType):
        return value.__name__
    return type(value), repr(value)


def outcome(function):
    """What a call gives or raises, and prints, with the same random numbers each time."""
    generators = wg.numpy.random, np.random, STREAM
    states = wg.get_rng_state(), random.getstate(), *(g.get_state() for g in generators)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return described(function()), printed.getvalue()
    except Exception as error:
        return type(error), str(error)
    finally:
        wg.set_rng_state(states[0])
        random.setstate(states[1])
        for generator, state in zip(generators, states[2:], strict=True):
            generator.set_state(state)


def value_of(source):
    """The expression that an example evaluates, or None."""
    (node, *more) = ast.parse(source).body
    if more or not isinstance(node, ast.Expr | ast.Assign):
        return None
    changes = (ast.Await, ast.NamedExpr, ast.Yield)
    return None if any(isinstance(n, changes) for n in ast.walk(node.value)) else node.value


def differences(test):
    """The examples of a docstring whose compiled calls give something else."""
    space = {**test.globs}
    for example in test.examples:
        expression = value_of(example.source)
        if expression is not None:
            plain = eval(f"lambda: ({ast.unparse(expression)})", space)
            expected = outcome(plain)
            if outcome(plain) == expected and not ADDRESS.search(str(expected)):
                compiled = wg.compile(plain)
                for call in range(3):
                    found = outcome(compiled)
                    if found != expected:
                        yield f"{test.name}: {example.source}  call {call}: {found}, not {expected}"
                        break
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(example.source, space)


def check(name):
    """Print what differs in the examples of a module."""
    module = importlib.import_module(name)
    wg.manual_seed(0)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        for line in differences(test):
            print(line)


def main():
    """Check each module that is asked for in a process of its own, all made of this one."""
    warnings.simplefilter("ignore")
    wg.compile(wg.sin)(wg.ones(1))  # loads what is loaded on first use
    for line in sys.stdin:
        name, folder = line.split(maxsplit=1)
        process = os.fork()
        if not process:
            os.chdir(folder.strip())
            with open("found.txt", "w") as found, contextlib.redirect_stdout(found):
                try:
                    check(name)
                except BaseException:
                    traceback.print_exc(file=found)
            os._exit(0)
        print(os.waitpid(process, 0)[1], flush=True)


@pytest.fixture(scope="module")
def checker():
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as process:
        yield process


# in a process of its own, since examples enter levels and change settings
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process for each module")
@pytest.mark.sampled(72)
@pytest.mark.parametrize("name", MODULES)
def test_examples_agree_compiled(name, tmp_path, checker):
    print(name, tmp_path, file=checker.stdin, flush=True)
    status = checker.stdout.readline()
    assert (status, (tmp_path / "found.txt").read_text()) == ("0\n", "")


if __name__ == "__main__":
    main()
