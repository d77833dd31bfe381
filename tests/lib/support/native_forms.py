"""Compile and run single native forms of the compiler."""

from __future__ import annotations

import ctypes
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from wengert.compiler.backends import kinds  # noqa: F401  registers the forms
from wengert.compiler.backends.machine import optimise
from wengert.compiler.codegen.code import Array, Code, Module, Operand, llvm_type
from wengert.compiler.codegen.native.forms import NATIVE
from wengert.compiler.codegen.scalars import table as scalars
from wengert.compiler.codegen.vectors import register_bytes
from wengert.compiler.ir.programs import Number, Step, Value, substitute
from wengert.prims.whole import TABLE

__all__ = [
    "call",
    "compiled",
    "element_loop",
    "elements",
    "expected",
    "floats",
    "native_text",
    "pairs",
    "step_of",
    "ulps",
    "whole",
]

_SPECIAL = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.0, 1e-300, -1e-300, 5e-324, 1e300, -1e300),
    *(math.inf, -math.inf, math.nan, 1e-40, 710.0, -745.5, 89.0, 1.5, 1e10, 1e22, 7.0, 0.46875),
)


def compiled(text: str) -> tuple[Any, str]:
    """The engine that holds a module's functions, and their text after LLVM's passes."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    optimise(module, machine)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine, str(module)


def call(engine: Any, arrays: Sequence[Any], *numbers: int) -> None:
    """Call the function ``f`` of a module with the addresses of arrays, and whole numbers."""
    types = [ctypes.c_void_p] * len(arrays) + [ctypes.c_int64] * len(numbers)
    function = ctypes.CFUNCTYPE(None, *types)(engine.get_function_address("f"))
    function(*[array.ctypes.data for array in arrays], *numbers)


def expected(name: str, *arrays: Any, **params: Any) -> Any:
    """What the kernel of a primitive computes, without its warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(TABLE[name].kernel(*arrays, **params))


# -- numbers --------------------------------------------------------------------------------------


def floats(dtype: np.dtype[Any]) -> Any:
    """Numbers of all sizes, and at the end those at which functions are special."""
    rng = np.random.default_rng(1)
    spread = rng.standard_normal(1000) * 10.0 ** rng.uniform(-8, 3, 1000)
    with np.errstate(over="ignore"):
        return np.concatenate([rng.standard_normal(500), spread, _SPECIAL]).astype(dtype)


def pairs(values: Any) -> tuple[Any, Any]:
    """Each of some `floats` with another one, and all special numbers with each other."""
    special = values[-len(_SPECIAL) :]
    left = np.concatenate([values, np.repeat(special, len(special))])
    right = np.random.default_rng(2).permutation(values)
    return left, np.concatenate([right, np.tile(special, len(special))])


def ulps(found: Any, wanted: Any) -> float:
    """The largest distance in units in the last place.

    Raises
    ------
    AssertionError
        Unless what is NaN or infinite is the same in both.
    """
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    if same.all():
        return 0.0
    found, wanted = found[~same], wanted[~same]
    if not (np.isfinite(found).all() and np.isfinite(wanted).all()):
        raise AssertionError(f"not the same: {found} and {wanted}")
    unit = np.spacing(np.maximum(np.abs(wanted), np.finfo(wanted.dtype).tiny))
    return float(np.max(np.abs(found.astype(np.longdouble) - wanted) / unit))


# -- elements -------------------------------------------------------------------------------------


def element_loop(
    name: str,
    arrays: Sequence[Any],
    out: np.dtype[Any],
    params: Mapping[str, Any],
    numbers: Sequence[str] = (),
    fast: bool = False,
) -> str:
    """A module whose ``f`` computes an element-wise primitive for every element of flat arrays.

    It does so in vectors where it can, and one by one for the rest.

    Parameters
    ----------
    numbers
        Those of the parameters that are read from memory when it runs.
    fast
        Whether rules that hold for real numbers only may be used.
    """
    code = Code(Module(fast))
    dtypes = [array.dtype for array in arrays]
    pointers = [f"%a{i}" for i in range(len(arrays))]
    held = {}
    for k, key in enumerate(numbers):
        dtype = np.asarray(params[key]).dtype
        held[key] = Operand(code.load(f"%n{k}", dtype), dtype)

    def write(i: str, count: int) -> None:
        given = dict(params)
        for key, (number, dtype) in held.items():
            spread = code.spread(number, llvm_type(dtype), count) if count > 1 else number
            given[key] = Operand(spread, dtype)
        operands = [
            Operand(code.load(code.at(pointer, dtype, i), dtype, count), dtype)
            for pointer, dtype in zip(pointers, dtypes, strict=True)
        ]
        result = scalars.emit(code, TABLE[name], operands, out, given, count=count)
        code.store(result, code.at("%out", out, i), out, count)

    start = "0"
    if scalars.has_vectors(TABLE[name], dtypes, out):
        width = register_bytes() // max(dtype.itemsize for dtype in (*dtypes, out))
        start = code.let(f"and i64 %count, {-width}")
        with code.loop(start, step=width) as i:
            write(i, width)
    with code.loop("%count", start) as i:
        write(i, 1)
    code.store(code.load("%failure", np.dtype(np.uint8)), "%seen", np.dtype(np.uint8))
    code.allocations += ["  %failure = alloca i8", "  store i8 0, ptr %failure"]
    pointers += [*(f"%n{i}" for i in range(len(numbers))), "%out", "%seen"]
    head = ", ".join([f"ptr noalias {pointer}" for pointer in pointers])
    return code.module.text() + code.function(f"void @f({head}, i64 %count)")


