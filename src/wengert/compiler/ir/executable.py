"""Layer 8 · compiler: what every backend makes of a program, and how it tells what it has made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from wengert.compiler.ir.programs import Program, Value

__all__ = [
    "RAISED",
    "Description",
    "Executable",
    "LoopNest",
    "Makers",
    "Station",
    "isolated",
]

Site = tuple[str, int]

RAISED = (ArithmeticError, IndexError, ValueError, RuntimeError)
"""What kernels raise because of values: then the function itself is run, and raises it, too."""


class LoopNest:
    """One nest of native loops.

    Attributes
    ----------
    extents: How often each loop runs, the outermost first.
    steps: Names of the primitives that it computes, in order.
    sites: The source lines that these came from.
    bytes_read, bytes_written
        Bytes of memory that it takes in and gives out; what lives in registers does not count.
    parallel: Whether its outermost loop is shared out among threads.
    """

    __slots__ = ("bytes_read", "bytes_written", "extents", "parallel", "sites", "steps")

    def __init__(
        self,
        extents: Sequence[int],
        steps: Iterable[str],
        sites: Iterable[Site | None],
        bytes_read: int,
        bytes_written: int,
        parallel: bool = False,
    ) -> None:
        self.extents = tuple(extents)
        self.steps = tuple(steps)
        self.sites = tuple(dict.fromkeys(site for site in sites if site is not None))
        self.bytes_read = bytes_read
        self.bytes_written = bytes_written
        self.parallel = parallel

    def __str__(self) -> str:
        steps = Counter(self.steps)
        names = ", ".join(name if n == 1 else f"{name} ({n}x)" for name, n in steps.items())
        where = ", ".join(f"{file}:{line}" for file, line in self.sites)
        extents = " x ".join(map(str, self.extents)) or "once"
        shared = ", on several threads" if self.parallel else ""
        return (
            f"{extents}{shared}: {names}; reads {self.bytes_read:,} bytes, "
            f"writes {self.bytes_written:,}{f'; from {where}' if where else ''}"
        )


class Description:
    """What a backend made of a program.

    Attributes
    ----------
    backend: The backend's name.
    loops: The nests of native loops, in order.
    calls: Calls to BLAS and LAPACK, and other native routines, in words.
    kernels: The steps that NumPy's kernels compute: how often each name occurs.
    segments: The number of native functions that a run calls.
    arena: Bytes of memory for intermediate values.
    """

    __slots__ = ("arena", "backend", "calls", "kernels", "loops", "segments")

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.loops: list[LoopNest] = []
        self.calls: list[str] = []
        self.kernels: Counter[str] = Counter()
        self.segments = 0
        self.arena = 0

    def __str__(self) -> str:
        lines = [f"backend {self.backend}: {self.segments} native segments"]
        lines += [f"  loop {nest}" for nest in self.loops]
        lines += [f"  call {call}" for call in self.calls]
        if self.kernels:
            kernels = ", ".join(
                name if n == 1 else f"{name} ({n}x)" for name, n in sorted(self.kernels.items())
            )
            lines.append(f"  by NumPy: {kernels}")
        if self.arena:
            lines.append(f"  arena of {self.arena:,} bytes")
        return "\n".join(lines)


class Executable(Protocol):
    """A program that can be run.

    Inputs are aligned arrays in C order, of exactly the dtypes and shapes of the program's. They
    are not written to, except where the program's ``writes`` allow it: then the input itself comes
    back as the output. Other outputs are arrays of their own, which share no memory with anything.
    Several threads may run one executable at once.
    """

    def __call__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """The outputs for these inputs."""
        ...

    def describe(self) -> Description:
        """What it consists of."""
        ...


def isolated(results: Sequence[Any], held: Iterable[Any]) -> list[np.ndarray[Any, Any]]:
    """Arrays in C order that share no memory with each other, nor with what is `held`."""
    taken = {id(array) for array in held}
    arrays: list[np.ndarray[Any, Any]] = []
    for result in results:
        array = np.asarray(result)
        flags = array.flags
        # whatever is part of other memory has a base
        whole = array.base is None and flags.c_contiguous and flags.writeable
        if not whole or id(array) in taken:
            array = array.copy(order="C")
        taken.add(id(array))
        arrays.append(array)
    return arrays


class Station(NamedTuple):
    """A block, in the values of its graph.

    Attributes
    ----------
    program: What it computes.
    reads, makes: What the program's inputs and outputs are.
    slots: The values that it finds.
    after: What the next block finds in its slots.
    decision: What is decided on, or None at an end.
    following: The number of the next block, by the decision's outcome, as far as it is known.
    results: The values that are asked for at an end.
    """

    program: Program
    reads: tuple[Value, ...]
    makes: tuple[Value, ...]
    slots: tuple[Value, ...]
    after: tuple[Value, ...]
    decision: Value | None
    following: Mapping[bool, int]
    results: tuple[Value, ...]


class Makers(Protocol):
    """What is asked for by those who have blocks to run."""

    def simplified(self, program: Program) -> Program:
        """A program made simpler."""
        ...

    def build(self, program: Program) -> Executable:
        """What runs a program that has been made simpler."""
        ...

    def drive(self, stations: Sequence[Station], inputs: Sequence[Value]) -> Any:
        """What runs blocks one after another, or None if that is left to Python."""
        ...
