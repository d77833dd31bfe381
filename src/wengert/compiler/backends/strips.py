"""Layer 8 · compiler: innermost loops, several elements at a time.

NOTE [strips]
A loop without loops in it is written out in vectors: its repetitions are taken as many at a time as
a register holds, and what is left over goes one by one. What does not depend on the counter is
computed before the loop. Elements that lie side by side are read and written together; others, and
what has no form for vectors, are computed one by one and put together. LLVM's own vectoriser would
find most of this again, but takes many times longer to do so than it takes to write.

No repetition needs what another one computes (NOTE [trees of loops] in `loops`), but for sums and
the like over all of them: of these each place of a register has its own, and they are combined
behind the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np

from wengert.compiler.backends.affine import Index, Looked, Place
from wengert.compiler.backends.elements import Elements, applied
from wengert.compiler.backends.loops import Accumulate, LoopTree, Store
from wengert.compiler.backends.nodes import Apply, Choice, Literal, Load, Node, Position, walk
from wengert.compiler.backends.plan import start_of
from wengert.compiler.backends.scope import Scope
from wengert.compiler.codegen.code import Cell, llvm_type
from wengert.compiler.codegen.scalars.lane import Lane
from wengert.compiler.codegen.scalars.table import cost, has_vectors
from wengert.compiler.codegen.vectors import register_bytes
from wengert.compiler.ir.programs import Value, Varying, open_ended

__all__ = ["Strips"]

# sums are taken apart into more of them while a body has no more nodes than this
_BRIEF = 8
_BRIEFEST = 4
# repetitions that there may be where their number is not the same in each program
_MANY = 1 << 16


class _Strip:
    """An innermost loop that is to be done in vectors.

    Attributes
    ----------
    counter: Its counter, or that of the innermost of several that are one.
    counters: All of these.
    width: How many elements are done at a time.
    apart: How many vectors of them.
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

    def narrower(self) -> _Strip:
        """The same with half as many elements at a time."""
        strip = copy(self)
        strip.width, strip.apart = self.width // 2, 1
        return strip

    def moves(self, place: Place) -> bool:
        """Whether a place depends on the counter."""
        return any(self._of(index) for index in place)

    def _of(self, index: Index) -> bool:
        return any(
            self.depends(v.node) if isinstance(v, Looked) else v in self.counters
            for v, _ in index.terms
        )

    def depends(self, node: Node) -> bool:
        """Whether a node is another one in each repetition."""
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
        """Everything that is computed."""
        return walk([node for item in self.statements for node in item.nodes])


