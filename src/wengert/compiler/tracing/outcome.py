"""Layer 8 · compiler: how later runs reproduce the results and effects of a traced run.

NOTE [results that share memory]
Results may alias inputs or each other, and callers may write to them later. So a result that is a
view of an input, or of another result, is rebuilt as that view, with the history that follows. For
results that share memory in other ways, the memory is allocated once (`Exit.roots`). A base that
the function did not return is also built, where several of its views were returned. And a result
has the same memory layout as without compilation, since the layout decides whether its
``flatten()`` is a view: the result is a view of the computed array, with that layout, or a copy.
Hence the dimension order of inputs with two or more dimensions is guarded (`Entry.run`).
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from wengert.base.containers import Structure, field_names
from wengert.base.size import Size
from wengert.compiler.ir.programs import Value
from wengert.compiler.objects.walker import slots_of
from wengert.compiler.tracing.exit import Effect, Leaf, View
from wengert.compiler.tracing.memory import groups_of, steps_of, writes_to
from wengert.compiler.tracing.payloads import is_of_transform
from wengert.compiler.tracing.prints import ADDRESS
from wengert.compiler.tracing.scalar import Scalar
from wengert.compiler.tracing.sym import Storage, Sym
from wengert.compiler.tracing.trace import Trace
from wengert.ops.return_types import Results
from wengert.prims import records
from wengert.tape.base import LEAF, SparseValue, TensorBase, new_tensor
from wengert.tape.invalidated import Invalidated
from wengert.tape.node import Unrecorded, edge_of, target_of
from wengert.tape.versions import InferenceCell
from wengert.tape.views import (
    MADE_IN_FUNCTION,
    ONE_OF_SEVERAL,
    ReplayedView,
    single_step,
    view_steps,
)

_IMMUTABLE = (int, float, complex, bool, str, bytes, type(None), np.generic, np.dtype)

_WRITTEN = (int, bool, str, bytes, type(None))
"""Types of constants, which are never read off tensors."""
_CONTAINERS = (dict, list, tuple, OrderedDict, Size)
"""Container classes that have no state besides their elements."""
_MOVED = "a result is a view of a tensor that gets other memory"


def check_containers(trace: Trace, result: Any) -> None:
    """Give up the trace if later runs cannot rebuild the containers of its result."""
    seen: set[int] = set()

    def check(value: Any) -> None:
        kind = type(value)
        fields = None if isinstance(value, dict | list | tuple) else field_names(value)
        if fields is None and not isinstance(value, dict | list | tuple):
            return
        held = getattr(value, "__dict__", ())
        is_named = hasattr(kind, "_make") or issubclass(kind, Results)
        if fields is not None and (
            any(
                type(getattr(value, name, None)) not in _WRITTEN
                for name in {*held, *slots_of(kind)}.difference(fields)
            )
            or _copies_otherwise(kind)
        ):
            trace.give_up(f"a result holds more than its fields ({kind.__name__})")
        elif fields is None and kind not in _CONTAINERS and (not is_named or held):
            trace.give_up(f"a result is a container of a class of its own ({kind.__name__})")
        elif not isinstance(value, tuple):
            # the caller's later changes to it would reach the function
            if value in trace.surroundings:
                trace.give_up(f"a result is a {kind.__name__} that the function was given")
            elif id(value) in seen:
                trace.give_up(f"a result holds a {kind.__name__} twice")
            seen.add(id(value))
        if fields is not None:
            parts: Iterable[Any] = [getattr(value, name) for name in fields]
        else:
            parts = value.values() if isinstance(value, dict) else value
        for part in parts:
            check(part)

    check(result)


def _copies_otherwise(kind: type) -> bool:
    """Return whether `copy.copy` runs a user's code for instances of a dataclass."""
    for name in ("__copy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"):
        found = getattr(kind, name, None)
        made_by = getattr(found, "__globals__", {}).get("__name__")
        if found is not getattr(object, name, None) and made_by not in _MAKERS:
            return True
    return False


_MAKERS = ("dataclasses", "attr._make")
"""The modules whose functions classes with fields and slots are copied by."""


