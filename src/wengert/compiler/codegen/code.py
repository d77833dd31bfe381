"""Layer 8 · compiler: a builder of LLVM IR: modules, functions, loops, elements.

NOTE [elements in registers]
An element of float64 is a ``double``, of float32 a ``float``, an integer of n bits an ``in``, and a
bool an ``i1`` in a register and a byte in memory. Signedness is a property of instructions.

NOTE [error flag]
Native code raises nothing. Where an eager operation would raise (an integer division by 0, an index
out of range), native code computes something harmless and sets the cell ``%failure``, which is in
scope in each function. The caller then runs the same program with NumPy, which raises the error
of eager code.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.ir.programs import Varying, VaryingFloat, open_ended

_TYPES: dict[np.dtype[Any], str] = {
    np.dtype(np.float64): "double",
    np.dtype(np.float32): "float",
    np.dtype(np.bool_): "i1",
    **{np.dtype(f"{sign}{size}"): f"i{8 * size}" for sign in "iu" for size in (1, 2, 4, 8)},
}


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array, in elements."""
    strides = []
    stride = 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


class Operand(NamedTuple):
    """One element in a register: an SSA name or a literal, and its dtype."""

    name: str
    dtype: np.dtype[Any]


class Array(NamedTuple):
    """An array in memory: the address of its first element, and strides counted in elements."""

    pointer: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def is_native(dtype: np.dtype[Any]) -> bool:
    """Return whether native code can hold elements of a dtype."""
    return dtype in _TYPES


def llvm_type(dtype: np.dtype[Any]) -> str:
    """Return the LLVM type of an element in a register."""
    return _TYPES[dtype]


def memory_type(dtype: np.dtype[Any]) -> str:
    """Return the LLVM type of an element in memory."""
    return "i8" if dtype.kind == "b" else _TYPES[dtype]


