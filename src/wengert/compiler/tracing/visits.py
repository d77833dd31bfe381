"""Layer 8 · compiler: the blocks that a run of a graph visits."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.ir.executable import Tape
from wengert.compiler.ir.programs import Value
from wengert.compiler.tracing.blocks import Block
from wengert.kernels.strided import owner_of

__all__ = ["START", "Visit", "Visits", "pushed"]

START = -1
"""What a tape has in place of the number of a block before the first one."""
_WORD = 8


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

    @property
    def last(self) -> Block:
        """The block at whose end the run has ended."""
        if self.tape is None:
            return self._added[-1].block
        return self.blocks[int(self.tape.data[-_WORD:].view(np.int64)[0])]

    def add(self, block: Block, saved: list[Any]) -> None:
        """Append a visit."""
        self._added.append(Visit(block, saved))

    def __reversed__(self) -> Iterator[Visit]:
        if self.tape is None:
            yield from reversed(self._added)
            return
        for block, arrays in self._backwards():
            known = {**self.inputs, **arrays}
            yield Visit(block, [known[value] for value in block.saved()])

    def _backwards(self) -> Iterator[tuple[Block, dict[Value, Any]]]:
        """Yield the blocks on the tape, with what they have pushed."""
        assert self.tape is not None
        data = self.tape.data
        end = data.size
        while True:
            end -= _WORD
            number = int(data[end : end + _WORD].view(np.int64)[0])
            if number == START:
                return
            block = self.blocks[number]
            found = {}
            for value in reversed(pushed(block, self.inputs)):
                end -= -(-value.size * value.dtype.itemsize // _WORD) * _WORD
                found[value] = np.ndarray(value.shape, value.dtype, data, end)
            yield block, found

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

    def holders(self) -> Callable[[Value, Any], bool]:
        """Return a function that tells whether a result, given as value and array, is saved."""
        if self.tape is not None:
            return lambda value, _: self._is_on_tape(value)
        owners = {id(owner_of(array)) for array in self.arrays()}
        return lambda _, array: id(owner_of(array)) in owners

    def _is_on_tape(self, value: Value) -> bool:
        """Return whether a value at the end of the run has been pushed, under whatever name."""
        after: int | None = None
        for block, found in self._backwards():
            value = value if after is None else block.after[after]
            slots = block.slots or ()
            if value in found or value not in slots:
                return value in found
            after = slots.index(value)
        return False
