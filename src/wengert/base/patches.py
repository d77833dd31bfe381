"""Layer 0 · base: `PATCHES`, definitions of the package that other code has replaced.

NOTE [patches]
Tracing does not enter the code of the package, so a trace is valid only while that code is the
package's own. Replacing a definition (``F.linear = mine``, ``Tensor.relu = mine``,
`unittest.mock.patch`) changes all of its callers, without a change in any object that they reach.
So after the first call of `watch`, the modules of the package and the classes of tensors report
every assignment to their attributes: `Patches.key` is a different object while different
definitions are in place, and `Patches.found` holds these. Other classes cannot report; code that
depends on one compares its `Members` if its version tag has changed.

Settings that functions of the package read while they run are known in the same way. One of the
whole process is a `Setting`, and `Patches.key` is another object after each change; one of a
context (thread or task) is read by a function in `CONTEXTS`, which each call of a trace compares.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from wengert.base.names import INSTALLED

__all__ = ["CONTEXTS", "PATCHES", "Members", "Patches", "Setting", "is_own", "put", "settings_here"]

_APART = (
    *("wengert.compiler", "wengert.compat", "wengert.distributed"),
    *("wengert.hub", "wengert.utils.model_zoo"),
)
"""Packages whose definitions no traced operation looks up, or that hold foreign ones."""
_LIBRARIES = frozenset({"wengert", "numpy", "scipy"})
_OTHERS = frozenset({"__main__", "unittest"})
_BOOKKEEPING = frozenset({"__loader__", "__spec__", "__path__", "__slotnames__"})
"""What importers set on modules, and `copyreg` on classes: these are no definitions."""
_NONE: Any = object()


@functools.lru_cache(2048)
def _is_library(module: Any) -> bool:
    base = module.split(".")[0] if isinstance(module, str) else ""
    base = INSTALLED.get(base, base)
    return base in _LIBRARIES or (base in sys.stdlib_module_names and base not in _OTHERS)


def is_own(value: Any) -> bool:
    """Return whether an object may be a definition of the package itself."""
    return _is_own(value, [])


def _is_own(value: Any, within: list[Any]) -> bool:
    kind = type(value)
    if kind is types.FunctionType or kind.__name__ == _COMPILED:
        if not _is_library(value.__globals__.get("__name__")):
            return False
        cells = [cell for cell in value.__closure__ or () if cell != _EMPTY]
        if not cells or any(value is known for known in within):
            return True
        # a wrapper made by a decorator of the package is its own only if the wrapped function is
        return all(_is_own(cell.cell_contents, [*within, value]) for cell in cells)
    if kind in (staticmethod, classmethod):
        return _is_own(value.__func__, within)
    if kind is property:
        return all(_is_own(part, within) for part in (value.fget, value.fset, value.fdel))
    if kind is functools.partial:
        return _is_own(value.func, within)
    return _is_library(value.__module__ if isinstance(value, type) else kind.__module__)


def _is_code(value: Any) -> bool:
    return callable(value) or hasattr(value, "__get__")


_EMPTY = types.CellType()
_COMPILED = "cython_function_or_method"
"""The type of functions of the compiled build, of which each module may have one of its own."""
_HOLDERS = (types.FunctionType, staticmethod, classmethod, property, functools.partial)
"""Types whose instances may hold foreign functions."""


class Patches:
    """The definitions of the package that other code has replaced.

    Attributes
    ----------
    classes: The classes that report assignments.
    found: The replacements, each with its module or class and its name there.
    key: An object that stays the same while the same replacements are in place.
    """

    absent = _NONE
    """Stands for a missing value."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self._own: dict[tuple[int, str], list[Any]] = {}
        self._keys: dict[Any, Any] = {}
        self._count = self._registered = 0
        self._set: dict[int, tuple[Any, Any]] = {}
        self.classes: list[type] = []
        self._fine: set[Any] = set()
        self.key: Any = None
        self._note()

    def watch(self) -> None:
        """Find the current replacements, and report assignments from now on."""
        if len(sys.modules) == self._count:
            return
        if not self._count:
            for one in self.classes:
                self._find(one)
        self._count = len(sys.modules)
        for module in list(sys.modules.values()):
            # sys.modules may hold any object
            kind: Any = type(module)
            name: Any = getattr(module, "__name__", None)
            if (
                issubclass(kind, types.ModuleType)
                and not issubclass(kind, Watched)
                and isinstance(name, str)
                and f"{name}.".startswith("wengert.")
                and not name.startswith(_APART)
            ):
                self._find(module)
                module.__class__ = _watching(kind)
        self._note()

    def _find(self, owner: Any) -> None:
        # on the hot path: there are thousands of definitions
        function, fine = types.FunctionType, self._fine
        for name, value in list(vars(owner).items()):
            kind = type(value)
            if kind is function and value.__closure__ is None:
                own = id(value.__globals__) in fine
            else:
                own = kind in fine
            if own or name in _BOOKKEEPING:
                continue
            if not is_own(value):
                self._own[id(owner), name] = [None]
                self.found[id(owner), name] = owner, name, value
            elif kind is function and value.__closure__ is None:
                module = sys.modules.get(value.__module__)
                if module is not None and vars(module) is value.__globals__:
                    # the globals of a loaded module are never freed, so their id stays valid
                    fine.add(id(value.__globals__))
            elif not isinstance(value, type) and kind not in _HOLDERS:
                fine.add(kind)

    def tell(self, owner: Any, name: str, before: Any, value: Any) -> None:
        """Note an assignment to an attribute of a module or class, or its deletion (`absent`)."""
        if not self._count or name in _BOOKKEEPING:
            return  # the first `watch` will find it
        place = id(owner), name
        own = self._own.setdefault(place, [])
        if place not in self.found and all(before is not one for one in own):
            own.append(before)
        # data may change, and lazy imports set some definitions late
        current = own[-1] if place in self.found else before
        loads = is_own(value) and (isinstance(value, types.ModuleType) or not _is_code(current))
        if isinstance(owner, type) and (current is _NONE or name[:1] != "_"):
            # data of the package's own classes does not change
            loads = loads and _is_code(value)
        known = any(value is one for one in own)
        if known or loads:
            if not known:
                own.append(value)
            found = self.found.pop(place, None) is not None
        else:
            self.found[place] = owner, name, value
            found = True
        if found:
            self._note()

    def registered(self, function: Any) -> None:
        """Note a function that a registry of the package calls from now on."""
        if not is_own(function):
            self._registered += 1
            self._note()

    def has_set(self, setting: Setting) -> None:
        """Note the value of a setting."""
        self._set[id(setting)] = setting, setting.value
        self._note()

    def _note(self) -> None:
        held = tuple(self.found.values())
        known = frozenset([(id(owner), name, id(value)) for owner, name, value in held])
        chosen = frozenset(
            [(key, type(v), v) for key, (one, v) in self._set.items() if v != one.first]
        )
        place = self._registered, known, chosen
        # the key keeps the objects alive, so that their ids stay valid
        self.key = self._keys.pop(place, [held, *self._set.values()])
        self._keys[place] = self.key
        if len(self._keys) > _MOST:
            del self._keys[next(iter(self._keys))]


