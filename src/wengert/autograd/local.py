"""Layer 7 · autograd: local derivatives, taken inside a rule with respect to its own tensors.

NOTE [local derivatives]
A rule that calls a user's function again differentiates it with respect to tensors that have
their own histories. One history may lead to another of these tensors, or to one that the function
closes over. The rule needs only the partial derivatives; the walk that called the rule handles the
rest. So the function gets each tensor after a *gate*: a new tensor over the same memory, whose
history ends at a node without edges while the local derivative is taken. Then the gates open
permanently: their edges lead on, so that the result can be differentiated through them as usual.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from wengert.autograd.batches import gradients_of_batch
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, OutputEdge, TensorBase, alike, new_tensor
from wengert.tape.node import Node, Unrecorded, edge_of, next_sequence

_MANY = 8
"""The number of vectors from which one batched pass is faster."""


class Gate(Node):
    """The node of a gate: it passes its cotangent on, and has no edges while it is shut."""

    __slots__ = ()
    label: ClassVar[str] = "Gate"

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        return (g,)

    apply_in = apply


class Gates:
    """Gates before some tensors, shut until they are opened together."""

    __slots__ = ("_shut",)

    def __init__(self) -> None:
        self._shut: list[tuple[Gate, Any]] = []

    def before(self, tensors: Iterable[Any]) -> list[Any]:
        """Return aliases of `tensors` after gates, and tensors without history unchanged."""
        return [t if t._edge is None else self._gated(t) for t in tensors]

    def _gated(self, tensor: Any) -> Any:
        gate: Any = Gate.__new__(Gate)
        gate.edges = (None,)
        gate._seq = next_sequence()
        gate._ext = None
        self._shut.append((gate, edge_of(tensor)))
        return new_tensor(tensor._array(), gate, tensor._share_version())

    def open(self) -> None:
        """Open the gates, so that gradients pass from now on."""
        while self._shut:
            gate, edge = self._shut.pop()
            gate.edges = (edge,)


def leaf(tensor: Any, wanted: bool = True) -> Any:
    """Make a leaf over the memory of `tensor`; it requires a gradient if `wanted`."""
    edge = LEAF if wanted else None
    return alike(new_tensor(tensor._array(), edge, tensor._share_version()), tensor)


def products(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    vectors: Sequence[Any],
    create_graph: bool = False,
) -> list[Any]:
    """Return the products of `vectors` with the Jacobian of `outputs`; None without a path.

    Outputs without history contribute nothing, inputs without one get None. The graph is kept.
    """
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o._edge is not None]
    wanted = [t for t in inputs if t._edge is not None]
    if not pairs or not wanted:
        return [None] * len(inputs)
    sources, seeds = zip(*pairs, strict=True)
    grads = iter(run_grad(sources, wanted, seeds, True, create_graph))
    return [None if t._edge is None else next(grads) for t in inputs]


def rows(outputs: Sequence[Any], inputs: Sequence[Any], vectors: Sequence[Any]) -> list[Any]:
    """Return `products` for a batch of vectors, as arrays with the batch dimension first.

    Parameters
    ----------
    vectors: For each output, an array of cotangents with the batch dimension first.
    """
    count = len(vectors[0])
    if count >= _MANY:
        # in one pass, unless a rule on the path works on plain numbers
        with contextlib.suppress(RuntimeError, TypeError, NotImplementedError):
            return _in_one(outputs, inputs, vectors)
    found: list[Any] = [None] * len(inputs)
    for row in range(count):
        grads = products(outputs, inputs, [new_tensor(vector[row]) for vector in vectors])
        for i, grad in enumerate(grads):
            if grad is not None:
                if found[i] is None:
                    found[i] = np.zeros((count, *grad._payload.shape), grad._payload.dtype)
                found[i][row] = grad._payload
    return found


def _in_one(outputs: Sequence[Any], inputs: Sequence[Any], vectors: Sequence[Any]) -> list[Any]:
    pairs = [
        (o, new_tensor(v)) for o, v in zip(outputs, vectors, strict=True) if o._edge is not None
    ]
    wanted = [t for t in inputs if t._edge is not None]
    if not pairs or not wanted:
        return [None] * len(inputs)
    sources, seeds = zip(*pairs, strict=True)
    grads = iter(gradients_of_batch(sources, wanted, seeds, True, False))
    found = [None if t._edge is None else next(grads) for t in inputs]
    return [None if g is None else g._payload for g in found]


def closed_over(outputs: Iterable[Any], own: Iterable[Any]) -> list[Any]:
    """Return the leaves that the history of `outputs` leads to, other than those of `own`."""
    known = {id(tensor) for tensor in own}
    stack = [edge_of(tensor) for tensor in outputs]
    seen: set[int] = set()
    found: list[Any] = []
    while stack:
        edge = stack.pop()
        if isinstance(edge, OutputEdge):
            edge = edge.node
        if edge is None or edge.__class__ is Unrecorded or id(edge) in seen or id(edge) in known:
            continue
        seen.add(id(edge))
        if isinstance(edge, TensorBase):
            found.append(edge)
        else:
            stack += edge.edges
    return found
