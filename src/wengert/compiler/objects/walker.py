"""Layer 8 · compiler: read Python objects: their parts, and what about them can change.

NOTE [objects]
The result of a function depends on the objects that it reaches, and a trace holds only while these
are unchanged. `read` is the one place that defines "unchanged": by the exact type of an object, or
by a rule for a family of classes, it returns a `Reading`, which says how to recognise the object
(by its value, its identity, or its class and its parts), and which parts it has.
Guards (`wengert.compiler.tracing.environment`), states at decisions
(`wengert.compiler.tracing.state`) and the search for changes all call it.

A class of this package with immutable objects declares it by an attribute `is_fixed`; one whose
calls depend on a few of its slots, besides what users add to it, names these in `determined_by`.

Unknown objects are denied: `read` raises `Unknown`, with the reason that `explain()` shows, and the
function runs uncompiled. So a class with hidden state in C is safe: its objects are larger than
their attributes account for (`_hides`), so they are unknown.
"""

from __future__ import annotations

import abc
import array
import collections
import contextvars
import ctypes
import datetime
import decimal
import fractions
import functools
import inspect
import itertools
import logging
import operator
import pathlib
import random
import re
import threading
import types
import uuid
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.dtypes import dtype
from wengert.base.patches import Watched
from wengert.base.size import Size
from wengert.compiler.control import COMPILED
from wengert.compiler.objects import contents
from wengert.compiler.objects.libraries import is_of_library, is_pure, of_library_name
from wengert.compiler.objects.reading import (
    Part,
    Reader,
    Reading,
    Unknown,
    attributes,
    by_identity,
    by_value,
    fact,
    known_by,
    made_into,
    plain,
    together,
    valued_by,
)
from wengert.ops.generator import Generator


def read(thing: Any) -> Reading:
    """Read an object that is neither a tensor nor a float.

    Raises
    ------
    Unknown: If it cannot be guarded.
    """
    kind = type(thing)
    found = _READERS.get(kind)
    if found is None:
        found = _rule(thing, kind)
        if not isinstance(thing, type):
            _RULES[kind] = found
    made = found(thing)
    return _with_attributes(thing, kind, made) if kind in _ATTRIBUTES else made


def _with_attributes(thing: Any, kind: type, made: Reading) -> Reading:
    """Return `made` extended by the attributes in the object's ``__dict__``."""
    held = thing.__dict__
    if kind in _NUMPYS:
        for key in held:
            if not key.startswith("__"):
                raise Unknown(f"a function of NumPy has an attribute {key}")
        return made
    given = _ATTRIBUTES[kind]
    own = [Part("{0}.__dict__[{1}]", part, key) for key, part in held.items() if key not in given]
    if made.by == "value":
        raise Unknown(f"it uses a {kind.__name__} that may have attributes")
    count = Part("len({0}.__dict__)", len(held))
    return Reading(made.by, [*made.parts, *own], [*made.facts, count], made.same)


_CACHED = type(functools.lru_cache(len))
"""The type of functions wrapped by ``functools.lru_cache``."""

# -- classes ---------------------------------------------------------------------------------------

_ABOUT = frozenset(
    {
        *("__module__", "__doc__", "__qualname__", "__name__", "__dict__", "__weakref__"),
        "__slotnames__",
        *("__annotations__", "__orig_bases__", "__parameters__"),
        *("__dataclass_params__", "__abstractmethods__", "_abc_impl"),
        *("__attrs_attrs__", "__attrs_props__"),
        *("__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__"),
        *("__annotations_cache__", "__type_params__", "__repr__", "__reduce__", "__reduce_ex__"),
        *("__getstate__", "__setstate__", "__dir__", "__sizeof__"),
    }
)
"""Attributes that describe a class, or print and pickle its objects, unless a user wrote them."""


