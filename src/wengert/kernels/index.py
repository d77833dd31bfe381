"""Layer 1 · kernels: reading and writing the elements that integer arrays or masks name.

NOTE [indices]
The index of ``x[i, :, j]`` is the tuple ``(i, None, j)``: an array of integers, a mask over as many
dimensions as it has itself, or None, which stands for all of a dimension.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from wengert.kernels.layout import LAYOUTS
from wengert.kernels.protocols import asarray, contiguous, copied, is_numpys, zeros
from wengert.kernels.reduce import places_of
from wengert.kernels.scatter import add_rows, corner, flat_places

Shape = tuple[int, ...]
Indices = tuple[Any, ...]
_ALL = slice(None)
# the number of elements from which rows are added together
_MANY = 2048
# the number of elements up to which NumPy's general way, without preparation, is faster
_LITTLE = 64


def _key(indices: Indices) -> tuple[Any, ...]:
    """Return NumPy's form of `indices`."""
    return tuple([_ALL if index is None else index for index in indices])


def _names_once(indices: Indices) -> bool:
    """Return whether no element can be named twice, as by a single mask; integers may repeat."""
    arrays = [index for index in indices if index is not None]
    return len(arrays) == 1 and arrays[0].dtype.kind == "b"


def index(self: Any, indices: Indices) -> Any:
    """Return the elements that `indices` name, as a copy."""
    try:
        result = self[_key(indices)]
    except IndexError as error:
        raise _explained(error, indices) from None
    if self.flags.c_contiguous or not result.size or not is_numpys(self):
        # NumPy stores the indexed dimensions before those that precede them
        return result if result.flags.c_contiguous else contiguous(result)
    walked = _walked(self, indices, result.shape)
    return contiguous(result) if walked is None else LAYOUTS["elements"](result, walked)


def _walked(self: Any, indices: Indices, shape: Shape) -> list[Any] | None:
    """Return the arrays that PyTorch iterates over to fill the result, in the result's shape.

    These are self, with a stride of 0 along indexed dimensions, and the indices. None stands for
    arrays in C order.
    """
    steps: list[int] = []
    places = []
    dim = 0
    for i, index in enumerate(indices):
        if index is None:
            steps.append(self.strides[dim])
        else:
            places.append((i, len(steps)))
        dim += index.ndim if index is not None and index.dtype.kind == "b" else 1
    steps += self.strides[dim:]
    arrays = [index for index in indices if index is not None and index.dtype.kind != "b"]
    falling = len({*steps}) == len(steps) and steps == sorted(steps, reverse=True)
    if falling and len([array for array in arrays if array.flags.c_contiguous]) == len(arrays):
        return None
    beside = places[-1][0] - places[0][0] == len(places) - 1
    first = places[0][1] if beside else 0
    named = [0] * (len(shape) - len(steps))
    still = as_strided(self, shape, [*steps[:first], *named, *steps[first:]], writeable=False)
    after = (1,) * (len(steps) - first)
    return [still, *(array.reshape((*array.shape, *after)) for array in arrays)]


def index_put(self: Any, value: Any, indices: Indices, accumulate: bool) -> Any:
    """Return a copy of self with `value` written, or added, where `indices` point."""
    result = copied(self)
    put_into(result, value, indices, accumulate)
    return result


def put_into(self: Any, value: Any, indices: Indices, accumulate: bool) -> None:
    """Write `value` into self, or add it, where `indices` point."""
    key = _key(indices)
    try:
        if accumulate and _in_rows(self, value, indices):
            _add_at(self, value, indices)
        elif accumulate:
            combine_at(np.add, self, key, value)
        else:
            self[key] = value
    except IndexError as error:
        raise _explained(error, indices) from None
    except (TypeError, ValueError):
        # for masked writes, NumPy raises a TypeError
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(np.shape(value))} cannot be broadcast to "
            f"indexing result of shape {list(self[key].shape)}"
        ) from None


def combine_at(ufunc: Any, target: Any, key: Any, value: Any) -> None:
    """Apply ``ufunc.at``: combine values with the elements that a key names, one by one."""
    if target.ndim == 1 and np.size(value) > 1:
        # NumPy reads past values that it has to repeat for each row of an index
        value = np.broadcast_to(value, target[key].shape)
    ufunc.at(target, key, value)


