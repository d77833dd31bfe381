"""Layer 0 · base: memory formats, the orders in which a tensor's elements are stored."""

from __future__ import annotations

from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

from wengert.base.errors import wrong_type
from wengert.base.shapes import check_size


class memory_format:
    """An order of elements in memory: one of four, with PyTorch's names.

    There is one object per order, so ``is`` compares them. ``contiguous_format`` has the last
    dimension fastest, ``channels_last`` and ``channels_last_3d`` have the second one fastest (in
    tensors of 4 and 5 dimensions), ``preserve_format`` is that of the argument.

    Examples
    --------
    >>> wg.channels_last
    torch.channels_last
    >>> wg.zeros(2, 3, 4, 5).clone(memory_format=wg.channels_last).stride()
    (60, 1, 15, 3)
    """

    __slots__ = ("axes", "name")

    def __init__(self, name: str, axes: tuple[int, ...] | None = None) -> None:
        self.name = name
        self.axes = axes
        """The dimensions from the slowest to the fastest, if they do not depend on the shape."""

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last", (0, 2, 3, 1))
channels_last_3d = memory_format("channels_last_3d", (0, 2, 3, 4, 1))
_LAST: dict[int, Any] = {4: channels_last, 5: channels_last_3d}


def check_memory_format(value: Any, function: str, ndim: int | None = None) -> memory_format:
    """Return `value` as a memory format; raise if tensors of `ndim` dimensions cannot have it."""
    if not isinstance(value, memory_format):
        raise wrong_type(function, "memory_format", "torch.memory_format", value)
    if ndim is not None and value.axes is not None and len(value.axes) != ndim:
        raise RuntimeError(
            f"required rank {len(value.axes)} tensor to use {value.name} format, but got one of "
            f"{ndim} dimensions"
        )
    return value


def _in_order(array: Any, order: memory_format) -> Any:
    return array if order.axes is None else array.transpose(order.axes)


def is_in_format(array: Any, order: memory_format) -> bool:
    """Return whether `array` is contiguous in `order`."""
    if order.axes is not None and len(order.axes) != array.ndim:
        return False
    return bool(_in_order(array, order).flags.c_contiguous)


def steps_of(array: Any) -> tuple[int, ...]:
    """Return PyTorch's strides of `array`, in elements.

    They differ from NumPy's where a dimension was inserted, or nothing is there.
    """
    width = array.dtype.itemsize
    steps = [step // width for step in array.strides]
    if not array.size and not any(steps):
        steps = list(accumulate([max(size, 1) for size in array.shape[:0:-1]], mul, initial=1))
        return tuple(steps[array.ndim - 1 :: -1]) if array.ndim else ()
    inner = 1
    for dim in range(array.ndim - 1, -1, -1):
        if not steps[dim] and array.shape[dim] == 1:
            steps[dim] = inner
        inner = array.shape[dim] * steps[dim]
    return tuple(steps)


def suggested_format(array: Any) -> memory_format:
    """Return a channels-last order if the strides of `array` have it, else C order.

    There may be gaps, as in a part of an image.
    """
    order = _LAST.get(array.ndim)
    if order is None or array.flags.c_contiguous or not array.size:
        return contiguous_format
    steps, least = steps_of(array), 0
    for dim in order.axes[::-1]:
        if steps[dim] < least or not steps[1]:
            return contiguous_format
        least = steps[dim] * array.shape[dim]
    return order


def in_format(array: Any, order: memory_format) -> Any:
    """Return `array`, of one dimension or more, if it is in `order`, else a copy that is."""
    laid = np.ascontiguousarray(_in_order(array, order))
    return laid if order.axes is None else laid.transpose(np.argsort(order.axes))


def empty_in_format(shape: tuple[int, ...], kind: Any, order: memory_format) -> Any:
    """Return an uninitialised array of that shape and dtype in `order`."""
    laid = shape if order.axes is None else [shape[axis] for axis in order.axes]
    try:
        array = np.empty(laid, kind)
    except ValueError:
        check_size(shape, kind.itemsize)
        raise
    return array if order.axes is None else array.transpose(np.argsort(order.axes))
