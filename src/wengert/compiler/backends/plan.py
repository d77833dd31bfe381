"""Layer 8 · compiler: lowering of a program to loop nests and calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wengert.compiler.backends.affine import ZERO, Counter, Place, linear, of
from wengert.compiler.backends.gather_maps import SCATTERS, background_of, written
from wengert.compiler.backends.index_maps import aligned
from wengert.compiler.backends.join_maps import PARTS
from wengert.compiler.backends.kinds import SEARCHES, kind_of, reduction_of
from wengert.compiler.backends.loops import (
    Block,
    Nest,
    Part,
    Product,
    Store,
    place_nest,
)
from wengert.compiler.backends.materialise import Elementwise, is_tall, lookups
from wengert.compiler.backends.nodes import Apply, Literal, Load, Node, Position
from wengert.compiler.codegen.native.forms import NATIVE, NativeForm
from wengert.compiler.ir.programs import Loop, Program, Step, Value, uses
from wengert.prims import records


def start_of(kind: str, dtype: np.dtype[Any]) -> Any:
    """The identity element of a reduction."""
    if kind == "max":
        return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min
    if kind == "min":
        return np.inf if dtype.kind == "f" else np.iinfo(dtype).max
    return int(kind in ("mul", "and"))


_INT64, _BOOL = np.dtype(np.int64), np.dtype(np.bool_)
_LONG_SUM = 4096
_LONG_COLUMN = 1024


def _is_batched(step: Step) -> bool:
    """Return whether a step is a batch of several matrix products."""
    shape = step.outs[0].shape
    return step.prim.name == "bmm" and shape[:-2] != (1,) * len(shape[:-2]) and 0 not in shape


@dataclass(eq=False, slots=True)
class NativeCall:
    """A step that a native routine computes from buffer to buffer.

    Attributes
    ----------
    views: For each argument counters, and the `Load` of the element at them.
    """

    step: Step
    native: NativeForm
    views: Sequence[tuple[tuple[Counter, ...], Load]]


@dataclass(eq=False, slots=True)
class Check:
    """A bounds check of an index array."""

    value: Value
    extent: int


@dataclass(eq=False, slots=True)
class Repeat:
    """A loop of the program, whose body is a plan of its own."""

    loop: Loop
    counter: Counter
    body: Plan


class Plan(Elementwise):
    """The loops and calls that compute a program.

    Attributes
    ----------
    block: The loops, calls and checks, in order.
    """

    def __init__(self, program: Program, counter: Counter | None = None) -> None:
        super().__init__(program, counter)
        self.block: Block = []
        self._positions: dict[Value, int] = {}
        self._checks: dict[tuple[Value, int], int] = {}
        for step in self.steps:
            if isinstance(step, Loop):
                self._repeat(step)
            else:
                self._compute(step)

    # -- the loops of steps -----------------------------------------------------------------------

    def _compute(self, step: Step) -> None:
        kind = kind_of(step)
        if kind == "call":
            if not any(out.size for out in step.outs):
                # its operands are not stored either
                self._positions.update(dict.fromkeys(step.outs, -1))
            elif _is_batched(step) or is_tall(step):
                self._multiply(step)
            else:
                self._call(step)
            return
        for index, extent in lookups(step):
            self._check(index, extent)
        for out in step.outs:
            if out not in self.stored:
                continue
            if not out.size:
                self._positions[out] = -1
            elif kind == "reduce":
                self._reduce(step, out)
            elif kind == "search":
                self._search(step, out)
            elif kind == "scatter":
                self._scatter(step, out)
            elif PARTS[step.prim] is not None:
                self._parts(step, out)
            else:
                self._stores(step, out, out.shape, partial(self.element, out))

    def _call(self, step: Step) -> None:
        native = NATIVE[step.prim]
        assert native is not None
        views = []
        for value in uses(step):
            counters = tuple([Counter(size) for size in value.shape])
            place = tuple(map(of, counters))
            views.append((counters, self._memory(value, place)))
        self.block.append(NativeCall(step, native, views))
        for out in step.outs:
            self._positions[out] = len(self.block) - 1

    def _multiply(self, step: Step) -> None:
        """Lower a product to a loop over matrices, or over rows, that can be fused."""
        (out,), (a, b) = step.outs, step.args
        rank = len(out.shape)
        tall = rank == 2

        def build(place: Place, loops: Sequence[Counter]) -> list[Part]:
            sizes = (1 if tall else out.shape[-2], a.shape[-1], out.shape[-1])
            rows, inner, columns = map(Counter, sizes)
            lead = place[: rank - 2]
            row = place[0] if tall else of(rows)
            left = self._memory(a, aligned((*lead, row, of(inner)), a.shape))
            right = self._memory(b, aligned((*lead, of(inner), of(columns)), b.shape))
            at = (*lead, row, of(columns))
            return [Part(Product(out, at, left, right, rows, inner, columns, step))]

        self._nest((out.shape[0], 1) if tall else (*out.shape[:-2], 1, 1), build)

    def _memory(self, value: Value, place: Place) -> Load:
        """Return the load of an element of a value that a call reads."""
        held = value.constant is not None or value in self.stored
        node = Load(value, place) if held else self.source(value, place)
        assert isinstance(node, Load)
        return node

    def _nest(
        self,
        extents: Sequence[int],
        build: Callable[[Place, Sequence[Counter]], list[Part]],
        behind: Sequence[int] = (),
    ) -> None:
        """Fuse a nest with one loop for each extent that is not 1, after items at `behind`."""
        counters = [Counter(extent) for extent in extents]

        def parts(loops: Sequence[Counter]) -> list[Part]:
            given = iter(loops)
            place = tuple([ZERO if n == 1 else of(next(given)) for n in extents])
            return build(place, loops)

        nest = Nest([c for c in counters if c.extent != 1], parts, self.base)
        first = max((self._positions.get(value, -1) for value in nest.inputs), default=-1)
        first = max([first, *behind, *(self._positions.get(v, -1) for v in nest.writes)])
        # after the bounds checks of the indices that it reads
        read = {node.value for node in nest.reads}
        first = max([first, *(at for (index, _), at in self._checks.items() if index in read)])
        at = place_nest(self.block, nest, first)
        for value in nest.writes:
            self._positions[value] = at

    def _scatter(self, step: Step, out: Value) -> None:
        """Lower a scatter: fill the result, and write elements in order (NOTE [scatters])."""
        scatter = SCATTERS[step.prim]
        assert scatter is not None
        behind = [self._checks[key] for key in lookups(step) if key in self._checks]
        before = self._elements(background_of(step), out, step)
        self._stores(step, out, out.shape, before, behind=behind)
        if 0 in (shape := scatter.shape(step)):
            return
        adds = ("or" if out.dtype.kind == "b" else "add") if scatter.adds(step) else ""

        def target(place: Place) -> Place:
            return scatter.target(self.source, step, place, out.shape)

        self._stores(step, out, shape, self._elements(written(step), out, step), target, kind=adds)

    def _stores(
        self,
        step: Step,
        out: Value,
        shape: Sequence[int],
        node_at: Callable[[Place], Node],
        target: Callable[[Place], Place] = tuple,
        behind: Sequence[int] = (),
        kind: str = "",
    ) -> None:
        """Store the node at each place of a shape, after the items at the positions `behind`."""

        def build(place: Place, loops: Sequence[Counter]) -> list[Part]:
            return [Part(Store(out, target(place), node_at(place), step, kind))]

        self._nest(shape, build, behind)

    def _parts(self, step: Step, out: Value) -> None:
        """Write a value region by region."""
        consists = PARTS[step.prim]
        assert consists is not None
        parts, background = consists(step, self.counter)
        if background is not None:
            self._stores(step, out, out.shape, self._elements(background, out, step))
        for part in parts:
            if (value := part.value).size:
                self._stores(step, out, value.shape, partial(self.source, value), part.target)

    def _elements(self, what: Any, out: Value, step: Step) -> Callable[[Place], Node]:
        """Return the function of the elements of a value, or a number, in a result's dtype."""
        if not isinstance(what, Value):
            return lambda place: Literal(what, out.dtype)

        def node_at(place: Place) -> Node:
            return self._cast(self.source(what, aligned(place, what.shape)), out.dtype, step)

        return node_at

    def _reduce(self, step: Step, out: Value) -> None:
        reduction = reduction_of(step)
        assert reduction is not None
        kind, dims, truth = reduction.kind, reduction.dims, reduction.truth
        self._combine(step, out, kind, dims, lambda place: self._term(step, place, out, truth))

    def _search(self, step: Step, out: Value) -> None:
        """Lower argmax and argmin: find the extreme, then the least place where it occurs."""
        (arg,), dim, (integer, boolean) = step.args, step.params["dim"], (_INT64, _BOOL)
        rank = len(arg.shape)
        dims = tuple(range(rank)) if dim is None else (dim % max(rank, 1),) * bool(rank)
        best = Value(arg.dtype, tuple([1 if d in dims else n for d, n in enumerate(arg.shape)]))
        self.stored.add(best)
        self._combine(step, best, SEARCHES[step.prim], dims, partial(self.source, arg))
        shape = [arg.shape[d] for d in dims]
        nowhere = Literal(math.prod(shape), integer)

        def term(place: Place) -> Node:
            value = self.source(arg, place)
            there = Apply(
                records.eq, [value, self.source(best, aligned(place, best.shape))], boolean
            )
            if arg.dtype.kind == "f":
                # a NaN makes the extreme NaN, and its place is the result
                missing = Apply(records.isnan, [value], boolean)
                there = Apply(records.logical_or, [there, missing], boolean)
            position = Position(linear(tuple([place[d] for d in dims]), shape))
            return Apply(records.where, [there, position, nowhere], integer, step=step)

        self._combine(step, out, "min", dims, term)

    def _combine(
        self,
        step: Step,
        out: Value,
        kind: str,
        dims: tuple[int, ...],
        term_at: Callable[[Place], Node],
    ) -> None:
        """Lower a reduction of the terms at all places along dimensions of a step's argument."""
        arg = step.args[0]
        count = 1
        for dim in dims:
            count *= arg.shape[dim]
        start = Literal(start_of(kind, out.dtype), out.dtype)
        keeps = len(out.shape) == len(arg.shape)

        def target(place: Place) -> Place:
            kept = [ZERO if d in dims else index for d, index in enumerate(place)]
            return tuple(kept if keeps else [kept[d] for d in range(len(place)) if d not in dims])

        if not count:
            self._stores(step, out, out.shape, lambda place: start)
            return
        loops_of = [dim for dim, extent in enumerate(arg.shape) if extent != 1]
        reduced = [k for k, dim in enumerate(loops_of) if dim in dims]
        if not reduced:

            def alone(place: Place) -> Node:
                term = term_at(place)
                if kind == "add" and out.dtype.kind == "f":
                    term = Apply(records.add, [start, term], out.dtype, step=step)  # never -0.0
                return term

            self._stores(step, out, arg.shape, alone, target)
            return
        outermost = reduced[0]
        kept_inside = [k for k in range(outermost, len(loops_of)) if k not in reduced]
        # long sums in float32 would lose digits; those along the last dimension have several
        # accumulators, so they may be longer
        long = count > (_LONG_COLUMN if kept_inside else _LONG_SUM)
        wide = kind == "add" and out.dtype == np.float32 and long
        dtype = np.dtype(np.float64) if wide else out.dtype
        total = out if kept_inside and not wide else Value(dtype, out.shape)
        empty = Literal(start.number, dtype)

        def build(place: Place, loops: Sequence[Counter]) -> list[Part]:
            def apart() -> tuple[Place, tuple[Counter, ...]]:
                own = {loops[k]: Counter(loops[k].extent) for k in kept_inside}
                renamed = {old: of(new) for old, new in own.items()}
                return tuple([i.put(renamed) for i in target(place)]), tuple(own.values())

            at, own = apart()
            term = self._cast(term_at(place), dtype, step)
            parts = [
                Part(Store(total, at, empty, step), -1, outermost, own),
                Part(Store(total, target(place), term, step, kind)),
            ]
            if total is not out:
                at, own = apart()
                end = self._cast(Load(total, at), out.dtype, step)
                parts.append(Part(Store(out, at, end, step), 1, outermost, own))
            return parts

        self._nest(arg.shape, build)

    def _term(self, step: Step, place: Place, out: Value, truth: bool) -> Node:
        """The element of a reduction's argument, in the dtype in which it is combined."""
        node = self.source(step.args[0], place)
        if truth:
            node = self._cast(node, np.dtype(np.bool_), step)
        return self._cast(node, out.dtype, step)

    @staticmethod
    def _cast(node: Node, dtype: np.dtype[Any], step: Step) -> Node:
        if node.dtype == dtype:
            return node
        return Apply(records.to_copy, [node], dtype, {"dtype": dtype}, step=step)

    def _repeat(self, loop: Loop) -> None:
        counter = Counter(loop.count)
        self.block.append(Repeat(loop, counter, Plan(loop.body, counter)))
        for value in loop.outs:
            self._positions[value] = len(self.block) - 1

    # -- index arrays -----------------------------------------------------------------------------

    def _check(self, index: Value, extent: int) -> None:
        if (index, extent) in self._checks or not index.size:
            return
        held = index.constant
        if held is not None and ((held >= -extent) & (held < extent)).all():
            return
        self.block.append(Check(index, extent))
        self._checks[index, extent] = len(self.block) - 1
