"""Layer 8 · compiler: what a run of a compiled function leaves behind: results and effects."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.ir import Value
from wengert.compiler.node import Backward
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.record import T
from wengert.tape.versions import InferenceCell

__all__ = ["Effect", "Exit", "Leaf"]


class View(NamedTuple):
    """A result that shares the memory of a tensor or array of the environment.

    Attributes
    ----------
    place
        Which one.
    chain
        The views, as (primitive, parameters), that lead to it.
    recorded
        Whether its history is theirs; otherwise it has none.
    """

    place: int
    chain: tuple[tuple[Any, dict[str, Any]], ...]
    recorded: bool

    def made(self, given: Any) -> Any:
        """The view of what is there in a run."""
        if self.recorded:
            for prim, params in self.chain:
                given = getattr(T, prim.name)(given, **params)
            return given if self.chain else T.alias(given)
        tensor = given if isinstance(given, TensorBase) else new_tensor(given)
        array = tensor.array()
        for prim, params in self.chain:
            array = prim.kernel(array, **params)
        return new_tensor(array, None, tensor.share_version())


class Leaf(NamedTuple):
    """One leaf of what the function returned.

    Attributes
    ----------
    kind
        ``"constant"``, ``"given"`` (a tensor or array of the environment), ``"view"`` (of one),
        ``"tensor"``, ``"number"`` or ``"array"``.
    what
        The object, its place in the environment, or its value.
    cls
        The class of a tensor.
    leaf
        Whether a tensor is a leaf that requires a gradient.
    """

    kind: str
    what: Any
    cls: Any = None
    leaf: bool = False


class Effect(NamedTuple):
    """Something that a run does to a tensor of the environment.

    Attributes
    ----------
    kind
        ``"write"`` to its memory, ``"data"``: it gets other memory, ``"grad"``: it gets another
        gradient, ``"no grad"``: it loses it.
    place
        Which tensor.
    value
        What is written, or the new gradient.
    name
        The name of the operation that wrote last.
    writes
        How many writes there were.
    """

    kind: str
    place: int
    value: Value | None = None
    name: str = ""
    writes: int = 1


class Exit:
    """The results and effects of one trace.

    Attributes
    ----------
    leaves, rebuild
        What the function returned.
    effects
        In the order in which they are to happen.
    backward
        How to differentiate the results, if any requires a gradient.
    outputs
        The places among the leaves of those that do.
    derivatives
        The backward passes of the blocks of a trace that comes back to states.
    repeats
        Whether one value is handed out in several places.
    origins
        For each value that is written over memory of the environment, the input that is there.
    """

    def __init__(
        self,
        leaves: Sequence[Leaf],
        rebuild: Callable[[list[Any]], Any],
        effects: Sequence[Effect],
        backward: Backward | None,
        outputs: Sequence[int],
        origins: Sequence[tuple[Value, Value]] = (),
    ) -> None:
        self.leaves = tuple(leaves)
        self.rebuild = rebuild
        self.effects = tuple(effects)
        self.backward = backward
        self.outputs = tuple(outputs)
        self.origins = tuple(origins)
        self.call: Any = None
        self.derivatives: Any = None
        own = [leaf.what for leaf in leaves if isinstance(leaf.what, Value)]
        own += [effect.value for effect in effects if effect.value is not None]
        # what is handed out twice must not be one array
        self.repeats = len(set(own)) < len(own)

    def needs(self) -> Iterator[Value]:
        """The values that must be known at the end."""
        for leaf in self.leaves:
            if isinstance(leaf.what, Value):
                yield leaf.what
        for effect in self.effects:
            if effect.value is not None:
                yield effect.value
        if self.backward is not None:
            yield from self.backward.saved

    def writes(self, outputs: set[Value], inputs: set[Value]) -> list[tuple[Value, Value]]:
        """Which outputs of the last program may be computed over the memory of an input."""
        if self.repeats or self.backward is not None:
            return []
        return [(o, i) for o, i in self.origins if o in outputs and i in inputs]

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
        )
        made.call, made.derivatives = self.call, self.derivatives
        return made

    def by_blocks(self) -> Exit:
        """The same for a graph, which is differentiated block by block."""
        made = copy.copy(self)
        made.backward = None
        return made

    def without_effects(self) -> Exit:
        """The same results alone."""
        made = copy.copy(self)
        made.effects = ()
        return made

    def finish(self, known: dict[Value, Any], tensors: list[Any], arrays: list[Any]) -> Any:
        """Let the effects happen, and give what the function returns."""

        def array_of(value: Value) -> Any:
            if value.constant is not None:
                return value.constant.copy()
            array = known[value]
            return array.copy() if self.repeats else array

        for effect in self.effects:
            _do(effect, tensors[effect.place], array_of)
        leaves: list[Any] = []
        for leaf in self.leaves:
            if leaf.kind == "tensor":
                made = new_tensor(array_of(leaf.what), LEAF if leaf.leaf else None)
                if leaf.cls is not None:
                    made.__class__ = leaf.cls
                leaves.append(made)
            elif leaf.kind == "constant":
                leaves.append(leaf.what)
            elif leaf.kind == "given":
                leaves.append((tensors + arrays)[leaf.what])
            elif leaf.kind == "view":
                leaves.append(leaf.what.made((tensors + arrays)[leaf.what.place]))
            elif leaf.kind == "number":
                value = leaf.what
                held = known[value] if value.constant is None else value.constant
                leaves.append(held.item())
            else:
                leaves.append(np.asarray(array_of(leaf.what)))
        return leaves


def _do(effect: Effect, tensor: Any, array_of: Callable[[Value], Any]) -> None:
    if effect.kind == "no grad":
        if tensor.ext is not None:
            tensor.ext.grad = None
        return
    assert effect.value is not None
    array = array_of(effect.value)
    if effect.kind == "write":
        _write(tensor, array, effect)
    elif effect.kind == "data":
        tensor.payload = array
        tensor.vc = None
    else:
        tensor.extra().grad = new_tensor(array)


def _write(tensor: TensorBase, array: Any, effect: Effect) -> None:
    target = tensor.array()
    cell = tensor.share_version()
    if cell.__class__ is not InferenceCell:
        cell[0] += effect.writes
        cell[1] = effect.name
    if target is not array:
        np.copyto(target, array)
