"""Layer 9 · compat: functions of `jax.numpy` that repeat, move, pad, and leave out elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray, convert, made, promote
from wengert.compat.jax.array import asarray as converted
from wengert.compat.jax.checks import axis_in
from wengert.compat.jax.numpy.calling import (
    call,
    finished,
    operands,
    shape_of,
    static,
    table,
    value_of,
)
from wengert.compat.jax.numpy.choosing import sized
from wengert.compat.jax.numpy.mapping import apply_along_axis
from wengert.compat.jax.numpy.shapes import ravel
from wengert.compat.jax.words import refusal
from wengert.compat.kit.signatures import signed
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T


def repeat(
    a,
    repeats,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding=None,
) -> Any:
    """Repeat each element; `total_repeat_length` truncates, or pads with the last element."""
    (x,) = operands("repeat", a)
    counts = value_of(repeats, "repeats")
    if total_repeat_length is None:
        times = counts.item() if counts.size == 1 else counts
        return call("repeat", x, times, axis, weak=x.weak_type)
    if axis is None:
        x, axis = ravel(x), 0
    size = x.shape[axis]
    places = np.repeat(np.arange(size), np.broadcast_to(counts, size))[:total_repeat_length]
    missing = total_repeat_length - len(places)
    places = np.concatenate([places, np.full(missing, max(size - 1, 0))]).astype(np.intp)
    return made(T.index_select(x, new_tensor(places), dim=axis_in(axis, x.ndim)), x.weak_type)


def tile(A, reps) -> Any:
    """Repeat the array along each axis."""
    (x,) = operands("tile", A)
    times = reps if isinstance(reps, tuple | list) else (reps,)
    return call("tile", x, tuple(static(n, "reps of tile") for n in times), weak=x.weak_type)


def resize(a, new_shape) -> Any:
    """Resize by repeating the elements as needed."""
    (x,) = operands("resize", a)
    return call("resize", x, shape_of(new_shape), weak=x.weak_type)


def roll(a, shift, axis=None) -> Any:
    """Shift elements along axes, wrapping around at the ends."""
    (x,) = operands("roll", a)
    if isinstance(shift, TensorBase) and not isinstance(shift._payload, np.ndarray | np.generic):
        return _rolled(x, shift, axis)
    by = value_of(shift, "shift of roll").tolist()
    if isinstance(by, list):
        by = sum(by) if axis is None else tuple(by)
    axis = tuple(axis) if isinstance(axis, list) else axis
    return call("roll", x, by, axis, weak=x.weak_type)


def _rolled(x, shift, axis) -> Any:
    """Like `roll`, by a shift that differs within a batch."""
    if axis is None:
        return _rolled(ravel(x), shift, 0).reshape(tuple(x.shape))
    if isinstance(axis, tuple | list) or shift.ndim:
        raise refusal(NotImplementedError, "jnp.roll by several shifts")
    size = x.shape[axis]
    places = (asarray(np.arange(size)) - shift) % size
    return x[(slice(None),) * axis_in(axis, x.ndim) + (places,)]


_STATISTICS = frozenset({"maximum", "mean", "median", "minimum"})


def _around(x, axis: int, before: int, after: int, mode: str, given: dict[str, Any]) -> Any:
    """Pad `x` with slices computed from it: statistics, or ramps to given values."""
    size = x.shape[axis]
    lead = (slice(None),) * axis
    edges = [x[(*lead, slice(0, 1))], x[(*lead, slice(size - 1, size))]]
    if mode == "linear_ramp":
        ends = given.get("end_values", 0)
        if np.ndim(ends):
            ends = np.broadcast_to(np.asarray(ends), (x.ndim, 2))[axis]
        else:
            ends = [ends, ends]
        parts = []
        for edge, end, count in zip(edges, ends, (before, after), strict=True):
            at = np.arange(count).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
            share = asarray(at / max(count, 1), float)
            ramp = end + (edge - end) * share
            parts.append(ramp if edge is edges[0] else call("flip", ramp, axis))
    else:
        lengths = given.get("stat_length")
        known = np.full((x.ndim, 2), size) if lengths is None else value_of(lengths, "stat_length")
        counts = np.minimum(np.broadcast_to(known, (x.ndim, 2))[axis], size).tolist()
        spans = [slice(0, counts[0]), slice(size - counts[1], size)]
        name = {"maximum": "max", "minimum": "min"}.get(mode, mode)
        means = [call(name, x[(*lead, span)], axis, keepdims=True) for span in spans]
        sizes = [
            tuple(n if i == axis else m for i, m in enumerate(x.shape)) for n in (before, after)
        ]
        parts = [call("broadcast_to", m, n) for m, n in zip(means, sizes, strict=True)]
    whole = x._payload.dtype.kind in "iu"
    first, last = (asarray(call("rint", p) if whole else p, x._payload.dtype) for p in parts)
    return call("concatenate", [first, x, last], axis)


def pad(array, pad_width, mode="constant", **kwargs) -> Any:
    """Pad an array.

    Parameters
    ----------
    pad_width: The numbers of values to add before and after: one number, a pair, or a pair for each
        axis.
    mode : str or callable. ``"constant"`` with ``constant_values``, ``"edge"``, ``"reflect"``,
        ``"symmetric"``, ``"wrap"``, ``"linear_ramp"``, ``"mean"``, ``"maximum"``, ``"minimum"``,
        ``"median"``, ``"empty"``.
    """
    (x,) = operands("pad", array)
    known = {"constant": "constant_values", "linear_ramp": "end_values"}
    known |= dict.fromkeys(("edge", "wrap", "empty"), "")
    known |= dict.fromkeys(("reflect", "symmetric"), "reflect_type")
    known |= dict.fromkeys(_STATISTICS, "stat_length")
    if not callable(mode):
        if mode not in known:
            raise NotImplementedError(f"Unimplemented padding mode '{mode}' for np.pad.")
        unknown = set(kwargs) - {known[mode]}
        if unknown:
            raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    if not x.ndim:
        return x
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * x.ndim
        for axis, both in pad_width.items():
            pairs[axis] = (both, both) if isinstance(both, int) else tuple(both)
        pad_width = pairs
    widths = value_of(pad_width, "pad_width")
    if widths.size and widths.dtype.kind not in "iu":
        raise TypeError(f"`pad_width` must be of integral type: {pad_width!r}")
    widths = np.broadcast_to(widths, (x.ndim, 2)).astype(int)
    if mode == "empty":
        mode = "constant"
    if callable(mode):
        x = call("pad", x, widths.tolist())
        for axis, both in enumerate(widths.tolist()):
            x = apply_along_axis(mode, axis, x, both, axis, kwargs)
        return x
    if mode in _STATISTICS or mode == "linear_ramp":
        for axis, (before, after) in enumerate(widths.tolist()):
            x = _around(x, axis, before, after, mode, kwargs)
        return x
    if "constant_values" in kwargs and not isinstance(kwargs["constant_values"], list | tuple):
        kwargs["constant_values"] = convert(asarray(kwargs["constant_values"]), x._payload.dtype)
    return call("pad", x, widths.tolist(), mode, weak=x.weak_type, **kwargs)


def delete(arr, obj, axis: int | None = None, *, assume_unique_indices: bool = False) -> Any:
    """Return an array without some of its slices."""
    (x,) = operands("delete", arr)
    where = obj if isinstance(obj, slice) else value_of(obj, "obj of delete")
    at = where if isinstance(where, slice) or where.ndim else where.item()
    return call("delete", x, at, axis, weak=x.weak_type)


def insert(arr, obj, values, axis: int | None = None) -> Any:
    """Return an array with values inserted."""
    x, new = operands("insert", arr, values)
    where = obj if isinstance(obj, slice) else value_of(obj, "obj of insert")
    new = asarray(new, x._payload.dtype)
    at = where if isinstance(where, slice) or where.ndim else where.item()
    return call("insert", x, at, new, axis, weak=x.weak_type)


def trim_zeros(filt, trim: str = "fb", axis=None) -> Any:
    """Remove the zeros at the ends, along all axes or the given ones."""
    (x,) = operands("trim_zeros", filt)
    value_of(x, "the argument of trim_zeros")
    return call("trim_zeros", x, trim, axis)


def ix_(*args) -> tuple[Any, ...]:
    """Combine index vectors into an index over all their combinations."""
    given = operands("ix_", *args)
    if any(x.ndim != 1 for x in given):
        raise ValueError("Arguments to jax.numpy.ix_ must be 1-dimensional")
    return call("ix_", *given)


def unravel_index(indices, shape) -> tuple[Any, ...]:
    """Convert indices of the flattened array to coordinates."""
    (x,) = operands("unravel_index", indices)
    sizes = shape_of(shape)
    total = math.prod(sizes)
    place = _within(x + total * (x < 0), 0, total - 1)
    found = []
    for size in reversed(sizes):
        found.append(place % size)
        place = place // size
    return tuple(reversed(found))


def _within(x, low: int, high: int) -> Any:
    """Clamp `x` to bounds."""
    return made(T.clamp(x, min=low, max=high))


def ravel_multi_index(multi_index, dims, mode="raise", order="C", *, dtype=None) -> Any:
    """Convert coordinates to indices of the flattened array."""
    parts: Any = [value_of(part, "multi_index") for part in multi_index]
    return asarray(np.ravel_multi_index(parts, shape_of(dims), mode=mode, order=order), dtype)


# -- functions of `jax.numpy` that make indices, grids and windows; and files ----------------------


def _window(name: str, parameters: str = "M") -> Callable[..., Any]:
    def compute(given: dict[str, Any]) -> Any:
        numbers = {key: value_of(x, name).item() for key, x in given.items()}
        return converted(getattr(np, name)(**numbers), float)

    return signed(name, parameters, compute)


def _places(name: str, parameters: str) -> Callable[..., Any]:
    def compute(given: dict[str, Any]) -> Any:
        size = given.pop("size", None)
        numbers = {key: x if callable(x) else static(x, name) for key, x in given.items()}
        return finished(tuple(sized(at, size, 0) for at in getattr(np, name)(**numbers)))

    return signed(name, parameters, compute)


def _places_from(name: str) -> Callable[..., Any]:
    def function(arr, k: int = 0) -> Any:
        sizes = arr.shape
        if len(sizes) != 2:
            raise ValueError("Only 2-D inputs are accepted")
        return finished(getattr(np, name)(sizes[-2], k=k, m=sizes[-1]))

    return function


def diag_indices_from(arr) -> Any:
    """Return the indices of the diagonal of an array."""
    if arr.ndim < 2 or len(set(arr.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return finished(np.diag_indices(arr.shape[0], arr.ndim))


def load(file, *args, **kwargs) -> Any:
    """Load the array, or arrays, that `save` or `savez` wrote."""
    found = np.load(file, *args, **kwargs)
    return converted(found) if isinstance(found, np.ndarray) else found


def save(file, arr, allow_pickle: bool = True) -> None:
    """Write an array to a file."""
    np.save(file, np.asarray(arr), allow_pickle=allow_pickle)


def savez(file, *args, allow_pickle: bool = True, **kwds) -> None:
    """Write several arrays to one file."""
    named: Any = {key: np.asarray(value) for key, value in kwds.items()}
    # `allow_pickle` has no effect on numbers, and NumPy 2.0 would save it as an array of that name
    np.savez(file, *map(np.asarray, args), **named)


class _Grid:
    """The class of ``mgrid`` and ``ogrid``: coordinates from slices."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__doc__ = f"Coordinate grids from slices, like `numpy.{name}`: ``{name}[0:3, 0:2]``."

    def __getitem__(self, key) -> Any:
        found = getattr(np, self.name)[key]
        return [converted(x) for x in found] if isinstance(found, tuple) else converted(found)


