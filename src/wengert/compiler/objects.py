"""Layer 8 · compiler: how Python's objects are read: what they consist of, and what can change.

NOTE [objects]
What a function computes depends on objects that it reaches, and a trace holds only while these are
as they were. `read` is the one place that says what that means: by the exact type of an object, or
by a rule for all classes of one build, it gives a `Reading`, which tells how to see whether the
object is the same (its value, its identity, or its class and its parts), and which parts it has.
Conditions (`wengert.compiler.environment`), states at decisions (`wengert.compiler.state`) and the
search for changes all ask it.

What is not known is denied: `Unknown` is raised, with the reason that `explain()` shows, and the
function runs as it is. So a class that hides a state in C is no danger: its objects are larger than
their attributes account for (`_hides`), and nobody says what else is in them.
"""

from __future__ import annotations

import array
import collections
import contextvars
import ctypes
import datetime
import decimal
import fractions
import functools
import itertools
import pathlib
import random
import re
import threading
import types
import uuid
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.base.size import Size
from wengert.compiler.control import COMPILED
from wengert.compiler.libraries import is_of_library, is_pure, is_trusted
from wengert.ops.generator import Generator

__all__ = ["MOST_BYTES", "VALUES", "Part", "Reading", "Unknown", "content_of", "read", "slots_of"]

MOST_BYTES = 1 << 16
"""How many bytes of NumPy's arrays are compared in each call; with more it runs as it is."""


class Unknown(Exception):
    """Nothing can be promised of an object; the message says why."""


class Part(NamedTuple):
    """Something that an object leads to.

    Attributes
    ----------
    path
        An expression for it, in which ``{0}`` is the object and ``{1}`` is `key`.
    value
        What it is now.
    key
        A constant of the expression.
    fresh
        Whether it is made for the reading, so that its identity says nothing.
    """

    path: str
    value: Any
    key: Any = None
    fresh: bool = False


class Reading:
    """What is to be known of an object.

    Attributes
    ----------
    by
        ``"value"``: its class, and that it is equal. ``"identity"``: that it is this object.
        ``"class"``: its class, then its facts and parts.
    facts
        Expressions that are to be equal to a plain value, as parts.
    same
        Expressions that are to be one object, as parts.
    parts
        The objects that it leads to.
    """

    __slots__ = ("by", "facts", "parts", "same")

    def __init__(
        self,
        by: str,
        parts: Iterable[Part] = (),
        facts: Sequence[Part] = (),
        same: Sequence[Part] = (),
    ) -> None:
        self.by = by
        self.parts = list(parts)
        self.facts = facts
        self.same = same


_VALUE = Reading("value")
_IDENTITY = Reading("identity")
Reader = Callable[[Any], Reading]


def read(thing: Any) -> Reading:
    """How an object is known that is neither a tensor nor a float.

    Raises
    ------
    Unknown
        If nothing can be promised of it.
    """
    kind = type(thing)
    found = _READERS.get(kind)
    if found is None:
        found = _rule(thing, kind)
        if not isinstance(thing, type):
            _RULES[kind] = found
    return found(thing)


def _called(function: Callable[[Any], Any], thing: Any) -> Part:
    """What a function gives for an object, made anew each time."""
    return Part("{1}({0})", function(thing), function, True)


def _fact(function: Callable[[Any], Any], thing: Any) -> Part:
    """A plain value that a function gives for an object."""
    return Part("{1}({0})", function(thing), function)


# -- containers ------------------------------------------------------------------------------------


def _sequence(thing: Any) -> Reading:
    parts = [Part(f"{{0}}[{i}]", part) for i, part in enumerate(thing)]
    return Reading("class", parts, (Part("len({0})", len(thing)),))


def _mapping(thing: Any) -> Reading:
    keys = list(thing)
    if all(key.__class__ is str for key in keys):
        facts: tuple[Part, ...] = (Part("list({0})", keys),)
        return Reading("class", [_item(key, part) for key, part in thing.items()], facts)
    parts = [_item(key, part) for key, part in thing.items()]
    if all(_is_plain(key) for key in keys):
        return Reading("class", parts, (_fact(_typed, thing),))
    # keys are these objects, some of which have parts of their own
    parts += [Part("{1}", key, key) for key in keys if not _is_plain(key)]
    count = Part("len({0})", len(keys))
    return Reading("class", parts, (count, Part("all(map(is_, {0}, {1}))", True, keys)))


