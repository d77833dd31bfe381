"""Layer 8 · compiler: what a run of a compiled function leaves behind: results and effects."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.base.ports import PORTS
from wengert.compiler.ir.programs import Value
from wengert.compiler.tracing.blocks import Missing
from wengert.compiler.tracing.memory import lying
from wengert.compiler.tracing.node import Backward
from wengert.compiler.tracing.prints import Said
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.modes import MODE, changed, current_mode
from wengert.tape.record import T
from wengert.tape.versions import InferenceCell

__all__ = ["Effect", "Exit", "Leaf", "View"]


class View(NamedTuple):
    """A result that shares the memory of a tensor or array of the environment, or of another leaf.

    Attributes
    ----------
    place: Which one.
    chain: The views, as (primitive, parameters), that lead to it.
    recorded: Whether it was recorded, or would have been: its history is theirs.
    no_write: Why it refuses to be written to, if it does.
    cell: The place whose version cell it shares, if it shares one without being known as a view.
    leaf: Whether it is a leaf that requires a gradient.
    """

    place: int
    chain: tuple[tuple[Any, dict[str, Any]], ...]
    recorded: bool = False
    no_write: str | None = None
    cell: int | None = None
    leaf: bool = False

    def made(self, source: Any) -> Any:
        """The view of a tensor, which is known as its view."""
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
        """The array that it shows of a tensor or array."""
        array = source._array() if isinstance(source, TensorBase) else source
        for prim, params in self.chain:
            array = prim.kernel(array, **params)
        return array


class Leaf(NamedTuple):
    """One leaf of what the function returned.

    Attributes
    ----------
    kind
        ``"constant"``; ``"given"``: a tensor or array of the environment; ``"view"``: of one;
        ``"shared"``: a tensor over its memory, known as no view; ``"window"``: an array over it;
        ``"again"``: an earlier leaf; ``"part"``: a view of another leaf; ``"tensor"``,
        ``"number"`` or ``"array"``: computed.
    what: The object, its place in the environment or among the leaves, or its value.
    cls: The class of a tensor.
    leaf: Whether a tensor is a leaf that requires a gradient.
    root, chain
        The memory that it shares with other leaves, among `Exit.roots`, and the views that lead
        from there to it; None where it has memory of its own, of which it may be such a view.
    strides
        How its elements lie, in bytes, where that is neither row by row nor follows from `chain`.
    version
        Of a tensor that was written to: how often, by which operation, and the first leaf that
        shares its version cell; ``~place`` for that of a tensor of the environment. Without a count
        it was made in inference mode.
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
    """Something that a run does to a tensor or array of the environment.

    Attributes
    ----------
    kind
        ``"write"`` to its memory; ``"version"``: writes to it are counted; ``"data"``: it gets
        other memory; ``"grad"``: it gets another gradient; ``"no grad"``: it loses it.
    place: Which tensor or array.
    value: What is written.
    name: The name of the operation that wrote last.
    writes: How many writes there were.
    leaf: The leaf that is the new gradient, or whose memory the tensor gets.
    made: That leaf in the run that was traced, until its place is known.
    """

    kind: str
    place: int
    value: Value | None = None
    name: str = ""
    writes: int = 1
    leaf: int = -1
    made: Any = None


