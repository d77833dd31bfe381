"""Layer 8 · compiler: products of matrices and vectors in native code.

NOTE [products in place]
Small products are generated loops. A tile of the result, several rows by several vectors of
columns, stays in registers during the loop over the summed dimension; each iteration loads vectors
from a row of the second matrix, and one number from each row of the first. A second matrix that is
not row-major is copied first. A product with a single row or column is computed by dot products
instead. Larger products of floats call BLAS, which takes transposed views as flags and rows at any
leading dimension. Each form is a function of the module, shared by all products of equal sizes and
layouts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from wengert.compiler.codegen.code import Array, Code, is_native, llvm_type
from wengert.compiler.codegen.library import call_routine, has_routine
from wengert.compiler.codegen.native.forms import (
    NATIVE,
    NativeForm,
    fill_zeros,
    nest,
    outlined,
    strips_of,
)
from wengert.compiler.codegen.scalars.lane import Lane
from wengert.compiler.codegen.vectors import register_bytes
from wengert.compiler.ir.programs import Step, open_ended
from wengert.kernels.matmul import packs_slowly
from wengert.prims import records

# multiplications from which on BLAS is called: fewer if the second matrix, which is read again for
# every few rows, does not fit in cache
_BLAS_WORK = 1_000_000
_BLAS_WORK_UNCACHED = 20_000
_CACHE_BYTES = 2**18
_BLAS_WORK_VECTOR = 60_000
# generated loops beat BLAS where vectors are wide, enough rows share the second matrix,
# both matrices stay in cache, sums are short enough not to be blocked, and threads gain little
_WIDE_BYTES = 32
_MIN_ROWS = 32
_MAX_OPERAND_BYTES = 2**20
_MAX_DEPTH = 1024
_MAX_WORK = 2**24
# vectors in a row of a tile, and of a tile with few rows
_TILE_VECTORS, _MAX_TILE_VECTORS = 3, 8
# the first matrix is tall if both of its sizes are so many times the second one's columns
_TALL_RATIO = 4
# rows of a tile of dot products, and bytes of each row
_DOT_ROWS = 4
_DOT_BYTES = 64
_SINGLE = np.dtype(np.float32)
_LETTERS = {np.dtype(np.float64): "d", _SINGLE: "s"}
_MAX_INT = 2**31 - 1


# -- layouts --------------------------------------------------------------------------------------


def _normalise_strides(array: Array) -> Array:
    """Set a matrix's strides along dimensions of size 1 to those of a contiguous one."""
    rows, columns = array.shape
    step, stride = array.strides
    stride = 1 if columns == 1 else stride
    return array._replace(strides=(columns * stride if rows == 1 else step, stride))


def _transpose_view(array: Array) -> Array:
    return array._replace(shape=array.shape[::-1], strides=array.strides[::-1])


def _leading(array: Array) -> tuple[bytes, int] | None:
    """Return BLAS's letter and leading dimension, if column-major, for a matrix's transpose."""
    (rows, columns), (step, stride) = array.shape, array.strides
    if stride == 1 and step >= max(columns, 1):
        return b"N", step
    if step == 1 and stride >= max(rows, 1):
        return b"T", stride
    if columns == 1 and step >= 1:
        return b"N", step
    return None


def _emit_copy(code: Code, array: Array, pointer: str | None = None) -> Array:
    """Emit a contiguous copy of a matrix, into a workspace unless a place is given."""
    rows, columns = array.shape
    itemsize = array.dtype.itemsize
    pointer = pointer or code.workspace(rows * columns * itemsize)
    copy = Array(pointer, array.dtype, array.shape, (columns, 1))
    lanes = register_bytes() // itemsize
    if array.strides[0] == 1 and min(rows, columns) >= lanes > 1:
        _emit_transposed_copy(code, array, copy, lanes)
        return copy
    with code.loop(rows) as i, code.loop(columns) as j:
        value = code.load(code.element(array, [i, j]), array.dtype)
        code.store(value, code.element(copy, [i, j]), array.dtype)
    return copy


