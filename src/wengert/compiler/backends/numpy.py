"""Layer 8 · compiler: the backend that needs nothing but NumPy: one Python function of kernels.

A program becomes the source of a function in which each step is a line. What eager code pays around
its kernels (dispatch, recording, tensors) is gone, and large intermediate values are computed over
the memory of others that nobody needs any more. It does everything that a program may hold, and is
what the tests of other backends compare with, next to `wengert.compiler.ir.programs.apply`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.compiler.ir.executable import Description, isolated, kernels_of
from wengert.compiler.ir.programs import Affine, Loop, Number, Program, Step, Value, uses
from wengert.prims.whole import TABLE

__all__ = ["NumpyExecutable", "build", "call_cost", "ordered"]

# kernels that are infix expressions, so that they serve NumPy's scalars well, as ufuncs
_UFUNCS: dict[str, np.ufunc] = {
    prim.scalar: prim.kernel
    for prim in TABLE.values()
    if prim.scalar and isinstance(prim.kernel, np.ufunc) and TABLE[prim.scalar].infix
}
# below this size, fresh memory costs nothing worth a parameter
_LARGE = 2048


class NumpyExecutable:
    """A program as a Python function that calls kernels.

    Attributes
    ----------
    source: The function's text.
    """

    __slots__ = ("_constants", "_function", "_program", "source")

    def __init__(self, program: Program) -> None:
        writer = _Writer(program)
        self._program = program
        self.source = writer.source
        self._function = writer.function
        self._constants = [v.constant for v in program.outputs if v.constant is not None]

    def __call__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """The outputs for these inputs."""
        return isolated(self._function(*arrays), [*arrays, *self._constants])

    def describe(self) -> Description:
        """What it consists of."""
        description = Description("numpy")
        description.kernels = kernels_of(self._program)
        return description


def call_cost(step: Step) -> float:
    """Microseconds to call the kernel of a step."""
    return 0.7


def build(
    program: Program, *, threads: int = 1, fastmath: bool = False, families: Any = None
) -> NumpyExecutable:
    """The executable of a program.

    Parameters
    ----------
    program: What is to be run.
    threads, fastmath, families
        Of no effect here: kernels compute in the calling thread, as in eager code.

    Returns
    -------
    NumpyExecutable
    """
    return NumpyExecutable(program)


def ordered(kernel: Callable[..., Any], *args: Any, **params: Any) -> Any:
    """A kernel's results as arrays in C order, as they are where they are that already."""
    results = kernel(*args, **params)
    if isinstance(results, tuple | list):
        return [_ordered(result) for result in results]
    return _ordered(results)


def _ordered(result: Any) -> Any:
    array = np.asarray(result)
    return array if array.flags.c_contiguous else array.copy(order="C")


