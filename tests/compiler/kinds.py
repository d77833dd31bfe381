"""Kinds of objects with state, and the places where functions reach them.

Each kind defines how an object is made in a state, what a function reads from it, and how it gets
to the next state: by a change, or (if ``step`` is None) by replacement with another object.
"""

from __future__ import annotations

import array
import builtins
import collections
import contextvars
import ctypes
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import inspect
import itertools
import logging
import math
import operator
import pathlib
import random
import re
import reprlib
import string
import threading
import types
import uuid
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import wengert as wg


class Kind(NamedTuple):
    make: Callable[[int], Any]
    read: Callable[[Any], Any]
    step: Callable[[Any], Any] | None = None


KINDS: dict[str, Kind] = {}


def kind(
    name: str,
    make: Callable[[int], Any],
    read: Callable[[Any], Any],
    step: Callable[[Any], Any] | None = None,
) -> None:
    assert name not in KINDS
    KINDS[name] = Kind(make, read, step)


def add_at(key: Any) -> Callable[[Any], None]:
    def step(thing: Any) -> None:
        thing[key] += 1

    return step


def add_to(name: str) -> Callable[[Any], None]:
    def step(thing: Any) -> None:
        setattr(thing, name, getattr(thing, name) + 1)

    return step


def get(name: str) -> Callable[[Any], Any]:
    """A function that reads an attribute in its own code."""
    space: dict[str, Any] = {}
    exec(f"def read(thing): return thing.{name}", space)
    return space["read"]


def item(key: str) -> Callable[[Any], Any]:
    space: dict[str, Any] = {}
    exec(f"def read(thing): return thing[{key}]", space)
    return space["read"]


def itself(thing: Any) -> Any:
    return thing


def size(thing: Any) -> Any:
    return len(thing)


def call(thing: Any) -> Any:
    return thing()


# -- numbers and other values ----------------------------------------------------------------------


class Whole(int):
    pass


class Real(float):
    pass


class Text(str):
    pass


class Raw(bytes):
    pass


class Colour(enum.Enum):
    ZERO, ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN = range(8)


class Level(enum.IntEnum):
    ZERO, ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN = range(8)


class Bits(enum.IntFlag):
    A, B, C = 1, 2, 4


class Named(NamedTuple):
    a: Any
    b: Any


class NamedWith(Named):
    pass


@dataclasses.dataclass
class Record:
    c: int = 0


@dataclasses.dataclass(frozen=True)
class Frozen:
    c: int = 0


@dataclasses.dataclass(slots=True)
class Slotted:
    c: int = 0


kind("int", int, itself)
kind("float", float, itself)
kind("bool", lambda n: bool(n % 2), itself)
kind("complex", lambda n: complex(n, 1), get("real"))
kind("str", str, lambda s: float(s))
kind("bytes", lambda n: bytes([n]), item("0"))
kind("none or number", lambda n: n or None, lambda v: 0.5 if v is None else v)
kind("int subclass", Whole, itself)
kind("float subclass", Real, itself)
kind("str subclass", lambda n: Text(n), lambda s: float(s))
kind("bytes subclass", lambda n: Raw([n]), item("0"))
kind("range", range, size)
kind("slice", slice, get("stop"))
kind("fraction", lambda n: fractions.Fraction(n, 7), lambda q: float(q))
kind("decimal", lambda n: decimal.Decimal(n), lambda d: float(d))
kind("date", lambda n: datetime.date(2000, 1, 1 + n), get("day"))
kind("timedelta", lambda n: datetime.timedelta(n), get("days"))
kind("datetime", lambda n: datetime.datetime(2000, 1, 1 + n), get("day"))
kind("pattern", lambda n: re.compile("a" * n), lambda p: len(p.pattern))
kind("path", lambda n: pathlib.PurePosixPath("x" * (n + 1)), lambda p: len(p.name))
kind("enum", lambda n: Colour(n), get("value"))
kind("int enum", lambda n: Level(n), itself)
kind("flag", lambda n: Bits(n % 8), lambda f: f.value)
kind("named tuple", lambda n: Named(n, 0), get("a"))
kind("named tuple subclass", lambda n: NamedWith(n, 0), get("a"))
kind("frozen dataclass", Frozen, get("c"))
kind("np.float64", np.float64, itself)
kind("np.int32", np.int32, itself)
kind("np.float32", np.float32, lambda v: float(v))
kind("np.bool", lambda n: np.bool_(n % 2), lambda v: float(v))
kind("np.complex128", np.complex128, lambda v: float(v.real))
kind("np.str", lambda n: np.str_(n), lambda s: float(s))
kind("np.datetime64", lambda n: np.datetime64(n, "D"), lambda v: int(v.astype("int64")))
kind("dtype", lambda n: np.dtype(f"S{n + 1}"), get("itemsize"))
kind("size", lambda n: wg.Size([n, 2]), item("0"))
kind("frozenset", lambda n: frozenset(range(n)), size)
kind("tuple", lambda n: (n, 0), item("0"))

# -- containers ------------------------------------------------------------------------------------


class List(list):
    scale = 1


class Dict(dict):
    scale = 1


class Set(set):
    scale = 1


class Tuple(tuple):
    scale = 1


class Deque(collections.deque):
    scale = 1


class Crooked(list):
    """Shows other elements than it has."""

    def __getitem__(self, index: Any) -> Any:
        return 1

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 1

    def first(self) -> Any:
        return list.__getitem__(self, 0)


def with_attribute(cls: Any) -> Callable[[int], Any]:
    def make(n: int) -> Any:
        made = cls()
        made.c = n
        return made

    return make


