"""Layer 8 · compiler: the blocks that a run of a graph visits."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.base import errors
from wengert.compiler.ir.executable import START, WORD, Tape, padded
from wengert.compiler.ir.programs import Value
from wengert.compiler.tracing.blocks import Block


class Visit(NamedTuple):
    """One execution of a block, with the values that its backward pass reads."""

    block: Block
    saved: list[Any]


def pushed(block: Block, inputs: Container[Value]) -> tuple[Value, ...]:
    """Return the values that a block pushes to the tape: the saved ones that are no inputs."""
    return tuple([value for value in block.saved() if value not in inputs])


class Visits:
    """The blocks that a run visits, in order.

    Attributes
    ----------
    blocks: The blocks of the graph, by number.
    inputs: The inputs of the run.
    tape: What a native run has recorded, or None if the visits have been added one by one.
    """

    def __init__(self) -> None:
        self.blocks: Sequence[Block] = ()
        self.inputs: dict[Value, Any] = {}
        self.tape: Tape | None = None
        self._added: list[Visit] = []
        self._shared: list[tuple[Any, Any]] = []
        self._apart: list[tuple[Any, bytes]] = []

    @property
    def last(self) -> Block:
        """The block at whose end the run has ended."""
        if self.tape is None:
            return self._added[-1].block
        return self.blocks[self.tape.data.view(np.int64).item(-1)]

    def add(self, block: Block, saved: list[Any]) -> None:
        """Append a visit."""
        self._added.append(Visit(block, saved))

    def __reversed__(self) -> Iterator[Visit]:
        if self.tape is None:
            yield from reversed(self._added)
            return
        for block, start in self._backwards(self.tape):
            known = dict(self.inputs)
            for value in pushed(block, self.inputs):
                known[value] = np.ndarray(value.shape, value.dtype, self.tape.data, start)
                start += padded(value)
            yield Visit(block, [known[value] for value in block.saved()])

    def _backwards(self, tape: Tape) -> Iterator[tuple[Block, int]]:
        """Yield the blocks on a tape, each with the place where its values begin."""
        words = tape.data.view(np.int64)
        sizes: dict[int, int] = {}
        end = len(words) - 1
        while (number := words.item(end)) != START:
            block = self.blocks[number]
            if number not in sizes:
                sizes[number] = sum(map(padded, pushed(block, self.inputs))) // WORD
            end -= sizes[number]
            yield block, end * WORD
            end -= 1

    def replace(self, others: Mapping[int, Any]) -> None:
        """Replace saved inputs by other arrays, given by their ids."""
        self.inputs = {v: others.get(id(array), array) for v, array in self.inputs.items()}
        for visit in self._added:
            visit.saved[:] = [others.get(id(array), array) for array in visit.saved]

    def arrays(self) -> Iterator[Any]:
        """Yield the saved arrays, but for those on a tape."""
        for visit in self._added:
            yield from visit.saved
        for number in () if self.tape is None else self.tape.visited:
            for value in self.blocks[number].saved():
                if value in self.inputs:
                    yield self.inputs[value]

    def share(self, value: Value, array: Any) -> bool:
        """Let writes to a result reach what is saved of it; return whether anything is.

        Parameters
        ----------
        value: The value of the result at the end of the run.
        array: Its memory.
        """
        found = apart = False
        # by block and the places of the slots after it that show the memory
        known: dict[Any, Any] = {}
        at: tuple[int, ...] | None = None
        added = [(visit.block, visit.saved) for visit in reversed(self._added)]
        visits: Any = added if self.tape is None else self._backwards(self.tape)
        for block, saved in visits:
            if (block, at) not in known:
                shown = [value] if at is None else [block.after[k] if k >= 0 else None for k in at]
                known[block, at] = self._showing(block, shown)
            read, at = known[block, at]
            for k, one, is_whole in read:
                found = True
                if self.tape is None:
                    apart |= not np.may_share_memory(saved[k], array)
                elif is_whole:
                    values = pushed(block, self.inputs)
                    start = saved + sum(map(padded, values[: values.index(one)]))
                    part = np.ndarray(one.shape, one.dtype, self.tape.data, start)
                    self._shared.append((part, array))
                else:
                    apart = True
            if len(at) == 1:
                break
        if apart:
            # what is saved does not follow writes to the result
            self._apart.append((array, array.tobytes()))
        return found

    def _showing(self, block: Block, shown: Sequence[Value | None]) -> tuple[list[Any], Any]:
        """Return what a block saves of the memory of values, and the slots before that show it.

        The first of the values is the whole result, or None. So is the first of the slots, or -1.
        """
        (result, *_), whole, slots = shown, block.whole, block.slots or ()
        memory = {whole.get(one, one) for one in shown if one is not None}

        def shows(one: Value) -> bool:
            return one not in self.inputs and whole.get(one, one) in memory

        read = [(k, one, one is result) for k, one in enumerate(block.saved()) if shows(one)]
        first = slots.index(result) if result in slots else -1
        return read, (first, *[k for k, slot in enumerate(slots) if shows(slot)])

    def refresh(self) -> None:
        """Read results again whose memory the program may have written to.

        Raises
        ------
        RuntimeError: If that does not show what has been saved.
        """
        for array, content in self._apart:
            if array.tobytes() != content:
                raise errors.modified_unseen(array)
        for saved, array in self._shared:
            saved[...] = array
