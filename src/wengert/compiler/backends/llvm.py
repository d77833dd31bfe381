"""Layer 8 · compiler: the native backend: a program as machine code.

Most programs become one function, and a run is one call of it. Where steps have no native form, the
program is cut into segments (NOTE [segments] in `segments`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert.compiler.backends.driver import drive
from wengert.compiler.backends.kinds import is_native_step
from wengert.compiler.backends.loops import LoopTree
from wengert.compiler.backends.machine import Machine, State, builtin
from wengert.compiler.backends.numpy import Native, Steps
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
from wengert.compiler.ir.programs import Loop, Program, Step, apply
from wengert.interp.eager import K

__all__ = ["Families", "LlvmExecutable", "build", "call_cost", "drive"]


class LlvmExecutable:
    """A program as native functions, with calls of NumPy's kernels in between.

    Attributes
    ----------
    machine: The machine code, or None where nothing of the program has a native form.
    call
        The built-in function that the program is, where it is native as a whole: it takes the
        inputs one by one, and returns the outputs as a list, or None if eager code would raise.
    """

    __slots__ = ("_functions", "_program", "_steps", "_wide", "call", "machine")

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
        self.machine: Machine | None = None
        shared = families is not None and families.mark(program)
        self._steps = Steps(program, _cut)
        plans = [native.plan for native in self._steps.natives() if isinstance(native, _Planned)]
        self._functions: list[Function] = []
        words: Sequence[int] = ()
        if plans:
            text, self._functions, words = write_module(
                plans, fastmath=fastmath, wide=self._wide, piece=piece
            )
            self.machine = families.machine(text) if shared and families else Machine(text)
        if self.machine is not None:
            for native, function in zip(self._steps.natives(), self._functions, strict=True):
                state = State.of(function.constants, self.machine, words)
                address = self.machine.address(function.name)
                native.call = builtin(address, function.name, state)
        self.call = self._whole()

    def _whole(self) -> Callable[..., Any] | None:
        """The function that the program is, if it is native as a whole."""
        (native, *more), program = self._steps.items or [None], self._program
        if more or not isinstance(native, Native):
            return None
        same = native.program.inputs == program.inputs
        return native.call if same and native.program.outputs == program.outputs else None

    def __call__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """The outputs for these inputs."""
        if self.call is not None:
            results = self.call(*arrays)
            return self._again(arrays) if results is None else results
        results = self._steps.run(arrays)
        if results is None:
            return self._again(arrays)
        constants = [v.constant for v in self._program.outputs if v.constant is not None]
        return isolated(results, [*arrays, *constants])

    def _again(self, arrays: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """The same by NumPy, which raises what native code has met (NOTE [trouble] in `code`)."""
        error = interruption()
        if error is not None:
            raise error
        return isolated(apply(self._program, K, arrays), arrays)

    def describe(self) -> Description:
        """Describe the executable."""
        description = Description("llvm")
        description.segments = len(self._functions)
        description.kernels = self._steps.kernels()
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


class _Planned(Native):
    """A native function of a program."""

    __slots__ = ("plan",)

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.plan = Plan(program)


def _cut(program: Program, repeated: bool) -> Iterator[Step | Loop | Native]:
    """A program, or the body of a loop, cut into segments."""
    for piece in segments(program, repeated=repeated):
        yield _Planned(piece) if isinstance(piece, Program) else piece


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
                    tuple(map(int, extents_of(item))),
                    tuple([step.prim.name for step in steps]),
                    tuple(dict.fromkeys(step.site for step in steps if step.site is not None)),
                    read,
                    written,
                    wide and is_wide(item, storage),
                )
            )
    for item in storage.plan.block:
        if isinstance(item, Repeat):
            _describe(Storage(item.body), description, False)
