"""Layer 8 · compiler: readers for containers, values, arrays and functions."""

from __future__ import annotations

import ctypes
import datetime
import decimal
import functools
import gc
import sys
import types
from typing import Any

import numpy as np

from wengert.compiler.objects.libraries import is_pure, is_trusted, of_library_name
from wengert.compiler.objects.reading import (
    Part,
    Reading,
    Unknown,
    attributes,
    by_identity,
    called,
    fact,
    plain,
    together,
)

MOST_BYTES = 1 << 16
"""The largest NumPy array, in bytes, that calls compare; with a larger one they run uncompiled."""


# -- containers ------------------------------------------------------------------------------------


def read_sequence(thing: Any) -> Reading:
    """Read a list or tuple."""
    parts = [Part(_at(i), part) for i, part in enumerate(thing)]
    return Reading("class", parts, (Part("len({0})", len(thing)),))


def read_mapping(thing: Any) -> Reading:
    """Read a dictionary."""
    keys = list(thing)
    if all(key.__class__ is str for key in keys):
        facts: tuple[Part, ...] = (Part("list({0})", keys),)
        return Reading("class", [_item(key, part) for key, part in thing.items()], facts)
    parts = [_item(key, part) for key, part in thing.items()]
    if all(_is_plain(key) for key in keys):
        return Reading("class", parts, (fact(_typed, thing),))
    # these objects themselves are the keys; those that are not plain have parts of their own
    parts += [Part("{1}", key, key) for key in keys if not _is_plain(key)]
    count = Part("len({0})", len(keys))
    return Reading("class", parts, (count, Part("all(map(is_, {0}, {1}))", True, keys)))


def _item(key: Any, part: Any) -> Part:
    path = _at(key) if key.__class__ is str else ""
    return Part(path, part) if path else Part("{0}[{1}]", part, key)


@functools.lru_cache(4096)
def _at(key: Any) -> str:
    """Return the expression of a part at an index or name; empty if it needs the key object."""
    return "" if key.__class__ is str and not key.isidentifier() else f"{{0}}[{key!r}]"


_PLAIN = frozenset({str, int, bytes, bool, type(None)})


def _is_plain(key: Any) -> bool:
    kind = key.__class__
    return kind in _PLAIN or (kind is tuple and all(map(_is_plain, key)))


def _typed(things: Any) -> Any:
    """Return plain values with their classes, so that 1 differs from True."""
    return [(thing.__class__, _typed(thing) if type(thing) is tuple else thing) for thing in things]


def read_set_of(thing: Any) -> Reading:
    """Read a set."""
    if all(map(_is_plain, thing)):
        return Reading("class", (), (fact(_typed, thing),))
    return Reading("class", (called(list, thing),))


def steps(iterator: Any) -> Any:
    """Return the iterable of a Python iterator, and its position."""
    return iterator.__reduce__()[1:]


# -- values ----------------------------------------------------------------------------------------


def precision(thing: Any) -> str:
    """Return the current decimal context, on which arithmetic depends, as text."""
    context = decimal.getcontext()
    traps = [signal.__name__ for signal, on in context.traps.items() if on]
    limits = context.Emin, context.Emax, context.capitals, context.clamp
    return repr((context.prec, context.rounding, limits, traps))


def read_moment(thing: Any) -> Reading:
    """Read a time with its zone: equal ones may have another, or be the second of two."""
    return Reading("class", (Part("{0}.tzinfo", thing.tzinfo),), (fact(_fields, thing),))


def _fields(thing: Any) -> Any:
    base = datetime.datetime if isinstance(thing, datetime.datetime) else datetime.time
    return base.__reduce_ex__(thing, 4)[1][0]  # without the zone


def _bytes_of(thing: Any) -> bytes:
    return bytes(memoryview(thing))


def read_memory(thing: Any) -> Reading:
    """Read a memoryview."""
    obj = Part("{0}.obj", thing.obj)
    return Reading("class", (obj,), [fact(bytes, thing), fact(_layout, thing)])


def _layout(view: memoryview) -> Any:
    return view.format, view.shape, view.strides, view.readonly


def read_c_object(thing: Any) -> Reading:
    """Read a ctypes object."""
    if not _is_flat(type(thing)):
        raise Unknown(f"it uses memory of C behind a pointer ({type(thing).__name__})")
    return Reading("class", (), (fact(_bytes_of, thing),))


