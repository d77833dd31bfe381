"""Layer 8 · compiler: factorisations, linear systems and determinants of matrices, by LAPACK.

NOTE [columns and rows]
LAPACK takes column-major matrices. For Cholesky factors and triangular systems a row-major matrix
serves as its transpose, with the triangles exchanged. General matrices are copied to column-major
order, as NumPy does, because elimination follows columns: pivots, rounding errors and zero pivots
are then the same. A zero pivot sets the error flag, and NumPy computes the step; what native code
computes from it is not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.compiler.codegen.code import Array, Code, literal
from wengert.compiler.codegen.library import call_function, call_routine, has_routine
from wengert.compiler.codegen.native.forms import NATIVE, NativeForm, fill_zeros, nest, outlined
from wengert.compiler.codegen.scalars.lane import Lane
from wengert.compiler.ir.programs import Step
from wengert.prims import records

_LETTERS = {np.dtype(np.float64): "d", np.dtype(np.float32): "s"}
_INT = np.dtype(np.int32)
Shape = tuple[int, ...]


# -- batches of matrices --------------------------------------------------------------------------


def _batch_strides(shape: Shape, core: int, batch: Shape) -> list[int]:
    """Return the strides along a broadcast batch of an array with `core` more dimensions."""
    lead = shape[: len(shape) - core]
    own = [0 if n == 1 else math.prod(shape[d + 1 :]) for d, n in enumerate(lead)]
    return [0] * (len(batch) - len(own)) + own


def _for_each(
    code: Code,
    name: str,
    arrays: Sequence[Array],
    cores: Sequence[int],
    buffers: Sequence[Array],
    body: Callable[[Code, list[str], list[str]], None],
) -> None:
    """Emit `body` for each matrix of a batch.

    Parameters
    ----------
    arrays, cores
        The arrays, and the number of each one's last dimensions that form a matrix, a vector or a
        number.
    buffers: Workspaces that all matrices share.
    body: ``body(code, pointers, buffers)`` for one matrix of each array.
    """
    shapes = [
        array.shape[: len(array.shape) - core] for array, core in zip(arrays, cores, strict=True)
    ]
    batch = np.broadcast_shapes(*shapes)

    def write(inner: Code, passed: list[Array]) -> None:
        own, shared = passed[: len(arrays)], passed[len(arrays) :]
        steps = [_batch_strides(a.shape, core, batch) for a, core in zip(own, cores, strict=True)]
        with nest(inner, batch, *steps) as positions:
            pointers = [
                inner.at(array.pointer, array.dtype, position)
                for array, position in zip(own, positions, strict=True)
            ]
            body(inner, pointers, [buffer.pointer for buffer in shared])

    outlined(code, name, [*arrays, *buffers], write)


def _workspace(code: Code, dtype: np.dtype[Any], count: int) -> Array:
    return Array(code.workspace(max(count, 1) * dtype.itemsize), dtype, (count,), (1,))


def _copy(
    code: Code, source: str, target: str, dtype: np.dtype[Any], rows: int, columns: int
) -> None:
    """Copy a row-major matrix to a column-major one."""
    with code.loop(rows) as i, code.loop(columns) as j:
        value = code.load(code.at(source, dtype, code.offset((columns, 1), [i, j])), dtype)
        code.store(value, code.at(target, dtype, code.offset((1, rows), [i, j])), dtype)


def _failed(code: Code, info: str) -> str:
    """Return whether a routine met a zero pivot, or one that is not positive."""
    return code.let(f"icmp ne i32 {code.load(info, _INT)}, 0")


# -- acceptance -----------------------------------------------------------------------------------


def _accepts(routine: str) -> Callable[[Step], bool]:
    def accepts(step: Step) -> bool:
        dtype = step.args[0].dtype
        letter = _LETTERS.get(dtype)
        if letter is None or any(value.dtype != dtype for value in (*step.args, *step.outs)):
            return False
        full = all(value.size for value in step.args)
        small = max(max(value.shape) for value in step.args) < 2**31
        return full and small and has_routine(f"{letter}{routine}")

    return accepts


# -- Cholesky factors and triangular systems ------------------------------------------------------


def _cholesky(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    upper, dtype, n = step.params["upper"], step.args[0].dtype, step.args[0].shape[-1]

    def body(inner: Code, pointers: list[str], buffers: list[str]) -> None:
        source, factor = pointers
        lane = Lane(inner, dtype)
        with inner.loop(n) as i, inner.loop(n) as j:
            offset = inner.offset((n, 1), [i, j])
            value = inner.load(inner.at(source, dtype, offset), dtype)
            if upper is None:
                transposed = inner.at(source, dtype, inner.offset((1, n), [i, j]))
                value = lane.mul(lane.add(value, inner.load(transposed, dtype)), lane.number(0.5))
            # the other triangle is 0
            outside = inner.let(f"icmp {'ult' if upper else 'ugt'} i64 {j}, {i}")
            inner.store(
                lane.select(outside, lane.number(0), value), inner.at(factor, dtype, offset), dtype
            )
        triangle = b"L" if upper else b"U"
        call_routine(inner, f"{_LETTERS[dtype]}potrf", [triangle, n, factor, n, buffers[0]])
        inner.fail_if(_failed(inner, buffers[0]))
        with inner.loop(n) as i:
            # implementations of LAPACK differ in whether a NaN pivot is an error
            entry = inner.load(inner.at(factor, dtype, inner.offset((n + 1,), [i])), dtype)
            inner.fail_if(lane.is_nan(lane.sub(entry, entry)))

    _for_each(code, "cholesky", [ins[0], outs[0]], [2, 2], [_workspace(code, _INT, 1)], body)


def _solve_triangular(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    upper, left, unit = (step.params[name] for name in ("upper", "left", "unitriangular"))
    dtype, n = step.args[0].dtype, step.args[0].shape[-1]
    rows, columns = step.outs[0].shape[-2:]

    def body(inner: Code, pointers: list[str], buffers: list[str]) -> None:
        matrix, right, solution = pointers
        with inner.loop(rows * columns) as i:
            value = inner.load(inner.at(right, dtype, i), dtype)
            inner.store(value, inner.at(solution, dtype, i), dtype)
        side, triangle = b"R" if left else b"L", b"L" if upper else b"U"
        arguments = [side, triangle, b"N", b"U" if unit else b"N", columns, rows, 1.0, matrix, n]
        call_routine(inner, f"{_LETTERS[dtype]}trsm", [*arguments, solution, columns])

    _for_each(code, "solve_triangular", [*ins, *outs], [2, 2, 2], [], body)


# -- elimination ----------------------------------------------------------------------------------


def _lu_factor(
    code: Code, dtype: np.dtype[Any], n: int, source: str, buffers: list[str]
) -> tuple[str, str, str]:
    """Return pointers to the LU factors of a matrix, its pivots, and LAPACK's info."""
    factors, pivots, info = buffers[:3]
    _copy(code, source, factors, dtype, n, n)
    call_routine(code, f"{_LETTERS[dtype]}getrf", [n, n, factors, n, pivots, info])
    return factors, pivots, info


