"""Layer 8 · compiler: which inputs of a call share memory, and how.

NOTE [aliasing inputs]
Tensors and arrays are views of memory: an address, sizes and strides. The result of a program that
writes depends on which of its inputs alias, so its traces are guarded by the `layout_of` a call,
found by sorting address ranges. Inputs whose ranges overlap form a group. During tracing each reads
from its own array, until one of them is written to: from then on all are windows of the input that
covers the whole memory, and a write through one is seen by the others. Where none covers it, the
call runs uncompiled. A program without writes has no guard on its layout, unless it counts writes:
then it is guarded by which inputs share a version cell.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.ir.programs import Step, Value
from wengert.prims.table import TABLE
from wengert.tape.versions import InferenceCell
from wengert.tape.write_checks import repeats

Chain = tuple[tuple[Any, dict[str, Any]], ...]


_word = ctypes.c_size_t.from_address
_DATA = object.__basicsize__
"""The offset of the data pointer in an array object."""


def _address(array: Any) -> int:
    """Return the address of the first element, read directly: ten times as fast as NumPy."""
    if isinstance(array, np.ndarray):
        return _word(id(array) + _DATA).value
    found: int = array.__array_interface__["data"][0]
    return found


def span(array: Any) -> tuple[int, int]:
    """Return the addresses of an array's first byte and of the byte after its last."""
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
    """Return the strides of the dimensions that have several elements."""
    return [step for step, n in zip(array.strides, array.shape, strict=True) if n > 1]


def is_turned(array: Any) -> bool:
    """Return whether results may be laid out differently than those of a C-ordered array."""
    if array.ndim < 2 or array.flags.c_contiguous:
        return False
    steps = steps_of(array)
    return 0 in steps or steps != sorted(steps, reverse=True)


def lying(array: Any, strides: tuple[int, ...]) -> Any:
    """Return an array with the elements of `array` and the given strides."""
    if array.strides == strides:
        return array
    reach = [step * (size - 1) for step, size in zip(strides, array.shape, strict=True)]
    first = -sum(step for step in reach if step < 0)
    buffer = np.empty(first + sum(step for step in reach if step > 0) + array.itemsize, np.uint8)
    made = np.ndarray(array.shape, array.dtype, buffer, first, strides)
    made[...] = array
    return made


def groups_of(arrays: Sequence[Any]) -> list[tuple[int, list[int]]]:
    """Group arrays whose address ranges overlap; return the start and the places of each group.

    Arrays that overlap no other, and arrays without elements, are in no group.
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


def layout_of(arrays: Sequence[Any], cells: Sequence[Any]) -> Any:
    """Return the memory layout of the inputs, which guards the traces of a program that writes.

    Parameters
    ----------
    arrays: The inputs.
    cells: The version cells of the tensors among the inputs, which come first.
    """
    flags = [array.flags.writeable and not repeats(array) for array in arrays]
    groups = groups_of(arrays)
    return (
        flags,
        counted_together(cells),
        # these refuse writes outside of inference mode
        [i for i, cell in enumerate(cells) if cell.__class__ is InferenceCell],
        [
            [(i, span(arrays[i])[0] - start, arrays[i].strides) for i in members]
            for start, members in groups
        ],
    )


def counted_together(cells: Sequence[Any]) -> list[int]:
    """Return for each tensor the last one with the same version cell; [] if all cells differ."""
    if len(cells) < 2:
        return []
    numbers = {id(cell): i for i, cell in enumerate(cells) if cell is not None}
    found = [numbers.get(id(cell), i) for i, cell in enumerate(cells)]
    return [] if found == [*range(len(found))] else found


class Shared:
    """Inputs that are windows of one memory block.

    Attributes
    ----------
    places: The places of these inputs.
    base: The place of the input that covers the whole memory, or None.
    chains
        For each place the views from the whole to it, as (primitive, parameters). None if these
        cannot be expressed: no input covers the whole, or dtypes differ, or elements are not
        aligned.
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
    """Return the groups of `arrays` that share memory."""
    return [Shared(arrays, start, members) for start, members in groups_of(arrays)]


def _fits(array: Any, dtype: Any, start: int) -> bool:
    """Return whether an array's elements are aligned in a `dtype` block that begins at `start`."""
    size = dtype.itemsize
    offset = _address(array) - start
    steps = [offset, *steps_of(array)]
    return array.dtype == dtype and all(step % size == 0 for step in steps)


def _steps(array: Any, start: int, shape: tuple[int, ...], count: int) -> Chain:
    """Return the views from memory of `count` elements, in a shape, to an array's window."""
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
    """Return the number of counted writes to a tensor's memory."""
    cell = tensor._vc
    return 0 if cell is None or cell.__class__ is InferenceCell else cell[0]


class Memory(NamedTuple):
    """The payload of a tensor after a call that reached it, and its version."""

    tensor: Any
    payload: Any
    version: int

    @property
    def is_another(self) -> bool:
        """Whether the tensor now has other memory, which no version counts."""
        return self.tensor._payload is not self.payload

    @property
    def is_alike(self) -> bool:
        """Whether the tensor still has the same dtype and shape."""
        now, before = self.tensor._payload, self.payload
        return bool(now.dtype == before.dtype and now.shape == before.shape)

    @property
    def has_changed(self) -> bool:
        """Whether the tensor has other memory, or its memory was written to."""
        return self.is_another or writes_to(self.tensor) != self.version


def held_by(tensors: Iterable[Any]) -> list[Memory]:
    """Return snapshots of the payloads and versions of tensors, skipping None."""
    return [Memory(t, t._payload, writes_to(t)) for t in tensors if t is not None]


def memory_read(
    steps: Iterable[Any], inputs: Sequence[Value], saved: Iterable[Value], left: Iterable[Any]
) -> tuple[int, ...]:
    """Return the places of the tensors whose memory a backward pass reads through `saved`.

    `left` holds the values that the call leaves in tensors, with their places.
    """
    shows = {value: {i} for i, value in enumerate(inputs)}
    for i, value in left:
        shows.setdefault(value, set()).add(i)
    for step in steps:
        if isinstance(step, Step) and step.prim.view and step.args[0] in shows:
            shows.setdefault(step.outs[0], set()).update(shows[step.args[0]])
    return tuple(sorted(set().union(*[shows.get(value, ()) for value in saved])))


def wholes(steps: Iterable[Any], known: Mapping[Value, Value]) -> dict[Value, Value]:
    """Return for each view the value whose memory it shows; add to what is `known`."""
    whole = dict(known)
    for step in steps:
        if isinstance(step, Step) and step.prim.view:
            base = step.args[0]
            whole.update(dict.fromkeys(step.outs, whole.get(base, base)))
    return whole


def results_read(
    steps: Iterable[Any], made: Sequence[Any], saved: Iterable[Value], counted: Sequence[bool]
) -> list[int]:
    """Return the places of the results that show memory which a backward pass reads.

    Parameters
    ----------
    steps: The items of the forward pass.
    made: How the results are made.
    saved: The values that the pass reads.
    counted: Whether the tape would notice a write through each result.
    """
    whole = wholes(steps, {})
    read = {whole.get(value, value) for value in saved}
    return [
        i
        for i, (leaf, counts) in enumerate(zip(made, counted, strict=True))
        if leaf.kind == "tensor" and counts and whole.get(leaf.what, leaf.what) in read
    ]
