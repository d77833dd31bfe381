"""Layer 9 · compat: `gather` and `scatter` of `jax.lax`, by one array of places for each dimension.

NOTE [windows of gather and scatter]
Both name windows of an operand by where they start. Each dimension of the operand gets an array of
places, of a shape that is the batch of windows and then the sizes of a window, dimensions of size 1
included; reading and writing are then those of ``x[...]`` and ``x.at[...]``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.base.sections import fill_sections
from wengert.compat.jax.tracing import argument
from wengert.compat.kit.namespaces import functions_of


class GatherDimensionNumbers(NamedTuple):
    """Which dimensions of what `gather` takes are which."""

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which dimensions of what `scatter` takes are which."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


class GatherScatterMode(enum.Enum):
    """What becomes of windows that do not lie within the operand."""

    CLIP = enum.auto()
    FILL_OR_DROP = enum.auto()
    PROMISE_IN_BOUNDS = enum.auto()
    ONE_HOT = enum.auto()

    @staticmethod
    def from_any(s) -> GatherScatterMode:
        """A mode by its name; None is `FILL_OR_DROP`."""
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
    """The places in each dimension, and which windows lie within; None if all do."""
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
    """Windows of an array, which start at given places.

    Parameters
    ----------
    operand : Array. The array.
    start_indices : Array. Where windows start: the last dimension holds the places of one.
    dimension_numbers : GatherDimensionNumbers. Which dimensions are which.
    slice_sizes : sequence of int. The sizes of a window.
    mode : GatherScatterMode or str, optional. What becomes of windows that are not within: by
        default they are `fill_value`, NaN.

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
    batch = at.ndim - 1
    places, inside = _places(x.shape, at, slice_sizes, numbers.start_index_map, pairs, mode)
    found = x[tuple(places)]
    found = jnp.broadcast_to(found, (*at.shape[:-1], *slice_sizes))
    if inside is not None:
        inside = inside.reshape((*at.shape[:-1], *(1,) * len(slice_sizes)))
        found = jnp.where(inside, found, _fill(x.dtype, fill_value))
    gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    found = jnp.squeeze(found, tuple(batch + d for d in gone))
    order = iter(range(batch)), iter(range(batch, found.ndim))
    return found.transpose([next(order[d in numbers.offset_dims]) for d in range(found.ndim)])


def _fill(dtype, value) -> Any:
    if value is None:
        if dtype.kind == "b":
            value = True
        elif dtype.kind in "iu":
            value = np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max
        else:
            value = np.nan
    return np.asarray(value, dtype)


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

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc} windows of an array: see `gather`."
    return function


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


INDEXING: dict[str, Any] = {
    **functions_of(globals()),
    **{name: _scattering(name, _by(method), doc) for name, (method, doc) in _UPDATES.items()},
}

fill_sections(globals())
