"""Layer 0 · base: definitions of the package that somebody else has put in place of its own.

NOTE [patches]
A trace of a compiled function does not look through the code of the package, so it holds only while
that code is the package's own. Whoever replaces a definition (``F.linear = mine``, ``Tensor.relu =
mine``, `unittest.mock.patch`) changes what all of its callers do, and nothing that these reach
shows it. So the modules of the package and the classes of tensors tell what is set on them, once
somebody has asked to `watch`: `Patches.key` is another object while other definitions are in place,
and `Patches.found` holds these. Other classes cannot tell; who depends on one compares its
`Members` when its tag says that some have changed.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any

from wengert.base.names import INSTALLED

__all__ = ["PATCHES", "Members", "Patches", "is_own", "put"]

_APART = ("wengert.compiler", "wengert.compat", "wengert.distributed")
"""Packages whose definitions no traced operation looks up, or that hold those of others."""
_LIBRARIES = frozenset({"wengert", "numpy", "scipy"})
_OTHERS = frozenset({"__main__", "unittest"})
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
    if kind is types.FunctionType:
        if not _is_library(value.__globals__.get("__name__")):
            return False
        cells = [cell for cell in value.__closure__ or () if cell != _EMPTY]
        if not cells or any(value is known for known in within):
            return True
        # what a decorator of the package makes of a function is no more of the package than that
        return all(_is_own(cell.cell_contents, [*within, value]) for cell in cells)
    if kind in (staticmethod, classmethod):
        return _is_own(value.__func__, within)
    if kind is property:
        return all(_is_own(part, within) for part in (value.fget, value.fset, value.fdel))
    if kind is functools.partial:
        return _is_own(value.func, within)
    return _is_library(value.__module__ if isinstance(value, type) else kind.__module__)


_EMPTY = types.CellType()
_HOLDERS = (types.FunctionType, staticmethod, classmethod, property, functools.partial)
"""The types of what may hold functions of others."""


class Patches:
    """The definitions of the package that others have put in its place.

    Attributes
    ----------
    classes: The classes that tell.
    found: These, each with the module or class and the name that it has there.
    key: An object that is the same while the same ones are in place.
    """

    absent = _NONE
    """What stands for no value."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self._own: dict[tuple[int, str], list[Any]] = {}
        self._keys: dict[frozenset[tuple[int, str, int]], Any] = {}
        self._count = 0
        self.classes: list[type] = []
        self._fine: set[Any] = set()
        self.key: Any = None
        self._note()

    def watch(self) -> None:
        """Find what is in place, and have it told what is set from now on."""
        if len(sys.modules) == self._count:
            return
        if not self._count:
            for one in self.classes:
                self._find(one)
        self._count = len(sys.modules)
        for module in list(sys.modules.values()):
            # anything may stand there
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
        # quick, for there are thousands
        function, fine = types.FunctionType, self._fine
        for name, value in list(vars(owner).items()):
            kind = type(value)
            if kind is function and value.__closure__ is None:
                own = id(value.__globals__) in fine
            else:
                own = kind in fine
            if own:
                continue
            if not is_own(value):
                self._own[id(owner), name] = [None]
                self.found[id(owner), name] = owner, name, value
            elif kind is function and value.__closure__ is None:
                module = sys.modules.get(value.__module__)
                if module is not None and vars(module) is value.__globals__:
                    # which is never gone
                    fine.add(id(value.__globals__))
            elif not isinstance(value, type) and kind not in _HOLDERS:
                fine.add(kind)

    def tell(self, owner: Any, name: str, before: Any, value: Any) -> None:
        """Note that something has been set on a module or class, or deleted (see `absent`)."""
        if name == "__slotnames__":
            return  # `copyreg` keeps a list on classes
        place = id(owner), name
        own = self._own.setdefault(place, [before])
        # some definitions come late, or take the place of what loads them
        loads = type(own[-1]) is not types.FunctionType and is_own(value)
        if isinstance(owner, type) and own[-1] is _NONE:
            loads = loads and (callable(value) or hasattr(value, "__get__"))
        if not self._count:
            # `watch` finds it
            return
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

    def _note(self) -> None:
        held = tuple(self.found.values())
        place = frozenset([(id(owner), name, id(value)) for owner, name, value in held])
        if len(self._keys) > _MOST:
            self._keys.clear()
        # the key keeps alive what the numbers stand for
        self.key = self._keys.setdefault(place, held)


_MOST = 64
PATCHES = Patches()
"""What is in place in this process."""


class Watched(types.ModuleType):
    """The class of modules that tell what is set on them."""

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
    """Set one of the package's own definitions on a module or class: it is no patch."""
    (type if isinstance(owner, type) else types.ModuleType).__setattr__(owner, name, value)


# -- classes that cannot tell ----------------------------------------------------------------------

_AT = 384
"""Where the tag of a class lies, a number that each change of the class or a base replaces."""


def _tag(kind: type) -> Any:
    return ctypes.c_uint.from_address(id(kind) + _AT) if _HAS_TAGS else _Untold


class _Untold:
    """The tag of classes where tags cannot be read: it never says that nothing has changed."""

    value = 0


def _has_tags() -> bool:
    """Return whether this Python has tags, where they are looked for."""
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
    """The members of a class of the package and of its bases there, as they are now.

    Attributes
    ----------
    tag: It has its `value` until the class changes.
    seen: That value; 0 if it has to be compared each time.
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
        """Yield those that are not the package's own, with their classes and names."""
        for base, known in zip(self._bases, self._known, strict=True):
            for name, value in known.items():
                if not is_own(value):
                    yield base, name, value

    def have_changed(self) -> bool:
        """Return whether any member is another than it was."""
        for base, known in zip(self._bases, self._known, strict=True):
            now = vars(base)
            if len(now) != len(known) or any(now.get(k, _NONE) is not v for k, v in known.items()):
                return True
        self.seen = self._present()
        return False
