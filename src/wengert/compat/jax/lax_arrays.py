"""Layer 9 · compat: the functions of `jax.lax` that arrange the elements of arrays."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.array import asarray, convert, made
from wengert.compat.jax.checks import axis_in
from wengert.compat.jax.dtypes import canonical_dtype, requested_dtype
from wengert.compat.jax.indexing import absent
from wengert.compat.jax.lax_elementwise import same_dtypes
from wengert.compat.jax.tracing import argument
from wengert.compat.jax.updates import Updates
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import functions_of
from wengert.compat.kit.signatures import named
from wengert.func.inputs import replaced
from wengert.ops.expand import broadcast_to
from wengert.ops.shape import reshape as _reshape
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T

_slice: Any = slice  # a function below has the same name


def _kept(result, x) -> Any:
    """Return a result as an array with the weak type of `x`."""
    return made(result, x.weak_type)


def _dims(dimensions, ndim: int) -> tuple[int, ...]:
    given = (dimensions,) if isinstance(dimensions, int) else dimensions
    return tuple(axis_in(int(d), ndim) for d in given)


def full(shape, fill_value, dtype=None, *, sharding=None) -> Any:
    """Return an array filled with one value."""
    value = argument(fill_value)
    if value._payload.ndim:
        raise refusal(TypeError, "full must be called with", value)
    if dtype is not None:
        value = value.astype(requested_dtype(dtype, "full"))
    return _kept(broadcast_to(value, _sizes(shape)), value)


def full_like(x, fill_value, dtype=None, shape=None) -> Any:
    """Return an array filled with one value, with the shape and dtype of another."""
    like = argument(x)
    sizes = like.shape if shape is None else shape
    if dtype is None:
        return _kept(full(sizes, fill_value, like._payload.dtype), like)
    return full(sizes, fill_value, dtype)


def _sizes(shape) -> tuple[int, ...]:
    given = (shape,) if isinstance(shape, int | np.integer) else shape
    return tuple(int(size) for size in given)


def iota(dtype, size: int) -> Any:
    """Return the numbers 0, 1, 2, ..."""
    return asarray(np.arange(int(size)), requested_dtype(dtype, "iota"))


def broadcasted_iota(dtype, shape, dimension: int) -> Any:
    """Return the numbers 0, 1, 2, ... along one dimension of an array."""
    sizes = _sizes(shape)
    line = [sizes[dimension] if i == dimension else 1 for i in range(len(sizes))]
    return made(broadcast_to(_reshape(iota(dtype, sizes[dimension]), line), sizes))


def broadcast(operand, sizes: Sequence[int]) -> Any:
    """Add dimensions in front of an array."""
    x = argument(operand)
    return _kept(broadcast_to(x, (*_sizes(sizes), *x.shape)), x)


def broadcast_in_dim(operand, shape, broadcast_dimensions: Sequence[int], **more) -> Any:
    """Broadcast an array to a shape; `broadcast_dimensions` says where its dimensions go."""
    x, sizes = argument(operand), _sizes(shape)
    places = tuple(map(int, broadcast_dimensions))
    if len(places) != x.ndim:
        raise refusal(TypeError, "broadcast_in_dim broadcast_dimensions", len(places), x)
    line = [1] * len(sizes)
    for place, size in zip(places, x.shape, strict=True):
        line[place] = size
    return _kept(broadcast_to(_reshape(x, tuple(line)), sizes), x)


def broadcast_shapes(*shapes) -> tuple[int, ...]:
    """Return the broadcast shape of several shapes."""
    return jnp.broadcast_shapes(*shapes)


def broadcast_to_rank(x, rank: int) -> Any:
    """Add dimensions of size 1 in front, up to a rank."""
    array = argument(x)
    return _kept(_reshape(array, ((1,) * (rank - array.ndim)) + array.shape), array)


def reshape(operand, new_sizes, dimensions=None, *, out_sharding=None) -> Any:
    """Reshape an array; with `dimensions`, transpose it first."""
    x = argument(operand)
    if dimensions is not None:
        x = transpose(x, dimensions)
    return x.reshape(_sizes(new_sizes))


def collapse(operand, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """Merge several adjacent dimensions into one."""
    x = argument(operand)
    start, stop, _ = _slice(start_dimension, stop_dimension).indices(x.ndim)
    middle = math.prod(x.shape[start:stop])
    return x.reshape((*x.shape[:start], middle, *x.shape[stop:]))


def expand_dims(array, dimensions) -> Any:
    """Insert dimensions of size 1 at the given positions."""
    return jnp.expand_dims(argument(array), tuple(dimensions))


def squeeze(array, dimensions) -> Any:
    """Remove dimensions of size 1."""
    return jnp.squeeze(argument(array), _dims(dimensions, argument(array).ndim))


def transpose(operand, permutation) -> Any:
    """Permute the dimensions of an array."""
    return argument(operand).transpose(tuple(int(p) for p in permutation))


def rev(operand, dimensions) -> Any:
    """Reverse an array along some dimensions."""
    x = argument(operand)
    return _kept(T.flip(x, dims=_dims(dimensions, x.ndim)), x)


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Concatenate arrays of one dtype along a dimension."""
    if not isinstance(operands, list | tuple) or not operands:
        raise TypeError("concatenate expects at least one operand, in a list or tuple")
    arrays = same_dtypes("concatenate", *operands)
    return jnp.concatenate(arrays, axis=dimension)


