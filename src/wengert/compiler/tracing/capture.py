"""Layer 8 · compiler: one traced run of a function, from its arguments to its results."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from wengert.base.containers import flatten
from wengert.base.patches import settings_here
from wengert.compiler.ir.decisions import Draw, Guard
from wengert.compiler.ir.programs import Value
from wengert.compiler.tracing.blocks import Missing
from wengert.compiler.tracing.derivatives import derived
from wengert.compiler.tracing.effects import Log, mended
from wengert.compiler.tracing.environment import Environment
from wengert.compiler.tracing.exit import Exit, Leaf
from wengert.compiler.tracing.graph import comes_back
from wengert.compiler.tracing.iterations import Iterations
from wengert.compiler.tracing.leftovers import replace
from wengert.compiler.tracing.memory import (
    counted_together,
    is_turned,
    layout_of,
    memory_read,
    writes_to,
)
from wengert.compiler.tracing.outcome import (
    check_containers,
    effects_of,
    leaves_of,
)
from wengert.compiler.tracing.payloads import mapped, real_payload
from wengert.compiler.tracing.pullback import differentiated, recorded
from wengert.compiler.tracing.reports import intercepted
from wengert.compiler.tracing.scalar import Scalar
from wengert.compiler.tracing.state import Path, Surroundings
from wengert.compiler.tracing.sym import Sym
from wengert.compiler.tracing.trace import Trace
from wengert.prims import whole as whole  # any operation may be called
from wengert.tape import level_writes as level_writes
from wengert.tape import levels as levels
from wengert.tape.base import SparseValue, TensorBase
from wengert.tape.modes import MODE, changed, current_mode


class Captured:
    """The result of a traced run.

    Attributes
    ----------
    result: The function's result, on real arrays; without a history if `again` is True.
    trace: The trace.
    inputs: The values of the environment's tensors and arrays.
    layout: Their memory layout (see `wengert.compiler.tracing.memory`).
    strides: The strides of those inputs whose layout the function saw, by place.
    writes: Whether the function wrote to the memory of an input.
    exit: The results and effects of the run, or None if the trace is broken.
    before: A snapshot of what the function reached besides its local variables.
    log: Its writes to open places.
    left: Whether it left a number of the trace in an object that it reaches.
    """

    def __init__(self, environment: Environment, trace: Trace, inputs: list[Value]) -> None:
        self.environment = environment
        self.trace = trace
        self.inputs = inputs
        self.layout: Any = None
        self.strides: dict[int, Any] = {}
        self.writes = False
        self.result: Any = None
        self.exit: Exit | None = None
        self.before = Surroundings()
        self.left = False
        self.log: Any = None

    def let_go(self) -> None:
        """Drop all references to users' objects, since reference cycles outlive the call."""
        trace = self.trace
        for held in (trace.arrays, trace.before, trace.known):
            held.clear()
        trace.given = []
        self.before, self.result = Surroundings(), None

    def settled(self, whole: Any) -> Any:
        """Write the values that came with the result to their places; return the result."""
        result, values = whole
        self.log.settle(values)
        return result


def capture(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    environment: Environment,
    by_blocks: bool = False,
    missing: Missing | None = None,
) -> Captured:
    """Run `function` and trace it.

    With `by_blocks` the trace joins a graph: its blocks are differentiated one by one, even if it
    does not return to a state itself. If an earlier run raised `missing`, this run reuses the
    random numbers of that run and does not repeat its output.

    Errors of the function propagate; tensors are left as they would be without tracing.
    """
    missing = Missing() if missing is None else missing
    code = getattr(function, "__code__", None)
    until = getattr(function, "until", _Run.trace_call.__code__)
    trace = Trace(code, until, missing.drawn, missing.said)
    with _symbols(trace, environment) as inputs:
        run = _Run(trace, environment, inputs, by_blocks, missing)
        run.trace_call(function, args, kwargs)
        captured = run.finished()
    del run
    if any(known() is not None for known in trace.scalars):
        # check before `release`: the place may have held an equal number
        captured.left = captured.before.hold(Scalar)
    release(trace)
    return captured


