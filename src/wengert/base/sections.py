"""Layer 0 · base: shared sections of docstrings, written once and included by name.

NOTE [shared sections]
Docstrings are abbreviated. When a module of the package has run, `_Finder` has them filled in, so
`help` shows, and doctest runs, the full form in NumPy's style:

    Parameters
    ----------
    %(input, dim)s
    index : Tensor. Of int64.

    %(returns_differentiable, raises_dim)s

* An entry that many functions have is written in ``sections.txt``, and named there.
  ``returns_...`` and ``raises_...`` are whole sections, with their headings; ``error_...`` is the
  entry of such a section. Lines that several examples share are there, too.
* An entry's text follows its name and type on the same line, ``x : int. Text``, or a name or a type
  alone, ``ValueError: Text``.
* `out`, `inplace`, `last_epoch`, `cache_size` and `validate_args` need no entry; nor does `name` in
  TensorFlow's functions.
* "Arguments as for `f`" in the first sentence stands for the entries of `f`, of the same module; a
  docstring may add its own parameters.
* Examples need not import the library, as ``wg`` or under the name that an idiom uses.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, FunctionType, ModuleType
from typing import Any

_WG = {"wg": "import wengert as wg"}
_NUMPY = {**_WG, "np": "import numpy as np"}
_IDIOMS = {
    "wengert.distributed": {**_NUMPY, "distributed": "from wengert import distributed"},
    "wengert.nn": {
        **_NUMPY,
        "nn": "from wengert import nn",
        "parametrize": "from wengert.nn.utils import parametrize",
        "parametrizations": "from wengert.nn.utils import parametrizations",
    },
    "wengert.optim": {
        **_NUMPY,
        "optimizer": "optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)",
    },
    "wengert.ops": {**_NUMPY, "F": "import wengert.nn.functional as F"},
    "wengert.sparse": {**_NUMPY, "sparse": "from wengert import sparse"},
    "wengert.numpy": {**_WG, "np": "import wengert.numpy as np"},
    "wengert.compat.autograd": {
        "np": "import wengert.compat.autograd.numpy as np",
        "grad": "from wengert.compat.autograd import grad",
    },
    "wengert.compat.jax": {
        **_NUMPY,
        "jax": "from wengert.compat import jax",
        "jnp": "import wengert.compat.jax.numpy as jnp",
    },
    "wengert.compat.mxnet": {
        **_WG,
        "mx": "from wengert.compat import mxnet as mx",
        **{
            name: f"from wengert.compat.mxnet import {name}"
            for name in ("autograd", "nd", "np", "npx")
        },
    },
    "wengert.compat.tensorflow": {**_NUMPY, "tf": "import wengert.compat.tensorflow as tf"},
}
"""Names that a package's examples need not import, and the statements that define them."""


_FUNCTIONS = (FunctionType, type(functools.cache(os.fspath)))
_DOCUMENTED = (*_FUNCTIONS, property)
_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE: the classes of compiled modules
_HEADINGS = frozenset({"Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes"})
_COPIED = ("Parameters\n", "Attributes\n", "Raises\n")
_SAME = "; arguments as for `"
_COLUMNS = 100


def _texts() -> Iterator[tuple[str, str]]:
    path = os.path.join(os.path.dirname(__file__), "sections.txt")
    loader: Any = __spec__.loader  # importlib.resources takes longer to import than all of base
    for part in loader.get_data(path).decode().split("\n[")[1:]:
        name, _, text = part.strip().partition("]\n")
        kind, _, rest = name.partition("_")
        if kind in ("returns", "raises"):
            if kind == "raises":
                yield f"error_{rest}", text
            text = f"{kind.capitalize()}\n{len(kind) * '-'}\n{text}"
        yield name, text


_TEXTS = dict(_texts())
_IMPLIED = {
    name: _TEXTS[name] for name in ("cache_size", "inplace", "last_epoch", "out", "validate_args")
}
"""Parameters with the same meaning in every function, which come last."""
_IMPLIED_BY_IDIOMS = {
    "wengert.compat.tensorflow": {"name": "name : str, optional. Accepted, and of no effect."}
}