def effects_of(
    trace: Trace, tensors: list[Any], symbols: Sequence[Any], grads: list[Any]
) -> tuple[list[Effect], list[tuple[Value, Value]]]:
    """Return the effects of the function on the tensors and arrays of its environment.

    Returns
    -------
    effects : list
        The effects; new memory and gradients are leaves that have no place yet.
    origins : list
        Pairs of a value that is written over the memory of an input, and that input, for inputs
        that share memory with no other input.
    """
    if any(isinstance(tensor._payload, np.ndarray) for tensor in tensors):
        # not computed by the function, but perhaps by another thread
        trace.discard()
    effects: list[Effect] = []
    origins: list[tuple[Value, Value]] = []
    counted: set[int] = set()
    for i, symbol in enumerate(symbols):
        storage = symbol.storage
        if storage.touched:
            effects.append(Effect("write", i, symbol.value))
            # other windows read the memory until the end of the program
            if storage.whole is None and storage.origin is not None:
                origins.append((storage.value, storage.origin))
        if i >= len(tensors):
            continue
        tensor = tensors[i]
        if is_of_transform(tensor._payload):
            trace.give_up("it writes values of a transform to a tensor of the outside")
            continue
        count = writes_to(tensor) - trace.versions[i]
        # writes through `.data` are not counted
        if count and id(tensor._vc) not in counted:
            counted.add(id(tensor._vc))
            effects.append(Effect("version", i, None, tensor._vc[1], count))
            trace.counts = True
        if tensor._payload is not symbol:
            effects.append(Effect("data", i, made=new_tensor(tensor._payload)))
        grad = None if tensor._ext is None else tensor._ext.grad
        if grad is grads[i]:
            continue
        if grad is None:
            effects.append(Effect("no grad", i))
        elif isinstance(grad, SparseValue):
            trace.give_up("a gradient is sparse")
        elif is_of_transform(grad._payload):
            trace.give_up("a gradient belongs to a transform that is under way")
        else:
            if grad._edge is not None:
                trace.give_up("a gradient that is left behind has a history")
            if isinstance(grad._payload, np.ndarray):
                trace.discard()
            effects.append(Effect("grad", i, made=grad))
    return effects, origins


_PLAIN = (None, MADE_IN_FUNCTION)


class _Holder:
    """A leaf whose memory each run allocates."""

    __slots__ = ("_edge", "array", "leaf", "place", "symbol")

    def __init__(self, place: int, leaf: Any, symbol: Sym) -> None:
        self.place = place
        self.leaf = leaf
        self._edge = getattr(leaf, "_edge", None)
        self.symbol = symbol
        self.array = np.asarray(symbol.array)


def _order_of(array: Any) -> tuple[int, ...] | None:
    """Return the dimensions in memory order if the array is dense, else None."""
    order = tuple(sorted(range(array.ndim), key=lambda dim: -array.strides[dim]))
    made = np.empty([array.shape[dim] for dim in order], array.dtype)
    back = [order.index(dim) for dim in range(array.ndim)]
    return order if made.transpose(back).strides == array.strides else None


