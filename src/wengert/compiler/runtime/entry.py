"""Layer 8 · compiler: the traces of one environment, and how a call runs on them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from wengert.base.containers import flatten
from wengert.base.threads import get_num_threads
from wengert.compiler.ir.decisions import Draw, Guard, Reason
from wengert.compiler.ir.programs import Program
from wengert.compiler.ir.verifier import is_on, verify, verify_trace
from wengert.compiler.objects.guards import Matcher
from wengert.compiler.passes.roll import reduced
from wengert.compiler.runtime.cost import gain
from wengert.compiler.runtime.transformed_programs import TransformedProgram
from wengert.compiler.tracing.blocks import Elsewhere, Missing, contiguous
from wengert.compiler.tracing.capture import Captured
from wengert.compiler.tracing.collector import seldom
from wengert.compiler.tracing.environment import Environment
from wengert.compiler.tracing.exit import Exit
from wengert.compiler.tracing.graph import Graph
from wengert.compiler.tracing.memory import Memory, held_by, is_turned, layout_of
from wengert.compiler.tracing.node import Backward, Between, Once, Variants, attach, partials
from wengert.compiler.tracing.prints import silent
from wengert.compiler.tracing.reports import are_known
from wengert.compiler.tracing.tables import finished
from wengert.compiler.tracing.visits import Visits
from wengert.interp.levels import Lifted
from wengert.kernels.strided import owner_of
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.masked import apart, continuing
from wengert.tape.node import next_sequence


@dataclass(slots=True)
class Options:
    """The options of compilation, from the arguments of `compile`.

    Attributes
    ----------
    families: State shared by programs that differ in sizes, if the backend has any.
    """

    backend: Any
    fastmath: bool
    fullgraph: bool
    measure: bool
    threads: int | None
    limit: int
    kinds: int
    quiet: bool = False
    families: Any = field(init=False)

    def __post_init__(self) -> None:
        self.families = getattr(self.backend, "Families", dict)()

    def finish(self, program: Program) -> tuple[Program, Any]:
        """Simplify a program and build its executable."""
        simple = self.simplified(program)
        return simple, self.build(simple)

    def simplified(self, program: Program) -> Program:
        """Simplify a program."""
        with seldom():
            if is_on():
                verify(program, "tracing")
            return reduced(program)

    def build(self, program: Program) -> Any:
        """Build the executable of a simplified program."""
        settings: dict[str, Any] = {
            "threads": self.threads or get_num_threads(),
            "fastmath": self.fastmath,
            "families": self.families,
        }
        with seldom():
            return self.backend.build(program, **settings)

    def link(self, blocks: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """Link blocks into one native function, or return None to leave that to Python."""
        make = getattr(self.backend, "link", None)
        if make is None:
            return None
        with seldom():
            return make(blocks, inputs, fastmath=self.fastmath)


class Call:
    """The state shared by the nodes of one trace: how to differentiate it.

    Attributes
    ----------
    name: The function's name.
    entry: The traces.
    exit: The exit of the trace.
    backward: Its backward pass, for the values that the calls save.
    why: Why there is no derivative, or None.
    saved_inputs
        The saved values that are memory of input tensors and arrays, as pairs of indices: in the
        saved values and in the memory of the inputs.
    saved_assigned
        The saved values that are memory assigned to tensors by the call, as pairs of indices: in
        the saved values and in the tensors.
    saved_reads
        The saved values that the tape would read from tensors, with their indices in `Exit.reads`.
    known: The indices in `Exit.reads` of tensors for which it is known what the tape would read.
    """

    def __init__(
        self, entry: Entry, exit: Exit, tree: Any = None, backward: Backward | None = None
    ) -> None:
        self.name = entry.name
        self.exit = exit
        self.backward = backward
        self.why = None if backward is None else backward.why
        self.entry = entry
        self._tree = entry.tree if tree is None else tree
        self.saved_inputs: list[tuple[int, int]] = []
        self.saved_assigned: list[tuple[int, int]] = []
        self.saved_reads: list[tuple[int, int]] = []
        self.known: set[int] = set()
        if backward is not None and entry.environment.is_outermost:
            places = {value: i for i, value in enumerate(self._tree.inputs)}
            places |= {e.value: e.place for e in exit.effects if e.value is not None}
            saved = backward.saved
            self.saved_inputs = [
                (k, places[value]) for k, value in enumerate(saved) if value in places
            ]
            late = {value: i for i, value in exit.left() if value not in places}
            self.saved_assigned = [
                (k, late[value]) for k, value in enumerate(saved) if value in late
            ]
            held, lies = backward.held, [*self.saved_inputs, *self.saved_assigned]
            self.saved_reads = [(k, exit.reads.index(i)) for k, i in lies if held.get(i)]
            follow = {n for _, n in self.saved_reads}
            self.known = {
                n for n, i in enumerate(exit.reads) if n in follow or not held.get(i, True)
            }
        self._ways: dict[bool, Variants] = {}

    def pull(self, saved: Any, cotangents: list[Any], present: list[bool]) -> list[Any]:
        """Return the gradients of the tensors that the call depends on, from cotangents.

        Cotangents that are not `present` are ignored.
        """
        backward = self.backward
        assert backward is not None
        finish = self.entry.options.finish
        values = [*saved, *cotangents]
        lifted = any(isinstance(value, Lifted) for value in values)
        if lifted not in self._ways:
            self._ways[lifted] = Variants(
                backward,
                lambda p: TransformedProgram(p, finish) if lifted else finished(p, finish)[1],
            )
        arrays = values if lifted else [contiguous(np.asarray(value)) for value in values]
        return self._ways[lifted].gradients(arrays, present)

    def pull_again(
        self,
        given: Any,
        met: list[Memory],
        saved: Any,
        inputs: list[Any],
        cotangents: Sequence[Any],
        create_graph: bool = True,
    ) -> Any:
        """Return gradients of `inputs`, differentiable ones: the function runs again, recorded.

        Outputs without a cotangent, which is None, lead to no gradient.
        """
        start = next_sequence()
        outputs = self.again(given, met, saved)
        return pulled_back(outputs, inputs, cotangents, start, create_graph)

    @property
    def masks(self) -> bool:
        """Whether its backward pass meets masks, which may hide NaN."""
        return self.backward is not None and self.backward.masks

    @property
    def places(self) -> Sequence[int]:
        """The indices in the environment of the tensors that the outputs depend on."""
        assert self.backward is not None
        return self.backward.sources

    @apart()
    def again(
        self, given: tuple[tuple[Any, ...], dict[str, Any]], met: Sequence[Memory], saved: Any
    ) -> list[Any]:
        """Run the function again, recorded, and return the outputs that require a gradient.

        `met` are the tensors that it reached in the original call, and `saved` the values that call
        saved for its backward pass: they reveal writes to memory without a version counter.

        Raises
        ------
        Once: If a second run could differ from the first.
        """
        args, kwargs = given
        why = None
        with self.entry.environment.settings():  # a backward pass has its own
            found = self.entry.match(args, kwargs)
        if self.exit.effects or self.exit.put:
            why = "it writes to tensors" if self.exit.effects else "it changes other objects"
        elif self._tree.draws(self.exit):
            why = "it draws random numbers"
        elif (
            found is None
            or any(
                memory.tensor is not tensor or memory.has_changed
                for memory, tensor in zip(met, found[0], strict=True)
            )
            or not self._is_as_before(found, saved)
        ):
            why = "what it reaches has changed since it was called"
        if why is not None:
            raise Once(
                f"the compiled function {self.name}() cannot be differentiated twice from "
                f"outside: {why}. Compute the first derivative inside of the function that is "
                "compiled, or call the function uncompiled."
            )
        exts = [memory.tensor._ext for memory in met]
        ended = [ext for ext in exts if ext is not None and ext.ended]
        try:
            # the transform of these inputs may have ended, but they are still differentiated
            for ext in ended:
                ext.ended = False
            with silent():
                leaves = self.leaves(args, kwargs)
        finally:
            for ext in ended:
                ext.ended = True
        # an output that is not a result is the base of a view that is one
        views = {
            leaf.what.place: i for i, leaf in enumerate(self.exit.leaves) if leaf.kind == "part"
        }
        return [
            leaves[i] if i < len(leaves) else leaves[views[i]]._ext.base for i in self.exit.outputs
        ]

    def _is_as_before(self, found: Any, saved: Any) -> bool:
        """Return whether another run computes the values that were `saved`."""
        try:
            exit, known = self._tree.run(self.entry.contents(*found))
        except (Missing, Elsewhere):
            return False
        backward = exit.backward_of(known)
        if exit is not self.exit or backward is None or self.backward is None:
            return exit is self.exit
        # one run may save stacks, and the other one rows
        one, other = self.backward.rows_in(saved), backward.rows_in(map(known.get, backward.saved))
        return all(is_equal(array, other[value]) for value, array in one.items() if value in other)

    def leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Run the function and return the leaves of its result."""
        leaves, _ = flatten(self.entry.function(*args, **kwargs))
        return leaves


