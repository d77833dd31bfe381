"""Layer 8 · compiler: which inputs of a call share memory, and how.

NOTE [layouts]
Tensors and arrays are views of memory: an address, sizes and strides. What a program that writes
computes depends on which of its inputs share memory, so that is a condition of its traces: the
`layout_of` a call, found by sorting address ranges. Inputs whose ranges meet belong together.
While a function is traced each reads from its own array, until one of them is written to: from then
on all are windows of the one that shows all of the memory, and a write through one is seen by the
others; where none shows all, the call runs as it is. A program that writes nothing has no such
condition, whatever its inputs share; but one that counts writes, if some of its inputs count them
together.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.ir.programs import Step, Value
from wengert.prims.table import TABLE
from wengert.tape.versions import InferenceCell

__all__ = [
    "Memory",
    "Shared",
    "counted_together",
    "groups_of",
    "held_by",
    "is_turned",
    "layout_of",
    "lying",
    "memory_read",
    "shared_of",
    "span",
    "steps_of",
    "writes_to",
]

Chain = tuple[tuple[Any, dict[str, Any]], ...]


_word = ctypes.c_size_t.from_address
_DATA = object.__basicsize__
"""Where in an array object the address of its elements stands."""


def _address(array: Any) -> int:
    """Where the first element is: to ask NumPy for it takes ten times as long as to read it."""
    if isinstance(array, np.ndarray):
        return _word(id(array) + _DATA).value
    found: int = array.__array_interface__["data"][0]
    return found


def span(array: Any) -> tuple[int, int]:
    """The addresses of the first byte of an array, and of the one behind its last."""
    start = _address(array)
    if array.flags.c_contiguous:
        return start, start + array.nbytes
    end = start + array.itemsize
    for size, step in zip(array.shape, array.strides, strict=True):
        if step > 0:
            end += step * (size - 1)
        else:
            start += step * (size - 1)
    return start, end


def steps_of(array: Any) -> list[int]:
    """The strides of the dimensions that have several elements."""
    return [step for step, n in zip(array.strides, array.shape, strict=True) if n > 1]


def is_turned(array: Any) -> bool:
    """Whether results may lie otherwise than those of an array whose dimensions are in order."""
    if array.ndim < 2 or array.flags.c_contiguous:
        return False
    steps = steps_of(array)
    return 0 in steps or steps != sorted(steps, reverse=True)


def lying(array: Any, strides: tuple[int, ...]) -> Any:
    """The elements of `array`, lying in memory as `strides` says."""
    if array.strides == strides:
        return array
    reach = [step * (size - 1) for step, size in zip(strides, array.shape, strict=True)]
    first = -sum(step for step in reach if step < 0)
    buffer = np.empty(first + sum(step for step in reach if step > 0) + array.itemsize, np.uint8)
    made = np.ndarray(array.shape, array.dtype, buffer, first, strides)
    made[...] = array
    return made


def groups_of(arrays: Sequence[Any]) -> list[tuple[int, list[int]]]:
    """The places of arrays whose ranges of addresses meet, with where these begin.

    Arrays that meet no other are in no group; arrays without elements are nowhere.
    """
    if len(arrays) < 2:
        return []
    ordered = sorted([(*span(array), i) for i, array in enumerate(arrays) if array.size])
    found: list[tuple[int, list[int]]] = []
    reached, first = -1, 0
    members: list[int] = []
    for start, end, i in ordered:
        if start >= reached:
            if len(members) > 1:
                found.append((first, sorted(members)))
            members, first = [], start
        members.append(i)
        reached = max(reached, end)
    if len(members) > 1:
        found.append((first, sorted(members)))
    return sorted(found, key=lambda group: group[1])


def _repeats(array: Any) -> bool:
    """Whether elements share one place in memory."""
    strides = array.strides
    return 0 in strides and any(
        step == 0 and size > 1 for step, size in zip(strides, array.shape, strict=True)
    )


def layout_of(arrays: Sequence[Any], cells: Sequence[Any]) -> Any:
    """What a program that writes has to know of how its inputs lie in memory, to be compared.

    Parameters
    ----------
    arrays: The inputs.
    cells: The version cells of the tensors among these, which come first.
    """
    flags = [array.flags.writeable and not _repeats(array) for array in arrays]
    groups = groups_of(arrays)
    return (
        flags,
        counted_together(cells),
        [
            [(i, span(arrays[i])[0] - start, arrays[i].strides) for i in members]
            for start, members in groups
        ],
    )


def counted_together(cells: Sequence[Any]) -> list[int]:
    """For each tensor the last one that counts its writes by the same cell; empty if all differ."""
    if len(cells) < 2:
        return []
    numbers = {id(cell): i for i, cell in enumerate(cells) if cell is not None}
    found = [numbers.get(id(cell), i) for i, cell in enumerate(cells)]
    return [] if found == [*range(len(found))] else found


class Shared:
    """Inputs that are windows of one piece of memory.

    Attributes
    ----------
    places: Which inputs.
    base: The one that shows all of the memory, or None.
    chains
        For each of the places the steps from the whole to it, as (primitive, parameters); None if
        these cannot be said: none shows all, or elements of different kinds, or in between others.
    """

    def __init__(self, arrays: Sequence[Any], start: int, places: Sequence[int]) -> None:
        self.places = tuple(places)
        size = max(span(arrays[i])[1] for i in places) - start
        whole = [i for i in places if arrays[i].nbytes == size and arrays[i].flags.c_contiguous]
        self.base = whole[0] if whole else None
        self.chains: list[Chain] | None = None
        if self.base is not None:
            base = arrays[self.base]
            if all(_fits(arrays[i], base.dtype, start) for i in places):
                self.chains = [_steps(arrays[i], start, base.shape, base.size) for i in places]


def shared_of(arrays: Sequence[Any]) -> list[Shared]:
    """What there is in `arrays` of shared memory."""
    return [Shared(arrays, start, members) for start, members in groups_of(arrays)]


def _fits(array: Any, dtype: Any, start: int) -> bool:
    """Whether an array has elements of a row of `dtype` that begins at an address."""
    size = dtype.itemsize
    offset = _address(array) - start
    steps = [offset, *steps_of(array)]
    return array.dtype == dtype and all(step % size == 0 for step in steps)


def _steps(array: Any, start: int, shape: tuple[int, ...], count: int) -> Chain:
    """The steps from memory of `count` elements, in a shape, to the window that an array is."""
    size = array.itemsize
    first = (_address(array) - start) // size
    whole = array.size == count and array.flags.c_contiguous
    if whole and array.shape == shape:
        return ()
    steps: list[tuple[Any, dict[str, Any]]] = []
    if len(shape) != 1:
        steps.append((TABLE["view"], {"shape": (count,)}))
    if array.flags.c_contiguous:
        if not whole:
            bounds = {"dim": 0, "start": first, "end": first + array.size, "step": 1}
            steps.append((TABLE["slice"], bounds))
        if array.ndim != 1:
            steps.append((TABLE["view"], {"shape": array.shape}))
        return tuple(steps)
    positions = np.full((), first, np.int64)
    for n, step in zip(array.shape, array.strides, strict=True):
        positions = positions[..., None] + np.arange(n) * (step // size)
    return (*steps, (TABLE["index"], {"indices": (positions,)}))


def writes_to(tensor: Any) -> int:
    """How many writes to a tensor's memory have been counted."""
    cell = tensor._vc
    return 0 if cell is None or cell.__class__ is InferenceCell else cell[0]


