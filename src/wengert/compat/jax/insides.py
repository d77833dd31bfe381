"""Layer 9 · compat: the internal modules of JAX that other libraries import.

NOTE [JAX's insides]
Nothing is traced here, so most of these names have no effect: libraries look up a class, fill a
dictionary of rules, or define a function that only a trace calls. Each module is a table of
``insides.txt`` with rows of names, by kind: ``class`` for a class without instances, ``context``
for a context without effect, ``refused`` for a function that raises when called, ``same`` for a
function that returns its argument, ``nothing`` for a function that does nothing, ``dict`` for an
empty dictionary. Any other word is the module of ours that has the names, ``.`` the package itself.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections import defaultdict
from collections.abc import Callable
from importlib.resources import files
from types import ModuleType
from typing import Any, NoReturn

from wengert.compat.kit.namespaces import rows_of

_WHY = "nothing is traced, so there are no jaxprs and no primitives"


def _nothing(*args, **kwargs) -> None:
    """Do nothing."""


class Context(contextlib.ContextDecorator):
    """A context that does nothing."""

    def __init__(self, *args, **kwargs) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


def _same(value=None, *args, **kwargs) -> Any:
    """Return the value itself."""
    return value


def _refused(path: str) -> Callable[..., NoReturn]:
    def refused(*args, **kwargs) -> NoReturn:
        raise NotImplementedError(f"jax.{path}: {_WHY}")

    return refused


class Inside(ModuleType):
    """A module built from rows of names (see NOTE [JAX's insides])."""

    def __init__(self, root: str, path: str, text: str) -> None:
        super().__init__(f"{root}.{path}", f"JAX's ``jax.{path}``.")
        self._root, self._path = root, path
        self._homes = {name: home for home, names in rows_of(text) for name in names}
        self.__all__ = sorted(self._homes)

    def __getattr__(self, name: str) -> Any:
        path = f"{self._path}.{name}"
        home = self._homes.get(name)
        if home is None:
            raise AttributeError(f"module 'jax.{self._path}' has no attribute {name!r}: {_WHY}")
        if home == "class":
            value: Any = type(name, (), {"__module__": self.__name__, "__doc__": f"``jax.{path}``"})
        elif home == "dict":
            value = defaultdict(_nothing)
        elif home == "context":
            value = Context
        elif home == "refused":
            value = _refused(path)
        elif home in ("same", "nothing"):
            value = _same if home == "same" else _nothing
        else:
            module = self._root if home == "." else f"{self._root}.{home}"
            value = getattr(importlib.import_module(module), name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return self.__all__


def register(root: str) -> None:
    """Register the modules below the package `root`."""
    tables = files(__package__).joinpath("insides.txt").read_text(encoding="utf-8")
    names = dict(table.partition("\n")[::2] for table in tables.strip().split("\n\n")[1:])
    for path, text in names.items():
        module = Inside(root, path, text)
        parent, _, child = f"{root}.{path}".rpartition(".")
        sys.modules[module.__name__] = module
        if any(other.startswith(f"{path}.") for other in names):
            module.__path__ = []
        if parent in sys.modules:
            setattr(sys.modules[parent], child, module)
