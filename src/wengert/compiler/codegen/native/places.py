"""Layer 8 · compiler: scatter and scatter-add at indices, in native code.

Elements are written in order: of several writes to one index the last one remains, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.compiler.codegen.code import Array, Code, is_native, literal, llvm_type, strides_of
from wengert.compiler.codegen.native.forms import (
    NATIVE,
    NativeForm,
    check_indices,
    fill_zeros,
    nest,
    outlined,
    wrapped,
)
from wengert.compiler.codegen.scalars.lane import cast
from wengert.compiler.ir.programs import Step, Value, uses
from wengert.prims import records

__all__: list[str] = []

Shape = tuple[int, ...]
_BOOL = np.dtype(np.bool_)


def _broadcast_strides(shape: Shape, onto: Shape) -> Shape:
    """Return the strides of a contiguous array broadcast to a shape."""
    lead = len(onto) - len(shape)
    own = [0 if n == 1 else s for n, s in zip(shape, strides_of(shape), strict=True)]
    return (*[0] * lead, *own)


def _add(code: Code, dtype: np.dtype[Any], a: str, b: str) -> str:
    operation = {"f": f"fadd {code.module.flags}", "b": "or "}.get(dtype.kind, "add ")
    return code.let(f"{operation}{llvm_type(dtype)} {a}, {b}")


def _write(code: Code, out: Array, position: str, value: str, accumulate: bool) -> None:
    pointer = code.at(out.pointer, out.dtype, position)
    if accumulate:
        value = _add(code, out.dtype, code.load(pointer, out.dtype), value)
    code.store(value, pointer, out.dtype)


def _known_in_range(value: Value, size: int) -> bool | None:
    """Return whether all indices are in range, or None if they are not constant."""
    if value.constant is None:
        return None
    index = value.constant
    return bool(((index >= -size) & (index < size)).all())


def _guarded(
    code: Code,
    checks: Sequence[tuple[Value, Array, int]],
    body: Callable[[], None],
) -> None:
    """Emit `body` under the condition that all indices are in range for their sizes."""
    outside = [
        check_indices(code, array, size)
        for value, array, size in checks
        if not _known_in_range(value, size)
    ]
    if not outside:
        body()
        return
    failed = outside[0]
    for other in outside[1:]:
        failed = code.let(f"or i1 {failed}, {other}")
    code.fail_if(failed)
    with code.when(code.let(f"xor i1 {failed}, true")):
        body()


# -- index arrays for some dimensions -------------------------------------------------------------


class _Selection:
    """The selection ``x[indices]``, with an integer array or None for each leading dimension.

    Attributes
    ----------
    dims: The indexed dimensions.
    picked: The broadcast shape of their indices.
    rest: The other dimensions.
    shape: The shape of the selection.
    front: The first of the indices' dimensions in it.
    """

    def __init__(self, shape: Shape, indices: Sequence[Any]) -> None:
        self.dims = [d for d, index in enumerate(indices) if index is not None]
        self.indices = [indices[d] for d in self.dims]
        self.picked = np.broadcast_shapes(*[index.shape for index in self.indices])
        self.rest = [d for d in range(len(shape)) if d not in self.dims]
        adjacent = self.dims[-1] - self.dims[0] == len(self.dims) - 1
        self.front = self.dims[0] if adjacent else 0
        others = [shape[d] for d in self.rest]
        self.shape = (*others[: self.front], *self.picked, *others[self.front :])


def _write_indexed(
    code: Code,
    out: Array,
    indices: Sequence[Any],
    rows: Sequence[Array],
    values: Array,
    accumulate: bool,
) -> None:
    """Write `values`, broadcast, at `indices`; `rows` are the index arrays in memory."""
    selection = _Selection(out.shape, indices)
    steps, own = strides_of(out.shape), _broadcast_strides(values.shape, selection.shape)
    front, depth = selection.front, len(selection.picked)
    of_picked, of_rest = own[front : front + depth], (*own[:front], *own[front + depth :])
    sizes = [out.shape[d] for d in selection.dims]

    def write() -> None:
        row_strides = [_broadcast_strides(row.shape, selection.picked) for row in rows]
        with nest(code, selection.picked, of_picked, *row_strides) as (value, *positions):
            base = "0"
            for row, position, d in zip(rows, positions, selection.dims, strict=True):
                index = wrapped(code, row, position, out.shape[d])
                index = code.let(f"mul nsw i64 {index}, {steps[d]}") if steps[d] != 1 else index
                base = index if base == "0" else code.let(f"add nsw i64 {base}, {index}")
            shape = [out.shape[d] for d in selection.rest]
            along = [steps[d] for d in selection.rest]
            with nest(code, shape, along, of_rest, start=(base, value)) as (to, source):
                element = code.load(code.at(values.pointer, values.dtype, source), values.dtype)
                element = cast(code, element, values.dtype, out.dtype)
                _write(code, out, to, element, accumulate)

    _guarded(code, list(zip(selection.indices, rows, sizes, strict=True)), write)


def _are_integer_arrays(indices: Any) -> bool:
    """Return whether indices are integer arrays, at least one, and None."""
    if not isinstance(indices, tuple) or not any(index is not None for index in indices):
        return False
    return all(
        index is None or (isinstance(index, Value) and index.dtype.kind in "iu")
        for index in indices
    )


def _accepts_index_backward(step: Step) -> bool:
    indices, shape = step.params["indices"], step.params["shape"]
    if not _are_integer_arrays(indices) or not is_native(step.args[0].dtype) or not all(shape):
        return False
    return step.args[0].shape == _Selection(shape, indices).shape


def _index_backward(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    indices = step.params["indices"]

    def write(inner: Code, arrays: list[Array]) -> None:
        out, values, *rows = arrays
        fill_zeros(inner, out.pointer, step.outs[0].size * out.dtype.itemsize)
        _write_indexed(inner, out, indices, rows, values, True)

    outlined(code, "index_backward", [*outs, *ins], write)


def _accepts_index_put(step: Step) -> bool:
    indices, (self, value) = step.params["indices"], step.args
    if not _are_integer_arrays(indices) or not all(self.shape) or not is_native(self.dtype):
        return False
    if not is_native(value.dtype) or not np.can_cast(value.dtype, self.dtype, "same_kind"):
        return False
    selection = _Selection(self.shape, indices)
    try:
        return np.broadcast_shapes(value.shape, selection.shape) == selection.shape
    except ValueError:
        return False


def _index_put(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    def write(inner: Code, arrays: list[Array]) -> None:
        out, values, *rows = arrays
        accumulate = step.params["accumulate"]
        _write_indexed(inner, out, step.params["indices"], rows, values, accumulate)

    outlined(code, "index_put", [*outs, *ins[1:]], write)


def _accepts_index_add(step: Step) -> bool:
    (self, index, source), dim = step.args, step.params["dim"]
    if step.params["alpha"] != 1 or len(index.shape) != 1 or not _accepts_dtypes(step):
        return False
    chosen = (*self.shape[:dim], *index.shape, *self.shape[dim + 1 :])
    return bool(self.shape) and source.shape == chosen


def _accepts_dtypes(step: Step) -> bool:
    """Return whether the target is not empty, indices are integers, and dtypes agree."""
    self, index, *source = step.args
    if not all(self.shape) or index.dtype.kind not in "iu" or self.dtype == _BOOL:
        return False
    return is_native(self.dtype) and all(value.dtype == self.dtype for value in source)


def _index_add(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    indices = (*[None] * step.params["dim"], step.args[1])

    def write(inner: Code, arrays: list[Array]) -> None:
        out, index, source = arrays
        _write_indexed(inner, out, indices, [index], source, True)

    outlined(code, "index_add", [*outs, *ins[1:]], write)


# -- an index for each element --------------------------------------------------------------------


def _scatter(accumulate: bool) -> Callable[..., None]:
    def emit(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
        dim, shape = step.params["dim"], step.args[1].shape
        number = step.params.get("value")

        def write(inner: Code, arrays: list[Array]) -> None:
            out, index, *source = arrays
            steps = strides_of(out.shape)
            fixed = [0 if d == dim else stride for d, stride in enumerate(steps)]
            read = strides_of(source[0].shape) if source else fixed

            def put() -> None:
                with nest(inner, shape, strides_of(shape), fixed, read) as (at, base, place):
                    chosen = wrapped(inner, index, at, out.shape[dim])
                    to = inner.added(base, inner.offset((steps[dim],), [chosen]))
                    if source:
                        value = inner.load(inner.at(source[0].pointer, out.dtype, place), out.dtype)
                    else:
                        value = literal(number, out.dtype)
                    _write(inner, out, to, value, accumulate)

            _guarded(inner, [(step.args[1], index, out.shape[dim])], put)

        outlined(code, step.prim.name, [*outs, *ins[1:]], write)

    return emit


def _accepts_scatter(step: Step) -> bool:
    (self, index, *source), dim = step.args, step.params["dim"]
    number = isinstance(step.params.get("value", 0), int | float)
    if not number or not self.shape or not _accepts_dtypes(step):
        return False
    if len(index.shape) != len(self.shape):
        return False
    inside = [d == dim or index.shape[d] <= self.shape[d] for d in range(len(self.shape))]
    return all(inside) and all(
        n <= m for value in source for n, m in zip(index.shape, value.shape, strict=True)
    )


# -- registration ---------------------------------------------------------------------------------


def _cost(step: Step) -> int:
    moved = max([value.size for value in uses(step)][1:] or [0])
    return 10 + step.outs[0].size // 2 + 3 * moved


NATIVE.of(records.index_backward)(NativeForm(_accepts_index_backward, _index_backward, _cost))
NATIVE.of(records.index_put)(NativeForm(_accepts_index_put, _index_put, _cost, into=0))
NATIVE.of(records.index_add)(NativeForm(_accepts_index_add, _index_add, _cost, into=0))
NATIVE.of(records.scatter_add)(NativeForm(_accepts_scatter, _scatter(True), _cost, into=0))
NATIVE.of(records.scatter, records.scatter_value)(
    NativeForm(_accepts_scatter, _scatter(False), _cost, into=0)
)
