"""Layer 1 · kernels: the memory order of results.

NOTE [layouts]
Whether `reshape` returns a view or a copy depends on the strides of its argument, so results have
PyTorch's strides. NumPy's functions lay out their results like their arguments, as PyTorch does for
element-wise operations; a record whose kernel differs from PyTorch names in `layout` the layout of
its results:

* ``"contiguous"``: the last dimension fastest, whatever the arguments;
* ``"same"``: like the first argument, which has the result's shape;
* ``"elements"``: for each pair of dimensions, like the first argument that orders them
  (TensorIterator's order);
* ``"suggested"``: channels last if an argument is, otherwise contiguous;
* ``"columns"``: the matrices in the last two dimensions column by column, as LAPACK leaves them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.base.memory_format import suggested_format


def _in_order(array: Any, axes: Sequence[int]) -> Any:
    """Return `array` with its dimensions stored in the order `axes`, slowest first."""
    moved = array.transpose(axes)
    if moved.flags.c_contiguous:
        return array
    return np.ascontiguousarray(moved).transpose(np.argsort(axes))


def _contiguous(result: Any, arrays: Sequence[Any]) -> Any:
    return result if result.flags.c_contiguous else np.ascontiguousarray(result)


def is_dense(array: Any) -> bool:
    """Return whether the elements of an array neither overlap nor leave gaps in memory."""
    if array.flags.forc:
        return True
    return bool(array.transpose(_order([array], array.shape)).flags.c_contiguous)


def laid_as(result: Any, like: Any) -> Any:
    """Return `result`, or a copy with the memory layout of `like`, an array of the same shape.

    Where elements of `like` overlap or have gaps between them, only the order is the same.
    """
    if result.strides == like.strides or (like.flags.c_contiguous and result.flags.c_contiguous):
        return result
    return _in_order(result, _order([like], like.shape))


def _same(result: Any, arrays: Sequence[Any]) -> Any:
    first = arrays[0]
    if first.__class__ is not np.ndarray or first.shape != result.shape or first.flags.c_contiguous:
        return _contiguous(result, arrays)
    return laid_as(result, first)


def _elements(result: Any, arrays: Sequence[Any]) -> Any:
    arrays = [array for array in arrays if array.__class__ is np.ndarray and array.ndim]
    if all(array.flags.c_contiguous and array.shape == result.shape for array in arrays):
        return _contiguous(result, arrays)
    return _in_order(result, _order(arrays, result.shape))


def _suggested(result: Any, arrays: Sequence[Any]) -> Any:
    if result.ndim in (4, 5):
        for array in arrays:
            if array.__class__ is np.ndarray and array.ndim == result.ndim:
                order = suggested_format(array)
                if order.axes is not None:
                    return _in_order(result, order.axes)
    return _contiguous(result, arrays)


def _columns(result: Any, arrays: Sequence[Any]) -> Any:
    if result.ndim < 2:
        return _contiguous(result, arrays)
    turned = result.swapaxes(-1, -2)
    return result if turned.flags.c_contiguous else np.ascontiguousarray(turned).swapaxes(-1, -2)


def _steps(array: Any, shape: tuple[int, ...]) -> list[int]:
    """Return the strides of an array that broadcasts to `shape`: 0 where it is repeated."""
    extra = len(shape) - array.ndim
    own = [
        0 if size == 1 and size != wide else step
        for size, step, wide in zip(array.shape, array.strides, shape[extra:], strict=True)
    ]
    return [0] * extra + own


def _order(arrays: Sequence[Any], shape: tuple[int, ...]) -> list[int]:
    """Return the dimensions from slowest to fastest, in the order of PyTorch's TensorIterator."""
    steps = [_steps(array, shape) for array in arrays]
    axes = list(range(len(shape)))[::-1]

    def compared(a: int, b: int) -> int:
        for strides in steps:
            if strides[a] and strides[b]:
                if strides[a] != strides[b]:
                    return 1 if strides[a] > strides[b] else -1
                if shape[a] > shape[b]:
                    return 1
        return 0

    for i in range(1, len(axes)):
        at = i
        for before in range(i - 1, -1, -1):
            sign = compared(axes[before], axes[at])
            if sign > 0:
                axes[before], axes[at] = axes[at], axes[before]
                at = before
            elif sign < 0:
                break
    return axes[::-1]


LAYOUTS: dict[str, Callable[[Any, Sequence[Any]], Any]] = {
    "contiguous": _contiguous,
    "same": _same,
    "elements": _elements,
    "suggested": _suggested,
    "columns": _columns,
}
"""``settle(result, arrays)``, which gives a result its layout, by the layout's name."""
