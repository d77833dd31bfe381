"""Layer 9 · compat: JAX's indexing, for reading and for ``x.at[index]``.

NOTE [indices that never raise]
If an index is out of bounds, reading takes the nearest element and writing drops the value, unless
``mode`` says otherwise. What is read so has no derivative, like what is written, unless the mode
is ``"clip"``, or the index is a single number. An index with more than ints and slices becomes one
array of positions in the flat array. Out-of-bounds positions become the one after the last, and the
operation appends an element there.
"""

from __future__ import annotations

import copy
import math
import operator
from typing import Any

import numpy as np

from wengert.compat.jax.checks import broadcast
from wengert.compat.jax.errors import NonConcreteBooleanIndexError
from wengert.compat.jax.values import innermost, is_lifted
from wengert.compat.jax.words import refusal
from wengert.interp.levels import Lifted
from wengert.ops.index import getitem
from wengert.ops.shape import reshape
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T
from wengert.tensor.tensor import Tensor

_SIMPLE = frozenset({int, slice, type(None), type(Ellipsis)})
_LISTS = (
    "Using a non-tuple sequence for multidimensional indexing is not allowed; use "
    "`arr[array(seq)]` instead of `arr[seq]`: jnp.array({!r}) is an index."
)


def _simple(part) -> Any:
    """Normalize one part of an index to int, slice, None, Ellipsis, bool, or an array."""
    if part.__class__ in _SIMPLE:
        if part.__class__ is slice and not (
            _is_bound(part.start) and _is_bound(part.stop) and _is_bound(part.step)
        ):
            return slice(*map(_bound, (part.start, part.stop, part.step)))
        return part
    if isinstance(part, bool | np.bool_):
        return bool(part)
    if isinstance(part, TensorBase):
        if isinstance(part._payload, Lifted):
            if is_lifted(part._payload) or part._payload.dtype.kind != "b":
                return part
            # the number of selected elements differs from call to call
            part = np.asarray(part._payload)
        else:
            part = part._payload
    elif isinstance(part, str):
        raise TypeError(f"JAX does not support string indexing; got idx={part!r}")
    elif isinstance(part, list | tuple | range):
        part = np.asarray([_value(p) for p in part])
        if not part.size:
            part = part.astype(np.intp)
    elif not isinstance(part, np.ndarray | np.generic):
        try:
            return operator.index(part)
        except TypeError:
            part = np.asarray(part)
    if part.dtype.kind not in "iub":
        raise TypeError(
            f"Indexer must have integer or boolean type, got indexer with type {part.dtype.name}"
            f"{'' if part.ndim else f' at value {part}'}: convert it, with .astype(int)"
        )
    if part.dtype.kind == "b":
        return part if part.ndim else bool(part)
    return part if part.ndim else int(part)


def _is_bound(bound) -> bool:
    return bound is None or bound.__class__ is int


def _bound(bound) -> Any:
    """Return a bound of a slice as a number."""
    return None if bound is None else operator.index(_value(bound))


def _value(part) -> Any:
    return part._payload if isinstance(part, TensorBase) else part


