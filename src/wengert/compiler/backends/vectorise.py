"""Layer 8 · compiler: the vectoriser, which writes innermost loops with vector instructions.

NOTE [vectorisation]
The iterations of an innermost loop are taken a register's width at a time, with a scalar loop for
the remainder. Loop invariants are computed before the loop. Contiguous elements are read and
written as vectors. Other elements, and primitives without a vector form, are computed lane by lane
and assembled. LLVM's own vectoriser would find most of this, but takes many times longer.

No iteration depends on another (NOTE [trees of loops] in `loops`) except through reductions: each
lane of a register has its own accumulator, and these are combined after the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np

from wengert.compiler.backends.affine import Index, Looked, Place
from wengert.compiler.backends.elements import Elements, applied
from wengert.compiler.backends.loops import LoopTree, Store
from wengert.compiler.backends.nodes import Apply, Choice, Literal, Load, Node, Position, walk
from wengert.compiler.backends.plan import start_of
from wengert.compiler.backends.scope import Scope
from wengert.compiler.codegen.code import Cell, llvm_type
from wengert.compiler.codegen.scalars.lane import Lane
from wengert.compiler.codegen.scalars.table import cost, has_vectors
from wengert.compiler.codegen.vectors import register_bytes
from wengert.compiler.ir.programs import Value, Varying, open_ended

# reductions get more accumulators while a body has at most this many nodes
_BRIEF = 8
_BRIEFEST = 4
# the trip count that is assumed where it differs between programs
_MANY = 1 << 16


class _VectorLoop:
    """An innermost loop that is vectorised.

    Attributes
    ----------
    counter: Its counter; of several collapsed loops, that of the innermost.
    counters: The counters of all collapsed loops.
    width: The number of lanes.
    apart: The number of vectors in one iteration, the unroll factor.
    """

    __slots__ = ("_memo", "apart", "counter", "counters", "statements", "width", "written")

    def __init__(self, merged: Sequence[LoopTree]) -> None:
        self.counter = merged[-1].counter
        self.counters = frozenset([tree.counter for tree in merged])
        self.statements = merged[-1].body
        self.written: dict[Value, list[Place]] = {}
        for item in self.statements:
            self.written.setdefault(item.value, []).append(item.place)
        self.width = 1
        self.apart = 1
        self._memo: dict[int, bool] = {}

    def narrower(self) -> _VectorLoop:
        """Return the loop with half as many lanes."""
        loop = copy(self)
        loop.width, loop.apart = self.width // 2, 1
        return loop

    def moves(self, place: Place) -> bool:
        """Return whether a place depends on the counter."""
        return any(self._of(index) for index in place)

    def _of(self, index: Index) -> bool:
        return any(
            self.depends(v.node) if isinstance(v, Looked) else v in self.counters
            for v, _ in index.terms
        )

    def depends(self, node: Node) -> bool:
        """Return whether a node's value depends on the iteration."""
        known = self._memo.get(id(node))
        if known is None:
            known = self._memo[id(node)] = self._depends(node)
        return known

    def _depends(self, node: Node) -> bool:
        if isinstance(node, Load):
            return node.value in self.written or self.moves(node.place)
        if isinstance(node, Position):
            return self._of(node.index)
        if isinstance(node, Apply):
            return any(map(self.depends, (*node.operands, *node.numbers.values())))
        if isinstance(node, Choice):
            tests = any(self._of(index) for index, _, _ in node.tests)
            return tests or self.depends(node.inside) or self.depends(node.outside)
        return False

    def nodes(self) -> list[Node]:
        """Return all nodes of the body."""
        return walk([node for item in self.statements for node in item.nodes])


