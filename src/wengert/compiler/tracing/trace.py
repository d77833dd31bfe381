"""Layer 8 · compiler: the trace of one run of a function, on arrays that record operations.

NOTE [broken traces]
A trace must record everything that the function does. Where it cannot (values reach code that is
not traced, random numbers come from an unknown source, memory changes owners), the function still
runs to its end on the real arrays, with its ordinary results and effects; only the trace is lost.
The first reason is kept, with the line of the user's program (`Trace.broken`).
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from types import CodeType
from typing import Any

import numpy as np

from wengert.compiler.ir.decisions import Draw, Guard, Reason, outcome_of
from wengert.compiler.ir.facets import SIZE
from wengert.compiler.ir.programs import Number, Step, Value, mapped
from wengert.compiler.objects.bytecode import is_returned, user_frame
from wengert.compiler.objects.flows import is_printed, is_printed_number
from wengert.compiler.objects.walker import VALUES, slots_of
from wengert.compiler.tracing.blocks import key_of
from wengert.compiler.tracing.iterations import Iterations
from wengert.compiler.tracing.leftovers import full_collections, instances, replace
from wengert.compiler.tracing.memory import Shared, lying, shared_of
from wengert.compiler.tracing.operations import S, run
from wengert.compiler.tracing.payloads import real_payload, traces_of
from wengert.compiler.tracing.prints import (
    Marks,
    Piece,
    Said,
    Shown,
    number_text,
    said_of,
    tensor_text,
    text_of_int,
)
from wengert.compiler.tracing.reports import Report, tell
from wengert.compiler.tracing.scalar import Scalar
from wengert.compiler.tracing.state import Path, Surroundings, state_of
from wengert.compiler.tracing.sym import Storage, Sym
from wengert.compiler.tracing.writes import write
from wengert.interp.levels import Lifted
from wengert.prims.facet import NUMPY
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE
from wengert.tape.base import LEAF, TensorBase, node_of
from wengert.tape.node import Node, next_sequence
from wengert.tensor.printing import history_of


class Trace:
    """The record of the computations of a function, as far as it has run.

    Attributes
    ----------
    items: Steps, guards and draws in their order.
    broken: Why the trace is broken, or None.
    reads: Whether the function read a list that it appends to (see NOTE [effects]).
    passing: Whether this run created state that later runs find, so that a later run is traced.
    foreign: Copies of the arrays of unknown origin.
    arrays: The real arrays of values that no step computes.
    returned: Floats and arrays that the function read off values and may return, by identity.
    given: The symbols of the environment's tensors and arrays.
    surroundings: A snapshot of what the function reaches besides its local variables.
    reached, versions: The environment's tensors, and the counts of writes to them at the start.
    masked, within: Whether tensors may hold symbols, and whether the environment's do.
    scalars: Weak references to the numbers read off values.
    seen: The identities of arrays that share memory with tensors.
    taken
        Where operations took arrays that each run supplies: the identity of the array, the code
        that called the operation, and the instruction.
    looked: The inputs whose memory layout the function depends on.
    payload_class: The class of the payloads that it computes with.
    shared: The memory that several inputs share.
    start: A sequence number between the earlier nodes and those that this run records.
    known: The symbols of the arrays that each run supplies, by identity.
    before: The content of these arrays before they were written to.
    written: The values that the memory began with that was written to since the last decision.
    where: The line of the user's program for new steps, where it is already known.
    walked_back
        Whether a backward pass went past a decision, to nodes recorded before it.
    counts: Whether its outcome depends on which tensors share a version cell.
    turns, path: The iterations of its loops, and the path to the last decision.
    is_exact: Whether the function may distinguish a number from its stand-in.
    said: The calls that print.
    parted: The first place where PyTorch would have a graph break, or None.
    """

    payload_class = Sym

    def __init__(
        self,
        code: CodeType | None = None,
        until: CodeType | None = None,
        drawn: Sequence[Any] = (),
        said: Sequence[Any] = (),
    ) -> None:
        self._running = True
        self._collections = full_collections()
        self._thread = get_ident()
        self.returned: dict[int, tuple[Any, Sym]] = {}
        self.given: list[Sym] = []
        self.surroundings = Surroundings()
        self.reached: Sequence[Any] = ()
        self.versions: Sequence[int] = ()
        self.seen: set[int] = set()
        self.scalars: list[Any] = []
        self.masked, self.within = True, False
        self.taken: list[tuple[int, CodeType, int]] = []
        self.looked: set[Storage] = set()
        self.shared: list[Shared] = []
        self._code = code
        self._until = until
        self.start = next_sequence()
        self.items: list[Step | Guard | Draw] = []
        self.broken: Reason | None = None
        self.reads = False
        self.passing = False
        self.foreign: list[Any] = []
        self.arrays: dict[Value, Any] = {}
        self.known: dict[int, Sym] = {}
        self.before: dict[Value, Any] = {}
        self.written: set[Value] = set()
        self.where: tuple[str, int] | None = None
        self.walked_back = self.counts = False
        self.turns, self.path = Iterations(), Path()
        self.is_exact = False
        self._mark: int | None = None
        self._is_known = True
        self._beyond = False
        self._inner: set[int] = set()
        self.namespace = _Bound(self)
        self._drawing = False
        self._streams = 0
        self._drawn = iter(drawn)
        self.said: list[Said] = []
        self.parted: Reason | None = None
        self._said_before = iter(said)
        self._marks = Marks()
        self._printing = False
        self._arguments: dict[int, tuple[Any, Any]] = {}

    @property
    def active(self) -> bool:
        """Whether the function is running and the caller is in its thread.

        Operations of other threads on the same tensors are not traced.
        """
        return self._running and get_ident() == self._thread

    @property
    def has_drawn(self) -> bool:
        """Whether random numbers have been drawn."""
        return bool(self._streams) or any(isinstance(item, Draw) for item in self.items)

    @property
    def decisions(self) -> int:
        """The number of decisions so far."""
        return sum(isinstance(item, Guard) for item in self.items)

    # -- values ------------------------------------------------------------------------------------

    def input(self, array: Any) -> Sym:
        """Make the symbol of an array that each run supplies."""
        value = Value(array.dtype, tuple(array.shape))
        self.arrays[value] = array
        symbol = Sym(array, self, value, Storage(value, value))
        self.known[id(array)] = symbol
        return symbol

    def enter(self, origin: str, value: Any) -> Any:
        """Return the stand-in for `value` (see `wengert.tape.modes.traced`)."""
        return _ENTRIES[origin](self, value)

    def tell(self, event: str, what: str) -> None:
        """Record an event of the program (see `wengert.tape.modes.untraced`)."""
        if event == "keep":
            self.discard()
        elif event == "draw":
            self._note_stream()
        elif event == "part":
            self._part(what)
        else:
            self.give_up(what)

    def constant(self, array: Any) -> Sym:
        """Make the symbol of an array that is the same in each run."""
        array = np.array(array)
        array.flags.writeable = False
        return Sym(array, self, Value(array.dtype, array.shape, array))

    def _made(self, array: Any) -> Any:
        """Return the symbol of memory that the function has allocated."""
        if isinstance(array, Lifted):
            # random numbers, which may be a batch
            return array
        known = self.known.get(id(array))
        if known is not None and known.array is array:
            self._take(array)
            return known
        return Sym(np.asarray(array), self, self.constant(array).value)

    def _unknown(self, array: Any) -> Sym:
        """Return the symbol of memory of unknown origin, which the function writes to."""
        self._beyond = True
        symbol = self.symbol(array)
        return symbol if symbol.array is array else Sym(array, self, symbol.value)

    def symbol(self, value: Any) -> Sym:
        """Return the symbol of an operand."""
        if isinstance(value, Sym):
            return value if value.trace is self else self.constant(value.array)
        if type(value) is Scalar:
            return value.symbol
        known = self.known.get(id(value))
        if known is not None and known.array is value:
            self._take(value)
            return known
        array = np.asarray(value)
        made = self.constant(array)
        if array.size > 1:
            self.foreign.append(made.array)
        return made

    def _shared(self, array: Any) -> Any:
        """Return the payload of a tensor that shares the memory of an array."""
        known = self.known.get(id(array))
        if known is None or known.array is not array:
            return array
        self._take(array)
        self.seen.add(id(array))
        return known

    def _take(self, array: Any) -> None:
        """Note where the user's program gave an array of NumPy to an operation of ours."""
        if self.surroundings.is_written(array):
            self.give_up("it writes to an array of NumPy")
        frame = user_frame(sys._getframe(2))
        if frame is not None:
            self.taken.append((id(array), frame.f_code, frame.f_lasti))

    def param(self, param: Any) -> Any:
        """Convert a parameter to the form that a step stores."""

        def each(part: Any) -> Any:
            if type(part) is Scalar:
                return Number(part.symbol.value)
            return self.symbol(part).value if isinstance(part, Sym | np.ndarray) else part

        return mapped(param, each)

    def inputs(self, arrays: Sequence[Any]) -> list[Sym]:
        """Make the symbols of the arrays that each run supplies, some of which may share memory."""
        symbols = [self.input(array) for array in arrays]
        self.shared = shared_of(arrays)
        for shared in self.shared:
            base = symbols[shared.places[0] if shared.base is None else shared.base].value
            whole = Storage(base, base)
            for k, place in enumerate(shared.places):
                storage = symbols[place].storage
                storage.whole = whole
                storage.window = None if shared.chains is None else shared.chains[k]
        return symbols

    def put(
        self, prim: Primitive, args: Sequence[Value], params: dict[str, Any], out: Value
    ) -> Value:
        """Add a step that computes `out`; return `out`."""
        self.items.append(Step(prim, args, params, (out,), self.where or self.here()))
        return out

    def view(self, prim: Primitive, base: Value, params: dict[str, Any]) -> Value:
        """Add a view as a new step, with its shape inferred, and return its value."""
        blank = np.broadcast_to(np.zeros((), base.dtype), base.shape)
        array = prim.kernel(blank, **params)
        if prim.name == "index":
            params = {"indices": tuple([self.constant(p).value for p in params["indices"]])}
        return self.put(prim, (base,), params, Value(array.dtype, tuple(array.shape)))

    def shown(self, value: Value, chain: Iterable[tuple[Primitive, dict[str, Any]]]) -> Value:
        """Apply a chain of views to a value, as new steps."""
        for prim, params in chain:
            value = self.view(prim, value, params)
        return value

    def here(self) -> tuple[str, int] | None:
        """Return the line of the user's program that is running."""
        frame = user_frame(sys._getframe(1))
        return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)

    def stay(self) -> tuple[str, int] | None:
        """Fix the line of new steps until `where` is set again; return the old one."""
        before = self.where
        self.where = before or self.here()
        return before

    def walks(self, edges: Iterable[Any], wanted: Iterable[Any] | None) -> None:
        """Note whether a backward pass from `edges` goes back past the last decision.

        It runs the nodes `wanted`, or all that the edges lead to if that is None.
        """
        mark = self._mark
        if mark is not None and not self.walked_back:
            nodes = self.reachable(edges) if wanted is None else wanted
            self.walked_back = any(mark < node._seq < self.start for node in nodes)

    def passes(self, edges: Sequence[Any], wanted: Container[Any] | None) -> None:
        """End the trace if a pass runs nodes older than the call: their history has no guard."""
        stack, seen, old = [edge for edge in edges if edge is not None], set(), []
        while stack:
            node = node_of(stack.pop())
            if node._seq > 0 or node._seq in seen or node._seq in self._inner:
                continue
            seen.add(node._seq)
            if node._seq >= self.start:
                old.append(node)
            else:
                stack += [edge for edge in node.edges if edge is not None]
        if not old:
            # nor does another pass reach older nodes from these
            self._inner |= seen
            return
        # unknown leaves get gradients
        self._beyond = True
        if any(wanted is None or node in wanted for node in old):
            self.give_up("a backward pass inside of it goes on to what was recorded before")

    def reachable(self, edges: Iterable[Any]) -> Iterator[Any]:
        """Yield the nodes made since the trace began, and the leaves, that `edges` lead to."""
        seen, stack = set(), [*edges]
        while stack:
            node = node_of(stack.pop())
            if node in seen or self.start <= node._seq < 0:
                continue
            seen.add(node)
            yield node
            if node._seq < 0:
                stack += [edge for edge in node.edges if edge is not None]

    def with_number(self, name: str, left: Any, right: Any) -> Any:
        """Apply an operator to an array and a Python number, as NumPy does."""
        symbol, number = (left, right) if isinstance(left, Sym) else (right, left)
        swapped = symbol is right
        if name == "matmul" or TABLE[name].predicate or symbol.dtype.kind in "biu":
            # promote the number as NumPy does beside an array
            plain = number.number if type(number) is Scalar else number
            array = _function(name)(*((plain, symbol.array) if swapped else (symbol.array, plain)))
            kind = np.result_type(symbol.dtype, plain)
            known = self.symbol(number) if type(number) is Scalar else None
            other = self.constant(np.asarray(plain, kind)) if known is None else known
            pair = (other, symbol) if swapped else (symbol, other)
            alike = [v if v.dtype == kind else S.to_copy(v, dtype=kind) for v in pair]
            made = getattr(S, name)(*alike)
            return made if made.dtype == array.dtype else S.to_copy(made, dtype=array.dtype)
        form = TABLE[name].rscalar if swapped else TABLE[name].scalar
        if form is None:
            return S.mul_scalar(S.reciprocal(symbol), other=number)
        return getattr(S, form)(symbol, **{TABLE[form].params[0]: number})

    # -- numbers -----------------------------------------------------------------------------------

    def scalar(self, symbol: Sym) -> Any:
        """Return the Python number for a single element."""
        if not self.active or symbol.array.size != 1 or symbol.dtype.kind not in "fiu":
            return symbol.array.item()
        if symbol.ndim:
            symbol = S.unsafe_view(symbol, shape=())
        kind = np.dtype(np.float64 if symbol.dtype.kind == "f" else np.int64)
        if symbol.dtype != kind:
            symbol = S.to_copy(symbol, dtype=kind)
        if self.is_exact:
            return self.decide("item", symbol)
        # copy: a number stays the same when the memory is written to
        return Scalar(self, Sym(np.array(symbol.array), self, symbol.value))

    def as_float(self, symbol: Sym) -> Any:
        """Convert an integer to a float."""
        if not self.active:
            return float(symbol.array)
        return S.to_copy(symbol, dtype=np.dtype(np.float64))

    def number_of(self, name: str, *operands: Any, size: int | None = None) -> Any:
        """Compute with Python floats, or with integers whose magnitude `size` bounds."""
        if not self.active:
            values = [o.array.item() if isinstance(o, Sym) else o for o in operands]
            return _function(name)(*values).item()
        if len(operands) == 1:
            return Scalar(self, getattr(S, name)(operands[0]), size)
        symbols = [
            o if isinstance(o, Sym) else self.constant(np.asarray(o, _KINDS[type(o)]))
            for o in operands
        ]
        return Scalar(self, getattr(S, name)(*symbols), size)

    def compared(self, name: str, left: Sym, right: Any) -> Sym:
        """Compare Python floats."""
        other = right if isinstance(right, Sym) else self.constant(np.asarray(right, left.dtype))
        made: Sym = getattr(S, name)(left, other) if self.active else left
        if not self.active:
            found = _function(name)(left.array, other.array)
            return Sym(found, self, Value(np.dtype(bool), ()))
        return made

    # -- decisions ---------------------------------------------------------------------------------

    def decide(self, kind: str, symbol: Sym) -> Any:
        """Return the outcome of a decision on a value, and guard the trace on it."""
        if not self.active or self.broken is not None or symbol.value.constant is not None:
            return outcome_of(kind, symbol.array)
        state = None
        if self._until is not None and self._is_known:
            state = state_of(self, next_sequence(), self._until)
            # after a decision without a state, further states are unknown
            self._is_known = state is not None
            self._mark = self._mark if state is None else state.mark
        outcome = self.turns.outcome(self, kind, symbol, state)
        if state is not None:
            state.written, self.written = self.written, set()
            self.path.decided(state, key_of(outcome), len(self.items))
            state.let_go()
        self.items.append(Guard(kind, symbol.value, outcome, self.here(), state))
        if self.path.is_endless(state):
            self.give_up("its decisions come in too many states: some number differs each time")
        return outcome

    def forget_states(self) -> None:
        """Stop recognising states met before."""
        self._is_known = False

    def noted(self) -> list[int]:
        """Return the sizes of all records except steps, to detect additions."""
        return [
            len(part)
            for name, part in vars(self).items()
            if name not in _GROWING and part.__class__ in (list, dict, set)
        ]

    def origins(self) -> set[Value]:
        """Return the values of the inputs."""
        return {s.storage.origin for s in self.given if s.storage.origin is not None}

    def is_untouched(self) -> bool:
        """Return whether the environment is unchanged since the function began."""
        return not (
            self.shared
            or any(symbol.storage.writes for symbol in self.given)
            or any(
                tensor._payload is not symbol
                or tensor._edge is not None
                or (tensor._ext is not None and tensor._ext.grad is not None)
                for tensor, symbol in zip(self.reached, self.given, strict=False)
            )
        )

    def fix_shape(self, prim: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> None:
        """Guard the values that the shape of a result depends on."""
        if prim.name == "index":
            masks = [m for m in params["indices"] if isinstance(m, Sym) and m.dtype.kind == "b"]
        elif SIZE[prim] == "mask":
            masks = [arg for arg in args if isinstance(arg, Sym)][-1:]
        else:
            return
        for mask in masks:
            self.decide("count", mask)

    def handed_back(self, symbol: Sym, made: Any) -> bool:
        """Return whether a number read off a value may only be returned.

        ``math.sqrt(x)`` reads it like ``float(x)``; `keep` distinguishes them at the end.
        """
        if not self.active or self._code is None or not is_returned(self._code, self._until):
            return False
        self.returned[id(made)] = made, symbol
        return True

    def keep(self, leaves: Iterable[Any]) -> None:
        """Guard the numbers and arrays read off values that are not among the results."""
        found = set(map(id, leaves))
        for key in [key for key in self.returned if key not in found]:
            made, symbol = self.returned.pop(key)
            if type(made) is float:
                self.forget_states()
                self.decide("item", symbol)
            else:
                self.escape(symbol, "conversion to an array of NumPy")

    def escape(self, symbol: Sym, how: str) -> Any:
        """Hand out the real array of a value, which ends the trace."""
        self.give_up(f"{how} takes values out of the tensor")
        return symbol.array

    def give_up(self, what: str, layout: bool = False) -> None:
        """Break the trace for a reason, which with `layout` holds for this memory layout only."""
        if self.active and self.broken is None:
            self.broken = Reason(what, self.here(), layout)

    def discard(self) -> None:
        """Note that this run creates state that later runs find, so that a later one is traced."""
        self.passing = True

    # -- random numbers ----------------------------------------------------------------------------

    def _note_stream(self) -> None:
        if not self._drawing:
            self._streams += 1

    def _drawn_by(self, draw: Callable[[], Any]) -> Any:
        """Draw random numbers with `draw`, in this run and in each later one."""
        self._streams = max(self._streams - 1, 0)
        self._drawing, before = True, self.broken
        try:
            # an earlier run that met an outcome without a trace has drawn already
            array = next(self._drawn, None)
            array = draw() if array is None else array
        finally:
            self._drawing = False
        if isinstance(array, Sym) or self.broken is not before:
            self.give_up("random numbers whose distribution depends on values")
            return array
        # some draw in a memory order that programs do not read
        symbol = self.input(np.array(array, order="C"))
        symbol.array = lying(symbol.array, np.asarray(array).strides)
        # copy: some draw into memory that is allocated once
        self.items.append(Draw(symbol.value, lambda: np.array(draw())))
        return symbol

    # -- printed output ----------------------------------------------------------------------------

    def say(self, report: Report, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Make a reporting call and record it (see NOTE [printed output])."""
        before = next(self._said_before, None)
        if isinstance(before, BaseException):
            self.discard()
            raise before
        said = self._noted(report, args, kwargs)
        if before is not None:
            return
        try:
            if said is None:
                # replace the placeholders in texts
                told = [self._marks.plain(arg) if type(arg) is str else arg for arg in args]
                tell(report, told, kwargs)
            else:
                said.say()
        except BaseException:
            # later runs may print without an error
            self.discard()
            raise

    def _noted(self, report: Report, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Said | None:
        self._printing = True
        try:
            how = self._text_of, self._argument_of
            said = said_of(report, args, kwargs, *how, self.decisions, self.here())
        finally:
            self._printing = False
        if isinstance(said, str):
            self.give_up(said)
            return None
        self.said.append(said)
        if not report.is_own:
            self._part(f"it calls {report.name}()")
        return said

    def _part(self, what: str) -> None:
        if self.parted is None:
            self.parted = Reason(what, self.here())

    def _text_of(self, thing: Any) -> Any:
        return self._marks.text(str(thing))

    def _argument_of(self, thing: Any) -> Any:
        """Return the record of an argument that is formatted later, or None if it has none."""
        if type(thing) is Scalar:
            return (Piece(thing.symbol.value, np.ndarray.item, thing.number),)
        if type(thing) is Shown:
            return (Piece(None, int, int(thing), key=self._arguments[id(thing)][1]),)
        return thing if type(thing) in VALUES else None

    def number_written(self, symbol: Sym, spec: str | None) -> str | None:
        """Return the placeholder for a number that is only printed, else None."""
        if not self.active or not (self._printing or is_printed(spec is None)):
            return None
        text = partial(number_text, spec)
        return self._marks.mark(Piece(symbol.value, text, text(symbol.array)))

    def tensor_written(self, tensor: Any, name: str) -> str | None:
        """Return the placeholder for a tensor that is only printed, else None."""
        symbol = tensor._payload
        if not self.active or not (self._printing or is_printed(True)):
            return None
        edge, source = tensor._edge, None
        if edge is not None and edge is not LEAF and self.start <= node_of(edge)._seq < 0:
            # history from before the call is not guarded
            source = next((i for i, known in enumerate(self.reached) if known is tensor), None)
            if source is None:
                self.give_up("it prints a tensor with a history from before")
        text = partial(tensor_text, name, history_of(edge))
        return self._marks.mark(Piece(symbol.value, text, text(symbol.array), source))

    def shown_arguments(self, keys: Iterable[Any], args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Return the arguments, with stand-ins at `keys` that record that they are printed."""
        args, kwargs = list(args), dict(kwargs)
        for key in keys:
            held = args if key.__class__ is int else kwargs
            held[key] = Shown(held[key])
            self._arguments[id(held[key])] = held[key], key
        return tuple(args), kwargs

    def argument_written(self, shown: Any, text: str, spec: str | None) -> str:
        """Return the placeholder for an argument that is only printed, else `text`."""
        found = self._arguments.get(id(shown))
        if not self.active or found is None or found[0] is not shown:
            return text
        if not (self._printing or is_printed(spec is None)):
            self.give_up("an argument is printed in a way that is not followed")
            return text
        how = partial(text_of_int, spec)
        return self._marks.mark(Piece(None, how, text, key=found[1]))

    def is_printed(self) -> bool:
        """Return whether the number now being read off a tensor is only printed."""
        return self.active and is_printed_number()

    def finish(self) -> None:
        """End the trace when the function has returned."""
        if self._streams:
            self.give_up("random numbers that are drawn in one piece with what they are used for")
        self._running = False
        self.turns.end()
        self.path.end()

    def unmask(self) -> None:
        """Replace symbols by their real arrays in all live tensors and nodes.

        The garbage collector finds these, since anything may hold one. Those of the environment are
        known. If nothing was written to, and no older node ran, all others are younger than the
        trace.
        """
        written = self._beyond or any(symbol.storage.touched for symbol in self.given)
        self._unmask(instances(TensorBase, Node, since=None if written else self._collections))
        self.masked = False
        if not self.within:
            self.clear()

    def _unmask(self, holders: list[Any]) -> None:
        for holder in holders:
            if issubclass(type(holder), TensorBase):
                payload = getattr(holder, "_payload", None)
                if isinstance(payload, Lifted) and self in traces_of(payload):
                    holder._payload = real_payload(payload)
            else:
                for slot in slots_of(type(holder)):
                    saved = getattr(holder, slot, None)
                    if saved.__class__ is Sym and saved.trace is self:
                        setattr(holder, slot, saved.array)

    def clear(self) -> None:
        """Replace the symbols that are left in users' objects by their arrays."""
        self.given, self.returned = [], {}
        self.known.clear()
        left = [(s, s.array) for s in instances(Sym, since=self._collections) if s.trace is self]
        if left:
            replace(left)

    def write(self, target: Sym, result: Any) -> None:
        """Write `result` to the memory of `target`."""
        write(self, target, result)


_GROWING = frozenset({"items", "scalars", "taken", "_inner"})
"""The records that grow with the steps."""
_KINDS: dict[type, Any] = {float: np.float64, int: np.int64}

_ENTRIES: dict[str, Callable[[Trace, Any], Any]] = {
    "constant": Trace.constant,
    "made": Trace._made,
    "shared": Trace._shared,
    "unknown": Trace._unknown,
    "drawn": Trace._drawn_by,
}


def _function(name: str) -> Any:
    """Return NumPy's function for an operator."""
    prim = TABLE.get(name)
    return getattr(np, name if prim is None else NUMPY[prim].split()[0])


class _Bound:
    """`S` for one trace, also for operations without an operand of the trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __getattr__(self, name: str) -> Any:
        prim = TABLE.get(name)
        if prim is None:
            raise AttributeError(f"there is no primitive {name!r}")

        def call(*args: Any, **params: Any) -> Any:
            if not prim.args:
                return self._trace.constant(prim.kernel(**params))
            return run(prim, tuple(self._trace.symbol(arg) for arg in args), params)

        return call
