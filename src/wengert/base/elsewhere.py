"""Layer 0 · base: names that are looked up in one module and defined in another, or nowhere.

NOTE [names from elsewhere]
PyTorch has many modules that only re-export names of others, and many names that have no meaning on
one machine with NumPy. Both are tables here (`base.places`, `base.refused`) rather than files:
`FINDER` makes a module from a row of a table when it is imported, and modules that are files call
`elsewhere` for names that they do not define. A refused name can be imported and subclassed;
calling it, instantiating it or reading an attribute raises an error that gives the reason and an
alternative. The tables are read only when a name is not found otherwise.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_ROOT = "wengert."


def elsewhere(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module, or its last resort: look the name up in the tables.

    Parameters
    ----------
    module : str. The module's ``__name__``.
    """
    path = module.removeprefix(_ROOT) if module != "wengert" else ""

    def get(name: str) -> Any:
        if name[:2] != "__":
            tables: Any = importlib.import_module("wengert.base.places")
            place = tables.NAMES.get(path, {}).get(name)
            if place is not None:
                source, original = place
                home = importlib.import_module(f"{_ROOT}{source}".rstrip("."))
                return _keep(module, name, getattr(home, original))
            reason = tables.REFUSED.get(path, {}).get(name)
            if reason is not None:
                return refusal(path, name, reason)
            inner = f"{path}.{name}" if path else name
            if inner in tables.MODULES:
                return importlib.import_module(f"{_ROOT}{inner}")
        elif name == "__all__" and path and "__dir__" in vars(sys.modules[module]):
            # a star import gives the names that are looked up later, too
            return [one for one in dir(sys.modules[module]) if one[:1] != "_"]
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get


def by_name(files: Mapping[str, str]) -> dict[str, str]:
    """Return the file of each name, given the names of each file, separated by blanks."""
    return {name: file for file, names in files.items() for name in names.split()}


def later(
    package: str, where: Mapping[str, str], modules: Sequence[str] = ()
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package that imports its files when they are first used.

    Parameters
    ----------
    package : str. The package's ``__name__``.
    where : dict. The names of the package, with the files that define them.
    modules : sequence of str. Modules that are names of the package, too.
    """
    other = elsewhere(package)

    def get(name: str) -> Any:
        if name in where:
            file = importlib.import_module(f"{package}.{where[name]}")
            return vars(sys.modules[package]).setdefault(name, getattr(file, name))
        return importlib.import_module(f"{package}.{name}") if name in modules else other(name)

    return get


def _keep(module: str, name: str, value: Any) -> Any:
    # the package's own namespace lists only names that it has loaded itself
    return value if module == "wengert" else vars(sys.modules[module]).setdefault(name, value)


@functools.cache
def refusal(path: str, name: str, reason: str) -> Any:
    """Return a stand-in for a name that has no meaning here: a class or function that raises."""
    message = f"torch.{path}.{name}".replace("..", ".") + f" is not offered: {reason}"
    home = f"{_ROOT}{path}".rstrip(".")
    if name.lstrip("_")[:1].isupper():
        body = {"__module__": home, "__doc__": f"Not offered: {reason}", "_why": message}
        return _Refused(name, (_Absent,), body)

    def refused(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(message)

    refused.__name__ = refused.__qualname__ = name
    refused.__module__, refused.__doc__ = home, f"Not offered: {reason}"
    return refused


class _Refused(type):
    """Metaclass of refused classes: attribute lookup raises the reason."""

    _why: str

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(f"{cls.__name__}.{name}: {cls._why}")


class _Absent(metaclass=_Refused):
    """Base of classes that cannot be instantiated."""

    _why = "what is refused is a subclass"

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(cls._why)


class _Keeping(ModuleType):
    """A module that keeps a function in place of its submodule of the same name after an import."""

    def __setattr__(self, name: str, value: Any) -> None:
        held = vars(self).get(name, value)
        if isinstance(value, ModuleType) and not isinstance(held, ModuleType):
            return
        super().__setattr__(name, value)


def keep_beside(parent: ModuleType, name: str) -> None:
    """Make `parent` keep its attribute when a submodule of the same name is imported.

    PyTorch has such modules, and programs use both: ``nn.utils.weight_norm(layer)``.
    """
    spec = parent.__spec__
    tables: Any = importlib.import_module("wengert.base.places")
    listed = tables.NAMES.get(parent.__name__.removeprefix(_ROOT), ())
    if (spec is not None and spec.loader is _TABLES) or not (name in dir(parent) or name in listed):
        return
    held = getattr(parent, name)
    if not isinstance(held, ModuleType):
        vars(parent)[name] = held
        parent.__class__ = _Keeping


class _Finder:  # no base class: to import importlib.abc takes longer than the rest of this module
    """Finds modules that are rows of the tables and have no file."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the module of that name, or None if no table has it."""
        if not fullname.startswith(_ROOT):
            return None
        tables: Any = importlib.import_module("wengert.base.places")
        if fullname.removeprefix(_ROOT) not in tables.MODULES:
            return None
        parent, _, name = fullname.rpartition(".")
        keep_beside(sys.modules[parent], name)
        return ModuleSpec(fullname, _TABLES, is_package=True)


class _Tables:
    """Loads a module from its row."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave creation to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Give the module the names that its rows list."""
        tables: Any = importlib.import_module("wengert.base.places")
        path = module.__name__.removeprefix(_ROOT)
        names = {*tables.NAMES.get(path, {}), *tables.REFUSED.get(path, {})}
        inner = {m.rpartition(".")[2] for m in tables.MODULES if m.rpartition(".")[0] == path}
        public = sorted(name for name in names if name[0] != "_")
        module.__doc__ = tables.MODULES[path]
        space: dict[str, Any] = vars(module)
        space["__all__"] = public
        space["__getattr__"] = elsewhere(module.__name__)
        space["__dir__"] = lambda: sorted({*public, *inner})


_TABLES: Any = _Tables()
FINDER: Any = _Finder()


def install_finder() -> None:
    """Install the finder for modules of the tables, after all finders of files."""
    if FINDER not in sys.meta_path:
        sys.meta_path.append(FINDER)