class _Source:
    """Gives the text of a function to those who ask for a module's."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, name: str) -> str:
        """The text."""
        return self.text


class _Writer:
    """Writes the source of a program's function."""

    def __init__(self, program: Program) -> None:
        self.names: dict[Value, str] = {}
        self.scope: dict[str, Any] = {"empty": np.empty, "stack": TABLE["stack"].kernel}
        self.given: dict[int, str] = {}
        self.lines: list[str] = []
        self.loops = 0
        parameters = ", ".join(self.define(value) for value in program.inputs)
        self.lines.append(f"def program({parameters}):")
        results = self.body(program, "    ", "0")
        self.lines.append(f"    return ({''.join(f'{result}, ' for result in results)})")
        self.source = "\n".join(self.lines) + "\n"
        name = f"wengert program {id(self):x}"
        # where tracebacks look for the line that failed
        self.scope |= {"__name__": name, "__loader__": _Source(self.source)}
        exec(compile(self.source, name, "exec"), self.scope)
        self.function: Callable[..., tuple[Any, ...]] = self.scope["program"]

    def define(self, value: Value) -> str:
        """A name for what is computed now."""
        name = f"v{len(self.names)}"
        self.names[value] = name
        return name

    def constant(self, thing: Any) -> str:
        """A global name for a thing that the function refers to."""
        name = self.given.get(id(thing))
        if name is None:
            name = self.given[id(thing)] = f"c{len(self.given)}"
            self.scope[name] = thing
        return name

    def value(self, value: Value) -> str:
        return self.names[value] if value.constant is None else self.constant(value.constant)

    def param(self, param: Any, i: str) -> str:
        """The source of a parameter."""
        if isinstance(param, Value):
            return self.value(param)
        if isinstance(param, Number):
            return f"{self.value(param.value)}.item()"
        if isinstance(param, Affine):
            return f"{param.start} + {param.step} * {i}"
        if isinstance(param, tuple | list) and any(map(_varies, param)):
            parts = "".join(f"{self.param(part, i)}, " for part in param)
            if hasattr(param, "_fields"):
                return f"{self.constant(type(param))}({parts})"
            return f"[{parts}]" if isinstance(param, list) else f"({parts})"
        if param is None or type(param) in (bool, int):
            return repr(param)
        return self.constant(param)

    def body(self, program: Program, indent: str, i: str) -> list[str]:
        """Write the steps of a program; the sources of its outputs."""
        last = _last_uses(program)
        spare = _Spare(program)
        for k, step in enumerate(program.steps):
            if isinstance(step, Loop):
                self.loop(step, indent)
            else:
                self.step(step, indent, i, spare.take(step, last, k))
            gone = [self.names[v] for v in last[k] if v.size >= _LARGE and v in self.names]
            if gone:
                self.lines.append(f"{indent}del {', '.join(gone)}")
        return [self.value(value) for value in program.outputs]

    def step(self, step: Step, indent: str, i: str, out: Value | None) -> None:
        given = [self.value(arg) for arg in step.args]
        kernel: Any = _UFUNCS.get(step.prim.name)
        if out is not None and kernel is not None:
            given += [self.param(param, i) for param in step.params.values()]
        else:
            kernel = step.prim.kernel
            given += [f"{name}={self.param(param, i)}" for name, param in step.params.items()]
        if out is not None:
            given.append(f"out={self.value(out)}")
        names = [self.define(value) for value in step.outs]
        target = names[0] if step.prim.outputs == 1 else "".join(f"{name}, " for name in names)
        call = f"{self.constant(kernel)}({', '.join(given)})"
        self.lines.append(f"{indent}{target} = {call}" if names else f"{indent}{call}")

    def loop(self, loop: Loop, indent: str) -> None:
        """Write a loop: carried values change in place, stacked ones are collected in lists."""
        body, kept = loop.body, len(loop.carried)
        i = f"i{self.loops}"
        self.loops += 1
        initial = [self.value(value) for value in loop.carried]
        sources = [self.value(value) for value, _, _ in loop.sliced]
        fixed = [self.value(value) for value in loop.fixed]
        inner = [self.define(value) for value in body.inputs]
        for name, source in zip(inner[:kept], initial, strict=True):
            self.lines.append(f"{indent}{name} = {source}")
        for name, source in zip(inner[kept + len(sources) :], fixed, strict=True):
            self.lines.append(f"{indent}{name} = {source}")
        lists = [f"{i}_{k}" for k in range(len(body.outputs) - kept)]
        self.lines += [f"{indent}{name} = []" for name in lists]
        self.lines.append(f"{indent}for {i} in range({loop.count}):")
        within = indent + "    "
        for name, source, (_, start, step) in zip(inner[kept:], sources, loop.sliced, strict=False):
            self.lines.append(f"{within}{name} = {source}[{start} + {step} * {i}, ...]")
        results = self.body(body, within, i)
        for name, result in zip(lists, results[kept:], strict=True):
            self.lines.append(f"{within}{name}.append({result})")
        if kept:
            self.lines.append(f"{within}{', '.join(inner[:kept])} = {', '.join(results[:kept])}")
        elif not results and not body.steps:
            self.lines.append(f"{within}pass")
        for value, name in zip(loop.outs[:kept], inner, strict=False):
            self.lines.append(f"{indent}{self.define(value)} = {name}")
        for value, name in zip(loop.outs[kept:], lists, strict=True):
            # nothing can be stacked where nothing was repeated
            made = f"stack(*{name}, dim=0)"
            if not loop.count:
                made = f"empty({value.shape}, {self.constant(value.dtype)})"
            self.lines.append(f"{indent}{self.define(value)} = {made}")


def _varies(param: Any) -> bool:
    """Whether a parameter holds values or counters."""
    if isinstance(param, tuple | list):
        return any(map(_varies, param))
    return isinstance(param, Value | Number | Affine)


def _last_uses(program: Program) -> list[list[Value]]:
    """For each step the computed values that nothing needs after it."""
    position: dict[Value, int] = {}
    for k, step in enumerate(program.steps):
        position.update(dict.fromkeys(step.outs, k))
        position.update(dict.fromkeys((v for v in uses(step) if v in position), k))
    for value in program.outputs:
        position.pop(value, None)
    last: list[list[Value]] = [[] for _ in program.steps]
    for value, k in position.items():
        last[k].append(value)
    return last


class _Spare:
    """Knows which values have memory that nothing else shares, for results to be written into."""

    def __init__(self, program: Program) -> None:
        fresh = {
            step.outs[0]
            for step in program.steps
            if isinstance(step, Step) and _is_ufunc(step) and step.outs[0].size >= _LARGE
        }
        for step in program.steps:
            if isinstance(step, Loop) or not _is_ufunc(step):
                # what is not an ufunc may return its argument, or a view of it
                fresh.difference_update(uses(step))
        self.fresh = fresh

    def take(self, step: Step, last: list[list[Value]], k: int) -> Value | None:
        """The argument whose memory may become that of a step's result."""
        if not _is_ufunc(step) or step.outs[0] not in self.fresh:
            return None
        out = step.outs[0]
        for arg in step.args:
            same = arg.dtype == out.dtype and arg.shape == out.shape
            if same and arg in self.fresh and arg in last[k]:
                return arg
        return None


def _is_ufunc(step: Step) -> bool:
    return isinstance(_UFUNCS.get(step.prim.name, step.prim.kernel), np.ufunc)
