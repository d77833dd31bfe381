"""Layer 8 · compiler: the native backend: a program as machine code.

Most programs become one function, and a run is one call of it. Where steps have no native form, the
program is cut into segments (NOTE [segments] in `segments`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from wengert.compiler.backends.driver import drive
from wengert.compiler.backends.kinds import is_native_step
from wengert.compiler.backends.loops import LoopTree
from wengert.compiler.backends.machine import Machine, State, builtin
from wengert.compiler.backends.numpy import ordered
from wengert.compiler.backends.plan import Call, Plan, Repeat
from wengert.compiler.backends.segments import segments
from wengert.compiler.backends.sharing import interruption, is_wide
from wengert.compiler.backends.sizes import Families
from wengert.compiler.backends.storage import Storage
from wengert.compiler.backends.trees import extents_of, steps_of
from wengert.compiler.backends.wrapper import Function, write_module
from wengert.compiler.codegen.native.table import NATIVE
from wengert.compiler.decompose.rules import DECOMPOSED
from wengert.compiler.ir.executable import Description, LoopNest, isolated
from wengert.compiler.ir.programs import (
    Loop,
    Program,
    Step,
    Value,
    apply,
    in_repetition,
    substitute,
)
from wengert.interp.eager import K

__all__ = ["Families", "LlvmExecutable", "build", "call_cost", "drive"]

Known = dict[Value, Any]


class LlvmExecutable:
    """A program as native functions, with calls of NumPy's kernels in between.

    Attributes
    ----------
    machine: The machine code, or None where nothing of the program has a native form.
    call
        The built-in function that the program is, where it is native as a whole: it takes the
        inputs one by one, and returns the outputs as a list, or None if eager code would raise.
    """

    __slots__ = ("_functions", "_piece", "_pieces", "_program", "_wide", "call", "machine")

    def __init__(
        self,
        program: Program,
        *,
        threads: int,
        fastmath: bool,
        families: Families | None = None,
        piece: int = 0,
    ) -> None:
        self._program = program
        self._wide = threads > 1
        self._piece = piece
        self.machine: Machine | None = None
        family = None if families is None else families.of(program)
        with nullcontext() if family is None else family.lock:
            if family is not None and family.stale:
                family.begin(self._written(family.program, fastmath)[2])
            self._pieces, self._functions, text = self._written(program, fastmath)
            words: Sequence[int] = ()
            if self._functions:
                self.machine, words = (
                    (Machine(text), ()) if family is None else family.machine(text)
                )
        if self.machine is not None:
            plans = self._pieces.plans()
            for (native, _), function in zip(plans, self._functions, strict=True):
                state = State.of(function.constants, self.machine, words)
                address = self.machine.address(function.name)
                native.call = builtin(address, function.name, state)
        self.call = self._pieces.whole()

    def _written(self, program: Program, fastmath: bool) -> tuple[_Pieces, list[Function], str]:
        """The pieces of a program, its native functions, and their text."""
        pieces = _Pieces(program, repeated=False)
        plans = [plan for _, plan in pieces.plans()]
        if not plans:
            return pieces, [], ""
        text, functions = write_module(plans, fastmath=fastmath, wide=self._wide, piece=self._piece)
        return pieces, functions, text

    def __call__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """The outputs for these inputs."""
        if self.call is not None:
            results = self.call(*arrays)
            return self._again(arrays) if results is None else results
        known: Known = dict(zip(self._program.inputs, arrays, strict=True))
        if not self._pieces.run(known, 0):
            return self._again(arrays)
        outputs = self._program.outputs
        constants = [v.constant for v in outputs if v.constant is not None]
        results = [known[v] if v.constant is None else v.constant for v in outputs]
        return isolated(results, [*arrays, *constants])

    def _again(self, arrays: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """The same by NumPy, which raises what native code has met (NOTE [trouble] in `code`)."""
        error = interruption()
        if error is not None:
            raise error
        return isolated(apply(self._program, K, arrays), arrays)

    def describe(self) -> Description:
        """What it consists of."""
        description = Description("llvm")
        description.segments = len(self._functions)
        description.kernels = self._pieces.foreign()
        for function in self._functions:
            description.arena += function.storage.arena
            _describe(function.storage, description, self._wide)
        return description


def build(
    program: Program,
    *,
    threads: int = 1,
    fastmath: bool = False,
    families: Families | None = None,
    piece: int = 0,
) -> LlvmExecutable:
    """The executable of a program.

    Parameters
    ----------
    program: What is to be run.
    threads
        More than 1: long loops are shared among as many threads as `wengert.get_num_threads` says.
    fastmath: Whether floats may be computed by rules that hold for real numbers only.
    families: The programs whose code may do for this one, too (NOTE [sizes that vary]).
    piece
        So many elements are in each array of the program, which computes each of them from those at
        its place; `call` then takes longer arrays, and where to start and to stop (`_pieces` in
        `wrapper`).

    Returns
    -------
    LlvmExecutable
    """
    return LlvmExecutable(
        program, threads=threads, fastmath=fastmath, families=families, piece=piece
    )


def call_cost(step: Step) -> float:
    """Microseconds to call the kernel of a step between native pieces; 0 if native code does it."""
    return 0.0 if DECOMPOSED[step.prim] is not None or is_native_step(step) else 2.0


class _Native:
    """A native function among the pieces of a program."""

    __slots__ = ("call", "plan", "program")

    def __init__(self, program: Program) -> None:
        self.program = program
        self.plan = Plan(program)
        self.call: Callable[..., Any] | None = None


class _Pieces:
    """A program, or the body of a loop, cut into segments."""

    __slots__ = ("bodies", "items", "program")

    def __init__(self, program: Program, *, repeated: bool) -> None:
        self.program = program
        self.items: list[_Native | Step | Loop] = [
            _Native(piece) if isinstance(piece, Program) else piece
            for piece in segments(program, repeated=repeated)
        ]
        self.bodies: dict[int, _Pieces] = {
            id(item): _Pieces(item.body, repeated=True)
            for item in self.items
            if isinstance(item, Loop)
        }

    def plans(self) -> list[tuple[_Native, Plan]]:
        """Every native piece, also within loops."""
        found = [(item, item.plan) for item in self.items if isinstance(item, _Native)]
        for body in self.bodies.values():
            found += body.plans()
        return found

    def whole(self) -> Callable[..., Any] | None:
        """The function that the program is, if it is native as a whole."""
        if len(self.items) != 1 or not isinstance(self.items[0], _Native):
            return None
        native = self.items[0]
        same = native.program.inputs == self.program.inputs
        return native.call if same and native.program.outputs == self.program.outputs else None

    def foreign(self) -> Counter[str]:
        """The primitives that NumPy computes."""
        names = Counter(item.prim.name for item in self.items if isinstance(item, Step))
        for body in self.bodies.values():
            names += body.foreign()
        return names

    def run(self, known: Known, i: int) -> bool:
        """Compute everything that is not known; False if native code has met trouble."""

        def value_of(value: Value) -> Any:
            return known[value] if value.constant is None else value.constant

        for item in self.items:
            if isinstance(item, _Native):
                assert item.call is not None
                results = item.call(*[known[value] for value in item.program.inputs])
                if results is None:
                    return False
                known.update(zip(item.program.outputs, results, strict=True))
            elif isinstance(item, Step):
                params = {
                    n: in_repetition(substitute(p, value_of), i) for n, p in item.params.items()
                }
                results = ordered(item.prim.kernel, *map(value_of, item.args), **params)
                found = [results] if item.prim.outputs == 1 else results
                known.update(zip(item.outs, found, strict=True))
            elif not self._repeat(item, known, value_of):
                return False
        return True

    def _repeat(self, loop: Loop, known: Known, value_of: Callable[[Value], Any]) -> bool:
        body, kept = self.bodies[id(loop)], len(loop.carried)
        program = body.program
        carried = [value_of(value) for value in loop.carried]
        fixed = [value_of(value) for value in loop.fixed]
        sources = [(value_of(value), start, step) for value, start, step in loop.sliced]
        stacked = [np.empty(value.shape, value.dtype) for value in loop.outs[kept:]]
        for i in range(loop.count):
            slices = [source[start + step * i, ...] for source, start, step in sources]
            inner: Known = dict(zip(program.inputs, [*carried, *slices, *fixed], strict=True))
            if not body.run(inner, i):
                return False
            results = [
                inner[value] if value.constant is None else value.constant
                for value in program.outputs
            ]
            carried = results[:kept]
            for target, result in zip(stacked, results[kept:], strict=True):
                target[i] = result
        known.update(zip(loop.outs, [*carried, *stacked], strict=True))
        return True


def _describe(storage: Storage, description: Description, wide: bool) -> None:
    for item in storage.plan.block:
        if isinstance(item, Call):
            description.calls += filter(None, [item.native.describe(item.step)])
        elif isinstance(item, LoopTree):
            steps = list(steps_of(item))
            called = [native.describe(s) for s in steps if (native := NATIVE[s.prim]) is not None]
            description.calls += filter(None, called)
            read, written = storage.traffic(item)
            description.loops.append(
                LoopNest(
                    list(extents_of(item)),
                    [step.prim.name for step in steps],
                    [step.site for step in steps],
                    read,
                    written,
                    wide and is_wide(item, storage),
                )
            )
    for item in storage.plan.block:
        if isinstance(item, Repeat):
            _describe(Storage(item.body), description, False)