class _Results:
    """Builds the leaves of a result (see NOTE [results that share memory])."""

    def __init__(self, trace: Trace, leaves: list[Any], environment: Any) -> None:
        self.trace = trace
        self.leaves = leaves
        self.environment = environment
        self.given = [*environment.tensors, *environment.arrays]
        self.places = {id(thing): i for i, thing in enumerate(self.given)}
        self.owners = {symbol.storage: i for i, symbol in reversed([*enumerate(trace.given)])}
        self.indices: dict[int, int] = {}
        self.made: list[Leaf] = []
        self.roots: list[Value] = []
        self.holders: list[_Holder] = []
        self.cells: dict[int, int] = {}

    def place_of(self, leaf: Any) -> int:
        """Return the place of a leaf, adding it if it is new."""
        for i, known in enumerate(self.leaves):
            if known is leaf:
                return i
        self.leaves.append(leaf)
        return len(self.leaves) - 1

    def run(self) -> None:
        """Decide for each leaf how later runs make it."""
        while len(self.made) < len(self.leaves):
            for i in range(len(self.made), len(self.leaves)):
                self.made.append(self._leaf(i, self.leaves[i]))
            if len(self.holders) > 1 or self.trace.given:
                self._part_views()
        shared = set()
        for storage, group in self._sharing():
            self._share(storage, group)
            shared.update(group)
        for holder in self.holders:
            if holder not in shared:
                self._lay_out(holder)
        sharing = Counter([leaf.version[2] for leaf in self.made if leaf.version is not None])
        for i, leaf in enumerate(self.made):
            version = leaf.version
            if version is None or version[2] < 0:
                continue
            if version[0] == 0 and sharing[version[2]] == 1:
                # not written to, and not shared: a later view creates the cell
                self.made[i] = leaf._replace(version=None)

    def _leaf(self, i: int, leaf: Any) -> Leaf:
        place = self.places.get(id(leaf))
        if place is not None:
            return Leaf("given", place)
        if isinstance(leaf, TensorBase):
            first = self.indices.setdefault(id(leaf), i)
            return self._tensor(i, leaf) if first == i else Leaf("again", first)
        if id(leaf) in self.trace.returned:
            symbol = self.trace.returned[id(leaf)][1]
            if type(leaf) is float:
                return Leaf("number", symbol.value)
            return self._array(i, leaf, symbol)
        if type(leaf) is Scalar:
            return Leaf("number", leaf.symbol.value)
        if isinstance(leaf, np.ndarray):
            if leaf.dtype.hasobject:
                self.trace.give_up("a result is an array of objects")
                return Leaf("constant", leaf)
            return self._array(i, leaf, self.trace.symbol(leaf))
        if not self._stays(leaf):
            written = "text with the address of an" if isinstance(leaf, str) else "a new"
            self.trace.give_up(f"a result is {written} object ({type(leaf).__name__})")
        return Leaf("constant", leaf)

    def _stays(self, thing: Any) -> bool:
        """Return whether a constant is the same in every call."""
        if any(thing is kept for kept in self.environment.kept):
            return True
        if isinstance(thing, _IMMUTABLE):
            return not (isinstance(thing, str) and ADDRESS.search(thing))
        parts = thing.metadata() if isinstance(thing, Structure) else thing
        return isinstance(thing, Structure | tuple) and all(map(self._stays, parts))

    def _array(self, i: int, leaf: Any, symbol: Sym) -> Leaf:
        owner = self.owners.get(symbol.storage)
        if owner is not None:
            return Leaf("window", View(owner, symbol.chain))
        self.holders.append(_Holder(i, leaf, symbol))
        return Leaf("array", symbol.value)

    def _tensor(self, i: int, leaf: Any) -> Leaf:
        symbol = self.trace.symbol(leaf._payload)
        if leaf._edge.__class__ is Invalidated:
            self.trace.give_up("a result is a view that has lost its history")
        carried = _carried(leaf)
        if carried is not None:
            self.trace.give_up(carried)
        owner = self.owners.get(symbol.storage)
        ext = leaf._ext
        if owner is None:
            if ext is not None and ext.base is not None and ext.no_write not in _PLAIN:
                # it refuses writes, as only a view does; a Function's may have memory of its own
                return self._part(leaf)
            self.holders.append(_Holder(i, leaf, symbol))
            return self._fresh(i, leaf, symbol.value)
        base = None if ext is None else ext.base
        if base is not None and id(base) in self.places:
            steps = self._steps_from(self.given[owner], base, view_steps(ext.chain))
            return Leaf("view", self._view(owner, steps, leaf), type(leaf))
        how = View(owner, symbol.chain, cell=self._place_of_cell(leaf._vc))
        return Leaf("shared", how, type(leaf), leaf._edge is LEAF)

    def is_view_of(self, i: int, replaced: set[int]) -> bool:
        """Return whether a leaf shares memory with a tensor of `replaced`, or is a view of it."""
        made, leaf = self.made[i], self.leaves[i]
        if (
            made.kind in ("view", "shared", "window")
            and id(self.given[made.what.place]) in replaced
        ):
            return True
        ext = leaf._ext if isinstance(leaf, TensorBase) else None
        return made.kind != "given" and ext is not None and id(ext.base) in replaced

    def _steps_from(self, source: Any, base: Any, chain: Sequence[Any]) -> Sequence[Any]:
        """Return the rest of a chain of views of `base` after `source`, which holds the memory.

        This need not be the memory of `base`: a view may have been given other memory since.
        """
        if source is base:
            return chain
        own = source._ext if isinstance(source, TensorBase) else None
        above = [] if own is None else view_steps(own.chain)
        if not above or source._ext.base is not base or chain[: len(above)] != above:
            self.trace.give_up(_MOVED)
        return chain[len(above) :]

    def _view(self, place: int, chain: Sequence[Any], leaf: Any) -> View:
        """Return a leaf as a view, with whether it was recorded and why it refuses writes."""
        ext, edge = leaf._ext, leaf._edge
        if ext.no_write == MADE_IN_FUNCTION:
            self.trace.give_up("a result is a view that a custom function made")
        own = edge is None or edge is LEAF or edge.__class__ is Unrecorded
        if not own and (ext.base._edge is None or not _is_history_of(leaf, ext.base)):
            self.trace.give_up("a result is a view whose history is not that of its base")
        recorded = not (edge is LEAF or edge.__class__ is Unrecorded)
        recorded &= ext.no_write in (None, ONE_OF_SEVERAL)
        return View(place, _steps(chain), recorded, ext.no_write, leaf=edge is LEAF)

    def _place_of_cell(self, cell: Any) -> int | None:
        """Return the place of the environment's tensor with this version cell, or None."""
        if cell is None or cell.__class__ is InferenceCell:
            return None
        tensors = self.environment.tensors
        found = next((i for i, tensor in enumerate(tensors) if tensor._vc is cell), None)
        self.trace.counts |= found is not None
        return found

    def _fresh(self, i: int, leaf: Any, value: Value) -> Leaf:
        cell = leaf._vc
        if cell is None:
            return Leaf("tensor", value, type(leaf), leaf._edge is LEAF)
        if cell.__class__ is InferenceCell:
            return Leaf("tensor", value, type(leaf), leaf._edge is LEAF, version=(None, None, i))
        place = self._place_of_cell(cell)
        first = self.cells.setdefault(id(cell), i) if place is None else ~place
        version = (cell[0], cell[1], first)
        return Leaf("tensor", value, type(leaf), leaf._edge is LEAF, version=version)

    def _part(self, leaf: Any) -> Leaf:
        """Return a leaf as a view of another leaf."""
        base = leaf._ext.base
        if self.trace.symbol(base._payload).storage is not self.trace.symbol(leaf._payload).storage:
            self.trace.give_up(_MOVED)
        place = self.place_of(base)
        return Leaf("part", self._view(place, view_steps(leaf._ext.chain), leaf), type(leaf))

    def _sharing(self) -> list[tuple[Storage, list[_Holder]]]:
        """Return the leaves that share memory, grouped by storage."""
        arrays = [symbol.array for symbol in self.trace.given]
        count = len(arrays)
        arrays += [holder.array for holder in self.holders]
        found = []
        for _, members in groups_of(arrays):
            storages: dict[Storage, list[_Holder]] = {}
            for k in members:
                if k >= count:
                    holder = self.holders[k - count]
                    storages.setdefault(holder.symbol.storage, []).append(holder)
            parts = [arrays[k] for k in members if k < count]
            if storages and (parts or len(storages) > 1):
                self._check_apart(parts, list(storages.values()))
            for storage, group in storages.items():
                if len(group) > 1 and _meet([holder.array for holder in group]):
                    found.append((storage, group))
        return found

    def _part_views(self) -> None:
        """Turn leaves that are views of other leaves into parts of them."""
        for _, group in self._sharing():
            for holder in group:
                ext = holder.leaf._ext if isinstance(holder.leaf, TensorBase) else None
                if ext is not None and ext.base is not None:
                    self.made[holder.place] = self._part(holder.leaf)
                    self.holders.remove(holder)

    def _check_apart(self, given: list[Any], groups: list[list[_Holder]]) -> None:
        """Give up if memory is shared in a way that the trace does not know."""
        fresh = [[holder.array for holder in group] for group in groups]
        for k, group in enumerate(fresh):
            others = [*given, *[array for other in fresh[:k] for array in other]]
            if any(np.shares_memory(a, b) for a in group for b in others):
                self.trace.give_up("a result shares memory in a way that is not followed")

    def _lay_out(self, holder: _Holder) -> None:
        """Give a leaf the memory layout that it has in the traced run."""
        if holder.array.flags.c_contiguous:
            return
        made, storage = self.made[holder.place], holder.symbol.storage
        if holder.symbol.chain and _can_be_shown(storage.value, holder):
            made = made._replace(what=storage.value, chain=holder.symbol.chain)
        elif holder._edge is None and (order := _order_of(holder.array)) is not None:
            # compute it in memory order, and permute it back
            turned = self.trace.view(records.permute, holder.symbol.value, {"dims": order})
            back = tuple([order.index(dim) for dim in range(len(order))])
            made = made._replace(what=turned, chain=((records.permute, {"dims": back}),))
        else:
            made = made._replace(strides=holder.array.strides)
        self.made[holder.place] = made

    def _share(self, storage: Storage, group: list[_Holder]) -> None:
        """Make leaves share one memory."""
        number = len(self.roots)
        self.roots.append(storage.value)
        for holder in group:
            if not _can_be_shown(storage.value, holder):
                self.trace.give_up("a result shares memory in a way that is not followed")
            made = self.made[holder.place]
            self.made[holder.place] = made._replace(root=number, chain=holder.symbol.chain)


