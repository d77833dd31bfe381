"""Layer 8 · compiler: what a function can reach, and the check that it is as it was.

NOTE [environment]
What a traced function computes depends on its arguments and on what it reaches besides: variables
of enclosing functions, globals, attributes of objects, elements of containers, and what the
functions that it calls reach in turn. All of that is walked once, when it is traced, as NOTE
[objects] in `wengert.compiler.objects` says. Tensors and arrays that are met become inputs of the
program, which reads them anew in each run; everything else becomes conditions. A `Matcher` is the
conditions as one generated Python function: it returns the tensors and arrays, or None if the trace
does not hold for what is there now.

What an environment cannot promise is named in `Environment.refusal`.

NOTE [arrays of NumPy]
NumPy reads arrays without our seeing it, so that what it read would be burnt into a trace. So an
array is known by its content, which is compared in each call, unless the function gives it straight
to an operation of ours (`wengert.compiler.straight`): then it is an input like a tensor.
"""

from __future__ import annotations

import builtins
import math
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wengert.compiler.conditions import Conditions, Matcher
from wengert.compiler.libraries import (
    is_constant,
    is_library_module,
    is_pure,
    is_trusted,
)
from wengert.compiler.names import Names, names_of
from wengert.compiler.objects import MOST_BYTES, Part, Unknown, content_of, read
from wengert.compiler.state import Surroundings
from wengert.compiler.straight import Places
from wengert.tape.base import LEAF, TensorBase

__all__ = ["Environment", "Matcher"]

_MOST = 5000
"""How many objects an environment may hold."""
_ANY = frozenset(
    {"getattr", "vars", "__dict__", "attrgetter", "dir", "getmembers", "__getattribute__"}
)
"""Names by which attributes are found whose names do not stand in the code."""


_OUTSIDE = "which draws or reads from outside"


