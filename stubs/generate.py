"""Writes the stubs (``.pyi``) of the names that come into being when they are first named.

    python stubs/generate.py            write them
    python stubs/generate.py --check    exit with 1 if they are not what would be written

Type checkers and editors do not run a package, so what is made by a loop or imported on demand is
hidden from them. The stubs say what is there. A signature is the one that `inspect` finds; the
type of a parameter is its annotation or, where that is ``Any``, what the docstring says, or else
what parameters of this name are (`NAMES`). Classes have their annotations where they are defined,
and are imported from there; `Tensor`, which gets its methods from everywhere, is written out.

What no rule gives stands in ``written.pyi``: overloads of functions whose results differ, and the
methods of Python's protocols.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import re
import sys
import types
from collections import defaultdict
from pathlib import Path
from typing import Any

from idioms import idiom_stubs
from signatures import HOMES, PACKAGE, WRITTEN, annotated, completed, says_nothing, written_out

import wengert as wg
from wengert.ops.typed import TypedTensor

# the namespaces, each a stub; of those with True the functions are written out
SPACES = {
    "wengert": True,
    "wengert.autograd": False,
    "wengert.fft": True,
    "wengert.linalg": True,
    "wengert.nn": False,
    "wengert.nn.functional": True,
    "wengert.nn.init": True,
    "wengert.nn.modules": False,
    "wengert.nn.utils": False,
    "wengert.optim": False,
    "wengert.special": True,
    "wengert.utils": False,
}
BY_RULES = (
    *("wengert.ops.", "wengert.tensor.", "wengert.nn.functional", "wengert.nn.init"),
    "wengert.nn.structured_init",
)
"""Where the functions are defined whose types follow from rules."""


# -- namespaces ------------------------------------------------------------------------------------


def public(space: Any) -> list[str]:
    """The names of a namespace that are for users."""
    return [name for name in dir(space) if not name.startswith("_")]


def types_itself(function: types.FunctionType) -> bool:
    """Whether the annotations of a function say all, so that it is imported."""
    signature = inspect.signature(function)
    said = [signature.return_annotation, *(p.annotation for p in signature.parameters.values())]
    managed = said[0] == "Iterator[None]"  # the decorator says the rest
    whole = "Any" not in str(said) and "Tensor" not in str(said)
    elsewhere = not function.__module__.startswith(BY_RULES) and "TensorBase" not in str(said)
    return whole or elsewhere or managed


TEXTS: dict[str, str] = {}
"""The text of each function of the package, which is the first of `SPACES`."""


def space_stub(space: str, writes: bool) -> str:
    """A namespace: imports of what is defined elsewhere, and functions."""
    module = importlib.import_module(space)
    short = space.rpartition(".")[2]
    lines = []
    for name in dict.fromkeys([*public(module), *getattr(module, "__all__", ())]):
        value = getattr(module, name)
        home = getattr(value, "__module__", None) or ""
        if home.startswith("wengert."):
            importlib.import_module(home)
        there = sys.modules.get(home)
        names = (name, getattr(value, "__name__", ""))
        origin = next((n for n in names if hasattr(there, n)), None)
        if isinstance(value, types.ModuleType):
            parent, _, own = value.__name__.rpartition(".")
            lines.append(f"from {parent} import {own} as {name}")
        elif name in WRITTEN[space]:
            lines += [ast.unparse(node) for node in WRITTEN[space][name]]
        elif value is wg.Tensor:
            lines.append("from wengert.types import Tensor as Tensor")
        elif isinstance(value, TypedTensor):
            lines.append(f"class {name}(Tensor): ...")
        elif (
            isinstance(value, types.FunctionType)
            and writes
            and not (types_itself(value) and origin)
        ):
            text = written_out(name, value, short)
            # a function that the package has, too, stands in its stub
            told = space != "wengert" and TEXTS.get(name) == text
            lines.append(f"from wengert import {name} as {name}" if told else text)
            if space == "wengert":
                TEXTS[name] = text
        elif isinstance(value, type | types.FunctionType):
            lines.append(f"from {home} import {origin} as {name}")
        else:
            lines.append(f"{name}: {'None' if value is None else annotated(type(value))}")
    if space == "wengert":
        lines += ["def __dir__() -> list[_str]: ...", "__version__: _str", "bfloat16: _dtype"]
    lines.append(all_of(module))
    return "\n".join(lines)


def all_of(module: types.ModuleType) -> str:
    """The list of what a star imports, if there is one."""
    names = getattr(module, "__all__", None)
    return "" if names is None else f"__all__ = {sorted(names)}"


def tensor_stub() -> str:
    """The class of tensors, without what the layers below keep in them."""
    lines = []
    for name in dict.fromkeys([*WRITTEN["Tensor"], *public(wg.Tensor)]):
        value = inspect.getattr_static(wg.Tensor, name)
        if name in WRITTEN["Tensor"]:
            lines += [ast.unparse(node) for node in WRITTEN["Tensor"][name]]
        elif isinstance(value, property):
            lines.append(property_stub(name, value))
        elif isinstance(value, bool | int | str):
            lines.append(f"{name}: {annotated(type(value))}")
        else:
            lines.append(written_out(name, getattr(wg.Tensor, name), "Tensor", method=True))
    body = "\n".join(lines).replace("\n", "\n    ")
    # object compares to a bool
    body = re.sub(r"(def __(?:eq|ne)__.*?:)\n *\.\.\.", r"\1 ...  # type: ignore[override]", body)
    return f"class Tensor(metaclass=TensorClass):\n    {body}"


def property_stub(name: str, value: property) -> str:
    """A property, with its setter if it has one."""
    annotation = inspect.signature(value.fget).return_annotation if value.fget else "Any"
    result = "Tensor" if says_nothing(annotation) else annotated(annotation)
    text = f"@property\ndef {name}(self) -> {result}: ..."
    if value.fset is not None:
        text += f"\n@{name}.setter\ndef {name}(self, value: {result}) -> None: ..."
    return text


def types_stub() -> str:
    """The names for annotations, and the class of tensors."""
    source = ast.parse((PACKAGE / "types.py").read_text(encoding="utf-8")).body
    aliases = [annotated(ast.unparse(node)) for node in source if isinstance(node, ast.AnnAssign)]
    taken = [
        f"from {HOMES[f'_{name}']} import {name} as {name}" for name in ("device", "dtype", "Size")
    ]
    return "\n".join([*taken, *aliases, tensor_stub(), all_of(wg.types)])


def return_types_stub() -> str:
    """The named tuples that functions return."""
    space = wg.return_types
    lines = ["from typing import type_check_only"]
    lines += ["class Results(tuple[Any, ...]):", "    __match_args__: tuple[_str, ...]"]
    lines += ["    def __init_subclass__(cls, fields: _str = '') -> None: ..."]
    known: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for name in public(space):
        if fields := getattr(space, name).__match_args__:
            known[*fields, name == "histogramdd"].append(name)
    for (*fields, several), names in known.items():
        kinds = ["Tensor", "tuple[Tensor, ...]"] if several else ["Tensor"] * len(fields)
        first, *others = names
        if others:  # they have a base in common
            first, others = f"_{'_'.join(fields)}", names
            lines += ["@type_check_only"]
        lines += [f"class {first}(tuple[{', '.join(kinds)}]):"]
        lines += [f"    __match_args__ = {tuple(fields)!r}"]
        for field, kind in zip(fields, kinds, strict=True):
            lines += ["    @property", f"    def {field}(self) -> {kind}: ..."]
        lines += [f"class {name}({first}): ..." for name in others]
    return "\n".join([*lines, all_of(space)])


# -- files -----------------------------------------------------------------------------------------


def stubs() -> dict[Path, str]:
    """The text of each stub."""
    made = {}
    for space, writes in SPACES.items():
        place = PACKAGE.joinpath(*space.split(".")[1:])
        path = place / "__init__.pyi" if place.is_dir() else place.with_suffix(".pyi")
        made[path] = completed(space, space_stub(space, writes))
    made |= idiom_stubs()
    made[PACKAGE / "types.pyi"] = completed("wengert.types", types_stub())
    types_of_results = completed("wengert.return_types", return_types_stub())
    made[PACKAGE / "return_types.pyi"] = types_of_results
    return made


def main() -> int:
    """Write the stubs, or look whether they are up to date."""
    parser = argparse.ArgumentParser(description="Write the stubs of the package.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if stale")
    check = parser.parse_args().check
    stale = False
    for path, text in stubs().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale = True
            print(f"{path.relative_to(PACKAGE)}{' is not up to date' if check else ''}")
            if not check:
                path.write_text(text, encoding="utf-8")
    return int(check and stale)


if __name__ == "__main__":
    sys.exit(main())