class GraphCall(Call):
    """Like `Call`, for a trace that repeats states (see `wengert.compiler.tracing.graph`)."""

    @property
    def places(self) -> Sequence[int]:
        """The indices in the environment of the tensors that require a gradient."""
        return self.entry.places

    @property
    def masks(self) -> bool:
        return any(block.derivative.backward.masks for block in self._tree.blocks())

    def _is_as_before(self, found: Any, saved: Any) -> bool:
        visits = Visits()
        try:
            self._tree.run(self.entry.contents(*found), visits)
        except (Missing, Elsewhere):
            return False
        saved.refresh()
        now, then = list(reversed(visits)), list(reversed(saved))
        return len(now) == len(then) and all(
            one.block is other.block and all(map(is_equal, one.saved, other.saved))
            for one, other in zip(now, then, strict=True)
        )

    def pull(self, saved: Any, cotangents: list[Any], present: list[bool]) -> list[Any]:
        """Return the gradients, computed block by block."""
        parts = zip(cotangents, present, strict=True)
        total = self._tree.gradients(saved, [g if there else None for g, there in parts])
        return [total.get(place) for place in self.entry.places]


class Entry:
    """The traces of one environment.

    Attributes
    ----------
    environment: The objects that the function reached.
    tree: The traces.
    verified: Whether arrays of unknown origin, if there are any, were the same in a second run.
    layout: The memory layout of the inputs, if some trace writes to any (see
        `wengert.compiler.tracing.memory`).
    strides: The strides of the inputs whose layout some trace depends on, by index.
    left: Why calls with this layout run uncompiled, or None.
    streams: The names of the streams that some trace prints to.
    matcher: The function that checks the guards of a call, or None: `match` generates it.
    ready: Whether calls may take the fast path, for which native code is built.
    gain: The estimated speedup of the best trace, or None if it is not measured.
    """

    def __init__(
        self, environment: Environment, function: Callable[..., Any], name: str, options: Options
    ) -> None:
        self.environment = environment
        self.function = function
        self.options = options
        self.name = name
        self.matcher: Matcher | None = None
        self.tree = Graph((), options)
        self.ready = not options.measure
        self.gain: float | None = None
        self._graphs = True
        self.foreign: list[Any] = []
        self.verified = True
        self.layout: Any = None
        self.strides: dict[int, Any] = {}
        self.left: Reason | None = None
        self.streams: frozenset[str] = frozenset()

    @property
    def match(self) -> Matcher:
        """The function that checks the guards of a call; generated when first used."""
        if self.matcher is None:
            self.matcher = self.environment.matcher()
        return self.matcher

    @property
    def by_blocks(self) -> bool:
        """Whether the traces form a graph rather than a tree."""
        return self.tree.by_states

    def fits(self, tensors: list[Any], arrays: list[Any]) -> bool:
        """Return whether the inputs have the memory layout of the traces, if that matters."""
        memory = self.memory(tensors, arrays)[0]
        if any(memory[place].strides != strides for place, strides in self.strides.items()):
            return False
        if any(is_turned(array) for i, array in enumerate(memory) if i not in self.strides):
            return False
        return self.layout is None or bool(self.layout == layout_of(*self.memory(tensors, arrays)))

    def memory(self, tensors: list[Any], arrays: list[Any]) -> tuple[list[Any], list[Any]]:
        """Return the memory of the inputs, and the version cells of the tensors."""
        held = [tensor._array() for tensor in tensors]
        return [*held, *arrays], [tensor._vc for tensor in tensors]

    def lay_out(self, captured: Captured) -> None:
        """Restrict the traces to inputs with the memory layout of a trace."""
        if self.layout is None:
            self.layout = captured.layout

    def add(self, captured: Captured) -> bool:
        """Add a trace; return False if it contradicts the existing ones."""
        assert captured.exit is not None
        inputs, items, exit = captured.inputs, captured.trace.items, captured.exit
        self.streams |= exit.streams
        if is_on():
            verify_trace(captured.inputs, items, exit)
        if exit.derivatives is not None and self._graphs:
            tree = self.tree if self.by_blocks else Graph(inputs, self.options, by_states=True)
            if tree.add(inputs, items, exit.by_blocks()):
                # this drops the traces of a tree; they are traced again when needed
                self.tree = tree
                return True
        if self.by_blocks:
            # this drops the traces of a graph, too
            self._graphs = False
            self.tree = Graph(inputs, self.options)
        if captured.trace.turns.skipped:
            return False
        if self.tree.root is None:
            self.tree = Graph(inputs, self.options)
        return self.tree.add(inputs, items, exit)

    def weigh(self, captured: Captured) -> None:
        """Estimate the gain of a trace without derivatives (NOTE [what is gained])."""
        if self.options.measure and captured.exit is not None and captured.exit.backward is None:
            conditions = len(self.environment.lines())
            found = gain(captured, self.options.backend.call_cost, conditions)
            self.gain = max(found, self.gain or 0.0)

    def note_foreign(self, captured: Captured) -> bool:
        """Compare arrays of unknown origin with earlier runs; return False if they differ."""
        found = captured.trace.foreign
        if self.tree.root is None:
            self.foreign = found
            self.verified = not found
            return True
        if self.verified:
            return True
        same = len(found) == len(self.foreign) and all(map(is_equal, found, self.foreign))
        self.verified = same
        self.foreign = []
        return same

    def run(
        self, tensors: list[Any], arrays: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the function with its effects, and return its result."""
        if self.left is not None or (self.streams and not are_known(self.streams)):
            return self.function(*args, **kwargs)
        given = self.contents(tensors, arrays)
        tree = self.tree
        if tree.by_states:
            return self._gone_through(tree, given, tensors, arrays, (args, kwargs))
        exit, known = tree.run(given)
        if exit.said:
            drawn = partial(_drawn, exit, known)
            exit.say(known, tensors, (args, kwargs), drawn)
        return self.finished(exit, known, tensors, arrays, (args, kwargs), tensors)

    def contents(self, tensors: list[Any], arrays: list[Any]) -> list[Any]:
        """Return the inputs of the programs."""
        memory = self.memory(tensors, arrays)[0]
        return [
            array
            if array.__class__ is np.ndarray and array.flags.c_contiguous
            else self._in_order(array, memory)
            for array in memory
        ]

    def _in_order(self, array: Any, memory: list[Any]) -> Any:
        """Return the array in C order; raise if the traces do not hold for its strides."""
        made = contiguous(array)
        if is_turned(array) and not any(memory[place] is array for place in self.strides):
            raise Elsewhere
        return made

    def _gone_through(
        self,
        graph: Graph,
        inputs: list[Any],
        tensors: list[Any],
        arrays: list[Any],
        given: Any,
        done: Captured | None = None,
        memory: list[Any] | None = None,
    ) -> Any:
        """Run a graph of traces; with `done`, replay that trace without effects."""
        visits = Visits() if self.records else None
        exit, known = graph.run(inputs, visits, *(() if done is None else _taken(done)))
        # knows the effects, which forbid running the function again
        call, left = GraphCall(self, exit, graph), [*exit.left()]
        if done is None:
            exit.say(known, tensors, given)
        else:
            exit = exit.without_effects(done.log.settle)
        leaves = exit.finish(known, tensors, arrays)
        node = None
        if exit.outputs and visits is not None:
            own = self.memory(tensors, arrays)[0] if memory is None else memory
            visits.replace({id(a): b for a, b in zip(inputs, own, strict=True) if a is not b})
            saved = set(map(id, visits.arrays()))
            read = {i for i, t in enumerate(tensors) if id(t._payload) in saved}
            shared = [
                i
                for i, leaf in enumerate(exit.leaves)
                if exit.is_view_of(i, read)
                or (
                    leaf.kind == "tensor"
                    and visits.share(exit.value_of(i), owner_of(leaves[i]._payload))
                )
            ]
            node = attach(
                call,
                [tensors[place] for place in self.places],
                [leaves[i] for i in exit.outputs],
                visits,
                given,
                [leaves[i] for i in shared],
            )
        result = exit.complete(leaves, tensors)
        if node is not None and visits is not None:
            node.met = held_by(tensors)
            read |= {i for i, value in left if visits.share(value, owner_of(tensors[i]._payload))}
            node.reads = [node.met[i] for i in read]
        return result

    @property
    def places(self) -> list[int]:
        """The indices of the environment's tensors that require a gradient."""
        return self.environment.places

    @property
    def records(self) -> bool:
        """Whether results may have a history."""
        return bool(self.places)

    def finished(
        self,
        exit: Exit,
        known: Any,
        tensors: list[Any],
        arrays: list[Any],
        given: Any,
        met: Any,
        memory: list[Any] | None = None,
    ) -> Any:
        """Return the results of a run that ended at `exit`, for the arguments `given`.

        `met` are the tensors that the function reached, and `tensors` their stand-ins. `memory` is
        the memory of these and of the arrays at the start, if it may have changed since.
        """
        backward, node = exit.backward_of(known), None
        leaves = exit.finish(known, tensors, arrays)
        if backward is not None:
            call = self.call_to(exit, backward)
            saved = [known[value] for value in backward.saved]
            if call.saved_inputs:
                # the memory itself, so that writes to it are detected
                own = self.memory(tensors, arrays)[0] if memory is None else memory
                for k, place in call.saved_inputs:
                    saved[k] = own[place]
            node = attach(
                call,
                [tensors[place] for place in backward.sources],
                [leaves[i] for i in exit.outputs],
                saved,
                given,
                [leaves[i] for i in exit.kept],
            )
        result = exit.complete(leaves, tensors)
        if node is not None:
            for k, place in call.saved_assigned:
                saved[k] = tensors[place]._array()
            node.met = held_by(met)
            node.reads = held_by([tensors[place] for place in exit.reads])
        return result

    def call_of(self, exit: Exit, backward: Backward | None) -> Call:
        """Return the state shared by the nodes of a trace that save the same values."""
        return Call(self, exit, backward=backward)

    def call_to(self, exit: Exit, backward: Backward) -> Call:
        """Return the state that the calls which end at `exit` share, made for the first one."""
        if backward not in exit.calls:
            exit.calls[backward] = self.call_of(exit, backward)
        return exit.calls[backward]

    def with_history(self, captured: Captured, given: Any, added: bool) -> Any:
        """Return the results of the traced call, rebuilt with a node as their history.

        If the trace has not been `added` to the others, an entry of its own rebuilds them.
        """
        trace, exit = captured.trace, captured.exit
        assert exit is not None
        tensors, arrays = captured.environment.met, captured.environment.arrays
        # the arrays before the function wrote to them
        known: Any = {**trace.arrays, **trace.before}
        places = captured.inputs
        inputs = [contiguous(known[value]) for value in places]
        memory = [trace.arrays[value] for value in places]
        if added and self.by_blocks:
            return self._gone_through(
                *(self.tree, inputs, list(tensors), list(arrays), given, captured, memory)
            )
        own = self
        if not added or self.tree.traces > 1:
            own = copy.copy(self)
            own.tree = Graph(places, self.options)
            own.tree.add(places, trace.items, exit)
        found, known = own.tree.run(inputs, None, *_taken(captured))
        # made before the effects are dropped: they forbid running the function again
        if (backward := found.backward_of(known)) is not None:
            own.call_to(found, backward)
        found = found.without_effects(captured.log.settle)
        return own.finished(found, known, list(tensors), list(arrays), given, tensors, memory)


def _drawn(exit: Exit, known: Any) -> list[Any]:
    """Return the random numbers that a run which ended at `exit` has drawn."""
    return [known[value] for value in exit.draws]


def _taken(captured: Captured) -> tuple[list[Any], list[Any]]:
    """Return the random numbers that a traced run has drawn, and the outcomes of its decisions."""
    items, known = captured.trace.items, {**captured.trace.arrays, **captured.trace.before}
    drawn = [known[item.value] for item in items if isinstance(item, Draw)]
    return drawn, [item.outcome for item in items if isinstance(item, Guard)]


def pulled_back(
    outputs: list[Any],
    inputs: list[Any],
    cotangents: Sequence[Any],
    start: int,
    create_graph: bool = True,
) -> Any:
    """Return gradients of `inputs` from cotangents some of which may be None.

    The walk is limited to nodes recorded since the sequence number `start`.
    """
    pairs = [
        (output, part if isinstance(part, TensorBase) else new_tensor(part))
        for output, part in zip(outputs, cotangents, strict=True)
        if part is not None
    ]
    outputs, parts = [output for output, _ in pairs], [part for _, part in pairs]
    with continuing():
        return partials(outputs, inputs, parts, Between(float("-inf"), start), create_graph)


def is_equal(one: Any, other: Any) -> bool:
    """Return whether two arrays have equal elements; NaN equals NaN."""
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    return bool(np.all((one == other) | ((one != one) & (other != other))))