def _lu_workspaces(code: Code, dtype: np.dtype[Any], n: int) -> list[Array]:
    return [_workspace(code, dtype, n * n), _workspace(code, _INT, n), _workspace(code, _INT, 1)]


def _solve(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    left, vector = step.params["left"], step.params["vector"]
    dtype, n = step.args[0].dtype, step.args[0].shape[-1]
    rows, columns = (n, 1) if vector else step.outs[0].shape[-2:]
    core = 1 if vector else 2
    letter = _LETTERS[dtype]

    def body(inner: Code, pointers: list[str], buffers: list[str]) -> None:
        matrix, right, solution = pointers
        factors, pivots, info = _lu_factor(inner, dtype, n, matrix, buffers)
        inner.fail_if(_failed(inner, info))
        # column-major, the right-hand side is transposed, as solving from the other side needs
        column_major = buffers[3] if left and columns > 1 else solution
        if column_major is solution:
            _copy(inner, right, solution, dtype, 1, rows * columns)
        else:
            _copy(inner, right, column_major, dtype, rows, columns)
        count = columns if left else rows
        args = (b"N" if left else b"T", n, count, factors, n, pivots, column_major, n, info)
        call_routine(inner, f"{letter}getrs", args)
        if column_major is not solution:
            _copy(inner, column_major, solution, dtype, columns, rows)

    buffers = _lu_workspaces(code, dtype, n)
    if left and columns > 1:
        buffers.append(_workspace(code, dtype, rows * columns))
    _for_each(code, "solve", [*ins, *outs], [2, core, core], buffers, body)


def _inverse(
    code: Code, dtype: np.dtype[Any], n: int, matrix: str, buffers: list[str], solution: str
) -> None:
    """Write the column-major inverse."""
    factors, pivots, info = _lu_factor(code, dtype, n, matrix, buffers)
    code.fail_if(_failed(code, info))
    fill_zeros(code, solution, n * n * dtype.itemsize)
    with code.loop(n) as i:
        code.store(literal(1, dtype), code.at(solution, dtype, code.offset((n + 1,), [i])), dtype)
    arguments = (b"N", n, n, factors, n, pivots, solution, n, info)
    call_routine(code, f"{_LETTERS[dtype]}getrs", arguments)


def _inv(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    dtype, n = step.args[0].dtype, step.args[0].shape[-1]

    def body(inner: Code, pointers: list[str], buffers: list[str]) -> None:
        _inverse(inner, dtype, n, pointers[0], buffers, buffers[3])
        _copy(inner, buffers[3], pointers[1], dtype, n, n)

    buffers = [*_lu_workspaces(code, dtype, n), _workspace(code, dtype, n * n)]
    _for_each(code, "inv", [*ins, *outs], [2, 2], buffers, body)


def _cofactor(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    dtype, n = step.args[0].dtype, step.args[0].shape[-1]

    def body(inner: Code, pointers: list[str], buffers: list[str]) -> None:
        matrix, result = pointers
        # the column-major inverse is the row-major transpose, which a cofactor needs
        _inverse(inner, dtype, n, matrix, buffers, result)
        lane = Lane(inner, dtype)
        sign, logarithm = _log_determinant(inner, dtype, n, buffers[0], buffers[1])
        factor = lane.mul(sign, call_function(inner, "exp", lane.type, [logarithm]))
        with inner.loop(n * n) as i:
            address = inner.at(result, dtype, i)
            inner.store(lane.mul(inner.load(address, dtype), factor), address, dtype)

    _for_each(code, "cofactor", [*ins, *outs], [2, 2], _lu_workspaces(code, dtype, n), body)


def _log_determinant(
    code: Code, dtype: np.dtype[Any], n: int, factors: str, pivots: str
) -> tuple[str, str]:
    """Return the sign of a determinant and the logarithm of its absolute value, from LU factors."""
    lane = Lane(code, dtype)
    sign, total = (code.cell(lane.type, lane.number(start)) for start in (1, 0))
    with code.loop(n) as i:
        value = code.load(code.at(factors, dtype, code.offset((n + 1,), [i])), dtype)
        # pivots are 1-based
        pivot = code.let(f"sext i32 {code.load(code.at(pivots, _INT, i), _INT)} to i64")
        in_place = code.let(f"icmp eq i64 {pivot}, {code.let(f'add i64 {i}, 1')}")
        same_sign = code.let(f"xor i1 {in_place}, {lane.compare('lt', value, lane.number(0))}")
        previous = sign.get()
        sign.set(lane.select(same_sign, previous, lane.neg(previous)))
        term = call_function(code, "log", lane.type, [lane.size(value)])
        total.set(lane.add(total.get(), term))
    return sign.get(), total.get()


def _slogdet(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    """Emit the sign and log of the absolute value of a determinant, or the determinant itself."""
    dtype, n = step.args[0].dtype, step.args[0].shape[-1]

    def body(inner: Code, pointers: list[str], buffers: list[str]) -> None:
        factors, pivots, info = _lu_factor(inner, dtype, n, pointers[0], buffers)
        lane = Lane(inner, dtype)
        singular = _failed(inner, info)
        sign, logarithm = _log_determinant(inner, dtype, n, factors, pivots)
        sign = lane.select(singular, lane.number(0), sign)
        results = [sign, lane.select(singular, lane.number(-math.inf), logarithm)]
        if len(outs) == 1:
            results = [lane.mul(sign, call_function(inner, "exp", lane.type, results[1:]))]
        for pointer, value in zip(pointers[1:], results, strict=True):
            inner.store(value, pointer, dtype)

    arrays = [*ins, *outs]
    _for_each(
        code, step.prim.name, arrays, [2, 0, 0][: len(arrays)], _lu_workspaces(code, dtype, n), body
    )


# -- registration ---------------------------------------------------------------------------------


def _cost(step: Step) -> int:
    first = step.args[0]
    n = first.shape[-1]
    columns = step.args[-1].shape[-1] if len(step.args) > 1 else n
    return 1000 + first.size // max(n * n, 1) * n * n * (n + columns) // 4


def _native(routine: str, emit: Any) -> NativeForm:
    def describe(step: Step) -> str:
        return f"{_LETTERS[step.args[0].dtype]}{routine} {int(step.args[0].shape[-1])}"

    return NativeForm(_accepts(routine), emit, _cost, describe=describe)


NATIVE.of(records.linalg_cholesky)(_native("potrf", _cholesky))
NATIVE.of(records.linalg_solve_triangular)(_native("trsm", _solve_triangular))
NATIVE.of(records.linalg_solve)(_native("getrf", _solve))
NATIVE.of(records.linalg_inv)(_native("getrf", _inv))
NATIVE.of(records.linalg_det)(_native("getrf", _slogdet))
NATIVE.of(records.linalg_slogdet)(_native("getrf", _slogdet))
NATIVE.of(records.cofactor)(_native("getrf", _cofactor))