def _class(thing: Any) -> Reading:
    if is_of_library(thing):
        if not is_pure(thing.__module__, thing.__name__):
            raise Unknown(f"it uses {contents.called_by(thing.__module__, thing.__qualname__)}")
        if thing is decimal.Decimal:
            return Reading("identity", (), (fact(contents.precision, thing),))
        return Reading("identity", (), _registry(thing))
    own = thing.__dict__
    if "__del__" in own:
        # a trace keeps objects alive
        raise Unknown(f"it uses a class with a __del__() ({thing.__name__})")
    parts = [
        Part("{1}[" + repr(key) + "]", part, own)
        for key, part in list(own.items())
        if key not in _ABOUT or _is_written(part)
    ]
    parts += [Part("{1}", base, base) for base in thing.__mro__[1:] if not is_of_library(base)]
    if type(thing) is not type and not is_of_library(type(thing)):
        parts.append(Part("{1}", type(thing), type(thing)))
    # copying an object adds ``__slotnames__`` to its class
    noted = "__slotnames__" in own
    facts = [Part('len({1}) - ("__slotnames__" in {1})', len(own) - noted, own), *_registry(thing)]
    return Reading("identity", parts, facts, (Part("{0}.__mro__", thing.__mro__),))


def _registry(thing: Any) -> list[Part]:
    """Return how many classes an abstract class counts as its subclasses, as `isinstance` asks."""
    return [fact(_registered, thing)] if "_abc_impl" in thing.__dict__ else []


def _registered(thing: Any) -> int:
    return len(abc._get_dump(thing)[0])  # type: ignore[attr-defined]  # not in typeshed


def _is_written(part: Any) -> bool:
    """Return whether a part of a class is a method that a user wrote, which may have effects.

    Those of dataclasses, enumerations and attrs classes are generated from the attributes.
    """
    function = inspect.unwrap(part)
    if not isinstance(function, types.FunctionType):
        runs = callable(part) or hasattr(type(part), "__get__")
        return runs and not isinstance(part, (*_LAYOUT, types.BuiltinFunctionType))
    made_by, file = str(function.__globals__.get("__name__")), function.__code__.co_filename
    return not (
        # what a library's decorator makes closes over the user's function
        (of_library_name(made_by) and function.__closure__ is None)
        or made_by.startswith("attr.")
        or function.__name__.startswith("__annotat")
        or file.startswith("<attrs ")
        # a dataclass wraps what it generates
        or (file == "<string>" and function is not part)
    )


_LAYOUT = frozenset({types.MemberDescriptorType, types.GetSetDescriptorType})


# -- objects of classes ----------------------------------------------------------------------------


def _rule(thing: Any, kind: type) -> Reader:
    """Return the reader for objects of a class that is not in `_READERS`."""
    found = _RULES.get(kind)
    if found is not None:
        return found
    if issubclass(kind, type):
        return _class
    if issubclass(kind, Watched):
        return by_identity
    known: Reader | None = None
    if issubclass(kind, ctypes._SimpleCData | ctypes.Array | ctypes.Structure | ctypes.Union):
        known = contents.read_c_object
    elif issubclass(kind, np.inexact):
        known = _BITS
    elif issubclass(kind, np.dtype):
        known = contents.read_dtype
    elif issubclass(kind, np.void | np.datetime64 | np.timedelta64):
        known = contents.read_record
    elif issubclass(kind, np.generic):
        known = by_value
    if known is not None:
        if hasattr(thing, "__dict__"):
            _ATTRIBUTES[kind] = frozenset()
        return known
    if getattr(kind, "is_fixed", False) and is_of_library(kind):
        return by_identity
    if hasattr(kind, "determined_by") and is_of_library(kind):
        _ATTRIBUTES[kind] = _MADE
        return attributes(*kind.determined_by)
    if kind.__module__.startswith("wengert.compiler.") and thing in COMPILED:
        # its traces are not part of its identity
        _ATTRIBUTES[kind] = _MADE
        return lambda compiled: Reading("identity", (Part("{0}.function", compiled.function),))
    if hasattr(kind, "__next__"):
        raise Unknown(f"it uses an iterator ({kind.__name__})")
    base = next(base for base in kind.__mro__ if base in _BASES)
    if _hides(kind, base):
        raise Unknown(f"it uses an object with a state of its own ({kind.__name__})")
    shown = issubclass(kind, tuple)
    if is_of_library(kind) and not shown and not is_pure(kind.__module__, kind.__name__):
        raise Unknown(f"it uses an object of {kind.__module__} ({kind.__name__})")
    return functools.partial(_instance, _BASES[base], _slots(kind, base))