def split(operand, sizes: Sequence[int], axis: int = 0) -> list[Any]:
    """Split an array along an axis into parts of given sizes."""
    ends = np.cumsum(_sizes(sizes))[:-1]
    return list(jnp.split(argument(operand), [int(end) for end in ends], axis=axis))


def pad(operand, padding_value, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """Pad an array with a value around, and between, its elements.

    Parameters
    ----------
    padding_config : sequence of (low, high, interior). The number of values to insert before, after
        and between the elements of each dimension; negative numbers remove elements.
    """
    x, value = same_dtypes("pad", operand, padding_value)
    config = [tuple(map(int, entry)) for entry in padding_config]
    if len(config) != x.ndim:
        raise refusal(TypeError, "length of padding_config", len(config), x)
    wide, at, back = [], [], []
    for size, (low, high, interior) in zip(x.shape, config, strict=True):
        length = size + max(size - 1, 0) * interior
        before, after = max(low, 0), max(high, 0)
        wide.append(length + before + after)
        at.append(_slice(before, before + length, interior + 1))
        back.append(_slice(max(-low, 0), wide[-1] - max(-high, 0)))
    whole = made(broadcast_to(value, tuple(wide)), x.weak_type)
    return Updates(whole)[tuple(at)].set(x)[tuple(back)]


def slice(operand, start_indices, limit_indices, strides=None) -> Any:
    """Slice an array, given the start and end in each dimension."""
    x = argument(operand)
    steps = (1,) * x.ndim if strides is None else strides
    for start, end, size in zip(start_indices, limit_indices, x.shape, strict=True):
        if not 0 <= start <= end <= size:
            raise refusal(
                TypeError, "slice start_indices must", tuple(start_indices), tuple(limit_indices), x
            )
    bounds = zip(start_indices, limit_indices, steps, strict=True)
    return x[tuple(_slice(int(a), int(b), int(c)) for a, b, c in bounds)]


def slice_in_dim(operand, start_index, limit_index, stride: int = 1, axis: int = 0) -> Any:
    """Slice an array along one dimension."""
    x = argument(operand)
    axis = axis_in(axis, x.ndim)
    size = x.shape[axis]
    ends = start_index or 0, size if limit_index is None else limit_index
    start, limit = (int(end) + size * (end < 0) for end in ends)
    starts, limits = replaced([0] * x.ndim, [axis], [start]), replaced(x.shape, [axis], [limit])
    return slice(x, starts, limits, replaced([1] * x.ndim, [axis], [stride]))


def index_in_dim(operand, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """Return the slice at one index of a dimension."""
    x = argument(operand)
    size = x.shape[axis]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {size}")
    found = x[(_slice(None),) * axis_in(axis, x.ndim) + (int(index),)]
    return jnp.expand_dims(found, axis) if keepdims else found


def start_index(index, size: int, length: int) -> Any:
    """Return the start of a slice, clamped so that the slice lies within `size`.

    The start is a number, or a tensor if it differs within a batch.
    """
    most = size - length
    if isinstance(index, TensorBase) and not isinstance(index._payload, np.ndarray | np.generic):
        whole = T.to_copy(index, dtype=np.dtype(np.int64))
        whole = T.where(T.lt(whole, 0), T.add(whole, size), whole)
        return T.clamp(whole, min=0, max=most)
    at = int(index)
    return max(0, min(at + size if at < 0 else at, most))


def _window(x, starts: Sequence[Any], sizes: Sequence[int]) -> tuple[Any, ...]:
    """Return the index of a slice of `x`; starts are numbers, or tensors that differ in a batch."""
    if len(starts) != x.ndim or len(sizes) != x.ndim:
        raise refusal(TypeError, "dynamic_slice start_indices", len(starts), len(sizes), x)
    for size, length in zip(x.shape, sizes, strict=True):
        if not 0 <= length <= size:
            raise refusal(TypeError, "slice slice_sizes must", tuple(sizes), x)
    places = [
        start_index(start, size, length)
        for start, size, length in zip(starts, x.shape, sizes, strict=True)
    ]
    if not any(isinstance(place, TensorBase) for place in places):
        return tuple(_slice(p, p + n) for p, n in zip(places, sizes, strict=True))
    parts = []
    for i, (place, length) in enumerate(zip(places, sizes, strict=True)):
        line = np.arange(length).reshape([-1 if d == i else 1 for d in range(x.ndim)])
        moved = T.add(new_tensor(line), place) if isinstance(place, TensorBase) else line + place
        parts.append(moved)
    return tuple(parts)


def _starts(start_indices) -> list[Any]:
    if isinstance(start_indices, int):
        return [start_indices]
    if isinstance(start_indices, TensorBase):
        given = asarray(start_indices)
        return list(given) if given.ndim else [given]
    return list(start_indices)


def dynamic_slice(operand, start_indices, slice_sizes, **more) -> Any:
    """Slice an array with given sizes; the start is clamped so that the slice lies within it.

    Examples
    --------
    >>> jax.lax.dynamic_slice(jax.numpy.arange(6), (5,), (3,))
    Array([3, 4, 5], dtype=int32)
    """
    x = argument(operand)
    return x[_window(x, _starts(start_indices), _sizes(slice_sizes))]


def dynamic_slice_in_dim(operand, start_index, slice_size: int, axis: int = 0) -> Any:
    """Slice an array along one dimension; the start is clamped so that the slice lies within it."""
    x = argument(operand)
    axis = axis_in(axis, x.ndim)
    starts = replaced([0] * x.ndim, [axis], [start_index])
    return dynamic_slice(x, starts, replaced(x.shape, [axis], [int(slice_size)]))


def dynamic_index_in_dim(operand, index, axis: int = 0, keepdims: bool = True) -> Any:
    """Return the slice at one index of a dimension; the index may be an array."""
    found = dynamic_slice_in_dim(operand, index, 1, axis)
    return found if keepdims else jnp.squeeze(found, axis)


def dynamic_update_slice(operand, update, start_indices, **more) -> Any:
    """Replace a slice of an array."""
    x, new = same_dtypes("dynamic_update_slice", operand, update)
    if new.ndim != x.ndim:
        raise refusal(TypeError, "dynamic_update_slice update", new, x)
    index = _window(x, _starts(start_indices), new.shape)
    return made(Updates(x)[index].set(new))


def dynamic_update_slice_in_dim(operand, update, start_index, axis: int) -> Any:
    """Replace a slice of an array along one dimension."""
    x, new = argument(operand), argument(update)
    starts = replaced([0] * x.ndim, [axis_in(axis, x.ndim)], [start_index])
    return dynamic_update_slice(x, new.reshape(new.shape or (1,) * x.ndim), starts)


def dynamic_update_index_in_dim(operand, update, index, axis: int) -> Any:
    """Replace the slice at one index of a dimension."""
    x, new = argument(operand), argument(update)
    if new.ndim != x.ndim:
        new = jnp.expand_dims(new, axis)
    return dynamic_update_slice_in_dim(x, convert_weak(new, x), index, axis)


def convert_weak(new, x) -> Any:
    """Convert a weakly typed array to the dtype of `x`."""
    return made(convert(new, x._payload.dtype)) if new.weak_type else new


def tile(operand, reps: Sequence[int]) -> Any:
    """Repeat an array along its dimensions."""
    return jnp.tile(argument(operand), tuple(reps))


def stack(operands: Sequence[Any], axis: int = 0) -> Any:
    """Stack arrays along a new axis."""
    return jnp.stack(same_dtypes("stack", *operands), axis=axis)


def unstack(x, axis: int = 0) -> tuple[Any, ...]:
    """Return the slices of an array along an axis."""
    return tuple(jnp.moveaxis(argument(x), axis, 0))


def index_take(src, idxs: Sequence[Any], axes: Sequence[int]) -> Any:
    """Gather the slices of an array at indices along some axes, stacked in front."""
    x = argument(src)
    order = [*_dims(axes, x.ndim), *(d for d in range(x.ndim) if d not in _dims(axes, x.ndim))]
    return x.transpose(tuple(order))[tuple(idxs)]


def empty(shape, dtype=None) -> Any:
    """Return an array of zeros."""
    return asarray(np.zeros(_sizes(shape), canonical_dtype(float if dtype is None else dtype)))


def zeros_like_array(x) -> Any:
    """Return zeros with the shape and dtype of an array."""
    return full_like(x, 0)


def platform_dependent(*args, default=None, **per_platform) -> Any:
    """Call the function for the CPU, or the default."""
    function = per_platform.get("cpu", default)
    if function is None:
        raise refusal(NotImplementedError, "translation rule of platform_dependent")
    return function(*args)


def with_sharding_constraint(x, shardings=None) -> Any:
    """Return the arrays unchanged: there is one device."""
    return x


def dtype(x) -> Any:
    """Return the dtype of an array or a number."""
    return argument(x).dtype


def optimization_barrier(operand) -> Any:
    """Return the operand: nothing is reordered here."""
    return operand


# -- `gather` and `scatter` of `jax.lax`, by one array of indices for each dimension ---------------

# NOTE [windows of gather and scatter]
# Both describe windows of an operand by their starts. For each dimension of the operand we compute
# an array of indices, whose shape is the batch of windows followed by the sizes of a window,
# including dimensions of size 1. Reads and writes are then those of ``x[...]`` and ``x.at[...]``.


class GatherDimensionNumbers(NamedTuple):
    """The roles of the dimensions in a `gather`."""

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class ScatterDimensionNumbers(NamedTuple):
    """The roles of the dimensions in a `scatter`."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


class GatherScatterMode(enum.Enum):
    """The treatment of windows that are out of bounds."""

    CLIP = enum.auto()
    FILL_OR_DROP = enum.auto()
    PROMISE_IN_BOUNDS = enum.auto()
    ONE_HOT = enum.auto()

    @staticmethod
    def from_any(s) -> GatherScatterMode:
        """Return a mode by its name; None is `FILL_OR_DROP`."""
        if isinstance(s, GatherScatterMode):
            return s
        names = {"clip": "CLIP", None: "FILL_OR_DROP", "promise_in_bounds": "PROMISE_IN_BOUNDS"}
        names |= {"fill": "FILL_OR_DROP", "drop": "FILL_OR_DROP"}
        if s not in names:
            raise ValueError(f'Unknown gather mode "{s}"')
        return GatherScatterMode[names[s]]


def _places(
    shape: Sequence[int],
    indices,
    sizes: Sequence[int],
    mapped: Sequence[int],
    batching: Sequence[tuple[int, int]],
    mode,
) -> tuple[list[Any], Any]:
    """Return the positions in each dimension, and a mask of the windows in bounds, or None."""
    batch = indices.shape[:-1]
    window = len(sizes)
    places, inside = [], None
    drops = GatherScatterMode.from_any(mode) is GatherScatterMode.FILL_OR_DROP
    for dim, size in enumerate(sizes):
        line = np.arange(size).reshape([-1 if k == dim else 1 for k in range(window)])
        place: Any = line
        if dim in mapped:
            start = indices[..., list(mapped).index(dim)].astype(int)
            last = shape[dim] - size
            if drops:
                fits = (start >= 0) & (start <= last)
                inside = fits if inside is None else inside & fits
            start = jnp.clip(start, 0, last)
            place = start.reshape((*batch, *(1,) * window)) + line
        for operand_dim, index_dim in batching:
            if operand_dim == dim:
                line = np.arange(shape[dim])
                at = [-1 if k == index_dim else 1 for k in range(len(batch))]
                place = line.reshape((*at, *(1,) * window))
        places.append(place)
    return places, inside


def gather(
    operand,
    start_indices,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode=None,
    fill_value=None,
) -> Any:
    """Gather windows of an array that start at given positions.

    Parameters
    ----------
    operand : Array. The array to gather from.
    start_indices : Array. The starts of the windows; the last dimension holds the coordinates of
        one.
    dimension_numbers : GatherDimensionNumbers. The roles of the dimensions.
    slice_sizes : sequence of int. The sizes of a window.
    mode : GatherScatterMode or str, optional. The treatment of out-of-bounds windows: by default
        they move to the nearest place; ``"fill"`` makes them `fill_value`, NaN.

    Examples
    --------
    >>> numbers = jax.lax.GatherDimensionNumbers((1,), (0,), (0,))
    >>> x = jax.numpy.arange(6).reshape(3, 2)
    >>> jax.lax.gather(x, jax.numpy.array([[2], [0]]), numbers, (1, 2))
    Array([[4, 5],
           [0, 1]], dtype=int32)
    """
    x, at, numbers = argument(operand), argument(start_indices), dimension_numbers
    pairs = list(
        zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)
    )
    batch, mode = at.ndim - 1, mode or GatherScatterMode.PROMISE_IN_BOUNDS
    places, inside = _places(x.shape, at, slice_sizes, numbers.start_index_map, pairs, mode)
    found = x[tuple(places)]
    found = jnp.broadcast_to(found, (*at.shape[:-1], *slice_sizes))
    if inside is not None:
        inside = inside.reshape((*at.shape[:-1], *(1,) * len(slice_sizes)))
        missing = absent(x.dtype) if fill_value is None else fill_value
        found = jnp.where(inside, found, np.asarray(missing, x.dtype))
    gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    found = jnp.squeeze(found, tuple(batch + d for d in gone))
    order = iter(range(batch)), iter(range(batch, found.ndim))
    return found.transpose([next(order[d in numbers.offset_dims]) for d in range(found.ndim)])


def _scattering(name: str, update: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def function(
        operand,
        scatter_indices,
        updates,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode=None,
    ) -> Any:
        x, at, values = argument(operand), argument(scatter_indices), argument(updates)
        numbers, batch = dimension_numbers, at.ndim - 1
        gone = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        window = iter(values.shape[d] for d in sorted(numbers.update_window_dims))
        sizes = [1 if d in gone else next(window) for d in range(x.ndim)]
        rest = [d for d in range(values.ndim) if d not in numbers.update_window_dims]
        values = values.transpose([*rest, *sorted(numbers.update_window_dims)])
        values = values.reshape((*at.shape[:-1], *sizes))
        pairs = list(
            zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True)
        )
        mapped = numbers.scatter_dims_to_operand_dims
        places, inside = _places(x.shape, at, sizes, mapped, pairs, mode)
        if inside is not None:
            inside = inside.reshape((*at.shape[:-1], *(1,) * x.ndim))
            first = mapped[0]
            places[first] = jnp.where(inside, places[first], x.shape[first])
        if not places:
            return update(x.at[()], values)
        places = jnp.broadcast_arrays(*places, np.zeros((*at.shape[:-1], *sizes), int))[:-1]
        assert len(places[0].shape) == batch + x.ndim
        return update(x.at[tuple(places)], values)

    return named(function, name, f"{doc} windows of an array: see `gather`.")


def scatter_apply(
    operand,
    scatter_indices,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    **options,
) -> Any:
    """Apply a function to the elements of windows of an array."""
    apply = _scattering("scatter_apply", lambda at, _: at.apply(func), "Apply a function to")
    nothing = jnp.zeros(tuple(update_shape), argument(operand).dtype)
    return apply(operand, scatter_indices, nothing, dimension_numbers, **options)


_UPDATES = {
    "scatter": ("set", "Write"),
    "scatter_add": ("add", "Add to"),
    "scatter_max": ("max", "Take the larger of values and"),
    "scatter_min": ("min", "Take the smaller of values and"),
    "scatter_mul": ("multiply", "Multiply"),
    "scatter_sub": ("subtract", "Subtract from"),
}


def _by(method: str) -> Callable[..., Any]:
    return lambda at, values: getattr(at, method)(values)


NAMES: dict[str, Any] = {
    **functions_of(globals(), "start_index convert_weak"),
    **{name: _scattering(name, _by(method), doc) for name, (method, doc) in _UPDATES.items()},
}
