"""Layer 8 · compiler: buffer assignment: where each stored value of a plan lies.

NOTE [buffers]
Each stored value has a `Slot`. Outputs are computed in the caller's arrays. A value that is used
only in the iterations that compute it needs a buffer for one iteration: the dimensions that the
shared loops count are dropped. Usually all are, and the value is a scalar on the stack, which LLVM
keeps in a register. The rest lies in one arena, where values with disjoint lifetimes share memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import is_
from typing import Any, NamedTuple

from wengert.compiler.backends.affine import Counter, Place
from wengert.compiler.backends.loops import LoopTree, Store
from wengert.compiler.backends.nodes import Load, walk
from wengert.compiler.backends.plan import Check, NativeCall, Plan, Repeat
from wengert.compiler.codegen.code import strides_of
from wengert.compiler.ir.programs import Value, open_ended, uses

_ALIGNMENT = 64
# the largest values on the stack, in bytes
_SMALL = 256
_SMALL_WITHIN = 4096


class Slot(NamedTuple):
    """The buffer of a value.

    Attributes
    ----------
    kind: ``"input"``, ``"output"``, ``"constant"``, ``"stack"`` or ``"arena"``.
    number: The position of the input, output or constant; in the arena the offset in bytes.
    strides: The stride of each dimension, in elements.
    size: The size in bytes.
    """

    kind: str
    number: int
    strides: tuple[int, ...]
    size: int


class _Use(NamedTuple):
    item: int
    path: tuple[LoopTree, ...]
    place: Place | None
    statement: Any
    order: int


class Buffers:
    """The slots of a plan's values.

    Parameters
    ----------
    plan: The plan.
    writes: Pairs of an output and an input whose buffer it may be computed in.
    behind: The position of the item after which outputs may overwrite inputs.

    Attributes
    ----------
    slots: The slot of each stored value that is not an alias.
    copies: Pairs ``(k, value)``: output `k` is copied from the buffer of a value.
    inner
        For each repeated body its `Buffers`, the offset of its arena, and the second buffers of its
        carried values, None for those that are updated in place.
    private: The values that are used only inside the loops that compute them.
    over: For each output that overwrites an input: the input's number.
    first: The position of the first item that overwrites an input.
    arena: The size of the arena in bytes.
    constants: The values that are constant arrays, numbered.
    """

    def __init__(
        self, plan: Plan, writes: Sequence[tuple[Value, Value]] = (), behind: int = -1
    ) -> None:
        self.plan = plan
        self.slots: dict[Value, Slot] = {}
        self.copies: list[tuple[int, Value]] = []
        self.inner: dict[int, tuple[Buffers, int, list[Slot | None]]] = {}
        self.constants: dict[Value, int] = {}
        self.private: set[Value] = set()
        self.over: dict[int, int] = {}
        self.first = len(plan.block)
        self._order = 0
        self._uses: dict[Value, list[_Use]] = {}
        self._pinned: set[Value] = set()
        self._wanted: list[tuple[int, int, int, Any]] = []
        for k, value in enumerate(plan.program.inputs):
            self.slots[value] = self._slot("input", k, value)
        self._outputs()
        for at, item in enumerate(plan.block):
            self._gather(item, at, ())
        self._write_over_inputs(writes, behind)
        for value in self._uses:
            if value not in self.slots:
                self._place(value)
        self.arena = self._arrange()

    @staticmethod
    def _slot(kind: str, number: int, value: Value) -> Slot:
        return Slot(kind, number, strides_of(value.shape), value.size * value.dtype.itemsize)

    def _outputs(self) -> None:
        """Assign output buffers, and note which outputs must be copied."""
        for k, value in enumerate(self.plan.program.outputs):
            base = self.plan.base(value)
            if base.constant is not None or base in self.slots:
                self.copies.append((k, value))
            else:
                self.slots[base] = self._slot("output", k, base)

    # -- uses -------------------------------------------------------------------------------------

    def _gather(self, item: Any, at: int, path: tuple[LoopTree, ...]) -> None:
        if isinstance(item, LoopTree):
            for part in item.before:
                self._gather(part, at, path)
            for part in item.body:
                self._gather(part, at, (*path, item))
            for part in item.after:
                self._gather(part, at, path)
        elif isinstance(item, NativeCall):
            for _, load in item.views:
                self._pin(load.value, at)
            for value in item.step.outs:
                self._pin(value, at)
        elif isinstance(item, Check):
            self._pin(item.value, at)
        elif isinstance(item, Repeat):
            for value in (*uses(item.loop), *item.loop.outs):
                self._pin(value, at)
            self._repeat(item, at)
        else:
            self._order += 1
            self._use(item.value, _Use(at, path, item.place, item, self._order))
            for node in walk(item.nodes):
                if isinstance(node, Load):
                    self._use(node.value, _Use(at, path, node.place, None, self._order))

    def _use(self, value: Value, use: _Use) -> None:
        base = self.plan.base(value)
        if base is not value:
            # places in another shape cannot be compared
            use = use._replace(place=None)
            self._pinned.add(base)
        if base.constant is not None:
            self._constant(base)
            return
        self._uses.setdefault(base, []).append(use)

    def _pin(self, value: Value, at: int) -> None:
        base = self.plan.base(value)
        self._use(base, _Use(at, (), None, None, self._order))
        self._pinned.add(base)

    def _constant(self, value: Value) -> None:
        number = self.constants.setdefault(value, len(self.constants))
        self.slots[value] = self._slot("constant", number, value)

    def _repeat(self, repeat: Repeat, at: int) -> None:
        program = repeat.body.program
        kept = len(repeat.loop.carried)
        inner = Buffers(
            repeat.body, list(zip(program.outputs[:kept], program.inputs[:kept], strict=True))
        )
        doubles: list[Any] = []
        for k, value in enumerate(repeat.loop.carried):
            if inner.over.get(k) == k:
                # it is updated in place
                doubles.append(None)
                continue
            size = value.size * value.dtype.itemsize
            slot = Slot("stack", 0, strides_of(value.shape), size)
            if size > _SMALL or open_ended(size):
                slot = slot._replace(kind="arena")
                self._wanted.append((at, at, size, (doubles, len(doubles))))
            doubles.append(slot)
        if inner.arena:
            self._wanted.append((at, at, inner.arena, at))
        self.inner[at] = inner, 0, doubles

    def _write_over_inputs(self, writes: Sequence[tuple[Value, Value]], behind: int) -> None:
        """Let outputs overwrite inputs where that is allowed and safe.

        Every read of the input must come before the write: in an earlier item, or at the same place
        in the same iteration of the same loops and no later than the write.
        """
        program = self.plan.program
        copied = {self.plan.base(value) for _, value in self.copies}
        for output, input in writes:
            slot = self.slots.get(output)
            if slot is None or slot.kind != "output" or input in copied:
                continue
            if (output.dtype, output.shape) != (input.dtype, input.shape):
                continue
            written = [use for use in self._uses.get(output, ()) if use.statement is not None]
            number = program.inputs.index(input)
            if not written or number in self.over.values():
                continue
            store = written[0]
            if store.item <= behind:
                continue
            read = self._uses.get(input, ())
            plain = isinstance(store.statement, Store) and not store.statement.kind
            if plain and all(use.item < store.item or _is_with(use, store) for use in read):
                self.over[slot.number] = number
                self.first = min(self.first, store.item)
                self.slots[output] = self.slots[input]

    # -- assignment -------------------------------------------------------------------------------

    def _place(self, value: Value) -> None:
        uses_of = self._uses[value]
        first, last = min(u.item for u in uses_of), max(u.item for u in uses_of)
        strides = strides_of(value.shape)
        size = value.size
        limit = _SMALL
        if first == last and value not in self._pinned:
            self.private.add(value)
            strides, size = _contracted(value, uses_of)
            limit = _SMALL_WITHIN
        size *= value.dtype.itemsize
        if size <= limit and not open_ended(size):
            self.slots[value] = Slot("stack", 0, strides, size)
            return
        self.slots[value] = Slot("arena", 0, strides, size)
        self._wanted.append((first, last, size, value))

    def _arrange(self) -> int:
        """Assign offsets in the arena; values with disjoint lifetimes may share memory."""
        total = 0
        live: list[tuple[int, int, int]] = []  # (offset, end, last item)
        for first, last, size, owner in sorted(self._wanted, key=lambda wanted: wanted[0]):
            live = [part for part in live if part[2] >= first]
            live.sort()
            offset = 0
            size = -(-size // _ALIGNMENT) * _ALIGNMENT
            for start, end, _ in live:
                if start - offset >= size:
                    break
                offset = max(offset, end)
            live.append((offset, offset + size, last))
            total = max(total, offset + size)
            if isinstance(owner, Value):
                self.slots[owner] = self.slots[owner]._replace(number=offset)
            elif isinstance(owner, int):
                inner, _, doubles = self.inner[owner]
                self.inner[owner] = inner, offset, doubles
            else:
                doubles, k = owner
                doubles[k] = doubles[k]._replace(number=offset)
        return total

    def traffic(self, tree: LoopTree) -> tuple[int, int]:
        """Return the bytes that a loop nest reads and writes, counting each value once."""
        read = {self.plan.base(v) for v in tree.inputs} - tree.writes.keys()
        taken = sum(v.size * v.dtype.itemsize for v in read)
        slots = [self.slots[v] for v in tree.writes if v in self.slots]
        return taken, sum(s.size for s in slots if s.kind != "stack")


def _is_with(use: _Use, store: _Use) -> bool:
    """Return whether a read is at the place of a write, in its iteration, and not after it."""
    same = len(use.path) == len(store.path) and all(map(is_, use.path, store.path))
    at_once = use.item == store.item and use.place == store.place
    return same and at_once and use.order <= store.order


def _contracted(value: Value, uses_of: Sequence[_Use]) -> tuple[tuple[int, ...], int]:
    """Return strides and size without the dimensions that only shared loops count."""
    shared: list[Counter] = []
    for trees in zip(*[use.path for use in uses_of], strict=False):
        if any(tree is not trees[0] for tree in trees):
            break
        shared.append(trees[0].counter)
    sizes = list(value.shape)
    for dim in range(len(sizes)):
        for counter in shared:
            if all(use.place is not None and use.place[dim].is_counter(counter) for use in uses_of):
                sizes[dim] = 1
    strides = [
        0 if size == 1 else stride for size, stride in zip(sizes, strides_of(sizes), strict=True)
    ]
    return tuple(strides), math.prod(sizes)