def _in_rows(self: Any, value: Any, indices: Indices) -> bool:
    """Return whether many whole rows are added, one for each position of the first dimension."""
    if len(indices) != 1 or value.size < _MANY or self.dtype.kind not in "fc":
        return False
    (index,) = indices
    if index.dtype.kind == "b" or value.shape != (*index.shape, *self.shape[1:]):
        return False
    n = len(self)
    return bool(index.min() >= -n and index.max() < n)


def _explained(error: IndexError, indices: Indices) -> IndexError:
    """Return NumPy's error in PyTorch's words."""
    rows, _ = _rows(indices, broadcast=False)
    try:
        np.broadcast_shapes(*[row.shape for row in rows])
    except ValueError:
        shapes = ", ".join(str(list(row.shape)) for row in rows)
        return IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes " + shapes
        )
    text = str(error).replace("axis", "dimension")
    empty = text.endswith("with size 0")
    return IndexError("index is out of bounds for dimension with size 0" if empty else text)


def index_backward(self: Any, shape: Shape, indices: Indices) -> Any:
    """Return zeros of `shape` to which self is added where `indices` point."""
    if _names_once(indices):
        result = zeros(self, shape, self.dtype)
        result[_key(indices)] = self
        return result
    if self.__class__ is np.ndarray and self.size <= _LITTLE:
        result = np.zeros(shape, self.dtype)
        np.add.at(result, _key(indices), self)
        return result
    rows, dims = _rows(indices)
    rest = tuple([d for d in range(len(shape)) if d not in dims])
    sizes = tuple([shape[d] for d in dims])
    positions, values = _as_rows(self, rows, dims, sizes)
    target = zeros(self, (math.prod(sizes), values.shape[1]), self.dtype)
    add_rows(target, positions, values)
    moved = target.reshape(*sizes, *[shape[d] for d in rest])
    back = [(*dims, *rest).index(d) for d in range(len(shape))]
    return contiguous(moved.transpose(back))


def _add_at(self: Any, value: Any, indices: Indices) -> None:
    """Add `value`, which has the shape of the indexed elements, into self."""
    if value.size <= _LITTLE or self.ndim == value.ndim == 1:
        np.add.at(self, _key(indices), value)
        return
    rows, dims = _rows(indices)
    count = len(dims)
    if dims != [*range(count)] or not self.flags.c_contiguous or _names_once(indices):
        self += index_backward(value, self.shape, indices)
        return
    positions, values = _as_rows(value, rows, dims, self.shape[:count])
    lines = self.reshape(math.prod(self.shape[:count]), values.shape[1])
    add_rows(lines, positions, values)


def _as_rows(self: Any, rows: list[Any], dims: list[int], sizes: Shape) -> tuple[Any, Any]:
    """Return the positions of indices into merged dimensions of `sizes`, and self in rows."""
    # move the indexed dimensions to the front and merge them
    adjacent = dims[-1] - dims[0] == len(dims) - 1
    front = dims[0] if adjacent else 0
    places = tuple(range(front, front + rows[0].ndim))
    others = tuple([d for d in range(self.ndim) if d not in places])
    positions = _positions(rows, sizes)
    width = math.prod([self.shape[d] for d in others])
    return positions, self.transpose((*places, *others)).reshape(positions.size, width)


def _rows(indices: Indices, broadcast: bool = True) -> tuple[list[Any], list[int]]:
    """Return integer arrays of one shape, and the indexed dimensions; masks become integers."""
    rows: list[Any] = []
    dims: list[int] = []
    dim = 0
    for index in indices:
        if index is None:
            dim += 1
            continue
        parts = np.nonzero(index) if index.dtype.kind == "b" else (index,)
        rows += parts
        dims += range(dim, dim + len(parts))
        dim += len(parts)
    return list(np.broadcast_arrays(*rows)) if broadcast and len(rows) > 1 else rows, dims