def step_crooked(thing: Any) -> None:
    list.__setitem__(thing, 0, list.__getitem__(thing, 0) + 1)


def turn(thing: Any) -> None:
    thing.move_to_end(next(iter(thing)))


def append(thing: Any) -> None:
    thing.append(0)


def appended(n: int) -> list[int]:
    return [0] * n


kind("list", lambda n: [n], item("0"), add_at(0))
kind("list grown", appended, size, append)
kind("nested list", lambda n: [[n]], lambda v: v[0][0], lambda v: add_at(0)(v[0]))
kind("list subclass", lambda n: List([n]), item("0"), add_at(0))
kind("list attribute", with_attribute(List), get("c"), add_to("c"))
kind("crooked list", lambda n: Crooked([n]), lambda v: v.first(), step_crooked)
kind("dict", lambda n: {"c": n}, item('"c"'), add_at("c"))
kind("dict with int keys", lambda n: {1: n}, item("1"), add_at(1))
kind("dict with tuple keys", lambda n: {(1, 2): n}, item("(1, 2)"), add_at((1, 2)))
kind("dict subclass", lambda n: Dict(c=n), item('"c"'), add_at("c"))
kind("dict attribute", with_attribute(Dict), get("c"), add_to("c"))
kind(
    "dict order",
    lambda n: dict.fromkeys(sorted(range(3), key=lambda i: (i + n) % 3)),
    lambda d: next(k for k in d),
)
kind("dict keys", lambda n: dict.fromkeys(range(n)).keys(), size)
kind("dict values", lambda n: {0: n}.values(), lambda v: sum(v))
kind("dict items", lambda n: {0: n}.items(), lambda v: sum(b for _, b in v))
kind("set", lambda n: set(range(n)), size, lambda s: s.add(len(s)))
kind("set subclass", lambda n: Set(range(n)), size, lambda s: s.add(len(s)))
kind("set attribute", with_attribute(Set), get("c"), add_to("c"))
kind("set of bools", lambda n: {1} if n % 2 else {True}, lambda s: str(next(iter(s))) == "1")
kind("tuple attribute", with_attribute(Tuple), get("c"), add_to("c"))
kind("tuple of lists", lambda n: ([n],), lambda v: v[0][0], lambda v: add_at(0)(v[0]))
kind("deque", lambda n: collections.deque([n]), item("0"), add_at(0))
kind("deque grown", lambda n: collections.deque(appended(n)), size, append)
kind("deque maxlen", lambda n: collections.deque(maxlen=n + 1), get("maxlen"))
kind("deque subclass", lambda n: Deque([n]), item("0"), add_at(0))
kind("deque attribute", with_attribute(Deque), get("c"), add_to("c"))
kind("ordered dict", lambda n: collections.OrderedDict(c=n), item('"c"'), add_at("c"))
kind(
    "ordered dict order",
    lambda n: collections.OrderedDict.fromkeys(sorted(range(3), key=lambda i: (i - n) % 3)),
    lambda d: next(iter(d.keys())),
    turn,
)
kind("default dict", lambda n: collections.defaultdict(int, c=n), item('"c"'), add_at("c"))
kind(
    "default factory",
    lambda n: collections.defaultdict(functools.partial(float, n)),
    lambda d: d.default_factory(),
)
kind("counter", lambda n: collections.Counter(c=n), item('"c"'), add_at("c"))
kind(
    "chain map",
    lambda n: collections.ChainMap({}, {"c": n}),
    item('"c"'),
    lambda c: add_at("c")(c.maps[1]),
)
kind("user dict", lambda n: collections.UserDict(c=n), item('"c"'), add_at("c"))
kind("user list", lambda n: collections.UserList([n]), item("0"), add_at(0))
kind("user string", lambda n: collections.UserString(str(n)), lambda s: float(str(s)))


def step_proxy(proxy: Any) -> None:
    (proxy | PROXIED[id(proxy)])["c"] += 1
    PROXIED[id(proxy)]["c"] += 1


PROXIED: dict[int, dict[str, int]] = {}


def make_proxy(n: int) -> Any:
    under = {"c": n}
    made = types.MappingProxyType(under)
    PROXIED[id(made)] = under
    return made


kind("mapping proxy", make_proxy, item('"c"'), step_proxy)
kind("array.array", lambda n: array.array("d", [n]), item("0"), add_at(0))
kind("bytearray", lambda n: bytearray([n]), item("0"), add_at(0))
kind("memoryview", lambda n: memoryview(bytearray([n])), item("0"), add_at(0))

# -- objects ---------------------------------------------------------------------------------------


class Plain:
    def __init__(self, n: int = 0) -> None:
        self.c = n


class Slots:
    __slots__ = ("c",)

    def __init__(self, n: int = 0) -> None:
        self.c = n


class MoreSlots(Slots):
    __slots__ = ("d",)


class SlotsAndDict(Slots):
    pass


class Private:
    __slots__ = ("__c",)

    def __init__(self, n: int) -> None:
        self.__c = n

    def read(self) -> Any:
        return self.__c

    def step(self) -> None:
        self.__c += 1


class Computed:
    def __init__(self, n: int) -> None:
        self._c = n

    @property
    def c(self) -> Any:
        return self._c * 2 + 1

    @functools.cached_property
    def kept(self) -> Any:
        return self._c


class Dynamic:
    def __init__(self, n: int) -> None:
        self.__dict__["hidden"] = {"c": n}

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["hidden"][name]


class Described:
    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = "_" + name

    def __get__(self, instance: Any, owner: Any) -> Any:
        return getattr(instance, self.name) * 3


