"""Layer 8 · compiler: modules of native functions, each with the built-in function that calls it.

NOTE [arenas]
The arena of a function is on the stack if it is small. A larger one is kept between calls in the
first place of the function's state: a call takes it out, or makes one where there is none because
another thread is using it, and puts it back.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.backends.emission import Emission
from wengert.compiler.backends.machine import DATA, function_attributes
from wengert.compiler.backends.plan import Plan
from wengert.compiler.backends.scope import Workspace
from wengert.compiler.backends.storage import Storage
from wengert.compiler.backends.trees import length
from wengert.compiler.codegen.code import Code, Module, memory_type
from wengert.compiler.ir.programs import Program, Value

__all__ = ["DECLARATIONS", "Function", "constants_of", "point", "write_module", "write_run"]

_STACK = 32768
# an arena from this size on is in huge pages, where Linux has any, as NumPy's arrays are
_HUGE = 2**22
_PAGE = 4096
_IN_HUGE_PAGES = 14
# functions of so many computed elements take LLVM long
_MUCH = 200
# work from this on releases Python's lock; rough cycles
_LONG = 200_000

DECLARATIONS = """
@_Py_NoneStruct = external global i8
@PyArray_Type = external global i8
declare ptr @PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @PyList_New(i64)
declare i32 @PyList_SetItem(ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyErr_NoMemory()
declare ptr @PyMem_RawMalloc(i64)
declare i32 @madvise(ptr, i64, i32)
declare void @PyMem_RawFree(ptr)
declare i64 @PyLong_AsSsize_t(ptr)
"""


class Function(NamedTuple):
    """A native function of a module.

    Attributes
    ----------
    name: Its symbol, for Python to call.
    constants: The arrays whose addresses its state holds, from the second place on.
    storage: Where its values lie.
    """

    name: str
    constants: list[np.ndarray[Any, Any]]
    storage: Storage


def write_module(
    plans: Sequence[Plan], *, fastmath: bool, wide: bool = False, piece: int = 0
) -> tuple[str, list[Function], list[int]]:
    """The text of a module that runs some plans, its functions, and the numbers that they read.

    Parameters
    ----------
    piece: So many elements are a piece of longer arrays, or 0: the arrays are what they are.
    """
    module = Module(fastmath)
    texts: list[str] = []
    functions = []
    for k, plan in enumerate(plans):
        storage = Storage(plan, plan.program.writes)
        constants = list(constants_of(storage).values())
        before = module.mark()
        text, last = write_run(k, module, storage, constants, wide)
        if storage.over and last >= 0:
            # what runs again after trouble must find its inputs as they were
            storage = Storage(plan, plan.program.writes, last)
            module.back_to(before)
            text, _ = write_run(k, module, storage, constants, wide)
        texts.append(text)
        texts.append(_pieces(k, storage, piece, module) if piece else _call(k, storage, module))
        functions.append(Function(f"call{k}", constants, storage))
    body = "\n".join(texts)
    return f"{DECLARATIONS}{module.text()}\n{body}\n", functions, module.words


def constants_of(storage: Storage) -> dict[int, np.ndarray[Any, Any]]:
    """The arrays that a plan, and the plans within it, read."""
    found: dict[int, Any] = {}
    values: list[Value] = [*storage.constants]
    values += [storage.plan.base(value) for _, value in storage.copies]
    for value in values:
        if value.constant is not None:
            found[id(value.constant)] = value.constant
    for inner, _, _ in storage.inner.values():
        found.update(constants_of(inner))
    return found


def write_run(
    k: int,
    module: Module,
    storage: Storage,
    constants: list[np.ndarray[Any, Any]],
    wide: bool = False,
    inlined: bool = False,
) -> tuple[str, int]:
    """The function that computes: addresses of inputs and outputs in, whether all went well out.

    Returns
    -------
    str, int: Its text, and which item of the plan is the last that may meet trouble, or -1.
    """
    code = Code(module)
    code.long = length(storage.plan) >= _MUCH
    program = storage.plan.program
    given = {}
    for table, count in (
        ("inputs", len(program.inputs)),
        ("outputs", len(program.outputs)),
        ("constants", len(constants)),
    ):
        given[table] = [code.entry(f"%{table}", i) for i in range(count)]
    code.allocations += ["  %trouble = alloca i8", "  store i8 0, ptr %trouble"]
    addresses = {id(array): name for array, name in zip(constants, given["constants"], strict=True)}
    emission = Emission(
        code, storage, given["inputs"], given["outputs"], "%arena", addresses, wide=wide
    )
    workspace = code.workspace = Workspace(code, storage.arena)
    emission.run(fence=bool(storage.over))
    storage.arena = workspace.end
    state = code.let("load i8, ptr %trouble")
    code.do(f"ret i8 {state}")
    head = f"internal i8 @run{k}(ptr %inputs, ptr %outputs, ptr %arena, ptr %constants)"
    attributes = f"{'alwaysinline ' * inlined}{function_attributes()}"
    return code.function(f"{head} {attributes}", ""), emission.failing


def _call(k: int, storage: Storage, module: Module) -> str:
    """The function that Python calls: objects in, a list of arrays out, or None for trouble."""
    plan, program = storage.plan, storage.plan.program
    code, table, inputs, outputs = _begun(program, module)
    objects = [_argument(code, i) for i in range(len(program.inputs))]
    for i, given in enumerate(objects):
        point(code, given, inputs, i)
    made: list[str] = []
    # where a call that fails drops so many of the results
    drops = [code.fresh("drop") for _ in range(len(program.outputs) + 1)]
    found = code.cell("ptr", "null")
    for i, value in enumerate(program.outputs):
        if i in storage.over:
            made.append(objects[storage.over[i]])
            code.do(f"call void @Py_IncRef(ptr {made[-1]})")
            point(code, made[-1], outputs, i)
            continue
        rank = len(value.shape)
        name = code.stack(np.dtype(np.int64), rank)
        for dim, size in enumerate(value.shape):
            code.do(f"store i64 {size}, ptr {code.at(name, np.dtype(np.int64), dim)}")
        array = code.let(
            f"call ptr @PyArray_New(ptr @PyArray_Type, i32 {rank}, ptr {name}, "
            f"i32 {value.dtype.num}, ptr null, ptr null, i32 0, i32 0, ptr null)"
        )
        _leave_if(code, code.let(f"icmp eq ptr {array}, null"), drops[i])
        made.append(array)
        point(code, array, outputs, i)
    kept = storage.arena > (0 if plan.varies else _STACK)
    arena = _take_arena(code, table, storage.arena, drops[-1], kept)
    room = _aligned(code, arena) if kept else arena
    call = f"call i8 @run{k}(ptr {inputs}, ptr {outputs}, ptr {room}, ptr %constants)"
    thread = code.let("call ptr @PyEval_SaveThread()") if _takes_long(storage) else ""
    trouble = code.let(call)
    if thread:
        code.do(f"call void @PyEval_RestoreThread(ptr {thread})")
    if kept:
        other = code.let(f"atomicrmw xchg ptr {table}, ptr {arena} acq_rel")
        code.do(f"call void @PyMem_RawFree(ptr {other})")
    again, fine = code.fresh("again"), code.fresh("fine")
    code.branch(code.let(f"icmp ne i8 {trouble}, 0"), again, fine)
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
    """The beginning of a function that Python calls: its state, and room for addresses."""
    code = Code(module)
    data = code.let(f"getelementptr i8, ptr %self, i64 {DATA}")
    table = code.let(f"load ptr, ptr {data}")
    code.do(f"%constants = getelementptr inbounds ptr, ptr {table}, i64 1")
    inputs, outputs = (
        code.let(f"alloca [{max(len(values), 1)} x ptr]")
        for values in (program.inputs, program.outputs)
    )
    return code, table, inputs, outputs


def _argument(code: Code, i: int) -> str:
    """An argument of a function that Python calls."""
    return code.let(f"load ptr, ptr {code.let(f'getelementptr ptr, ptr %args, i64 {i}')}")


def _ended(code: Code, k: int) -> str:
    header = f"ptr @call{k}(ptr %self, ptr %args, i64 %count) {function_attributes()}"
    return code.function(header, "")


def _pieces(k: int, storage: Storage, piece: int, module: Module) -> str:
    """The function that Python calls on arrays longer than those of the program, piece by piece.

    It takes the inputs, what the outputs are written to, the element to start from, that to stop
    before, and the number of elements. The last piece is a whole one, too, and computes some
    elements twice. It returns its first argument, or None for trouble, or where an element of an
    output is not finite.
    """
    program = storage.plan.program
    code, table, inputs, outputs = _begun(program, module)
    values = [*program.inputs, *program.outputs]
    begins = []
    for i in range(len(values)):
        at = code.let(f"getelementptr i8, ptr {_argument(code, i)}, i64 {DATA}")
        begins.append(code.let(f"load ptr, ptr {at}"))
    start, stop, size = (
        code.let(f"call i64 @PyLong_AsSsize_t(ptr {_argument(code, len(values) + i)})")
        for i in range(3)
    )
    last = code.let(f"sub i64 {size}, {piece}")
    kept = storage.arena > _STACK
    lost = code.fresh("lost")
    arena = _take_arena(code, table, storage.arena, lost, kept)
    room = _aligned(code, arena) if kept else arena
    met = code.cell("i8", "0")
    thread = code.let("call ptr @PyEval_SaveThread()")
    with code.loop(stop, start, step=piece) as counter:
        before = code.let(f"icmp slt i64 {counter}, {last}")
        first = code.let(f"select i1 {before}, i64 {counter}, i64 {last}")
        here = [
            code.let(f"getelementptr {memory_type(value.dtype)}, ptr {begin}, i64 {first}")
            for value, begin in zip(values, begins, strict=True)
        ]
        for i, pointer in enumerate(here):
            rows, j = (inputs, i) if i < len(program.inputs) else (outputs, i - len(program.inputs))
            at = code.let(f"getelementptr inbounds ptr, ptr {rows}, i64 {j}")
            code.do(f"store ptr {pointer}, ptr {at}")
        call = f"call i8 @run{k}(ptr {inputs}, ptr {outputs}, ptr {room}, ptr %constants)"
        found = [code.let(call)]
        for value, pointer in zip(program.outputs, here[len(program.inputs) :], strict=True):
            if value.dtype.kind == "f":
                found.append(_not_finite(code, pointer, value.dtype, piece))
        for one in found:
            met.also(one)
    code.do(f"call void @PyEval_RestoreThread(ptr {thread})")
    if kept:
        other = code.let(f"atomicrmw xchg ptr {table}, ptr {arena} acq_rel")
        code.do(f"call void @PyMem_RawFree(ptr {other})")
    fine = code.let(f"icmp eq i8 {met.get()}, 0")
    result = code.let(f"select i1 {fine}, ptr {_argument(code, 0)}, ptr @_Py_NoneStruct")
    code.do(f"call void @Py_IncRef(ptr {result})")
    code.do(f"ret ptr {result}")
    code.label(lost)
    code.do("ret ptr null")
    return _ended(code, k)


_EXPONENTS = {4: 0x7F800000, 8: 0x7FF0000000000000}
"""The bits that are all ones where a float is not finite."""


def _not_finite(code: Code, pointer: str, dtype: np.dtype[Any], count: int) -> str:
    """Whether one of so many elements, a multiple of 32, is not finite: an ``i8``."""
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
    at = code.let(f"getelementptr i8, ptr {array}, i64 {DATA}")
    data = code.let(f"load ptr, ptr {at}")
    target = code.let(f"getelementptr inbounds ptr, ptr {table}, i64 {i}")
    code.do(f"store ptr {data}, ptr {target}")


def _leave_if(code: Code, condition: str, drop: str) -> None:
    """Drop what has been made, and return something else, under a condition."""
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
    if size >= _HUGE and sys.platform == "linux":
        # what it starts with of a page is in use, as far as anybody knows
        start = _aligned(code, fresh, _PAGE)
        code.let(f"call i32 @madvise(ptr {start}, i64 {size + 64 - _PAGE}, i32 {_IN_HUGE_PAGES})")
    code.jump(go)
    code.label(go)
    return code.let(f"phi ptr [ {kept}, %{before} ], [ {fresh}, {made_it} ]")


def _aligned(code: Code, pointer: str, to: int = 64) -> str:
    """The first multiple of a power of 2 from an address on."""
    number = code.let(f"ptrtoint ptr {pointer} to i64")
    away = code.let(f"and i64 {code.let(f'sub i64 0, {number}')}, {to - 1}")
    return code.let(f"getelementptr i8, ptr {pointer}, i64 {away}")


def _takes_long(storage: Storage) -> bool:
    return storage.plan.varies or storage.plan.work() > _LONG