class Strips(Elements):
    """Writes innermost loops."""

    # -- whether a loop can be done so ------------------------------------------------------------

    def _strip_of(self, merged: Sequence[LoopTree], extent: int) -> _Strip | None:
        """Plan the vectorisation of a loop, or None if it is impossible or gains nothing."""
        if not all(isinstance(item, Store | Accumulate) for item in merged[-1].body):
            return None
        strip = _Strip(merged)
        nodes = strip.nodes()
        sizes = [n.dtype.itemsize for n in nodes if strip.depends(n) or isinstance(n, Literal)]
        sizes += [item.value.dtype.itemsize for item in strip.statements]
        strip.width = register_bytes() // max(sizes)
        if open_ended(extent):
            extent = _MANY
        if strip.width < 2 or extent < strip.width or not self._in_order(strip):
            return None
        one, several = self._weights(strip, nodes)
        if several * 5 > one * strip.width * 3:
            return None
        brief = sum(strip.depends(node) for node in nodes)
        few = extent // strip.width
        if few <= 4 and brief * few <= 4 * _BRIEF:
            strip.apart = few
        elif any(self._is_sum(strip, item) for item in strip.statements):
            for limit in (_BRIEF, _BRIEFEST):
                if brief <= limit and extent >= 4 * strip.apart * strip.width:
                    strip.apart *= 2
        return strip

    def _factor(self, strip: _Strip, value: Value, place: Place) -> int | None:
        """The stride between the elements of successive iterations; None if not constant."""
        total = self._offset(value, place)
        if any(isinstance(v, Looked) and strip.depends(v.node) for v, _ in total.terms):
            return None
        return total.factor(strip.counter)

    def _is_own(self, strip: _Strip, value: Value, place: Place) -> bool:
        """Whether each repetition has a value for itself, in one place of memory or in none."""
        return strip.moves(place) and self._factor(strip, value, place) == 0

    def _is_sum(self, strip: _Strip, item: Any) -> bool:
        """Whether a statement combines something of all repetitions."""
        return isinstance(item, Accumulate) and not strip.moves(item.place)

    def _in_order(self, strip: _Strip) -> bool:
        """Whether several repetitions may go step by step together."""
        done: dict[Value, list[Place]] = {}
        places: dict[str, list[Index]] = {}
        for value, at in strip.written.items():
            found = places.setdefault(self.pointer(value), [])
            found += [self._offset(value, place) for place in at]
        for item in strip.statements:
            if not all(self._is_settled(strip, done, places, node) for node in walk(item.nodes)):
                return False
            value, place = item.value, item.place
            own = self._is_own(strip, value, place)
            if own and self.storage.slots[value].kind != "stack":
                return False
            if isinstance(item, Accumulate):
                if own and place not in done.get(value, ()):
                    return False
                if self._is_sum(strip, item):
                    if value in done:
                        return False
                    continue
            if not own and not self._factor(strip, value, place):
                return False
            done.setdefault(value, []).append(place)
        return True

    def _is_settled(
        self,
        strip: _Strip,
        done: dict[Value, list[Place]],
        places: dict[str, list[Index]],
        node: Node,
    ) -> bool:
        if isinstance(node, Choice) and strip.depends(node):
            return False
        if not isinstance(node, Load):
            return True
        base = self.plan.base(node.value)
        if base in strip.written:
            return base is node.value and node.place in done.get(base, ())
        written = places.get(self.pointer(base))
        return written is None or written == [self._offset(node.value, node.place)]

    def _weights(self, strip: _Strip, nodes: Sequence[Node]) -> tuple[int, int]:
        """Rough cycles of one repetition, and of several at a time."""
        one = several = len(strip.statements)
        for item in strip.statements:
            if self._factor(strip, item.value, item.place) not in (0, 1):
                several += 2 * strip.width
        for node in nodes:
            if not strip.depends(node):
                continue
            if isinstance(node, Load):
                own = 1
                near = node.value in strip.written or self._near(strip, node)
            else:
                own = cost(node.prim, node.dtype) if isinstance(node, Apply) else 1
                near = not isinstance(node, Apply) or self._is_vector(node)
            one += own
            several += own if near else (own + 1) * strip.width
        return one, several

    def _near(self, strip: _Strip, node: Load) -> bool:
        return self._factor(strip, node.value, node.place) == 1

    @staticmethod
    def _is_vector(node: Apply) -> bool:
        dtypes = [operand.dtype for operand in node.operands]
        return has_vectors(node.prim, dtypes, node.dtype)

    # -- the loop ---------------------------------------------------------------------------------

    def _write_strip(self, strip: _Strip, start: str, stop: int | str) -> int | str:
        """Write as much of a loop as fills vectors; where the rest begins."""
        code, step = self.code, strip.width * strip.apart
        end: int | str
        if isinstance(stop, int) and start.isdigit():
            end = stop - (stop - int(start)) % step
            end = Varying(end) if open_ended(stop) else end
        else:
            whole = code.let(f"sub nsw i64 {stop}, {start}")
            end = code.let(f"add nsw i64 {start}, {code.let(f'and i64 {whole}, {-step}')}")
        sums = [item for item in strip.statements if self._is_sum(strip, item)]
        cells = {id(item): self._cells(strip, item) for item in sums}
        outer = self.scope
        self.scope = Scope(outer)
        fixed = self._before(strip)
        with code.loop(end, start, step=step) as counter:
            for k in range(strip.apart):
                moved = code.let(f"add nuw nsw i64 {counter}, {k * strip.width}") if k else counter
                self.counters[strip.counter] = moved
                self.scope = Scope(self.scope)
                writer = _Writer(self, strip, fixed, moved)
                for item in strip.statements:
                    cell = cells.get(id(item))
                    writer.write(item, cell[k] if cell else None)
                assert self.scope.outer is not None
                self.scope = self.scope.outer
        self.scope = outer
        for item in sums:
            self._gather(strip, item, cells[id(item)])
        if open_ended(stop):
            if strip.apart > 1:
                strip = copy(strip)
                strip.apart = 1
                return self._write_strip(strip, str(end), stop)
        elif isinstance(stop, int) and isinstance(end, int) and stop - end > 1 < strip.width // 2:
            return self._write_strip(strip.narrower(), str(end), stop)
        return end

    def _before(self, strip: _Strip) -> dict[int, str]:
        """Emit the loop invariants."""
        fixed: dict[int, str] = {}
        for node in strip.nodes():
            if strip.depends(node):
                if isinstance(node, Load) and self._near(strip, node):
                    self._base(strip, node.value, node.place)
            elif not isinstance(node, Literal):
                fixed[id(node)] = self._spread(strip, self.node(node), node.dtype)
        for item in strip.statements:
            if self._factor(strip, item.value, item.place) == 1:
                self._base(strip, item.value, item.place)
        return fixed

    def _spread(self, strip: _Strip, name: str, dtype: np.dtype[Any]) -> str:
        """An element in all places of a vector."""
        return self.code.spread(name, llvm_type(dtype), strip.width)

    def _base(self, strip: _Strip, value: Value, place: Place) -> str:
        """The address from which the counter counts elements."""
        total = self._offset(value, place)
        terms = [(v, c) for v, c in total.terms if v is not strip.counter]
        return self._behind(value, Index(total.constant, terms))

    def _cells(self, strip: _Strip, item: Accumulate) -> list[Cell]:
        """Registers for a sum, at first empty."""
        lane = self._lane(item, strip.width)
        start = lane.number(start_of(item.kind, lane.dtype))
        return [self.code.cell(lane.type, start) for _ in range(strip.apart)]

    def _gather(self, strip: _Strip, item: Accumulate, cells: Sequence[Cell]) -> None:
        """Add what registers hold to a sum in memory."""
        lane = self._lane(item, strip.width)
        parts = [cell.get() for cell in cells]
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=False)
            rest = parts[len(parts) & ~1 :]
            parts = [lane.combined(item.kind, a, b) for a, b in pairs] + rest
        found = lane.reduced(item.kind, parts[0])
        total = self._load(item.value, item.place)
        self._store(item.value, item.place, self._lane(item).combined(item.kind, total, found))

    def _lane(self, item: Accumulate, count: int = 1) -> Lane:
        """The lane that combines elements of a statement, or vectors of them."""
        return Lane(self.code, item.value.dtype, count=count)