def _is_flat(kind: Any) -> bool:
    """Return whether a ctypes type stores its values inline, without pointers."""
    if issubclass(kind, ctypes._SimpleCData):
        return kind._type_ in "cbB?hHiIlLqQfdgu"
    if issubclass(kind, ctypes.Array):
        return _is_flat(kind._type_)
    if issubclass(kind, ctypes.Structure | ctypes.Union):
        fields = [f for base in kind.__mro__ for f in base.__dict__.get("_fields_", ())]
        return all(_is_flat(field[1]) for field in fields)
    return False


# -- NumPy -----------------------------------------------------------------------------------------


def bits(number: Any) -> bytes:
    """Return the bytes of a NumPy scalar, so that 0 differs from -0 and NaN equals NaN."""
    return bytes(number.tobytes())


def read_ufunc(thing: Any) -> Reading:
    """Read a function of NumPy's; one made of a Python function takes objects alone."""
    if {*"".join(thing.types)} <= {*"O->"}:
        raise Unknown(f"NumPy calls a Python function ({thing.__name__})")
    return by_identity(thing)


def read_dtype(thing: Any) -> Reading:
    """Read a NumPy dtype; equal ones may differ in alignment and metadata."""
    if thing.metadata is not None:
        raise Unknown("it uses a dtype of NumPy that has metadata")
    return Reading("value", (), (fact(repr, thing),))


def read_record(number: Any) -> Reading:
    """Read a NumPy scalar whose type has parameters: fields or a unit."""
    if number.dtype.hasobject:
        raise Unknown("it uses a record of NumPy that holds Python's objects")
    return Reading("class", (), [fact(bits, number), fact(_type_of, number)])


def _type_of(number: Any) -> str:
    return repr(number.dtype)


def content_of(thing: Any) -> Any:
    """Return the content of an array, for comparison."""
    return _describe(thing), np.ndarray.tobytes(thing)


def _describe(thing: Any) -> Any:
    # on the hot path: each call checks every array that the function reaches
    kind = thing.dtype
    name = kind.str if kind.names is None else str(kind)
    return name, kind.metadata is None, thing.shape, thing.strides, thing.flags.num


def read_ndarray(thing: Any) -> Reading:
    """Read a NumPy array that is not an operand of the library's operations."""
    if thing.nbytes > MOST_BYTES:
        raise Unknown(
            f"NumPy reads an array of {thing.nbytes} bytes, more than the {MOST_BYTES} that are "
            "compared in each call; make it a tensor outside of the function"
        )
    if thing.dtype.kind == "O":
        return Reading("class", (called(_objects, thing),), (fact(_describe, thing),))
    if thing.dtype.hasobject:
        raise Unknown("it uses a structured array of Python's objects")
    return Reading("class", (), (fact(content_of, thing),))


def _objects(thing: Any) -> list[Any]:
    return list(thing.flat)


def stream(thing: Any) -> Any:
    """Return the state of a random generator as plain values."""
    return _bare(thing.bit_generator.state)


def legacy_stream(thing: Any) -> Any:
    """Return the state of a `numpy.random.RandomState` as plain values."""
    return _bare(thing.get_state(legacy=False))


def _bare(state: Any) -> Any:
    if isinstance(state, dict):
        return [(name, _bare(part)) for name, part in state.items()]
    return state.tobytes() if isinstance(state, np.ndarray) else state


# -- types and signatures --------------------------------------------------------------------------


def read_alias(thing: Any) -> Reading:
    """Read a generic alias or a union of types."""
    held = [name for name in ("__origin__", "__args__") if hasattr(thing, name)]
    return Reading("identity", [Part(f"{{0}}.{name}", getattr(thing, name)) for name in held])


def read_signature(thing: Any) -> Reading:
    """Read a signature: it is immutable, but not the defaults and annotations that it holds."""
    parts = [Part("{0}.return_annotation", thing.return_annotation)]
    for name, parameter in thing.parameters.items():
        parts += [
            Part(f"{{0}}.parameters[{{1}}].{field}", getattr(parameter, field), name)
            for field in ("default", "annotation")
        ]
    return Reading("identity", [part for part in parts if part.value is not thing.empty])


# -- functions -------------------------------------------------------------------------------------


