"""Layer 8 · compiler: the node that a compiled call leaves on the tape."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from wengert.autograd.once import Error
from wengert.base import errors
from wengert.compiler.ir.programs import Program, Step, Value, stepped, uses
from wengert.compiler.objects.walker import slots_of
from wengert.compiler.passes.builder import live
from wengert.compiler.tracing.memory import Memory, writes_to
from wengert.compiler.tracing.payloads import contents_of
from wengert.compiler.tracing.sym import Sym
from wengert.interp.levels import Lifted, namespace_of
from wengert.prims import records
from wengert.tape.accumulate import private
from wengert.tape.backward import run_grad
from wengert.tape.base import FREED, OutputEdge, TensorBase, new_tensor
from wengert.tape.masked import (
    LEFT,
    Hidden,
    Undecided,
    is_below_mask,
    is_searching,
    mark,
    nan_in,
    return_to,
    search,
    search_state,
    stop_search,
)
from wengert.tape.modes import enable_grad, is_recording
from wengert.tape.node import Node, edge_of, next_sequence, target_of


class Between:
    """The nodes recorded between two moments: the backward passes of a call visit no others.

    Parameters
    ----------
    newer, older
        Sequence numbers, which decrease: that of a node after the last, and of one before the
        first.
    """

    def __init__(self, newer: float, older: float) -> None:
        self._newer, self._older = newer, older

    def __contains__(self, node: Any) -> bool:
        return bool(self._newer < node._seq < self._older)


def partials(
    outputs: Sequence[Any],
    sources: Sequence[Any],
    seeds: Sequence[Any],
    span: Between,
    create_graph: bool = False,
) -> list[Any]:
    """Return the gradients of `outputs` by tensors, through the nodes of `span` only.

    The arguments of a call may have been computed from each other: their own histories account
    for that. Two of them with the same history share one gradient.
    """
    found = run_grad(outputs, sources, seeds, True, create_graph, span)
    known = set()
    for i, source in enumerate(sources):
        node, index = target_of(edge_of(source))
        if (node, index) in known:
            found[i] = None
        known.add((node, index))
    return found


@dataclass(eq=False)
class Backward:
    """The traced backward pass of a compiled call.

    Attributes
    ----------
    steps: The steps of the backward pass.
    cotangents
        The values of the cotangents, one for each output that requires a gradient.
    gradients: The value of the gradient for each tensor that the outputs depend on, or None.
    sources: The places of these tensors in the environment.
    saved: The values of the forward pass that its steps read.
    checked
        These, and those that only the gradients of leaves which the function creates depend on: the
        tape notices writes to them, too.
    spent
        Whether the pass cannot run, since the function has freed the graph or has overwritten
        saved values.
    why: The error that reports this.
    hidden
        For each value in which 0 replaces NaN: the value with NaN, and whether it is below a mask
        of the pass (see NOTE [masked branches] in `wengert.tape.masked`).
    masks, hides: Whether the pass has met a mask, and one that may have hidden NaN.
    held: How the tape holds the tensors that it reads (see `held_as_tensors`).
    kept: The places of the results whose memory it reads, where the tape would notice writes.
    flat: Whether it leads through operations whose gradients have a history of zeros (`FLAT`).
    rows: The values that it takes from saved stacks: the stack and the position of each.
    """

    steps: Sequence[Step]
    cotangents: Sequence[Value]
    gradients: Sequence[Value | None]
    sources: Sequence[int]
    why: Exception | None = None
    hidden: Mapping[Value, tuple[Value, bool]] = field(default_factory=dict)
    masks: bool = False
    hides: bool = False
    held: Mapping[int, bool] = field(default_factory=dict)
    kept: Sequence[int] = ()
    flat: bool = False
    rows: Mapping[Value, tuple[Value, int]] = field(default_factory=dict)
    _restricted: dict[tuple[bool, ...], Backward] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.spent = not self.cotangents
        self._fills = any(step.prim is records.zero_tangent for step in self.steps)
        own = {out for step in self.steps for out in step.outs} | set(self.cotangents)
        found: dict[Value, None] = {}
        for step in self.steps:
            found.update({v: None for v in uses(step) if v not in own and v.constant is None})
        for value in self.gradients:
            if value is not None and value not in own and value.constant is None:
                found[value] = None
        self.saved = self.checked = tuple(found)

    def renamed(self, rename: Callable[[Value], Value]) -> Backward:
        """Return this pass with its values renamed."""
        steps = [step.reading(rename) for step in self.steps]
        gradients = [None if v is None else rename(v) for v in self.gradients]
        hidden = {out: (rename(grad), below) for out, (grad, below) in self.hidden.items()}
        return replace(self, steps=steps, gradients=gradients, hidden=hidden)

    def of_stacks(self, rows: Mapping[Value, tuple[Value, int]]) -> Backward:
        """Return this pass with stacks as its saved values in place of `rows` of them."""
        read = [
            Step(records.select, (rows[v][0],), {"dim": 0, "index": rows[v][1]}, (v,))
            for v in self.saved
            if v in rows
        ]
        return replace(self, steps=[*read, *self.steps], rows=rows)

    def rows_in(self, saved: Iterable[Any]) -> dict[Value, Any]:
        """Return the saved values, and the rows of those that are stacks."""
        known = dict(zip(self.saved, saved, strict=True))
        return known | {value: known[stack][k] for value, (stack, k) in self.rows.items()}

    def restricted(self, present: Sequence[bool]) -> Backward:
        """Return the pass for calls in which only some outputs have a cotangent.

        It reads the same values. Like the tape, it does not fill in zeros for missing cotangents:
        zero times an infinite slope would be NaN, and a gradient of zeros is not None.
        """
        key = tuple(present)
        if all(key) and not self._fills:
            return self
        if key not in self._restricted:
            self._restricted[key] = self._without(
                {v for v, there in zip(self.cotangents, key, strict=True) if not there}
            )
        return self._restricted[key]

    def _without(self, absent: set[Value]) -> Backward:
        """Return the pass without the cotangents in `absent`, and without those of a level."""
        flowing = set(self.cotangents)
        blank: set[Value] = set()
        same: dict[Value, Value] = {}
        steps: list[Step] = []

        def present(value: Value) -> Value:
            if value not in absent:
                return same.get(value, value)
            if value not in same:
                same[value] = Value(value.dtype, value.shape, np.zeros(value.shape, value.dtype))
            return same[value]

        for step in self.steps:
            parts = [value for value in uses(step) if value in flowing]
            if step.outs[0].dtype.kind != "b":
                # a condition picks elements of cotangents, but is none itself
                parts = [value for value in parts if value.dtype.kind != "b"]
            there = [value for value in parts if value not in absent]
            out = step.outs[0]
            if parts:
                flowing.update(step.outs)
            empty = blank.issuperset(parts)
            # such as a primal that meets its tangent, where a rule uses forward mode
            joins = empty and step.prim.family == "linear" and len(parts) < len([*uses(step)])
            if parts and step.prim is records.zero_tangent:
                blank.add(out)
                absent.add(out)
                same[out] = out
            elif parts and not there and not joins:
                blank.update(step.outs if empty else ())
                absent.update(step.outs)
                continue
            if step.prim is records.add and len(there) < len(parts) and _is_like(there[0], out):
                same[out] = present(there[0])
                continue
            steps.append(step.reading(present))
        hidden = {
            present(out): (present(grad), below)
            for out, (grad, below) in self.hidden.items()
            if out not in absent
        }
        gradients = [None if v is None or v in absent else present(v) for v in self.gradients]
        made = replace(self, steps=steps, gradients=gradients, hidden=hidden)
        made.saved = self.saved
        return made

    def program(self, below: bool | None = None) -> Program:
        """Return the program from the saved values and the cotangents to the gradients.

        If `below` is not None, zero cotangents hide NaN: everywhere if it is True, where the call
        itself is below a mask, and else below the masks of the pass.
        """
        shown = {
            out: grad
            for out, (grad, inside) in self.hidden.items()
            if below is None or not (below or inside)
        }

        def rename(value: Value) -> Value:
            while value in shown:
                value = shown[value]
            return value

        made = self.renamed(rename) if shown else self
        outputs = [value for value in made.gradients if value is not None]
        return Program((*self.saved, *self.cotangents), live(made.steps, outputs)[0], outputs)

    def replayed(self, values: Sequence[Any], below: bool) -> list[Any]:
        """Run step by step and search for NaN once NumPy reports it, as the tape does."""
        known = dict(zip((*self.saved, *self.cotangents), values, strict=True))

        def value_of(value: Value) -> Any:
            return known[value] if value.constant is None else value.constant

        F = namespace_of(*[value for value in values if isinstance(value, Lifted)])
        for step in self.steps:
            out = step.outs[0]
            if out in self.hidden:
                grad, inside = self.hidden[out]
                if not (is_searching() and (below or inside)):
                    known[out] = known[grad]
                    continue
            results = stepped(step, F, value_of)
            known.update(zip(step.outs, results, strict=True))
        return [value_of(value) for value in self.gradients if value is not None]


def views_of(items: Iterable[Any], inputs: Iterable[Value | None]) -> dict[Value, Step]:
    """Return the steps of a forward pass that make views of its inputs, by their results."""
    known, views = set(inputs), dict[Value, Step]()
    for item in items:
        if not (isinstance(item, Step) and item.prim.view and item.args[0] in known):
            continue
        if len(item.outs) == 1 and len([*uses(item)]) == 1:
            known.add(item.outs[0])
            views[item.outs[0]] = item
    return views


def read_at_the_end(
    views: Mapping[Value, Step], steps: Sequence[Any], gradients: Sequence[Value | None]
) -> tuple[list[Step], list[Value | None]]:
    """Return a backward pass that makes its own views of the inputs when it runs.

    The tape saves the memory of inputs and of their views, so a write that no version counts is
    seen by the backward pass.

    Parameters
    ----------
    views: The views of inputs in the forward pass (see `views_of`).
    steps, gradients: The steps of the backward pass, and its results.
    """
    made: dict[Value, Value] = {}
    taken: list[Step] = []

    def take(value: Value) -> Value:
        step = views.get(value)
        if step is None:
            return value
        if value not in made:
            base = take(step.args[0])
            made[value] = Value(value.dtype, value.shape)
            taken.append(Step(step.prim, (base,), step.params, (made[value],), step.site))
        return made[value]

    steps = [step.reading(take) for step in steps]
    gradients = [None if value is None else take(value) for value in gradients]
    return [*taken, *steps], gradients


def held_as_tensors(nodes: Iterable[Any], tensors: Sequence[Any]) -> dict[int, bool]:
    """Return whether nodes hold `tensors` themselves (True) or aliases of them, by place.

    Assigning to ``.data`` of the former changes the memory on the tape, too. There is no entry for
    a tensor of which nodes hold both, or if this is unknown.
    """
    places = {id(tensor): i for i, tensor in enumerate(tensors)}
    origins = {tensor._payload.storage.origin: i for i, tensor in enumerate(tensors)}
    held, others = set[int](), set[int]()
    for node in nodes:
        if node._seq > 0:
            continue
        prim = getattr(node, "prim", None)
        if prim is None:
            return {}
        for name in prim.saved_args:
            part = getattr(node, f"s_{name}")
            for saved in part if isinstance(part, tuple) else (part,):
                payload = getattr(saved, "_payload", None)
                if id(saved) in places:
                    held.add(places[id(saved)])
                elif isinstance(payload, Sym):
                    others.add(origins.get(payload.storage.origin, -1))
                elif payload is not None:
                    return {}
    return {place: place in held for place in held ^ others}


def cells_of(nodes: Iterable[Any]) -> set[int] | None:
    """Return the ids of the tensors and version cells by which nodes notice writes to saved values.

    None if a node may have saved tensors in another way.
    """
    found = set[int]()
    for node in nodes:
        if node._seq > 0:
            continue
        if getattr(node, "prim", None) is None:
            return None
        for slot in slots_of(type(node)):
            held = getattr(node, slot, None)
            for saved in held if isinstance(held, tuple) else (held,):
                if isinstance(saved, TensorBase):
                    found |= {id(saved), id(saved._vc)}
                elif slot.endswith("_vc"):
                    found.add(id(saved))
    return found - {id(None)}


def _is_like(a: Value, b: Value) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype


def _is_alike(made: Sym, of: Sym) -> bool:
    return made.value is not of.value and _is_like(made.value, of.value)


def hidden_in(noted: Undecided) -> dict[Value, tuple[Value, bool]]:
    """Return `Backward.hidden` for a pass that was traced with `undecided`."""
    found: dict[Value, tuple[Value, bool]] = {}
    for result, grad, below in noted.pairs:
        arrays, given = list(contents_of(result)), list(contents_of(grad))
        # results of another structure are always searched
        if type(result) is type(grad) and len(arrays) == len(given):
            for made, of in zip(arrays, given, strict=True):
                if isinstance(made, Sym) and isinstance(of, Sym) and _is_alike(made, of):
                    found[made.value] = of.value, below
    return found


class Variants:
    """The variants of a backward pass that calls need, each built on first use."""

    def __init__(self, backward: Backward, make: Callable[[Program], Any]) -> None:
        self._backward = backward
        self._make = make
        self._made: dict[tuple[Backward, bool | None], Any] = {}
        # the native function of the whole pass, if there is nothing else to do in a call
        self._native: Callable[..., Any] | None = None

    def gradients(self, values: list[Any], present: Sequence[bool]) -> list[Any]:
        """Return the gradient of each tensor that the outputs depend on, or None.

        `values` holds the saved values and the cotangents; those not `present` are ignored.
        """
        if self._native is not None and all(present) and not is_below_mask():
            gradients: list[Any] | None = self._native(*values)
            if gradients is not None:
                return gradients
        backward = self._backward.restricted(present)
        if all(value is None for value in backward.gradients):
            return [None] * len(backward.gradients)
        found = iter(self._searched(backward, values))
        return [None if value is None else next(found) for value in backward.gradients]

    def _searched(self, backward: Backward, values: list[Any]) -> list[Any]:
        """Return the gradients; if they hold NaN, run again with NaN hidden below masks."""
        below = is_below_mask()
        masks = below or backward.masks
        traced = masks and any(isinstance(part, Sym) for v in values for part in contents_of(v))
        if traced:
            return self._run(backward, below, values)
        searching = is_searching()
        found = self._run(backward, None, values)
        if masks and any(nan_in(part) for g in found for part in contents_of(g)):
            if LEFT and get_ident() in LEFT:
                raise Hidden
            if searching or backward.hides:
                search()
                found = self._run(backward, below, values)
            else:
                stop_search()
                found = backward.replayed(values, below)
        if backward.masks:
            mark()
        if backward.hides:
            # the call may have hidden NaN from the nodes below
            search()
        return found

    def _run(self, backward: Backward, form: bool | None, values: list[Any]) -> list[Any]:
        key = backward, form
        if key not in self._made:
            self._made[key] = made = self._make(backward.program(form))
            whole = backward is self._backward and form is None and not backward.masks
            if whole and all(value is not None for value in backward.gradients):
                self._native = getattr(made, "call", None)
        return list(self._made[key](values))


class Once(RuntimeError):
    """Raised where a call has no second derivative, though it has a first one."""


class CompiledBackward(Node):
    """The node of a whole compiled call."""

    __slots__ = ("call", "given", "met", "outputs_meta", "reads", "results", "s_inputs", "saved")
    __module__ = "builtins"
    label: ClassVar[str] = "CompiledBackward"
    several: ClassVar[bool] = True
    gives_none: ClassVar[bool] = False
    call: Any
    given: Any
    met: list[Memory]
    reads: list[Memory]
    results: Any
    saved: Any
    s_inputs: Any

    def release(self) -> None:
        self.saved = FREED
        self.s_inputs = ()
        self.results = ()
        self.met = self.reads = []
        self.given = None

    def _check(self, g: Any) -> None:
        if self.saved is FREED:
            raise errors.backward_twice(self.label)
        for part, (shape, dtype) in zip(g, self.outputs_meta, strict=True):
            if part is not None and (part.dtype != dtype or part.shape != shape):
                raise RuntimeError(
                    f"a result of {self.call.name}() has got memory of another shape or dtype "
                    "since, by an assignment to .data: make a new tensor instead"
                )
        if self.call.why is not None:
            raise RuntimeError(str(self.call.why))
        known = self.call.known
        for n, memory in enumerate(self.reads):
            tensor, what = memory.tensor, f"an argument of {self.call.name}()"
            if memory.is_another and not (n in known and memory.is_alike):
                raise RuntimeError(
                    f"{what} has got other memory since, by an assignment to .data, but the "
                    "backward pass of the call needs what it held: make a new tensor instead"
                )
            if writes_to(tensor) != memory.version:
                raise errors.modified_in_place(
                    *(tensor._payload, what, tensor._vc, memory.version, self.label, "inputs")
                )
        for cell, before, array in self.results:
            if cell[0] != before[0] or sum(cell[3:4]) != sum(before[3:4]):
                what = f"a result of {self.call.name}()"
                raise errors.modified_in_place(
                    *(array, what, [cell[0], cell[1] or "an assignment to .data"], before[0]),
                    *(self.label, "results"),
                )

    def _saved(self) -> Any:
        """Return the saved values, with the current memory of tensors that the tape holds."""
        saved = self.saved
        for k, n in self.call.saved_reads:
            if self.reads[n].is_another:
                saved = [*saved[:k], self.reads[n].tensor._array(), *saved[k + 1 :]]
        return saved

    def _pulled(self, g: Any, there: Sequence[bool]) -> list[Any]:
        """Return the gradients from raw cotangents; those that are not `there` are None."""
        if not all(there):
            g = [
                np.zeros(shape, dtype) if part is None else part
                for part, (shape, dtype) in zip(g, self.outputs_meta, strict=True)
            ]
        found: list[Any] = self.call.pull(self._saved(), g, there)
        return found

    def _pulled_as_on_the_tape(self, g: Any, there: Sequence[bool]) -> list[Any]:
        """Like `_pulled`, but let the function run again if masks may hide NaN.

        Whether they do depends on the values that the masks of the forward pass have met, and these
        are not saved. Where another run may differ, all of them count as NaN.
        """
        state = search_state()
        LEFT.append(get_ident())
        try:
            return self._pulled(g, there)
        except Hidden:
            return_to(state)
        finally:
            LEFT.remove(get_ident())
        try:
            with enable_grad():
                found = self.call.pull_again(
                    *(self.given, self.met, self.saved, list(self.s_inputs), g), create_graph=False
                )
        except Once:
            return self._pulled(g, there)
        return [None if part is None else part._payload for part in found]

    def _pulled_once(self, g: Any, why: Once) -> list[Any]:
        """Return the gradients from tensors; they raise `why` when they are differentiated."""
        edges = [edge_of(part) for part in g if part is not None and part._edge is not None]
        # what the backward pass reads depends on the tensors
        edges += self.edges if self.saved or self.call.backward.flat else ()
        records = is_recording() and any(edge is not None for edge in edges)

        def made(part: Any) -> Any:
            node = Error.before(tuple(edges), str(why)) if records else None
            # copied: one may be a cotangent that the caller passed
            return new_tensor(private(part), node)

        found = self._pulled(
            [None if part is None else part._payload for part in g],
            [part is not None for part in g],
        )
        return [None if part is None else made(part) for part in found]

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the compiled backward pass and return the gradients."""
        there = [part is not None for part in g]
        if not any(there):
            # only other results of the call before lead here: nothing is read
            return (None,) * len(edges)
        self._check(g)
        found = self._pulled_as_on_the_tape(g, there) if self.call.masks else self._pulled(g, there)
        if not keep:
            self.release()
        pairs = zip(edges, found, strict=True)
        return tuple([None if edge is None else part for edge, part in pairs])

    def apply_in(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the function again, recorded on the tape, and return differentiable gradients."""
        if not any(isinstance(part, TensorBase) for part in g):
            return self.apply(g, keep, edges)
        self._check([None if part is None else part._payload for part in g])
        try:
            found = self.call.pull_again(self.given, self.met, self.saved, list(self.s_inputs), g)
        except Once as why:
            found = self._pulled_once(g, why)
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
) -> CompiledBackward:
    """Record a call on the tape; the memory that its node reads is noted when the call ends.

    Parameters
    ----------
    call: The state that all nodes of the trace share.
    tensors: The tensors that the outputs depend on.
    outs: The outputs that require a gradient.
    saved: The values that the backward pass reads.
    given: The arguments of the call, positional and keyword.
    kept: The results whose memory the backward pass reads.
    """
    node: Any = CompiledBackward.__new__(CompiledBackward)
    node.edges = tuple(edge_of(tensor) for tensor in tensors)
    node._seq = next_sequence()
    node._ext = None
    node.call = call
    node.saved = saved
    node.results = [(cell := t._share_version(), cell.copy(), t._payload) for t in kept]
    node.given = given
    node.met = node.reads = []
    node.s_inputs = tuple(tensors)
    node.outputs_meta = tuple((out._payload.shape, out._payload.dtype) for out in outs)
    for i, out in enumerate(outs):
        out._edge = OutputEdge(node, i)
    return node
