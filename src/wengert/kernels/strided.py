"""Layer 1 · kernels: views by strides, and complex numbers as pairs of real ones.

NOTE [geometry]
A geometry (sizes, strides and an offset, in elements) names positions in a block of memory. A value
that represents a part of such a block, such as a cotangent, may have other strides: so the
functions take the geometry of the part as a parameter, and if it is not the array's own, they first
write the elements to memory of that geometry.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as _as_strided

from wengert.kernels.protocols import asarray, contiguous, is_numpys, zeros

Shape = tuple[int, ...]
Layout = tuple[Shape, int]
Geometry = tuple[Shape, Shape, int]
_COMPLEX = {np.dtype(part): np.result_type(part, np.complex64) for part in "fdg"}


def reach(size: Shape, stride: Shape) -> int:
    """Return the number of elements from the first to the last of a geometry."""
    if 0 in size:
        return 0
    return 1 + sum([(n - 1) * step for n, step in zip(size, stride, strict=True)])


def fits(array: Any, shape: Shape) -> bool:
    """Return whether a view of an array has another shape of as many elements; without a copy."""
    runs: list[int] = []
    following = None
    for size, step in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if size != 1:
            if step == following:
                runs[-1] *= size
            else:
                runs.append(size)
            following = size * step
    left, rest = 1, iter(runs)
    for size in reversed(shape):
        if size != 1:
            left = next(rest) if left == 1 else left
            if left % size:
                return False
            left //= size
    return True


def within(part: Geometry, whole: Geometry) -> bool:
    """Return whether all positions of one geometry belong to another."""
    (size, stride, first), (own_size, own, start) = part, whole
    end = start + reach(own_size, own)
    if 0 in size:
        return True
    if first < start or first + reach(size, stride) > end:
        return False
    if reach(own_size, own) == math.prod(own_size) and not _overlaps(own_size, own):
        return True
    return bool(np.isin(_places(size, stride, first), _places(own_size, own, start)).all())


def as_strided(self: Any, size: Shape, stride: Shape, storage_offset: int, layout: Layout) -> Any:
    """View the memory that self, of geometry `layout`, is a part of, by another geometry.

    The result is a view if self has the geometry `layout` and contains all positions. Otherwise the
    elements are laid out first: an element shared by several positions is their mean, and elements
    outside of self are 0.
    """
    array = np.asarray(self)
    own, start = layout
    offset = storage_offset - start
    if offset >= 0 and _lies_as(array, own) and reach(size, stride) + offset <= array.size:
        return _window(array, size, stride, offset)
    if offset >= 0 and _has_strides(array, own):
        length = reach(array.shape, own)
        if reach(size, stride) + offset <= length:
            flat = _as_strided(array, (length,), (array.itemsize,))
            return _window(flat, size, stride, offset)
    first = min(start, storage_offset)
    memory = _laid_out(
        array,
        _places(array.shape, own, start - first),
        offset + reach(size, stride) + start - first,
        _overlaps(array.shape, own),
    )
    return memory[_places(size, stride, storage_offset - first)]


def owner_of(array: Any) -> Any:
    """Return the array that owns the memory of `array`, as far as NumPy knows."""
    while True:
        base = array.base
        if not isinstance(base, np.ndarray):
            # as_strided inserts an object of its own
            base = getattr(base, "base", None)
        if not isinstance(base, np.ndarray):
            return array
        array = base


def shares_owner(array: Any, other: Any) -> bool:
    """Return whether two arrays may share memory: False is certain only for plain arrays."""
    plain = array.__class__ is np.ndarray and other.__class__ is np.ndarray
    return not plain or owner_of(array) is owner_of(other)


def stored_as(array: np.ndarray[Any, Any], like: np.ndarray[Any, Any]) -> Any:
    """Return `array`, or a copy, in memory of the size and with the strides of `like`'s.

    Returns
    -------
    ndarray or None: None if elements of `like` overlap or are in reverse order.
    """
    if like.size == 0:
        return array
    if array.strides == like.strides:
        memory, below = owner_of(array), owner_of(like)
        first = _address(array) - _address(memory)
        if memory.nbytes == below.nbytes and first == _address(like) - _address(below):
            return None if _overlaps(like.shape, like.strides) else array
    return copied_as(array, like)


def copied_as(array: np.ndarray[Any, Any], like: np.ndarray[Any, Any]) -> Any:
    """Return what `stored_as` returns, but always a copy."""
    own = tuple([step // like.itemsize for step in like.strides])
    if min(own, default=1) < 0 or _overlaps(like.shape, own):
        return None
    below = owner_of(like)
    first = (_address(like) - _address(below)) // like.itemsize
    flat = np.zeros(below.nbytes // like.itemsize, like.dtype)
    if first < 0 or first + reach(like.shape, own) > flat.size:
        return None
    made = _as_strided(flat[first:], like.shape, like.strides)
    made[...] = array
    return made


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def as_strided_backward(
    self: Any, shape: Shape, size: Shape, stride: Shape, storage_offset: int, layout: Layout
) -> Any:
    """Compute the transpose of `as_strided`, for a tensor of `shape` and `layout`."""
    own, start = layout
    first = min(start, storage_offset)
    length = max(reach(shape, own) + start, reach(size, stride) + storage_offset) - first
    memory = np.zeros(length, self.dtype)
    places = _places(size, stride, storage_offset - first)
    if _overlaps(size, stride):
        np.add.at(memory, places, self)
    else:
        memory[places] = self
    seen = _places(shape, own, start - first)
    if _overlaps(shape, own):
        memory /= np.maximum(np.bincount(seen.reshape(-1), minlength=length), 1).astype(
            memory.real.dtype
        )
    return memory[seen]


def _lies_as(array: Any, own: Shape) -> bool:
    return array.flags.c_contiguous and _has_strides(array, own)


def _has_strides(array: Any, own: Shape) -> bool:
    width = array.itemsize
    if array.strides == tuple([step * width for step in own]):
        return True
    return all(
        n == 1 or have == step * width
        for n, have, step in zip(array.shape, array.strides, own, strict=True)
    )


def _window(memory: Any, size: Shape, stride: Shape, offset: int) -> Any:
    """View a dense array by strides."""
    width = memory.itemsize
    steps = tuple([step * width for step in stride])
    return np.ndarray(size, memory.dtype, memory, min(offset, memory.size) * width, steps)


def _places(size: Shape, stride: Shape, offset: int) -> Any:
    """Return the positions that a geometry names, as an array of its sizes."""
    places = np.array(offset, np.intp)
    for n, step in zip(size, stride, strict=True):
        places = places[..., None] + np.arange(n) * step
    return places


def _overlaps(size: Shape, stride: Shape) -> bool:
    """Return whether several elements of a geometry may share a position."""
    if 0 in size:
        return False
    filled = 0
    for step, n in sorted(zip(stride, size, strict=True)):
        if n > 1:
            if step <= filled:
                return True
            filled += step * (n - 1)
    return False


def _laid_out(array: Any, places: Any, length: int, shared: bool) -> Any:
    """Write the elements of `array` to `places` in new memory."""
    length = max(length, int(places.max()) + 1 if places.size else 0)
    memory = np.zeros(length, array.dtype)
    if shared and array.dtype.kind in "fc":
        np.add.at(memory, places, array)
        count = np.bincount(places.reshape(-1), minlength=length)
        memory /= np.maximum(count, 1).astype(memory.real.dtype)
    else:
        memory[places] = array
    return memory


def unfold(self: Any, dimension: int, size: int, step: int) -> Any:
    """Return windows of `size` elements of a dimension, `step` apart, in a new last dimension."""
    array = asarray(self)
    if not is_numpys(array) and array.ndim:
        windows = np.lib.stride_tricks.sliding_window_view(array, size, dimension)
        return windows[(slice(None),) * dimension + (slice(None, None, step),)]
    if not array.ndim:
        array = array.reshape(1)
        shape, strides = (size,), array.strides
        return _as_strided(array, shape, strides)
    count = (array.shape[dimension] - size) // step + 1
    width = array.strides[dimension]
    shape = (*array.shape[:dimension], count, *array.shape[dimension + 1 :], size)
    strides = (*array.strides[:dimension], width * step, *array.strides[dimension + 1 :], width)
    if array.flags.c_contiguous:
        return np.ndarray(shape, array.dtype, array, 0, strides)
    return _as_strided(array, shape, strides)


def unfold_backward(self: Any, shape: Shape, dimension: int, size: int, step: int) -> Any:
    """Return zeros of `shape` to which windows of a dimension are added."""
    result = zeros(self, shape, self.dtype)
    if not shape:
        return result + self.sum()
    span = step * (self.shape[dimension] - 1) + 1
    lead = (slice(None),) * dimension
    for i in range(size):
        result[(*lead, slice(i, i + span, step))] += self[..., i]
    return result


def view_as_real(self: Any) -> Any:
    """View complex numbers as pairs of real ones, along a new last dimension."""
    array = asarray(self)
    return array[..., None].view(array.real.dtype)


def view_as_complex(self: Any) -> Any:
    """Return pairs along the last dimension as complex numbers: a view if they are adjacent."""
    if self.dtype not in _COMPLEX:
        raise TypeError(f"there are no complex numbers of {self.dtype} parts")
    if self.strides[-1] != self.itemsize:
        self = contiguous(self)
    return self.view(_COMPLEX[self.dtype])[..., 0]