def _named(doc: str) -> str:
    """Expand the entries and sections that a docstring's lines name."""
    done, *parts = doc.split("%(")
    for part in parts:
        names, _, after = part.partition(")s")
        text = ""
        for entry in map(_TEXTS.__getitem__, names.split(", ")):
            apart = entry.startswith(("Returns\n", "Raises\n"))
            text += ("\n\n" if apart else "\n") + entry if text else entry
        margin = done[done.rfind("\n") :]
        done += text.replace("\n", margin).replace(2 * margin, "\n" + margin) + after
    return done


def _spread(doc: str) -> str:
    """Put the text of each entry in a docstring's sections on a line of its own."""
    parts = doc.split("--\n")
    above = parts[0]
    for at in range(1, len(parts)):
        heading = above.rsplit("\n", 2)[-2]
        above = parts[at]
        if (title := heading.lstrip()) in _HEADINGS:
            section, blank, after = above.partition("\n\n")
            margin = heading[: -len(title)] + "    "
            lines: list[str] = []
            moved = False
            for line in section.split("\n"):
                if not line.startswith(margin):
                    typed = line.find(" : ")
                    end = line.find(": " if typed < 0 else ". ", typed + 1)
                    if moved := end > 0:
                        lines.append(line[:end])
                        line = margin + line[end + 2 :]
                elif moved and line[len(margin)] not in " *-":
                    line = lines.pop() + line[len(margin) - 1 :]
                while len(line) > _COLUMNS and (cut := line.rfind(" ", len(margin), _COLUMNS)) > 0:
                    lines.append(line[:cut])
                    line = margin + line[cut + 1 :]
                lines.append(line)
            parts[at] = "\n".join(lines) + blank + after
    return "--\n".join(parts)


def _with_arguments(doc: str, names: dict[str, Any]) -> str:
    """Add the entries of the function or class whose arguments a docstring refers to."""
    title, _, rest = doc.partition(_SAME)
    name, _, rest = rest.partition("`")
    other = names[name].__doc__ if name in names else None
    if not other:
        return doc
    summary, *own = rest.partition(".")[2].split("\n\n")
    at = 0
    while at < len(own) and not own[at].partition("\n")[2].lstrip().startswith("--"):
        at += 1
    entries = own.pop(at) if at < len(own) and own[at].lstrip().startswith("Parameters") else ""
    shared = [part for part in other.split("\n\n") if part.lstrip().startswith(_COPIED)]
    if entries and shared:
        shared[0] += "\n" + entries.split("\n", 2)[2]
    own[at:at] = map(str.rstrip, shared)
    return "\n\n".join([f"{title}.{summary}", *own])


def _calls(code: str, name: str) -> bool:
    """Return whether an example uses the library as `name`."""
    # no regular expressions: compiling them takes long in a short program
    for call in (f"{name}.", f"{name}("):
        at = code.find(call)
        while at > 0:
            line = code[code.rfind("\n", 0, at) + 1 : at]
            before = line[-1:]
            if not (before.isalnum() or before in "_.`") and (">>> " in line or "... " in line):
                return True
            at = code.find(call, at + 1)
    return False


def _imports(code: str, name: str) -> bool:
    """Return whether an example imports or defines `name`."""
    if f">>> {name} = " in code:
        return True
    for after in code.split("import ")[1:]:
        line = after.partition("\n")[0]
        if name in line and name in line.replace(",", " ").replace(".", " ").split():
            return True
    return False


def _imported(doc: str, known: dict[str, str]) -> str:
    """Add to a docstring's examples the imports of the library that they use."""
    start = doc.find(">>> ")
    code = doc[start:]
    lines = ""
    for name, statement in known.items():
        if _calls(code, name) and not _imports(code, name):
            margin = doc[doc.rfind("\n", 0, start) + 1 : start]
            lines += f">>> {statement}\n{margin}"
    return doc[:start] + lines + code if lines else doc


