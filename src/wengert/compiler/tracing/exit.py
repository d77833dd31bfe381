"""Layer 8 · compiler: the exit of a compiled run: results and effects."""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from wengert.base.ports import PORTS
from wengert.compiler.ir.programs import Value
from wengert.compiler.tracing.blocks import Missing
from wengert.compiler.tracing.memory import lying
from wengert.compiler.tracing.node import Backward
from wengert.compiler.tracing.prints import Said
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.inplace import count
from wengert.tape.modes import MODE, changed, current_mode
from wengert.tape.record import T
from wengert.tape.sites import place
from wengert.tape.versions import InferenceCell


class View(NamedTuple):
    """A result that shares memory with a tensor or array of the environment, or another leaf.

    Attributes
    ----------
    place: The place of that tensor, array or leaf.
    chain: The views, as (primitive, parameters), that lead to the result.
    recorded: Whether the views are recorded, as the history of the result.
    no_write: Why it refuses in-place writes, if it does.
    cell: The place whose version cell it shares, if it shares one without being a known view.
    leaf: Whether it is a leaf that requires a gradient.
    """

    place: int
    chain: tuple[tuple[Any, dict[str, Any]], ...]
    recorded: bool = False
    no_write: str | None = None
    cell: int | None = None
    leaf: bool = False

    def made(self, source: Any) -> Any:
        """Return the view of a tensor, recorded as its view."""
        before = current_mode()
        MODE.set(changed(before, grad=self.recorded))
        try:
            made = source
            for prim, params in self.chain:
                made = getattr(T, prim.name)(made, **params)
            if not self.chain:
                made = T.alias(made)
        finally:
            MODE.set(before)
        if made._ext is not None:
            made._ext.no_write = self.no_write
        if self.leaf:
            made._edge = LEAF
        return made

    def shown(self, source: Any) -> Any:
        """Return the window of a tensor or array as an array."""
        array = source._array() if isinstance(source, TensorBase) else source
        for prim, params in self.chain:
            array = prim.kernel(array, **params)
        return array


class Leaf(NamedTuple):
    """A leaf of the function's result.

    Attributes
    ----------
    kind
        ``"constant"``; ``"given"``: a tensor or array of the environment; ``"view"``: a view of
        one; ``"shared"``: a tensor over its memory that is not a known view; ``"window"``: an
        array over it; ``"again"``: an earlier leaf; ``"part"``: a view of another leaf;
        ``"tensor"``, ``"number"`` or ``"array"``: computed.
    what: The object, its place in the environment or among the leaves, or its value.
    cls: The class of a tensor.
    leaf: Whether a tensor is a leaf that requires a gradient.
    root, chain
        The index in `Exit.roots` of the memory that it shares with other leaves, and the views
        from there to the leaf. If it has memory of its own, `root` is None, and `chain` leads from
        that memory.
    strides
        Its strides in bytes, where they are neither row-major nor follow from `chain`.
    version
        For a tensor that was written to: the number of writes, the last operation, and the first
        leaf that shares its version cell, or ``~place`` for the cell of a tensor of the
        environment. The count is None if it was made in inference mode.
    """

    kind: str
    what: Any
    cls: Any = None
    leaf: bool = False
    root: int | None = None
    chain: tuple[tuple[Any, dict[str, Any]], ...] = ()
    version: tuple[int | None, Any, int] | None = None
    strides: tuple[int, ...] | None = None


class Effect(NamedTuple):
    """An effect of a run on a tensor or array of the environment.

    Attributes
    ----------
    kind
        ``"write"`` to its memory; ``"version"``: its version is bumped; ``"data"``: it gets new
        memory; ``"grad"``: it gets a new gradient; ``"no grad"``: it loses its gradient.
    place: The place of the tensor or array.
    value: The written value.
    name: The name of the last operation that wrote.
    writes: The number of writes.
    leaf: The leaf that is the new gradient, or whose memory the tensor gets.
    made: That leaf in the traced run, until its place is known.
    """

    kind: str
    place: int
    value: Value | None = None
    name: str = ""
    writes: int = 1
    leaf: int = -1
    made: Any = None


