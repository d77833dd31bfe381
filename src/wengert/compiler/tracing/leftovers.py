"""Layer 8 · compiler: what a trace put into users' objects is replaced by what it stands for.

While a function is traced, ``tensor.item()`` gives a `Scalar`, which the function may keep: in a
list, a tuple, an attribute, a variable of a closure, a generator. When the trace has ended, each
that is still there is replaced, wherever it is, by its number; and where there is no trace in the
end, symbols by their arrays. Who holds them the collector of garbage says; what cannot be changed
(a tuple, a frozenset, a slice) is rebuilt and replaced in turn. Arrays of objects are unknown to
the collector, and are looked for where something is held by nobody else. What is nowhere to be
found is a number like others from then on.
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

__all__ = ["full_collections", "instances", "replace"]

_OURS = next(sys.getrefcount(left) for left, _ in {0: (object(), None)}.values())
"""How many references to a thing are there while it is looked at in `replace`."""
_ROUNDS = 5
"""How deep tuples in tuples are rebuilt."""


def full_collections() -> int:
    """How often the collector has made objects old that were young."""
    return sum(int(generation["collections"]) for generation in gc.get_stats()[1:])


def instances(*classes: type, since: int | None = None) -> list[Any]:
    """The instances of classes that the collector knows, found in one quick pass.

    Those alone that may be new, if there were as many `full_collections` when the first was made:
    others lie in the oldest generation, which is as large as all that the program holds.
    """
    kinds = set(classes)
    todo = list(classes)
    while todo:
        below: list[type] = type.__subclasses__(todo.pop())
        new = [kind for kind in below if kind not in kinds]
        kinds.update(new)
        todo += new
    # by their types: proxies of other libraries may say that they are anything
    if since is None or sys.version_info >= (3, 14) or since != full_collections():
        things = gc.get_objects()
    else:
        things = [*gc.get_objects(0), *gc.get_objects(1)]
    return [thing for thing in things if type(thing) in kinds]


def replace(pairs: Iterable[tuple[Any, Any]]) -> None:
    """Put real numbers and arrays in the places of what a trace has left: pairs of both."""
    real: dict[int, tuple[Any, Any]] = {id(pair[0]): pair for pair in pairs}
    todo: list[Any] = [left for left, _ in real.values()]
    for left in todo:
        if issubclass(type(left), Scalar):
            ended(left)
    del left
    own = {id(pairs), id(real), *(id(pair) for pair in real.values())}
    for _ in range(_ROUNDS):
        if not todo:
            break
        todo = _replaced_once(todo, real, own)
    if any(sys.getrefcount(left) > _OURS for left, _ in real.values()):
        _replace_in_arrays(real)


def _replaced_once(todo: list[Any], real: dict[int, tuple[Any, Any]], own: set[int]) -> list[Any]:
    """Change what holds something of `todo`; gives what has to be replaced for that itself."""
    # the arguments are a tuple that would count as one more holder since Python 3.13
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
    """Replace the elements of arrays of objects, which lie in what the collector knows."""
    for part in gc.get_referents(*gc.get_objects()):
        is_array = issubclass(type(part), np.ndarray) and part.dtype.kind == "O"
        if is_array and part.flags.writeable:
            for place, element in enumerate(part.flat):
                if id(element) in real:
                    part.flat[place] = real[id(element)][1]


def _replaced(holder: Any, real: dict[int, tuple[Any, Any]]) -> Any:
    """Change what `holder` holds; gives another object where it cannot be changed."""

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
            # objects of C may have members that only read
            with contextlib.suppress(AttributeError, TypeError):
                setattr(holder, name, of(part))


def _replace_locals(frame: types.FrameType, of: Any) -> None:
    """Change variables of a function that waits, or that has raised."""
    held = frame.f_locals
    for name, part in list(held.items()):
        if of(part) is not part:
            held[name] = of(part)
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