def elements(
    name: str, *arrays: Any, numbers: Sequence[str] = (), **params: Any
) -> tuple[Any, bool]:
    """What native code computes for flat arrays, and whether it failed.

    Raises
    ------
    NotImplementedError
        If there is no native form.
    """
    given = [np.ascontiguousarray(array) for array in arrays]
    out = expected(name, *[array[:1] for array in given], **params).dtype
    symbolic = {
        key: Number(Value(np.asarray(param).dtype, ())) if key in numbers else param
        for key, param in params.items()
    }
    if not scalars.supports(TABLE[name], [array.dtype for array in given], out, symbolic):
        raise NotImplementedError(f"{name} has no native form for {[a.dtype for a in given]}")
    engine, _ = compiled(element_loop(name, given, out, params, numbers))
    result, seen = np.empty(given[0].shape, out), np.zeros(1, np.uint8)
    held = [np.asarray(params[key]) for key in numbers]
    call(engine, [*given, *held, result, seen], result.size)
    return result, bool(seen[0])


# -- from memory to memory ------------------------------------------------------------------------


def step_of(
    name: str, arrays: Sequence[Any], params: Mapping[str, Any], known: bool = False
) -> tuple[Step, list[Any]]:
    """The step that computes a primitive of arrays, and every array that it reads.

    Parameters
    ----------
    known
        Whether arrays among the parameters are constants of the step.
    """
    read = list(arrays)

    def symbolic(param: Any) -> Any:
        if isinstance(param, tuple):
            return tuple(map(symbolic, param))
        if isinstance(param, np.ndarray):
            read.append(param)
            return Value(param.dtype, param.shape, param if known else None)
        return param

    given = {key: symbolic(param) for key, param in params.items()}
    values = [Value(array.dtype, array.shape) for array in arrays]
    return Step(TABLE[name], values, given, [Value(np.dtype(np.float64), ())]), read


def _array(pointer: str, array: Any) -> Array:
    strides = tuple([stride // array.itemsize for stride in array.strides])
    return Array(pointer, array.dtype, array.shape, strides)


def native_text(step: Step, read: Sequence[Any]) -> str:
    """A module whose ``f`` does a step for arrays that lie as those that are given."""
    return _written(step, read)[0]


def _written(step: Step, read: Sequence[Any]) -> tuple[str, list[int]]:
    """The module, and the numbers that it reads from the table before its last argument."""
    code = Code(Module())
    ins = [_array(f"%a{i}", array) for i, array in enumerate(read)]
    outs = [
        _array(f"%o{i}", np.empty(value.shape, value.dtype)) for i, value in enumerate(step.outs)
    ]
    form = NATIVE[step.prim]
    form.emit(code, step, ins, outs)
    pointers = [*(f"%a{i}" for i in range(len(ins))), *(out.pointer for out in outs)]
    head = ", ".join([f"ptr {pointer}" for pointer in pointers])
    text = code.function(f"void @f({head}, ptr %failure, ptr %constants)")
    return code.module.text() + text, code.module.words


def whole(step: Step, read: Sequence[Any], out: Any = None) -> tuple[Any, bool] | None:
    """What native code makes of a step for arrays, and whether it failed.

    Parameters
    ----------
    out
        An array like the result, if the kernel is not to say so.

    Returns
    -------
    tuple or None
        None if the step has no native form. Several results are a tuple.
    """
    name, form = step.prim.name, NATIVE[step.prim]
    if out is None:
        rest = iter(read[len(step.args) :])
        params = {
            key: substitute(param, lambda value: next(rest)) for key, param in step.params.items()
        }
        with np.errstate(all="ignore"):
            out = TABLE[name].kernel(*read[: len(step.args)], **params)
    likes = [np.asarray(part) for part in (out if isinstance(out, tuple) else (out,))]
    step.outs = tuple([Value(like.dtype, like.shape) for like in likes])
    if not form.accepts(step):
        return None
    text, words = _written(step, read)
    engine, _ = compiled(text)
    table = np.array([*reversed(words), 0], np.int64)
    results = [np.full(like.shape, 7).astype(like.dtype) for like in likes]
    failure = np.zeros(1, np.uint8)
    call(engine, [*read, *results, failure], table.ctypes.data + table.nbytes)
    return (tuple(results) if len(results) > 1 else results[0]), bool(failure[0])
