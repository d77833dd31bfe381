"""Layer 8 · compiler: the backward pass of a traced run, traced with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.base.errors import is_spent
from wengert.compiler.ir.decisions import Draw, Guard
from wengert.compiler.ir.programs import Step, Value, uses
from wengert.compiler.objects.purity import does_more
from wengert.compiler.tracing.environment import Environment, is_watched
from wengert.compiler.tracing.exit import Effect, Leaf
from wengert.compiler.tracing.memory import results_read
from wengert.compiler.tracing.node import (
    Backward,
    Between,
    cells_of,
    held_as_tensors,
    hidden_in,
    partials,
    read_at_the_end,
    views_of,
)
from wengert.compiler.tracing.outcome import payload_of, views_among
from wengert.compiler.tracing.sym import Sym
from wengert.compiler.tracing.trace import Trace
from wengert.tape.base import LEAF, new_tensor, node_of
from wengert.tape.masked import undecided
from wengert.tape.node import edge_of
from wengert.tape.rules import FLAT


def recorded(leaves: list[Any], made: list[Leaf]) -> list[int]:
    """Return the places of the leaves that have a history."""
    return [
        i
        for i, leaf in enumerate(leaves)
        if made[i].kind in ("tensor", "shared")
        and leaf._edge is not None
        and leaf._edge is not LEAF
    ]


class _Pullback:
    """The traced backward pass of the leaves with a history, from cotangents of ones.

    Attributes
    ----------
    outputs: The leaves that have a history.
    places: The places of the arguments that may have a gradient.
    nodes: The nodes between them.
    inside: The leaves that the function makes.
    start: Where the steps of the pass begin.
    cotangents: The cotangents of `outputs`.
    """

    def __init__(self, trace: Trace, outputs: list[Any], environment: Environment) -> None:
        tensors = environment.tensors
        self.trace, self.outputs, self.environment = trace, outputs, environment
        differentiable = [is_differentiable(tensor._payload.dtype) for tensor in tensors]
        self.places = [
            i for i, t in enumerate(tensors) if t._edge is not None and differentiable[i]
        ]
        self.nodes = [*trace.reachable([leaf._edge for leaf in outputs])]
        known = set(map(id, tensors))
        self.inside = [leaf for leaf in self.nodes if leaf._seq > 0 and id(leaf) not in known]
        self.start = len(trace.items)
        self.cotangents: list[Sym] = []

    def why_not(self, leaves: list[Any]) -> str | None:
        """Return why the pass cannot be traced, or None."""
        tensors = self.environment.tensors
        if not self.places:
            return "a result has a history that does not lead to an argument"
        if any(is_watched(tensors[i]) for i in self.places) or any(map(_retains, self.nodes)):
            return "a gradient on the way back has hooks, or is retained"
        more = does_more(self.nodes)
        if more is not None:
            return f"{more} may do more than compute"
        if not {*map(id, leaves)}.isdisjoint(map(id, self.inside)):
            return "a gradient leads to a leaf that it makes and does not keep to itself"
        return None

    def pull(self, sources: list[Any]) -> Sequence[Any]:
        seeds = [new_tensor(g) for g in self.cotangents]
        own = Between(float("-inf"), self.trace.start)
        return partials(self.outputs, sources, seeds, own)

    def traced(
        self,
        leaves: list[Any],
        made: list[Leaf],
        effects: Sequence[Effect],
    ) -> Backward | None:
        """Trace the pass; return None, and end the trace, where it cannot be part of it."""
        trace, environment = self.trace, self.environment
        tensors = environment.tensors
        payloads = [leaf._payload for leaf in self.outputs]
        self.cotangents = [trace.input(np.ones(p.shape, p.dtype)) for p in payloads]
        held = held_as_tensors(self.nodes, tensors) if environment.is_outermost else {}
        cells = cells_of(self.nodes)
        try:
            checked = self._read_inside()
        # a user's backward may raise anything: the function runs uncompiled and raises it there
        except Exception:
            trace.give_up("the way back to a tensor that it makes has been walked or written to")
            return None
        try:
            with undecided() as noted:
                reached = environment.pulled(self.places, self.pull)
        except Exception as error:
            return self._raises(error)
        steps = self._taken()
        if any(isinstance(item, Guard | Draw) for item in steps):
            trace.give_up("the backward pass decides on values")
            return None
        found = [trace.symbol(g).value for _, g in reached]
        views = views_among(trace, leaves, made)
        inputs = {effect.value for effect in effects} | trace.origins() | {*views.values()}
        inputs |= {leaf.what for leaf in made if leaf.kind in ("tensor", "array")}
        passed, gradients = read_at_the_end(views_of(trace.items, inputs), steps, found)
        backward = Backward(
            passed,
            [g.value for g in self.cotangents],
            gradients,
            [place for place, _ in reached],
            hidden=hidden_in(noted),
            masks=noted.masks,
            hides=noted.hides,
            held=held,
            flat=any(FLAT[n.prim] for n in self.nodes if getattr(n, "prim", None)),
        )
        backward.checked = (*backward.saved, *checked)
        for i, value in views.items():
            if value in backward.saved:
                # writes through the result reach what the tape has saved
                chain = trace.symbol(payload_of(leaves[i])).chain
                made[i] = made[i]._replace(what=value, chain=chain)
        counted = [
            cells is None or not {id(leaf), id(getattr(leaf, "_vc", None))}.isdisjoint(cells)
            for leaf in leaves
        ]
        backward.kept = results_read(trace.items, made, backward.checked, counted)
        return backward

    def _taken(self) -> list[Any]:
        """Take the steps of the pass off the trace."""
        items = self.trace.items
        steps = items[self.start :]
        del items[self.start :]
        return steps

    def _read_inside(self) -> set[Value]:
        """Return what an unrestricted pass reads, which reaches the leaves made inside, too."""
        if not self.inside:
            return set()
        self.pull(self.inside)
        return {value for step in self._taken() if isinstance(step, Step) for value in uses(step)}

    def _raises(self, error: Exception) -> Backward:
        """Return a backward pass that raises `error`."""
        trace, environment = self.trace, self.environment
        self._taken()
        if not is_spent(error):
            trace.give_up("its backward pass raises where gradients are asked for by name")
        places = self.places
        # the function has freed the graph, or has overwritten values that it saved
        if environment.is_outermost:
            edges = [leaf._edge for leaf in self.outputs]
            edges += [edge for node in self.nodes if node._seq < 0 for edge in node.edges]
            led = {id(node_of(edge)) for edge in edges if edge is not None}
            tensors = environment.tensors
            places = [i for i in places if id(node_of(edge_of(tensors[i]))) in led]
        return Backward((), (), [None] * len(places), places, error)


def differentiated(
    trace: Trace,
    leaves: list[Any],
    made: list[Leaf],
    outputs: Sequence[int],
    environment: Environment,
    effects: Sequence[Effect],
) -> Backward | None:
    """Trace the backward pass of the leaves at the places `outputs`; None if there is none."""
    if not outputs or trace.broken is not None:
        return None
    pullback = _Pullback(trace, [leaves[i] for i in outputs], environment)
    why = pullback.why_not(leaves)
    if why is not None:
        trace.give_up(why)
        return None
    return pullback.traced(leaves, made, effects)


def _retains(node: Any) -> bool:
    """Return whether a node has an output that retains its gradient."""
    retained = getattr(getattr(node, "_ext", None), "retained", None) or {}
    return any(reference() is not None for reference in retained.values())
