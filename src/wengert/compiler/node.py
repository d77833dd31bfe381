"""Layer 8 · compiler: the node that a compiled call leaves on the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from wengert.base import errors
from wengert.compiler.ir import Program, Step, Value, substitute, uses
from wengert.tape.base import FREED, OutputEdge, TensorBase, version_of, version_then
from wengert.tape.node import Node, edge_of, next_sequence

__all__ = ["Backward", "CompiledBackward", "attach"]


class Backward:
    """What is known of the derivative of a compiled call when it has been traced.

    Attributes
    ----------
    steps
        Those of the backward pass.
    cotangents
        The values that stand for the cotangents, one for each output that requires a gradient.
    gradients
        For each tensor that the outputs depend on the value of its gradient, or None.
    sources
        The places of these tensors in the environment.
    saved
        The values of the forward pass that the steps read.
    spent
        Whether there is no derivative, since the function has walked its graph itself or has
        written to what was saved.
    why
        The error that says so.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        cotangents: Sequence[Value],
        gradients: Sequence[Value | None],
        sources: Sequence[int],
        why: RuntimeError | None = None,
    ) -> None:
        self.steps = list(steps)
        self.cotangents = tuple(cotangents)
        self.gradients = tuple(gradients)
        self.sources = tuple(sources)
        self.executable: Any = None
        self.spent = not cotangents
        self.why = why
        self._follows: list[set[Value]] | None = None
        own = {out for step in self.steps for out in step.outs} | set(cotangents)
        found: dict[Value, None] = {}
        for step in self.steps:
            found.update({v: None for v in uses(step) if v not in own and v.constant is None})
        for value in gradients:
            if value is not None and value not in own and value.constant is None:
                found[value] = None
        self.saved = tuple(found)

    def renamed(self, rename: Callable[[Value], Value]) -> Backward:
        """The same in other values."""
        steps = [
            Step(
                step.prim,
                [rename(v) for v in step.args],
                {n: substitute(p, rename) for n, p in step.params.items()},
                step.outs,
                step.site,
            )
            for step in self.steps
        ]
        gradients = [None if v is None else rename(v) for v in self.gradients]
        return Backward(steps, self.cotangents, gradients, self.sources, self.why)

    def reached(self, present: Sequence[bool]) -> list[bool]:
        """Which gradients there are, where only some of the outputs have got a cotangent."""
        if all(present):
            return [value is not None for value in self.gradients]
        if self._follows is None:
            known = {value: {value} for value in self.cotangents}
            for step in self.steps:
                found = set().union(*[known.get(v, ()) for v in uses(step)])
                known.update(dict.fromkeys(step.outs, found))
            self._follows = [set() if v is None else known.get(v, set()) for v in self.gradients]
        given = {v for v, there in zip(self.cotangents, present, strict=True) if there}
        return [not given.isdisjoint(found) for found in self._follows]

    def program(self) -> Program:
        """The backward pass: from what was saved and the cotangents to the gradients."""
        outputs = [value for value in self.gradients if value is not None]
        return Program((*self.saved, *self.cotangents), self.steps, outputs)


class CompiledBackward(Node):
    """A whole compiled call on the tape."""

    __slots__ = ("call", "given", "outputs_meta", "results", "s_inputs", "saved")
    __module__ = "wengert.autograd"
    label: ClassVar[str] = "CompiledBackward"
    several: ClassVar[bool] = True
    call: Any
    given: Any
    results: Any
    saved: Any
    s_inputs: Any

    def release(self) -> None:
        """Let go of what was saved."""
        self.saved = FREED
        self.s_inputs = ()
        self.results = ()
        self.given = None

    def _check(self) -> None:
        if self.saved is FREED:
            raise errors.backward_twice(self.label)
        if self.call.why is not None:
            raise RuntimeError(str(self.call.why))
        for i, tensor in enumerate(self.s_inputs):
            if version_of(tensor) != version_then(self, i):
                raise errors.modified_in_place(
                    tensor.payload,
                    f"an argument of {self.call.name}()",
                    tensor.vc,
                    version_then(self, i),
                    self.label,
                    "inputs",
                )
        for cell, version, array in self.results:
            if cell[0] != version:
                raise errors.modified_in_place(
                    array, f"a result of {self.call.name}()", cell, version, self.label, "results"
                )

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients, by the compiled backward pass."""
        self._check()
        parts = [
            np.zeros(shape, dtype) if part is None else part
            for part, (shape, dtype) in zip(g, self.outputs_meta, strict=True)
        ]
        found = self.call.pull(self.saved, parts, [part is not None for part in g])
        if not keep:
            self.release()
        return tuple(
            None if edge is None else part for edge, part in zip(edges, found, strict=True)
        )

    def apply_in(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients as functions of the inputs: the function is run again, recorded."""
        self._check()
        if not any(isinstance(part, TensorBase) for part in g):
            return self.apply(g, keep, edges)
        found = self.call.pull_again(self.given, list(self.s_inputs), g)
        if not keep:
            self.release()
        return tuple(
            None if edge is None else part for edge, part in zip(edges, found, strict=True)
        )


def attach(
    call: Any,
    tensors: Sequence[Any],
    outs: Sequence[Any],
    saved: Any,
    given: Any,
    kept: Sequence[Any] = (),
) -> None:
    """Record a call.

    Parameters
    ----------
    call
        What nodes of the trace have in common.
    tensors
        What the outputs depend on.
    outs
        The outputs that require a gradient.
    saved
        What the backward pass reads.
    given
        The arguments of the call, positional and named.
    kept
        The results whose memory the backward pass reads.
    """
    node: Any = CompiledBackward.__new__(CompiledBackward)
    node.edges = tuple(edge_of(tensor) for tensor in tensors)
    node.seq = next_sequence()
    node.ext = None
    node.call = call
    node.saved = saved
    node.results = [(t.share_version(), version_of(t), t.payload) for t in kept]
    node.given = given
    node.s_inputs = tuple(tensors)
    node.versions = tuple(version_of(tensor) for tensor in tensors)
    node.outputs_meta = tuple((out.payload.shape, out.payload.dtype) for out in outs)
    for i, out in enumerate(outs):
        out.edge = OutputEdge(node, i)
