"""Layer 8 · compiler: the native form of a whole step, from memory to memory.

NOTE [functions of a step]
The code of a step is a function with noalias arguments. It is never inlined, since LLVM would then
compile it together with all code around it. Indices are checked before any of them is used; if one
is out of range, the step writes nothing (see NOTE [error flag] in `wengert.compiler.codegen.code`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from wengert.compiler.codegen.code import Array, Code, llvm_type
from wengert.compiler.ir.programs import Step, Varying, open_ended
from wengert.prims.facet import Facet


class NativeForm(NamedTuple):
    """The native form of a primitive that is not element-wise.

    Attributes
    ----------
    accepts: Whether it supports a step's dtypes, shapes and parameters.
    emit
        ``emit(code, step, ins, outs)`` writes the results into `outs`, contiguous arrays that alias
        nothing. `ins` are the arguments, followed by the values among the parameters.
    cost: Rough cycles in total.
    strided: For each argument, whether it may have any strides; others are contiguous.
    describe: The name and sizes of the routine that is called, or an empty string.
    """

    accepts: Callable[[Step], bool]
    emit: Callable[[Code, Step, Sequence[Array], Sequence[Array]], None]
    cost: Callable[[Step], int]
    strided: Callable[[Step], tuple[bool, ...]] = lambda step: (False,) * len(step.args)
    describe: Callable[[Step], str] = lambda step: ""


NATIVE: Facet[NativeForm | None] = Facet("native", lambda prim: None)
"""The native form of a primitive from memory to memory, or None."""

# -- building blocks ------------------------------------------------------------------------------


def outlined(
    code: Code, name: str, arrays: Sequence[Array], write: Callable[[Code, list[Array]], None]
) -> None:
    """Emit the code of `write` as a function, and a call of it (NOTE [functions of a step]).

    Parameters
    ----------
    arrays: The arrays it reads and writes; `write` gets them as the function's parameters.
    """
    inner = Code(code.module)
    write(inner, [array._replace(pointer=f"%p{i}") for i, array in enumerate(arrays)])
    table = code.passed(inner)
    arguments = ", ".join([f"ptr {array.pointer}" for array in arrays]) + table
    parameters = ", ".join([f"ptr noalias %p{i}" for i in range(len(arrays))]) + table
    if not inner.fails:
        head = f"internal void @@({parameters}) noinline nounwind"
        symbol = code.module.function(name, inner.function(head))
        code.do(f"call void @{symbol}({arguments})")
        return
    # a flag of its own, so that LLVM can promote the caller's to a register
    inner.allocations += ["  %failure = alloca i8", "  store i8 0, ptr %failure"]
    failed = inner.let("load i8, ptr %failure")
    head = f"internal i8 @@({parameters}) noinline nounwind"
    symbol = code.module.function(name, inner.function(head, f"i8 {failed}"))
    code.fail_if(code.let(f"icmp ne i8 {code.let(f'call i8 @{symbol}({arguments})')}, 0"))


def fill_zeros(code: Code, pointer: str, size: int) -> None:
    """Fill `size` bytes with zeros."""
    arguments = ("ptr", pointer), ("i8", 0), ("i64", size), ("i1", "false")
    code.call("llvm.memset.p0.i64", "void", *arguments)


@contextmanager
def nest(
    code: Code, shape: Sequence[int], *strides: Sequence[int], start: Sequence[str] = ()
) -> Iterator[list[str]]:
    """Emit the ``with`` body in a loop nest over a shape.

    Parameters
    ----------
    strides: The strides of each of several arrays.
    start: The offset in each array at which to start.

    Yields
    ------
    list of str: The current offset in each array.
    """
    # merge dimensions that are contiguous in every array
    merged: list[tuple[int, list[int]]] = []
    for extent, *steps in zip(shape, *strides, strict=True):
        if extent == 1:
            continue
        if merged and all(
            outer == extent * inner for outer, inner in zip(merged[-1][1], steps, strict=True)
        ):
            merged[-1] = (merged[-1][0] * extent, steps)
        else:
            merged.append((extent, steps))
    offsets = list(start) or ["0"] * len(strides)
    with ExitStack() as stack:
        for extent, steps in merged:
            i = stack.enter_context(code.loop(extent))
            for k, step in enumerate(steps):
                term = code.offset((step,), [i])
                if term != "0" and offsets[k] != "0":
                    term = code.let(f"add nsw i64 {offsets[k]}, {term}")
                offsets[k] = offsets[k] if term == "0" else term
        yield offsets


def in_strips(code: Code, extent: int, width: int, write: Callable[[str, int], None]) -> None:
    """Emit a loop in strips of several iterations, narrower ones for the remainder.

    Parameters
    ----------
    width: The iterations of a strip: a power of 2.
    write: ``write(counter, count)`` emits `count` iterations from a counter on.
    """
    for start, end, count in strips_of(extent, width):
        with code.loop(end, str(start), step=count) as counter:
            write(counter, count)


def strips_of(extent: int, width: int) -> Iterator[tuple[int, int, int]]:
    """Yield the starts, ends and widths of the strips that cover an extent."""
    if open_ended(extent):
        end = extent - extent % width
        yield 0, Varying(end), width
        yield end, extent, 1
        return
    start = 0
    while start < extent:
        # full vectors first, then narrower ones for the remainder
        while width > extent - start:
            width //= 2
        end = extent - (extent - start) % width
        yield start, end, width
        start = end


def _load_index(code: Code, array: Array, position: str) -> str:
    index = code.load(code.at(array.pointer, array.dtype, position), array.dtype)
    if array.dtype.itemsize == 8:
        return index
    extended = "sext" if array.dtype.kind == "i" else "zext"
    return code.let(f"{extended} {llvm_type(array.dtype)} {index} to i64")


def check_indices(code: Code, array: Array, size: int) -> str:
    """Emit a bounds check of all indices of a contiguous array.

    Returns
    -------
    str: Whether an index is out of range for a dimension of `size`: an ``i1``.
    """
    count = 1
    for extent in array.shape:
        count *= extent
    cell = code.cell("i1", "false")
    with code.loop(count) as i:
        index = _load_index(code, array, i)
        shift = size if array.dtype.kind == "i" else 0
        shifted = code.let(f"add i64 {index}, {shift}") if shift else index
        cell.also(code.let(f"icmp uge i64 {shifted}, {size + shift}"))
    return cell.get()