def several(kind: str, count: int) -> str:
    """Return the type of a vector of `count` elements; of one, the element's type."""
    return kind if count == 1 else f"<{count} x {kind}>"


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """Return a Python number as an LLVM constant of a dtype."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if isinstance(value, Varying | VaryingFloat):
        word = int.from_bytes(dtype.type(value).tobytes(), "little")
        return f"\x01{llvm_type(dtype)} {word}\x02"
    if dtype.kind in "iu":
        return str(int(value))
    with np.errstate(over="ignore"):
        rounded = float(dtype.type(value))
    # one NaN payload only, so that equal constants have equal text
    bits = struct.unpack("<Q", struct.pack("<d", math.nan if rounded != rounded else rounded))[0]
    return f"0x{bits:016X}"


class Module:
    """An LLVM module: declarations, constants and functions.

    Parameters
    ----------
    fast: Whether instructions on floats carry fast-math flags.

    Attributes
    ----------
    flags: The fast-math flags of an instruction, with a trailing blank, or an empty string.
    words: The numbers that functions read from their table (NOTE [sizes that vary] in `sizes`).
    first: The position in the table of the first constant of the function being written.
    """

    def __init__(self, fast: bool = False) -> None:
        self.words: list[int] = []
        self.first = 0
        self.flags = "fast " if fast else ""
        self._declared: dict[str, str] = {}
        self._functions: dict[str, str] = {}
        self._symbols = 0

    def declare(self, symbol: str, text: str) -> None:
        """Add a declaration, a constant or a function, unless `symbol` is declared."""
        self._declared.setdefault(symbol, text)

    def function(self, hint: str, text: str) -> str:
        """Add a function, named ``@@`` in `text`, and return its symbol; equal texts share one."""
        symbol = self._functions.get(text)
        if symbol is None:
            symbol = self._functions[text] = self.unique(hint)
            self.declare(symbol, text.replace("@@", f"@{symbol}", 1))
        return symbol

    def mark(self) -> tuple[int, int, int]:
        """Return the current state, for `back_to`."""
        return len(self._declared), len(self._functions), len(self.words)

    def back_to(self, mark: tuple[int, int, int]) -> None:
        """Drop everything added since `mark`."""
        del self.words[mark[2] :]
        for kept, size in zip((self._declared, self._functions), mark, strict=False):
            for key in list(kept)[size:]:
                del kept[key]

    def unique(self, hint: str) -> str:
        """Return a symbol that no other call returns."""
        self._symbols += 1
        return f"{hint}.{self._symbols}"

    def text(self) -> str:
        """Return the text of all declarations."""
        return "\n".join(self._declared.values()) + "\n"


@dataclass(eq=False, slots=True)
class Cell:
    """A mutable variable: a stack slot, which LLVM promotes to a register.

    Attributes
    ----------
    code, kind, pointer: The function, the LLVM type of the value, and its address.
    """

    code: Code
    kind: str
    pointer: str

    def get(self) -> str:
        """Load the value."""
        return self.code.let(f"load {self.kind}, ptr {self.pointer}")

    def set(self, value: str) -> None:
        """Store a value."""
        self.code.do(f"store {self.kind} {value}, ptr {self.pointer}")

    def also(self, condition: str) -> None:
        """Set the boolean value to its disjunction with a condition."""
        self.set(self.code.let(f"or {self.kind} {self.get()}, {condition}"))


class Code:
    """The instructions of one function, in the order in which they are emitted.

    Attributes
    ----------
    module: The module of the function.
    lines, allocations: The instructions, and those at the top of the entry block.
    current: The label of the block under construction.
    fails: Whether code emitted since this was set to False may set the error flag.
    workspace
        ``workspace(bytes)`` returns the address of aligned memory, valid until the code under
        construction is complete. It is on the stack unless the owner of the function replaces it.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[str] = []
        self.allocations: list[str] = []
        self.current = "entry"
        self.fails = False
        self.workspace: Callable[[int], str] = lambda size: self.stack(np.dtype(np.uint8), size)
        self._count = 0
        self._table_param = ""

    # -- instructions -----------------------------------------------------------------------------

    def fresh(self, hint: str = "") -> str:
        """Return a name that is unused in this function."""
        self._count += 1
        return f"%{hint}.{self._count}" if hint else f"%.{self._count}"

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {self.plain(text)}")

    def first(self, text: str) -> None:
        """Append an instruction at the top of the entry block."""
        self.allocations.append(f"  {self.plain(text, self.allocations)}")

    def plain(self, text: Any, lines: list[str] | None = None) -> str:
        """Replace each number that varies in a text by a load from the table, emitted before."""
        before, *parts = str(text).split("\x01")
        for part in parts:
            mark, _, after = part.partition("\x02")
            kind, word = mark.split()
            name = self.fresh("number")
            (self.lines if lines is None else lines).extend(
                [
                    f"  {name}.at = {self._listed([int(word)])}",
                    f"  {name} = load {kind}, ptr {name}.at, align 8",
                ]
            )
            before += name + after
        return before

    def numbers(self, numbers: Sequence[int]) -> str:
        """Return the address of some numbers, adjacent in the table."""
        return self.let(self._listed(numbers))

    def _listed(self, numbers: Sequence[int]) -> str:
        module = self.module
        module.words += map(int, reversed(numbers))
        self._table_param = ", ptr %constants"
        at = -1 - len(module.words) - module.first
        return f"getelementptr i64, ptr %constants, i64 {at}"

    def passed(self, inner: Code) -> str:
        """Return the last parameter and argument of `inner`: the table, or nothing if unread."""
        self._table_param = self._table_param or inner._table_param
        return inner._table_param

    def let(self, text: str) -> str:
        """Append an instruction, and return the name of its result."""
        text = self.plain(text)
        self._count += 1
        name = f"%.{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def call(
        self,
        symbol: str,
        result: str,
        *arguments: tuple[str, Any],
        flags: str = "",
        convention: str = "",
        attributes: str = "",
    ) -> str:
        """Declare and call a function outside of the module; return its result, if any.

        Parameters
        ----------
        symbol, result: The function, and the type of its result.
        arguments: The type and the value of each argument.
        flags: Fast-math flags, with a trailing blank.
        convention, attributes: The calling convention, if not C's, and attributes of the function.
        """
        types = ", ".join([kind for kind, _ in arguments])
        text = f"declare {convention}{result} @{symbol}({types}) {attributes}"
        self.module.declare(symbol, text)
        given = ", ".join([f"{kind} {value}" for kind, value in arguments])
        text = f"call {flags}{convention}{result} @{symbol}({given})"
        if result != "void":
            return self.let(text)
        self.do(text)
        return ""

    def copy(self, target: str, source: str, size: int) -> None:
        """Copy some bytes."""
        pointers = ("ptr", target), ("ptr", source)
        self.call("llvm.memcpy.p0.p0.i64", "void", *pointers, ("i64", size), ("i1", "false"))

    def added(self, a: str, b: str) -> str:
        """Emit the sum of two 64-bit integers."""
        if "0" in (a, b):
            return b if a == "0" else a
        return self.let(f"add nsw i64 {a}, {b}")

    def spread(self, value: str, kind: str, count: int) -> str:
        """Broadcast an element of an LLVM type to a vector of `count`."""
        if count == 1:
            return value
        vector = f"<{count} x {kind}>"
        first = self.let(f"insertelement {vector} poison, {kind} {value}, i64 0")
        mask = f"<{count} x i32> zeroinitializer"
        return self.let(f"shufflevector {vector} {first}, {vector} poison, {mask}")

    def stack(self, dtype: np.dtype[Any], count: int) -> str:
        """Return the address of `count` elements in the function's stack frame."""
        name = self.fresh("stack")
        if open_ended(count):
            self.first(f"{name} = alloca {memory_type(dtype)}, i64 {count}, align 64")
        else:
            self.first(f"{name} = alloca [{max(count, 1)} x {memory_type(dtype)}], align 64")
        return name

    def cell(self, kind: str, start: str = "") -> Cell:
        """Make a variable of an LLVM type, initialised to `start` if that is given."""
        cell = Cell(self, kind, self.fresh("cell"))
        self.allocations.append(f"  {cell.pointer} = alloca {kind}")
        if start:
            cell.set(start)
        return cell

    def entry(self, table: str, k: int) -> str:
        """Return the address at index `k` of a table, loaded at the top of the entry block."""
        at, name = self.fresh("at"), self.fresh("given")
        self.allocations.append(f"  {at} = getelementptr inbounds ptr, ptr {table}, i64 {k}")
        self.allocations.append(f"  {name} = load ptr, ptr {at}")
        return name

    def function(self, head: str, result: str = "void") -> str:
        """Return the text of a function with the signature `head`.

        It returns `result`, or ends with its last instruction if that is empty.
        """
        end = [f"  ret {result}"] if result else []
        body = "\n".join([*self.allocations, *self.lines, *end])
        return f"define {head} {{\nentry:\n{body}\n}}"

    # -- blocks -----------------------------------------------------------------------------------

    def label(self, name: str) -> None:
        """Begin a block, named by `fresh`; the block before it must have a terminator."""
        self.current = name[1:]
        self.lines.append(f"{self.current}:")

    def jump(self, name: str) -> None:
        """End the block with a branch to another one."""
        self.do(f"br label {name}")

    def branch(self, condition: str, then: str, other: str) -> None:
        """End the block with a conditional branch."""
        self.do(f"br i1 {condition}, label {then}, label {other}")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Emit the ``with`` body under a condition; the body may return from the function."""
        then, done = self.fresh("then"), self.fresh("done")
        self.branch(condition, then, done)
        self.label(then)
        yield
        if not self.lines[-1].startswith("  ret "):
            self.jump(done)
        self.label(done)

    @contextmanager
    def loop(self, extent: int | str, start: str = "0", *, step: int = 1) -> Iterator[str]:
        """Emit the ``with`` body as a loop from `start`, not below 0, to `extent`.

        Parameters
        ----------
        extent: The end, exclusive: a number, or the name of an ``i64``.
        step: The increment of the counter.

        Yields
        ------
        str: The counter, an ``i64``.
        """
        constant = isinstance(extent, int) and start.isdigit() and not open_ended(extent)
        if constant and 0 < int(extent) - int(start) <= step:
            yield start
            return
        start, extent = self.plain(start), extent if constant else self.plain(extent)
        body, done = self.fresh("loop"), self.fresh("done")
        counter, incremented = self.fresh("i"), self.fresh("next")
        if constant:
            if int(start) < int(extent):
                self.jump(body)
            else:
                self.branch("false", body, done)
        else:
            self.branch(self.let(f"icmp slt i64 {start}, {extent}"), body, done)
        predecessor, at = self.current, len(self.lines) + 1
        self.label(body)
        yield counter
        self.do(f"{incremented} = add nuw nsw i64 {counter}, {step}")
        more = self.let(f"icmp slt i64 {incremented}, {extent}")
        edges = f"[ {start}, %{predecessor} ], [ {incremented}, %{self.current} ]"
        self.lines.insert(at, f"  {counter} = phi i64 {edges}")
        self.branch(more, body, done)
        self.label(done)

    @contextmanager
    def covering(self, extent: int, step: int) -> Iterator[str]:
        """Loop in steps of `step`, with the last iteration moved back to end at `extent`.

        The body may thus compute some positions twice.
        """
        with self.loop(extent, step=step) as counter:
            last = extent - step
            before = self.let(f"icmp slt i64 {counter}, {last}")
            yield self.let(f"select i1 {before}, i64 {counter}, i64 {last}")

    def fail_if(self, condition: str) -> None:
        """Set the error flag if a condition holds (NOTE [error flag])."""
        self.fails = True
        flag = self.let(f"zext i1 {condition} to i8")
        before = self.let("load i8, ptr %failure")
        self.do(f"store i8 {self.let(f'or i8 {before}, {flag}')}, ptr %failure")

    # -- memory -----------------------------------------------------------------------------------

    def load(self, pointer: str, dtype: np.dtype[Any], count: int = 1) -> str:
        """Load the element at an address, or a vector of `count` from there on."""
        kind = several(memory_type(dtype), count)
        loaded = self.let(f"load {kind}, ptr {pointer}, align {dtype.itemsize}")
        if dtype.kind != "b":
            return loaded
        return self.let(f"trunc {kind} {loaded} to {several('i1', count)}")

    def store(self, value: str, pointer: str, dtype: np.dtype[Any], count: int = 1) -> None:
        """Store an element, or a vector of `count`, at an address."""
        kind = several(memory_type(dtype), count)
        if dtype.kind == "b":
            value = self.let(f"zext {several('i1', count)} {value} to {kind}")
        self.do(f"store {kind} {value}, ptr {pointer}, align {dtype.itemsize}")

    def at(self, pointer: str, dtype: np.dtype[Any], offset: int | str) -> str:
        """Return the address `offset` elements after another."""
        if offset in (0, "0"):
            return pointer
        return self.let(f"getelementptr inbounds {memory_type(dtype)}, ptr {pointer}, i64 {offset}")

    def offset(self, strides: tuple[int, ...], indices: list[str]) -> str:
        """Return the offset of an element from the first, an ``i64``."""
        total = "0"
        for stride, index in zip(strides, indices, strict=True):
            if stride == 0 or index == "0":
                continue
            term = index if stride == 1 else self.let(f"mul nsw i64 {index}, {stride}")
            total = term if total == "0" else self.let(f"add nsw i64 {total}, {term}")
        return total

    def element(self, array: Array, indices: list[str]) -> str:
        """Return the address of an element of an array."""
        return self.at(array.pointer, array.dtype, self.offset(array.strides, indices))