def _taken(part) -> int:
    """Return the number of dimensions that a part of an index consumes."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1


def parts_of(index, shape: tuple[int, ...]) -> list[Any]:
    """Split an index into parts, one per dimension of `shape`, with None and bools between."""
    if isinstance(index, list):
        raise TypeError(_LISTS.format(index))
    parts = [_simple(part) for part in (index if isinstance(index, tuple) else (index,))]
    count = sum(map(_taken, parts))
    if count > len(shape):
        raise refusal(IndexError, "Too many indices: array", len(shape), count)
    at = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(at) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    rest = [slice(None)] * (len(shape) - count)
    place = at[0] if at else len(parts)
    return [*parts[:place], *rest, *parts[place + 1 :]]


def _nearest(index: int, size: int) -> int:
    return max(0, min(index + size if index < 0 else index, size - 1))


def read(x, index) -> Any:
    """Return ``x[index]`` as a tensor.

    Raises
    ------
    TypeError: If the index is a list or contains floats or strings.
    IndexError: If there are too many indices, or a mask has another shape.
    """
    shape = x._payload.shape
    if index.__class__ is int and shape and shape[0]:
        return T.select(x, dim=0, index=_nearest(index, shape[0]))
    parts = parts_of(index, shape)
    if any(isinstance(part, np.ndarray | TensorBase | bool) for part in parts):
        return nearest(x, parts)
    kept: list[Any] = []
    flips: list[int] = []
    dim = out = 0
    for part in parts:
        if isinstance(part, int):
            if not shape[dim]:
                raise IndexError(f"index {part} of a dimension {dim} that has no elements")
            part = _nearest(part, shape[dim])
        elif part is not None and part.step is not None and part.step < 0:
            places = range(*part.indices(shape[dim]))
            first, last = (places[-1], places[0]) if len(places) else (0, -1)
            part = slice(first, last + 1, -part.step)
            flips.append(out)
        kept.append(part)
        dim += part is not None
        out += not isinstance(part, int)
    result = getitem(x, tuple(kept))
    return T.flip(result, dims=tuple(flips)) if flips else result


def nearest(x, parts: list[Any], wrap_negative=True) -> Any:
    """Return the elements at places, and the nearest ones, without derivatives, for others."""
    shape = x._payload.shape
    places = Places(shape, parts, "clip", wrap_negative, taken_apart=True)
    found = places.of(x)
    if not places.moved or not (is_lifted(x._payload) or x._edge is not None):
        return found
    places = Places(shape, parts, "fill", wrap_negative, taken_apart=True)
    outside = T.eq(_tensor(places.places), places.size)
    return T.where(outside, Tensor.detach(found), found)


def absent(dtype: np.dtype[Any]) -> Any:
    """Return the fill value for an element that does not exist."""
    if dtype.kind in "fcV":
        return np.nan
    if dtype.kind == "i":
        return np.iinfo(dtype).min
    return np.iinfo(dtype).max if dtype.kind == "u" else True


def checked_mode(mode, default: str) -> str:
    """Return the mode for out-of-bounds indices: ``"clip"`` or ``"fill"`` (also for ``"drop"``).

    Raises
    ------
    ValueError: If `mode` is unknown.
    """
    if mode is None:
        return default
    name = str(getattr(mode, "name", mode)).lower()
    known = {"promise_in_bounds": default, "clip": "clip", "fill": "fill", "drop": "fill"}
    known |= {"fill_or_drop": "fill", "wrap": "wrap", "one_hot": default}
    if name not in known:
        raise refusal(ValueError, "Unknown mode {!r} of out-of-bound", mode)
    return known[name]


class Places:
    """The positions in the flat array that an index selects, in the shape of the result.

    Parameters
    ----------
    shape: The shape of the array.
    index: The user's index; or, if `taken_apart`, the list of its parts.
    mode: The treatment of out-of-bounds positions: the nearest element (``"clip"``), none
        (``"fill"``), or modulo the size (``"wrap"``).
    wrap_negative: Whether negative positions count from the end.

    Attributes
    ----------
    moved : bool. Whether a position may have been out of bounds, if the mode is ``"clip"``.
    """

    def __init__(
        self, shape: tuple[int, ...], index, mode: str, wrap_negative=True, taken_apart=False
    ) -> None:
        self.size = math.prod(shape)
        self.mode = mode
        self.wrap_negative = wrap_negative
        self.moved = False
        parts = index if taken_apart else parts_of(index, shape)
        given: list[tuple[int | None, Any]] = []
        dim = 0
        for part in parts:
            given += self._coordinates(part, dim, shape)
            dim += _taken(part)
        self._lay_out(given, shape)

    def _coordinates(self, part, dim: int, shape: tuple[int, ...]) -> list[Any]:
        """Return pairs of a dimension (None for a new one) and a range or array of positions."""
        if part is None:
            return [(None, range(1))]
        if isinstance(part, bool):
            return [(None, np.zeros(int(part), np.intp))]
        size = shape[dim]
        if isinstance(part, slice):
            return [(dim, range(*part.indices(size)))]
        if part.__class__ is int:
            return [(dim, self._within(np.asarray(part), size))]
        if isinstance(part, TensorBase):
            if part._payload.dtype.kind == "b":
                raise refusal(NonConcreteBooleanIndexError, "Array boolean indices must")
            return [(dim, self._within_batch(part, size))]
        if part.dtype.kind != "b":
            return [(dim, self._within(part, size))]
        taken = shape[dim : dim + part.ndim]
        if part.shape != taken:
            raise refusal(IndexError, "boolean index did not match", dim, part, list(taken))
        return [(dim + i, found) for i, found in enumerate(part.nonzero())]

    def _within(self, places, size: int) -> Any:
        places = places.astype(np.intp)
        if self.mode == "wrap" and size:
            return places % size
        if self.wrap_negative:
            places = np.where(places < 0, places + size, places)
        if self.mode == "clip":
            within = np.clip(places, 0, max(size - 1, 0))
            self.moved = self.moved or not np.array_equal(within, places)
            return within
        return np.where((places < 0) | (places >= size), -1, places)

    def _within_batch(self, part, size: int) -> Any:
        places = T.to_copy(part, dtype=np.dtype(np.int64))
        if self.mode == "wrap":
            return T.remainder(places, size)
        if self.wrap_negative:
            places = T.where(T.lt(places, 0), T.add(places, size), places)
        if self.mode == "clip":
            self.moved = True  # perhaps
            return T.clamp(places, min=0, max=size - 1)
        outside = T.logical_or(T.lt(places, 0), T.ge(places, size))
        return T.where(outside, -1, places)

    def _lay_out(self, given: list[Any], shape: tuple[int, ...]) -> None:
        """Combine the coordinates of all dimensions in NumPy's order."""
        arrays = [i for i, (_, places) in enumerate(given) if not isinstance(places, range)]
        common = broadcast(*[tuple(given[i][1].shape) for i in arrays], of=" of indices")
        together = not arrays or arrays[-1] - arrays[0] + 1 == len(arrays)
        first = arrays[0] if arrays and together else 0
        before = sum(isinstance(places, range) for _, places in given[:first])
        sizes = [len(places) for _, places in given if isinstance(places, range)]
        self.shape = (*sizes[:before], *common, *sizes[before:])
        strides = [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]
        total: Any = np.zeros((1,) * len(self.shape), np.intp)
        missing: Any = np.zeros((1,) * len(self.shape), bool)
        at = 0
        for dim, places in given:
            if isinstance(places, range):
                axis = at if at < before else at + len(common)
                at += 1
                laid: Any = np.asarray(places, np.intp)
                laid = laid.reshape([-1 if i == axis else 1 for i in range(len(self.shape))])
            else:
                laid = places
                after = len(self.shape) - before - len(common)
                ones = (1,) * (len(common) - len(places.shape))
                wide = (*(1,) * before, *ones, *places.shape, *(1,) * after)
                laid = reshape(laid, wide) if isinstance(laid, TensorBase) else laid.reshape(wide)
                if self.mode == "fill":
                    missing = _either(missing, laid)
            if dim is not None:
                total = _plus(total, laid, strides[dim])
        self.places = _chosen(missing, self.size, total)
        self.batched = isinstance(self.places, TensorBase)
        if not self.batched:
            self.places = np.broadcast_to(self.places, self.shape)
        self.open = self.batched and self.mode == "fill"
        if not self.batched and self.places.size:
            self.open = bool((self.places == self.size).any()) or not self.size

    def _flat(self, x, last) -> Any:
        """Return `x` flattened, with one more element at the end if an index refers to it."""
        flat = reshape(x, (-1,))
        if not self.open:
            return flat
        extra = new_tensor(np.full(1, last, x._payload.dtype))
        return T.cat(flat, extra, dim=0)

    def of(self, x, missing=0) -> Any:
        """Return the elements of `x` at the positions, with `missing` where there is none."""
        flat = self._flat(x, missing)
        if not self.batched:
            return T.index(flat, indices=(self.places,))
        wide = T.expand(self.places, shape=self.shape)
        return T.index(flat, indices=(wide._payload,))

    def put(self, x, values, accumulate=False) -> Any:
        """Return `x` with new values at the positions, or with values added there."""
        flat = self._flat(x, 0)
        places = self.places
        if self.batched:
            places = T.expand(places, shape=self.shape)._payload
        done = T.index_put(flat, values, indices=(places,), accumulate=accumulate)
        if self.open:
            done = T.slice(done, dim=0, start=0, end=self.size, step=1)
        return reshape(done, x._payload.shape)

    def rounds(self) -> list[tuple[Places, Any]]:
        """Split the positions into rounds without duplicates, with masks; None if one round is
        enough.
        """
        if self.batched:
            if is_lifted(self.places._payload):
                return self._rounds_of_batch()
            known = copy.copy(self)
            known.places = np.broadcast_to(np.asarray(self.places._payload), self.shape)
            known.batched = False
            return known.rounds()
        flat = self.places.reshape(-1)
        order = np.argsort(flat, kind="stable")
        ordered = flat[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: ordered.size])
        counts = np.diff(np.r_[starts, ordered.size])
        if not counts.size or counts.max() == 1:
            return [(self, None)]
        nth = np.empty(flat.size, np.intp)
        nth[order] = np.arange(flat.size) - np.repeat(starts, counts)
        nth = nth.reshape(self.shape)
        return [(self._only(nth == i), nth == i) for i in range(counts.max())]

    def _rounds_of_batch(self) -> list[tuple[Places, Any]]:
        """Like `rounds`, for positions that differ within a batch; a round masks other elements
        out.
        """
        places = T.expand(self.places, shape=self.shape)
        flat = reshape(places, (-1,))
        numbers = np.arange(flat._payload.shape[0])
        if numbers.size < 2:
            return [(self, None)]
        order = T.argsort(flat, dim=0, descending=False)
        ordered = T.index(flat, indices=(order._payload,))
        before = T.slice(ordered, dim=0, start=0, end=numbers.size - 1, step=1)
        same = T.eq(T.slice(ordered, dim=0, start=1, end=numbers.size, step=1), before)
        starts = T.where(same, -1, new_tensor(numbers[1:]))
        starts = T.cat(new_tensor(numbers[:1]), starts, dim=0)
        nth = T.sub(new_tensor(numbers), T.argcummax(starts, dim=0))
        nth = T.index_put(new_tensor(numbers), nth, indices=(order._payload,), accumulate=False)
        nth = T.where(T.eq(flat, self.size), 0, nth)
        rounds = int(innermost(nth).max()) + 1
        if rounds == 1:
            return [(self, None)]
        nth = reshape(nth, self.shape)
        parts = []
        for i in range(rounds):
            part = copy.copy(self)
            part.places, part.open = T.where(T.eq(nth, i), places, self.size), True
            parts.append((part, None))
        return parts

    def _only(self, chosen) -> Places:
        part = copy.copy(self)
        part.places = self.places[chosen]
        part.shape = part.places.shape
        return part


def _plus(total, places, stride: int) -> Any:
    if isinstance(total, TensorBase) or isinstance(places, TensorBase):
        return T.add(_tensor(total), T.mul(_tensor(places), stride))
    return total + places * stride


def _either(missing, places) -> Any:
    if isinstance(missing, TensorBase) or isinstance(places, TensorBase):
        return T.logical_or(_tensor(missing), T.lt(_tensor(places), 0))
    return missing | (places < 0)


def _chosen(missing, size: int, places) -> Any:
    if isinstance(missing, TensorBase) or isinstance(places, TensorBase):
        return T.where(_tensor(missing), size, _tensor(places))
    return np.where(missing, size, places) if missing.any() else places


def _tensor(value) -> Any:
    return value if isinstance(value, TensorBase) else new_tensor(np.asarray(value))
