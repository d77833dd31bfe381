"""Layer 8 · compiler: a graph of basic blocks, linked into one native function.

NOTE [native control flow]
The blocks of a data-dependent loop are small: to get from one to the next in Python takes some
hundred times as long as to run them. So the blocks become functions of one module, and one more
function calls them and branches on their decisions. It has memory of its own: the number of the
first block, the slots of blocks, what the running block makes, constants, and one arena. Blocks
whose states have the same structure share slots. On an edge, values are copied to the slots of the
next block unless they are there already, which pays for small values only: `link` returns None for
others, and Python goes from block to block.

Values of at most a cache line have variables on the stack instead, which LLVM keeps in registers
where the blocks that use them are inlined. They are written to the memory when the function
returns, and read from it when it goes on after a pause.

NOTE [tapes]
The backward pass of a run visits its blocks in reverse, and reads what they have saved. So each
block pushes its saved values and its number to a tape, which Python makes longer during a pause if
there may be no room for all blocks up to the next one. The blocks of the backward pass pop these
values, and branch on the number before them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.backends.buffers import Buffers
from wengert.compiler.backends.machine import DECLARATIONS, FunctionState, Machine, builtin
from wengert.compiler.backends.plan import Plan
from wengert.compiler.backends.segments import segments
from wengert.compiler.backends.wrapper import (
    argument,
    constants_of,
    elements,
    point,
    without_lock,
    write_run,
)
from wengert.compiler.codegen.code import (
    Code,
    Module,
    literal,
    llvm_type,
)
from wengert.compiler.ir.executable import START, WORD, LinkedBlock, Tape, padded
from wengert.compiler.ir.programs import Program, Value

_LINE = 64
_BACK_EDGES = 1_000_000
# the most bytes that edges may copy per block, and that the memory of a run may take
_COPIED = 4096
_KEPT = 1 << 20
# the most steps of a program that every block gets a copy of
_SHORT = 10

ENDED, MISSING, TROUBLE, PAUSED = range(4)

# the words at the beginning of the memory of a run
_GO_ON, _TOP, _END = range(3)


class _Memory(NamedTuple):
    """The memory of a run.

    Attributes
    ----------
    memory: All of it.
    results: For each block the results that a run which ends there returns.
    """

    memory: np.ndarray[Any, Any]
    results: list[list[np.ndarray[Any, Any]]]


class NativeGraph:
    """A native function that runs a graph of blocks from the first to an exit.

    Parameters
    ----------
    blocks: The blocks, the entry first.
    inputs: The inputs of the function.
    fastmath: Whether arithmetic may assume that floats are real numbers.

    Attributes
    ----------
    results: For each block the values that a run which ends there returns.
    """

    def __init__(
        self, blocks: Sequence[LinkedBlock], inputs: Sequence[Value], *, fastmath: bool
    ) -> None:
        writer = _Writer(blocks, inputs, fastmath)
        self.machine = Machine(writer.text)
        state = FunctionState.of(writer.constants, self.machine, writer.words)
        self._call = builtin(self.machine.address("call"), "call", state)
        self._image = writer.image()
        self._most, self._marks = writer.most, slice(writer.marks, writer.marks + len(blocks))
        self._length = 0
        self.results = [
            {v: writer.memory[i, v] for v in block.results if (i, v) in writer.memory}
            for i, block in enumerate(blocks)
        ]
        self._idle: list[_Memory] = []

    def run(
        self, arrays: Sequence[Any], tape: Tape | None = None
    ) -> tuple[int, list[Any] | None] | None:
        """Run the graph.

        Parameters
        ----------
        arrays: The inputs.
        tape: What the blocks push to, or pop off (see NOTE [tapes]).

        Returns
        -------
        tuple or None
            The number of the last block with the arrays of its `results`, or with None if its
            decision had an unknown outcome. None alone if a step would raise an error.
        """
        try:
            room = self._idle.pop()
        except IndexError:
            room = self._fresh()
        memory, results = room
        code = PAUSED
        if tape is None:
            while code % 4 == PAUSED:
                # signals are seen to before and after
                code = self._call(memory, *arrays)
        elif self._most:
            code = self._recorded(memory, arrays, tape)
        else:
            words = memory[:_LINE].view(np.int64)
            words[_TOP] = tape.data.ctypes.data + tape.data.size - WORD
            while code % 4 == PAUSED:
                code = self._call(memory, *arrays)
        block, code = divmod(code, 4)
        found = [shown.copy() for shown in results[block]] if code == ENDED else None
        self._idle.append(room)
        return None if code == TROUBLE else (block, found)

    def _recorded(self, memory: np.ndarray[Any, Any], arrays: Sequence[Any], tape: Tape) -> int:
        """Run the graph with an empty tape; return the number of the last block and the status."""
        words, marks = memory[:_LINE].view(np.int64), memory[self._marks]
        data = np.empty(max(self._length, WORD + 2 * self._most), np.uint8)
        data[:WORD].view(np.int64)[0] = START
        used, code = WORD, PAUSED
        marks[:] = 0
        while code % 4 == PAUSED:
            if data.size - used < self._most:
                data = np.concatenate([data[:used], np.empty(data.size + self._most, np.uint8)])
            start = data.ctypes.data
            words[_TOP], words[_END] = start + used, start + data.size
            code = self._call(memory, *arrays)
            used = int(words[_TOP]) - start
        self._length = used + self._most
        tape.data = data[:used] if 2 * used > data.size else data[:used].copy()
        tape.visited = np.flatnonzero(marks).tolist()
        return int(code)

    def _fresh(self) -> _Memory:
        """Return fresh memory for a run, aligned to a cache line."""
        room = np.empty(self._image.size + _LINE, np.uint8)
        start = -room.ctypes.data % _LINE
        memory = room[start : start + self._image.size]
        np.copyto(memory, self._image)
        results = [
            [np.ndarray(v.shape, v.dtype, memory, offset) for v, offset in places.items()]
            for places in self.results
        ]
        return _Memory(memory, results)


def link(
    blocks: Sequence[LinkedBlock], inputs: Sequence[Value], *, fastmath: bool
) -> NativeGraph | None:
    """Link blocks into one native function, or return None where that is impossible or no gain."""
    copied = sum(_bytes(value) for block in blocks for value in (*block.slots, *_on_tape(block)))
    made = sum(_bytes(value) for block in blocks for value in (*block.makes, *_on_tape(block)))
    if copied > _COPIED * len(blocks) or copied + made > _KEPT:
        return None
    for block in blocks:
        pieces = segments(block.program)
        if len(pieces) != 1 or not isinstance(pieces[0], Program):
            return None
    return NativeGraph(blocks, inputs, fastmath=fastmath)


def _size(kind: np.dtype[Any], shape: tuple[int, ...]) -> int:
    # a plain number, even if the code of blocks is for several sizes
    return int(math.prod(shape)) * kind.itemsize


def _bytes(value: Value) -> int:
    return _size(value.dtype, value.shape)


def _on_tape(block: LinkedBlock) -> tuple[Value, ...]:
    """Return the values that a block pushes or pops."""
    return block.pushed or block.popped or ()


def _is_short(value: Value) -> bool:
    return _bytes(value) <= _LINE


class _Function(NamedTuple):
    """A function that equal blocks share: its symbol, first constant, and arena."""

    name: str
    first: int
    arena: int


class _Writer:
    """Writes the module of a native graph.

    Attributes
    ----------
    text: The module in LLVM's language.
    constants, words: The constant arrays and numbers that the blocks read.
    memory: The offset of a value in the memory of a run, by block and value.
    most: The bytes that all blocks together push to the tape, if there is one.
    marks: The offset of a byte for each block, set when it has pushed.
    """

    def __init__(
        self, blocks: Sequence[LinkedBlock], inputs: Sequence[Value], fastmath: bool
    ) -> None:
        self.blocks = blocks
        self.constants: list[np.ndarray[Any, Any]] = []
        self.memory: dict[tuple[int, Value], int] = {}
        self._inputs = {value: k for k, value in enumerate(inputs)}
        self._module = Module(fastmath)
        self.words = self._module.words
        self._size = _LINE
        self._fixed: dict[int, tuple[int, np.ndarray[Any, Any]]] = {}
        self._live = self._read_slots()
        # states of the same structure share slots, so that unchanged values need no copy
        self._structures = [
            tuple((v.dtype, v.shape) if self._is_own(v) else None for v in block.slots)
            for block in blocks
        ]
        places = {
            structure: [0 if kind is None else self._room(_size(*kind)) for kind in structure]
            for structure in dict.fromkeys(self._structures)
        }
        for i, block in enumerate(blocks):
            offsets = places[self._structures[i]]
            self.memory |= {(i, v): at for v, at in zip(block.slots, offsets, strict=True) if at}
        # what a block makes is dead when the next one runs
        base = self._size
        for i, block in enumerate(blocks):
            end, self._size = self._size, base
            own = (*block.makes, *(block.popped or ()))
            self.memory |= {(i, v): self._room(_bytes(v)) for v in own}
            self._size = max(self._size, end)
        self._functions: dict[int, _Function] = {}
        self._tables: dict[Any, str] = {}
        self._variables: set[int] = set()
        times = Counter(id(block.program) for block in blocks)
        runs = [
            self._run(p, times[id(p)]) for p in {id(s.program): s.program for s in blocks}.values()
        ]
        self.most = sum(
            WORD + sum(map(padded, block.pushed)) for block in blocks if block.pushed is not None
        )
        self.marks = self._room(len(blocks))
        self._code = Code(self._module)
        self._top = self._code.cell("ptr")
        self._staging = self._room(max(map(sum, self._staged_sizes()), default=0))
        self._arena = self._room(max(f.arena for f in self._functions.values()))
        body = self._graph()
        self.text = "\n".join([DECLARATIONS, self._module.text(), *runs, body, self._called()])

    def _run(self, program: Program, times: int) -> str:
        """Emit the code for a program's blocks, inlined if short or if only one block runs it."""
        buffers = Buffers(Plan(program))
        constants = list(constants_of(buffers).values())
        number, first = len(self._functions), len(self.constants)
        self.constants += constants
        self._module.first = first
        inlined = times == 1 or len(program.steps) <= _SHORT
        text, _ = write_run(number, self._module, buffers, constants, inlined=inlined)
        self._module.first = 0
        self._functions[id(program)] = _Function(f"@run{number}", first, buffers.arena)
        return text

    # -- memory -----------------------------------------------------------------------------------

    def _room(self, size: int) -> int:
        offset = self._size
        self._size += -(-int(size) // _LINE) * _LINE
        return offset

    def image(self) -> np.ndarray[Any, Any]:
        """Return the initial content of the memory of a run."""
        image = np.zeros(self._size, np.uint8)
        for offset, constant in self._fixed.values():
            image[offset : offset + constant.nbytes] = np.frombuffer(constant.tobytes(), np.uint8)
        return image

    def _is_own(self, value: Value) -> bool:
        return value.constant is None and value not in self._inputs

    def _read_slots(self) -> list[dict[Value, None]]:
        """Return the live slots of each block: those that it or a successor reads."""
        slots = [set(filter(self._is_own, block.slots)) for block in self.blocks]
        live: list[dict[Value, None]] = []
        for block, known in zip(self.blocks, slots, strict=True):
            read = [*block.reads, *block.results, *(block.pushed or ())]
            read += [] if block.decision is None else [block.decision]
            live.append({value: None for value in read if value in known})
        changed = True
        while changed:
            changed = False
            for i, block in enumerate(self.blocks):
                for k in block.following.values():
                    for value, slot in zip(block.after, self.blocks[k].slots, strict=True):
                        if slot in live[k] and value in slots[i] and value not in live[i]:
                            live[i][value] = None
                            changed = True
        return live

    def _offset(self, i: int, value: Value) -> int:
        """Return the offset in memory of a value of block `i` that is not an input."""
        if value.constant is None:
            return self.memory[i, value]
        key = id(value.constant)
        if key not in self._fixed:
            self._fixed[key] = self._room(_bytes(value)), value.constant
        return self._fixed[key][0]

    def _address(self, i: int, value: Value) -> str:
        """Return the address of a value of block `i`."""
        k = self._inputs.get(value)
        if k is not None:
            return f"%input.{k}"
        offset = self._offset(i, value)
        return self._within(offset) if value.constant is not None else self._at(offset, value)

    def _at(self, offset: int, value: Value) -> str:
        """Return the address of a value that has an offset."""
        if not _is_short(value):
            return self._within(offset)
        name = f"%value.{offset}"
        if offset not in self._variables:
            self._variables.add(offset)
            self._code.allocations.append(f"  {name} = alloca [{_LINE} x i8], align {_LINE}")
        return name

    def _within(self, offset: int) -> str:
        return self._code.let(f"getelementptr inbounds i8, ptr %memory, i64 {offset}")

    # -- the graph --------------------------------------------------------------------------------

    def _graph(self) -> str:
        code = self._code
        functions = [self._functions[id(block.program)] for block in self.blocks]
        code.allocations += [
            f"  %input.{k} = load ptr, ptr %place.{k}" for k in self._inputs.values()
        ]
        code.allocations[:0] = [
            f"  %place.{k} = getelementptr inbounds ptr, ptr %inputs, i64 {k}"
            for k in self._inputs.values()
        ]
        tables = [
            (self._table(i, block.reads), self._table(i, block.makes))
            for i, block in enumerate(self.blocks)
        ]
        heads = {k for i, s in enumerate(self.blocks) for k in s.following.values() if k <= i}
        arena = self._within(self._arena)
        left = code.cell("i64", str(_BACK_EDGES))
        labels = [code.fresh("block") for _ in self.blocks]
        start = code.let("load i64, ptr %memory")
        code.do("store i64 0, ptr %memory")
        self._top.set(code.let(f"load ptr, ptr {self._within(_TOP * WORD)}"))
        resumed = {i: code.fresh("resumed") for i in sorted(heads)}
        cases = " ".join(f"i64 {i}, label {label}" for i, label in resumed.items())
        code.do(f"switch i64 {start}, label {labels[0]} [ {cases} ]")
        for i, label in resumed.items():
            code.label(label)
            for value, place in self._short(i, self._live[i]):
                self._copy(self._address(i, value), place, _bytes(value))
            code.jump(labels[i])
        for i, block in enumerate(self.blocks):
            code.label(labels[i])
            if i in heads:
                before = left.get()
                paused, on = code.fresh("paused"), code.fresh("on")
                stops = code.let(f"icmp eq i64 {before}, 0")
                if self.most:
                    stops = code.let(f"or i1 {stops}, {self._is_full()}")
                code.branch(stops, paused, on)
                code.label(paused)
                code.do(f"store i64 {i}, ptr %memory")
                self._leave(PAUSED, i, self._live[i])
                code.label(on)
                left.set(code.let(f"sub i64 {before}, 1"))
            self._pop(i, block.popped or ())
            if block.makes:
                ins, outs = tables[i]
                first = functions[i].first
                constants = code.let(f"getelementptr inbounds ptr, ptr %constants, i64 {first}")
                given = f"ptr {ins}, ptr {outs}, ptr {arena}, ptr {constants}"
                failed = code.let(f"call i8 {functions[i].name}({given})")
                trouble, fine = code.fresh("trouble"), code.fresh("fine")
                code.branch(code.let(f"icmp ne i8 {failed}, 0"), trouble, fine)
                code.label(trouble)
                self._leave(TROUBLE, i)
                code.label(fine)
            if block.pushed is not None:
                self._push(i, block.pushed)
            if block.decision is None and block.popped is None:
                self._leave(ENDED, i, block.results)
                continue
            ways = self._ways(i, block)
            for outcome, way in ways.items():
                code.label(way)
                k = block.following.get(outcome)
                if k is None:
                    self._leave(MISSING, i)
                else:
                    self._hand_on(i, k)
                    code.jump(labels[k])
        head = "internal i64 @graph(ptr %inputs, ptr %memory, ptr %constants) nounwind"
        return code.function(head, "")

    def _table(self, i: int, values: Sequence[Value]) -> str:
        """Write the table of addresses of values that the function of block `i` takes."""
        places = tuple(
            [
                self._inputs[value]
                if value in self._inputs
                else (self._offset(i, value), _is_short(value))
                for value in values
            ]
        )
        code, known = self._code, self._tables.get(places)
        if known is not None:
            return known
        table = self._tables[places] = code.fresh("table")
        code.allocations.append(f"  {table} = alloca [{max(len(values), 1)} x ptr]")
        for k, value in enumerate(values):
            at = code.let(f"getelementptr inbounds ptr, ptr {table}, i64 {k}")
            code.do(f"store ptr {self._address(i, value)}, ptr {at}")
        return table

    def _ways(self, i: int, block: LinkedBlock) -> dict[Any, str]:
        """Branch on the decision of a block; return the labels by outcome, None for all others."""
        code = self._code
        if block.decision is not None:
            ways: dict[Any, str] = {outcome: code.fresh("way") for outcome in (True, False)}
            code.branch(self._is_true(i, block.decision), *ways.values())
            return ways
        ways = {outcome: code.fresh("way") for outcome in (*block.following, None)}
        number = code.let(f"load i64, ptr {self._down(WORD)}")
        cases = " ".join(f"i64 {n}, label {ways[n]}" for n in block.following)
        code.do(f"switch i64 {number}, label {ways[None]} [ {cases} ]")
        return ways

    # -- the tape ---------------------------------------------------------------------------------

    def _is_full(self) -> str:
        """Return whether the rest of the tape may be too short."""
        code = self._code
        end = code.let(f"load i64, ptr {self._within(_END * WORD)}")
        top = code.let(f"ptrtoint ptr {self._top.get()} to i64")
        return code.let(f"icmp ult i64 {code.let(f'sub i64 {end}, {top}')}, {self.most}")

    def _push(self, i: int, values: Sequence[Value]) -> None:
        code, top = self._code, self._top.get()
        for value in values:
            self._copy(top, self._address(i, value), _bytes(value))
            top = code.let(f"getelementptr inbounds i8, ptr {top}, i64 {padded(value)}")
        code.do(f"store i64 {i}, ptr {top}")
        self._top.set(code.let(f"getelementptr inbounds i8, ptr {top}, i64 {WORD}"))
        code.do(f"store i8 1, ptr {self._within(self.marks + i)}")

    def _pop(self, i: int, values: Sequence[Value]) -> None:
        at = self._down(sum(map(padded, values))) if values else ""
        for value in values:
            self._copy(self._address(i, value), at, _bytes(value))
            at = self._code.let(f"getelementptr inbounds i8, ptr {at}, i64 {padded(value)}")

    def _down(self, size: int) -> str:
        """Take some bytes off the tape, and return their address."""
        top = self._code.let(f"getelementptr inbounds i8, ptr {self._top.get()}, i64 {-size}")
        self._top.set(top)
        return top

    # -- leaving ----------------------------------------------------------------------------------

    def _leave(self, status: int, i: int, kept: Iterable[Value] = ()) -> None:
        """Write the values to keep to the memory, and return from block `i`."""
        self._code.do(f"store ptr {self._top.get()}, ptr {self._within(_TOP * WORD)}")
        for value, place in self._short(i, kept):
            self._copy(place, self._address(i, value), _bytes(value))
        self._code.do(f"ret i64 {4 * i + status}")

    def _short(self, i: int, values: Iterable[Value]) -> Iterable[tuple[Value, str]]:
        """Yield the values of block `i` that have variables, with their places in the memory."""
        for value in values:
            if (i, value) in self.memory and _is_short(value):
                yield value, self._within(self.memory[i, value])

    def _is_true(self, i: int, value: Value) -> str:
        code = self._code
        found = code.load(self._address(i, value), value.dtype)
        if value.dtype.kind == "b":
            return found
        kind = llvm_type(value.dtype)
        compare = "fcmp une" if value.dtype.kind == "f" else "icmp ne"
        return code.let(f"{compare} {kind} {found}, {literal(0, value.dtype)}")

    # -- edges ------------------------------------------------------------------------------------

    def _moves(self, i: int, k: int) -> list[tuple[Value, Value]]:
        """Return the copies on the edge from `i` to `k`: pairs of a slot and a value."""
        pairs = zip(self.blocks[i].after, self.blocks[k].slots, strict=True)
        found = {slot: value for value, slot in pairs if slot in self._live[k]}
        return [
            (slot, value)
            for slot, value in found.items()
            if self.memory.get((i, value)) != self.memory[k, slot]
        ]

    def _staged(self, i: int, k: int) -> list[Value]:
        """Return the values that must be copied aside first, since their slots are overwritten."""
        if self._structures[i] != self._structures[k]:
            return []
        return [value for _, value in self._moves(i, k) if value in self._live[i]]

    def _staged_sizes(self) -> Iterable[list[int]]:
        for i, block in enumerate(self.blocks):
            for k in block.following.values():
                yield [-(-_bytes(value) // _LINE) * _LINE for value in self._staged(i, k)]

    def _hand_on(self, i: int, k: int) -> None:
        staged: dict[Value, str] = {}
        offset = self._staging
        for value in self._staged(i, k):
            staged[value] = self._at(offset, value)
            self._copy(staged[value], self._address(i, value), _bytes(value))
            offset += -(-_bytes(value) // _LINE) * _LINE
        for slot, value in self._moves(i, k):
            source = staged[value] if value in staged else self._address(i, value)
            self._copy(self._address(k, slot), source, _bytes(value))

    def _copy(self, target: str, source: str, size: int) -> None:
        if size:
            self._code.copy(target, source, size)

    # -- the function that Python calls -----------------------------------------------------------

    def _called(self) -> str:
        code = Code(Module())
        constants = code.let(f"getelementptr inbounds ptr, ptr {elements(code, '%self')}, i64 1")
        given = code.let(f"alloca [{len(self._inputs) + 1} x ptr]")
        for k in range(len(self._inputs) + 1):
            point(code, argument(code, k), given, k)
        memory = code.let(f"load ptr, ptr {given}")
        inputs = code.let(f"getelementptr inbounds ptr, ptr {given}, i64 1")
        with without_lock(code):
            ended = code.let(f"call i64 @graph(ptr {inputs}, ptr {memory}, ptr {constants})")
        code.do(f"ret ptr {code.let(f'call ptr @PyLong_FromSsize_t(i64 {ended})')}")
        return code.function("ptr @call(ptr %self, ptr %args, i64 %count) nounwind", "")