def _emit_transposed_copy(code: Code, array: Array, copy: Array, lanes: int) -> None:
    """Emit the copy of a column-major matrix, in squares of vectors.

    The last squares may overlap those before them.
    """
    rows, columns = array.shape
    with code.covering(rows, lanes) as i, code.covering(columns, lanes) as j:
        parts = [whole._replace(pointer=code.element(whole, [i, j])) for whole in (array, copy)]
        outlined(code, "square", parts, partial(_transpose_square, lanes=lanes))


def _transpose_square(code: Code, arrays: Sequence[Array], lanes: int) -> None:
    """Emit the transposition of one square."""
    array, copy = arrays
    vector = Lane(code, array.dtype, count=lanes)
    rows = [vector.load(code.element(array, ["0", str(k)])) for k in range(lanes)]
    half = lanes // 2
    masks = []
    for start in (0, half):
        pairs = [f"i32 {start + k // 2 + lanes * (k % 2)}" for k in range(lanes)]
        masks.append(f"<{lanes} x i32> <{', '.join(pairs)}>")
    # log2(lanes) perfect shuffles of the rows give the columns
    for _ in range(lanes.bit_length() - 1):
        rows = [
            code.let(f"shufflevector {vector.type} {low}, {vector.type} {high}, {mask}")
            for low, high in zip(rows[:half], rows[half:], strict=True)
            for mask in masks
        ]
    for k, row in enumerate(rows):
        vector.store(row, code.element(copy, [str(k), "0"]))


# -- generated loops ------------------------------------------------------------------------------