class Exit:
    """The results and effects of one trace.

    Attributes
    ----------
    leaves, rebuild: What the function returned.
    effects: In the order in which they are to happen.
    backward: How to differentiate the results, if any requires a gradient.
    outputs: The places among the leaves of those that do.
    derivatives: The backward passes of the blocks of a trace that comes back to states.
    draws: The random numbers that the trace draws.
    repeats: Whether one value is handed out in several places.
    origins: For each value that is written over memory of the environment, the input that is there.
    count: How many of the leaves are returned; the others are left behind, or bases of views.
    roots: The memory that leaves share.
    given: The inputs, whose memory is the environment's.
    said: What is printed before anything is written.
    put: What writes to objects that the function changes, if there are any.
    kept: The places of the results that the backward pass reads.
    reads: The places of the tensors of the environment whose memory it reads.
    late, parts, again
        The places of the leaves that are not values: of memory of the environment, of other leaves,
        and of earlier ones.
    """

    def __init__(
        self,
        leaves: Sequence[Leaf],
        rebuild: Callable[[list[Any]], Any],
        effects: Sequence[Effect],
        backward: Backward | None,
        outputs: Sequence[int],
        origins: Sequence[tuple[Value, Value]] = (),
        count: int | None = None,
        roots: Sequence[Value] = (),
        given: frozenset[Value] = frozenset(),
        said: Sequence[Said] = (),
        put: Callable[[list[Any]], None] | None = None,
    ) -> None:
        self.leaves = tuple(leaves)
        self.rebuild = rebuild
        self.effects = tuple(effects)
        self.backward = backward
        self.outputs = tuple(outputs)
        self.origins = tuple(origins)
        self.call: Any = None
        self.draws: Sequence[Value] = ()
        self.reads: tuple[int, ...] = ()
        self.derivatives: Any = None
        self.count = len(self.leaves) if count is None else count
        self.roots = tuple(roots)
        self.given = given
        self.said = tuple(said)
        self.put = put
        self.streams = frozenset([one.stream for one in said])
        own = [*self.roots, *[effect.value for effect in effects if effect.value is not None]]
        own += [leaf.what for leaf in leaves if isinstance(leaf.what, Value) and leaf.root is None]
        # what is handed out twice must not be one array
        self.repeats = len(set(own)) < len(own)
        read = () if backward is None else backward.saved
        self.kept = [
            i for i, leaf in enumerate(self.leaves) if leaf.kind == "tensor" and leaf.what in read
        ]
        self.late, self.parts, self.again = (
            [i for i, leaf in enumerate(self.leaves) if leaf.kind in kinds]
            for kinds in (("window", "shared", "view"), ("part",), ("again",))
        )
        self._makers = [self._maker(leaf) for leaf in self.leaves]

    def needs(self) -> Iterator[Value]:
        """The values that must be known at the end."""
        yield from self.roots
        for leaf in self.leaves:
            if isinstance(leaf.what, Value) and leaf.root is None:
                yield leaf.what
        for effect in self.effects:
            if effect.value is not None:
                yield effect.value
        for said in self.said:
            yield from said.values()
        if self.backward is not None:
            yield from self.backward.saved

    def left(self) -> Iterator[tuple[int, Value]]:
        """The values that a run leaves in tensors of the environment, with their places."""
        for effect in self.effects:
            value = self.leaves[effect.leaf].what if effect.kind == "data" else effect.value
            if isinstance(value, Value):
                yield effect.place, value

    def writes(self, outputs: set[Value], inputs: set[Value]) -> list[tuple[Value, Value]]:
        """Which outputs of the last program may be computed over the memory of an input."""
        if self.repeats or self.backward is not None:
            return []
        needed = set(self.needs())
        return [(o, i) for o, i in self.origins if o in outputs and i in inputs and i not in needed]

    def renamed(self, known: dict[Value, Value]) -> Exit:
        """The same in the values of a tree."""

        def rename(value: Value) -> Value:
            return known.get(value, value)

        made = Exit(
            [
                leaf._replace(what=rename(leaf.what)) if isinstance(leaf.what, Value) else leaf
                for leaf in self.leaves
            ],
            self.rebuild,
            [
                effect if effect.value is None else effect._replace(value=rename(effect.value))
                for effect in self.effects
            ],
            None if self.backward is None else self.backward.renamed(rename),
            self.outputs,
            [(rename(o), rename(i)) for o, i in self.origins],
            self.count,
            [rename(value) for value in self.roots],
            frozenset(map(rename, self.given)),
            [said.renamed(rename) for said in self.said],
            self.put,
        )
        made.call, made.derivatives, made.reads = self.call, self.derivatives, self.reads
        made.draws = [*map(rename, self.draws)]
        return made

    def by_blocks(self) -> Exit:
        """The same for a graph, which is differentiated block by block."""
        made = copy.copy(self)
        made.backward = None
        return made

    def without_effects(self, put: Any) -> Exit:
        """The same results alone, which `put` gets."""
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
        """Print what the function prints for the arguments `given`.

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
        """Write to the environment, and give the leaves as far as they have no history.

        What makes views of these, and leaves them behind, is `complete`.
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
            # what one of them reads, another one may write to
            wanted = [(effect, _kept(effect.value, known, self.given)) for effect in writes]
        else:
            wanted = [(effect, _held(effect.value, known)) for effect in writes]
        for effect, array in wanted:
            target = given[effect.place]
            target = target._array() if isinstance(target, TensorBase) else target
            if target is not array:
                np.copyto(target, array)
        for i in self.late:
            # of the memory that is there before others take its place
            leaf = self.leaves[i]
            if leaf.kind == "window":
                leaves[i] = leaf.what.shown(given[leaf.what.place])
            elif leaf.kind == "shared":
                leaves[i] = _shared(leaf, given)
            else:
                leaves[i] = _viewed(leaf, given[leaf.what.place])
        for effect in self.effects:
            if effect.kind == "version":
                cell = given[effect.place]._share_version()
                if cell.__class__ is not InferenceCell:
                    cell[0] += effect.writes
                    cell[1] = effect.name
        return leaves

    def _maker(self, leaf: Leaf) -> Callable[..., Any]:
        """What makes a leaf of known values and the environment, if it needs no other leaves."""
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
        """What makes a leaf that is computed."""
        value, root, chain, strides = leaf.what, leaf.root, leaf.chain, leaf.strides
        edge = LEAF if leaf.leaf else None
        cls = None if leaf.cls is PORTS.tensor else leaf.cls
        copies, version, is_array = self._copies(value), leaf.version, leaf.kind == "array"

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
            tensor = new_tensor(array, edge)
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

    def _copies(self, value: Value) -> bool:
        """Whether a value is handed out in memory of its own.

        It is a constant, memory of the environment, or handed out twice.
        """
        return value.constant is not None or self.repeats or value in self.given

    def complete(self, leaves: list[Any], tensors: list[Any]) -> Any:
        """What the function returns, from leaves that have got their history."""
        if self.effects or self.parts or self.again:
            self._put_back(leaves, tensors)
        made = self.rebuild(leaves[: self.count])
        if self.put is None:
            return made
        result, values = made
        self.put(values)
        return result

    def _put_back(self, leaves: list[Any], tensors: list[Any]) -> None:
        """Make the leaves of other leaves, and give tensors new memory and gradients."""
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
        """A view of another leaf, which may be one itself."""
        place = leaf.what.place
        if leaves[place] is None:
            leaves[place] = self._part(self.leaves[place], leaves)
        return _viewed(leaf, leaves[place])


def _viewed(leaf: Leaf, source: Any) -> Any:
    """A leaf that is a view of a tensor."""
    made = leaf.what.made(source)
    if made.__class__ is not leaf.cls:
        made.__class__ = leaf.cls
    return made


def _held(value: Value | None, known: dict[Value, Any]) -> Any:
    assert value is not None
    return known[value] if value.constant is None else value.constant


def _kept(value: Value | None, known: dict[Value, Any], given: frozenset[Value]) -> Any:
    """The same, where the memory of inputs may be overwritten before it is read."""
    array = _held(value, known)
    return array.copy() if value in given else array


def _shared(leaf: Leaf, given: list[Any]) -> Any:
    """A tensor over memory of the environment, which is known as no view of it."""
    view = leaf.what
    cell = None if view.cell is None else given[view.cell]._share_version()
    made = new_tensor(view.shown(given[view.place]), LEAF if leaf.leaf else None, cell)
    if leaf.cls is not None:
        made.__class__ = leaf.cls
    return made