def _item(key: Any, part: Any) -> Part:
    if key.__class__ is str and key.isidentifier():
        return Part(f"{{0}}[{key!r}]", part)
    return Part("{0}[{1}]", part, key)


_PLAIN = frozenset({str, int, bytes, bool, type(None)})


def _is_plain(key: Any) -> bool:
    kind = key.__class__
    return kind in _PLAIN or (kind is tuple and all(map(_is_plain, key)))


def _typed(things: Any) -> Any:
    """Plain values with their classes: 1 is not True."""
    return [(thing.__class__, _typed(thing) if type(thing) is tuple else thing) for thing in things]


def _set(thing: Any) -> Reading:
    if all(map(_is_plain, thing)):
        return Reading("class", (), (_fact(_typed, thing),))
    return Reading("class", (_called(list, thing),))


def _deque(thing: Any) -> Reading:
    return Reading("class", (_called(list, thing),), (Part("{0}.maxlen", thing.maxlen),))


def _defaultdict(thing: Any) -> Reading:
    made = _mapping(thing)
    made.parts.append(Part("{0}.default_factory", thing.default_factory))
    return made


def _as(function: Callable[[Any], Any]) -> Reader:
    """A reader of objects that are known by another one, which is made from them."""
    return lambda thing: Reading("class", (_called(function, thing),))


def _by(*functions: Callable[[Any], Any]) -> Reader:
    """A reader of objects that are known by plain values, which are made from them."""
    return lambda thing: Reading("class", (), [_fact(function, thing) for function in functions])


def _attributes(*names: str) -> Reader:
    """A reader of objects that are known by attributes."""
    return lambda thing: Reading("class", [Part(f"{{0}}.{n}", getattr(thing, n)) for n in names])


def _steps(iterator: Any) -> Any:
    """What an iterator of Python goes through, and how far it has come."""
    return iterator.__reduce__()[1:]


# -- values ----------------------------------------------------------------------------------------


def _value(thing: Any) -> Reading:
    return _VALUE


def _identity(thing: Any) -> Reading:
    return _IDENTITY


def _decimal(thing: Any) -> Reading:
    return Reading("class", (), [_fact(str, thing), _fact(_precision, thing)])


def _precision(thing: Any) -> str:
    """The context that arithmetic of decimals takes place in."""
    return repr(decimal.getcontext())


def _path(thing: Any) -> Reading:
    return Reading("class", (), (_fact(str, thing),))


def _bytes_of(thing: Any) -> bytes:
    return bytes(memoryview(thing))


def _memory(thing: Any) -> Reading:
    return Reading("class", (), [_fact(bytes, thing), _fact(_layout, thing)])


def _layout(view: memoryview) -> Any:
    return view.format, view.shape, view.strides, view.readonly


def _c_object(thing: Any) -> Reading:
    if not _is_flat(type(thing)):
        raise Unknown(f"it uses memory of C behind a pointer ({type(thing).__name__})")
    return Reading("class", (), (_fact(_bytes_of, thing),))


def _is_flat(kind: Any) -> bool:
    """Whether a type of ctypes holds its values itself."""
    if issubclass(kind, ctypes._SimpleCData):
        return kind._type_ in "cbB?hHiIlLqQfdgu"
    if issubclass(kind, ctypes.Array):
        return _is_flat(kind._type_)
    if issubclass(kind, ctypes.Structure | ctypes.Union):
        fields = [f for base in kind.__mro__ for f in base.__dict__.get("_fields_", ())]
        return all(_is_flat(field[1]) for field in fields)
    return False


# -- NumPy -----------------------------------------------------------------------------------------


def content_of(thing: Any) -> Any:
    """What is in an array, to be compared."""
    return _describe(thing), np.ndarray.tobytes(thing)


def _describe(thing: Any) -> Any:
    flags = thing.flags
    return str(thing.dtype), thing.shape, flags.writeable, flags.c_contiguous, flags.f_contiguous


def _ndarray(thing: Any) -> Reading:
    if thing.nbytes > MOST_BYTES:
        raise Unknown(
            f"NumPy reads an array of {thing.nbytes} bytes, more than the {MOST_BYTES} that are "
            "compared in each call; make it a tensor outside of the function"
        )
    if thing.dtype.kind == "O":
        return Reading("class", (_called(_objects, thing),), (_fact(_describe, thing),))
    if thing.dtype.hasobject:
        raise Unknown("it uses a structured array of Python's objects")
    return Reading("class", (), (_fact(content_of, thing),))


