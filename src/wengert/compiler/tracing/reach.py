"""Layer 8 · compiler: conditions on the names that functions look up in modules."""

from __future__ import annotations

import builtins
import contextlib
import copyreg
import importlib.util
import sys
import types
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from wengert.base.dtypes import dtype
from wengert.compiler.objects.guards import Conditions
from wengert.compiler.objects.libraries import (
    EXACT,
    is_library_module,
    is_of_library,
    is_pure,
    is_trusted,
    keeps_state,
    may_tell,
)
from wengert.compiler.objects.names import Names, line_of_name, names_of
from wengert.compiler.objects.reading import Unknown
from wengert.compiler.objects.walker import read
from wengert.compiler.tracing.effects import Place
from wengert.compiler.tracing.reports import is_report, is_unchanged

DYNAMIC = frozenset(
    {"getattr", "vars", "__dict__", "attrgetter", "dir", "getmembers", "__getattribute__"}
)
"""Names by which code may look up attributes that it does not name."""
_ASKING = DYNAMIC | {"hasattr"}
_HOOKS = frozenset({"__getattr__", "__dir__"})
"""The hooks of a module for missing attributes."""
_OUTSIDE = "which draws or reads from outside"


class Reach(Conditions):
    """The conditions on the names that functions look up.

    Attributes
    ----------
    looked_up: The lookups, as pairs of a namespace and a name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.looked_up: list[tuple[Any, str]] = []
        self._names: dict[int, str] = {}
        self._attributes: set[str] = set()
        self._modules: dict[int, tuple[types.ModuleType, str]] = {}
        self._visited: set[int] = set()
        self._openings: Any = None
        self._place: Place | None = None
        self._tells = False

    @property
    def is_exact(self) -> bool:
        """Whether code may distinguish a number from its stand-in."""
        return self._tells or not self._attributes.isdisjoint(EXACT)

    def _value(self, value: Any, path: str, fresh: bool = False) -> None:
        """Write the conditions on an object (see `wengert.compiler.tracing.environment`)."""
        raise NotImplementedError

    def _function(self, function: types.FunctionType) -> None:
        """Write the conditions on the names that a function looks up."""
        if is_trusted(function):
            module = function.__globals__["__name__"]
            if not is_pure(module, function.__name__) or keeps_state(function):
                raise Unknown(f"it uses {function.__module__}.{function.__name__}")
            if module == "copy":
                table = copyreg.dispatch_table
                self._value(table, self._tool(table))
            return
        if id(function) in self._visited:
            return
        self._visited.add(id(function))
        self.kept.append(function)
        names = names_of(function.__code__)
        self._attributes |= names.attributes
        key = ""
        try:
            absent = []
            for key in sorted(names.written | names.read.keys()):
                if not self._looked_up(function, key, names):
                    absent.append(key)
            if absent:
                keys = self._tool(function.__globals__)
                there = " or ".join([f"{key!r} in {keys}" for key in absent])
                self._line(f"if {there}: return None")
            package = function.__globals__.get("__package__") or ""
            for key in sorted(names.imported):
                self._imported(key, package, names)
        except Unknown as unknown:
            unknown.where = unknown.where or line_of_name(function.__code__, key.lstrip("."))
            raise

    def _looked_up(self, function: types.FunctionType, key: str, names: Names) -> bool:
        """Write the conditions on one name; return False if the module does not define it."""
        space, built_in = function.__globals__, vars(builtins)
        if key in space:
            self.looked_up.append((space, key))
            path = f"{self._tool(space)}[{key!r}]"
            chains = names.read.get(key, {()})
            if space[key] is sys and "print" not in space:
                # streams passed to ``print`` are looked up in each call
                chains = {c for c in chains if not (len(c) == 1 and names.streams.get((key, *c)))}
            self._reached(space[key], path, chains, Place(space, key))
        elif getattr(function, "__builtins__", None) is not built_in:
            raise Unknown(f"{function.__name__}() has built-in names of its own")
        elif key in names.read and key in built_in:
            if key == "print" and key not in names.passed | names.written:
                self._prints(function)
            else:
                # the hashes that classes define serve to find keys
                if key != "hash" or function.__name__ != "__hash__":
                    self._built_in(key, built_in[key])
                if isinstance(built_in[key], type) and names.read[key] - {()}:
                    # an unbound method may reject a stand-in
                    self._tells = True
        return key in space

    def _prints(self, function: types.FunctionType) -> None:
        """Guard that the name ``print`` in a function is Python's own."""
        found: Any = function
        if not is_unchanged() or found.__builtins__ is not vars(builtins):
            raise Unknown("it calls print(), which is not Python's")
        self._require(f"{self._tool(is_unchanged)}()")

    def _built_in(self, key: str, value: Any) -> None:
        """Raise unless a built-in function is pure."""
        self._tells = self._tells or may_tell(value)
        if not is_pure("builtins", key):
            raise Unknown(f"it calls {key}()")
        if getattr(value, "__module__", "builtins") != "builtins":
            raise Unknown(f"it calls {key}(), which is not Python's")
        if not callable(value) and value is not Ellipsis and value is not NotImplemented:
            raise Unknown(f"it reads {key}, which is kept among Python's built-in names")
        self._require(f"{self._tool(vars(builtins))}[{key!r}] is {self._constant(value)}")

    def _imported(self, key: str, package: str, names: Names) -> None:
        """Write the conditions on a module that a function of a package imports while it runs."""
        key = importlib.util.resolve_name(key, package)
        module = sys.modules.get(key)
        if module is None:
            raise Unknown(f"it imports {key}, which has not been imported before")
        found = f"{self._tool(sys.modules)}.get({key!r})"
        if not is_library_module(module):
            self._line(f"if {found} is not {self._constant(module)}: return None")
        chains = {(name,) for name in names.attributes}
        self._module(module, self._constant(module), chains)

    def _reached(
        self, value: Any, path: str, chains: Iterable[tuple[str, ...]], place: Place
    ) -> None:
        """Write the conditions on a value of which the function uses `chains` of attributes."""
        if isinstance(value, types.ModuleType):
            name = self._names.get(id(value))
            if name is None:
                name = self._names[id(value)] = self._constant(value)
            self._require(f"{path} is {name}")
            self._module(value, name, chains)
        else:
            self._place = place
            self._value(value, path)

    def _module(
        self, module: types.ModuleType, name: str, chains: Iterable[tuple[str, ...]]
    ) -> None:
        chains = set(chains)
        if () in chains or any(chain[0] in DYNAMIC for chain in chains):
            self._modules.setdefault(id(module), (module, name))
        library = is_library_module(module)
        space = vars(module)
        if not library:
            if type(module) is not types.ModuleType:
                raise Unknown(f"it uses a module with a class of its own ({module.__name__})")
            self._require(f"{name}.__class__ is {self._tool(types.ModuleType)}")
            # the hooks provide missing attributes
            chains |= {(hook,) for hook in _HOOKS & space.keys()}
        for first in sorted({chain[0] for chain in chains if chain}):
            if library and first not in space and hasattr(module, first) and first not in space:
                # not an attribute that is loaded lazily
                raise Unknown(f"it uses {module.__name__}.{first}, which is made when it is read")
            if first not in space:
                self._require(f"{first!r} not in {self._tool(space)}")
                continue
            value = space[first]
            rest = {chain[1:] for chain in chains if chain and chain[0] == first}
            if library:
                self._of_library(module, first, value, rest)
                continue
            self.looked_up.append((space, first))
            place = Place(space, first)
            self._reached(value, f"{self._tool(space)}[{first!r}]", rest, place)

    def _load(self, module: types.ModuleType, names: frozenset[str] | set[str]) -> None:
        """Load the attributes that a library's module loads lazily."""
        if not hasattr(module, "__getattr__"):
            return
        for name in filter(str.isidentifier, names - vars(module).keys() - _HOOKS):
            # the module may warn of a name that it no longer has
            with contextlib.suppress(AttributeError, ImportError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                getattr(module, name)

    def _of_library(
        self, module: types.ModuleType, name: str, value: Any, chains: set[tuple[str, ...]]
    ) -> None:
        """Write the conditions on an attribute of a library module that a function uses."""
        if isinstance(value, types.ModuleType):
            if chains - {()} or is_pure(value.__name__, ""):
                self._module(value, self._constant(value), chains)
                return
            raise Unknown(f"it uses the module {value.__name__}, {_OUTSIDE}")
        if is_report(f"{module.__name__}.{name}") and is_unchanged(f"{module.__name__}.{name}"):
            # the call is made after all computation
            self._require(f"{self._tool(is_unchanged)}({f'{module.__name__}.{name}'!r})")
            return
        # a function in Python is walked
        opaque = callable(value) and not (
            isinstance(value, types.FunctionType) and not is_trusted(value)
        )
        if opaque and not is_pure(module.__name__, ""):
            raise Unknown(f"it uses the module {module.__name__}, {_OUTSIDE}")
        if opaque and not is_pure(module.__name__, name):
            raise Unknown(f"it uses {module.__name__}.{name}")
        self._computes = self._computes or (
            callable(value) and module.__name__.startswith("numpy") and not isinstance(value, type)
        )
        self.looked_up.append((vars(module), name))
        self._tells = self._tells or may_tell(value)
        self._instances_of(type(value))
        fixed = isinstance(value, type | types.BuiltinFunctionType | np.ufunc | dtype)
        path = f"{self._tool(vars(module))}[{name!r}]"
        if fixed and not read(value).facts:
            self._require(f"{path} is {self._constant(value)}")
            return
        self._value(value, path)

    def _instances_of(self, kind: type) -> None:
        """Note that ``isinstance`` with a class of the metaclass `kind` may look at attributes."""
        if issubclass(kind, type) and is_of_library(kind) and "__instancecheck__" in vars(kind):
            self._attributes.add("hasattr")

    def _keys(self, module: types.ModuleType) -> Iterable[str]:
        """Return the names of a module used as an object that code may look up."""
        if is_library_module(module):
            # a library's hooks give what it defines elsewhere
            return self._attributes
        return vars(module) if self._attributes & DYNAMIC else self._attributes | _HOOKS

    def _escaped(self) -> None:
        """Write the conditions on modules that are used as objects.

        They cover all attributes that the code names, and the names of all that exist, since
        `getattr` and `hasattr` may look up others.
        """
        done: set[tuple[int, str]] = set()
        listed: set[int] = set()
        while True:
            for module, _ in list(self._modules.values()):
                if not is_library_module(module) and id(module) not in listed:
                    listed.add(id(module))
                    keys = self._constant([*vars(module)])
                    self._require(f"[*{self._tool(vars(module))}] == {keys}")
            names = self._attributes
            for module, _ in list(self._modules.values()):
                if is_library_module(module):
                    self._load(module, names)
                    if names & _ASKING and id(module) not in listed:
                        listed.add(id(module))
                        absent = self._tool(names - vars(module).keys())
                        keys = self._tool(vars(module).keys())
                        self._line(f"if not {keys}.isdisjoint({absent}): return None")
            found = [
                (module, name, key)
                for module, name in list(self._modules.values())
                for key in sorted(self._keys(module))
                if key in vars(module) and (id(module), key) not in done
            ]
            if not found:
                return
            for module, name, key in found:
                done.add((id(module), key))
                self._module(module, name, {(key,)})
                value = vars(module)[key]
                if isinstance(value, types.ModuleType):
                    self._modules.setdefault(
                        id(value), (value, self._names.get(id(value)) or self._constant(value))
                    )