class Vectoriser(Elements):
    """Writes innermost loops."""

    # -- legality and profit ----------------------------------------------------------------------

    def _vector_loop(self, merged: Sequence[LoopTree], extent: int) -> _VectorLoop | None:
        """Plan the vectorisation of a loop, or None if it is impossible or gains nothing."""
        if not all(isinstance(item, Store) for item in merged[-1].body):
            return None
        loop = _VectorLoop(merged)
        nodes = loop.nodes()
        sizes = [n.dtype.itemsize for n in nodes if loop.depends(n) or isinstance(n, Literal)]
        sizes += [item.value.dtype.itemsize for item in loop.statements]
        loop.width = register_bytes() // max(sizes)
        if open_ended(extent):
            extent = _MANY
        if loop.width < 2 or extent < loop.width or not self._in_order(loop):
            return None
        one, several = self._weights(loop, nodes)
        if several * 5 > one * loop.width * 3:
            return None
        brief = sum(loop.depends(node) for node in nodes)
        few = extent // loop.width
        if few <= 4 and brief * few <= 4 * _BRIEF:
            loop.apart = few
        elif any(self._is_sum(loop, item) for item in loop.statements):
            for limit in (_BRIEF, _BRIEFEST):
                if brief <= limit and extent >= 4 * loop.apart * loop.width:
                    loop.apart *= 2
        return loop

    def _factor(self, loop: _VectorLoop, value: Value, place: Place) -> int | None:
        """Return the stride between the elements of successive iterations; None if not constant."""
        total = self._offset(value, place)
        if any(isinstance(v, Looked) and loop.depends(v.node) for v, _ in total.terms):
            return None
        return total.factor(loop.counter)

    def _is_own(self, loop: _VectorLoop, value: Value, place: Place) -> bool:
        """Return whether each iteration has a value of its own, in one place or in a register."""
        return loop.moves(place) and self._factor(loop, value, place) == 0

    def _is_sum(self, loop: _VectorLoop, item: Any) -> bool:
        """Return whether a statement is a reduction over the iterations."""
        return bool(item.kind) and not loop.moves(item.place)

    def _in_order(self, loop: _VectorLoop) -> bool:
        """Return whether several iterations may run in lockstep."""
        done: dict[Value, list[Place]] = {}
        places: dict[str, list[Index]] = {}
        for value, at in loop.written.items():
            found = places.setdefault(self.pointer(value), [])
            found += [self._offset(value, place) for place in at]
        for item in loop.statements:
            if not all(self._is_settled(loop, done, places, node) for node in walk(item.nodes)):
                return False
            value, place = item.value, item.place
            own = self._is_own(loop, value, place)
            if own and self.buffers.slots[value].kind != "stack":
                return False
            if item.kind:
                if own and place not in done.get(value, ()):
                    return False
                if self._is_sum(loop, item):
                    if value in done:
                        return False
                    continue
            if not own and not self._factor(loop, value, place):
                return False
            done.setdefault(value, []).append(place)
        return True

    def _is_settled(
        self,
        loop: _VectorLoop,
        done: dict[Value, list[Place]],
        places: dict[str, list[Index]],
        node: Node,
    ) -> bool:
        if isinstance(node, Choice) and loop.depends(node):
            return False
        if not isinstance(node, Load):
            return True
        base = self.plan.base(node.value)
        if base in loop.written:
            return base is node.value and node.place in done.get(base, ())
        written = places.get(self.pointer(base))
        return written is None or written == [self._offset(node.value, node.place)]

    def _weights(self, loop: _VectorLoop, nodes: Sequence[Node]) -> tuple[int, int]:
        """Estimate the cycles of one iteration, and of one vector of iterations."""
        one = several = len(loop.statements)
        for item in loop.statements:
            if self._factor(loop, item.value, item.place) not in (0, 1):
                several += 2 * loop.width
        for node in nodes:
            if not loop.depends(node):
                continue
            if isinstance(node, Load):
                own = 1
                near = node.value in loop.written or self._near(loop, node)
            else:
                own = cost(node.prim, node.dtype) if isinstance(node, Apply) else 1
                near = not isinstance(node, Apply) or self._is_vector(node)
            one += own
            several += own if near else (own + 1) * loop.width
        return one, several

    def _near(self, loop: _VectorLoop, node: Load) -> bool:
        return self._factor(loop, node.value, node.place) == 1

    @staticmethod
    def _is_vector(node: Apply) -> bool:
        dtypes = [operand.dtype for operand in node.operands]
        return has_vectors(node.prim, dtypes, node.dtype)

    # -- the loop ---------------------------------------------------------------------------------

    def _write_vectors(self, loop: _VectorLoop, start: str, stop: int | str) -> int | str:
        """Write the vector part of a loop; return where the remainder begins."""
        code, step = self.code, loop.width * loop.apart
        end: int | str
        if isinstance(stop, int) and start.isdigit():
            end = stop - (stop - int(start)) % step
            end = Varying(end) if open_ended(stop) else end
        else:
            whole = code.let(f"sub nsw i64 {stop}, {start}")
            end = code.let(f"add nsw i64 {start}, {code.let(f'and i64 {whole}, {-step}')}")
        sums = [item for item in loop.statements if self._is_sum(loop, item)]
        cells = {id(item): self._cells(loop, item) for item in sums}
        outer = self.scope
        self.scope = Scope(outer)
        fixed = self._before(loop)
        with code.loop(end, start, step=step) as counter:
            for k in range(loop.apart):
                moved = code.let(f"add nuw nsw i64 {counter}, {k * loop.width}") if k else counter
                self.counters[loop.counter] = moved
                with self.inside():
                    writer = _Writer(self, loop, fixed, moved)
                    for item in loop.statements:
                        cell = cells.get(id(item))
                        writer.write(item, cell[k] if cell else None)
        self.scope = outer
        for item in sums:
            self._gather(loop, item, cells[id(item)])
        if open_ended(stop):
            if loop.apart > 1:
                loop = copy(loop)
                loop.apart = 1
                return self._write_vectors(loop, str(end), stop)
        elif isinstance(stop, int) and isinstance(end, int) and stop - end > 1 < loop.width // 2:
            return self._write_vectors(loop.narrower(), str(end), stop)
        return end

    def _before(self, loop: _VectorLoop) -> dict[int, str]:
        """Emit the loop invariants."""
        fixed: dict[int, str] = {}
        for node in loop.nodes():
            if loop.depends(node):
                if isinstance(node, Load) and self._near(loop, node):
                    self._base(loop, node.value, node.place)
            elif not isinstance(node, Literal):
                fixed[id(node)] = self._spread(loop, self.node(node), node.dtype)
        for item in loop.statements:
            if self._factor(loop, item.value, item.place) == 1:
                self._base(loop, item.value, item.place)
        return fixed

    def _spread(self, loop: _VectorLoop, name: str, dtype: np.dtype[Any]) -> str:
        """Broadcast an element to all lanes."""
        return self.code.spread(name, llvm_type(dtype), loop.width)

    def _base(self, loop: _VectorLoop, value: Value, place: Place) -> str:
        """Return the address of the element at counter 0."""
        total = self._offset(value, place)
        terms = [(v, c) for v, c in total.terms if v is not loop.counter]
        return self._behind(value, Index(total.constant, terms))

    def _cells(self, loop: _VectorLoop, item: Store) -> list[Cell]:
        """Return the accumulators of a reduction, set to its identity."""
        lane = self._lane(item, loop.width)
        start = lane.number(start_of(item.kind, lane.dtype))
        return [self.code.cell(lane.type, start) for _ in range(loop.apart)]

    def _gather(self, loop: _VectorLoop, item: Store, cells: Sequence[Cell]) -> None:
        """Combine the accumulators of a reduction with its value in memory."""
        lane = self._lane(item, loop.width)
        parts = [cell.get() for cell in cells]
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=False)
            rest = parts[len(parts) & ~1 :]
            parts = [lane.combined(item.kind, a, b) for a, b in pairs] + rest
        self._combine(item, lane.reduced(item.kind, parts[0]))

    def _combine(self, item: Store, found: str) -> None:
        """Combine an element with the one in memory."""
        total = self._load(item.value, item.place)
        self._store(item.value, item.place, self._lane(item).combined(item.kind, total, found))

    def _lane(self, item: Store, count: int = 1) -> Lane:
        """Return the arithmetic for a reduction's elements, or for vectors of them."""
        return Lane(self.code, item.value.dtype, count=count)