class WithDescriptor:
    c = Described()

    def __init__(self, n: int) -> None:
        self._c = n


class Callable_:
    def __init__(self, n: int) -> None:
        self.c = n

    def __call__(self) -> Any:
        return self.c

    def method(self) -> Any:
        return self.c


class Everywhere:
    """Its attributes are found by a function of its own."""

    def __init__(self, n: int) -> None:
        object.__setattr__(self, "c", n)

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name)


def class_with(n: int) -> Any:
    class Made:
        c = n

    return Made


def metaclass_with(n: int) -> Any:
    class Meta(type):
        c = n

    class Made(metaclass=Meta):
        pass

    return Made


def step_meta(cls: Any) -> None:
    type(cls).c += 1


def subclass_of(n: int) -> Any:
    class Base:
        c = n

    class Made(Base):
        pass

    return Made


def step_base(cls: Any) -> None:
    cls.__mro__[1].c += 1


def unset(n: int) -> Any:
    made = Slots(n)
    if n % 2:
        del made.c
    return made


kind("object", Plain, get("c"), add_to("c"))
kind("object with a list", lambda n: Plain([n]), lambda o: o.c[0], lambda o: add_at(0)(o.c))
kind("object in an object", lambda n: Plain(Plain(n)), lambda o: o.c.c, lambda o: add_to("c")(o.c))
kind(
    "new attribute",
    lambda n: Plain(),
    lambda o: len(vars(o)),
    lambda o: setattr(o, f"a{len(vars(o))}", 0),
)
kind("slots", Slots, get("c"), add_to("c"))
kind("inherited slots", MoreSlots, get("c"), add_to("c"))
kind("slots and dict", SlotsAndDict, get("c"), add_to("c"))
kind("private slot", Private, lambda o: o.read(), lambda o: o.step())
kind("unset slot", unset, lambda o: hasattr(o, "c"))
kind("dataclass", Record, get("c"), add_to("c"))
kind("dataclass with slots", Slotted, get("c"), add_to("c"))
kind("namespace", lambda n: types.SimpleNamespace(c=n), get("c"), add_to("c"))
kind("property", Computed, get("c"), add_to("_c"))
kind(
    "cached property",
    Computed,
    get("kept"),
    lambda o: o.__dict__.__setitem__("kept", o.__dict__.get("kept", 0) + 1),
)
kind("__getattr__", Dynamic, get("c"), lambda o: add_at("c")(o.__dict__["hidden"]))
kind("__getattribute__", Everywhere, get("c"), lambda o: object.__setattr__(o, "c", o.c + 1))
kind("descriptor", WithDescriptor, get("c"), add_to("_c"))
kind("class attribute", class_with, get("c"), add_to("c"))
kind("attribute of a base", subclass_of, get("c"), step_base)
kind("attribute of a metaclass", metaclass_with, get("c"), step_meta)
kind(
    "attribute of the class of an object",
    lambda n: class_with(n)(),
    get("c"),
    lambda o: add_to("c")(type(o)),
)
kind(
    "class of an object",
    lambda n: class_with(n)(),
    get("c"),
    lambda o: setattr(o, "__class__", class_with(o.c + 1)),
)
kind("logger", lambda n: logging.Logger("held", n), get("level"), add_to("level"))
kind("root logger", with_attribute(lambda: logging.RootLogger(0)), get("c"), add_to("c"))
kind("thread local", lambda n: local(n), get("c"), add_to("c"))
kind("exception", lambda n: ValueError(n), lambda e: e.args[0])
kind(
    "template",
    lambda n: string.Template(str(n)),
    lambda t: float(t.template),
    lambda t: setattr(t, "template", str(int(t.template) + 1)),
)


def local(n: int) -> Any:
    made = threading.local()
    made.c = n
    return made


# -- functions -------------------------------------------------------------------------------------


def function_with(code: str, name: str = "made", **space: Any) -> Any:
    exec(code, space)
    return space[name]


def by_closure(n: int) -> Any:
    return function_with(
        "def outer(n):\n"
        "    def made(): return n\n"
        "    def step():\n"
        "        nonlocal n\n"
        "        n += 1\n"
        "    made.step = step\n"
        "    return made\n"
        "made = outer(N)\n",
        N=n,
    )


def by_inner_closure(n: int) -> Any:
    under = by_closure(n)

    def outer() -> Any:
        return under()

    outer.under = under  # type: ignore[attr-defined]
    return outer


def swap_code(function: Any) -> None:
    n = function()
    function.__code__ = eval(f"lambda: {n + 1}").__code__


def step_defaults(function: Any) -> None:
    function.__defaults__ = (function.__defaults__[0] + 1,)


def step_keywords(function: Any) -> None:
    function.__kwdefaults__ = {"n": function.__kwdefaults__["n"] + 1}


def step_keywords_within(function: Any) -> None:
    function.__kwdefaults__["n"] += 1


def counted(n: int) -> Any:
    @functools.lru_cache
    def made() -> Any:
        return len(filled)

    filled = appended(n)
    made.filled = filled  # type: ignore[attr-defined]
    return made


def step_cache(function: Any) -> None:
    function.filled.append(0)
    function.cache_clear()


def wrapped(n: int) -> Any:
    under = by_closure(n)

    @functools.wraps(under)
    def made() -> Any:
        return under()

    return made


def single(n: int) -> Any:
    @functools.singledispatch
    def made(value: Any) -> Any:
        return 0

    register(made, n)
    return made


def register(function: Any, n: int) -> None:
    function.register(float)(eval(f"lambda value: {n}"))
    function.n = n


