"""Layer 8 · compiler: the reference backend, which runs a program step by step with NumPy.

It saves what eager code pays around kernels: dispatch, recording, tensors. It supports every
program; tests of other backends compare with it and with `wengert.compiler.ir.programs.apply`. The
native backend uses it for steps without a native form; some items are then native functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wengert.compiler.ir.executable import Description, isolated
from wengert.compiler.ir.programs import (
    Affine,
    Loop,
    Number,
    Program,
    Step,
    Value,
    in_iteration,
    parts,
    substitute,
    uses,
)

Run = Callable[[list[Any], int], bool]
"""Runs an item on the known values in an iteration of a loop; returns False on failure."""
Cut = Callable[[Program, bool], Iterable[Any]]

# smaller arrays are not freed before the end
_LARGE = 2048


class NativeCode:
    """Several steps that one native function computes.

    Attributes
    ----------
    program: The steps.
    plan: How the backend computes them.
    call: The function, which takes the inputs as arguments and returns None on failure.
    """

    __slots__ = ("call", "plan", "program")

    def __init__(self, program: Program, plan: Any) -> None:
        self.program = program
        self.plan = plan
        self.call: Callable[..., Any] | None = None


class Steps:
    """A program, or the body of a loop, as items that run in order.

    Parameters
    ----------
    cut
        ``cut(program, repeated)`` returns the items, each a `Step`, a `Loop` or `NativeCode`;
        `repeated` is true for the body of a loop.
    """

    def __init__(self, program: Program, cut: Cut, *, repeated: bool = False) -> None:
        self.items = list(cut(program, repeated))
        self._cut = cut
        self._bodies: list[Steps] = []
        self._known: list[Any] = [None] * len(program.inputs)
        self._places = {value: k for k, value in enumerate(program.inputs)}
        self._runs = [self._run_of(item) for item in self.items]
        self._outputs = self._read(program.outputs)
        self._gone = self._last_reads(program)

    def _read(self, values: Iterable[Value]) -> tuple[int, ...]:
        """Return the positions of values; constants and values not yet computed get new ones."""
        found = []
        for value in values:
            if value not in self._places:
                self._places[value] = len(self._known)
                self._known.append(value.constant)
            found.append(self._places[value])
        return tuple(found)

    def _last_reads(self, program: Program) -> list[list[int]]:
        """Return for each item the positions of the large values that it is the last to read."""
        seen, gone = {*program.inputs, *program.outputs}, []
        for item in reversed(self.items):
            native = isinstance(item, NativeCode)
            program = item.program if native else program
            read = (*program.inputs, *program.outputs) if native else (*uses(item), *item.outs)
            last = dict.fromkeys(v for v in read if v not in seen and v.constant is None)
            seen.update(last)
            gone.append([self._places[value] for value in last if value.size >= _LARGE])
        return gone[::-1]

    def natives(self) -> list[NativeCode]:
        """Return all native functions among the items, also inside loops."""
        found = [item for item in self.items if isinstance(item, NativeCode)]
        return [*found, *(native for body in self._bodies for native in body.natives())]

    def kernels(self) -> Counter[str]:
        """Count the primitives that NumPy computes."""
        names = Counter(item.prim.name for item in self.items if isinstance(item, Step))
        for body in self._bodies:
            names += body.kernels()
        return names

    def run(self, arrays: Sequence[Any], i: int = 0) -> list[Any] | None:
        """Run on inputs in iteration `i` of a loop; return the outputs, or None on failure."""
        known = self._known.copy()
        known[: len(arrays)] = arrays
        for run, gone in zip(self._runs, self._gone, strict=True):
            if not run(known, i):
                return None
            for place in gone:
                known[place] = None
        return [known[place] for place in self._outputs]

    # -- items ------------------------------------------------------------------------------------

    def _run_of(self, item: Any) -> Run:
        if isinstance(item, NativeCode):
            return self._run_of_native(item)
        return self._run_of_loop(item) if isinstance(item, Loop) else self._run_of_step(item)

    def _run_of_native(self, native: NativeCode) -> Run:
        args, outs = map(self._read, (native.program.inputs, native.program.outputs))

        def run(known: list[Any], i: int) -> bool:
            assert native.call is not None
            results = native.call(*[np.asarray(known[place], order="C") for place in args])
            if results is None:
                return False
            for place, result in zip(outs, results, strict=True):
                known[place] = result
            return True

        return run

    def _run_of_step(self, step: Step) -> Run:
        args, kernel, fixed = self._read(step.args), step.prim.kernel, step.params
        self._read(uses(step))
        outs = self._read(step.outs)
        one = outs[0] if step.prim.outputs == 1 else -1
        held = [part for param in fixed.values() for part in parts(param)]
        varies = any(isinstance(part, Value | Number | Affine) for part in held)

        def run(known: list[Any], i: int) -> bool:
            params = fixed
            if varies:

                def value_of(value: Value) -> Any:
                    return known[self._places[value]]

                params = {n: in_iteration(substitute(p, value_of), i) for n, p in fixed.items()}
            results = kernel(*[known[place] for place in args], **params)
            if one >= 0:
                known[one] = results
            else:
                for place, result in zip(outs, results, strict=True):
                    known[place] = result
            return True

        return run

    def _run_of_loop(self, loop: Loop) -> Run:
        body, kept = Steps(loop.body, self._cut, repeated=True), len(loop.carried)
        self._bodies.append(body)
        first, fixed = self._read(loop.carried), self._read(loop.fixed)
        sources = self._read(value for value, _, _ in loop.sliced)
        outs = self._read(loop.outs)

        def run(known: list[Any], i: int) -> bool:
            carried = [known[place] for place in first]
            rest = [known[place] for place in fixed]
            stacks = [np.empty(value.shape, value.dtype) for value in loop.outs[kept:]]
            for k in range(loop.count):
                pairs = zip(sources, loop.sliced, strict=True)
                slices = [known[place][start + step * k, ...] for place, (_, start, step) in pairs]
                results = body.run([*carried, *slices, *rest], k)
                if results is None:
                    return False
                carried = results[:kept]
                for stack, result in zip(stacks, results[kept:], strict=True):
                    stack[k] = result
            for place, made in zip(outs, [*carried, *stacks], strict=True):
                known[place] = made
            return True

        return run


class NumpyExecutable:
    """A program as calls of kernels.

    Parameters
    ----------
    program: The program.
    settings: Without effect: kernels run in the calling thread, as in eager code.
    """

    __slots__ = ("_constants", "_steps")

    def __init__(self, program: Program, **settings: Any) -> None:
        self._steps = Steps(program, lambda program, repeated: program.steps)
        self._constants = [v.constant for v in program.outputs if v.constant is not None]

    def __call__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """Run the program."""
        results = self._steps.run(arrays)
        assert results is not None
        return isolated(results, [*arrays, *self._constants])

    def describe(self) -> Description:
        """Describe the executable."""
        description = Description("numpy")
        description.kernels = self._steps.kernels()
        return description


def call_cost(step: Step) -> float:
    """Return the microseconds of calling a step's kernel."""
    return 0.7


build = NumpyExecutable
