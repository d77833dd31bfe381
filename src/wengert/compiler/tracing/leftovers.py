"""Layer 8 · compiler: replace the scalars and symbols that a trace left in users' objects.

During tracing, ``tensor.item()`` returns a `Scalar`, which the function may keep: in a list, a
tuple, an attribute, a closure variable, a generator. When the trace has ended, each surviving
scalar is replaced by its number; and if the trace fails, symbols are replaced by their arrays. The
garbage collector finds their holders; immutable ones (a tuple, a frozenset, a slice) are rebuilt
and replaced in turn. The collector does not track object arrays: these are searched if an object
still has an unknown holder. A scalar that is not found acts as a plain number from then on.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import functools
import gc
import sys
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from wengert.compiler.objects.walker import slots_of
from wengert.compiler.tracing.scalar import Scalar, ended

_OURS = next(sys.getrefcount(left) for left, _ in {0: (object(), None)}.values())
"""The reference count of an object to which only `replace` refers."""
_ROUNDS = 5
"""The depth to which nested immutable containers are rebuilt."""


def full_collections() -> int:
    """Return the number of collections that have promoted objects to older generations."""
    return sum(int(generation["collections"]) for generation in gc.get_stats()[1:])


def instances(*classes: type, since: int | None = None) -> list[Any]:
    """Return the instances of classes that the collector tracks, found in one pass.

    `since` is the count of `full_collections` when the first instance was made. As long as it has
    not changed, only young objects are searched: the oldest generation holds nearly all objects of
    the program.
    """
    kinds = set(classes)
    todo = list(classes)
    while todo:
        below: list[type] = type.__subclasses__(todo.pop())
        new = [kind for kind in below if kind not in kinds]
        kinds.update(new)
        todo += new
    # by type(): proxies of other libraries may claim any __class__
    young = since is not None and sys.version_info < (3, 14) and since == full_collections()
    # one list for both generations could hold itself, and would keep all young objects alive
    parts: tuple[int | None, ...] = (0, 1) if young else (None,)
    return [thing for part in parts for thing in gc.get_objects(part) if type(thing) in kinds]


def replace(pairs: Iterable[tuple[Any, Any]]) -> None:
    """Replace the leftovers of a trace by real numbers and arrays, given as (left, real) pairs."""
    real: dict[int, tuple[Any, Any]] = {id(pair[0]): pair for pair in pairs}
    for left, _ in real.values():
        if issubclass(type(left), Scalar):
            ended(left)
    left = None  # no reference of its own may count
    # the search passes all objects of the program: those that nothing else holds need none
    todo: list[Any] = [left for left, _ in real.values() if sys.getrefcount(left) > _OURS]
    own = {id(pairs), id(real), *(id(pair) for pair in real.values())}
    for _ in range(_ROUNDS):
        if not todo:
            break
        todo = _replaced_once(todo, real, own)
    # the latest are holders of earlier ones
    rest = [*real.values()]
    while rest:
        left, _ = rest.pop()
        if sys.getrefcount(left) <= _OURS:
            del real[id(left)]
    if real:
        _replace_in_arrays(real)


def _replaced_once(todo: list[Any], real: dict[int, tuple[Any, Any]], own: set[int]) -> list[Any]:
    """Update the holders of objects in `todo`; return the holders that must be replaced, too."""
    # since Python 3.13 the tuple of arguments would count as one more holder
    asked = tuple(todo)
    own |= {id(todo), id(asked), id(sys._getframe())}
    fresh: list[Any] = []
    for holder in gc.get_referrers(*asked):
        if id(holder) in own:
            continue
        made = _replaced(holder, real)
        if made is not holder:
            fresh.append(holder)
            real[id(holder)] = pair = holder, made
            own.add(id(pair))
    return fresh


def _replace_in_arrays(real: dict[int, tuple[Any, Any]]) -> None:
    """Replace elements of object arrays that objects tracked by the collector hold."""
    for part in gc.get_referents(*gc.get_objects()):
        is_array = issubclass(type(part), np.ndarray) and part.dtype.kind == "O"
        if is_array and part.flags.writeable:
            for place, element in enumerate(part.flat):
                if id(element) in real:
                    part.flat[place] = real[id(element)][1]


def _replaced(holder: Any, real: dict[int, tuple[Any, Any]]) -> Any:
    """Replace the contents of `holder`; return a new object where it is immutable."""

    def of(thing: Any) -> Any:
        found = real.get(id(thing))
        return thing if found is None else found[1]

    if isinstance(holder, tuple):
        made = tuple.__new__(type(holder), map(of, tuple.__iter__(holder)))
        if type(holder) is not tuple and getattr(holder, "__dict__", None):
            vars(made).update(vars(holder))
        return made
    if isinstance(holder, frozenset):
        return frozenset.__new__(type(holder), map(of, frozenset.__iter__(holder)))
    if isinstance(holder, slice):
        return slice(of(holder.start), of(holder.stop), of(holder.step))
    if isinstance(holder, list):
        list.__setitem__(holder, slice(None), [of(part) for part in list.__iter__(holder)])
    elif isinstance(holder, dict):
        _replace_items(holder, of)
    elif isinstance(holder, set):
        kept = [of(part) for part in set.__iter__(holder)]
        set.clear(holder)
        set.update(holder, kept)
    elif isinstance(holder, collections.deque):
        for i, part in enumerate(list(collections.deque.__iter__(holder))):
            collections.deque.__setitem__(holder, i, of(part))
    elif isinstance(holder, types.CellType):
        holder.cell_contents = of(holder.cell_contents)
    elif isinstance(holder, types.FrameType):
        _replace_locals(holder, of)
    elif isinstance(holder, types.GeneratorType):
        if holder.gi_frame is not None:
            _replace_locals(holder.gi_frame, of)
    elif isinstance(holder, types.FunctionType):
        holder.__defaults__ = of(holder.__defaults__)
    elif isinstance(holder, functools.partial):
        whole: Any = holder
        whole.__setstate__((of(whole.func), of(whole.args), whole.keywords, whole.__dict__))
    elif not isinstance(holder, type | types.ModuleType):
        _replace_attributes(holder, of)
    return holder


def _replace_items(holder: dict[Any, Any], of: Any) -> None:
    kind: Any = collections.OrderedDict if isinstance(holder, collections.OrderedDict) else dict
    items = list(kind.items(holder))
    if all(of(key) is key for key, _ in items):
        for key, part in items:
            if of(part) is not part:
                kind.__setitem__(holder, key, of(part))
        return
    kind.clear(holder)
    for key, part in items:
        kind.__setitem__(holder, of(key), of(part))


def _replace_attributes(holder: Any, of: Any) -> None:
    held = getattr(holder, "__dict__", None)
    if isinstance(held, dict):
        _replace_items(held, of)
    for name in slots_of(type(holder)):
        part = getattr(holder, name, None)
        if of(part) is not part:
            # types defined in C may have read-only members
            with contextlib.suppress(AttributeError, TypeError):
                setattr(holder, name, of(part))


def _replace_locals(frame: types.FrameType, of: Any) -> None:
    """Replace the local variables of a function that is suspended or has raised."""
    held = frame.f_locals
    for name, part in list(held.items()):
        if of(part) is not part:
            held[name] = of(part)
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
