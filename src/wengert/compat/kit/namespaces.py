"""Layer 9 · compat: namespaces as tables of modules and names.

NOTE [namespaces of rows]
Most namespaces of an original only re-export names that are defined elsewhere. They are written as
rows, ``module: name name name``, one for each defining module; indented lines continue a row. A
name that is another one there is written ``new=own``. The stubs (`stubs/generate.py`) tell type
checkers and editors what such a namespace offers. In the rows of `gathered` a pattern such as
``segment_*`` is for all names of the module's ``__all__`` that match it, and ``-name`` or
``-pattern`` leaves names out.
"""

from __future__ import annotations

import fnmatch
import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wengert.base.names import defined as defined
from wengert.compat.kit.words import absence


def rows_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the module and the names of each row."""
    home, names = "", []
    for line in text.strip().splitlines():
        before, colon, after = line.partition(":")
        if not colon:
            names += line.split()
            continue
        if home:
            yield home, names
        home, names = before.strip(), after.split()
    if home:
        yield home, names


def homes_of(text: str) -> dict[str, tuple[str, str]]:
    """Return the module of each name in rows, and the name there."""
    pairs = [(home, name.partition("=")) for home, names in rows_of(text) for name in names]
    return {name: (home, own or name) for home, (name, _, own) in pairs}


def closed(namespace: dict[str, Any], modules="", later="", root="") -> Callable[[str], Any]:
    """Return a ``__getattr__`` that finds names on first use, and reports those there are not.

    The idiom's file of cures may say what to write instead, by the name in the original, or ``*``
    for all others of a module.

    Parameters
    ----------
    namespace : dict
        The ``globals()`` of the module.
    modules : str
        Its submodules, which are imported on first use.
    later : str
        Rows of modules in the package `root`, which is the module itself if not given, and of names
        to import on first use.
    """
    package = namespace["__name__"]
    homes = homes_of(later)

    def getattribute(name: str) -> Any:
        if name in modules.split():
            return importlib.import_module(f"{package}.{name}")
        if name in homes:
            home, own = homes[name]
            found = getattr(importlib.import_module(f"{root or package}.{home}"), own)
            return namespace.setdefault(name, found)
        raise AttributeError(absence(package, name))

    getattribute.__name__ = "__getattr__"
    return getattribute


def functions_of(namespace: dict[str, Any], but="") -> dict[str, Any]:
    """Return the functions and classes that `defined` lists, by name, without the given ones."""
    return {name: namespace[name] for name in defined(namespace) if name not in but.split()}


def gathered(namespace: dict[str, Any], root: str, text: str, modules="") -> list[str]:
    """Put the names of rows into a namespace, and return them.

    Parameters
    ----------
    namespace : dict
        The ``globals()`` of a module.
    root : str
        The package that the modules are in.
    text : str
        Rows of modules and names (see NOTE [namespaces of rows]).
    modules : str
        Modules of the package that are names themselves.

    Raises
    ------
    AttributeError
        If a module does not define a name.
    """
    paths = {home.rpartition(".")[2]: f"{root}.{home}" for home in modules.split()}
    namespace |= {name: importlib.import_module(path) for name, path in paths.items()}
    found: dict[str, Any] = {}
    for home, names in rows_of(text):
        module = importlib.import_module(f"{root}.{home}")
        for name, _, own in (name.partition("=") for name in _matching(module, names)):
            found[name] = getattr(module, own or name)
    namespace |= found
    return sorted([*paths, *found])


def _matching(module: Any, names: list[str]) -> Iterator[str]:
    """Yield the names of a row, with its patterns replaced by what they match."""
    without = [name[1:] for name in names if name[0] == "-"]
    for name in names:
        if "*" not in name:
            yield from [name] * (name[0] != "-")
        elif name[0] != "-":
            for one in fnmatch.filter(module.__all__, name):
                if not any(fnmatch.fnmatchcase(one, pattern) for pattern in without):
                    yield one


def tables(root: str, modules: str) -> dict[str, Any]:
    """Return what the tables ``NAMES`` of modules of a package hold."""
    homes = (importlib.import_module(f"{root}.{module}") for module in modules.split())
    return {name: value for home in homes for name, value in home.NAMES.items()}


def lazy(
    namespace: dict[str, Any], find: Callable[[str], Any], listed: Callable[[], Iterable[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module whose names are resolved on first use.

    ``from module import *`` resolves all names that do not begin with an underscore.

    Parameters
    ----------
    namespace : dict
        The ``globals()`` of the module, which caches resolved names.
    find : callable
        Returns the value of a name, or raises AttributeError.
    listed : callable
        Returns the names of the module.
    """

    def getattribute(name: str) -> Any:
        if name == "__all__":
            return [name for name in directory() if not name.startswith("_")]
        if name.startswith("_"):
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        return namespace.setdefault(name, find(name))

    def directory() -> list[str]:
        return sorted(listed())

    getattribute.__name__, directory.__name__ = "__getattr__", "__dir__"
    return getattribute, directory