def _positions(rows: list[Any], sizes: Shape) -> Any:
    """Combine indices into several dimensions to indices into their flattening."""
    total: Any = 0
    for row, size in zip(rows, sizes, strict=True):
        total = total * size + np.where(row < 0, row + size, row)
    return total.reshape(-1)


def take(self: Any, index: Any) -> Any:
    """Return the elements at flat positions of self in C order."""
    return self.reshape(-1)[index]


def take_backward(self: Any, index: Any, shape: Shape) -> Any:
    """Return zeros of `shape` to which self is added at flat positions in C order."""
    flat = index_backward(self.reshape(-1), (math.prod(shape),), (index.reshape(-1),))
    return flat.reshape(shape)


def index_add_at(self: Any, index: Any, source: Any, dim: int, alpha: Any) -> None:
    """Add the slices of `source`, times a number, to those that `index` names."""
    indices = (None,) * dim + (index.reshape(-1),)
    if self.ndim and alpha == 1 and self.__class__ is np.ndarray:
        _add_at(self, source, indices)
        return
    if self.ndim:
        added = index_backward(source, self.shape, indices)
    else:
        added = np.add.reduce(source, axis=None, dtype=self.dtype)
    self += added if alpha == 1 else (added * alpha).astype(self.dtype)


# -- along a dimension, an index for each element -------------------------------------------------


def _grid(index: Any, dim: int) -> tuple[Any, ...]:
    """Return NumPy's index that is `index` along `dim` and the identity along other dimensions."""
    places = places_of(index, index.shape)
    return (*places[:dim], index, *places[dim + 1 :])


def gather(self: Any, index: Any, dim: int) -> Any:
    """Return, for each position of `index`, the element of self at that index along `dim`."""
    if self.ndim == 0:
        return np.broadcast_to(self, index.shape).copy()
    if _names_rows(index, self, dim):
        return self.take(_first_of_rows(index), 0)
    return self[_grid(index, dim)]


def _names_rows(index: Any, self: Any, dim: int) -> bool:
    """Return whether an index that was expanded names whole rows of self."""
    whole = dim == 0 and index.size and index.shape[1:] == self.shape[1:]
    return bool(whole and index.ndim > 1 and not any(index.strides[1:]))


def _first_of_rows(index: Any) -> Any:
    return index.reshape(len(index), -1)[:, 0]


def scatter_at(self: Any, index: Any, src: Any, dim: int) -> None:
    """Write the elements of `src` at the positions that `index` names."""
    if self.ndim:
        self[_grid(index, dim)] = corner(src, index)
    elif index.size:
        self[...] = src.reshape(())


def scatter_value_at(self: Any, index: Any, dim: int, value: Any) -> None:
    """Write a number at the positions that `index` names."""
    if self.ndim or index.size:
        self[_grid(index, dim) if self.ndim else ...] = value


def scatter_add_at(self: Any, index: Any, src: Any, dim: int) -> None:
    """Add the elements of `src` where `index` points."""
    if not self.ndim:
        self += np.add.reduce(src, axis=None, dtype=self.dtype)
        return
    source = corner(src, index)
    if not self.flags.c_contiguous:
        np.add.at(self, _grid(index, dim), source)
    elif _names_rows(index, self, dim):
        rows = source.reshape(len(source), -1)
        add_rows(self.reshape(-1, rows.shape[1]), _first_of_rows(index), rows)
    else:
        places = flat_places(index, index.shape, self.shape, dim)
        np.add.at(self.reshape(-1), places, source.reshape(-1))


# -- masks ----------------------------------------------------------------------------------------


def masked_select(self: Any, mask: Any) -> Any:
    """Return the elements where `mask`, of the same shape, holds."""
    return asarray(self)[mask]


def masked_select_backward(self: Any, mask: Any) -> Any:
    """Return zeros with the elements of self, in order, where `mask` holds."""
    result = zeros(self, mask.shape, self.dtype)
    result[mask] = self
    return result


def corner_backward(self: Any, shape: Shape) -> Any:
    """Pad self with zeros at the end of every dimension, up to `shape`."""
    if self.shape == shape:
        return self
    result = zeros(self, shape, self.dtype)
    result[tuple([slice(size) for size in self.shape])] = self
    return result
