"""Layer 8 · compiler: the backward pass of a graph, block by block.

NOTE [backward passes of loops]
A run of a graph (NOTE [loops of Python] in `wengert.compiler.tracing.graph`) records the blocks
that it visits, and the backward pass visits them in reverse. Each block has a pass of its own, from
the cotangents of the slots after it to those of the slots before it and of the inputs. After a
native run, the whole backward pass is native, too (`wengert.compiler.tracing.reversal`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.ir.decisions import Guard
from wengert.compiler.ir.executable import Tape
from wengert.compiler.ir.programs import Program, Step, Value, apply
from wengert.compiler.tracing.blocks import Block, contiguous, key_of
from wengert.compiler.tracing.deduplicate import Programs
from wengert.compiler.tracing.node import (
    Backward,
    Between,
    Variants,
    hidden_in,
    partials,
    read_at_the_end,
    views_of,
)
from wengert.compiler.tracing.operations import S
from wengert.compiler.tracing.reversal import Reversal
from wengert.compiler.tracing.trace import Trace
from wengert.compiler.tracing.visits import Visits
from wengert.interp.levels import Lifted, namespace_of
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.masked import Undecided, is_below_mask, mark, nan_in, search, undecided
from wengert.tape.node import edge_of


class Derivative(NamedTuple):
    """The backward pass of a single block.

    Attributes
    ----------
    backward
        The pass from the cotangents of the slots after the block, or of the results, to those of
        the slots before it and of the inputs; of each, those that have a history.
    taken, given: The places of these slots: after the block, and before it.
    sources: The places in the environment of the inputs whose gradients follow those of the slots.
    written: The places of the slots before it whose memory the block writes to; ``~i`` for input i.
    """

    backward: Backward
    taken: tuple[int, ...] = ()
    given: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()
    written: tuple[int, ...] = ()

    def renamed(self, known: dict[Value, Value]) -> Derivative:
        """Return this derivative with its values renamed."""
        return self._replace(backward=self.backward.renamed(lambda v: known.get(v, v)))


def derived(
    trace: Trace, leaves: Sequence[Any], outputs: Sequence[int], tensors: Sequence[Any]
) -> list[Derivative]:
    """Trace the backward pass of every block, before the tape is freed."""
    guards = [item for item in trace.items if isinstance(item, Guard)]
    places = [i for i, t in enumerate(tensors) if t._edge is not None]
    if not outputs and not places:
        return [Derivative(Backward((), (), (), ()))] * (len(guards) + 1)
    found: dict[Any, Derivative] = {}
    visited = []
    views = views_of(trace.items, trace.origins())
    for before, guard in pairwise([None, *guards, None]):
        # visits of one block have one derivative
        key = (
            None if before is None else (before.state.key, key_of(before.outcome)),
            None if guard is None else guard.state.key,
        )
        if key not in found:
            ends = dict(guard.state.tensors) if guard else {k: leaves[k] for k in outputs}
            starts = dict(before.state.tensors) if before else {}
            newest = float("-inf") if guard is None else guard.state.mark
            span = Between(newest, trace.start if before is None else before.state.mark)
            made = _block_derived(trace, ends, starts, places, tensors, span, views)
            written = trace.written if guard is None else guard.state.written
            lies = [] if before is None else before.state.memory
            found[key] = made._replace(
                written=(
                    *[k for k, memory in enumerate(lies) if memory in written],
                    *[
                        ~i
                        for i, symbol in enumerate(trace.given)
                        if (symbol.memory or symbol.storage).first in written
                    ],
                )
            )
        visited.append(found[key])
    return visited


def _block_derived(
    trace: Trace,
    ends: dict[int, Any],
    starts: dict[int, Any],
    places: list[int],
    tensors: Sequence[Any],
    span: Between,
    views: dict[Value, Step],
) -> Derivative:
    begin = len(trace.items)
    cotangents = {
        k: trace.input(np.ones(t._payload.shape, t._payload.dtype)) for k, t in ends.items()
    }
    inputs = [*starts.values(), *[tensors[i] for i in places]]
    grads: list[Any] = [None] * len(inputs)
    inner = [k for k, t in ends.items() if _node(t) in span]
    noted = Undecided()
    if inner and inputs:
        try:
            with undecided() as noted:
                grads = partials(
                    [ends[k] for k in inner],
                    inputs,
                    [new_tensor(cotangents[k]) for k in inner],
                    span,
                )
        except RuntimeError:
            trace.give_up("a loop holds a history that it has walked itself")
    symbols = [None if g is None else trace.symbol(g._payload) for g in grads]
    for k, tensor in ends.items():
        if k in inner:
            continue
        # recorded before the block: its cotangent passes through
        for i, source in enumerate(inputs):
            if edge_of(source) is edge_of(tensor):
                have = symbols[i]
                symbols[i] = cotangents[k] if have is None else S.add(have, cotangents[k])
                break
    items = trace.items[begin:]
    steps = [item for item in items if isinstance(item, Step)]
    if len(steps) < len(items):
        trace.give_up("the backward pass decides on values")
    del trace.items[begin:]
    values = [None if s is None else s.value for s in symbols]
    steps, values = read_at_the_end(views, steps, values)
    backward = Backward(
        steps,
        [c.value for c in cotangents.values()],
        values,
        places,
        hidden=hidden_in(noted),
        masks=noted.masks,
        hides=noted.hides,
    )
    return Derivative(backward, tuple(ends), tuple(starts), tuple(places))


def _node(tensor: Any) -> Any:
    edge = tensor._edge
    return edge.node if edge is not LEAF and edge._seq == 0 else edge_of(tensor)


class Pullback:
    """The backward pass of the runs of a graph.

    Parameters
    ----------
    makers: The functions that compile programs.
    """

    def __init__(self, makers: Any) -> None:
        self._makers = makers
        self._programs = Programs(makers.finish)
        self._linked: dict[tuple[Block, tuple[bool, ...]], Reversal | None] = {}

    def forget(self) -> None:
        """Drop what was made for a graph that has changed."""
        self._linked.clear()

    def gradients(
        self, visits: Visits, cotangents: Sequence[Any], blocks: Sequence[Block]
    ) -> dict[int, Any]:
        """Return the gradients of the inputs, by place, from the cotangents of the results.

        A result whose cotangent is None contributes nothing. `blocks` are those of the graph now.
        """
        found = None
        visits.refresh()
        if visits.tape is not None and visits.blocks is blocks:
            found = self._natively(visits, visits.tape, cotangents)
        return self._followed(visits, cotangents) if found is None else found

    # -- block by block ----------------------------------------------------------------------------

    def _followed(self, visits: Visits, cotangents: Sequence[Any]) -> dict[int, Any]:
        total: dict[int, Any] = {}
        after: dict[int, Any] = {}
        for n, visit in enumerate(reversed(visits)):
            block = visit.block
            backward, taken, given, sources, _ = block.derivative
            if n == 0:
                pairs = zip(taken, cotangents, strict=True)
                after = {k: g for k, g in pairs if g is not None}
            elif not any(k in after for k in taken):
                break
            parts = [
                after[k] if k in after else np.zeros(value.shape, value.dtype)
                for k, value in zip(taken, backward.cotangents, strict=True)
            ]
            present = [k in after for k in taken]
            found = self._pulled(block, [*visit.saved, *parts], present)
            count = len(given)
            after = {k: g for k, g in zip(given, found[:count], strict=True) if g is not None}
            for place, g in zip(sources, found[count:], strict=True):
                if g is not None:
                    total[place] = g if place not in total else total[place] + g
        return total

    def _pulled(self, block: Block, values: list[Any], present: Sequence[bool]) -> list[Any]:
        backward = block.derivative.backward
        lifted = [value for value in values if isinstance(value, Lifted)]
        if lifted:
            F = namespace_of(*lifted)
            return Variants(backward, lambda p: partial(apply, p, F)).gradients(values, present)
        if block.pull is None:
            block.pull = Variants(backward, self._executable)
        arrays = [contiguous(np.asarray(value)) for value in values]
        gradients: list[Any] = block.pull.gradients(arrays, present)
        return gradients

    def _executable(self, program: Program) -> Callable[[list[Any]], Any]:
        """Return the executable of a backward pass, shared by equal blocks."""
        _, run, numbers = self._programs.made(program)
        more = [value.constant for value in numbers]
        return (lambda arrays: run([*arrays, *more])) if more else run

    # -- natively ----------------------------------------------------------------------------------

    def _natively(
        self, visits: Visits, tape: Tape, cotangents: Sequence[Any]
    ) -> dict[int, Any] | None:
        """Return the gradients, or None if they have to be found block by block."""
        there = [g for g in cotangents if g is not None]
        if any(isinstance(array, Lifted) for array in (*there, *visits.inputs.values())):
            return None
        last = visits.last
        key = last, tuple([g is not None for g in cotangents])
        if key not in self._linked:
            made = Reversal(visits, last, key[1])
            self._linked[key] = made if made.link(self._makers) else None
        linked = self._linked[key]
        if linked is None:
            return None
        given = [contiguous(np.asarray(value)) for value in (*visits.inputs.values(), *there)]
        found = linked.run(given, tape)
        if found is None:
            return None
        passes = [visits.blocks[number].derivative.backward for number in tape.visited]
        masks = any(backward.masks for backward in passes)
        if (masks or is_below_mask()) and any(map(nan_in, found.values())):
            # zero cotangents may have to hide it
            return None
        if masks:
            mark()
        if any(backward.hides for backward in passes):
            search()
        return found
