"""Layer 8 · compiler: executables that backends build, and their description.

NOTE [executables]
An executable takes a list of arrays and returns a list of arrays; ``describe()`` returns its
`Description`. Inputs are aligned C-contiguous arrays with the dtypes and shapes of the program's
inputs. They are not written to unless the program's ``writes`` allow it: then the input itself is
returned as the output. All other outputs are new arrays. Executables are thread-safe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.ir.programs import Program, Value

Site = tuple[str, int]

RAISED = (ArithmeticError, IndexError, ValueError, RuntimeError)
"""Errors that kernels raise for values; the function then runs eagerly, to raise them itself."""


def counted(names: Iterable[str]) -> str:
    """Return a list of names as text, with the count of those that occur again."""
    counts = Counter(names).items()
    return ", ".join(name if n == 1 else f"{name} ({n}x)" for name, n in counts)


@dataclass
class LoopNest:
    """A native loop nest.

    Attributes
    ----------
    extents: The trip count of each loop, the outermost first.
    steps: Names of the primitives that it computes, in order.
    sites: The source lines that these came from.
    bytes_read, bytes_written: The memory traffic in bytes; registers do not count.
    parallel: Whether its outermost loop is parallel.
    """

    extents: Sequence[int]
    steps: Sequence[str]
    sites: Sequence[Site]
    bytes_read: int
    bytes_written: int
    parallel: bool = False

    def __str__(self) -> str:
        names = counted(self.steps)
        where = ", ".join(f"{file}:{line}" for file, line in self.sites)
        extents = " x ".join(map(str, self.extents)) or "once"
        shared = ", on several threads" if self.parallel else ""
        return (
            f"{extents}{shared}: {names}; reads {self.bytes_read:,} bytes, "
            f"writes {self.bytes_written:,}{f'; from {where}' if where else ''}"
        )


@dataclass
class Description:
    """The description of an executable.

    Attributes
    ----------
    backend: The backend's name.
    loops: The nests of native loops, in order.
    calls: The calls of BLAS, LAPACK and other native routines, as text.
    kernels: The steps that run by NumPy's kernels, counted by name.
    segments: The number of native functions that a run calls.
    arena: The bytes of memory for intermediate values.
    """

    backend: str
    loops: list[LoopNest] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    kernels: Counter[str] = field(default_factory=Counter)
    segments: int = 0
    arena: int = 0

    def __str__(self) -> str:
        some = "segment" if self.segments == 1 else "segments"
        lines = [f"backend {self.backend}: {self.segments} native {some}"]
        lines += [f"  loop {nest}" for nest in self.loops]
        lines += [f"  call {call}" for call in self.calls]
        if self.kernels:
            lines.append(f"  by NumPy: {counted(sorted(self.kernels.elements()))}")
        if self.arena:
            lines.append(f"  arena of {self.arena:,} bytes")
        return "\n".join(lines)


class Wrapped:
    """An executable that runs another one, with other inputs or outputs."""

    def __init__(self, executable: Any) -> None:
        self._executable = executable

    @property
    def machine(self) -> Any:
        """The machine code, if there is any."""
        return getattr(self._executable, "machine", None)

    def describe(self) -> Description:
        """Describe the executable."""
        return self._executable.describe()


def isolated(results: Sequence[Any], held: Iterable[Any]) -> list[np.ndarray[Any, Any]]:
    """Return C-contiguous arrays that share no memory with each other, nor with `held`."""
    taken = {id(array) for array in held}
    arrays: list[np.ndarray[Any, Any]] = []
    for result in results:
        array = np.asarray(result)
        flags = array.flags
        # views have a base
        whole = array.base is None and flags.c_contiguous and flags.writeable
        if not whole or id(array) in taken:
            array = array.copy(order="C")
        taken.add(id(array))
        arrays.append(array)
    return arrays


WORD = 8
"""The bytes of a word on a `Tape`."""
START = -1
"""What a `Tape` has in place of the number of a block before the first one."""


def padded(value: Value) -> int:
    """Return the bytes that a value takes on a `Tape`."""
    return -(-int(value.size) * value.dtype.itemsize // WORD) * WORD


class Tape:
    """What the blocks of a run have recorded, from the first to the last.

    Attributes
    ----------
    data
        The number `START`, and for each visit of a block the values that it records, each in whole
        words, and the number of the block.
    visited: The numbers of the blocks that were visited.
    """

    __slots__ = ("data", "visited")

    def __init__(self) -> None:
        self.data = np.empty(0, np.uint8)
        self.visited: Sequence[int] = ()


class LinkedBlock(NamedTuple):
    """A basic block of a graph.

    Attributes
    ----------
    program: The program of its steps.
    reads, makes: The values that the program's inputs and outputs are.
    slots: The block's parameters: values of the state at its beginning.
    after: The arguments for the slots of the next block.
    decision: The value to branch on, or None at an exit.
    following: The number of the next block by outcome, as far as known.
    results: The values that an exit returns.
    pushed: What it appends to the tape, before its number; None if runs have no tape.
    popped
        What it takes off the end of the tape; the number before is then the outcome to branch on.
    """

    program: Program
    reads: tuple[Value, ...]
    makes: tuple[Value, ...]
    slots: tuple[Value, ...]
    after: tuple[Value, ...]
    decision: Value | None
    following: Mapping[Any, int]
    results: tuple[Value, ...]
    pushed: tuple[Value, ...] | None = None
    popped: tuple[Value, ...] | None = None