def read_function(thing: Any) -> Reading:
    """Read a function, except for the globals that it looks up."""
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
    if trusted and _stands_in_library(thing):
        held = thing.__dict__
        own = [Part("{0}.__dict__[{1}]", held[key], key) for key in held if key[:1] != "_"]
        return Reading("identity", own)
    if not trusted:
        same += [Part("{0}.__defaults__", thing.__defaults__)]
        if thing.__code__.co_kwonlyargcount:
            same += [Part("{0}.__kwdefaults__", thing.__kwdefaults__)]
        parts.append(Part("{0}.__dict__", thing.__dict__))
    elif thing.__dict__:
        parts.append(Part("{0}.__dict__", thing.__dict__))
    return Reading("identity", parts, (), () if trusted and not parts else same)


def _stands_in_library(function: Any) -> bool:
    """Return whether a library's module holds a function under its name.

    A wrapper that a library's decorator makes has the name and module of the user's function.
    """
    name, module = function.__name__, function.__module__
    return function.__globals__.get(name) is function or (
        of_library_name(module) and getattr(sys.modules.get(module), name, None) is function
    )


read_method = together(attributes("__self__"), plain("__name__"))


def read_builtin(thing: Any) -> Reading:
    """Read a function in C, or a method of an object."""
    owner = thing.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        module = thing.__module__ if owner is None else owner.__name__
        if not is_pure(module, thing.__name__):
            raise Unknown(f"it uses {called_by(module, thing.__name__)}")
        return by_identity(thing)
    return read_method(thing)


def called_by(module: str | None, name: str) -> str:
    """Return the name of a module's function, for messages."""
    return f"{module}.{name}" if module and module != "builtins" else f"{name}()"


def read_cached(thing: Any) -> Reading:
    """Read a function with a cache by the content of the cache.

    The wrapped function does not matter: a trace in which it ran is discarded, and as long as the
    cache is unchanged, results come from there.
    """
    parts: list[Part] = []
    info = thing.cache_info()
    missed = Filled((info.misses, info.currsize))
    misses = Part("{0}.cache_info()[1::2]", missed)
    held = [part for part in gc.get_referents(thing) if part.__class__ is dict]
    held = [part for part in held if part is not thing.__dict__ and len(part) == info.currsize]
    if len(held) != 1:
        if info.currsize:
            raise Unknown("a cache of a function cannot be looked into")
        return Reading("identity", parts, (misses,))
    if info.maxsize is None:
        # in an unbounded cache, a miss that is not cached is a call that raised
        misses = Part("", missed)
    # the cache may have been cleared and refilled
    same = "(len({1}[0]), all(map(is_, {1}[0], {1}[1])) and all(map(is_, {1}[0].values(), {1}[2])))"
    keys, entries = [*held[0]], [*held[0].values()]
    known = Part(same, Filled((info.currsize, True)), (held[0], keys, entries))
    # cached results are returned by reference and may have been modified
    results = [*keys, *entries] if info.maxsize is None else _linked(thing, held[0])
    parts += [Part("{1}", result, result) for result in results if not _is_fixed(result)]
    return Reading("identity", parts, (misses, known))


def _linked(thing: Any, entries: dict[Any, Any]) -> list[Any]:
    """Return the keys and results of a bounded cache, whose entries form a linked list."""
    own = (thing.__wrapped__, thing.__dict__, entries)
    kinds = (type, object)
    found = [*gc.get_referents(thing)]
    links = {type(entry) for entry in entries.values()}
    found += [part for entry in entries.values() for part in gc.get_referents(entry)]
    found = [part for part in found if type(part) not in links and type(part) not in kinds]
    return [part for part in found if not any(part is one for one in own)]


def _is_fixed(value: Any) -> bool:
    kind = value.__class__
    numbers = kind in _PLAIN or kind is float or kind is complex
    return numbers or (kind is tuple and all(map(_is_fixed, value)))


class Filled(tuple[int, ...]):
    """The miss count and size of a cache."""

    __slots__ = ()


def read_variable(thing: Any) -> Reading:
    """Read a context variable."""
    return Reading("identity", (called(_current, thing),))


def _current(variable: Any) -> tuple[Any, ...]:
    found = variable.get(_MISSING)
    return () if found is _MISSING else (found,)


_MISSING = object()