class _Writer:
    """Writes the statements of a strip for one vector of its repetitions.

    Parameters
    ----------
    fixed: The vectors of nodes that are the same in all repetitions.
    counter: The counter of the first repetition.
    """

    def __init__(self, owner: Strips, strip: _Strip, fixed: dict[int, str], counter: str) -> None:
        self._owner = owner
        self._code = owner.code
        self._strip = strip
        self._fixed = fixed
        self._counter = counter
        self._known: dict[Any, str] = {}

    def write(self, item: Any, cell: Cell | None) -> None:
        """Write a statement; `cell` is the register of its sum, if it is one."""
        found = self.node(item.node)
        owner, key = self._owner, (item.value, item.place)
        if cell is not None:
            lane = owner._lane(item, self._strip.width)
            cell.set(lane.combined(item.kind, cell.get(), found))
            return
        if isinstance(item, Accumulate):
            before = self.node(Load(*key))
            found = owner._lane(item, self._strip.width).combined(item.kind, before, found)
        self._known[key] = found
        if not owner._is_own(self._strip, item.value, item.place):
            self._store(item.value, item.place, found)

    def node(self, node: Node) -> str:
        """The vector of a node."""
        if isinstance(node, Literal):
            return Lane(self._code, node.dtype, count=self._strip.width).number(node.number)
        name = self._fixed.get(id(node))
        if name is not None:
            return name
        key = (node.value, node.place) if isinstance(node, Load) else id(node)
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = self._compute(node)
        return name

    def _type(self, dtype: np.dtype[Any]) -> str:
        return f"<{self._strip.width} x {llvm_type(dtype)}>"

    def _compute(self, node: Node) -> str:
        if isinstance(node, Load) and self._owner._near(self._strip, node):
            return self._load(node)
        if isinstance(node, Position) and not any(
            isinstance(v, Looked) for v, _ in node.index.terms
        ):
            return self._positions(node.index)
        if isinstance(node, Apply) and self._owner._is_vector(node):
            return applied(self._code, node, self.node, self._strip.width)
        return self._one_by_one(node)

    def _positions(self, index: Index) -> str:
        """An index of each repetition: they are evenly apart."""
        width, factor = self._strip.width, index.factor(self._strip.counter)
        first = self._owner.index(index)
        lane = Lane(self._code, np.dtype(np.int64), count=width)
        return lane.add(lane.spread(first), lane.numbers([factor * k for k in range(width)]))

    def _one_by_one(self, node: Node) -> str:
        """The elements of a node, put together."""
        code, width = self._code, self._strip.width
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
        """Write elements that do not lie side by side."""
        kind = self._type(value.dtype)
        for k in range(self._strip.width):
            element = self._code.let(f"extractelement {kind} {found}, i64 {k}")
            with self._at_place(k):
                self._owner._store(value, place, element)

    @contextmanager
    def _at_place(self, k: int) -> Iterator[None]:
        """Emit the code within for a single iteration."""
        owner, counter = self._owner, self._strip.counter
        owner.scope = Scope(owner.scope)
        if k:
            owner.counters[counter] = self._code.let(f"add nuw nsw i64 {self._counter}, {k}")
        yield
        owner.counters[counter] = self._counter
        assert owner.scope.outer is not None
        owner.scope = owner.scope.outer

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
        base = self._owner._base(self._strip, value, place)
        return self._code.at(base, value.dtype, self._counter)

    def _load(self, node: Load) -> str:
        value, dtype = node.value, node.dtype
        return self._code.load(self._at(value, node.place), dtype, self._strip.width)

    def _store(self, value: Value, place: Place, found: str) -> None:
        dtype = value.dtype
        if self._owner._factor(self._strip, value, place) != 1:
            self._scatter(value, place, found)
            return
        self._code.store(found, self._at(value, place), dtype, self._strip.width)