class _Joined:
    """The class of ``r_`` and ``c_``: join arrays, numbers and slices along an axis.

    A leading string gives the axis, the minimum number of dimensions, and the position of the
    dimensions of an array that has fewer.
    """

    def __init__(self, name: str, *how: int) -> None:
        self.name, self._how = name, how
        self.__doc__ = f"Concatenation by indexing, like `numpy.{name}`: ``{name}[x, 0, 1:4]``."

    def __getitem__(self, key) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        axis, least, start = self._how
        if isinstance(parts[0], str):
            text, parts = parts[0], parts[1:]
            if text in ("r", "c"):
                found = self[parts]
                if found.ndim > 1:
                    return found
                return found[:, None] if text == "c" else found[None]
            axis, least, start = [*map(int, text.split(",")), *self._how[len(text.split(",")) :]]
        given = promote(
            *[converted(np.r_[part] if isinstance(part, slice) else part) for part in parts]
        )
        wide = []
        for x in (call("atleast_1d", part) for part in given):
            missing = max(least - x.ndim, 0)
            x = x.reshape((*[1] * missing, *x.shape))
            if missing and start != -1:
                # JAX turns all dimensions, where NumPy moves those of the array
                turn, axes = least - abs(least + start + 1) % least, [*range(least)]
                x = x.transpose(axes[turn:] + axes[:turn])
            wide.append(x)
        return call("concatenate", wide, axis)


_INDICES = {
    "diag_indices": "n, ndim=2",
    "mask_indices": "n, mask_func, k=0, *, size=None",
    "tril_indices": "n, k=0, m=None",
    "triu_indices": "n, k=0, m=None",
}
NAMES = table(
    globals(),
    made={
        **{name: _places(name, parameters) for name, parameters in _INDICES.items()},
        "tril_indices_from": _places_from("tril_indices"),
        "triu_indices_from": _places_from("triu_indices"),
        **{name: _window(name) for name in ("bartlett", "blackman", "hamming", "hanning")},
        "kaiser": _window("kaiser", "M, beta"),
    },
)
NAMES |= {name: _Grid(name) for name in ("mgrid", "ogrid")}
NAMES |= {"r_": _Joined("r_", 0, 1, -1), "c_": _Joined("c_", -1, 2, 0)}