kind("lambda", lambda n: eval(f"lambda: {n}"), call)
kind("closure", by_closure, call, lambda f: f.step())
kind("closure of a closure", by_inner_closure, call, lambda f: f.under.step())
kind("code", lambda n: eval(f"lambda: {n}"), call, swap_code)
kind("defaults", lambda n: eval(f"lambda n={n}: n"), call, step_defaults)
kind("keyword defaults", lambda n: eval(f"lambda *, n={n}: n"), call, step_keywords)
kind("keyword defaults within", lambda n: eval(f"lambda *, n={n}: n"), call, step_keywords_within)
kind(
    "mutable default",
    lambda n: eval(f"lambda n=[{n}]: n[0]"),
    call,
    lambda f: add_at(0)(f.__defaults__[0]),
)
kind("function attribute", with_attribute(lambda: eval("lambda: 0")), get("c"), add_to("c"))
kind(
    "global of a function",
    lambda n: function_with("def made(): return c", c=n),
    call,
    lambda f: add_at("c")(f.__globals__),
)
kind("wrapped function", wrapped, call, lambda f: f.__wrapped__.step())
kind("partial", lambda n: functools.partial(operator.add, n, 1), call)
kind(
    "partial of a list",
    lambda n: functools.partial(operator.getitem, [n], 0),
    call,
    lambda p: add_at(0)(p.args[0]),
)
kind(
    "partial keywords",
    lambda n: functools.partial(dict, c=n),
    lambda p: p()["c"],
    lambda p: add_at("c")(p.keywords),
)
kind("partial attribute", with_attribute(lambda: functools.partial(len)), get("c"), add_to("c"))
for name, made in {
    "cached function": lambda: functools.cache(len),
    "function with a small cache": lambda: functools.lru_cache(2)(len),
    "cached property": lambda: functools.cached_property(len),
    "static method": lambda: staticmethod(len),
    "class method": lambda: classmethod(len),
    "ordered dict": collections.OrderedDict,
    "random": random.Random,
    "number of C": ctypes.c_int,
    "compiled function": lambda: wg.compile(lambda: 0),
    "NumPy's number": type("Half", (np.float64,), {}),
}.items():
    kind(f"{name} attribute", with_attribute(made), get("c"), add_to("c"))
kind("bound method", lambda n: Callable_(n).method, call, lambda m: add_to("c")(m.__self__))
kind("callable object", Callable_, call, add_to("c"))
kind("built-in method", lambda n: [n].__getitem__, lambda g: g(0), lambda g: add_at(0)(g.__self__))
kind(
    "built-in method of a dict",
    lambda n: {"c": n}.get,
    lambda g: g("c"),
    lambda g: add_at("c")(g.__self__),
)
kind("method wrapper", lambda n: appended(n).__len__, call, lambda g: append(g.__self__))
kind("item getter", lambda n: operator.itemgetter(n), lambda g: g(range(9)))
kind("lru_cache", counted, call, step_cache)
kind("single dispatch", single, lambda f: f(1.0), lambda f: register(f, f.n + 1))
kind("context variable", lambda n: variable(n), lambda v: v.get(), lambda v: v.set(v.get() + 1))
kind(
    "token",
    lambda n: (variable(n) if n else contextvars.ContextVar("made")).set(n),
    lambda t: t.var.get() if t.old_value is t.MISSING else t.var.get() + t.old_value,
    lambda t: t.var.set(t.var.get() + 1),
)
kind("weak reference", lambda n: weakly(Plain(n)), lambda r: r().c, lambda r: add_to("c")(r()))
kind(
    "weak key dictionary",
    lambda n: weak_keys(n),
    lambda d: sum(d.values()),
    lambda d: add_at(next(iter(d)))(d),
)
kind(
    "weak value dictionary",
    lambda n: weak_values(n),
    lambda d: d["c"].c,
    lambda d: add_to("c")(d["c"]),
)
kind(
    "weak set",
    lambda n: weak_set(n),
    lambda s: sum(o.c for o in s),
    lambda s: add_to("c")(next(iter(s))),
)
kind("weak method", lambda n: weak_method(n), lambda r: r()(), lambda r: add_to("c")(r().__self__))
kind("iterator", lambda n: iter(range(n, 999)), lambda i: next(i), lambda i: next(i))
kind("generator", lambda n: (i for i in range(n, 999)), lambda i: next(i), lambda i: next(i))
kind("count", lambda n: itertools.count(n), lambda i: next(i), lambda i: next(i))
kind("__next__ of a count", lambda n: itertools.count(n).__next__, call, call)
kind(
    "cycle",
    lambda n: itertools.islice(itertools.cycle(range(5)), n, None),
    lambda i: next(i),
    lambda i: next(i),
)

ALIVE: list[Any] = []


def weakly(thing: Any) -> Any:
    ALIVE.append(thing)
    return weakref.ref(thing)


def weak_keys(n: int) -> Any:
    ALIVE.append(Plain())
    return weakref.WeakKeyDictionary({ALIVE[-1]: n})


def weak_values(n: int) -> Any:
    ALIVE.append(Plain(n))
    return weakref.WeakValueDictionary({"c": ALIVE[-1]})


def weak_set(n: int) -> Any:
    ALIVE.append(Plain(n))
    return weakref.WeakSet([ALIVE[-1]])


def weak_method(n: int) -> Any:
    ALIVE.append(Callable_(n))
    return weakref.WeakMethod(ALIVE[-1].method)


def variable(n: int) -> Any:
    made = contextvars.ContextVar("made")
    made.set(n)
    return made


# -- outside of Python -----------------------------------------------------------------------------


