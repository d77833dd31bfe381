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
from wengert.compiler.codegen.code import Code, Module
from wengert.compiler.ir.programs import Value

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
    plans: Sequence[Plan], *, fastmath: bool, wide: bool = False
) -> tuple[str, list[Function]]:
    """The text of a module that runs some plans, and what its functions are."""
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
        texts.append(_call(k, plan, storage))
        functions.append(Function(f"call{k}", constants, storage))
    body = "\n".join(texts)
    return f"{DECLARATIONS}{module.text()}\n{body}\n", functions


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
    body = "\n".join([*code.allocations, *code.lines])
    text = (
        f"define internal i8 @run{k}(ptr %inputs, ptr %outputs, ptr %arena, ptr %constants) "
        f"{'alwaysinline ' * inlined}{function_attributes()} {{\nentry:\n{body}\n}}"
    )
    return text, emission.failing


def _call(k: int, plan: Plan, storage: Storage) -> str:
    """The function that Python calls: objects in, a list of arrays out, or None for trouble."""
    program = plan.program
    code = Code(Module())
    data = code.let(f"getelementptr i8, ptr %self, i64 {DATA}")
    table = code.let(f"load ptr, ptr {data}")
    code.do(f"%constants = getelementptr inbounds ptr, ptr {table}, i64 1")
    inputs = code.let(f"alloca [{max(len(program.inputs), 1)} x ptr]")
    outputs = code.let(f"alloca [{max(len(program.outputs), 1)} x ptr]")
    objects = []
    for i in range(len(program.inputs)):
        at = code.let(f"getelementptr inbounds ptr, ptr %args, i64 {i}")
        objects.append(code.let(f"load ptr, ptr {at}"))
        point(code, objects[-1], inputs, i)
    made: list[str] = []
    # where a call that fails drops so many of the results
    drops = [code.fresh("drop") for _ in range(len(program.outputs) + 1)]
    found = code.cell("ptr")
    code.do(f"store ptr null, ptr {found}")
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
    code.do(f"store ptr @_Py_NoneStruct, ptr {found}")
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
    code.do(f"ret ptr {code.let(f'load ptr, ptr {found}')}")
    body = "\n".join([*code.allocations, *code.lines])
    header = f"define ptr @call{k}(ptr %self, ptr %args, i64 %count) nounwind"
    return f"{header} {{\nentry:\n{body}\n}}"


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