class Memory(NamedTuple):
    """What a tensor held after a call that has reached it, and how often that was written to."""

    tensor: Any
    payload: Any
    version: int

    @property
    def is_another(self) -> bool:
        """Whether the tensor has got other memory since, which no version counts."""
        return self.tensor._payload is not self.payload

    @property
    def has_changed(self) -> bool:
        """Whether the tensor may hold other values."""
        return self.is_another or writes_to(self.tensor) != self.version


def held_by(tensors: Iterable[Any]) -> list[Memory]:
    """What tensors hold now; None among them stand for nothing."""
    return [Memory(t, t._payload, writes_to(t)) for t in tensors if t is not None]


def memory_read(
    steps: Iterable[Any], inputs: Sequence[Value], saved: Iterable[Value], left: Iterable[Any]
) -> tuple[int, ...]:
    """The places of the tensors whose memory a backward pass reads, `saved` by a call.

    `left` are the values that the call leaves in tensors, with their places.
    """
    shows = {value: {i} for i, value in enumerate(inputs)}
    for i, value in left:
        shows.setdefault(value, set()).add(i)
    for step in steps:
        if isinstance(step, Step) and step.prim.view and step.args[0] in shows:
            shows.setdefault(step.outs[0], set()).update(shows[step.args[0]])
    return tuple(sorted(set().union(*[shows.get(value, ()) for value in saved])))
