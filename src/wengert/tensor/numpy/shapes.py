"""Layer 6 · tensor: counterparts of NumPy's functions that arrange elements.

They are found by name (see NOTE [counterparts]). Each computes what NumPy's function of that name
does, and is differentiable with respect to the arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.base.device import check_device
from wengert.ops import arrange, expand, join, permute, pointwise, shape, split
from wengert.ops.clone import clone
from wengert.ops.index import index_put
from wengert.ops.strided import in_shape
from wengert.tape.base import TensorBase
from wengert.tape.operands import cast
from wengert.tensor.numpy.counterparts import (
    all_axes,
    as_dtype,
    check_cast,
    common,
    counterpart,
    counterparts,
    dtype_of,
    floating,
    known,
    late,
    normal_axis,
    one_axis,
    tensor,
    values,
    wrapped,
)


def in_order(a: Any, order: str, name: str) -> None:
    """Refuse memory orders in which a tensor's elements are never read."""
    if order not in ("C", "K", "A"):
        raise NotImplementedError(
            f"{name} of a tensor with order={order!r}: only order='C' is there; transpose first"
        )


_COPIED = "Unable to avoid creating a copy while reshaping."


@counterpart("reshape")
def _reshape(a: Any, /, shape_: Any = None, order: str = "C", **given: Any) -> Any:
    to = given.pop("shape", given.pop("newshape", shape_))
    a, copy = tensor(a), given.pop("copy", None)
    if copy:
        a = clone(a)
    if order == "F":
        to = (to,) if isinstance(to, int) else tuple(to)
        flat = shape.reshape(permute.permute(a, tuple(reversed(range(a.ndim)))), (-1,))
        if -1 in to:
            known = -math.prod(to)
            to = tuple(a._payload.size // known if n == -1 else n for n in to)
        back = shape.reshape(flat, tuple(reversed(to)))
        if copy is False and not np.shares_memory(back._payload, a._payload):
            raise ValueError(_COPIED)
        return permute.permute(back, tuple(reversed(range(len(to)))))
    in_order(a, order, "numpy.reshape")
    to = (to,) if isinstance(to, int) else tuple(to)
    try:
        return (shape.view if copy is False else shape.reshape)(a, to)
    except RuntimeError as error:
        raise ValueError(_COPIED) if "view size" in str(error) else error from None


@counterpart("transpose", "permute_dims")
def _transpose(a: Any, axes: Any = None) -> Any:
    a = tensor(a)
    return permute.permute(a, tuple(reversed(range(a.ndim))) if axes is None else tuple(axes))


@counterpart("matrix_transpose", "linalg.matrix_transpose")
def _matrix_transpose(x: Any, /) -> Any:
    return permute.transpose(tensor(x), -2, -1)


@counterpart("rollaxis")
def _rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    a = tensor(a)
    axis = normal_axis(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    return permute.movedim(a, axis, start - 1 if axis < start else start)


@counterpart("expand_dims")
def _expand_dims(a: Any, axis: Any) -> Any:
    a = tensor(a)
    several = axis if isinstance(axis, tuple | list) else (axis,)
    for place in sorted(all_axes(several, a.ndim + len(several))):
        a = shape.unsqueeze(a, place)
    return a


@counterpart("squeeze")
def _squeeze(a: Any, axis: Any = None) -> Any:
    a = tensor(a)
    if axis is None:
        return shape.squeeze(a)
    axes = all_axes(axis, a.ndim)
    if any(a.shape[n] != 1 for n in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return shape.squeeze(a, axes)


@counterpart("broadcast_to")
def _broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    return expand.broadcast_to(tensor(array), (shape,) if isinstance(shape, int) else tuple(shape))


@counterpart("broadcast_arrays")
def _broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    return tuple(expand.broadcast_tensors(*[tensor(value) for value in args]))


@counterpart("atleast_1d")
def _atleast_1d(*arys: Any) -> Any:
    return _each(lambda a: shape.reshape(a, (1,)) if a.ndim == 0 else a, arys)


@counterpart("atleast_2d")
def _atleast_2d(*arys: Any) -> Any:
    return _each(lambda a: a if a.ndim > 1 else shape.reshape(a, (1, -1)), arys)


@counterpart("atleast_3d")
def _atleast_3d(*arys: Any) -> Any:
    def three(a: Any) -> Any:
        if a.ndim < 2:
            return shape.reshape(a, (1, -1, 1))
        return shape.unsqueeze(a, 2) if a.ndim == 2 else a

    return _each(three, arys)


def _each(function: Callable[[Any], Any], arrays: Sequence[Any]) -> Any:
    made = tuple(function(tensor(array)) for array in arrays)
    return made[0] if len(made) == 1 else made


# -- joining and splitting -------------------------------------------------------------------------


@counterpart("concatenate", "concat")
def _concatenate(
    arrays: Any, /, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: Any = None
) -> Any:
    parts = _parts(arrays, dtype, casting)
    if axis is None:
        return join.cat([shape.reshape(part, (-1,)) for part in parts], 0)
    if parts[0].ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return join.cat(parts, axis)


def _square(m: Any) -> Any:
    """Return matrices; a vector as rows of a square one, as ``numpy.tril`` takes it."""
    x = tensor(m)
    return expand.broadcast_to(x, (x.shape[0],) * 2) if x.ndim == 1 else x


def _parts(arrays: Any, dtype: Any = None, casting: Any = None) -> list[Any]:
    parts = common(*arrays)
    if dtype is None:
        return parts
    check_cast("array data", parts[0]._payload.dtype, dtype_of(dtype), casting or "same_kind")
    return [as_dtype(part, dtype) for part in parts]


@counterpart("stack")
def _stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: Any = None
) -> Any:
    return join.stack(_parts(arrays, dtype, casting), axis)


@counterpart("block")
def _block(arrays: Any) -> Any:
    def depth(value: Any) -> int:
        return 1 + depth(value[0]) if isinstance(value, list) else 0

    levels = depth(arrays)

    def leaves(value: Any) -> list[Any]:
        return (
            [leaf for part in value for leaf in leaves(part)]
            if isinstance(value, list)
            else [value]
        )

    ndim = max(levels, *[tensor(leaf).ndim for leaf in leaves(arrays)])

    def joined(value: Any, level: int) -> Any:
        if isinstance(value, list):
            return _concatenate([joined(part, level + 1) for part in value], -(levels - level))
        value = tensor(value)
        return shape.reshape(value, (1,) * (ndim - value.ndim) + tuple(value.shape))

    return joined(arrays, 0)


@counterpart("array_split")
def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    sections = indices_or_sections
    cuts = sections if isinstance(sections, int) else tuple(int(n) for n in sections)
    return list(split.tensor_split(tensor(ary), cuts, axis))


@counterpart("split")
def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    ary, sections = tensor(ary), indices_or_sections
    if isinstance(sections, int) and ary.shape[normal_axis(axis, ary.ndim)] % sections:
        raise ValueError("array split does not result in an equal division")
    return _array_split(ary, sections, axis)


def _split_along(name: str, axis: int, least: int) -> Callable[..., Any]:
    """Return `hsplit`, `vsplit` or `dsplit`; a vector is split along what it has."""

    def split_along(ary: Any, indices_or_sections: Any) -> Any:
        ary = tensor(ary)
        if ary.ndim < least:
            raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
        return _split(ary, indices_or_sections, min(axis, ary.ndim - 1))

    return split_along


@counterpart("delete")
def _delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    a, dim = one_axis(arr, axis)
    kept = np.delete(np.arange(a.shape[dim]), obj)
    return a[(*(slice(None),) * dim, kept)]


@counterpart("insert")
def _insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    a, dim = one_axis(arr, axis)
    values = as_dtype(values, a._payload.dtype)
    count = a.shape[dim]
    # the source of each element of the result: NumPy inserts markers into the positions
    many = obj if isinstance(obj, slice) or np.ndim(obj) else [obj]
    new = len(np.insert(np.arange(count), many, -1)) - count
    marked = np.insert(np.arange(count), many, -1 - np.arange(new))
    places = np.argsort(-marked)[count:]
    sizes = list(a.shape)
    sizes[dim] = len(places)
    if np.ndim(obj) == 0 and not isinstance(obj, slice) and values.ndim:
        values = permute.movedim(
            shape.reshape(values, (1,) * (a.ndim - values.ndim) + tuple(values.shape)), 0, dim
        )
        extra = values.shape[dim]
        marked = np.insert(np.arange(count), [obj] * extra, -1)
        places = np.flatnonzero(marked < 0)
        sizes[dim] = extra
    filled = a[(*(slice(None),) * dim, np.where(marked < 0, 0, marked))] if count else None
    values = expand.broadcast_to(values, tuple(sizes))
    if filled is None:
        return values
    index = (
        *[np.arange(n).reshape(-1, *[1] * (a.ndim - i - 1)) for i, n in enumerate(filled.shape)],
    )
    index = (
        *index[:dim],
        places.reshape(-1, *[1] * (a.ndim - dim - 1)),
        *index[dim + 1 :],
    )
    return index_put(filled, tuple(tensor(i) for i in index), values)


# -- reordering and repeating ----------------------------------------------------------------------


@counterpart("flip")
def _flip(m: Any, axis: Any = None) -> Any:
    m = tensor(m)
    return arrange.flip(m, all_axes(axis, m.ndim))


@counterpart("roll")
def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    if axis is not None and np.ndim(axis) != np.ndim(shift):
        shift, axis = (
            np.broadcast_to(v, np.broadcast_shapes(np.shape(shift), np.shape(axis))).tolist()
            for v in (shift, axis)
        )
    return arrange.roll(tensor(a), shift, axis)


@counterpart("rot90")
def _rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    m = tensor(m)
    first, second = all_axes(tuple(axes), m.ndim)
    if k % 4 == 0:
        return m
    if k % 4 == 2:
        return arrange.flip(m, (first, second))
    turned = permute.transpose(m, first, second)
    return arrange.flip(turned, (first,)) if k % 4 == 1 else arrange.flip(turned, (second,))


@counterpart("repeat")
def _repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    a, dim = one_axis(a, axis if np.ndim(a) else None)
    counts = np.broadcast_to(np.asarray(repeats), (a.shape[dim],))
    return a[(*(slice(None),) * dim, np.repeat(np.arange(a.shape[dim]), counts))]


@counterpart("tile")
def _tile(A: Any, reps: Any) -> Any:
    return arrange.tile(tensor(A), (reps,) if isinstance(reps, int) else tuple(reps))


@counterpart("resize")
def _resize(a: Any, new_shape: Any) -> Any:
    flat = shape.reshape(tensor(a), (-1,))
    new_shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    count = flat.shape[0]
    if not count:
        return tensor(np.zeros(new_shape, flat._payload.dtype))
    return flat[np.arange(math.prod(new_shape)) % count].reshape(new_shape)


@counterpart("diagonal")
def _diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return arrange.diagonal(tensor(a), offset, axis1, axis2)


@counterpart("pad")
def _pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    a = tensor(array)
    if callable(mode) or mode not in _PADDED_BY_PLACE | {"constant"}:
        raise NotImplementedError(
            f"numpy.pad of a tensor with mode={mode!r}: write it with np.concatenate; modes "
            "constant, edge, reflect, symmetric, wrap and empty are there"
        )
    if mode in ("reflect", "symmetric") and kwargs.get("reflect_type") == "odd":
        return _pad_odd(a, pad_width, mode)
    places = np.arange(a._payload.size).reshape(a.shape)
    if mode == "constant":
        values = kwargs.pop("constant_values", 0)
        at = np.pad(places, pad_width, constant_values=-1)
        if isinstance(values, TensorBase) and not values._payload.ndim:
            frame = expand.broadcast_to(cast(values, a._payload.dtype), at.shape)
        else:
            zeros = np.zeros(a.shape, a._payload.dtype)
            frame = tensor(np.pad(zeros, pad_width, constant_values=values))
        return index_put(frame, (tensor(at >= 0),), shape.reshape(a, (-1,)))
    at = np.pad(places, pad_width, mode=mode, **kwargs)
    if mode == "empty":
        at = np.pad(places, pad_width, mode="edge")
    return shape.reshape(a, (-1,))[at]


def _pad_odd(a: Any, pad_width: Any, mode: str) -> Any:
    """Pad by twice the edge less what it reflects, one dimension after the other."""
    for dim, width in enumerate(np.broadcast_to(pad_width, (a.ndim, 2)).tolist()):
        if max(width) >= a.shape[dim] + (mode == "symmetric"):
            raise NotImplementedError(
                f"numpy.pad of a tensor with reflect_type='odd' by {max(width)} elements, which is "
                f"farther than dimension {dim} with {a.shape[dim]} reaches: pad in two steps"
            )
        widths = [width if d == dim else (0, 0) for d in range(a.ndim)]
        a = _pad(a, widths, "edge") * 2 - _pad(a, widths, mode)
    return a


_PADDED_BY_PLACE = {"edge", "reflect", "symmetric", "wrap", "empty"}


@counterpart("trim_zeros")
def _trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    a = tensor(filt)
    kept = np.nonzero(known(a))
    index: list[Any] = [slice(None)] * a.ndim
    for dim in all_axes(axis, a.ndim):
        if not kept[dim].size:
            index[dim] = slice(0, 0)
            continue
        first = kept[dim].min() if "f" in trim.lower() else 0
        last = kept[dim].max() + 1 if "b" in trim.lower() else a.shape[dim]
        index[dim] = slice(int(first), int(last))
    return a[tuple(index)]


@counterpart("full_like")
def _full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    device: Any = None,
) -> Any:
    check_device(device)
    a = tensor(a)
    value = as_dtype(fill_value, a._payload.dtype if dtype is None else dtype)
    sizes = a._payload.shape if shape is None else shape
    return clone(expand.broadcast_to(value, (sizes,) if isinstance(sizes, int) else tuple(sizes)))


@counterpart("astype")
def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    check_device(device)
    converted = as_dtype(x, dtype)
    return clone(converted) if copy and converted is x else converted


@counterpart("real")
def _real(val: Any) -> Any:
    return pointwise.real(tensor(val))


@counterpart("imag")
def _imag(val: Any) -> Any:
    val = tensor(val)
    if val._payload.dtype.kind != "c":
        return tensor(np.zeros(val.shape, val._payload.dtype))
    return pointwise.imag(val)


@counterpart("angle")
def _angle(z: Any, deg: bool = False) -> Any:
    made = late("angle")(*floating(z))
    return made * (180 / math.pi) if deg else made


@counterpart("meshgrid")
def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    count = len(xi)
    swapped = indexing == "xy" and count > 1
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    order = [1, 0, *range(2, count)] if swapped else list(range(count))
    parts = map(tensor, xi)
    grids = [
        in_shape(x, (1,) * order[n] + (x._payload.size,) + (1,) * (count - order[n] - 1))
        for n, x in enumerate(parts)
    ]
    if not sparse:
        grids = list(expand.broadcast_tensors(*grids)) if grids else []
    return tuple(clone(grid) for grid in grids) if copy else tuple(grids)


@counterpart("ix_")
def _ix(*args: Any) -> tuple[Any, ...]:
    parts = [tensor(part) for part in args]
    # the positions of a mask are NumPy's; of numbers it sees the shape alone
    seen = [values(x) if x._payload.dtype.kind == "b" else np.empty(x.shape) for x in parts]
    made = np.ix_(*seen)
    return tuple(
        shape.reshape(x, grid.shape)
        if x._payload.dtype.kind != "b" and x.shape != (0,)
        else wrapped(grid)
        for x, grid in zip(parts, made, strict=True)
    )


# -- what one call computes ------------------------------------------------------------------------

counterparts(
    {
        "ravel": lambda a, order="C": _reshape(a, (-1,), order),
        "swapaxes": lambda a, axis1, axis2: permute.transpose(tensor(a), axis1, axis2),
        "moveaxis": lambda a, source, destination: permute.movedim(tensor(a), source, destination),
        "unstack": lambda x, /, *, axis=0: split.unbind(tensor(x), axis),
        "hstack": lambda tup, **kinds: join.hstack(_parts(tup, **kinds)),
        "vstack": lambda tup, **kinds: join.vstack(_parts(tup, **kinds)),
        "dstack": lambda tup: join.dstack(_parts(tup)),
        "column_stack": lambda tup: join.column_stack(_parts(tup)),
        "append": lambda arr, values, axis=None: _concatenate((arr, values), axis),
        "hsplit": _split_along("hsplit", 1, 1),
        "vsplit": _split_along("vsplit", 0, 2),
        "dsplit": _split_along("dsplit", 2, 3),
        "fliplr": lambda m: arrange.fliplr(tensor(m)),
        "flipud": lambda m: arrange.flipud(tensor(m)),
        "tril": lambda m, k=0: arrange.tril(_square(m), k),
        "triu": lambda m, k=0: arrange.triu(_square(m), k),
        "diag": lambda v, k=0: arrange.diag(tensor(v), k),
        "diagflat": lambda v, k=0: arrange.diag(shape.reshape(tensor(v), (-1,)), k),
        "copy": lambda a, order="K", subok=False: clone(tensor(a)),
    }
)