def leaves_of(
    trace: Trace, leaves: list[Any], effects: list[Effect], environment: Any
) -> tuple[list[Any], list[Leaf], list[Effect], list[Value]]:
    """Return how later runs make each leaf of the result and of the effects.

    Returns
    -------
    leaves, made : list
        The leaves of the result, then those of effects, then bases of other leaves; and how each
        is made.
    effects : list. The effects, with the places of their leaves.
    roots : list. The memory that leaves share.
    """
    results = _Results(trace, [*leaves], environment)
    placed = []
    for effect in effects:
        if effect.made is not None:
            effect = effect._replace(leaf=results.place_of(effect.made), made=None)
        placed.append(effect)
    results.run()
    replaced = {id(results.given[effect.place]) for effect in placed if effect.kind == "data"}
    if replaced and any(results.is_view_of(i, replaced) for i in range(len(results.made))):
        # views are rebuilt before the tensors get their new memory
        trace.give_up(_MOVED)
    return results.leaves, results.made, placed, results.roots


def payload_of(leaf: Any) -> Any:
    """Return the payload of a leaf that is a tensor or an array."""
    return leaf._payload if isinstance(leaf, TensorBase) else leaf


def views_among(trace: Trace, leaves: Sequence[Any], made: Sequence[Leaf]) -> dict[int, Value]:
    """Return the memory that computed leaves are views of, by place, where it is not made yet."""
    found = {}
    for i, leaf in enumerate(made):
        if leaf.kind in ("tensor", "array") and leaf.root is None and not leaf.chain:
            symbol = trace.symbol(payload_of(leaves[i]))
            value = symbol.storage.value
            if symbol.chain and _can_be_shown(value, _Holder(i, leaves[i], symbol)):
                found[i] = value
    return found


