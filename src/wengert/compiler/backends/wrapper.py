"""Layer 8 · compiler: modules of native functions with the entry points that Python calls.

NOTE [arenas]
A small arena is on the stack. A larger one is kept between calls in the first entry of the
function's state: a call takes it, or allocates one if another thread has it, and puts it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.backends.buffers import Buffers
from wengert.compiler.backends.emission import Emission
from wengert.compiler.backends.loop_costs import cycles
from wengert.compiler.backends.machine import DATA, DECLARATIONS, function_attributes
from wengert.compiler.backends.plan import Plan
from wengert.compiler.backends.scope import Workspace
from wengert.compiler.codegen.code import Code, Module, memory_type
from wengert.compiler.ir.programs import Program, Value, Varying, open_ended

_STACK = 32768
# functions with more work than this release the GIL, in rough cycles
_LONG = 100_000


class Function(NamedTuple):
    """A native function of a module.

    Attributes
    ----------
    name: The symbol of its entry point.
    constants: The arrays whose addresses its state holds, from the second entry on.
    buffers: The buffers of its values.
    """

    name: str
    constants: list[np.ndarray[Any, Any]]
    buffers: Buffers


def write_module(
    plans: Sequence[Plan], *, fastmath: bool, wide: bool = False, piece: int = 0
) -> tuple[str, list[Function], list[int]]:
    """Write a module for plans; return its text, its functions, and the numbers that they read.

    Parameters
    ----------
    piece: The number of elements of a piece of longer arrays, or 0 for whole arrays.
    """
    module = Module(fastmath)
    texts: list[str] = []
    functions = []
    for k, plan in enumerate(plans):
        buffers = Buffers(plan, plan.program.writes)
        constants = list(constants_of(buffers).values())
        before = module.mark()
        text, last = write_run(k, module, buffers, constants, wide)
        if buffers.over and last >= 0:
            # a run that fails is repeated by NumPy, so it must not have overwritten inputs
            buffers = Buffers(plan, plan.program.writes, last)
            module.back_to(before)
            text, _ = write_run(k, module, buffers, constants, wide)
        texts.append(text)
        texts.append(_pieces(k, buffers, piece, module) if piece else _call(k, buffers, module))
        functions.append(Function(f"call{k}", constants, buffers))
    body = "\n".join(texts)
    return f"{DECLARATIONS}{module.text()}\n{body}\n", functions, module.words


def constants_of(buffers: Buffers) -> dict[int, np.ndarray[Any, Any]]:
    """Return the constant arrays that a plan and its repeated bodies read."""
    found: dict[int, Any] = {}
    values: list[Value] = [*buffers.constants]
    values += [buffers.plan.base(value) for _, value in buffers.copies]
    for value in values:
        if value.constant is not None:
            assert value.constant.flags.c_contiguous, "native code reads constants in C order"
            found[id(value.constant)] = value.constant
    for inner, _, _ in buffers.inner.values():
        found.update(constants_of(inner))
    return found


def write_run(
    k: int,
    module: Module,
    buffers: Buffers,
    constants: list[np.ndarray[Any, Any]],
    wide: bool = False,
    inlined: bool = False,
) -> tuple[str, int]:
    """Write the function that computes a plan; it takes addresses, and returns 1 on failure.

    Returns
    -------
    str, int: Its text, and the position of the last item of the plan that may fail, or -1.
    """
    code = Code(module)
    program = buffers.plan.program
    given = {}
    for table, count in (
        ("inputs", len(program.inputs)),
        ("outputs", len(program.outputs)),
        ("constants", len(constants)),
    ):
        given[table] = [code.entry(f"%{table}", i) for i in range(count)]
    code.allocations += ["  %failure = alloca i8", "  store i8 0, ptr %failure"]
    addresses = {id(array): name for array, name in zip(constants, given["constants"], strict=True)}
    emission = Emission(
        code, buffers, given["inputs"], given["outputs"], "%arena", addresses, wide=wide
    )
    workspace = code.workspace = Workspace(code, buffers.arena)
    emission.run(fence=bool(buffers.over))
    buffers.arena = workspace.end
    state = code.let("load i8, ptr %failure")
    code.do(f"ret i8 {state}")
    head = f"internal i8 @run{k}(ptr %inputs, ptr %outputs, ptr %arena, ptr %constants)"
    attributes = f"{'alwaysinline ' * inlined}{function_attributes()}"
    return code.function(f"{head} {attributes}", ""), emission.failing


def _call(k: int, buffers: Buffers, module: Module) -> str:
    """Write the entry point: it takes arrays, and returns a list of arrays, or None on failure."""
    program = buffers.plan.program
    code, table, inputs, outputs = _begun(program, module)
    objects = [argument(code, i) for i in range(len(program.inputs))]
    for i, given in enumerate(objects):
        point(code, given, inputs, i)
    made: list[str] = []
    # the labels where a call that fails releases the results allocated so far
    drops = [code.fresh("drop") for _ in range(len(program.outputs) + 1)]
    found = code.cell("ptr", "null")
    for i, value in enumerate(program.outputs):
        if i in buffers.over:
            made.append(objects[buffers.over[i]])
            code.do(f"call void @Py_IncRef(ptr {made[-1]})")
            point(code, made[-1], outputs, i)
            continue
        rank = len(value.shape)
        name = code.stack(np.dtype(np.int64), rank)
        for dim, size in enumerate(value.shape):
            code.do(f"store i64 {Varying(size)}, ptr {code.at(name, np.dtype(np.int64), dim)}")
        array = code.let(
            f"call ptr @PyArray_New(ptr @PyArray_Type, i32 {rank}, ptr {name}, "
            f"i32 {value.dtype.num}, ptr null, ptr null, i32 0, i32 0, ptr null)"
        )
        _leave_if(code, code.let(f"icmp eq ptr {array}, null"), drops[i])
        made.append(array)
        point(code, array, outputs, i)
    kept = buffers.arena > (0 if open_ended(buffers.arena) else _STACK)
    arena = _take_arena(code, table, buffers.arena, drops[-1], kept)
    room = _aligned(code, arena) if kept else arena
    call = f"call i8 @run{k}(ptr {inputs}, ptr {outputs}, ptr {room}, ptr %constants)"
    with without_lock(code, buffers.plan.varies or cycles(buffers.plan) > _LONG):
        failure = code.let(call)
    if kept:
        _put_arena_back(code, table, arena)
    again, fine = code.fresh("again"), code.fresh("fine")
    code.branch(code.let(f"icmp ne i8 {failure}, 0"), again, fine)
    code.label(again)
    code.do("call void @Py_IncRef(ptr @_Py_NoneStruct)")
    found.set("@_Py_NoneStruct")
    code.jump(drops[-1])
    code.label(fine)
    result = code.let(f"call ptr @PyList_New(i64 {len(made)})")
    _leave_if(code, code.let(f"icmp eq ptr {result}, null"), drops[-1])
    for i, array in enumerate(made):
        code.let(f"call i32 @PyList_SetItem(ptr {result}, i64 {i}, ptr {array})")
    code.do(f"ret ptr {result}")
    for i in reversed(range(len(made))):
        code.label(drops[i + 1])
        code.do(f"call void @Py_DecRef(ptr {made[i]})")
        code.jump(drops[i])
    code.label(drops[0])
    code.do(f"ret ptr {found.get()}")
    return _ended(code, k)


def _begun(program: Program, module: Module) -> tuple[Code, str, str, str]:
    """Begin an entry point: load its state, and allocate the tables of addresses."""
    code = Code(module)
    table = elements(code, "%self")
    code.do(f"%constants = getelementptr inbounds ptr, ptr {table}, i64 1")
    inputs, outputs = (
        code.let(f"alloca [{max(len(values), 1)} x ptr]")
        for values in (program.inputs, program.outputs)
    )
    return code, table, inputs, outputs


def argument(code: Code, i: int) -> str:
    """Load an argument of an entry point."""
    return code.let(f"load ptr, ptr {code.let(f'getelementptr ptr, ptr %args, i64 {i}')}")


def _ended(code: Code, k: int) -> str:
    header = f"ptr @call{k}(ptr %self, ptr %args, i64 %count) {function_attributes()}"
    return code.function(header, "")


def _pieces(k: int, buffers: Buffers, piece: int, module: Module) -> str:
    """Write an entry point for arrays longer than the program's, computed piece by piece.

    It takes the inputs, the arrays for outputs, a start, a stop, and the number of elements. The
    last piece is a whole one that overlaps its predecessor. It returns its first argument, or None
    on failure or if an output has an element that is not finite.
    """
    program = buffers.plan.program
    code, table, inputs, outputs = _begun(program, module)
    values = [*program.inputs, *program.outputs]
    begins = [elements(code, argument(code, i)) for i in range(len(values))]
    start, stop, size = (
        code.let(f"call i64 @PyLong_AsSsize_t(ptr {argument(code, len(values) + i)})")
        for i in range(3)
    )
    last = code.let(f"sub i64 {size}, {piece}")
    kept = buffers.arena > _STACK
    lost = code.fresh("lost")
    arena = _take_arena(code, table, buffers.arena, lost, kept)
    room = _aligned(code, arena) if kept else arena
    met = code.cell("i8", "0")
    with without_lock(code), code.loop(stop, start, step=piece) as counter:
        before = code.let(f"icmp slt i64 {counter}, {last}")
        first = code.let(f"select i1 {before}, i64 {counter}, i64 {last}")
        here = [
            code.let(f"getelementptr {memory_type(value.dtype)}, ptr {begin}, i64 {first}")
            for value, begin in zip(values, begins, strict=True)
        ]
        for i, pointer in enumerate(here):
            rows, j = (inputs, i) if i < len(program.inputs) else (outputs, i - len(program.inputs))
            _write(code, pointer, rows, j)
        call = f"call i8 @run{k}(ptr {inputs}, ptr {outputs}, ptr {room}, ptr %constants)"
        found = [code.let(call)]
        for value, pointer in zip(program.outputs, here[len(program.inputs) :], strict=True):
            if value.dtype.kind == "f":
                found.append(_not_finite(code, pointer, value.dtype, piece))
        for one in found:
            met.also(one)
    if kept:
        _put_arena_back(code, table, arena)
    fine = code.let(f"icmp eq i8 {met.get()}, 0")
    result = code.let(f"select i1 {fine}, ptr {argument(code, 0)}, ptr @_Py_NoneStruct")
    code.do(f"call void @Py_IncRef(ptr {result})")
    code.do(f"ret ptr {result}")
    code.label(lost)
    code.do("ret ptr null")
    return _ended(code, k)


_EXPONENTS = {4: 0x7F800000, 8: 0x7FF0000000000000}
"""The bits that are all ones where a float is not finite."""


def _not_finite(code: Code, pointer: str, dtype: np.dtype[Any], count: int) -> str:
    """Return an ``i8``: whether any of `count` elements (a multiple of 32) is not finite."""
    width, bits = 32, dtype.itemsize * 8
    whole, flags = f"<{width} x i{bits}>", f"<{width} x i1>"
    mask = f"<{', '.join([f'i{bits} {_EXPONENTS[dtype.itemsize]}'] * width)}>"
    cell = code.cell(flags, "zeroinitializer")
    with code.loop(count, step=width) as i:
        at = code.at(pointer, dtype, i)
        value = code.let(f"load {whole}, ptr {at}, align {dtype.itemsize}")
        high = code.let(f"and {whole} {value}, {mask}")
        cell.also(code.let(f"icmp eq {whole} {high}, {mask}"))
    seen = code.let(f"bitcast {flags} {cell.get()} to i{width}")
    return code.let(f"zext i1 {code.let(f'icmp ne i{width} {seen}, 0')} to i8")


def point(code: Code, array: str, table: str, i: int) -> None:
    """Write the address of an array object's elements into a table."""
    _write(code, elements(code, array), table, i)