class Structure(ctypes.Structure):
    _fields_ = (("c", ctypes.c_double),)


def pointed(n: int) -> Any:
    ALIVE.append(ctypes.c_double(n))
    return ctypes.pointer(ALIVE[-1])


kind("ctypes number", ctypes.c_int, get("value"), add_to("value"))
kind("ctypes array", lambda n: (ctypes.c_double * 2)(n, 1), item("0"), add_at(0))
kind("ctypes structure", lambda n: Structure(n), get("c"), add_to("c"))
kind("ctypes pointer", pointed, lambda p: p.contents.value, lambda p: add_to("value")(p.contents))
kind("random.Random", lambda n: random.Random(n), lambda r: r.random())
kind("np.random.Generator", lambda n: np.random.default_rng(n), lambda r: float(r.random()))
kind("np.random.RandomState", lambda n: np.random.RandomState(n), lambda r: float(r.rand()))
kind(
    "decimal context",
    lambda n: decimal.Decimal(n + 1),
    lambda d: float(d / 7),
    lambda d: add_to("prec")(decimal.getcontext()),
)
kind(
    "lock",
    lambda n: held(n),
    lambda lock: lock.locked(),
    lambda lock: lock.release() if lock.locked() else lock.acquire(),
)
kind(
    "event",
    lambda n: threading.Event(),
    lambda e: e.is_set(),
    lambda e: e.clear() if e.is_set() else e.set(),
)


def held(n: int) -> Any:
    lock = threading.Lock()
    if n % 2:
        lock.acquire()
    return lock


# -- NumPy -----------------------------------------------------------------------------------------


class Array(np.ndarray):
    pass


def subarray(n: int) -> Any:
    made = np.array([n, 1.0]).view(Array)
    made.c = n
    return made


def first(thing: Any) -> Any:
    return float(thing[0])


kind("array element", lambda n: np.array([n, 1.0]), item("0"), add_at(0))
kind("array sum", lambda n: np.array([n, 1.0]), lambda a: a.sum(), add_at(0))
kind("array item", lambda n: np.array([n, 1.0]), lambda a: a.item(0), add_at(0))
kind("array product", lambda n: np.array([n, 1.0]), lambda a: a @ a, add_at(0))
kind("array maximum", lambda n: np.array([n, 0.5]), lambda a: int(a.max()), add_at(0))
kind("array range", lambda n: np.array([n, 1]), lambda a: len(range(int(a[0]))), add_at(0))
kind("array decision", lambda n: np.array([n, 1]), lambda a: 1.0 if a[0] > 2 else 0.5, add_at(0))
kind("array operand", lambda n: np.array([n, 1.0]), itself, add_at(0))
kind(
    "array of no dimensions",
    lambda n: np.array(float(n)),
    lambda a: float(a),
    lambda a: a.__iadd__(1),
)
kind("array view", lambda n: np.arange(4.0)[::2] + n, first, add_at(0))
kind("array of integers", lambda n: np.array([n, 1]), first, add_at(0))
kind(
    "array of bools",
    lambda n: np.array([n % 2 == 1, True]),
    lambda a: float(a[0]),
    lambda a: np.logical_not(a, out=a),
)
kind("array of objects", lambda n: np.array([n, None], object), first, add_at(0))
kind("array of strings", lambda n: np.array([str(n)]), first)
kind(
    "structured array",
    lambda n: np.array([(n, 1.0)], [("c", float), ("d", float)]),
    lambda a: float(a["c"][0]),
    lambda a: add_at(0)(a["c"]),
)
kind(
    "record array",
    lambda n: np.rec.array([(n, 1.0)], dtype=[("c", float), ("d", float)]),
    lambda a: float(a.c[0]),
    lambda a: add_at(0)(a["c"]),
)
kind("array subclass", subarray, first, add_at(0))
kind("array subclass attribute", subarray, get("c"), add_to("c"))
kind("masked array", lambda n: np.ma.array([n, 1.0]), first, add_at(0))
kind(
    "mask",
    lambda n: np.ma.array([1.0, 2.0], mask=[False, n % 2]),
    lambda a: float(a.sum()),
    lambda a: a.mask.__setitem__(1, not a.mask[1]),
)
kind(
    "matrix",
    lambda n: np.array([[n, 1.0]]).view(np.matrix),
    lambda a: float(a[0, 0]),
    lambda a: a.__setitem__((0, 0), a[0, 0] + 1),
)
kind(
    "array in a list",
    lambda n: [np.array([n, 1.0])],
    lambda v: float(v[0][0]),
    lambda v: add_at(0)(v[0]),
)
kind("array dtype", lambda n: np.zeros(2, [np.float32, np.float64][n % 2]), lambda a: a.itemsize)
kind("array shape", lambda n: np.zeros(n + 1), size)
kind(
    "array flags",
    lambda n: np.zeros(2),
    lambda a: float(a.flags.writeable),
    lambda a: a.setflags(write=not a.flags.writeable),
)
kind("large array", lambda n: np.full(20_000, float(n)), first, add_at(0))
kind(
    "polynomial",
    lambda n: np.polynomial.Polynomial([n, 1.0]),
    lambda p: float(p(1.0)),
    lambda p: add_at(0)(p.coef),
)
kind(
    "vectorised function",
    lambda n: np.vectorize(by_closure(n)),
    lambda v: float(v.pyfunc()),
    lambda v: v.pyfunc.step(),
)
kind(
    "flat iterator",
    lambda n: np.array([n, 1.0]).flat,
    lambda f: float(f[0]),
    lambda f: add_at(0)(f.base),
)
kind("tensor in an object", lambda n: Plain(wg.tensor(float(n))), get("c"), lambda o: o.c.add_(1))
kind(
    "tensor in a deque",
    lambda n: collections.deque([wg.tensor(float(n))]),
    item("0"),
    lambda d: d[0].add_(1),
)
kind("tensor's memory", lambda n: wg.tensor([float(n)]).numpy(), first, add_at(0))

