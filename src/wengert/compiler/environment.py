"""Layer 8 · compiler: what a function can reach, and the check that it is as it was.

NOTE [environment]
What a traced function computes depends on its arguments and on what it reaches besides: variables
of enclosing functions, globals, attributes of objects, elements of containers, and what the
functions that it calls reach in turn. All of that is walked once, when it is traced. Tensors and
arrays that are met become inputs of the program, which reads them anew in each run; numbers,
strings, shapes, dtypes, the structure of containers and the identity of everything else become
conditions. A `Matcher` is the conditions as one generated Python function: it returns the tensors
and arrays, or None if the trace does not hold for what is there now.

What an environment cannot promise is named in `Environment.refusal`: functions that read files or
clocks or draw random numbers elsewhere, iterators, and other objects with a state of their own.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.base.size import Size
from wengert.compiler.control import COMPILED
from wengert.compiler.libraries import (
    LIBRARIES,
    is_global,
    is_of_library,
    is_ours,
    is_plain,
    names_of,
    of_library_name,
    slots_of,
)
from wengert.tape.base import LEAF, TensorBase

__all__ = ["Environment", "Matcher"]

Matcher = Callable[[tuple[Any, ...], dict[str, Any]], tuple[list[Any], list[Any]] | None]

_VALUES = (
    *(int, str, bytes, bool, complex, slice, range, type(None), type(Ellipsis)),
    *(np.dtype, np.generic),
)
_COMPARED = frozenset({Size, float, set, frozenset})
_STEADY = (
    types.BuiltinFunctionType,
    types.BuiltinMethodType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    np.ufunc,
    property,
    staticmethod,
    classmethod,
)
_WORLDLY = frozenset({"print", "open", "input", "exec", "eval", "globals", "locals", "breakpoint"})
"""Built-in functions that do more than compute."""
_STATEFUL = frozenset(
    {"random", "time", "secrets", "uuid", "datetime", "os", "socket", "threading"}
)
"""Modules of whose functions a trace can promise nothing."""
_MOST = 5000
"""How many objects an environment may hold."""


class Environment:
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
    shapes
        What they are, for people to read.
    places
        Which of the tensors require a gradient.
    refusal
        Why nothing can be promised, or None.
    kept
        The objects whose identity is a condition.
    """

    def __init__(
        self,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        gradients: bool = True,
    ) -> None:
        self._gradients = gradients
        self.met: list[Any] = []
        self.tensors = self.met
        self.arrays: list[Any] = []
        self.refusal: str | None = None
        self.kept: list[Any] = []
        self._names: dict[int, str] = {}
        self._lines: list[str] = []
        self._scope: dict[str, Any] = {
            "LEAF": LEAF,
            "ndarray": np.ndarray,
            "copysign": math.copysign,
            "is_": operator.is_,
            "np": np,
        }
        self._count = 0
        named = f"list(kwargs) != {list(kwargs)!r}" if kwargs else "kwargs"
        self._line(f"if len(args) != {len(args)} or {named}: return None")
        try:
            for i, value in enumerate(args):
                self._value(value, f"args[{i}]")
            for name, value in kwargs.items():
                self._value(value, f"kwargs[{name!r}]")
            self._function(function, self._constant(function))
        except RecursionError:
            self._refuse("it reaches objects too deep to be looked at in each call")
        met = [*self.met, *self.arrays]
        self.shapes = [f"{thing.dtype}{list(thing.shape)}" for thing in met]
        self.places = [i for i, t in enumerate(self.tensors) if t.edge is not None]

    def close(self) -> None:
        """Let go of the tensors and arrays, which belong to the call that was traced."""
        self.met = [None] * len(self.met)
        self.tensors = [None] * len(self.tensors)
        self.arrays = [None] * len(self.arrays)

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

    def equals(self, other: Environment) -> bool:
        """Whether everything is as it was when another environment of the same call was made."""
        mine, yours = self._scope, other._scope
        if self._lines != other._lines or self.refusal != other.refusal:
            return False
        return mine.keys() == yours.keys() and all(
            _is_same(value, yours[name]) for name, value in mine.items()
        )

    def matcher(self) -> Matcher:
        """The function that checks the conditions."""
        tensors = [f"t{i}" for i in range(len(self.met))]
        arrays = [f"n{i}" for i in range(len(self.arrays))]
        source = "\n".join(
            [
                "def match(args, kwargs):",
                "    try:",
                *[f"        {line}" for line in self.lines()],
                "    except (AttributeError, IndexError, KeyError, ValueError):",
                "        return None",
                f"    return [{', '.join(tensors)}], [{', '.join(arrays)}]",
            ]
        )
        scope = dict(self._scope)
        exec(compile(source, "<wengert conditions>", "exec"), scope)
        made: Matcher = scope["match"]
        return made

    def lines(self) -> list[str]:
        """The conditions as statements, each of which returns None where it does not hold.

        They leave the tensors and arrays in ``t0``, ..., ``n0``, ..., and payloads in ``p0``, ...
        """
        lines = [*self._lines]
        count = len(self.met)
        if count > 1:
            # one tensor in two places is another program than two of them
            ids = ", ".join(f"id(t{i})" for i in range(count))
            lines.append(f"if len({{{ids}}}) != {count}: return None")
        return lines

    def scope(self) -> dict[str, Any]:
        """What the conditions refer to by name."""
        return dict(self._scope)

    # -- conditions --------------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        self._lines.append(text)

    def _require(self, condition: str) -> None:
        self._line(f"if not ({condition}): return None")

    def _constant(self, value: Any) -> str:
        """The name of an object in the conditions."""
        name = f"k{len(self.kept)}"
        self.kept.append(value)
        self._scope[name] = value
        return name

    def _local(self, path: str) -> str:
        """A variable that holds what `path` leads to."""
        name = f"v{self._count}"
        self._count += 1
        self._line(f"{name} = {path}")
        return name

    def _refuse(self, why: str) -> None:
        if self.refusal is None:
            self.refusal = why

    # -- values ------------------------------------------------------------------------------------

    def _value(self, value: Any, path: str) -> None:
        if isinstance(value, TensorBase):
            self._tensor(value, path)
            return
        if isinstance(value, np.ndarray):
            self._array(value, path)
            return
        kind = type(value)
        if kind is float:
            self._float(value, path)
            return
        if kind is Size or isinstance(value, _VALUES):
            name = self._local(path)
            self._require(f"{name}.__class__ is {self._constant(kind)}")
            self._require(f"{name} == {self._constant(value)}")
            return
        seen = self._names.get(id(value))
        if seen is not None:
            self._require(f"{path} is {seen}")
            return
        if len(self._names) > _MOST:
            self._refuse("it reaches more objects than can be looked at in each call")
            return
        name = self._names[id(value)] = self._local(path)
        self._object(value, kind, name)

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

    def _object(self, value: Any, kind: type, name: str) -> None:
        if isinstance(value, tuple | list):
            self._require(f"{name}.__class__ is {self._constant(kind)}")
            self._require(f"len({name}) == {len(value)}")
            for i, part in enumerate(value):
                self._value(part, f"{name}[{i}]")
        elif isinstance(value, dict):
            self._require(f"{name}.__class__ is {self._constant(kind)}")
            if any(isinstance(key, TensorBase) for key in value):
                # tensors compare by their elements
                self._require(f"len({name}) == {len(value)}")
                self._require(f"all(map(is_, {name}, {self._constant(list(value))}))")
            else:
                self._require(f"list({name}) == {self._constant(list(value))}")
            for key, part in value.items():
                self._value(part, f"{name}[{self._constant(key)}]")
        elif isinstance(value, set | frozenset):
            self._require(f"{name} == {self._constant(type(value)(value))}")
        elif isinstance(value, functools.partial):
            self._require(f"{name}.__class__ is {self._constant(kind)}")
            self._value(value.func, f"{name}.func")
            self._value(value.args, f"{name}.args")
            self._value(value.keywords, f"{name}.keywords")
        elif isinstance(value, types.MethodType):
            self._require(f"{name}.__class__ is {self._constant(kind)}")
            self._value(value.__self__, f"{name}.__self__")
            self._value(value.__func__, f"{name}.__func__")
        elif isinstance(value, types.FunctionType):
            self._require(f"{name} is {self._constant(value)}")
            self._function(value, name)
        elif isinstance(value, types.ModuleType):
            self._require(f"{name} is {self._constant(value)}")
        elif isinstance(value, type):
            self._require(f"{name} is {self._constant(value)}")
            self._class(value, name)
        elif kind.__module__.startswith("wengert.compiler.") and value in COMPILED:
            # its traces come and go
            self._require(f"{name} is {self._constant(value)}")
            self._value(value.function, f"{name}.function")
        elif isinstance(value, _STEADY) or (is_of_library(kind) and not is_ours(value, kind)):
            self._require(f"{name} is {self._constant(value)}")
        elif hasattr(value, "__dict__") or slots_of(kind):
            self._instance(value, kind, name)
        elif hasattr(value, "__hash__") and not hasattr(value, "__next__") and is_plain(kind):
            self._require(f"{name} is {self._constant(value)}")
        else:
            self._refuse(f"it uses an object with a state of its own ({kind.__name__})")

    def _instance(self, value: Any, kind: type, name: str) -> None:
        self._require(f"{name}.__class__ is {self._constant(kind)}")
        if hasattr(value, "__next__"):
            self._refuse(f"it uses an iterator ({kind.__name__})")
        held = getattr(value, "__dict__", None)
        if held:
            inside = self._local(f"{name}.__dict__")
            self._require(f"list({inside}) == {self._constant(list(held))}")
            for key, part in held.items():
                self._value(part, f"{inside}[{key!r}]")
        for slot in slots_of(kind):
            if hasattr(value, slot):
                self._value(getattr(value, slot), f"{name}.{slot}")
            else:
                self._require(f"not hasattr({name}, {slot!r})")
        self._names.setdefault(id(kind), self._constant(kind))
        self._class(kind, self._names[id(kind)])

    def _class(self, kind: type, name: str) -> None:
        for base in kind.__mro__:
            if base is object or is_of_library(base):
                continue
            seen = f"class {id(base)}"
            if seen in self._scope:
                continue
            self._scope[seen] = None
            own = self._local(f"{self._constant(base)}.__dict__")
            for key, part in list(vars(base).items()):
                if isinstance(part, staticmethod | classmethod):
                    part = part.__func__
                    self._function(part, self._constant(part))
                elif isinstance(part, property):
                    for function in (part.fget, part.fset):
                        if isinstance(function, types.FunctionType):
                            self._function(function, self._constant(function))
                elif isinstance(part, types.FunctionType) or not key.startswith("__"):
                    self._value(part, f"{own}[{key!r}]")

    # -- functions ---------------------------------------------------------------------------------

    def _function(self, function: Any, name: str) -> None:
        """The conditions on what a function reaches besides its arguments."""
        if isinstance(function, functools.partial | types.MethodType):
            self._value(function, name)
            return
        wrapped = getattr(function, "__wrapped__", None)
        if not isinstance(function, types.FunctionType):
            kind = type(function)
            # a module is called like a function, and holds tensors
            if kind is not type and (not is_of_library(kind) or is_ours(function, kind)):
                self._value(function, name)
            return
        if of_library_name(function.__module__) and wrapped is None:
            return
        self._names.setdefault(id(function), name)
        for i, value in enumerate(function.__defaults__ or ()):
            self._value(value, f"{name}.__defaults__[{i}]")
        for key, value in (function.__kwdefaults__ or {}).items():
            self._value(value, f"{name}.__kwdefaults__[{key!r}]")
        for i, cell in enumerate(function.__closure__ or ()):
            try:
                content = cell.cell_contents
            except ValueError:
                self._refuse("a variable of an enclosing function has no value yet")
                return
            self._value(content, f"{name}.__closure__[{i}].cell_contents")
        space = function.__globals__
        names = set(names_of(function.__code__))
        where: str | None = None
        for key in sorted(names):
            if key in space:
                if where is None:
                    where = self._local(f"{name}.__globals__")
                self._global(key, space[key], f"{where}[{key!r}]", names)
            elif (
                key in _WORLDLY
                and hasattr(builtins, key)
                and key not in function.__code__.co_varnames
                and is_global(function.__code__, key)
            ):
                self._refuse(f"it calls {key}()")

    def _global(self, key: str, value: Any, path: str, names: set[str]) -> None:
        if not isinstance(value, types.ModuleType):
            if getattr(value, "__module__", None) in _STATEFUL:
                self._refuse(f"it uses {value.__module__}.{getattr(value, '__name__', key)}")
                return
            self._value(value, path)
            return
        base = value.__name__.split(".")[0]
        self._require(f"{path} is {self._constant(value)}")
        if base in _STATEFUL or (value.__name__ == "numpy" and "random" in names):
            self._refuse(f"it uses the module {value.__name__}, which draws or reads from outside")
        elif base not in LIBRARIES and base not in sys.stdlib_module_names:
            inside = self._local(f"{path}.__dict__")
            for attribute in sorted(names & set(vars(value))):
                self._global(attribute, vars(value)[attribute], f"{inside}[{attribute!r}]", names)

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

    def _array(self, array: Any, path: str) -> None:
        seen = self._names.get(id(array))
        if seen is not None:
            self._require(f"{path} is {seen}")
            return
        i = len(self.arrays)
        name = self._names[id(array)] = f"n{i}"
        self.arrays.append(array)
        self._line(f"{name} = {path}")
        dtype = self._constant(array.dtype)
        self._require(f"{name}.__class__ is {self._constant(type(array))}")
        self._require(f"{name}.dtype == {dtype} and {name}.shape == {array.shape!r}")


def _is_same(mine: Any, yours: Any) -> bool:
    """Whether what a condition compares with is the same in two environments."""
    if mine is yours:
        # a NumPy scalar may be NaN, which no condition ever finds again
        return not isinstance(mine, np.generic | complex) or bool(mine == mine)
    kind = type(mine)
    if kind is not type(yours):
        return False
    if kind is list:
        # the keys of a dictionary; tensors compare by their elements
        return len(mine) == len(yours) and all(
            a is b or (not isinstance(a, TensorBase) and a == b)
            for a, b in zip(mine, yours, strict=True)
        )
    return (kind in _COMPARED or isinstance(mine, _VALUES)) and bool(mine == yours)