class Environment(Conditions):
    """What a call of a function can reach.

    Parameters
    ----------
    gradients
        Whether the ``.grad`` of tensors counts.

    Attributes
    ----------
    met
        The tensors that were met, each once; None in their places once it is closed.
    tensors
        What holds the arrays of these: the same, where they belong to no transform.
    arrays
        The arrays that were met, each once; None in their places once it is closed.
    compared
        The places of the arrays that are known by their content, with that.
    shapes
        What they are, for people to read.
    places
        Which of the tensors require a gradient.
    refusal
        Why nothing can be promised, or None.
    walked
        The objects that have parts.
    looked_up
        Where names were looked up: namespaces with the names.
    """

    def __init__(
        self,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        gradients: bool = True,
    ) -> None:
        super().__init__()
        self._gradients = gradients
        self.met: list[Any] = []
        self.tensors = self.met
        self.arrays: list[Any] = []
        self.compared: dict[int, Any] = {}
        self.walked: list[Any] = []
        self.looked_up: list[tuple[Any, str]] = []
        self._names: dict[int, str] = {}
        self._places = Places(function, args, kwargs)
        self._attributes: set[str] = set()
        self._modules: dict[int, tuple[types.ModuleType, str]] = {}
        self._visited: set[int] = set()
        named = f"list(kwargs) != {list(kwargs)!r}" if kwargs else "kwargs"
        self._line(f"if len(args) != {len(args)} or {named}: return None")
        try:
            for i, value in enumerate(args):
                self._value(value, f"args[{i}]")
            for name, value in kwargs.items():
                self._value(value, f"kwargs[{name!r}]")
            self._value(function, self._constant(function))
            self._escaped()
        except RecursionError:
            self._refuse("it reaches objects too deep to be looked at in each call")
        except Unknown as unknown:
            self._refuse(str(unknown))
        met = [*self.met, *self.arrays]
        self.shapes = [f"{thing.dtype}{list(thing.shape)}" for thing in met]
        self.places = [i for i, t in enumerate(self.tensors) if t.edge is not None]

    def close(self) -> None:
        """Let go of the tensors and arrays, which belong to the call that was traced."""
        self.met = [None] * len(self.met)
        self.tensors = [None] * len(self.tensors)
        self.arrays = [None] * len(self.arrays)
        self.walked, self.looked_up = [], []

    def swap(self) -> None:
        """Let the tensors hold what `tensors` do; nothing to do where these are the same."""

    def restore(self) -> None:
        """Undo `swap`."""

    def pulled(
        self, places: Sequence[int], pull: Callable[[list[Any]], Sequence[Any]]
    ) -> list[tuple[int, Any]]:
        """The payloads of gradients, with their places in `tensors`, out of `places`.

        `pull` gives the gradients of tensors, or None for those that have none.
        """
        found = pull([self.tensors[i] for i in places])
        return [(i, g.payload) for i, g in zip(places, found, strict=True) if g is not None]

    def settle(self, taken: Iterable[tuple[int, types.CodeType, int]]) -> str | None:
        """Make conditions of the content of arrays, and say why that cannot be.

        `taken` says where operations of ours took arrays: their identity, the code and the
        instruction. See NOTE [arrays of NumPy].
        """
        straight = self._places.straight(taken)
        total = 0
        for i, array in enumerate(self.arrays):
            if id(array) in straight:
                continue
            total += array.nbytes
            if total > MOST_BYTES:
                return (
                    f"NumPy may read arrays of more than the {MOST_BYTES} bytes that are compared "
                    f"in each call ({array.dtype}{list(array.shape)}); make a tensor of it outside"
                )
            self.compared[i] = self._contents[i]
        return None

    def narrow(self, other: Environment) -> bool:
        """Add the arrays that are compared in a later trace; False if there are none."""
        more = {i: content for i, content in other.compared.items() if i not in self.compared}
        self.compared |= more
        return bool(more)

    def surroundings(self) -> Surroundings:
        """What is reached, to see while the function runs whether it is as it was."""
        arrays = [array for array in self.arrays if array.nbytes <= MOST_BYTES]
        return Surroundings(self.walked, self.looked_up, arrays)

    # -- values ------------------------------------------------------------------------------------

    def _value(self, value: Any, path: str, fresh: bool = False) -> None:
        if isinstance(value, TensorBase):
            self._tensor(value, path)
            return
        kind = type(value)
        if kind is float:
            self._float(value, path)
            return
        if isinstance(value, np.ndarray) and self._array(value, path):
            return
        if kind is dict and not value:
            name = self._local(path)
            self._line(f"if {name} or {name}.__class__ is not dict: return None")
            self.walked.append(value)
            return
        reading = read(value)
        if reading.by == "value":
            name = self._local(path)
            self._require(f"{name}.__class__ is {self._constant(kind)}")
            self._require(f"{name} == {self._constant(value)}")
            if kind is str:
                self._attributes.add(value)
            return
        if not fresh:
            seen = self._names.get(id(value))
            if seen is not None:
                if seen != path:
                    self._require(f"{path} is {seen}")
                return
            if len(self._names) > _MOST:
                self._refuse("it reaches more objects than can be looked at in each call")
                return
        if reading.by == "identity":
            name = path if path in self._scope else self._constant(value)
            if name != path:
                self._require(f"{path} is {name}")
        else:
            name = self._local(path)
            self._require(f"{name}.__class__ is {self._constant(kind)}")
        if fresh:
            self._alive(value)
        else:
            self._names[id(value)] = name
        self._read(value, reading, name)

    def _alive(self, value: Any) -> None:
        """Keep what was made for the walk, so that nothing else gets its identity."""
        self._scope.setdefault("alive", []).append(value)

    def _read(self, value: Any, reading: Any, name: str) -> None:
        """The conditions on the facts and parts of an object."""
        for part in reading.same:
            self._require(f"{self._path(part, name)} is {self._constant(part.value)}")
        for part in reading.facts:
            self._require(f"{self._path(part, name)} == {self._constant(part.value)}")
        if reading.parts or reading.facts:
            self.walked.append(value)
        for part in reading.parts:
            self._value(part.value, self._path(part, name), part.fresh)
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.ModuleType):
            self._modules.setdefault(id(value), (value, name))

    def _path(self, part: Part, name: str) -> str:
        if "{1}" not in part.path:
            return part.path.format(name)
        if part.path == "{1}":
            key = self._names.get(id(part.key))
            if key is None or key not in self._scope:
                key = self._constant(part.key)
            return key
        return part.path.format(name, self._tool(part.key))

    def _float(self, value: float, path: str) -> None:
        name = self._local(path)
        if value != value:
            self._require(f"{name}.__class__ is float and {name} != {name}")
        elif value == 0:
            sign = math.copysign(1, value)
            self._require(
                f"{name}.__class__ is float and {name} == 0 and copysign(1, {name}) == {sign}"
            )
        else:
            self._require(f"{name}.__class__ is float and {name} == {self._constant(value)}")

    # -- functions and modules ---------------------------------------------------------------------

    def _function(self, function: types.FunctionType) -> None:
        """The conditions on the names that a function looks up."""
        if is_trusted(function):
            if not is_pure(function.__globals__["__name__"], function.__name__):
                raise Unknown(f"it uses {function.__module__}.{function.__name__}")
            return
        if id(function) in self._visited:
            return
        self._visited.add(id(function))
        self.kept.append(function)
        names = names_of(function.__code__)
        self._attributes |= names.attributes
        space, built_in = function.__globals__, vars(builtins)
        where: str | None = None
        absent = []
        for key in sorted(names.written | names.read.keys()):
            if key not in space:
                absent.append(key)
                if key in names.read and key in built_in:
                    self._built_in(key, built_in[key])
                continue
            if where is None:
                where = self._tool(space)
            self.looked_up.append((space, key))
            self._reached(space[key], f"{where}[{key!r}]", names.read.get(key, {()}))
        if absent:
            keys = self._tool(space.keys())
            self._require(f"{keys}.isdisjoint({tuple(absent)!r})")
        for key in sorted(names.imported):
            self._imported(key, names)

    def _built_in(self, key: str, value: Any) -> None:
        """Raise unless a built-in function is one that only computes."""
        if not is_pure("builtins", key):
            raise Unknown(f"it calls {key}()")
        if getattr(value, "__module__", "builtins") != "builtins":
            raise Unknown(f"it calls {key}(), which is not Python's")

    def _imported(self, key: str, names: Names) -> None:
        """The conditions on a module that a function imports while it runs."""
        module = sys.modules.get(key)
        if module is None:
            raise Unknown(f"it imports {key}, which has not been imported before")
        chains = {(name,) for name in names.attributes}
        self._module(module, self._constant(module), chains)

    def _reached(self, value: Any, path: str, chains: Iterable[tuple[str, ...]]) -> None:
        """A value of which the function uses what `chains` of attributes lead to."""
        if isinstance(value, types.ModuleType):
            name = self._names.get(id(value))
            if name is None:
                name = self._names[id(value)] = self._constant(value)
            self._require(f"{path} is {name}")
            self._module(value, name, chains)
        else:
            self._value(value, path)

    def _module(
        self, module: types.ModuleType, name: str, chains: Iterable[tuple[str, ...]]
    ) -> None:
        chains = set(chains)
        if () in chains:
            self._modules.setdefault(id(module), (module, name))
        library = is_library_module(module)
        space = vars(module)
        for first in sorted({chain[0] for chain in chains if chain}):
            if library and first not in space:
                # some are loaded when they are first asked for
                getattr(module, first, None)
            if first not in space:
                if not library:
                    self._require(f"{first!r} not in {self._tool(space)}")
                continue
            value = space[first]
            rest = {chain[1:] for chain in chains if chain and chain[0] == first}
            if library:
                self._of_library(module, first, value, rest)
                continue
            self.looked_up.append((space, first))
            self._reached(value, f"{self._tool(space)}[{first!r}]", rest)

    def _of_library(
        self, module: types.ModuleType, name: str, value: Any, chains: set[tuple[str, ...]]
    ) -> None:
        """What a function uses of a library, which is there in each call."""
        if isinstance(value, types.ModuleType):
            if chains - {()} or is_pure(value.__name__, ""):
                self._module(value, self._constant(value), chains)
                return
            raise Unknown(f"it uses the module {value.__name__}, {_OUTSIDE}")
        if is_constant(name, value):
            return
        if callable(value) and not is_pure(module.__name__, ""):
            raise Unknown(f"it uses the module {module.__name__}, {_OUTSIDE}")
        if callable(value) and not is_pure(module.__name__, name):
            raise Unknown(f"it uses {module.__name__}.{name}")
        self.looked_up.append((vars(module), name))
        fixed = isinstance(value, type | types.BuiltinFunctionType | np.ufunc)
        if fixed and not read(value).facts:
            return
        if isinstance(value, types.FunctionType) and is_trusted(value) and not value.__closure__:
            self._function(value)
            return
        self._value(value, f"{self._tool(vars(module))}[{name!r}]")

    def _escaped(self) -> None:
        """The conditions on modules that are used as objects: all attributes that are named."""
        done: set[tuple[int, str]] = set()
        while True:
            names = set(self._attributes)
            found = [
                (module, name, key)
                for module, name in list(self._modules.values())
                for key in sorted(
                    vars(module) if names & _ANY and not is_library_module(module) else names
                )
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

    # -- tensors -----------------------------------------------------------------------------------
    def _tensor(self, tensor: Any, path: str) -> None:
        if getattr(tensor, "_is_uninitialised", False):
            self._refuse("a parameter has no shape yet: call the module once before compiling it")
            return
        seen = self._names.get(id(tensor))
        if seen is not None:
            self._require(f"{path} is {seen}")
            return
        i = len(self.met)
        name = self._names[id(tensor)] = f"t{i}"
        self.met.append(tensor)
        self._line(f"{name} = {path}")
        self._require(f"{name}.__class__ is {self._constant(type(tensor))}")
        payload = tensor.payload
        self._line(f"p{i} = {name}.payload")
        self._line(f"if p{i}.__class__ is not ndarray: p{i} = {name}.array()")
        self._payload(payload, f"p{i}")
        if self.refusal is not None:
            return
        if tensor.edge is None:
            self._require(f"{name}.edge is None")
        elif tensor.edge is LEAF:
            self._require(f"{name}.edge is LEAF")
        else:
            self._require(f"{name}.edge is not None and {name}.edge is not LEAF")
        ext = tensor.ext
        if ext is None:
            self._line(f"if {name}.ext is not None and {name}.ext.base is not None: return None")
        elif ext.base is not None:
            self._require(f"{name}.ext is not None and {name}.ext.base is not None")
            self._tensor(ext.base, f"{name}.ext.base")
        else:
            self._line(f"if {name}.ext is not None and {name}.ext.base is not None: return None")
        if self._gradients:
            self._gradient(tensor, name)
        if hasattr(tensor, "__dict__") and tensor.__dict__:
            self._value(tensor.__dict__, f"{name}.__dict__")

    def _payload(self, payload: Any, name: str) -> None:
        """The conditions on what a tensor holds."""
        if isinstance(payload, np.ndarray | np.generic):
            dtype = self._constant(payload.dtype)
            self._require(f"{name}.dtype is {dtype} and {name}.shape == {payload.shape!r}")
        else:
            self._refuse("an argument belongs to a transform that is under way")

    def _gradient(self, tensor: Any, name: str) -> None:
        grad = None if tensor.ext is None else tensor.ext.grad
        if grad is None:
            self._line(f"if {name}.ext is not None and {name}.ext.grad is not None: return None")
            return
        self._line(f"if {name}.ext is None or {name}.ext.grad is None: return None")
        if id(grad) not in self._names:
            self._tensor(grad, f"{name}.ext.grad")

    def _array(self, array: Any, path: str) -> bool:
        """Make an array an input; False if it is another kind of object."""
        if array.__class__ is not np.ndarray or array.dtype.hasobject:
            return False
        self._places.met(array)
        seen = self._names.get(id(array))
        if seen is not None:
            self._require(f"{path} is {seen}")
            return True
        i = len(self.arrays)
        name = self._names[id(array)] = f"n{i}"
        self.arrays.append(array)
        self._contents.append(content_of(array) if array.nbytes <= MOST_BYTES else None)
        self._line(f"{name} = {path}")
        dtype = self._constant(array.dtype)
        self._require(f"{name}.__class__ is ndarray and {name}.shape == {array.shape!r}")
        self._require(f"{name}.dtype == {dtype}")
        return True