def _is_history_of(view: Any, base: Any) -> bool:
    """Return whether the history of a view is that of its base plus the views from it."""
    goal, number = target_of(edge_of(base))
    node, index = target_of(view._edge)
    while node is not goal:
        prim = getattr(node, "prim", None)
        if not isinstance(node, ReplayedView) and (prim is None or not prim.view):
            return False
        node, index = target_of(node.edges[0])
    return bool(index == number)


def _steps(chain: Sequence[Any]) -> tuple[tuple[Any, dict[str, Any]], ...]:
    """Return a chain of views as (primitive, parameters) pairs."""
    alone = [single_step(prim, params, output, shape) for prim, params, shape, output in chain]
    return tuple([(step.prim, step.params) for step in alone])


def _carried(tensor: Any) -> str | None:
    """Return why later runs cannot reproduce the state of a result, or None."""
    ext, edge = tensor._ext, tensor._edge
    if ext is not None:
        for name, _ in ext.state(_FOLLOWS):
            return f"a result has a state of its own ({name})"
    if getattr(tensor, "__dict__", None):
        return f"a result has attributes of its own ({', '.join(vars(tensor))})"
    if edge is None or edge is LEAF or edge.__class__ is Unrecorded:
        return None
    node = target_of(edge)[0]
    if getattr(node, "_ext", None) is not None and node._ext.tensor_hooks:
        return "a result has hooks"
    return None


_FOLLOWS = frozenset(
    {*("base", "chain", "linked", "root", "views", "no_write", "stale", "level", "ended")}
    | {"accumulator"}
)
"""Attributes that a tensor regains as a view or below a transform."""


def _meet(arrays: list[Any]) -> bool:
    """Return whether any two arrays overlap."""
    return any(np.shares_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k])


def _can_be_shown(value: Value, holder: _Holder) -> bool:
    """Return whether the leaf's views, applied to C-ordered memory, give its layout."""
    array = whole = np.zeros(value.shape, value.dtype)
    for prim, params in holder.symbol.chain:
        array = prim.kernel(array, **params)
    return array.shape == holder.array.shape and (
        not array.size
        or (np.may_share_memory(array, whole) and steps_of(array) == steps_of(holder.array))
    )