def _hides(kind: type, base: type) -> bool:
    """Return whether objects of a class are larger than `base` and their attributes explain."""
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


def _slots(kind: type, base: type) -> list[tuple[int, str]]:
    """Return the places of all slots that classes between `kind` and `base` define.

    They are places in ``kind.__mro__`` and names, which keep no class alive.
    """
    return [
        (i, name)
        for i, part in enumerate(kind.__mro__[: kind.__mro__.index(base)])
        for name, member in part.__dict__.items()
        if type(member) is types.MemberDescriptorType and name != "__dict__"
    ]


def _instance(content: Reader | None, slots: list[tuple[int, str]], thing: Any) -> Reading:
    kind = type(thing)
    if content is None:
        made = Reading("class")
    else:
        known = content(thing)
        made = Reading("class", known.parts, known.facts)
    held = getattr(thing, "__dict__", None)
    if held is not None:
        made.parts.append(Part("{0}.__dict__", held))
    facts = []
    for i, name in slots:
        get = kind.__mro__[i].__dict__[name].__get__
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


def slots_of(kind: type) -> tuple[str, ...]:
    """Return the names of the slots of a class."""
    return _members(kind)


@functools.lru_cache(512)
def _members(kind: type) -> tuple[str, ...]:
    members = [pair for part in kind.__mro__ for pair in part.__dict__.items()]
    return tuple([name for name, member in members if type(member) is types.MemberDescriptorType])


def _is_unset(get: Callable[[Any], Any], thing: Any) -> bool:
    try:
        get(thing)
    except AttributeError:
        return True
    return False


# -- the tables ------------------------------------------------------------------------------------

_BASES: dict[type, Reader | None] = {
    object: None,
    **{tuple: made_into(lambda t: tuple.__getitem__(t, slice(None)))},
    list: made_into(lambda t: list.__getitem__(t, slice(None))),
    dict: made_into(lambda t: dict(dict.items(t))),
    set: made_into(lambda t: list(set.__iter__(t))),
    frozenset: made_into(lambda t: list(frozenset.__iter__(t))),
    collections.OrderedDict: made_into(lambda t: dict(collections.OrderedDict.items(t))),
    collections.defaultdict: together(
        made_into(lambda d: dict(dict.items(d))), attributes("default_factory")
    ),
    collections.deque: together(
        made_into(lambda d: list(collections.deque.__iter__(d))), plain("maxlen")
    ),
    int: known_by(int.__int__),
    float: made_into(float.__float__),
    complex: made_into(complex.__complex__),
    str: known_by(str.__str__),
    bytes: known_by(lambda t: bytes.__getitem__(t, slice(None))),
    bytearray: known_by(bytes),
    array.array: known_by(lambda a: a.typecode, lambda a: a.tobytes()),
    np.ndarray: contents.read_ndarray,
    random.Random: known_by(lambda r: random.Random.getstate(r)),
    functools.partial: attributes("func", "args", "keywords"),
    threading.local: None,
    datetime.date: known_by(datetime.date.__repr__),
    datetime.datetime: contents.read_moment,
    fractions.Fraction: known_by(fractions.Fraction.__repr__),
    pathlib.PurePath: known_by(str),
    BaseException: attributes("args", "__cause__", "__context__", "__suppress_context__"),
}
"""Builtin base classes, with readers of the content that objects hold apart from attributes."""