def _objects(thing: Any) -> list[Any]:
    return list(thing.flat)


def _stream(thing: Any) -> Any:
    """The state of a generator of random numbers, as plain values."""
    return repr(thing.bit_generator.state)


def _legacy_stream(thing: Any) -> Any:
    return repr(thing.get_state(legacy=False)["state"]["key"].tobytes()), repr(thing.get_state())


# -- functions -------------------------------------------------------------------------------------


def _function(thing: Any) -> Reading:
    parts = []
    if thing.__defaults__ is not None:
        parts += [Part(f"{{0}}.__defaults__[{i}]", v) for i, v in enumerate(thing.__defaults__)]
    if thing.__kwdefaults__ is not None:
        parts.append(Part("{0}.__kwdefaults__", thing.__kwdefaults__))
    for cell in thing.__closure__ or ():
        try:
            parts.append(Part("{1}.cell_contents", cell.cell_contents, cell))
        except ValueError:
            raise Unknown("a variable of an enclosing function has no value yet") from None
    same = [Part("{0}.__code__", thing.__code__)]
    trusted = is_trusted(thing)
    if not trusted:
        same += [Part("{0}.__defaults__", thing.__defaults__)]
        same += [Part("{0}.__kwdefaults__", thing.__kwdefaults__)]
        parts.append(Part("{0}.__dict__", thing.__dict__))
    elif thing.__dict__:
        parts.append(Part("{0}.__dict__", thing.__dict__))
    return Reading("identity", parts, (), () if trusted and not parts else same)


def _builtin(thing: Any) -> Reading:
    owner = thing.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        module = thing.__module__ if owner is None else owner.__name__
        if not is_pure(module, thing.__name__):
            raise Unknown(f"it uses {_called_by(module, thing.__name__)}")
        return _IDENTITY
    return Reading("class", (Part("{0}.__self__", owner),), (Part("{0}.__name__", thing.__name__),))


def _called_by(module: str | None, name: str) -> str:
    return f"{module}.{name}" if module and module != "builtins" else f"{name}()"


def _cached(thing: Any) -> Reading:
    parts = [Part("{0}.__wrapped__", thing.__wrapped__)]
    return Reading("identity", parts, (_fact(_filled, thing),))


def _filled(cache: Any) -> Any:
    """How often a cache has been missed, which tells what is in it."""
    info = cache.cache_info()
    return info.misses, info.currsize


def _variable(thing: Any) -> Reading:
    return Reading("identity", (_called(_current, thing),))


def _current(variable: Any) -> tuple[Any, ...]:
    found = variable.get(_MISSING)
    return () if found is _MISSING else (found,)


_MISSING = object()


def _reference(thing: Any) -> Reading:
    return Reading("class", (Part("{0}()", thing()),))


# -- classes ---------------------------------------------------------------------------------------

_ABOUT = frozenset(
    {
        *("__module__", "__doc__", "__qualname__", "__name__", "__dict__", "__weakref__"),
        *("__slots__", "__annotations__", "__match_args__", "__orig_bases__", "__parameters__"),
        *("__dataclass_params__", "__dataclass_fields__", "__abstractmethods__", "_abc_impl"),
        *("__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__"),
        *("__annotations_cache__", "__type_params__", "__repr__", "__reduce__", "__reduce_ex__"),
        *("__getstate__", "__setstate__", "__init_subclass__", "__dir__", "__sizeof__"),
    }
)
"""What is said about a class, and not computed with; how its objects are shown and stored."""


def _class(thing: Any) -> Reading:
    if is_of_library(thing):
        if not is_pure(thing.__module__, thing.__name__):
            raise Unknown(f"it uses {_called_by(thing.__module__, thing.__qualname__)}")
        if thing is decimal.Decimal:
            return Reading("identity", (), (_fact(_precision, thing),))
        return _IDENTITY
    own = thing.__dict__
    parts = [
        Part("{1}[" + repr(key) + "]", part, own)
        for key, part in list(own.items())
        if key not in _ABOUT and type(part) not in _LAYOUT and key.isidentifier()
    ]
    parts += [Part("{1}", base, base) for base in thing.__mro__[1:] if not is_of_library(base)]
    if type(thing) is not type and not is_of_library(type(thing)):
        parts.append(Part("{1}", type(thing), type(thing)))
    facts = (Part("len({1})", len(own), own),)
    return Reading("identity", parts, facts, (Part("{0}.__mro__", thing.__mro__),))