class _Writer:
    """Writes the statements of a loop for one vector of its iterations.

    Parameters
    ----------
    fixed: The vectors of nodes that are the same in all iterations.
    counter: The counter of the first iteration.
    """

    def __init__(
        self, owner: Vectoriser, loop: _VectorLoop, fixed: dict[int, str], counter: str
    ) -> None:
        self._owner = owner
        self._code = owner.code
        self._loop = loop
        self._fixed = fixed
        self._counter = counter
        self._known: dict[Any, str] = {}

    def write(self, item: Any, cell: Cell | None) -> None:
        """Write a statement; `cell` is the register of its sum, if it is one."""
        found = self.node(item.node)
        owner, key = self._owner, (item.value, item.place)
        if cell is not None:
            lane = owner._lane(item, self._loop.width)
            cell.set(lane.combined(item.kind, cell.get(), found))
            return
        if item.kind:
            before = self.node(Load(*key))
            found = owner._lane(item, self._loop.width).combined(item.kind, before, found)
        self._known[key] = found
        if not owner._is_own(self._loop, item.value, item.place):
            self._store(item.value, item.place, found)

    def node(self, node: Node) -> str:
        """The vector of a node."""
        if isinstance(node, Literal):
            return Lane(self._code, node.dtype, count=self._loop.width).number(node.number)
        name = self._fixed.get(id(node))
        if name is not None:
            return name
        key = (node.value, node.place) if isinstance(node, Load) else id(node)
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = self._compute(node)
        return name

    def _type(self, dtype: np.dtype[Any]) -> str:
        return f"<{self._loop.width} x {llvm_type(dtype)}>"

    def _compute(self, node: Node) -> str:
        if isinstance(node, Load) and self._owner._near(self._loop, node):
            return self._load(node)
        if isinstance(node, Position) and not any(
            isinstance(v, Looked) for v, _ in node.index.terms
        ):
            return self._positions(node.index)
        if isinstance(node, Apply) and self._owner._is_vector(node):
            return applied(self._code, node, self.node, self._loop.width)
        return self._one_by_one(node)

    def _positions(self, index: Index) -> str:
        """Return the vector of an affine index."""
        width, factor = self._loop.width, index.factor(self._loop.counter)
        first = self._owner.index(index)
        lane = Lane(self._code, np.dtype(np.int64), count=width)
        return lane.add(lane.spread(first), lane.numbers([factor * k for k in range(width)]))

    def _one_by_one(self, node: Node) -> str:
        """Compute a node lane by lane, and assemble the vector."""
        code, width = self._code, self._loop.width
        kind, result = llvm_type(node.dtype), "poison"
        if isinstance(node, Apply):
            for part in (*node.operands, *node.numbers.values()):
                self.node(part)
        for k in range(width):
            element = self._element(node, k)
            result = code.let(
                f"insertelement <{width} x {kind}> {result}, {kind} {element}, i64 {k}"
            )
        return result

    def _scatter(self, value: Value, place: Place, found: str) -> None:
        """Write elements that are not contiguous."""
        kind = self._type(value.dtype)
        for k in range(self._loop.width):
            element = self._code.let(f"extractelement {kind} {found}, i64 {k}")
            with self._at_place(k):
                self._owner._store(value, place, element)

    @contextmanager
    def _at_place(self, k: int) -> Iterator[None]:
        """Emit the code within for a single iteration."""
        owner, counter = self._owner, self._loop.counter
        with owner.inside():
            if k:
                owner.counters[counter] = self._code.let(f"add nuw nsw i64 {self._counter}, {k}")
            yield
            owner.counters[counter] = self._counter

    def _element(self, node: Node, k: int) -> str:
        def part(operand: Node) -> str:
            vector = f"{self._type(operand.dtype)} {self.node(operand)}"
            return self._code.let(f"extractelement {vector}, i64 {k}")

        if isinstance(node, Apply):
            return applied(self._code, node, part)
        with self._at_place(k):
            return self._owner.node(node)

    # -- memory -----------------------------------------------------------------------------------

    def _at(self, value: Value, place: Place) -> str:
        base = self._owner._base(self._loop, value, place)
        return self._code.at(base, value.dtype, self._counter)

    def _load(self, node: Load) -> str:
        value, dtype = node.value, node.dtype
        return self._code.load(self._at(value, node.place), dtype, self._loop.width)

    def _store(self, value: Value, place: Place, found: str) -> None:
        dtype = value.dtype
        if self._owner._factor(self._loop, value, place) != 1:
            self._scatter(value, place, found)
            return
        self._code.store(found, self._at(value, place), dtype, self._loop.width)