def _remainder_tiles(n: int, width: int) -> list[tuple[int, int]]:
    """Return the starts and widths of the tiles after the last full one.

    Widths are powers of 2, or 3; a tile may overlap the one before, and recompute its elements.
    """
    tiles: list[tuple[int, int]] = []
    remainder = n % width
    while remainder:
        power = 1 << (remainder - 1).bit_length()
        if remainder in (power, 3):
            return [*tiles, (n - remainder, remainder)]
        if n >= power:
            return [*tiles, (n - power, power)]
        tiles.append((n - remainder, power // 2))
        remainder -= power // 2
    return tiles


Columns = Sequence[tuple[str, int]]
"""The starts and widths of groups of columns."""


def _tile_rows() -> int:
    """Return the rows of a tile, whose sums must fit in registers (32 with AVX-512)."""
    return 8 if register_bytes() == 64 else 4


def _emit_tiles(code: Code, a: Array, b: Array, c: Array) -> None:
    """Emit a tiled product of matrices, of which the second is row-major."""
    m, n = a.shape[0], b.shape[1]
    lanes, max_rows = register_bytes() // a.dtype.itemsize, _tile_rows()
    # as many accumulators for few rows as for many: wider tiles
    vectors = min(_TILE_VECTORS * max_rows // min(m, max_rows), _MAX_TILE_VECTORS)
    end = n - n % (vectors * lanes)
    if open_ended(n) and n >= lanes:
        vectors = vectors if end else 1
        with code.covering(n, vectors * lanes) as start:
            columns = [(code.added(start, str(k * lanes)), lanes) for k in range(vectors)]
            _emit_row_tiles(code, a, b, c, columns)
        return
    if end:
        with code.loop(end, step=vectors * lanes) as start:
            columns = [(code.added(start, str(k * lanes)), lanes) for k in range(vectors)]
            _emit_row_tiles(code, a, b, c, columns)
    remainder = [(str(start), lanes) for start in range(end, n - n % lanes, lanes)]
    remainder += [(str(start), count) for start, count in _remainder_tiles(n, lanes)]
    for k in range(0, len(remainder), vectors):
        _emit_row_tiles(code, a, b, c, remainder[k : k + vectors])


def _emit_row_tiles(code: Code, a: Array, b: Array, c: Array, columns: Columns) -> None:
    _in_groups(
        code,
        a.shape[0],
        _tile_rows(),
        lambda first, rows: _emit_tile(code, a, b, c, first, rows, columns),
    )


def _in_groups(code: Code, extent: int, width: int, write: Callable[[str, int], None]) -> None:
    """Emit ``write(first, count)`` for groups of rows, and for the remainder."""
    if open_ended(extent) and extent >= width:
        with code.covering(extent, width) as first:
            write(first, width)
        return
    if extent >= width:
        with code.loop(extent - extent % width, step=width) as first:
            write(first, width)
    if extent % width:
        write(str(extent - extent % width), extent % width)


def _emit_tile(
    code: Code, a: Array, b: Array, c: Array, first: str, rows: int, columns: Columns
) -> None:
    """Emit `rows` rows of the result from `first` on, in groups of columns."""
    vectors = [Lane(code, a.dtype, count=count) for _, count in columns]
    zeros = "zeroinitializer"
    sums = [[code.cell(vector.type, zeros) for vector in vectors] for _ in range(rows)]
    indices, heads = _rows(code, a, first, rows)
    with code.loop(a.shape[1]) as k:
        parts = [
            vector.load(code.element(b, [k, start]))
            for vector, (start, _) in zip(vectors, columns, strict=True)
        ]
        at = code.offset((a.strides[1],), [k])
        for head, cells in zip(heads, sums, strict=True):
            factor = code.load(code.at(head, a.dtype, at), a.dtype)
            for vector, part, cell in zip(vectors, parts, cells, strict=True):
                cell.set(vector.fma(vector.spread(factor), part, cell.get()))
    for index, cells in zip(indices, sums, strict=True):
        for vector, (start, _), cell in zip(vectors, columns, cells, strict=True):
            vector.store(cell.get(), code.element(c, [index, start]))


def _emit_dots(code: Code, a: Array, b: Array, c: Array) -> None:
    """Emit the dot products of a matrix's rows with a vector, four rows at a time."""
    _in_groups(
        code,
        a.shape[0],
        _DOT_ROWS,
        lambda first, rows: _emit_dot_rows(code, a, b, c, first, rows),
    )


def _rows(code: Code, a: Array, first: str, count: int) -> tuple[list[str], list[str]]:
    """Return the indices of `count` rows from `first` on, and their addresses."""
    indices = [code.let(f"add nuw nsw i64 {first}, {r}") if r else first for r in range(count)]
    return indices, [code.element(a, [index, "0"]) for index in indices]


def _emit_dot_rows(code: Code, a: Array, b: Array, c: Array, first: str, rows: int) -> None:
    """Emit the dot products of some contiguous rows with a contiguous vector."""
    dtype, k = a.dtype, a.shape[1]
    kind = llvm_type(dtype)
    plus = "fadd reassoc" if dtype.kind == "f" else "add"
    indices, heads = _rows(code, a, first, rows)
    totals = [""] * rows
    for start, end, width in strips_of(k, _DOT_BYTES // dtype.itemsize):
        vector = Lane(code, dtype, count=width)
        sums = [code.cell(vector.type, "zeroinitializer") for _ in range(rows)]
        with code.loop(end, str(start), step=width) as at:
            factor = vector.load(code.at(b.pointer, dtype, at))
            for head, cell in zip(heads, sums, strict=True):
                cell.set(vector.fma(vector.load(code.at(head, dtype, at)), factor, cell.get()))
        for r, cell in enumerate(sums):
            part = vector.reduced("add", cell.get())
            totals[r] = code.let(f"{plus} {kind} {totals[r]}, {part}") if totals[r] else part
    for index, total in zip(indices, totals, strict=True):
        code.store(total, code.element(c, [index]), dtype)


# -- products by BLAS -----------------------------------------------------------------------------


def _has_blas(array: Array, other: Array) -> bool:
    """Return whether BLAS has a gemm for this dtype, and integers for these sizes."""
    letter = _LETTERS.get(array.dtype)
    sizes = (*array.shape, *array.strides, *other.shape, *other.strides)
    return letter is not None and has_routine(f"{letter}gemm") and max(map(abs, sizes)) <= _MAX_INT


def _emit_gemm(code: Code, a: Array, b: Array, c: Array) -> None:
    """Emit a call of gemm, column-major: it multiplies the transposes."""
    (of_a, step_a), (of_b, step_b) = _leading(a) or (b"", 0), _leading(b) or (b"", 0)
    (m, k), n = a.shape, b.shape[1]
    call_routine(
        code,
        f"{_LETTERS[a.dtype]}gemm",
        [of_b, of_a, n, m, k, 1.0, b.pointer, step_b, a.pointer, step_a, 0.0, c.pointer, n],
    )


def _emit_gemv(code: Code, a: Array, b: Array, c: Array) -> None:
    """Emit a call of gemv."""
    letter, leading = _leading(a) or (b"", 0)
    # BLAS sees the transposed matrix, so the letters are exchanged
    by_rows = letter == b"N"
    rows, columns = a.shape[::-1] if by_rows else a.shape
    letter, step = b"T" if by_rows else b"N", b.strides[0]
    call_routine(
        code,
        f"{_LETTERS[a.dtype]}gemv",
        [letter, rows, columns, 1.0, a.pointer, leading, b.pointer, step, 0.0, c.pointer, 1],
    )


# -- choice of a form -----------------------------------------------------------------------------


def _prefers_blas(m: int, k: int, n: int, dtype: np.dtype[Any]) -> bool:
    """Return whether BLAS is faster for a product of matrices."""
    cached = max(m * k, k * n) * dtype.itemsize <= _MAX_OPERAND_BYTES
    short = k <= _MAX_DEPTH and m * k * n < _MAX_WORK
    if cached and short and m >= _MIN_ROWS and register_bytes() >= _WIDE_BYTES:
        return False
    return m * k * n >= (
        _BLAS_WORK_UNCACHED if k * n * dtype.itemsize > _CACHE_BYTES else _BLAS_WORK
    )


def _prefers_transposed(a: Array, b: Array) -> bool:
    """Return whether BLAS is faster on the transposed product.

    It is if the first matrix is column-major, and far larger along both dimensions than the number
    of the result's columns, or if BLAS packs the second one slowly.
    """
    (m, k), n = a.shape, b.shape[1]
    if not (_prefers_blas(m, k, n, a.dtype) and _has_blas(a, b)):
        return False
    by_columns = [found is not None and found[0] == b"T" for found in map(_leading, (a, b))]
    if by_columns == [False, True] and a.strides[1] == 1 and packs_slowly(a.dtype, m, k, n):
        return True
    return by_columns[0] and m > 1 and min(k, m) >= _TALL_RATIO * n > _TALL_RATIO


_Form = Callable[[Code, Array, Array, Array], None]


def _vector_form(code: Code, a: Array, b: Array) -> tuple[_Form, Array, Array]:
    """Choose the form of a matrix-vector product; return it with its operands."""
    m, k = a.shape
    fits = b.strides[0] > 0 and _leading(a) is not None and min(m, k) > 1
    if fits and m * k >= _BLAS_WORK_VECTOR and _has_blas(a, b):
        return _emit_gemv, a, b
    if a.strides[0] == 1 and m > 1:
        # a sum of scaled columns
        return _emit_tiles, b._replace(shape=(1, k), strides=(0, b.strides[0])), _transpose_view(a)
    if a.strides[1] != 1 and k > 1:
        a = _emit_copy(code, a)
    if b.strides[0] != 1 and k > 1:
        column = _emit_copy(code, b._replace(shape=(k, 1), strides=(b.strides[0], 1)))
        b = column._replace(shape=(k,), strides=(1,))
    return _emit_dots, a, b


def _matrix_form(code: Code, a: Array, b: Array) -> tuple[_Form, Array, Array]:
    """Choose the form of a product of matrices; return it with its operands, or copies."""
    (m, k), n = a.shape, b.shape[1]
    if n == 1:
        return _vector_form(code, a, b._replace(shape=(k,), strides=b.strides[:1]))
    if m == 1:
        return _vector_form(code, _transpose_view(b), a._replace(shape=(k,), strides=a.strides[1:]))
    if _prefers_blas(m, k, n, a.dtype) and _has_blas(a, b):
        a, b = (each if _leading(each) else _emit_copy(code, each) for each in (a, b))
        return _emit_gemm, a, b
    return _emit_tiles, a, b if b.strides[1] == 1 else _emit_copy(code, b)


def multiply(code: Code, a: Array, b: Array, pointer: str) -> None:
    """Emit the product of two matrices of any strides into contiguous memory."""
    a, b = _normalise_strides(a), _normalise_strides(b)
    m, n, dtype = a.shape[0], b.shape[1], a.dtype
    if not m * n:
        return
    if not a.shape[1]:
        fill_zeros(code, pointer, m * n * dtype.itemsize)
        return
    if _prefers_transposed(a, b):
        transposed = code.workspace(m * n * dtype.itemsize)
        multiply(code, _transpose_view(b), _transpose_view(a), transposed)
        _emit_copy(code, Array(transposed, dtype, (m, n), (1, m)), pointer)
        return
    form, first, second = _matrix_form(code, a, b)
    shape = (m,) if form is _emit_dots or form is _emit_gemv else (first.shape[0], second.shape[1])
    result = Array(pointer, dtype, shape, (1,) if len(shape) == 1 else (shape[1], 1))
    # one function for all calls: inlining gains nothing and costs compile time
    outlined(code, "product", [first, second, result], lambda inner, arrays: form(inner, *arrays))


# -- the primitives -------------------------------------------------------------------------------


def _work(step: Step) -> int:
    """Return the number of multiplications."""
    return step.outs[0].size * step.args[0].shape[-1]


def _accepts(step: Step) -> bool:
    dtype = step.outs[0].dtype
    if not is_native(dtype) or dtype.kind == "b":
        return False
    if any(value.dtype != dtype for value in step.args):
        return False
    # without SciPy's BLAS, NumPy's is faster for large products; the look-up is slow, and so last
    letter = _LETTERS.get(dtype)
    each = math.prod(step.outs[0].shape[-2:]) * step.args[0].shape[-1]
    return letter is None or each < _BLAS_WORK or has_routine(f"{letter}gemm")


def _emit(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    """Emit a product of matrices or vectors: a vector is one row, or one column."""
    a, b = ins
    if len(a.shape) == 1:
        a = a._replace(shape=(1, *a.shape), strides=(0, *a.strides))
    if len(b.shape) == 1:
        b = b._replace(shape=(*b.shape, 1), strides=(*b.strides, 1))
    multiply(code, a, b, outs[0].pointer)


def _emit_bmm(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    (out,) = outs
    batch = out.shape[:-2]
    if 0 in batch:
        return
    steps = []
    for each in (*ins, out):
        # batch dimensions broadcast, as in np.matmul
        own = [0 if n == 1 else s for n, s in zip(each.shape, each.strides, strict=True)][:-2]
        steps.append([0] * (len(batch) - len(own)) + own)
    with nest(code, batch, *steps) as positions:
        a, b, c = [
            each._replace(
                pointer=code.at(each.pointer, each.dtype, position),
                shape=each.shape[-2:],
                strides=each.strides[-2:],
            )
            for each, position in zip((*ins, out), positions, strict=True)
        ]
        multiply(code, a, b, c.pointer)


def _accepts_bmm(step: Step) -> bool:
    return _accepts(step) and all(len(value.shape) >= 2 for value in step.args)


def _cost(step: Step) -> int:
    return 10 + _work(step) // (8 if step.outs[0].dtype == _SINGLE else 4)


def _describe(step: Step) -> str:
    first, second = (tuple(map(int, value.shape)) for value in step.args)
    dtype = step.outs[0].dtype
    m, k = (1, *first)[-2:]
    n = 1 if len(second) == 1 else second[-1]
    if min(m, n) == 1:
        routine, large = "gemv", m * n > 1 and m * k * n >= _BLAS_WORK_VECTOR
    else:
        routine, large = "gemm", _prefers_blas(m, k, n, dtype)
    letter = _LETTERS.get(dtype)
    if not large or letter is None or not has_routine(f"{letter}gemm"):
        return f"product {m}x{k}x{n}" if m * k * n >= _BLAS_WORK else ""
    return f"{letter}{routine} {m}x{k}x{n}"


_FORM = NativeForm(_accepts, _emit, _cost, lambda step: (True, True), _describe)
NATIVE.of(records.mm, records.mv, records.dot, records.vdot)(_FORM)
NATIVE.of(records.bmm)(_FORM._replace(accepts=_accepts_bmm, emit=_emit_bmm))