VALUES: frozenset[type] = frozenset(
    {
        *(int, str, bytes, bool, complex, type(None), type(Ellipsis), type(NotImplemented)),
        *(Size, re.Pattern, datetime.timedelta, datetime.date, fractions.Fraction, float),
        pathlib.PurePosixPath,
    }
)
"""Classes whose objects are guarded by equality."""
_FIELD = type(collections.namedtuple("_One", "field").__dict__["field"])
_BITS = known_by(contents.bits)
_READERS: dict[type, Reader] = {
    **dict.fromkeys(VALUES, by_value),
    complex: known_by(repr),
    **dict.fromkeys((range, datetime.timezone), valued_by(repr)),
    # paths that differ in upper and lower case are equal
    pathlib.PureWindowsPath: valued_by(str),
    **dict.fromkeys((datetime.datetime, datetime.time), contents.read_moment),
    uuid.UUID: valued_by(lambda u: (u.int, u.is_safe.name)),
    type(np.sum): by_identity,
    **dict.fromkeys((tuple, list), contents.read_sequence),
    **dict.fromkeys((dict, collections.OrderedDict), contents.read_mapping),
    **dict.fromkeys((set, frozenset), contents.read_set_of),
    collections.deque: together(made_into(list), plain("maxlen")),
    collections.defaultdict: together(contents.read_mapping, attributes("default_factory")),
    types.MappingProxyType: made_into(lambda proxy: proxy | {}),
    type({}.keys()): made_into(list),
    type({}.values()): made_into(list),
    type({}.items()): made_into(list),
    slice: attributes("start", "stop", "step"),
    decimal.Decimal: known_by(str, contents.precision),
    bytearray: known_by(bytes),
    memoryview: contents.read_memory,
    np.ndarray: contents.read_ndarray,
    np.ufunc: contents.read_ufunc,
    inspect.Signature: contents.read_signature,
    np.random.Generator: known_by(contents.stream),
    np.random.RandomState: known_by(contents.legacy_stream),
    random.Random: known_by(random.Random.getstate),
    types.FunctionType: contents.read_function,
    types.MethodType: attributes("__self__", "__func__"),
    types.BuiltinFunctionType: contents.read_builtin,
    types.MethodWrapperType: contents.read_method,
    **dict.fromkeys(
        (
            *(types.MethodDescriptorType, types.WrapperDescriptorType, types.CodeType),
            *(types.GetSetDescriptorType, types.MemberDescriptorType, types.ModuleType),
            types.ClassMethodDescriptorType,
        ),
        by_identity,
    ),
    **dict.fromkeys((types.GenericAlias, types.UnionType), contents.read_alias),
    **dict.fromkeys((Generator, _FIELD, dtype), by_identity),
    # reading their attributes ends a trace (NOTE [reports] in `wengert.compiler.tracing.reports`)
    **dict.fromkeys((logging.Logger, logging.RootLogger), by_identity),
    functools.cached_property: attributes("func", "attrname"),
    **dict.fromkeys(
        (operator.itemgetter, operator.attrgetter, operator.methodcaller), made_into(contents.steps)
    ),
    type: _class,
    property: attributes("fget", "fset", "fdel"),
    staticmethod: attributes("__func__"),
    classmethod: attributes("__func__"),
    functools.partial: attributes("func", "args", "keywords", "__dict__"),
    _CACHED: contents.read_cached,
    contextvars.ContextVar: contents.read_variable,
    contextvars.Token: attributes("var", "old_value"),
    type(contextvars.Token.MISSING): by_identity,
    types.CellType: attributes("cell_contents"),
    itertools.count: known_by(repr),
    **dict.fromkeys(
        (
            *(type(iter([])), type(iter(())), type(iter(range(0))), type(iter(""))),
            *(type(iter(range(1 << 70))), type(reversed([])), enumerate, zip, map),
        ),
        made_into(contents.steps),
    ),
}
"""The readers of objects of exactly these types; subclasses go through `_rule`."""
_NUMPYS: frozenset[type] = frozenset({np.ufunc, type(np.sum)})
_MADE = frozenset({*functools.WRAPPER_ASSIGNMENTS, "__annotations__", "__wrapped__"})
"""The attributes that wrappers copy from a function."""
_LOGGERS = frozenset({*vars(logging.Logger("")), "manager"})
_ATTRIBUTES: dict[type, frozenset[str]] = {
    **{kind: frozenset() for kind in _NUMPYS},
    **dict.fromkeys((staticmethod, classmethod), _MADE),
    _CACHED: _MADE | {"cache_parameters"},
    functools.cached_property: frozenset({"func", "attrname", "lock", "__doc__", "__module__"}),
    collections.OrderedDict: frozenset(),
    random.Random: frozenset({"gauss_next"}),
    **dict.fromkeys((logging.Logger, logging.RootLogger), _LOGGERS),
}
"""The types whose objects may have a ``__dict__``, with the attributes that all of them have."""
_RULES: weakref.WeakKeyDictionary[type, Reader] = weakref.WeakKeyDictionary()
"""The cache of `_rule`, which keeps no class alive."""