_LAYOUT = frozenset({types.MemberDescriptorType, types.GetSetDescriptorType})


# -- objects of classes ----------------------------------------------------------------------------


def _rule(thing: Any, kind: type) -> Reader:
    """How objects of a class are read that stands in no table."""
    found = _RULES.get(kind)
    if found is not None:
        return found
    if issubclass(kind, type):
        return _class
    if issubclass(kind, ctypes._SimpleCData | ctypes.Array | ctypes.Structure | ctypes.Union):
        return _c_object
    if issubclass(kind, np.dtype | np.generic):
        return _value
    if kind.__module__.startswith("wengert.compiler.") and thing in COMPILED:
        # its traces come and go
        return lambda compiled: Reading("identity", (Part("{0}.function", compiled.function),))
    if hasattr(kind, "__next__"):
        raise Unknown(f"it uses an iterator ({kind.__name__})")
    base = next(base for base in kind.__mro__ if base in _BASES)
    if _hides(kind, base):
        raise Unknown(f"it uses an object with a state of its own ({kind.__name__})")
    shown = issubclass(kind, tuple)
    if is_of_library(kind) and not shown and not is_pure(kind.__module__, kind.__name__):
        raise Unknown(f"it uses an object of {kind.__module__} ({kind.__name__})")
    return functools.partial(_instance, kind, _BASES[base], _slots(kind, base))


def _hides(kind: type, base: type) -> bool:
    """Whether objects of a class are larger than what `base` and its attributes account for."""
    expected = base.__basicsize__
    for part in kind.__mro__[: kind.__mro__.index(base)]:
        own = part.__dict__
        expected += _WORD * sum(
            type(member) is types.MemberDescriptorType and member.__objclass__ is part
            for member in own.values()
        )
        for name, managed in (("__dict__", _MANAGED_DICT), ("__weakref__", _MANAGED_WEAKREF)):
            found = own.get(name)
            if type(found) is types.GetSetDescriptorType and not part.__flags__ & managed:
                expected += _WORD
    return kind.__basicsize__ > expected or kind.__itemsize__ != base.__itemsize__


_WORD = tuple.__itemsize__
_MANAGED_DICT = 1 << 4
_MANAGED_WEAKREF = 1 << 3


def _slots(kind: type, base: type) -> list[Any]:
    """The descriptors of the slots that a class and those below `base` have."""
    return [
        member
        for part in kind.__mro__[: kind.__mro__.index(base)]
        for name, member in part.__dict__.items()
        if type(member) is types.MemberDescriptorType and name != "__dict__"
    ]


def _instance(kind: type, contents: Reader | None, slots: list[Any], thing: Any) -> Reading:
    if contents is None:
        made = Reading("class")
    else:
        known = contents(thing)
        made = Reading("class", known.parts, known.facts)
    held = getattr(thing, "__dict__", None)
    if held is not None:
        made.parts.append(Part("{0}.__dict__", held))
    facts = []
    for slot in slots:
        get = slot.__get__
        try:
            value = get(thing)
        except AttributeError:
            facts.append(Part("{1}({0})", True, functools.partial(_is_unset, get)))
            continue
        made.parts.append(Part("{1}({0})", value, get))
    made.facts = [*made.facts, *facts]
    if not is_of_library(kind):
        made.parts.append(Part("{1}", kind, kind))
    return made


def slots_of(kind: type) -> list[str]:
    """The names of the slots that objects of a class have."""
    return [
        name
        for part in kind.__mro__
        for name, member in part.__dict__.items()
        if type(member) is types.MemberDescriptorType
    ]


def _is_unset(get: Callable[[Any], Any], thing: Any) -> bool:
    try:
        get(thing)
    except AttributeError:
        return True
    return False


# -- the tables ------------------------------------------------------------------------------------

