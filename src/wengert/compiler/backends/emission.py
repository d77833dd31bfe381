"""Layer 8 · compiler: code generation: a plan in LLVM's language."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.compiler.backends.affine import Counter, Index
from wengert.compiler.backends.loop_costs import written_once
from wengert.compiler.backends.loops import LoopTree, Product, Store, statements_of
from wengert.compiler.backends.machine import function_attributes
from wengert.compiler.backends.nodes import Choice, Load, Position, walk
from wengert.compiler.backends.parallelise import (
    SHARE,
    addresses_of,
    is_wide,
    own_of,
    piece_of,
    register_sharing,
)
from wengert.compiler.backends.plan import Check, NativeCall, Repeat
from wengert.compiler.backends.scope import Scope, Workspace
from wengert.compiler.backends.unrolling import Shaper
from wengert.compiler.backends.vectorise import Vectoriser
from wengert.compiler.codegen.code import Array, Code
from wengert.compiler.codegen.native.forms import check_indices
from wengert.compiler.codegen.native.products import multiply
from wengert.compiler.ir.programs import open_ended


class Emission(Vectoriser):
    """Writes all instructions of a plan.

    Attributes
    ----------
    failing: The position of the last item of the plan that may fail, or -1.
    """

    failing = -1

    # -- statements -------------------------------------------------------------------------------

    def run(self, fence: bool = False) -> None:
        """Write the plan.

        Parameters
        ----------
        fence: Whether to return on failure before the first input is overwritten.
        """
        self._once = written_once(self.plan)
        for at, item in enumerate(self.plan.block):
            if fence and at >= self.buffers.first:
                # before inputs are overwritten
                met = self.code.let("load i8, ptr %failure")
                self._leave_if(self.code.let(f"icmp ne i8 {met}, 0"))
                fence = False
            self.code.fails = False
            if isinstance(item, LoopTree):
                for part in Shaper(self._merged, self._fits).shaped(item):
                    if self._wide and isinstance(part, LoopTree) and is_wide(part, self.buffers):
                        self._share(part)
                    else:
                        self._item(part)
                # registers of a loop are not valid outside, and memory has changed
                self.scope = Scope()
            elif isinstance(item, NativeCall):
                self._call(item)
            elif isinstance(item, Check):
                self._check(item)
            elif isinstance(item, Repeat):
                self._repeat(item, at)
            else:
                self._item(item)
            if self.code.fails:
                self.failing = at
        # the enclosing loop reads it, too
        self.code.fails = self.failing >= 0
        for k, value in self.buffers.copies:
            size = value.size * value.dtype.itemsize
            self._copy(self.outputs[k], self.pointer(value), size)

    def _item(self, item: Any) -> None:
        if isinstance(item, Store):
            found = self.node(item.node)
            if item.kind:
                self._combine(item, found)
                return
            self._store(item.value, item.place, found)
            if item.value in self._once:
                self.scope.known[item.value, item.place] = found
        elif isinstance(item, Product):
            self._multiply(item)
        else:
            self._loop(item)

    def _share(self, tree: LoopTree) -> None:
        """Write a loop as a function that threads run in pieces (NOTE [parallel loops])."""
        register_sharing()
        module, code = self.code.module, self.code
        inner = Emission(Code(module), self.buffers, [], [], "", {})
        values = addresses_of(tree, self.buffers)
        table = code.stack(np.dtype(np.uintp), len(values) + 2)
        for k, pointer in enumerate([*map(self.pointer, values), "%failure", "%constants"]):
            code.do(f"store ptr {pointer}, ptr {code.at(table, np.dtype(np.uintp), k)}")
        given = inner.code.entry("%table", len(values) + 1)
        inner.code.allocations.append(f"  %constants = getelementptr i8, ptr {given}, i64 0")
        for k, value in enumerate(values):
            inner._pointers[value] = inner.code.entry("%table", k)
        failure_cell = inner.code.entry("%table", len(values))
        inner.code.allocations += ["  %failure = alloca i8", "  store i8 0, ptr %failure"]
        for value in own_of(tree, self.buffers):
            slot = self.buffers.slots[value]._replace(kind="stack")
            inner._pointers[value] = inner._address(slot, value)
        inner._once, inner._range = self._once, ("%start", "%stop")
        merged = inner._merged(tree)
        inner._item(tree)
        found = inner.code.let("load i8, ptr %failure")
        with inner.code.when(inner.code.let(f"icmp ne i8 {found}, 0")):
            inner.code.do(f"store i8 1, ptr {failure_cell}")
        name = module.unique("shared")
        head = f"internal void @{name}(ptr %table, i64 %start, i64 %stop) {function_attributes()}"
        module.declare(name, inner.code.function(head))
        extent = math.prod([each.counter.extent for each in merged])
        vectors = inner._vector_loop(merged, extent)
        piece = piece_of(tree, extent, 1 if vectors is None else vectors.width * vectors.apart)
        pointers = ("ptr", f"@{name}"), ("ptr", table)
        failed = code.call(SHARE, "i8", *pointers, ("i64", extent), ("i64", piece))
        code.fail_if(code.let(f"icmp ne i8 {failed}, 0"))

    def _loop(self, tree: LoopTree) -> None:
        for part in tree.before:
            self._item(part)
        merged = self._merged(tree)
        inner = merged[-1]
        extent = math.prod([each.counter.extent for each in merged])
        start, stop = self._range or ("0", extent)
        self._range = None
        for each in merged:
            self.counters[each.counter] = ""
        vectors = self._vector_loop(merged, extent)
        rest: int | str = start
        if vectors is not None:
            rest = self._write_vectors(vectors, start, stop)
        if rest != stop or open_ended(extent):
            self._one_by_one(inner, str(rest), stop)
        for part in tree.after:
            self._item(part)

    def _one_by_one(self, inner: LoopTree, start: str, stop: int | str) -> None:
        with self.code.loop(stop, start) as counter:
            self.counters[inner.counter] = counter
            with self.inside():
                for part in inner.body:
                    self._item(part)

    def _fits(self, merged: Sequence[LoopTree]) -> bool:
        """Return whether an innermost loop can be vectorised."""
        return (
            self._vector_loop(merged, math.prod([tree.counter.extent for tree in merged]))
            is not None
        )

    def _merged(self, tree: LoopTree) -> list[LoopTree]:
        """Return a loop with the inner loops that can be collapsed into it: one count for all."""
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
        """Return all indices that are computed in a loop."""
        found: list[Index] = []
        for part in statements_of(tree):
            found.append(self._offset(part.value, part.place))
            for node in walk(part.nodes):
                if isinstance(node, Load):
                    found.append(self._offset(node.value, node.place))
                elif isinstance(node, Position):
                    found.append(node.index)
                elif isinstance(node, Choice):
                    found += [index for index, _, _ in node.tests]
        return found

    def _copy(self, target: str, source: str, size: int) -> None:
        if size and target != source:
            self.code.copy(target, source, size)

    # -- calls, checks and iteration -------------------------------------------------------------

    def _call(self, call: NativeCall) -> None:
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
        """Return an argument of a call as a strided array."""
        total = self._offset(load.value, load.place)
        strides = tuple([total.factor(counter) for counter in counters])
        # the rest is constant, or depends on loops around the call
        own = set(counters)
        start = Index(total.constant, [(v, c) for v, c in total.terms if v not in own])
        pointer = self.code.at(self.pointer(load.value), load.value.dtype, self.index(start))
        shape = tuple([counter.extent for counter in counters])
        return Array(pointer, load.value.dtype, shape, strides)

    def _leave_if(self, condition: str) -> None:
        with self.code.when(condition):
            self.code.do("ret i8 1")
        self.code.fails = True

    def _check(self, check: Check) -> None:
        """Return with a failure if an index is out of bounds."""
        self._leave_if(check_indices(self.code, self.array(check.value), check.extent))

    def _repeat(self, repeat: Repeat, at: int) -> None:
        loop = repeat.loop
        buffers, offset, doubles = self.buffers.inner[at]
        kept = len(loop.carried)
        current = [self.pointer(value) for value in loop.outs[:kept]]
        following = [
            at if slot is None else self._address(slot, value)
            for at, slot, value in zip(current, doubles, loop.carried, strict=True)
        ]
        sizes = [value.size * value.dtype.itemsize for value in loop.carried]
        for target, value, size in zip(current, loop.carried, sizes, strict=True):
            self._copy(target, self.pointer(value), size)
        fixed = [self.pointer(value) for value in loop.fixed]
        sources = [self.pointer(value) for value, _, _ in loop.sliced]
        stacked = [self.pointer(value) for value in loop.outs[kept:]]
        arena = self._in_arena(offset) if buffers.arena else self.arena
        with self.code.loop(loop.count) as counter:
            self.counters[repeat.counter] = counter
            rows = [*loop.sliced, *[(value, 0, 1) for value in loop.outs[kept:]]]
            parts = []
            for pointer, (value, start, step) in zip([*sources, *stacked], rows, strict=True):
                size = math.prod(value.shape[1:])
                moved = self.code.let(f"mul nsw i64 {counter}, {step * size}")
                moved = self.code.let(f"add nsw i64 {moved}, {start * size}")
                parts.append(self.code.at(pointer, value.dtype, moved))
            slices = len(sources)
            inner = Emission(
                self.code,
                buffers,
                [*current, *parts[:slices], *fixed],
                [*following, *parts[slices:]],
                arena,
                self.constants,
                self,
            )
            inner.run()
            for target, source, size in zip(current, following, sizes, strict=True):
                self._copy(target, source, size)
        self.scope = Scope()
