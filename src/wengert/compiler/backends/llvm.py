"""Layer 8 · compiler: the native backend, which compiles programs to machine code by LLVM.

Most programs become one function, which one call runs. A program with steps that have no native
form is partitioned into segments (NOTE [segments] in `segments`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert.compiler.backends.buffers import Buffers
from wengert.compiler.backends.control_flow import link  # noqa: F401  part of a backend
from wengert.compiler.backends.kinds import is_native_step
from wengert.compiler.backends.loop_costs import extents_of, steps_of
from wengert.compiler.backends.loops import LoopTree
from wengert.compiler.backends.machine import FunctionState, Machine, builtin
from wengert.compiler.backends.numpy import NativeCode, Steps
from wengert.compiler.backends.parallelise import interruption, is_wide
from wengert.compiler.backends.plan import NativeCall, Plan, Repeat
from wengert.compiler.backends.segments import segments
from wengert.compiler.backends.sizes import Families
from wengert.compiler.backends.wrapper import Function, write_module
from wengert.compiler.codegen.native.forms import NATIVE
from wengert.compiler.decompose.rules import DECOMPOSED
from wengert.compiler.ir.executable import Description, LoopNest, isolated
from wengert.compiler.ir.programs import Loop, Program, Step, apply
from wengert.interp.eager import K


class LlvmExecutable:
    """A program as native functions, with calls of NumPy's kernels in between.

    Parameters
    ----------
    program: The program.
    threads: If more than 1, long loops run on `wengert.get_num_threads` threads.
    fastmath: Whether arithmetic may assume that floats are real numbers.
    families: Programs whose machine code this one may share (NOTE [sizes that vary]).
    piece
        For an element-wise program: the number of elements of its arrays. `call` then takes longer
        arrays with the range to compute (`_pieces` in `wrapper`).

    Attributes
    ----------
    machine: The machine code, or None if no step has a native form.
    call
        The built-in function of a program that is native as a whole, else None. It takes the inputs
        as arguments, and returns a list of outputs, or None if eager code would raise.
    """

    __slots__ = ("_functions", "_program", "_steps", "_wide", "call", "machine")

    def __init__(
        self,
        program: Program,
        *,
        threads: int = 1,
        fastmath: bool = False,
        families: Families | None = None,
        piece: int = 0,
    ) -> None:
        self._program = program
        self._wide = threads > 1
        self.machine: Machine | None = None
        if families is not None:
            families.mark(program)
        self._steps = Steps(program, _cut)
        plans = [native.plan for native in self._steps.natives()]
        self._functions: list[Function] = []
        words: Sequence[int] = ()
        if plans:
            text, self._functions, words = write_module(
                plans, fastmath=fastmath, wide=self._wide, piece=piece
            )
            self.machine = Machine(text) if families is None else families.machine(text)
        if self.machine is not None:
            for native, function in zip(self._steps.natives(), self._functions, strict=True):
                state = FunctionState.of(function.constants, self.machine, words)
                address = self.machine.address(function.name)
                native.call = builtin(address, function.name, state)
        self.call = self._whole()

    def _whole(self) -> Callable[..., Any] | None:
        """Return the built-in function of the program if it is native as a whole."""
        (native, *more), program = self._steps.items or [None], self._program
        if more or not isinstance(native, NativeCode):
            return None
        same = native.program.inputs == program.inputs
        return native.call if same and native.program.outputs == program.outputs else None

    def __call__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """Run the program; by NumPy, to raise an error that native code met (NOTE [error flag])."""
        results = self.attempt(arrays)
        return isolated(apply(self._program, K, arrays), arrays) if results is None else results

    def attempt(self, arrays: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]] | None:
        """Run the program; return None if native code met an error."""
        results = self._steps.run(arrays) if self.call is None else self.call(*arrays)
        if results is None:
            error = interruption()
            if error is not None:
                raise error
        elif self.call is None:
            constants = [v.constant for v in self._program.outputs if v.constant is not None]
            results = isolated(results, [*arrays, *constants])
        return results

    def describe(self) -> Description:
        """Describe the executable."""
        description = Description("llvm")
        description.segments = len(self._functions)
        description.kernels = self._steps.kernels()
        for function in self._functions:
            description.arena += function.buffers.arena
            _describe(function.buffers, description, self._wide)
        return description


build = LlvmExecutable


def call_cost(step: Step) -> float:
    """Return the microseconds of calling a step's kernel between segments; 0 for native steps."""
    return 0.0 if DECOMPOSED[step.prim] is not None or is_native_step(step) else 2.0


def _cut(program: Program, repeated: bool) -> Iterator[Step | Loop | NativeCode]:
    """Partition a program, or the body of a loop, into segments."""
    for piece in segments(program, repeated=repeated):
        yield NativeCode(piece, Plan(piece)) if isinstance(piece, Program) else piece


def _describe(buffers: Buffers, description: Description, wide: bool) -> None:
    for item in buffers.plan.block:
        if isinstance(item, NativeCall):
            description.calls += filter(None, [item.native.describe(item.step)])
        elif isinstance(item, LoopTree):
            steps = list(steps_of(item))
            called = [native.describe(s) for s in steps if (native := NATIVE[s.prim]) is not None]
            description.calls += filter(None, called)
            read, written = buffers.traffic(item)
            description.loops.append(
                LoopNest(
                    tuple(map(int, extents_of(item))),
                    tuple([step.prim.name for step in steps]),
                    tuple(dict.fromkeys(step.site for step in steps if step.site is not None)),
                    read,
                    written,
                    wide and is_wide(item, buffers),
                )
            )
    for item in buffers.plan.block:
        if isinstance(item, Repeat):
            _describe(Buffers(item.body), description, False)