_BASES: dict[type, Reader | None] = {
    object: None,
    **{tuple: _as(lambda t: tuple.__getitem__(t, slice(None)))},
    list: _as(lambda t: list.__getitem__(t, slice(None))),
    dict: _as(lambda t: dict(dict.items(t))),
    set: _as(lambda t: list(set.__iter__(t))),
    frozenset: _as(lambda t: list(frozenset.__iter__(t))),
    collections.OrderedDict: _as(lambda t: dict(collections.OrderedDict.items(t))),
    collections.defaultdict: lambda t: Reading(
        "class",
        (_called(lambda d: dict(dict.items(d)), t), Part("{0}.default_factory", t.default_factory)),
    ),
    collections.deque: lambda t: Reading(
        "class",
        (_called(lambda d: list(collections.deque.__iter__(d)), t),),
        (Part("{0}.maxlen", t.maxlen),),
    ),
    int: _by(int.__int__),
    float: _as(float.__float__),
    complex: _as(complex.__complex__),
    str: _by(str.__str__),
    bytes: _by(lambda t: bytes.__getitem__(t, slice(None))),
    bytearray: _by(bytes),
    array.array: _by(lambda a: a.typecode, lambda a: a.tobytes()),
    np.ndarray: _ndarray,
    random.Random: _by(lambda r: random.Random.getstate(r)),
    functools.partial: _attributes("func", "args", "keywords"),
    weakref.ref: _reference,
    threading.local: None,
    datetime.date: _by(datetime.date.__repr__),
    datetime.datetime: _by(datetime.datetime.__repr__),
    fractions.Fraction: _by(fractions.Fraction.__repr__),
    pathlib.PurePath: _path,
    BaseException: _attributes("args"),
}
"""The classes that classes are built on, with what they hold besides attributes."""

VALUES = frozenset(
    {
        *(int, str, bytes, bool, complex, range, type(None), type(Ellipsis), type(NotImplemented)),
        *(Size, re.Pattern, uuid.UUID, datetime.timedelta, datetime.timezone, datetime.date),
        *(datetime.datetime, datetime.time, fractions.Fraction, float),
        *(pathlib.PurePosixPath, pathlib.PureWindowsPath),
    }
)
"""What is known by being equal."""
_READERS: dict[type, Reader] = {
    **dict.fromkeys(VALUES, _value),
    type(np.sum): _identity,
    **dict.fromkeys((tuple, list), _sequence),
    **dict.fromkeys((dict, collections.OrderedDict), _mapping),
    **dict.fromkeys((set, frozenset), _set),
    collections.deque: _deque,
    collections.defaultdict: _defaultdict,
    types.MappingProxyType: _as(lambda proxy: proxy | {}),
    type({}.keys()): _as(list),
    type({}.values()): _as(list),
    type({}.items()): _as(list),
    slice: _attributes("start", "stop", "step"),
    decimal.Decimal: _decimal,
    bytearray: _by(bytes),
    memoryview: _memory,
    np.ndarray: _ndarray,
    np.ufunc: _identity,
    np.random.Generator: _by(_stream),
    np.random.RandomState: _by(_legacy_stream),
    random.Random: _by(random.Random.getstate),
    types.FunctionType: _function,
    types.MethodType: _attributes("__self__", "__func__"),
    types.BuiltinFunctionType: _builtin,
    types.MethodWrapperType: lambda thing: Reading(
        "class", (Part("{0}.__self__", thing.__self__),), (Part("{0}.__name__", thing.__name__),)
    ),
    **dict.fromkeys(
        (
            *(types.MethodDescriptorType, types.WrapperDescriptorType, types.CodeType),
            *(types.GetSetDescriptorType, types.MemberDescriptorType, types.ModuleType),
            *(types.ClassMethodDescriptorType, types.GenericAlias, types.UnionType),
        ),
        _identity,
    ),
    Generator: _identity,
    type: _class,
    property: _attributes("fget", "fset", "fdel"),
    staticmethod: _attributes("__func__"),
    classmethod: _attributes("__func__"),
    functools.partial: _attributes("func", "args", "keywords", "__dict__"),
    type(functools.lru_cache(len)): _cached,
    contextvars.ContextVar: _variable,
    weakref.ref: _reference,
    types.CellType: lambda cell: Reading("class", [Part("{0}.cell_contents", cell.cell_contents)]),
    itertools.count: _by(repr),
    **dict.fromkeys(
        (
            *(type(iter([])), type(iter(())), type(iter(range(0))), type(iter(""))),
            *(type(iter(range(1 << 70))), type(reversed([])), enumerate, zip, map),
        ),
        _as(_steps),
    ),
}
"""How objects of exactly these types are read."""
_RULES: dict[type, Reader] = {}
"""How objects of classes are read that a rule has been found for."""