_MOST = 64
PATCHES = Patches()
"""The replacements in this process."""


class Setting:
    """A value of the process that functions of the package read; traces depend on it.

    Attributes
    ----------
    value: The value, which is hashable.
    first: The value at the start.
    """

    __slots__ = ("first", "value")

    def __init__(self, value: Any) -> None:
        self.first = self.value = value

    def set(self, value: Any) -> None:
        """Change the value, and with it `Patches.key`."""
        self.value = value
        PATCHES.has_set(self)


CONTEXTS: list[Callable[[], Any]] = []
"""Functions that return settings of the current context; each trace depends on all of them."""


def settings_here() -> list[Any]:
    """Return the settings of the current context and of the process, to see if they change."""
    return [id(PATCHES.key), *[read() for read in CONTEXTS]]


class Watched(types.ModuleType):
    """The class of modules that report assignments to their attributes."""

    def __setattr__(self, name: str, value: Any) -> None:
        before = vars(self).get(name, PATCHES.absent)
        super().__setattr__(name, value)
        PATCHES.tell(self, name, before, value)

    def __reduce__(self) -> Any:
        return importlib.import_module, (self.__name__,)

    def __delattr__(self, name: str) -> None:
        before = vars(self).get(name, PATCHES.absent)
        super().__delattr__(name)
        PATCHES.tell(self, name, before, PATCHES.absent)


@functools.cache
def _watching(kind: type) -> type:
    return Watched if kind is types.ModuleType else type(kind.__name__, (Watched, kind), {})


def put(owner: Any, name: str, value: Any) -> None:
    """Set a definition of the package itself on a module or class, without reporting it."""
    (type if isinstance(owner, type) else types.ModuleType).__setattr__(owner, name, value)


# -- classes that cannot report assignments --------------------------------------------------------

_AT = 384
"""The offset of a class's version tag, which every change of the class or a base replaces."""


def _tag(kind: type) -> Any:
    return ctypes.c_uint.from_address(id(kind) + _AT) if _HAS_TAGS else _Untold


class _Untold:
    """The tag of classes if tags cannot be read: it never equals `Members.seen`."""

    value = 0


def _has_tags() -> bool:
    """Return whether this Python's classes have version tags at `_AT`."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    base = type("Base", (), {"name": 1})
    kind: Any = type("Kind", (base,), {})
    tag = ctypes.c_uint.from_address(id(kind) + _AT)
    seen = []
    for value in (2, 3):
        kind.name  # noqa: B018 - a lookup gives the class a tag
        seen += [tag.value, tag.value]
        base.name = value  # type: ignore[attr-defined]
        seen.append(tag.value)
    first, again, changed, second, still, _ = seen
    return 0 != first == again != changed != second == still != 0 and first != second


_HAS_TAGS = _has_tags()


class Members:
    """A snapshot of the members of a class of the package and of its bases in libraries.

    Attributes
    ----------
    tag: The version tag of the class: its `value` changes with the class.
    seen: The value at the snapshot. While they are equal, nothing has changed.
    """

    def __init__(self, kind: type) -> None:
        self._kind = kind
        self._bases = [base for base in kind.__mro__ if _is_library(base.__module__)][:-1]
        self._known = [dict(vars(base)) for base in self._bases]
        self.tag = _tag(kind)
        self.seen = self._present()

    def _present(self) -> int:
        getattr(self._kind, "__name__")  # noqa: B009 - a lookup gives the class a tag
        found: int = self.tag.value
        return found or -1

    def foreign(self) -> Iterator[tuple[type, str, Any]]:
        """Yield the members that are not the package's own, with their classes and names."""
        for base, known in zip(self._bases, self._known, strict=True):
            for name, value in known.items():
                if not is_own(value):
                    yield base, name, value

    def have_changed(self) -> bool:
        """Return whether any member differs from the snapshot."""
        for base, known in zip(self._bases, self._known, strict=True):
            now = vars(base)
            if len(now) != len(known) or any(now.get(k, _NONE) is not v for k, v in known.items()):
                return True
        self.seen = self._present()
        return False