class _Run:
    """A traced run while it lasts: what it began with, and what it returned."""

    def __init__(
        self,
        trace: Trace,
        environment: Environment,
        inputs: list[Sym],
        by_blocks: bool,
        missing: Missing,
    ) -> None:
        tensors = environment.tensors
        self.trace, self.environment, self.inputs = trace, environment, inputs
        self.by_blocks, self.missing = by_blocks, missing
        self.captured = Captured(environment, trace, [symbol.value for symbol in inputs])
        self.log = self.captured.log = Log(trace, environment.opened)
        trace.given, trace.reached = inputs, tensors
        trace.versions = [writes_to(tensor) for tensor in tensors]
        self.captured.before = trace.surroundings = environment.surroundings()
        trace.path = Path(environment.numbers)
        trace.is_exact = environment.is_exact
        trace.turns = Iterations(
            environment.skips and not environment.opened and all(t._edge is None for t in tensors)
        )
        self.cells = [tensor._vc for tensor in tensors]
        self.captured.layout = layout_of([symbol.array for symbol in inputs], self.cells)
        self.grads = [None if t._ext is None else t._ext.grad for t in tensors]
        self.edges = [t._edge for t in tensors]
        self.result: Any = None
        self.rebuild: Any = None
        self.own: list[Any] = []
        self.leaves: list[Any] = []
        self.parts: tuple[Any, ...] = ()
        self.derivatives: Any = None

    def trace_call(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Call `function` on symbols, and read its results and effects off the trace."""
        trace, environment, log = self.trace, self.environment, self.log
        before = current_mode()
        inside = changed(before, tracing=trace)
        MODE.set(inside)
        left, settings = None, settings_here()
        try:
            try:
                shown, named = trace.shown_arguments(environment.loose, args, kwargs)
                with intercepted(trace.say):
                    shown, named = log.arguments(shown, named)
                    result = function(*shown, **named)
                del shown, named
                self.result = log.plain(trace, result)
                del result
            finally:
                log.end(trace)
                left = _left_mode(inside, before, trace)
                if settings != settings_here():
                    trace.give_up("it changes a setting, and leaves it so")
            self._read_results()
            _settle(trace, environment, self.inputs)
            pairs = zip(environment.tensors, self.edges, strict=True)
            if any(tensor._edge is not edge for tensor, edge in pairs):
                trace.give_up("an operation in place changes the history of an argument")
        except BaseException as error:
            unseen = _is_unseen(trace, self.grads, self.missing)
            trace.unmask()
            release(trace)
            if unseen and isinstance(error, Exception):
                raise Unseen(error) from error
            raise
        finally:
            MODE.set(before if left is None else left[0])
            trace.finish()
            # must not keep objects alive that are reached by weak references only
            trace.surroundings, trace.reached = Surroundings(), ()

    def _read_results(self) -> None:
        """Trace how later runs reproduce the results, and their derivatives."""
        trace, environment = self.trace, self.environment
        tensors = environment.tensors
        walked_back = trace.walked_back
        if self.log.values:
            self.result = (self.result, self.log.values)
        self.own, self.rebuild = flatten(self.result)
        count = len(self.own)
        trace.keep(self.own)
        check_containers(trace, self.result)
        effects, origins = effects_of(trace, tensors, self.inputs, self.grads)
        leaves, made, effects, roots = leaves_of(trace, self.own, effects, environment)
        outputs = recorded(leaves, made)
        backward = differentiated(trace, leaves, made, outputs, environment, effects)
        if outputs and any(e.leaf >= 0 and _is_shown(e.leaf, count, made) for e in effects):
            trace.give_up("a result that requires a gradient is left behind elsewhere, too")
        self.leaves = leaves[:count]
        self.parts = (made, self.rebuild, effects, backward, outputs, origins, count, roots)
        if not walked_back and self._is_loop():
            spent = backward is not None and backward.spent
            # the blocks of a loop on tensors of a transform are not differentiated
            if not spent and not (outputs and not environment.is_outermost):
                self.derivatives = derived(trace, leaves, outputs, tensors)
        if trace.turns.skipped and self.derivatives is None:
            # not a graph, so the next trace must contain all iterations
            trace.discard()

    def _is_loop(self) -> bool:
        """Return whether the trace is a graph, which returns to states met before."""
        trace = self.trace
        if not comes_back(trace.items, self.by_blocks):
            return False
        if not _prints_last(trace):
            if self.by_blocks:
                trace.give_up("it prints in a loop that decisions on values end")
            return False
        return trace.broken is None

    def finished(self) -> Captured:
        """Return what the run showed, with the result on real arrays."""
        trace, captured = self.trace, self.captured
        captured.strides = {
            i: symbol.array.strides
            for i, symbol in enumerate(self.inputs)
            if symbol.storage in trace.looked or is_turned(symbol.array)
        }
        captured.writes = any(symbol.storage.writes for symbol in self.inputs)
        captured.writes |= trace.counts and bool(counted_together(self.cells))
        for item in trace.items:
            if isinstance(item, Guard) and item.state is not None:
                # drop the tensors of this call, and their history
                item.state.tensors.clear()
                item.state.edges.clear()
        captured.result = self._real_result()
        if trace.broken is None and not trace.passing:
            captured.exit = self._exit()
        else:
            trace.unmask()
        return captured

    def _real_result(self) -> Any:
        trace = self.trace
        copies: dict[int, Any] = {}
        shown = [_shown(trace, leaf, copies) for leaf in self.leaves]
        if trace.broken is not None and not self.log.values:
            result = mended(self.result, partial(_plain, trace))
        elif all(leaf is other for leaf, other in zip(self.leaves, shown, strict=True)):
            result = self.result
        else:
            result = self.rebuild(shown)
        if self.log.values:
            result = self.captured.settled(result)
        # drop the leaves: `rebuild` holds this list
        self.own[:] = [None] * len(self.own)
        return result

    def _exit(self) -> Exit:
        items, inputs = self.trace.items, self.captured.inputs
        put = self.log.replay() if self.log.values else None
        found = Exit(*(*self.parts, frozenset(inputs), self.trace.said, put))
        found.derivatives = self.derivatives
        if found.backward is not None:
            tensors = inputs[: len(self.environment.tensors)]
            reads = memory_read(items, tensors, found.backward.checked, found.left())
            found = dataclasses.replace(found, reads=reads)
        found.draws = [item.value for item in items if isinstance(item, Draw)]
        return found


class Unseen(Exception):
    """Raised from `cause`, an error of a run that has had no effects on tensors so far."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


def _is_unseen(trace: Trace, grads: Sequence[Any], missing: Missing) -> bool:
    """Return whether a run has had no visible effects so far, except on Python objects."""
    return not (
        trace.broken
        or trace.said
        or missing.drawn
        or missing.said
        or trace.has_drawn
        or any(symbol.storage.writes for symbol in trace.given)
        or any(
            tensor._payload is not symbol
            or (None if tensor._ext is None else tensor._ext.grad) is not grad
            for tensor, symbol, grad in zip(trace.reached, trace.given, grads, strict=False)
        )
    )


def _prints_last(trace: Trace) -> bool:
    """Return whether a trace prints only after its last decision, and draws nothing before it."""
    kinds = [type(item) for item in trace.items]
    last = all(said.decisions == kinds.count(Guard) for said in trace.said)
    return last and not (trace.said and Draw in kinds)


def _left_mode(inside: Any, before: Any, trace: Trace) -> tuple[Any] | None:
    """Return the mode that the function set and did not reset, if any; this ends the trace."""
    left = current_mode()
    if left is inside or (left is not None and left.fields() == inside.fields()):
        return None
    trace.give_up("it sets a mode, such as whether operations are recorded, and leaves it so")
    return (changed(left, tracing=None if before is None else before.tracing),)


def release(trace: Trace) -> None:
    """Replace the scalars of a finished trace in users' objects by their numbers."""
    pairs = list(_alive(trace))
    trace.scalars.clear()
    if pairs:
        replace(pairs)


def _alive(trace: Trace) -> Iterator[tuple[Scalar, Any]]:
    """Yield the scalars that are left, with their numbers."""
    for known in trace.scalars:
        left = known()
        if left is not None:
            yield left, left.number


def _is_shown(place: int, count: int, made: Sequence[Leaf]) -> bool:
    """Return whether a leaf is returned, or shares memory with a leaf that is."""
    return place < count or made[place].root is not None or made[place].kind == "part"


def _shown(trace: Trace, leaf: Any, copies: dict[int, Any]) -> Any:
    """Return a leaf of the result with its real array."""
    if isinstance(leaf, TensorBase):
        leaf._payload = mapped(leaf._payload, partial(_owned, copies=copies))
        base = None if leaf._ext is None else leaf._ext.base
        if base is not None:
            base._payload = mapped(base._payload, partial(_owned, copies=copies))
    elif isinstance(leaf, np.ndarray) and id(leaf) in trace.returned:
        return trace.returned[id(leaf)][1].array
    return leaf.number if type(leaf) is Scalar else leaf


def _owned(part: Any, copies: dict[int, Any]) -> Any:
    """Return the real array of a symbol; those in the memory of a constant share one copy of it."""
    if not isinstance(part, Sym):
        return part
    constant = part.storage.value.constant
    if constant is None or (part.array.size and not np.may_share_memory(part.array, constant)):
        return part.array
    # later runs read the constant, and users may write to the result
    own = copies.setdefault(id(constant), constant.copy())
    for prim, params in part.chain:
        own = prim.kernel(own, **params)
    return own


def _plain(trace: Trace, leaf: Any) -> Any:
    """Return a leaf of the result of a broken trace."""
    return _shown(trace, leaf, {})


@contextlib.contextmanager
def _symbols(trace: Trace, environment: Environment) -> Iterator[list[Sym]]:
    """Make the environment's tensors hold symbols, and restore their arrays on exit."""
    tensors = environment.tensors
    arrays = [tensor._array() for tensor in tensors]
    inputs = trace.inputs([*arrays, *environment.arrays])
    trace.within = True
    try:
        for place, tensor in enumerate(tensors):
            tensor._payload = inputs[place]
        environment.swap()
        yield inputs
    finally:
        environment.restore()
        _restore(tensors, arrays, inputs)
        trace.within = False
        if not trace.masked:
            inputs.clear()
            trace.clear()


def _restore(tensors: list[Any], arrays: list[Any], inputs: list[Sym]) -> None:
    """Make tensors and their gradients hold arrays again."""
    for tensor, array, symbol in zip(tensors, arrays, inputs, strict=False):
        tensor._payload = array if tensor._payload is symbol else real_payload(tensor._payload)
        if tensor._ext is not None and tensor._ext.grad is not None:
            grad = tensor._ext.grad
            if isinstance(grad, SparseValue):
                continue
            grad._payload = real_payload(grad._payload)
            if isinstance(grad._payload, np.ndarray) and not grad._payload.flags.writeable:
                # a constant of the trace: later gradients must not accumulate into it
                grad._payload = grad._payload.copy()


def _settle(trace: Trace, environment: Environment, inputs: list[Sym]) -> None:
    """Guard the arrays that NumPy may have read; end the trace where that is impossible."""
    count = len(environment.tensors)
    if any(symbol.storage.writes for symbol in inputs[count:]):
        trace.give_up("it writes to an array of NumPy")
    why = environment.settle(trace.taken)
    if why is not None:
        trace.give_up(why)
    for place in environment.compared:
        # the program does not see writes by NumPy
        array = environment.arrays[place]
        others = [symbol.array for i, symbol in enumerate(inputs) if i != count + place]
        if id(array) in trace.seen or any(np.may_share_memory(array, o) for o in others):
            trace.give_up(
                "a tensor shares its memory with an array that NumPy may read or write "
                f"({array.dtype}{list(array.shape)})"
            )