def elements(code: Code, array: str) -> str:
    """Load the address of an array object's elements."""
    return code.let(f"load ptr, ptr {code.let(f'getelementptr i8, ptr {array}, i64 {DATA}')}")


def _write(code: Code, pointer: str, table: str, i: int) -> None:
    """Write an address into a table."""
    target = code.let(f"getelementptr inbounds ptr, ptr {table}, i64 {i}")
    code.do(f"store ptr {pointer}, ptr {target}")


@contextmanager
def without_lock(code: Code, released: bool = True) -> Iterator[None]:
    """Emit the ``with`` body without the interpreter's lock, if it is to be `released`."""
    thread = code.let("call ptr @PyEval_SaveThread()") if released else ""
    yield
    if released:
        code.do(f"call void @PyEval_RestoreThread(ptr {thread})")


def _leave_if(code: Code, condition: str, drop: str) -> None:
    """Branch to the label `drop` if a condition holds."""
    stay = code.fresh("stay")
    code.branch(condition, drop, stay)
    code.label(stay)


def _take_arena(code: Code, table: str, size: int, drop: str, keep: bool) -> str:
    if not size:
        return "null"
    if not keep:
        return code.let(f"alloca [{size} x i8], align 64")
    kept = code.let(f"atomicrmw xchg ptr {table}, ptr null acq_rel")
    missing = code.let(f"icmp eq ptr {kept}, null")
    make, go = code.fresh("make"), code.fresh("go")
    before = code.current
    code.branch(missing, make, go)
    code.label(make)
    fresh = code.let(f"call ptr @PyMem_RawMalloc(i64 {size + 64})")
    lacking, made_it = code.fresh("lacking"), code.fresh("made")
    code.branch(code.let(f"icmp eq ptr {fresh}, null"), lacking, made_it)
    code.label(lacking)
    code.let("call ptr @PyErr_NoMemory()")
    code.jump(drop)
    code.label(made_it)
    code.jump(go)
    code.label(go)
    return code.let(f"phi ptr [ {kept}, %{before} ], [ {fresh}, {made_it} ]")


def _put_arena_back(code: Code, table: str, arena: str) -> None:
    other = code.let(f"atomicrmw xchg ptr {table}, ptr {arena} acq_rel")
    code.do(f"call void @PyMem_RawFree(ptr {other})")


def _aligned(code: Code, pointer: str) -> str:
    """Round an address up to a multiple of 64."""
    number = code.let(f"ptrtoint ptr {pointer} to i64")
    away = code.let(f"and i64 {code.let(f'sub i64 0, {number}')}, 63")
    return code.let(f"getelementptr i8, ptr {pointer}, i64 {away}")
