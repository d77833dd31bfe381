"""Layer 8 · compiler: which values of a program lie in memory, and the loops that compute them.

NOTE [stored values]
Most values of a program never exist in memory: they are nodes in the bodies of loops that want
something else. Stored are those that somebody outside of loops reads (outputs, calls, repeated
bodies), the results of reductions, and those that would otherwise be computed several times at some
cost. Whether a stored value really needs memory is seen when all loops are known: what is used only
in the repetition that computed it becomes a register (NOTE [storage] in `storage`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from wengert.compiler.backends.affine import ZERO, Counter, Place, of
from wengert.compiler.backends.kinds import RESHAPES, kind_of, reduction_of, with_values
from wengert.compiler.backends.loops import (
    Accumulate,
    Block,
    Nest,
    Part,
    Product,
    Store,
    place_nest,
)
from wengert.compiler.backends.nodes import Apply, Literal, Load, Node
from wengert.compiler.backends.order import ordered_steps
from wengert.compiler.backends.pull import aligned
from wengert.compiler.backends.pulls import PULLS
from wengert.compiler.backends.regions import REGIONS, Region
from wengert.compiler.code import is_native
from wengert.compiler.ir import Loop, Number, Program, Step, Value, uses
from wengert.compiler.native import Native
from wengert.compiler.native_table import NATIVE
from wengert.compiler.scalars import cost

__all__ = ["Call", "Check", "Plan", "Repeat"]

# computing again what costs no more than this is cheaper than memory
_CHEAP = 6
# expressions grow no deeper than this
_DEEPEST = 40

_STARTS: dict[str, Callable[[np.dtype[Any]], Any]] = {
    "sum": lambda dtype: 0,
    "prod": lambda dtype: 1,
    "max": lambda dtype: -np.inf if dtype.kind == "f" else np.iinfo(dtype).min,
    "min": lambda dtype: np.inf if dtype.kind == "f" else np.iinfo(dtype).max,
    "any": lambda dtype: False,
    "all": lambda dtype: True,
}


# products of no more terms, whose second factor and result have no more and no fewer bytes
_FEW = 16
_NEAR = 2**14
_FAR = 2**19
# what takes the positions along a dimension from its second argument
_LOOKED = frozenset(("gather", "index_select", "max_dim", "min_dim", "embedding", "take"))


def _is_batched(step: Step) -> bool:
    """Whether a step is several products of matrices."""
    shape = step.outs[0].shape
    return step.prim.name == "bmm" and shape[:-2] != (1,) * len(shape[:-2]) and 0 not in shape


def _is_tall(step: Step) -> bool:
    """Whether a product of matrices is so large, and its rows so easily made, that what uses them
    had better do so row by row, while they are in cache."""
    if step.prim.name != "mm":
        return False
    a, b = step.args
    out = step.outs[0]
    few = 0 < a.shape[1] <= _FEW and b.size * b.dtype.itemsize <= _NEAR
    return few and out.shape[1] > 1 and out.size * out.dtype.itemsize >= _FAR


class Call:
    """A step that native code computes from memory to memory.

    Attributes
    ----------
    views
        For each argument where in memory its elements stand, as a `Load` for given counters.
    """

    __slots__ = ("native", "step", "views")

    def __init__(
        self, step: Step, native: Native, views: Sequence[tuple[tuple[Counter, ...], Load]]
    ) -> None:
        self.step = step
        self.native = native
        self.views = tuple(views)


class Check:
    """Whether every element of an index array names a position of a dimension."""

    __slots__ = ("extent", "value")

    def __init__(self, value: Value, extent: int) -> None:
        self.value = value
        self.extent = extent


class Repeat:
    """A loop whose body is a plan of its own."""

    __slots__ = ("body", "counter", "loop")

    def __init__(self, loop: Loop, counter: Counter, body: Plan) -> None:
        self.loop = loop
        self.counter = counter
        self.body = body


class Plan:
    """The loops and calls that compute a program.

    Parameters
    ----------
    program
        A program of native steps.
    counter
        The counter of the loop whose body this is, if it is one.

    Attributes
    ----------
    block
        What runs, in order.
    aliases
        Values that are others' memory in another shape.
    """

    def __init__(self, program: Program, counter: Counter | None = None) -> None:
        self.program = program
        self.counter = counter
        self.block: Block = []
        self.aliases: dict[Value, Value] = {}
        self.definitions: dict[Value, tuple[Step, int]] = {}
        self.stored: set[Value] = set(program.inputs)
        self._costs: dict[Value, int] = dict.fromkeys(program.inputs, 1)
        self._depths: dict[Value, int] = {}
        self._positions: dict[Value, int] = {}
        self._checks: dict[tuple[Value, int], int] = {}
        self._nodes: dict[tuple[Value, Place], Node] = {}
        self.steps = [
            step if isinstance(step, Loop) else with_values(step) for step in ordered_steps(program)
        ]
        self._decide()
        for step in self.steps:
            if isinstance(step, Loop):
                self._repeat(step)
            else:
                self._compute(step)

    # -- which values are stored ------------------------------------------------------------------

    def _decide(self) -> None:
        counts: dict[Value, int] = dict.fromkeys(self.program.outputs, 1)
        for step in self.steps:
            for value in uses(step):
                counts[value] = counts.get(value, 0) + 1
        for step in self.steps:
            if isinstance(step, Loop):
                for value in (*step.carried, *(v for v, _, _ in step.sliced), *step.fixed):
                    self._store(value)
                for value in step.outs:
                    self._costs[value] = 1
                    self.stored.add(value)
                continue
            for k, out in enumerate(step.outs):
                self.definitions[out] = step, k
            self._decide_step(step, kind_of(step), counts)
        for value in self.program.outputs:
            self._store(value)

    def _decide_step(self, step: Step, kind: str, counts: dict[Value, int]) -> None:
        name = step.prim.name
        if kind == "reduce":
            out = step.outs[0]
            self.stored.add(out)
            self._costs[out] = 1
            return
        if kind == "call":
            self._decide_call(step)
            return
        if kind == "pull":
            own = self._decide_pull(step)
        else:
            own = cost(name, step.outs[0].dtype)
            for arg in step.args:
                # what is broadcast would be computed once for each element of the result
                if arg.size < step.outs[0].size and self._cost(arg) > 2:
                    self._store(arg)
        for out in step.outs:
            total = own + sum(map(self._cost, dict.fromkeys(uses(step))))
            depth = 1 + max((self._depths.get(arg, 0) for arg in uses(step)), default=0)
            self._costs[out] = total
            self._depths[out] = depth
            often = counts.get(out, 0) > 1
            if (often and total > (1 if out.size == 1 else _CHEAP)) or depth > _DEEPEST:
                self._store(out)

    def _decide_call(self, step: Step) -> None:
        native = NATIVE[step.prim.name]
        strided = native.strided(step)
        for k, value in enumerate(uses(step)):
            if k < len(strided) and strided[k]:
                self._store(self._viewed(value))
            else:
                self._store(value)
        for out in step.outs:
            self.stored.add(out)
            self._costs[out] = 1

    def _viewed(self, value: Value) -> Value:
        """What a value is a view of, at places that strides can say."""
        while value in self.definitions and value not in self.stored and value not in self.aliases:
            step, _ = self.definitions[value]
            pull = PULLS.get(step.prim.name)
            if pull is None or not pull.view or kind_of(step) != "pull":
                break
            value = step.args[0]
        return value

    def _decide_pull(self, step: Step) -> int:
        """Store what a movement should not compute anew; its own cost."""
        name = step.prim.name
        pull = PULLS[name]
        if name in RESHAPES and not pull.accepts(step):
            source = step.args[0]
            self._store(source)
            self.aliases[step.outs[0]] = source
            return 0
        for index, _ in self._lookups(step):
            self._store(index)
        grows = step.args and step.outs[0].size > step.args[0].size
        for arg in step.args:
            again = pull.inline(step) and (grows or pull.piecewise)
            if again and self._cost(arg) > 2:
                self._store(arg)
            elif self._cost(arg) > 1 and name in ("mm", "bmm", "mv"):
                # each element is read for a whole row, or column
                self._store(arg)
        if not pull.inline(step):
            self._store(step.outs[0])
        return pull.cost(step)

    def _cost(self, value: Value) -> int:
        return 1 if value in self.stored else self._costs.get(value, 0)

    def _store(self, value: Value) -> None:
        if value.constant is None and value not in self.aliases:
            self.stored.add(value)
            self._depths[value] = 0

    # -- the elements of values -------------------------------------------------------------------

    def source(self, value: Value, place: Place) -> Node:
        """The element of a value at a place."""
        if value.constant is not None and value.size == 1 and is_native(value.dtype):
            return Literal(value.constant.item(), value.dtype)
        key = value, place
        node = self._nodes.get(key)
        if node is None:
            held = value in self.stored or value in self.aliases or value.constant is not None
            node = Load(value, place) if held else self.element(value, place)
            self._nodes[key] = node
        return node

    def element(self, value: Value, place: Place) -> Node:
        """The element of a value at a place, computed by its step."""
        step, k = self.definitions[value]
        pull = PULLS.get(step.prim.name)
        if pull is not None and kind_of(step) == "pull":
            assert pull.node is not None
            return pull.node(self.source, step, k, place, self.counter)
        numbers = {
            name: self.source(param.value, (ZERO,) * len(param.value.shape))
            for name, param in step.params.items()
            if isinstance(param, Number)
        }
        operands = [self.source(arg, aligned(place, arg.shape)) for arg in step.args]
        return Apply(step.prim.name, operands, value.dtype, step.params, numbers, step)

    def base(self, value: Value) -> Value:
        """The value whose memory a value shares, or the value itself."""
        while value in self.aliases:
            value = self.aliases[value]
        return value

    # -- the loops of steps -----------------------------------------------------------------------

    def _compute(self, step: Step) -> None:
        kind = kind_of(step)
        if kind == "call":
            if _is_batched(step) or _is_tall(step):
                self._multiply(step)
            else:
                self._call(step)
            return
        for index, extent in self._lookups(step):
            self._check(index, extent)
        for out in step.outs:
            if out not in self.stored:
                continue
            if not out.size:
                self._positions[out] = -1
            elif kind == "reduce":
                self._reduce(step, out)
            elif step.prim.name in REGIONS:
                self._regions(step, out)
            else:
                self._elements(step, out)

    def _call(self, step: Step) -> None:
        native = NATIVE[step.prim.name]
        given = list(uses(step))
        if native.into is not None and step.outs[0].size:
            out, source = step.outs[0], given[native.into]
            self._nest(
                out.shape,
                lambda place, loops: [Part(Store(out, place, self.source(source, place), step))],
            )
            given[native.into] = out
        views = []
        for value in given:
            counters = tuple([Counter(size) for size in value.shape])
            place = tuple(map(of, counters))
            held = value.constant is not None or value in step.outs
            node = Load(value, place) if held else self.source(value, place)
            assert isinstance(node, Load)
            views.append((counters, node))
        self.block.append(Call(step, native, views))
        for out in step.outs:
            self._positions[out] = len(self.block) - 1

    def _multiply(self, step: Step) -> None:
        """Place a loop over products of matrices, or of rows, which others may share."""
        (out,), (a, b) = step.outs, step.args
        rank = len(out.shape)
        tall = rank == 2

        def build(place: Place, loops: Sequence[Counter]) -> list[Part]:
            sizes = (1 if tall else out.shape[-2], a.shape[-1], out.shape[-1])
            rows, inner, columns = map(Counter, sizes)
            lead = place[: rank - 2]
            row = place[0] if tall else of(rows)
            left = self.source(a, aligned((*lead, row, of(inner)), a.shape))
            right = self.source(b, aligned((*lead, of(inner), of(columns)), b.shape))
            assert isinstance(left, Load) and isinstance(right, Load)
            at = (*lead, row, of(columns))
            return [Part(Product(out, at, (left, right), (rows, inner, columns), step))]

        self._nest((out.shape[0], 1) if tall else (*out.shape[:-2], 1, 1), build)

    def _nest(
        self,
        extents: Sequence[int],
        build: Callable[[Place, Sequence[Counter]], list[Part]],
    ) -> None:
        """Place a nest of one loop for each extent that is not 1."""
        counters = [Counter(extent) for extent in extents]

        def parts(loops: Sequence[Counter]) -> list[Part]:
            given = iter(loops)
            place = tuple([ZERO if n == 1 else of(next(given)) for n in extents])
            return build(place, loops)

        nest = Nest([c for c in counters if c.extent != 1], parts, self.base)
        first = max((self._positions.get(value, -1) for value in nest.inputs), default=-1)
        first = max([first, *(self._positions.get(value, -1) for value in nest.writes)])
        first = max([first, *(self._checks[key] for key in self._lookups_below(nest))])
        at = place_nest(self.block, nest, first)
        for value in nest.writes:
            self._positions[value] = at

    def _elements(self, step: Step, out: Value) -> None:
        self._nest(
            out.shape,
            lambda place, loops: [Part(Store(out, place, self.element(out, place), step))],
        )

    def _regions(self, step: Step, out: Value) -> None:
        """Write a value region by region."""
        for region in REGIONS[step.prim.name](step, self.counter):
            if 0 not in region.shape:
                self._nest(region.shape, partial(self._region, step, out, region))

    def _region(
        self, step: Step, out: Value, region: Region, place: Place, loops: Sequence[Counter]
    ) -> list[Part]:
        node = region.node(self.source, place)
        return [Part(Store(out, region.target(place), node, step))]

    def _reduce(self, step: Step, out: Value) -> None:
        reduction = reduction_of(step)
        assert reduction is not None
        arg = step.args[0]
        kind, dims = reduction.kind, reduction.dims
        count = 1
        for dim in dims:
            count *= arg.shape[dim]
        start = Literal(_STARTS[kind](out.dtype), out.dtype)
        keeps = len(out.shape) == len(arg.shape)

        def target(place: Place) -> Place:
            if step.prim.name == "sum_to":
                return aligned(place, out.shape)
            kept = [ZERO if d in dims else index for d, index in enumerate(place)]
            return tuple(kept if keeps else [kept[d] for d in range(len(place)) if d not in dims])

        if not count:
            self._nest(out.shape, lambda place, loops: [Part(Store(out, place, start, step))])
            return
        loops_of = [dim for dim, extent in enumerate(arg.shape) if extent != 1]
        reduced = [k for k, dim in enumerate(loops_of) if dim in dims]
        if not reduced:
            self._nest(
                arg.shape,
                lambda place, loops: [
                    Part(Store(out, target(place), self._term(step, place, out, kind), step))
                ],
            )
            return
        outermost = reduced[0]
        behind = [k for k in range(outermost, len(loops_of)) if k not in reduced]
        if behind:

            def build(place: Place, loops: Sequence[Counter]) -> list[Part]:
                own = {loops[k]: Counter(loops[k].extent) for k in behind}
                renamed = {old: of(new) for old, new in own.items()}
                cleared = tuple([index.put(renamed) for index in target(place)])
                term = self._term(step, place, out, kind)
                return [
                    Part(Store(out, cleared, start, step), -1, outermost, tuple(own.values())),
                    Part(Accumulate(out, target(place), term, kind, step)),
                ]

        else:
            total = Value(out.dtype, out.shape)

            def build(place: Place, loops: Sequence[Counter]) -> list[Part]:
                at = target(place)
                term = self._term(step, place, out, kind)
                return [
                    Part(Store(total, at, start, step), -1, outermost),
                    Part(Accumulate(total, at, term, kind, step)),
                    Part(Store(out, at, Load(total, at), step), 1, outermost),
                ]

        self._nest(arg.shape, build)

    def _term(self, step: Step, place: Place, out: Value, kind: str) -> Node:
        """The element of a reduction's argument, in the dtype in which it is combined."""
        node = self.source(step.args[0], place)
        if kind in ("any", "all") or step.prim.name == "count_nonzero":
            node = self._cast(node, np.dtype(np.bool_), step)
        return self._cast(node, out.dtype, step)

    @staticmethod
    def _cast(node: Node, dtype: np.dtype[Any], step: Step) -> Node:
        if node.dtype == dtype:
            return node
        return Apply("to_copy", [node], dtype, {"dtype": dtype}, step=step)

    def _repeat(self, loop: Loop) -> None:
        counter = Counter(loop.count)
        self.block.append(Repeat(loop, counter, Plan(loop.body, counter)))
        for value in loop.outs:
            self._positions[value] = len(self.block) - 1

    def work(self) -> int:
        """Roughly how many cycles a run takes."""
        total = 0
        for step in self.steps:
            if isinstance(step, Loop):
                total += sum(item.body.work() for item in self._bodies(step)) * step.count
            else:
                kind = kind_of(step)
                if kind == "call":
                    total += NATIVE[step.prim.name].cost(step)
                    continue
                each = cost(step.prim.name, step.outs[0].dtype) if kind == "scalar" else 1
                total += each * max([value.size for value in (*step.args, *step.outs)])
        return total

    def _bodies(self, loop: Loop) -> list[Repeat]:
        return [item for item in self.block if isinstance(item, Repeat) and item.loop is loop]

    # -- index arrays -----------------------------------------------------------------------------

    def _lookups(self, step: Step) -> list[tuple[Value, int]]:
        """The index arrays of a step, with the sizes of what they index."""
        name = step.prim.name
        if name == "index":
            shape = step.args[0].shape
            pairs = zip(step.params["indices"], shape, strict=False)
            return [(index, size) for index, size in pairs if index is not None]
        if name in _LOOKED and step.args[0].shape:
            return [(step.args[1], step.args[0].shape[step.params.get("dim", 0)])]
        return []

    def _check(self, index: Value, extent: int) -> None:
        if (index, extent) in self._checks or not index.size:
            return
        self.block.append(Check(index, extent))
        self._checks[index, extent] = len(self.block) - 1

    def _lookups_below(self, nest: Nest) -> list[tuple[Value, int]]:
        """The checks that must have been made before a nest runs."""
        read = {node.value for node in nest.reads}
        return [key for key in self._checks if key[0] in read]
