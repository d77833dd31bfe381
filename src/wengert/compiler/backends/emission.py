"""Layer 8 · compiler: a plan as LLVM's text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.compiler.backends.affine import Counter, Index, Looked, Place, strides_of
from wengert.compiler.backends.loops import Accumulate, LoopTree, Product, Store
from wengert.compiler.backends.nodes import Apply, Choice, Literal, Load, Node, Position, walk
from wengert.compiler.backends.plan import Call, Check, Plan, Repeat
from wengert.compiler.backends.scope import Scope, Workspace
from wengert.compiler.backends.storage import Slot, Storage
from wengert.compiler.backends.trees import (
    UNROLLED,
    is_slight,
    trees_of,
    turns,
    written_once,
)
from wengert.compiler.code import Array, Code, Operand, literal, llvm_type, memory_type
from wengert.compiler.ir import Value
from wengert.compiler.native_products import multiply
from wengert.compiler.scalars import emit

__all__ = ["Emission"]


# in plans of more statements than this, loops of little work are translated as they are
_MANY = 40


class Emission:
    """Writes the instructions of a plan.

    Parameters
    ----------
    code
        The function.
    storage
        Where values lie.
    inputs, outputs
        The addresses of the plan's inputs and outputs.
    arena, constants
        The address of the arena, and of a table of the addresses of constants.
    """

    def __init__(
        self,
        code: Code,
        storage: Storage,
        inputs: Sequence[str],
        outputs: Sequence[str],
        arena: str,
        constants: dict[int, str],
        outer: Emission | None = None,
    ) -> None:
        self.code = code
        self.storage = storage
        self.plan: Plan = storage.plan
        self.inputs = inputs
        self.outputs = outputs
        self.arena = arena
        self.constants = constants
        self.scope = Scope()
        self._pointers: dict[Value, str] = {}
        self._aliasing: dict[str, str] = {}
        self._once: set[Value] = set()
        self._plain = False
        self.counters: dict[Counter, str] = {} if outer is None else dict(outer.counters)

    # -- memory -----------------------------------------------------------------------------------

    def pointer(self, value: Value) -> str:
        """The address of a value's first element."""
        base = self.plan.base(value)
        name = self._pointers.get(base)
        if name is None:
            if base.constant is not None:
                name = self.constants[id(base.constant)]
            else:
                name = self._address(self.storage.slots[base], base)
            self._pointers[base] = name
        return name

    def _address(self, slot: Slot, value: Value) -> str:
        if slot.kind == "input":
            return self.inputs[slot.number]
        if slot.kind == "output":
            return self.outputs[slot.number]
        if slot.kind == "stack":
            return self.code.stack(value.dtype, max(1, slot.size // value.dtype.itemsize))
        return self._in_arena(slot.number)

    def _in_arena(self, offset: int) -> str:
        # in the entry block, so that it may be used everywhere
        name = self.code.fresh("at")
        self.code.allocations.append(
            f"  {name} = getelementptr inbounds i8, ptr {self.arena}, i64 {offset}"
        )
        return name

    def strides(self, value: Value) -> tuple[int, ...]:
        """By how many elements a step along each dimension of a stored value moves."""
        slot = self.storage.slots.get(value)
        return strides_of(value.shape) if slot is None else slot.strides

    def array(self, value: Value) -> Array:
        """A stored value as calls see it."""
        return Array(self.pointer(value), value.dtype, value.shape, self.strides(value))

    def _note(self, pointer: str) -> str:
        return self._aliasing.get(pointer, "")

    def _load(self, value: Value, place: Place) -> str:
        pointer, dtype = self._element(value, place), value.dtype
        note = self._note(self.pointer(value))
        kind = memory_type(dtype)
        loaded = self.code.let(f"load {kind}, ptr {pointer}, align {dtype.itemsize}{note}")
        return self.code.let(f"trunc i8 {loaded} to i1") if dtype.kind == "b" else loaded

    def _store(self, value: Value, place: Place, element: str) -> None:
        pointer, dtype = self._element(value, place), value.dtype
        note = self._note(self.pointer(value))
        if dtype.kind == "b":
            element = self.code.let(f"zext i1 {element} to i8")
        self.code.do(
            f"store {memory_type(dtype)} {element}, ptr {pointer}, align {dtype.itemsize}{note}"
        )

    def _offset(self, value: Value, place: Place) -> Index:
        """Where an element stands, counted from the first."""
        total = Index(0)
        for index, stride in zip(place, self.strides(value), strict=True):
            total = total.plus(index.times(stride))
        return total

    def _element(self, value: Value, place: Place) -> str:
        total = self._offset(value, place)
        pointer = self.pointer(value)
        if not total.terms and not total.constant:
            return pointer
        key = pointer, total
        name = self.scope.find(key)
        if name is None:
            name = self.code.let(
                f"getelementptr inbounds {memory_type(value.dtype)}, ptr {pointer}, "
                f"i64 {self.index(total)}"
            )
            self.scope.known[key] = name
        return name

    def index(self, index: Index) -> str:
        """An index as an ``i64``."""
        if not index.terms:
            return str(index.constant)
        name = self.scope.find(index)
        if name is not None:
            return name
        total = str(index.constant) if index.constant else ""
        for variable, factor in index.terms:
            term = self._variable(variable)
            if not term:
                # the counter of a loop that is part of the one within it
                continue
            if factor != 1:
                term = self.code.let(f"mul nsw i64 {term}, {factor}")
            total = term if not total else self.code.let(f"add nsw i64 {term}, {total}")
        self.scope.known[index] = total = total or "0"
        return total

    def _variable(self, variable: Counter | Looked) -> str:
        if isinstance(variable, Counter):
            return self.counters[variable]
        key = "place", variable
        name = self.scope.find(key)
        if name is None:
            found = self.node(variable.node)
            if variable.node.dtype.itemsize < 8:
                kind = "sext" if variable.node.dtype.kind == "i" else "zext"
                found = self.code.let(f"{kind} {llvm_type(variable.node.dtype)} {found} to i64")
            wrapped = self.code.let(f"add nsw i64 {found}, {variable.extent}")
            below = self.code.let(f"icmp slt i64 {found}, 0")
            name = self.code.let(f"select i1 {below}, i64 {wrapped}, i64 {found}")
            self.scope.known[key] = name
        return name

    # -- elements ---------------------------------------------------------------------------------

    def node(self, node: Node) -> str:
        """The register of an expression."""
        if isinstance(node, Literal):
            return literal(node.number, node.dtype)
        key = (node.value, node.place) if isinstance(node, Load) else id(node)
        name = self.scope.find(key)
        if name is None:
            name = self._compute(node)
            if not isinstance(node, Load) or node.value in self._once:
                self.scope.known[key] = name
        return name

    def _compute(self, node: Node) -> str:
        if isinstance(node, Load):
            return self._load(node.value, node.place)
        if isinstance(node, Position):
            return self.index(node.index)
        if isinstance(node, Choice):
            return self._choose(node)
        assert isinstance(node, Apply)
        params = dict(node.params)
        for name, number in node.numbers.items():
            params[name] = Operand(self.node(number), number.dtype)
        operands = [Operand(self.node(operand), operand.dtype) for operand in node.operands]
        return emit(self.code, node.name, operands, node.dtype, params)

    def _choose(self, node: Choice) -> str:
        code = self.code
        held = ""
        for index, low, high in node.tests:
            away = self.index(index.moved(-low))
            test = code.let(f"icmp ult i64 {away}, {high - low}")
            held = test if not held else code.let(f"and i1 {held}, {test}")
        if isinstance(node.inside, Literal) and isinstance(node.outside, Literal):
            kind = llvm_type(node.dtype)
            inside, outside = self.node(node.inside), self.node(node.outside)
            return code.let(f"select i1 {held}, {kind} {inside}, {kind} {outside}")
        then, other, done = code.fresh("then"), code.fresh("other"), code.fresh("joined")
        code.branch(held, then, other)
        edges = []
        for label, part in ((then, node.inside), (other, node.outside)):
            code.label(label)
            self.scope = Scope(self.scope)
            found = self.node(part)
            assert self.scope.outer is not None
            self.scope = self.scope.outer
            edges.append(f"[ {found}, %{code.current} ]")
            code.jump(done)
        code.label(done)
        return code.let(f"phi {llvm_type(node.dtype)} {', '.join(edges)}")

    # -- statements -------------------------------------------------------------------------------

    def run(self) -> None:
        """Write everything."""
        self._once = written_once(self.plan)
        many = sum(item.count for item in trees_of(self.plan.block)) > _MANY
        for at, item in enumerate(self.plan.block):
            if isinstance(item, LoopTree):
                self._separate(item)
                self._plain = many and is_slight(item)
                self._item(item)
                self._aliasing = {}
                # elements of loops are of no use outside of them, and memory changes
                self.scope = Scope()
            elif isinstance(item, Call):
                self._call(item)
            elif isinstance(item, Check):
                self._check(item)
            elif isinstance(item, Repeat):
                self._repeat(item, at)
            else:
                self._item(item)
        for k, value in self.storage.copies:
            size = value.size * value.dtype.itemsize
            self._copy(self.outputs[k], self.pointer(value), size)

    def _item(self, item: Any) -> None:
        if isinstance(item, Store):
            found = self.node(item.node)
            self._store(item.value, item.place, found)
            if item.value in self._once:
                self.scope.known[item.value, item.place] = found
            return
        if isinstance(item, Accumulate):
            self._accumulate(item)
            return
        if isinstance(item, Product):
            self._multiply(item)
            return
        self._loop(item)

    def _loop(self, tree: LoopTree) -> None:
        for part in tree.before:
            self._item(part)
        merged = self._merged(tree)
        inner = merged[-1]
        extent = math.prod([each.counter.extent for each in merged])
        unroll = turns(tree) <= UNROLLED
        with self.code.loop(extent, unroll=unroll, plain=self._plain) as counter:
            for each in merged:
                self.counters[each.counter] = ""
            self.counters[inner.counter] = counter
            self.scope = Scope(self.scope)
            for part in inner.body:
                self._item(part)
            assert self.scope.outer is not None
            self.scope = self.scope.outer
        for part in tree.after:
            self._item(part)

    def _merged(self, tree: LoopTree) -> list[LoopTree]:
        """A loop and those within it that together count elements in the order of memory."""
        merged = [tree]
        indices: list[Index] | None = None
        while True:
            outer = merged[-1]
            inner = outer.body[0] if len(outer.body) == 1 else None
            if not isinstance(inner, LoopTree) or inner.before or inner.after:
                return merged
            indices = self._indices(inner) if indices is None else indices
            for index in indices:
                step = index.factor(inner.counter)
                if index.factor(outer.counter) != inner.counter.extent * step:
                    return merged
            merged.append(inner)

    def _indices(self, tree: LoopTree) -> list[Index]:
        """Everything that is computed from counters in a loop."""
        found: list[Index] = []
        for part in (*tree.before, *tree.body, *tree.after):
            if isinstance(part, LoopTree):
                found += self._indices(part)
                continue
            found.append(self._offset(part.value, part.place))
            for node in walk(part.nodes):
                if isinstance(node, Load):
                    found.append(self._offset(node.value, node.place))
                elif isinstance(node, Position):
                    found.append(node.index)
                elif isinstance(node, Choice):
                    found += [index for index, _, _ in node.tests]
        return found

    def _accumulate(self, item: Accumulate) -> None:
        element = self.node(item.node)
        dtype, code = item.value.dtype, self.code
        total = self._load(item.value, item.place)
        kind = llvm_type(dtype)
        real = dtype.kind == "f"
        if item.kind in ("sum", "prod"):
            word = "add" if item.kind == "sum" else "mul"
            how = f"f{word} reassoc {code.module.flags}" if real else f"{word} "
            total = code.let(f"{how}{kind} {total}, {element}")
        elif item.kind in ("any", "all"):
            total = code.let(f"{'or' if item.kind == 'any' else 'and'} i1 {total}, {element}")
        else:
            word = f"{item.kind}imum" if real else f"{'s' if dtype.kind == 'i' else 'u'}{item.kind}"
            function = f"llvm.{word}.{'f' if real else 'i'}{8 * dtype.itemsize}"
            code.module.declare(function, f"declare {kind} @{function}({kind}, {kind})")
            total = code.let(f"call {kind} @{function}({kind} {total}, {kind} {element})")
        self._store(item.value, item.place, total)

    def _separate(self, tree: LoopTree) -> None:
        """Tell LLVM that the arrays which a tree of loops touches do not overlap."""
        values = dict.fromkeys([*tree.writes, *map(self.plan.base, tree.inputs)])
        pointers = [
            self.pointer(value)
            for value in values
            if value.constant is not None or self.storage.slots[value].kind != "stack"
        ]
        pointers = list(dict.fromkeys(pointers))
        if len(pointers) < 2:
            return
        note = self.code.module.note
        domain = note(distinct=True)
        scopes = [note(domain, distinct=True) for _ in pointers]
        for k, pointer in enumerate(pointers):
            own = note(scopes[k])
            others = note(*scopes[:k], *scopes[k + 1 :])
            self._aliasing[pointer] = f", !alias.scope {own}, !noalias {others}"

    def _copy(self, target: str, source: str, size: int) -> None:
        if not size or target == source:
            return
        self.code.module.declare(
            "llvm.memcpy", "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
        )
        self.code.do(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {size}, i1 false)"
        )

    # -- calls, checks and repetition -------------------------------------------------------------

    def _call(self, call: Call) -> None:
        ins = [self._view(counters, load) for counters, load in call.views]
        outs = [self.array(value) for value in call.step.outs]
        call.native.emit(self.code, call.step, ins, outs)
        if isinstance(self.code.workspace, Workspace):
            self.code.workspace.clear()
        self.scope = Scope()

    def _multiply(self, item: Product) -> None:
        left = self._view((item.rows, item.inner), item.left)
        right = self._view((item.inner, item.columns), item.right)
        out = self._view((item.rows, item.columns), Load(item.value, item.place))
        multiply(self.code, left, right, out.pointer)
        if isinstance(self.code.workspace, Workspace):
            self.code.workspace.clear()

    def _view(self, counters: tuple[Counter, ...], load: Load) -> Array:
        """Where the elements of an argument stand."""
        total = self._offset(load.value, load.place)
        strides = tuple([total.factor(counter) for counter in counters])
        # what is left is a constant, or depends on loops around the call
        own = set(counters)
        start = Index(total.constant, [(v, c) for v, c in total.terms if v not in own])
        pointer = self.code.at(self.pointer(load.value), load.value.dtype, self.index(start))
        shape = tuple([counter.extent for counter in counters])
        return Array(pointer, load.value.dtype, shape, strides)

    def _check(self, check: Check) -> None:
        """Leave, marking trouble, if an index lies outside of its dimension."""
        code, value = self.code, check.value
        array = self.array(value)
        cell = code.stack(np.dtype(np.bool_), 1)
        code.do(f"store i8 0, ptr {cell}")
        kind = llvm_type(value.dtype)
        size = math.prod(value.shape)
        with code.loop(size) as k:
            found = code.load(code.at(array.pointer, value.dtype, k), value.dtype)
            if value.dtype.itemsize < 8:
                word = "sext" if value.dtype.kind == "i" else "zext"
                found = code.let(f"{word} {kind} {found} to i64")
            moved = code.let(f"add i64 {found}, {check.extent}")
            wrong = code.let(f"icmp uge i64 {moved}, {2 * check.extent}")
            marked = code.let(f"zext i1 {wrong} to i8")
            before = code.let(f"load i8, ptr {cell}")
            code.do(f"store i8 {code.let(f'or i8 {before}, {marked}')}, ptr {cell}")
        failed = code.let(f"icmp ne i8 {code.let(f'load i8, ptr {cell}')}, 0")
        leave, stay = code.fresh("leave"), code.fresh("stay")
        code.branch(failed, leave, stay)
        code.label(leave)
        code.do("ret i8 1")
        code.label(stay)

    def _repeat(self, repeat: Repeat, at: int) -> None:
        loop = repeat.loop
        storage, offset, buffers = self.storage.inner[at]
        kept = len(loop.carried)
        current = [self.pointer(value) for value in loop.outs[:kept]]
        following = [self._address(slot, v) for slot, v in zip(buffers, loop.carried, strict=True)]
        sizes = [value.size * value.dtype.itemsize for value in loop.carried]
        for target, value, size in zip(current, loop.carried, sizes, strict=True):
            self._copy(target, self.pointer(value), size)
        fixed = [self.pointer(value) for value in loop.fixed]
        sources = [self.pointer(value) for value, _, _ in loop.sliced]
        stacked = [self.pointer(value) for value in loop.outs[kept:]]
        arena = self._in_arena(offset) if storage.arena else self.arena
        with self.code.loop(loop.count) as counter:
            self.counters[repeat.counter] = counter
            slices = []
            for source, (value, start, step) in zip(sources, loop.sliced, strict=True):
                size = math.prod(value.shape[1:])
                moved = self.code.let(f"mul nsw i64 {counter}, {step * size}")
                moved = self.code.let(f"add nsw i64 {moved}, {start * size}")
                slices.append(self.code.at(source, value.dtype, moved))
            parts = []
            for target, value in zip(stacked, loop.outs[kept:], strict=True):
                size = math.prod(value.shape[1:])
                moved = self.code.let(f"mul nsw i64 {counter}, {size}")
                parts.append(self.code.at(target, value.dtype, moved))
            inner = Emission(
                self.code,
                storage,
                [*current, *slices, *fixed],
                [*following, *parts],
                arena,
                self.constants,
                self,
            )
            inner.run()
            for target, source, size in zip(current, following, sizes, strict=True):
                self._copy(target, source, size)
        self.scope = Scope()