def _implied(doc: str, code: CodeType, entries: dict[str, str]) -> str:
    """Add to a docstring the entries of parameters that need no description."""
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name, entry in entries.items():
        if name in names and (at := doc.find("Parameters\n")) >= 0:
            margin = doc[doc.rfind("\n", 0, at) :][: -len(doc[at:])]
            end = doc.find("\n\n", at)
            end = end if end >= 0 else len(doc.rstrip())
            heads = doc[at:end]
            if not any(f"{margin}{name}{after}" in heads for after in (" ", ":", ",")):
                doc = doc[:end] + margin + entry.replace("\n", margin) + doc[end:]
    return doc


class _Module:
    """The settings for the docstrings of one module."""

    def __init__(self, name: str, names: dict[str, Any]):
        self.names = names
        place = name.split(".")
        package = ".".join(place[: 3 if "compat" in place else 2])
        self.imports = _IDIOMS.get(package, _NUMPY)
        self.implied = _IMPLIED_BY_IDIOMS.get(package, _IMPLIED)

    def filled(self, doc: str, function: Any = None) -> str:
        """Return a docstring in the form in which it is read."""
        if "%(" in doc:
            doc = _named(doc)
        if _SAME in doc:
            doc = _with_arguments(doc, self.names)
        if "--\n" in doc:
            inner = getattr(function, "__wrapped__", function)
            if type(inner) is FunctionType:
                doc = _implied(doc, inner.__code__, self.implied)
            doc = _spread(doc)
        if ">>> " in doc:
            doc = _imported(doc, self.imports)
        return doc


def named(function: Callable[..., Any], name: str, **words: Any) -> Callable[..., Any]:
    """Name a function, and fill in the words in braces in its docstring, `name` among them.

    Words of several lines keep the margin of the docstring.
    """
    doc = function.__doc__ or ""
    margin = doc[doc.rfind("\n") :]  # before the closing quotes
    lines = {word: str(text).replace("\n", margin) for word, text in words.items()}
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc.format(name=name, **lines)
    return function


def fill_sections(names: dict[str, Any]) -> None:
    """Expand the docstrings of a module, its functions and its classes.

    Parameters
    ----------
    names
        The module's globals.
    """
    name = names["__name__"]
    module = _Module(name, names)

    def is_own(function: Any) -> bool:
        # the docstrings of idioms are filled by their own modules
        home = function.__module__
        return bool(home == name or home[:8] != "wengert.")

    if doc := names["__doc__"]:
        names["__doc__"] = module.filled(doc)
    for value in names.values():
        if type(value) in _FUNCTIONS:
            if is_own(value) and (doc := value.__doc__):
                value.__doc__ = module.filled(doc, value)
                inner = getattr(value, "__wrapped__", None)
                if type(inner) is FunctionType:
                    inner.__doc__ = value.__doc__
        elif isinstance(value, type) and value.__module__ == name:
            members = vars(value)
            if (doc := value.__doc__) and not value.__flags__ & _IMMUTABLE:
                value.__doc__ = module.filled(doc, members.get("__init__"))
            for member in members.values():
                function = getattr(member, "__func__", member)
                kind = type(function)
                if kind not in _DOCUMENTED or (kind in _FUNCTIONS and not is_own(function)):
                    continue
                if doc := function.__doc__:
                    member.__doc__ = function.__doc__ = module.filled(doc, function)


class _Finder:  # no base class: to import importlib.abc takes longer than the rest of this module
    """Finds modules of the package as Python does, and has their docstrings filled in."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of the package, or None."""
        found = PathFinder.find_spec(fullname, path) if fullname[:8] == "wengert." else None
        if found is not None and found.loader is not None:
            # the loader of an archive is one for all of its modules
            vars(found.loader).setdefault("exec_module", _filling(found.loader.exec_module))
        return found


def _filling(run: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def exec_module(module: ModuleType) -> None:
        run(module)
        fill_sections(vars(module))

    return exec_module


sys.meta_path.insert(0, _Finder())
