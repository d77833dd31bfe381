"""Layer 8 · compiler: the objects that a function reaches, and the guards on them.

NOTE [environment]
The results and effects of a traced function depend on its arguments and on everything else that it
reaches: variables of enclosing functions, globals, attributes of objects, elements of containers,
and the objects that its callees reach. Tracing walks all of these once (NOTE [objects] in
`wengert.compiler.objects.walker`). The tensors and arrays that it meets become inputs of the
program, which reads them again in each run; everything else becomes conditions, the guards of the
trace. These are compiled into one Python function, a `Matcher`, which returns the tensors and
arrays, or None if the trace does not hold for the present objects.

`Environment.refusal` names what cannot be guarded, if anything.

NOTE [arrays of NumPy]
Tracing does not see what NumPy reads from an array, and would record it as a constant. So an array
is guarded by its content, which each call compares, unless the function passes it directly to one
of our operations (`wengert.compiler.objects.straight`): then it is an input like a tensor.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wengert.base.patches import CONTEXTS, PATCHES, Members
from wengert.base.ports import PORTS
from wengert.compiler.objects.contents import MOST_BYTES, content_of
from wengert.compiler.objects.flows import questions_of, sinks_of
from wengert.compiler.objects.guards import VIEWED, Conditions
from wengert.compiler.objects.libraries import is_of_library, may_tell
from wengert.compiler.objects.names import words_of
from wengert.compiler.objects.reading import Part, Reading, Unknown
from wengert.compiler.objects.straight import Places
from wengert.compiler.objects.walker import read
from wengert.compiler.tracing.effects import (
    ARGUMENTS,
    DONE,
    Opened,
    Openings,
    Place,
    Search,
    place_of,
)
from wengert.compiler.tracing.putoff import MAKING, PutOff
from wengert.compiler.tracing.reach import DYNAMIC, Reach
from wengert.compiler.tracing.scalar import SMALL
from wengert.compiler.tracing.state import Surroundings
from wengert.interp.levels import is_elsewhere
from wengert.ops.generator import Generator
from wengert.tape.base import LEAF, SparseValue, TensorBase, node_of
from wengert.tape.versions import is_inference

_MOST = 5000
"""The largest number of objects in an environment."""
_ASKING = DYNAMIC | {"hasattr", "AttributeError", "Exception", "BaseException"}
"""Names with which code may find out which attributes exist."""
_UNWRAPPING = DYNAMIC | {"__wrapped__", "unwrap"}
"""Names that lead to the function behind a wrapper."""
_ABOUT = frozenset({"__name__", "__qualname__", "__doc__", "__module__"})
"""Attributes that describe functions and classes."""
_DENIED = frozenset(
    {
        *("__subclasses__", "__annotations__", "__kwdefaults__", "__traceback__", "__hash__"),
        *("__globals__", "__builtins__", "cache_info", "f_globals", "f_locals", "f_back"),
        *("get_type_hints", "get_annotations", "gi_frame", "tofile", "dump"),
        *("__del__", "resize_", "resize_as_"),
    }
)
"""Attributes that are not walked, write to files, or depend on what else holds an object."""
_NODES = frozenset({"grad_fn", "output_nr"})
"""Names with which code may reach the nodes of a graph."""
_SEEDS = frozenset({"manual_seed", "seed", "initial_seed", "get_state", "set_state"})
_CONVERTING = frozenset(
    {"__index__", "__int__", "__float__", "__complex__", "__len__", "__length_hint__"}
)
"""Methods that make a number of an object."""
_OF_OBJECT = Place(None, None)
"""Marks the class of an object, which is never an open place."""
_IS = frozenset({"is_", "is_not", "deepcopy"})
"""Names with which code may ask whether two objects are one (see `Names` for the operator)."""
_SHOWING = frozenset({"repr", "ascii", "__repr__"})
"""Names with which code makes texts of objects that it may look at."""
_VALUES = frozenset(
    {tuple, frozenset, types.CellType, property, staticmethod, classmethod, types.MethodType}
)
"""Classes whose objects are compared by their parts, or through the object that they belong to."""
_CONTAINERS = frozenset({dict, list, tuple, set, frozenset})


def is_watched(tensor: Any) -> bool:
    """Return whether a backward pass to a tensor during tracing could be noticed."""
    ext = tensor._ext
    if ext is not None and (ext.hooks or ext.post_hooks or ext.retains):
        return True
    edge = tensor._edge
    return edge is not None and edge is not LEAF and node_of(edge)._ext is not None


def _is_ours(kind: Any) -> bool:
    """Return whether a class belongs to this package."""
    return is_of_library(kind) and kind.__module__.startswith("wengert.")


def _wraps(thing: Any) -> bool:
    """Return whether an object describes itself as the function that it wraps."""
    return "__wrapped__" in getattr(thing, "__dict__", ())


def _is_of_user(kind: Any) -> bool:
    """Return whether a class has no library base, so that only user code handles it."""
    return not any(is_of_library(base) for base in kind.__mro__[:-1])


def _plain(name: str, more: str = "") -> str:
    """Return the condition that a tensor has no rare attributes that matter, nor meets `more`."""
    ext = f"{name}._ext"
    having = f"not {ext}.__dict__.keys() <= USUAL and {ext}.state(USUAL)"
    also = f"{ext}.{more} or " if more else ""
    return f"if {ext} is not None and ({also}{having}): return None"


class Environment(Reach):
    """The environment of a call: everything that the function can reach.

    Parameters
    ----------
    gradients: Whether to guard the ``.grad`` of tensors.
    openings: The handler of places that change (see NOTE [effects]).

    Attributes
    ----------
    met: The tensors that the walk met, each once; all None once it is closed.
    tensors: The tensors that hold their arrays: the same ones outside of transforms.
    arrays: The arrays that the walk met, each once; all None once it is closed.
    compared: The places of the arrays that are guarded by content, with that content.
    shapes: Readable descriptions of the tensors and arrays, once it is closed.
    places: The places of the tensors that require a gradient.
    refusal, where: Why no guard is possible, or None, and the line of the cause, if known.
    walked: The objects that have parts.
    loose
        The places, by number or name, of the integer arguments that the function only tests or
        prints.
    apart: The conditions without those on gradients.
    is_outermost
        Whether no transform is active, so that inputs and results have the memory layout that
        users see.
    skips: Whether a trace may skip known iterations of loops.
    numbers: The numbering of the paths to decisions that the traces of a function share, if any.
    """

    is_outermost = True
    skips = True
    numbers: dict[Any, int] | None = None

    def __init__(
        self,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        gradients: bool = True,
        openings: Openings | Search | None = None,
    ) -> None:
        super().__init__()
        PATCHES.watch()
        self._asked_classes: set[type] = set()
        self._openings = openings
        self._held: set[int] = set()
        self._own: set[int] = set()
        self._put_off = PutOff(self._attributes)
        self._numbers: set[int] = set()
        self._behind: set[int] = set()
        self.met: list[Any] = []
        self.tensors = self.met
        self.arrays: list[Any] = []
        self.compared: dict[int, Any] = {}
        self.walked: list[Any] = []
        self._places = Places(function, args, kwargs)
        self._called: Any = None
        self._plain_at: dict[int, int] = {}
        self._apart: dict[type, list[tuple[Any, str]]] = {}
        self.apart: Conditions = self
        self.loose: list[int | str] = []
        self.where: tuple[str, int] | None = None
        self.shapes: list[str] = []
        named = f"list(kwargs) != {list(kwargs)!r}" if kwargs else "kwargs"
        self._line(f"if len(args) != {len(args)} or {named}: return None")
        try:
            given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
            for key, value in given:
                path = f"args[{key}]" if type(key) is int else f"kwargs[{key!r}]"
                questions = self._questions(function, key, value)
                if questions is None:
                    self._place = Place(ARGUMENTS, key)
                    self._value(value, path)
                else:
                    self.loose.append(key)
                    self._asks(value, path, questions)
            self._called = function if isinstance(function, types.FunctionType) else None
            self._value(function, self._constant(function))
            self._replaced()
            self._mentioned()
            self._escaped()
            while self._unwrapped() or self._replaced() or self._mentioned():
                self._escaped()
            self._asked()
            self._hooked()
            self._kept_apart()
            self.apart = self.noted()
            if gradients:
                self._gradients()
        except RecursionError:
            self._refuse("it reaches objects too deep to be looked at in each call")
        except Unknown as unknown:
            self._refuse(str(unknown))
            self.where = unknown.where
        self.places = [i for i, t in enumerate(self.tensors) if t._edge is not None]

    def close(self) -> None:
        """Drop the tensors and arrays, which belong to the traced call; later calls do nothing."""
        met = [*self.met, *self.arrays]
        if any(thing is None for thing in met):
            return
        if self.refusal is None:
            # attributes of tensors may run code of their class
            payloads = [getattr(thing, "_payload", thing) for thing in met]
            self.shapes = [f"{p.dtype}{list(p.shape)}" for p in payloads]
        self.met = [None] * len(self.met)
        self.tensors = [None] * len(self.tensors)
        self.arrays = [None] * len(self.arrays)
        self.apart = Conditions()
        self.walked, self.looked_up, self._apart = [], [], {}
        self._openings = None

    def swap(self) -> None:
        """Make the tensors hold the payloads of `tensors`; a no-op outside of transforms."""

    def restore(self) -> None:
        """Undo `swap`."""

    def pulled(
        self, places: Sequence[int], pull: Callable[[list[Any]], Sequence[Any]]
    ) -> list[tuple[int, Any]]:
        """Return the payloads of the gradients of the tensors at `places`, with their places.

        `pull` returns the gradients of tensors, None for a tensor without one.
        """
        found = pull([self.tensors[i] for i in places])
        return [(i, g._payload) for i, g in zip(places, found, strict=True) if g is not None]

    def settle(self, taken: Iterable[tuple[int, types.CodeType, int]]) -> str | None:
        """Guard the content of arrays; return the reason if that is impossible.

        `taken` lists where our operations took arrays: the identity of the array, the code and
        the instruction. See NOTE [arrays of NumPy].
        """
        straight = self._places.straight(taken)
        total = 0
        for i, array in enumerate(self.arrays):
            if id(array) in straight or i in self._numbers:
                continue
            total += array.nbytes
            if total > MOST_BYTES:
                return (
                    f"NumPy may read arrays of more than the {MOST_BYTES} bytes that are compared "
                    f"in each call ({array.dtype}{list(array.shape)}); make a tensor of it outside"
                )
            self.compared[i] = self._contents[i]
        return None

    @property
    def opened(self) -> list[Opened]:
        """The open places; those of numbers are in the order of `arrays`."""
        return [*self._openings.found.values()] if isinstance(self._openings, Openings) else []

    @property
    def openings(self) -> Any:
        """The places that change, as far as the walk found them."""
        return self._openings

    def narrow(self, other: Environment) -> bool:
        """Add the arrays that a later trace compares; return False if there are none."""
        more = {i: content for i, content in other.compared.items() if i not in self.compared}
        self.compared |= more
        return bool(more)

    def surroundings(self) -> Surroundings:
        """Return a snapshot of what is reached, to compare with while the function runs."""
        arrays = [array for array in self.arrays if array.nbytes <= MOST_BYTES]
        return Surroundings(self.walked, self.looked_up, arrays)

    # -- values ------------------------------------------------------------------------------------

    def _questions(self, function: Any, key: int | str, value: Any) -> tuple[str, ...] | None:
        """Return the tests of an integer argument, if the function does nothing else with it."""
        first = 0
        if type(function) is types.MethodType:
            function, first = function.__func__, 1
        if (
            type(value) is not int
            or type(function) is not types.FunctionType
            or not self.is_outermost
        ):
            return None
        code = function.__code__
        count = code.co_argcount
        if type(key) is int:
            name = code.co_varnames[first + key] if first + key < count else ""
        else:
            name = key if key in code.co_varnames[: count + code.co_kwonlyargcount] else ""
        return questions_of(code, name, sinks_of(code, function.__globals__)) if name else None

    def _asks(self, value: int, path: str, questions: Iterable[str]) -> None:
        """Write the conditions on the outcomes of tests of an integer."""
        name = self._local(path)
        self._require(f"{name}.__class__ is int")
        for question in questions:
            answer = eval(question.format("value"), {"value": value})
            self._require(f"({question.format(name)}) is {answer}")

    def number(self, path: str, array: Any) -> None:
        """Make a number an input, held by `array`."""
        i = len(self.arrays)
        self.arrays.append(array)
        self._contents.append(None)
        self._numbers.add(i)
        name, whole = self._local(path), array.dtype.kind == "i"
        self._require(f"{name}.__class__ is {'int' if whole else 'float'}")
        if whole:
            self._require(f"{-SMALL} <= {name} <= {SMALL}")
        self._line(f"n{i} = np.array({name}, {self._constant(array.dtype)})")

    def knows(self, thing: Any) -> bool:
        """Return whether the walk has met an object before."""
        return id(thing) in self._names

    def hold(self, thing: Any, path: str = "") -> None:
        """Guard the identity of an object."""
        name = self._names.get(id(thing))
        if path and name is None:
            name = self._names[id(thing)] = self._local(path)
        elif path:
            self._require(f"{path} is {name}")
        if name is not None and id(thing) not in self._held:
            self._held.add(id(thing))
            self._require(f"{name} is {self._constant(thing)}")

    def _value(self, value: Any, path: str, fresh: bool = False) -> None:
        place, self._place = self._place, None
        if self._openings is not None:
            value = self._openings.met(self, value, path, None if place is _OF_OBJECT else place)
            if value is DONE:
                return
        if self._is_data(value, path):
            return
        kind = type(value)
        if issubclass(kind, type):
            self._class(value, kind, place is not _OF_OBJECT)
        reading = read(value)
        if reading.by == "value":
            self._equal(value, path, reading)
            return
        if kind in _CONTAINERS and not value and not fresh:
            self._empty(value, path)
            return
        if not fresh and self._is_known(value, path, reading):
            return
        if reading.by == "identity":
            name = path if path in self._scope else self._constant(value)
            if name != path:
                self._require(f"{path} is {name}")
        else:
            name = self._local(path)
            if not fresh and not path.endswith(".__dict__"):
                self._line(f"if {name}.__class__ is not {self._constant(kind)}: return None")
                self._apart.setdefault(kind, []).append((value, name))
        if fresh:
            self._alive(value)
        else:
            self._names[id(value)] = name
        self._read(value, reading, name, fresh)

    def _is_data(self, value: Any, path: str) -> bool:
        """Write the conditions on a tensor, array, float, bool or None; whether it is one."""
        if isinstance(value, TensorBase):
            self._tensor(value, path)
            return True
        kind = type(value)
        self._tells = self._tells or may_tell(value)
        if kind is float:
            self._float(value, path)
            return True
        if isinstance(value, np.ndarray) and self._array(value, path):
            return True
        self._computes = self._computes or isinstance(value, np.inexact)
        if value is None or kind is bool:
            self._line(f"if {path} is not {value}: return None")
            return True
        return False

    def _class(self, value: Any, kind: type, called: bool) -> None:
        """Note what a class, which may be `called`, makes reachable."""
        if called:
            if not is_of_library(value):
                self._attributes |= MAKING
            self._instances_of(kind)
        if not _CONVERTING.isdisjoint(vars(value)):
            # Python takes nothing but numbers from these
            self._tells = self._tells or not is_of_library(value)

    def _equal(self, value: Any, path: str, reading: Reading) -> None:
        """Write the condition that an object equals `value`."""
        name, cls = self._local(path), self._constant(type(value))
        known = self._tool(value) if reading.facts else self._constant(value)
        pairs = [(self._path(f, name), self._constant(f.value)) for f in reading.facts]
        unlike = " or ".join([f"{one} != {other}" for one, other in pairs or [(name, known)]])
        # usually the same object: compare identities first
        other = f"{name}.__class__ is not {cls} or {unlike}"
        self._line(f"if {name} is not {known} and ({other}): return None")
        if type(value) is str:
            self._attributes.add(value)
            if "{" in value:
                self._attributes |= words_of(value)

    def _empty(self, value: Any, path: str) -> None:
        """Write the condition that a container is empty."""
        kind, own = type(value), path.endswith(".__dict__")
        name = path if own else self._local(path)
        other = "" if own else f" or {name}.__class__ is not {self._constant(kind)}"
        self._line(f"if {name}{other}: return None")
        self.walked.append(value)
        if not own:
            self._apart.setdefault(kind, []).append((value, name))

    def _is_known(self, value: Any, path: str, reading: Any) -> bool:
        """Write the condition that an object met before is met again; whether there is one."""
        seen = self._names.get(id(value))
        if seen is not None:
            if seen != path:
                self._require(f"{path} is {seen}")
            if value is self._called:
                # the called function is also reached as an object
                self._called = None
                self._read(value, reading, seen)
            return True
        if len(self._names) > _MOST:
            self._refuse("it reaches more objects than can be looked at in each call")
            return True
        return False

    def _alive(self, value: Any) -> None:
        """Keep an object made for the walk alive, so that no other object gets its identity."""
        self._scope.setdefault("alive", []).append(value)

    def _read(self, value: Any, reading: Any, name: str, fresh: bool = False) -> None:
        """Write the conditions on the facts and parts of an object."""
        if value is self._called:
            # the called function, whose arguments are known
            reading = Reading(
                "identity",
                [p for p in reading.parts if p.path != "{0}.__dict__" or p.value],
                (),
                reading.same[:1],
            )
        for part in reading.same:
            self._line(
                f"if {self._path(part, name)} is not {self._constant(part.value)}: return None"
            )
        for part in reading.facts:
            known = repr(part.value) if part.value.__class__ is int else self._constant(part.value)
            if part.path:
                self._line(f"if {self._path(part, name)} != {known}: return None")
        if reading.parts or reading.facts:
            self.walked.append(value)
        kind: Any = type(value)
        is_class, own = issubclass(kind, type), id(value) in self._own
        opens = self._openings is not None and not fresh
        for n, part in enumerate(reading.parts):
            path = self._path(part, name)
            if is_class and self._put_off.takes(value, part, path):
                continue
            if opens:
                self._place = place_of(value, part, n)
            where = part.path
            if where == "{1}":
                self._place = _OF_OBJECT
            elif where == "{0}.__dict__" and _is_of_user(kind):
                self._own.add(id(part.value))
            if not own:
                self._value(part.value, path, part.fresh)
                continue
            count = len(self._names)
            try:
                self._value(part.value, path)
            except Unknown as unknown:
                if len(self._names) > count:
                    raise
                # refused only if code may look it up
                self._put_off.unread.setdefault(str([*value][n]), unknown)
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.BuiltinFunctionType):
            # `getattr` may be called by another name
            self._attributes.add(value.__name__)
        elif isinstance(value, types.ModuleType):
            self._modules.setdefault(id(value), (value, name))

    def _mentioned(self) -> bool:
        """Walk the methods that some code may call; return whether there are any."""
        found = self._put_off.reached()
        for value, path in found:
            self._value(value, path)
        return bool(found)

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
        if value != value or value == 0:
            sign, other = math.copysign(1, value), "== 0" if value == 0 else f"!= {name}"
            self._require(
                f"{name}.__class__ is float and {name} {other} and copysign(1, {name}) == {sign}"
            )
        else:
            self._require(f"{name}.__class__ is float and {name} == {self._constant(value)}")

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
        payload = tensor._payload
        self._line(f"p{i} = {name}._payload")
        self._line(f"if p{i}.__class__ is not ndarray: p{i} = memory({name})")
        self._payload(payload, f"p{i}")
        if self.refusal is not None:
            return
        if tensor._edge is None:
            self._require(f"{name}._edge is None")
        elif tensor._edge is LEAF:
            self._require(f"{name}._edge is LEAF")
        else:
            self._require(f"{name}._edge is not None and {name}._edge is not LEAF")
        ext = tensor._ext
        if is_watched(tensor):
            raise Unknown(
                "a tensor has hooks on its gradient, or keeps one though it is not a leaf"
            )
        if not is_of_library(type(tensor)):
            # a subclass may take part in operations
            self._value(type(tensor), self._constant(type(tensor)))
        made = "not " if is_inference(tensor) else ""
        self._line(f"if {name}._vc.__class__ is {made}InferenceCell: return None")
        base = None if ext is None else ext.base
        state = () if ext is None else ext.state(VIEWED)
        if base is None and not state:
            self._plain_at[i] = len(self._lines)
            self._line(_plain(name))
        else:
            own = f"{name}._ext"
            there = f"{own} is not None and {own}.base is {'' if base is None else 'not '}None"
            known = self._constant(state)
            usual = "" if state else f"{own}.__dict__.keys() <= VIEWED or "
            self._require(f"{there} and ({usual}{own}.state(VIEWED) == {known})")
        if base is not None:
            self._tensor(base, f"{name}._ext.base")
        # forward mode caches the result of unpack_dual() there; the payload holds it, too
        if getattr(tensor, "__dict__", None) and tensor.__dict__.keys() != {"_given_tangent"}:
            self._value(tensor.__dict__, f"{name}.__dict__")

    def _gradients(self) -> None:
        """Write the conditions on the gradients of tensors, which the function may change."""
        count = len(self.met)
        # the loop also visits the gradients, which `_tensor` appends to `met`
        for i, tensor in enumerate(self.met):
            grad = None if tensor._ext is None else tensor._ext.grad
            if grad is None:
                if i in self._plain_at:
                    # one condition, of which most calls evaluate only the first operand
                    self._lines[self._plain_at[i]] = _plain(f"t{i}", "grad is not None")
                else:
                    self._line(
                        f"if t{i}._ext is not None and t{i}._ext.grad is not None: return None"
                    )
                continue
            if isinstance(grad, SparseValue):
                raise Unknown("a gradient is sparse")
            self._line(f"if t{i}._ext is None or t{i}._ext.grad is None: return None")
            self._tensor(grad, f"t{i}._ext.grad")
        self._plainly(count)

    def _plainly(self, first: int) -> None:
        """Guard that tensors without attributes have none, where code asks which exist."""
        if self._attributes & _ASKING:
            for i, tensor in enumerate(self.met[first:], first):
                if getattr(tensor, "__dict__", None) == {}:
                    self._line(f"if t{i}.__dict__: return None")

    def _payload(self, payload: Any, name: str) -> None:
        """Write the conditions on the payload of a tensor."""
        if isinstance(payload, np.ndarray | np.generic):
            dtype = self._constant(payload.dtype)
            self._require(f"{name}.dtype is {dtype} and {name}.shape == {payload.shape!r}")
        elif is_elsewhere(payload):
            self._refuse("an argument is on another device")
        else:
            self._refuse("an argument belongs to a transform that is under way")

    def _unwrapped(self) -> bool:
        """Walk the functions behind wrappers, where code may unwrap them; return whether any."""
        if not self._attributes & _UNWRAPPING:
            return False
        found = [thing for thing in self.walked if _wraps(thing) and id(thing) not in self._behind]
        self._behind |= {*map(id, found)}
        for function in found:
            self._value(function.__wrapped__, f"{self._names[id(function)]}.__wrapped__")
        return bool(found)

    def _asked(self) -> None:
        """Write the conditions on attributes that code may inspect, such as names of functions."""
        asked = self._attributes & _DENIED
        if asked:
            raise Unknown(f"it uses {min(asked)}")
        edges = [tensor._edge for tensor in self.met if tensor._edge is not None]
        if self._attributes & _NODES and any(edge is not LEAF for edge in edges):
            raise Unknown("it reads the node of a tensor that is not a leaf")
        if "base" in self._attributes and any(array.base is not None for array in self.arrays):
            raise Unknown("it reads the base of an array of NumPy")
        if "resize" in self._attributes and self.arrays:
            raise Unknown("it may resize an array of NumPy, which nothing else may hold meanwhile")
        if any(type(thing) is Generator for thing in self.kept) and self._attributes & _SEEDS:
            raise Unknown("it seeds a generator, or reads its state")
        about = sorted(self._attributes & _ABOUT)
        for thing in self.walked:
            if _wraps(thing) or isinstance(thing, type | types.FunctionType):
                for key in about:
                    if isinstance(found := getattr(thing, key, None), str | None):
                        known = self._constant(found)
                        self._line(f"if {self._names[id(thing)]}.{key} != {known}: return None")
        self._plainly(0)

    def _replaced(self) -> bool:
        """Walk the replacements of patched library definitions; return whether there are any.

        See NOTE [patches] in `wengert.base.patches`.
        """
        count = len(self.walked)
        if not self._asked_classes:
            known = self._tool(PATCHES.key)
            self._line(f"if {self._tool(PATCHES)}.key is not {known}: return None")
            for setting in CONTEXTS:
                value = self._constant(setting())
                self._line(f"if {self._tool(setting)}() != {value}: return None")
            for owner, name, value in [*PATCHES.found.values()]:
                if value is not PATCHES.absent:
                    self._value(value, f"{self._tool(vars(owner))}[{name!r}]")
        kinds = [type(thing) for thing in self.walked]
        kinds += [thing for thing in (*self.walked, *self.kept) if isinstance(thing, type)]
        for kind in dict.fromkeys(kinds):
            if kind in self._asked_classes:
                continue
            self._asked_classes.add(kind)
            if isinstance(kind, type(PORTS.tensor)) or not any(map(_is_ours, kind.__mro__)):
                continue
            members = Members(kind)
            tag, held = self._tool(members.tag), self._tool(members)
            self._line(f"if {tag}.value != {held}.seen and {held}.have_changed(): return None")
            for owner, name, value in members.foreign():
                self._value(value, f"{self._tool(vars(owner))}[{name!r}]")
        return len(self.walked) > count

    def _kept_apart(self) -> None:
        """Guard that objects are different ones, where code may ask whether they are one.

        That they are the same is guarded as they are met, except for empty containers.
        """
        asked = self._attributes & _IS
        shown = self._attributes & _SHOWING
        for kind, met in self._apart.items():
            compared, described = [
                getattr(kind, name) is getattr(object, name) for name in ("__eq__", "__repr__")
            ]
            if shown and described:
                # the text has the address
                for value, _ in met:
                    self.hold(value)
            if kind in _VALUES or not (asked or compared):
                continue
            first: dict[int, str] = {}
            for value, name in met:
                known = first.setdefault(id(value), name)
                if known != name:
                    self._require(f"{name} is {known}")
            if len(first) > 1:
                ids = ", ".join(f"id({name})" for name in first.values())
                self._line(f"if len({{{ids}}}) != {len(first)}: return None")

    def _hooked(self) -> None:
        """Guard that there are no global hooks of modules or optimisers, where any are reached."""
        kinds = dict.fromkeys(kind for thing in self.walked for kind in type(thing).__mro__)
        for kind in kinds:
            watch = kind.__dict__.get("_is_hooked")
            if watch:
                raise Unknown("there are hooks of all modules or optimisers")
            if watch is not None:
                self._line(f"if {self._tool(kind)}._is_hooked: return None")

    def _array(self, array: Any, path: str) -> bool:
        """Make an array an input; return False for other objects."""
        if array.__class__ is not np.ndarray or array.dtype.hasobject:
            return False
        self._places.met(array)
        seen = self._names.get(id(array))
        if seen is not None:
            self._require(f"{path} is {seen}")
            return True
        if array.dtype.metadata is not None:
            raise Unknown("it uses a dtype of NumPy that has metadata")
        i = len(self.arrays)
        name = self._names[id(array)] = f"n{i}"
        self.arrays.append(array)
        self._contents.append(content_of(array) if array.nbytes <= MOST_BYTES else None)
        self._line(f"{name} = {path}")
        dtype = self._constant(array.dtype)
        self._require(f"{name}.__class__ is ndarray and {name}.shape == {array.shape!r}")
        self._require(f"{name}.dtype == {dtype}")
        return True