# -- what is seldom met ----------------------------------------------------------------------------


def one_of(*things: Any) -> Callable[[int], Any]:
    return lambda n: things[n % len(things)]


def hint(thing: Any) -> Any:
    return thing.__length_hint__()


kind(
    "singletons",
    one_of(None, ..., NotImplemented),
    lambda v: 1 if v is None else 2 if v is ... else 3,
)
kind("windows path", lambda n: pathlib.PureWindowsPath("x" * (n + 1)), lambda p: len(p.name))
kind("uuid", lambda n: uuid.UUID(int=n), get("int"))
kind("time", lambda n: datetime.time(n), get("hour"))
kind(
    "time zone",
    lambda n: datetime.timezone(datetime.timedelta(hours=n)),
    lambda z: z.utcoffset(None).seconds,
)
kind("generic alias", one_of(list[int], list[str]), lambda a: a.__args__[0] is int)
kind("union type", one_of(int | str, int | float), lambda u: u.__args__[1] is str)
kind("dtype of ours", one_of(wg.float32, wg.float64), get("itemsize"))
kind(
    "signature",
    one_of(inspect.signature(math.sin), inspect.signature(math.atan2)),
    lambda s: float(len(s.parameters)),
)
kind("ufunc", one_of(np.add, np.multiply), lambda u: float(u(2.0, 3.0)))
kind("function of NumPy", one_of(np.sum, np.prod), lambda f: float(f([2.0, 3.0])))
kind(
    "attribute getter",
    one_of(operator.attrgetter("real"), operator.attrgetter("imag")),
    lambda g: g(2 + 3j),
)
kind("method caller", lambda n: operator.methodcaller("count", n), lambda g: g([0, 1, 1, 2, 3, 3]))
kind("cell", types.CellType, get("cell_contents"), add_to("cell_contents"))
kind("code object", lambda n: eval(f"lambda: {n}").__code__, lambda c: c.co_consts[-1] or 0)
kind(
    "getset descriptor",
    one_of(vars(types.FunctionType)["__code__"], vars(types.FunctionType)["__defaults__"]),
    lambda d: len(d.__name__),
)
kind(
    "member descriptor",
    one_of(vars(Slots)["c"], vars(Private)["_Private__c"]),
    lambda d: len(d.__name__),
)
kind("list iterator", lambda n: iter([0] * (90 - n)), hint, next)
kind("tuple iterator", lambda n: iter((0,) * (90 - n)), hint, next)
kind("text iterator", lambda n: iter("0" * (90 - n)), hint, next)
kind("range iterator", lambda n: iter(range(90 - n)), hint, next)
kind("long range iterator", lambda n: iter(range(1 << 70, (1 << 70) + 90 - n)), hint, next)
kind("reversed list", lambda n: reversed([0] * (90 - n)), hint, next)
kind("enumerate", lambda n: enumerate([0] * 90, n), lambda i: i.__reduce__()[1][1], next)
kind("zip", lambda n: zip([0] * (90 - n)), lambda i: i.__reduce__()[1][0].__length_hint__(), next)
kind(
    "map",
    lambda n: map(abs, [0] * (90 - n)),
    lambda i: i.__reduce__()[1][1].__length_hint__(),
    next,
)
kind(
    "generator of wengert",
    lambda n: wg.Generator().manual_seed(n),
    lambda g: wg.rand((), generator=g, dtype=wg.float64),
)

# -- what is equal, and yet not alike --------------------------------------------------------------

ZONES = [datetime.timezone(datetime.timedelta(0), name) for name in ("a", "bb", "ccc")]


class Zone(datetime.tzinfo):
    """A time zone that moves."""

    hours = 0

    def utcoffset(self, when: Any) -> datetime.timedelta:
        return datetime.timedelta(hours=self.hours)


def turned(zone: Zone) -> None:
    zone.hours += 1


def with_cause(n: int) -> Exception:
    made = ValueError("same")
    made.__cause__ = KeyError(n)
    return made


def signature_of(n: int) -> Any:
    def function(a: Any = [n], *, b: list[int] = [n]) -> None:  # noqa: B006  # what it holds changes
        pass

    return inspect.signature(function)


class Patterned:
    __slots__ = ("a", "b")
    __match_args__ = ("a", "b")

    def __init__(self, n: int) -> None:
        self.a, self.b = n, -1


def matched(thing: Any) -> Any:
    match thing:
        case Patterned(first):
            return first
    return None


def turned_round(thing: Any) -> None:
    kind: Any = type(thing)
    kind.__match_args__ = kind.__match_args__[::-1]


def patterned(n: int) -> Any:
    Patterned.__match_args__ = ("a", "b")
    return Patterned(n)


METADATA: dict[type, Any] = {}
"""What fields show, but do not give away."""


def kind_with_metadata(n: int) -> Any:
    metadata = {"n": n}
    field: Any = dataclasses.field(default=0, metadata=metadata)
    made = dataclasses.make_dataclass("Kind", [("a", int, field)])
    METADATA[made] = metadata
    return made


