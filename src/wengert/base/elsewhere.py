"""Layer 0 · base: names that are asked of one module and stand in another, or nowhere.

NOTE [names from elsewhere]
PyTorch has many modules that only show what others hold, and many names that have no meaning on one
machine with NumPy. Both are tables here (`base.places`, `base.refused`), no files: `FINDER` makes a
module of a row of a table when it is imported, and modules that are files ask `elsewhere` for the
names that they do not have themselves. A name that is refused can be imported, and subclassed; what
calls it, makes an instance of it or asks it for an attribute is told why, and what to do instead.
The tables are read when a name is asked for that is not found otherwise.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["FINDER", "elsewhere", "install_finder", "keep_beside", "refusal"]

_ROOT = "wengert."


def elsewhere(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module, or the end of it: finds what the tables have for the name.

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
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get


def _keep(module: str, name: str, value: Any) -> Any:
    # the package shows what it has kept
    return value if module == "wengert" else vars(sys.modules[module]).setdefault(name, value)


@functools.cache
def refusal(path: str, name: str, reason: str) -> Any:
    """What stands for a name that has no meaning here: a class or a function that says so."""
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
    """Classes that say why they have no attributes."""

    _why: str

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(f"{cls.__name__}.{name}: {cls._why}")


class _Absent(metaclass=_Refused):
    """What no instance can be made of."""

    _why = "what is refused is a subclass"

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(cls._why)


class _Keeping(ModuleType):
    """A module that keeps a function of the name of a module in it, when that is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        held = vars(self).get(name, value)
        if isinstance(value, ModuleType) and not isinstance(held, ModuleType):
            return
        super().__setattr__(name, value)


def keep_beside(parent: ModuleType, name: str) -> None:
    """Have `parent` keep what is not a module when a module of that name is imported.

    PyTorch has such modules, and both are asked for: ``nn.utils.weight_norm(layer)``.
    """
    spec = parent.__spec__
    if (spec is not None and spec.loader is _TABLES) or name not in dir(parent):
        return
    held = getattr(parent, name)
    if not isinstance(held, ModuleType):
        vars(parent)[name] = held
        parent.__class__ = _Keeping


class _Finder:  # importing the abstract classes would take longer than all else here
    """Finds the modules that are rows of tables, where there is no file."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of that name, if a table has it."""
        if not fullname.startswith(_ROOT):
            return None
        tables: Any = importlib.import_module("wengert.base.places")
        if fullname.removeprefix(_ROOT) not in tables.MODULES:
            return None
        parent, _, name = fullname.rpartition(".")
        keep_beside(sys.modules[parent], name)
        return ModuleSpec(fullname, _TABLES, is_package=True)


class _Tables:
    """Makes a module of a row."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Give the module the names that its rows have."""
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
    """Have the modules of the tables found, after all that are files."""
    if FINDER not in sys.meta_path:
        sys.meta_path.append(FINDER)
