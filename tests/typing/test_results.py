"""Test that results match the stubs, while the docstring examples run."""

import ast
import contextlib
import doctest
import inspect
import io
import operator
import types
import warnings
from pathlib import Path

import pytest

import wengert as wg

PACKAGE = Path(wg.__file__).parent
SPACES = ("", "fft", "linalg", "nn.functional", "nn.init", "special")
KINDS = {
    "Tensor": wg.Tensor,
    "None": type(None),
    "_Size": wg.Size,
    "_bool": bool,
    "_dtype": wg.dtype,
    "_float": float,
    "_int": int,
    "_str": str,
}


def results(space):
    """The types of results that a stub gives for each function: several, if it is overloaded."""
    path = PACKAGE.joinpath(*space.split(".")) if space else PACKAGE / "__init__"
    tree = ast.parse(path.with_suffix(".pyi").read_text(encoding="utf-8"))
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, set()).add(ast.unparse(node.returns))
    return found


def fits(value, kind):
    """Whether a value is of the type that a stub names; True of a type that is not known here."""
    if kind.endswith("_result"):
        return type(value).__name__ == kind[1 : -len("_result")]
    if kind.startswith("tuple["):
        parts = kind[len("tuple[") : -1].split(", ")
        kinds = parts[:1] * len(value) if parts[1:] == ["..."] else parts
        return type(value) is tuple and len(kinds) == len(value) and all(map(fits, value, kinds))
    return isinstance(value, KINDS.get(kind, object))


class Watched:
    """A namespace whose functions have their results looked at."""

    def __init__(self, space, watch):
        self.space, self.watch = space, watch

    def __getattr__(self, name):
        path = f"{self.space}.{name}".lstrip(".")
        found = operator.attrgetter(path)(wg)
        if isinstance(found, types.ModuleType) and any(s.startswith(path) for s in SPACES if s):
            return Watched(path, self.watch)
        if isinstance(found, types.FunctionType):
            return lambda *args, **kwargs: self.watch(path, found(*args, **kwargs))
        return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("space", SPACES)
def test_the_examples_give_what_the_stubs_say(space):
    said = {
        f"{at}.{name}".lstrip("."): kinds for at in SPACES for name, kinds in results(at).items()
    }
    wrong, seen = [], set()

    def watch(path, value):
        if path in said and not any(fits(value, kind) for kind in said[path]):
            wrong.append(f"{path} gives a {type(value).__name__}, not {said[path]}")
        seen.add(path)
        return value

    module = operator.attrgetter(space)(wg) if space else wg
    for name in results(space):
        given = doctest.DocTestParser().get_examples(inspect.getdoc(getattr(module, name)) or "")
        names = {}
        for example in given:
            if not example.exc_msg and example.source != "import wengert as wg\n":
                names.setdefault("wg", Watched("", watch))
                with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    exec(compile(example.source, name, "single"), names)
    assert wrong == []
    assert len(seen) > len(results(space)) / 2