def by_wraps(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


def shown_by(decorator: Any) -> Callable[[int], Any]:
    """A class with a decorated ``__repr__``, whose length depends on a cell."""

    def make(n: int) -> Any:
        cell = types.CellType(n)
        function = types.FunctionType(
            (lambda self: "a" * n).__code__, {"__name__": "a_program"}, "__repr__", (), (cell,)
        )
        made = type("Shown", (), {"__repr__": decorator(function)})()
        CELLS[id(made)] = made, cell
        return made

    return make


CELLS: dict[int, Any] = {}


class Shows:
    """A descriptor that makes texts."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __get__(self, thing: Any, kind: Any = None) -> Any:
        return functools.partial(self.function, thing)


for name, decorator in (
    ("by wraps", by_wraps),
    ("by a descriptor", Shows),
    ("by reprlib", reprlib.recursive_repr()),
):
    kind(
        f"text made {name}",
        shown_by(decorator),
        lambda thing: len(repr(thing)),
        lambda thing: add_to("cell_contents")(CELLS[id(thing)][1]),
    )
kind(
    "attribute with a blank",
    lambda n: type("C", (), {"a b": n}),
    lambda made: getattr(made, "a b"),
    lambda made: setattr(made, "a b", getattr(made, "a b") + 1),
)
kind(
    "ufunc that calls Python",
    lambda n: np.frompyfunc(by_closure(n), 0, 1),
    call,
)
kind(
    "class that names a library",
    lambda n: types.new_class("C", (), {}, lambda space: space.update(c=n)),
    get("c"),
    add_to("c"),
)
kind("path in another case", one_of(*map(pathlib.PureWindowsPath, "aA")), lambda p: ord(p.name))
kind(
    "memory behind a view",
    lambda n: memoryview(bytearray([n, 1]))[1:],
    lambda view: view.obj[0],
    lambda view: add_at(0)(view.obj),
)
kind("array with steps", lambda n: np.zeros(40)[:: n + 2][:2], lambda a: a.strides[0])
kind(
    "array of an array",
    lambda n: np.zeros(3)[:2] if n % 2 else np.zeros(2),
    lambda a: a.flags.owndata + 0.5,
)
kind("array below an array", lambda n: np.zeros(3 + n)[:2], lambda a: a.base.size)
kind(
    "array with metadata",
    lambda n: np.zeros(2, np.dtype(np.float64, metadata={"n": n})),
    lambda a: a.dtype.metadata["n"],
)


def with_a_slot(n: int) -> Any:
    kind = type("C", (), {"__slots__": ("c",)})
    made: Any = kind()
    made.c = n
    return made


def hidden_slot(thing: Any) -> None:
    made: Any = type(thing)
    count = thing.c + 1
    made.c = property(lambda self: count)


class Module(types.ModuleType):
    c = 5


def plain_module(n: int) -> Any:
    made: Any = types.ModuleType("some")
    made.__getattr__ = lambda name: n
    return made


def module_of_a_class(thing: Any) -> None:
    thing.__class__ = Module


def with_builtins(n: int) -> Any:
    space: dict[str, Any] = {"__builtins__": {"one": n}}
    exec("def made(): return one", space)
    return space["made"]


def deeper(function: Any) -> None:
    function.__builtins__["one"] += 1


kind("slot that is hidden", with_a_slot, get("c"), hidden_slot)
kind("module that gets a class", plain_module, get("c"), module_of_a_class)
kind("function with built-in names", with_builtins, call, deeper)
kind("range of one length", lambda n: range(0, 6, 3 + n % 3), get("step"))
kind("zone with a name", one_of(*ZONES), lambda z: len(z.tzname(None)))
kind(
    "moment in a zone",
    lambda n: datetime.datetime(
        2020, 1, 1, 5 + n, tzinfo=datetime.timezone(datetime.timedelta(hours=n))
    ),
    get("hour"),
)
kind("second hour of two", lambda n: datetime.datetime(2020, 1, 1, fold=n % 2), get("fold"))
kind(
    "time in a zone",
    lambda n: datetime.time(5 + n, tzinfo=datetime.timezone(datetime.timedelta(hours=n))),
    get("hour"),
)
kind(
    "moment in a zone that moves",
    lambda n: datetime.datetime(2020, 1, 1, tzinfo=Zone()),
    lambda moment: moment.utcoffset().seconds / 3600,
    lambda moment: turned(moment.tzinfo),
)
kind(
    "identifier",
    lambda n: uuid.UUID(int=1, is_safe=[*uuid.SafeUUID][n % 3]),
    lambda u: u.is_safe.value or 0.5,
)
kind(
    "date of NumPy",
    one_of(np.datetime64("2020", "Y"), np.datetime64("2020-01-01", "D")),
    lambda d: len(str(d)),
)
kind(
    "span of NumPy", one_of(np.timedelta64(1, "h"), np.timedelta64(60, "m")), lambda d: len(str(d))
)
kind(
    "record of NumPy",
    lambda n: np.array([(0.0 if n % 2 else -0.0,)], [("a", np.float64)])[0],
    lambda r: math.copysign(1.0, r["a"]),
)
kind(
    "aligned dtype",
    lambda n: np.dtype([("a", np.int32)], align=bool(n % 2)),
    get("isalignedstruct"),
)
kind(
    "dtype with metadata",
    lambda n: np.dtype(np.float64, metadata={"n": n}),
    lambda d: d.metadata["n"],
)
kind("exception with a cause", with_cause, lambda e: e.__cause__.args[0])
kind(
    "default in a signature",
    signature_of,
    lambda s: s.parameters["a"].default[0] + s.parameters["b"].default[0],
    lambda s: add_at(0)(s.parameters["a"].default),
)
kind(
    "class in an alias",
    lambda n: list[type("C", (), {"c": n})],  # type: ignore[misc]  # made at run time
    lambda a: a.__args__[0].c,
    lambda a: add_to("c")(a.__args__[0]),
)
kind(
    "class in a union",
    lambda n: type("C", (), {"c": n}) | None,
    lambda u: u.__args__[0].c,
    lambda u: add_to("c")(u.__args__[0]),
)
kind("attributes to match", patterned, matched, turned_round)
kind(
    "metadata of a field",
    kind_with_metadata,
    lambda made: dataclasses.fields(made)[0].metadata["n"],
    lambda made: add_at("n")(METADATA[made]),
)

# -- places ----------------------------------------------------------------------------------------

CALL = "def f(x):\n    return x * read({0})\n"
LOOP = (
    "def f(x):\n"
    "    while x.sum() < 20:\n"
    "        x = x + (1.0 if read({0}) < 3 else 50.0) + read({0}) * 0.125\n"
    "        step({0})\n"
    "    return x\n"
)
LOCAL = (
    "def f(x):\n"
    "    c = make(0)\n"
    "    while x.sum() < 20:\n"
    "        x = x + (1.0 if read(c) < 3 else 50.0) + read(c) * 0.125\n"
    "        step(c)\n"
    "    return x\n"
)
BACK = LOOP.replace("    while", "    {1}{0} = make(0)\n    while").replace(
    "    return", "    {0} = make(0)\n    return"
)


class World:
    """A function that reaches an object, and how to get at the place where it is."""

    def __init__(self, place: str, name: str, body: str = CALL, start: int = 0) -> None:
        self.kind = KINDS[name]
        self.place = place
        self.resets = body in (LOCAL, BACK)
        self.state = start
        self.space: dict[str, Any] = {"__name__": "a_program", "read": self.kind.read, "wg": wg}
        self.space["step"] = self.kind.step
        self.space["make"] = self.kind.make
        self.body = body
        made = self.kind.make(start)
        self.function = getattr(self, "_" + place)(made)

    def _run(self, source: str) -> None:
        exec(compile(source, "<a program>", "exec"), self.space)

    def _globally(self, made: Any) -> Any:
        self.space["G"] = made
        self._run(self.body.format("G", "global G\n    "))
        return self.space["f"]

    def _enclosed(self, made: Any) -> Any:
        body = "\n    ".join(self.body.format("G", "nonlocal G\n    ").splitlines())
        self._run(
            f"def outer(G):\n    {body}\n    def put(new):\n        nonlocal G\n        G = new\n"
            "    return f, put, lambda: G\n"
        )
        f, self.put_enclosed, self.get_enclosed = self.space["outer"](made)
        return f

    def _attribute(self, made: Any) -> Any:
        self.space["O"] = Plain(made)
        self._run(self.body.format("O.c", ""))
        return self.space["f"]

    def _element(self, made: Any) -> Any:
        self.space["L"] = [0, made]
        self._run(self.body.format("L[1]", ""))
        return self.space["f"]

    def _value(self, made: Any) -> Any:
        self.space["D"] = {"a": made}
        self._run(self.body.format('D["a"]', ""))
        return self.space["f"]

    def _default(self, made: Any) -> Any:
        self.space["G"] = made
        self._run(self.body.format("g", "").replace("f(x)", "f(x, g=G)"))
        del self.space["G"]
        return self.space["f"]

    def _of_class(self, made: Any) -> Any:
        self.space["C"] = type("C", (), {"c": Held(made)})
        self._run(self.body.format("C.c.thing", ""))
        return self.space["f"]

    def _of_module(self, made: Any) -> Any:
        module = self.space["M"] = types.ModuleType("a_module")
        module.c = made  # type: ignore[attr-defined]
        self._run(self.body.format("M.c", ""))
        return self.space["f"]

    def _of_held_module(self, made: Any) -> Any:
        module = types.ModuleType("a_module")
        module.c = made  # type: ignore[attr-defined]
        self.space["H"] = [module]
        self._run(self.body.format("H[0].c", ""))
        return self.space["f"]

    def get(self) -> Any:
        space = self.space
        return {
            "globally": lambda: space["G"],
            "enclosed": lambda: self.get_enclosed(),
            "attribute": lambda: space["O"].c,
            "element": lambda: space["L"][1],
            "value": lambda: space["D"]["a"],
            "default": lambda: self.function.__defaults__[0],
            "of_class": lambda: space["C"].c.thing,
            "of_module": lambda: space["M"].c,
            "of_held_module": lambda: space["H"][0].c,
        }[self.place]()

    def put(self, new: Any) -> None:
        space = self.space
        if self.place == "globally":
            space["G"] = new
        elif self.place == "enclosed":
            self.put_enclosed(new)
        elif self.place == "attribute":
            space["O"].c = new
        elif self.place == "element":
            space["L"][1] = new
        elif self.place == "value":
            space["D"]["a"] = new
        elif self.place == "default":
            self.function.__defaults__ = (new,)
        elif self.place == "of_class":
            space["C"].c = Held(new)
        elif self.place == "of_module":
            space["M"].c = new
        else:
            space["H"][0].c = new

    def step(self) -> None:
        """Let the object get to its next state."""
        self.state += 1
        if self.kind.step is None:
            self.put(self.kind.make(self.state))
        else:
            self.kind.step(self.get())


class Held:
    """Keeps what is in a class from becoming a method."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing


PLACES = (
    *("globally", "enclosed", "attribute", "element", "value", "default", "of_class"),
    *("of_module", "of_held_module"),
)
BUILTINS = vars(builtins)