@dataclass(eq=False)
class Exit:
    """The results and effects of one trace.

    Attributes
    ----------
    leaves, rebuild: The leaves of the function's result, and the function that assembles it.
    effects: The effects, in order.
    backward: The backward pass of the results, if any requires a gradient.
    outputs: The places, among the leaves, of those that require a gradient.
    derivatives: The backward passes of the blocks of a trace that returns to states.
    draws: The random numbers that the trace draws.
    repeats: Whether one value is returned in several places.
    origins: Pairs of a value that overwrites memory of the environment, and the input stored there.
    count: The number of returned leaves; the rest stay in the environment, or are bases of views.
    roots: The memory that leaves share.
    given: The inputs, whose memory belongs to the environment.
    said: The calls of ``print``, which come before any write.
    put: Writes values to the open places that the function changes, if there are any.
    kept: The places of the results that the backward pass may read.
    stacked: The same pass for runs that return stacks of the values that it reads, or None.
    calls: The state that the nodes of calls share, by the pass that they run.
    reads: The places of the environment's tensors whose memory the backward pass reads.
    late, parts, again
        The places of the leaves that are not values but views of the environment's memory, views
        of other leaves, and earlier leaves.
    """

    leaves: Sequence[Leaf]
    rebuild: Callable[[list[Any]], Any]
    effects: Sequence[Effect]
    backward: Backward | None
    outputs: Sequence[int]
    origins: Sequence[tuple[Value, Value]]
    count: int
    roots: Sequence[Value]
    given: frozenset[Value]
    said: Sequence[Said]
    put: Callable[[list[Any]], None] | None
    stacked: Backward | None = None
    calls: dict[Backward, Any] = field(default_factory=dict)
    draws: Sequence[Value] = ()
    reads: tuple[int, ...] = ()
    derivatives: Any = None

    def __post_init__(self) -> None:
        self.streams = frozenset([one.stream for one in self.said])
        own = [*self.roots, *[one.value for one in self.effects if one.value is not None]]
        own += [one.what for one in self.leaves if isinstance(one.what, Value) and one.root is None]
        # two results must not be one array
        self.repeats = len(set(own)) < len(own)
        self.late, self.parts, self.again = (
            [i for i, leaf in enumerate(self.leaves) if leaf.kind in kinds]
            for kinds in (("window", "shared", "view"), ("part",), ("again",))
        )
        kept = () if self.backward is None else self.backward.kept
        # the tape may hold the views themselves, which may get other memory
        self.kept = (*kept, *[i for i in self.late if self.is_view_of(i, self.reads)])
        self._makers = [self._maker(leaf) for leaf in self.leaves]

    def needs(self) -> Iterator[Value]:
        """Yield the values that the exit reads."""
        yield from self.returned()
        if self.backward is not None:
            yield from self.backward.saved

    def returned(self) -> Iterator[Value]:
        """Yield the values that leave the call: results, and what it writes and prints."""
        yield from self.roots
        for leaf in self.leaves:
            if isinstance(leaf.what, Value) and leaf.root is None:
                yield leaf.what
        for effect in self.effects:
            if effect.value is not None:
                yield effect.value
        for said in self.said:
            yield from said.values()

    def value_of(self, i: int) -> Value:
        """Return the value that a computed leaf is, or is a view of."""
        leaf = self.leaves[i]
        value: Value = leaf.what if leaf.root is None else self.roots[leaf.root]
        return value

    def is_view_of(self, i: int, places: Container[int]) -> bool:
        """Return whether a leaf is a tensor over the memory of one of the environment's tensors."""
        leaf = self.leaves[i]
        return leaf.kind in ("view", "shared") and leaf.what.place in places

    def left(self) -> Iterator[tuple[int, Value]]:
        """Yield the values that a run leaves in tensors of the environment, with their places."""
        for effect in self.effects:
            value = self.leaves[effect.leaf].what if effect.kind == "data" else effect.value
            if isinstance(value, Value):
                yield effect.place, value

    def backward_of(self, known: Container[Value]) -> Backward | None:
        """Return the backward pass of a run, by the values that the run has made."""
        made = self.stacked
        return self.backward if made is None or made.saved[0] not in known else made

    def writes(self, outputs: set[Value], inputs: set[Value]) -> list[tuple[Value, Value]]:
        """Return pairs of an output of the last program and the input that it may overwrite."""
        if self.repeats or self.backward is not None:
            return []
        needed = set(self.needs())
        return [(o, i) for o, i in self.origins if o in outputs and i in inputs and i not in needed]

    def renamed(self, known: dict[Value, Value]) -> Exit:
        """Return this exit with its values renamed to those of a graph."""

        def rename(value: Value) -> Value:
            return known.get(value, value)

        return replace(
            self,
            leaves=[
                leaf._replace(what=rename(leaf.what)) if isinstance(leaf.what, Value) else leaf
                for leaf in self.leaves
            ],
            effects=[
                effect if effect.value is None else effect._replace(value=rename(effect.value))
                for effect in self.effects
            ],
            backward=None if self.backward is None else self.backward.renamed(rename),
            origins=[(rename(o), rename(i)) for o, i in self.origins],
            roots=[rename(value) for value in self.roots],
            given=frozenset(map(rename, self.given)),
            said=[said.renamed(rename) for said in self.said],
            draws=[*map(rename, self.draws)],
        )

    def by_blocks(self) -> Exit:
        """Return this exit for a graph, which is differentiated block by block."""
        return replace(self, backward=None)

    def without_effects(self, put: Any) -> Exit:
        """Return an exit without effects, with `put` for the values written to open places."""
        made = copy.copy(self)
        made.put = put if self.put is not None else None
        made.effects = made.said = ()
        return made

    def say(
        self,
        known: dict[Value, Any],
        tensors: Sequence[Any],
        given: Any,
        drawn: Callable[[], Sequence[Any]] = tuple,
    ) -> None:
        """Make the recorded calls of ``print``, for the arguments `given`.

        Raises
        ------
        Missing: If ``print`` raises; `drawn` gives the random numbers of the run.
        """
        for n, said in enumerate(self.said):
            try:
                said.say((known, tensors, given))
            except BaseException as error:
                raise Missing(drawn(), [*[True] * n, error]) from error

    def finish(self, known: dict[Value, Any], tensors: list[Any], arrays: list[Any]) -> list[Any]:
        """Write to the environment, and return the leaves, still without history.

        `complete` then makes views of these leaves and stores leaves in the environment.
        """
        given = [*tensors, *arrays]
        roots: list[Any] = []
        for value in self.roots:
            roots.append(_held(value, known).copy() if self._copies(value) else known[value])
        leaves: list[Any] = []
        cells: dict[int, list[Any]] = {}
        for make in self._makers:
            leaves.append(make(known, given, roots, cells))
        if not self.effects and not self.late:
            return leaves
        writes = [effect for effect in self.effects if effect.kind == "write"]
        if len(writes) > 1:
            # one write may overwrite the source of another
            wanted = [(effect, _kept(effect.value, known, self.given)) for effect in writes]
        else:
            wanted = [(effect, _held(effect.value, known)) for effect in writes]
        for effect, array in wanted:
            target = given[effect.place]
            target = target._array() if isinstance(target, TensorBase) else target
            if target is not array:
                np.copyto(target, array)
        for i in self.late:
            # views of the current memory, before effects replace it
            leaf = self.leaves[i]
            if leaf.kind == "window":
                leaves[i] = leaf.what.shown(given[leaf.what.place])
            elif leaf.kind == "shared":
                leaves[i] = _shared(leaf, given)
            else:
                leaves[i] = _viewed(leaf, given[leaf.what.place])
        where = None
        for effect in self.effects:
            if effect.kind == "version":
                where = where or place()
                count(given[effect.place]._share_version(), effect.name, where, effect.writes)
        return leaves

    def _maker(self, leaf: Leaf) -> Callable[..., Any]:
        """Return the constructor of a leaf from values and the environment.

        It returns None for a leaf that is built later, from others or from the environment.
        """
        kind, value = leaf.kind, leaf.what
        if kind in ("tensor", "array"):
            return self._maker_of_array(leaf)
        if kind == "constant":
            return lambda known, given, roots, cells: value
        if kind == "given":
            return lambda known, given, roots, cells: given[value]
        if kind == "number":
            return lambda known, given, roots, cells: _held(value, known).item()
        return lambda known, given, roots, cells: None

    def _maker_of_array(self, leaf: Leaf) -> Callable[..., Any]:
        """Return the constructor of a computed leaf."""
        value, root, chain, strides = leaf.what, leaf.root, leaf.chain, leaf.strides
        edge = LEAF if leaf.leaf else None
        cls = None if leaf.cls is PORTS.tensor else leaf.cls
        copies, version, is_array = self._copies(value), leaf.version, leaf.kind == "array"
        is_scalar = self.is_scalar(leaf)

        def made(known: Any, given: Any, roots: list[Any], cells: Any) -> Any:
            if root is None:
                array = _held(value, known).copy() if copies else known[value]
            else:
                array = roots[root]
            for prim, params in chain:
                array = prim.kernel(array, **params)
            if strides is not None:
                array = lying(array, strides)
            if is_array:
                return np.asarray(array)
            tensor = new_tensor(array[()] if is_scalar else array, edge)
            if cls is not None:
                tensor.__class__ = cls
            if version is not None:
                count, name, first = version
                if count is None:
                    tensor._vc = InferenceCell()
                elif first < 0:
                    tensor._vc = given[~first]._share_version()
                else:
                    tensor._vc = cells.setdefault(first, [count, name])
            return tensor

        return made

    def is_scalar(self, leaf: Leaf) -> bool:
        """Return whether a computed leaf becomes a scalar of NumPy, not an array.

        NumPy computes with these several times as fast. But memory that the tape holds is shared.
        """
        value: Value = leaf.what
        if value.shape or leaf.root is not None or leaf.chain or leaf.strides is not None:
            return False
        if self.backward is None:
            return not self.outputs
        return value not in self.backward.checked

    def _copies(self, value: Value) -> bool:
        """Return whether a value must be copied before it is returned.

        Constants, memory of the environment and values that are returned twice are copied.
        """
        return value.constant is not None or self.repeats or value in self.given

    def complete(self, leaves: list[Any], tensors: list[Any]) -> Any:
        """Assemble the function's result from leaves that have their history."""
        if self.effects or self.parts or self.again:
            self._put_back(leaves, tensors)
        made = self.rebuild(leaves[: self.count])
        if self.put is None:
            return made
        result, values = made
        self.put(values)
        return result

    def _put_back(self, leaves: list[Any], tensors: list[Any]) -> None:
        """Make the leaves that derive from other leaves; set tensors' new memory and gradients."""
        for i in self.parts:
            leaves[i] = self._part(self.leaves[i], leaves)
        for i in self.again:
            leaves[i] = leaves[self.leaves[i].what]
        for effect in self.effects:
            if effect.kind in ("write", "version"):
                continue
            tensor = tensors[effect.place]
            if effect.kind == "no grad":
                if tensor._ext is not None:
                    tensor._ext.grad = None
            elif effect.kind == "data":
                tensor._payload = leaves[effect.leaf]._array()
            elif effect.kind == "grad":
                tensor._extra().grad = leaves[effect.leaf]

    def _part(self, leaf: Leaf, leaves: list[Any]) -> Any:
        """Make the view of another leaf, which may itself be a view of a leaf."""
        place = leaf.what.place
        if leaves[place] is None:
            leaves[place] = self._part(self.leaves[place], leaves)
        return _viewed(leaf, leaves[place])


def _viewed(leaf: Leaf, source: Any) -> Any:
    """Make a leaf that is a view of a tensor."""
    made = leaf.what.made(source)
    if made.__class__ is not leaf.cls:
        made.__class__ = leaf.cls
    return made


def _held(value: Value | None, known: dict[Value, Any]) -> Any:
    assert value is not None
    return known[value] if value.constant is None else value.constant


def _kept(value: Value | None, known: dict[Value, Any], given: frozenset[Value]) -> Any:
    """Like `_held`, but copy an input, whose memory may be overwritten before it is read."""
    array = _held(value, known)
    return array.copy() if value in given else array


def _shared(leaf: Leaf, given: list[Any]) -> Any:
    """Make a tensor over memory of the environment that is not a known view of it."""
    view = leaf.what
    cell = None if view.cell is None else given[view.cell]._share_version()
    made = new_tensor(view.shown(given[view.place]), LEAF if leaf.leaf else None, cell)
    if leaf.cls is not None:
        made.__class__ = leaf.cls
    return made
