"""Layer 9 · compat: TensorFlow's gathers, masks and slices."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.tensor import read
from wengert.compat.tensorflow.words import refusal

_POSITIONS = ("int16", "int32", "int64")


def positions(value, kinds: tuple[str, ...] = _POSITIONS) -> Any:
    """Return positions as an array of int64."""
    x = V.tensor_of(value)
    V.check(x, kinds, "Tindices")
    return V.numbers_of(x).astype(np.int64)


@V.operation("GatherV2", params=V.ANY, indices=V.ANY, batch_dims=int)
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None) -> Any:
    """Gather slices of a tensor by their indices along a dimension.

    Parameters
    ----------
    params : Tensor or tensor-like.
    indices : Tensor. The indices, nonnegative integers.
    validate_indices, name : optional. Accepted, and of no effect.
    axis : int, optional. The dimension; by default the first after the batch dimensions.
    batch_dims : int. The number of leading batch dimensions, which `params` and `indices` share.

    Returns
    -------
    Tensor: The slices, with the dimensions of `indices` in place of `axis`. Differentiable in
        `params`.

    Raises
    ------
    InvalidArgumentError: If an index is out of range, or `indices` are not integers.

    Examples
    --------
    >>> print(tf.gather([10, 20, 30], [2, 0]).numpy())
    [30 10]
    """
    sizes, ndim = params._payload.shape, params._payload.ndim
    if V.is_mapped(indices) and not batch_dims:
        V.check(indices, _POSITIONS, "Tindices")
        place = V.axis_of(0 if axis is None else axis, ndim)
        flat = wg.reshape(V.converted(indices, np.dtype(np.int64)), (-1,))
        new = tuple(indices._payload.shape)
        picked = wg.index_select(params, place, flat)
        return wg.reshape(picked, sizes[:place] + new + sizes[place + 1 :])
    found = positions(indices)
    if batch_dims < 0:
        batch_dims += found.ndim
    place = batch_dims if axis is None else V.axis_of(axis, ndim)
    count = sizes[place] if place < ndim else 0
    if found.size and not (found.min() >= 0 and found.max() < count):
        where = tuple(np.argwhere((found < 0) | (found >= count))[0])
        raise V.invalid(f"indices{V.shown(where)} = {found[where]} is not in [0, {count})")
    if sizes[:batch_dims] != found.shape[:batch_dims] or place < batch_dims:
        raise V.invalid(
            f"params.shape[:{batch_dims}]: {V.shown(sizes[:batch_dims])} should be equal to "
            f"indices.shape[:{batch_dims}]: {V.shown(found.shape[:batch_dims])}, and come before "
            f"axis {place}"
        )
    if not batch_dims:
        picked = wg.index_select(params, place, wg.as_tensor(found.reshape(-1)))
        return wg.reshape(picked, sizes[:place] + found.shape + sizes[place + 1 :])
    moved: Any = wg.movedim(params, place, batch_dims)
    picked = moved[(*np.indices(found.shape)[:batch_dims], found)]
    places = range(batch_dims, found.ndim)
    return wg.movedim(picked, tuple(places), tuple(range(place, place + len(places))))


def flat_positions(found, sizes: tuple[int, ...], what="") -> Any:
    """Return the flat position in the leading dimensions of each row of `found`."""
    depth = found.shape[-1]
    if depth > len(sizes):
        raise refusal(V.invalid, "index innermost dimension", depth, len(sizes))
    rows = found.reshape(-1, depth)
    bad = ((rows < 0) | (rows >= np.array(sizes[:depth], np.int64))).any(1) if depth else ()
    if np.any(bad):
        row = int(np.argmax(bad))
        where = "" if found.ndim == 1 else V.shown(np.unravel_index(row, found.shape[:-1]))
        raise V.invalid(
            f"indices{where} = [{', '.join(map(str, rows[row]))}] does not index into "
            f"{what}shape {V.shown(sizes)}"
        )
    if not depth:
        return np.zeros(len(rows), np.int64)
    return np.ravel_multi_index(tuple(rows.T), sizes[:depth])


@V.operation("GatherNd", params=V.ANY, batch_dims=int)
def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy="") -> Any:
    """Gather slices of a tensor by rows of indices into its leading dimensions.

    Raises
    ------
    InvalidArgumentError: If an index is out of range.

    Examples
    --------
    >>> print(tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy())
    [2 3]
    """
    found = positions(indices)
    if batch_dims:
        grid = np.indices(found.shape[:-1])[:batch_dims]
        found = np.concatenate([np.moveaxis(grid, 0, -1), found], -1)
    sizes, depth = params._payload.shape, found.shape[-1]
    flat = flat_positions(found, sizes, "param ")
    rows = wg.reshape(params, (math.prod(sizes[:depth]), *sizes[depth:]))
    picked = wg.index_select(rows, 0, wg.as_tensor(flat))
    return wg.reshape(picked, found.shape[:-1] + sizes[depth:])


# -- masks -----------------------------------------------------------------------------------------


@V.operation("GatherV2", tensor=V.ANY)
def boolean_mask(tensor, mask, axis=None, name="boolean_mask") -> Any:
    """Return the slices of a tensor for which a mask is true.

    Parameters
    ----------
    tensor : Tensor or tensor-like.
    mask : Tensor. The mask: bools, or numbers, of which nonzero ones are true. Its shape is that of
        consecutive dimensions of `tensor`.
    axis : int, optional. The first of these dimensions; 0 by default.

    Returns
    -------
    Tensor: The slices, with one dimension in place of the dimensions of the mask. Differentiable.

    Raises
    ------
    ValueError: If the shapes do not match, or the mask has no dimensions.

    Examples
    --------
    >>> print(tf.boolean_mask([1, 2, 3], [True, False, True]).numpy())
    [1 3]
    """
    flags = V.numbers_of(mask) != 0
    if not flags.ndim:
        raise ValueError("mask cannot be scalar.")
    place = 0 if axis is None else V.axis_of(axis, tensor._payload.ndim)
    sizes = tensor._payload.shape
    here = sizes[place : place + flags.ndim]
    if here != flags.shape:
        raise ValueError(f"Shapes {here} and {flags.shape} are incompatible")
    rows = wg.reshape(tensor, (*sizes[:place], flags.size, *sizes[place + flags.ndim :]))
    return wg.index_select(rows, place, wg.as_tensor(np.flatnonzero(flags)))


@V.operation("SelectV2")
def where(condition, x=None, y=None, name=None) -> Any:
    """Return `x` where a condition is true and `y` elsewhere, or the positions where it is true.

    Parameters
    ----------
    condition : Tensor. The condition: bools, or numbers if it is the only argument; nonzero numbers
        are true.
    x, y : Tensor, optional. The values, of one dtype; all arguments broadcast.

    Returns
    -------
    Tensor: Differentiable in `x` and `y`; infinite or NaN derivatives of the value that is not
        chosen do not affect the gradient. Without `x` and `y`, one row of int64 for each true
        element.

    Raises
    ------
    ValueError: If only one of `x` and `y` is given.
    InvalidArgumentError: If the dtypes differ, or the shapes do not broadcast.

    Examples
    --------
    >>> print(tf.where([True, False], [1, 2], [3, 4]).numpy())
    [1 4]
    >>> print(tf.where([False, True, True]).numpy())
    [[1]
     [2]]
    """
    if x is None and y is None:
        return wg.argwhere(V.tensor_of(condition).detach())
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    (chosen,) = V.truths("SelectV2", condition)
    return wg.where(chosen, *V.aligned("SelectV2", x, y))


# -- slices ----------------------------------------------------------------------------------------


@V.operation("Slice", input_=V.ANY, begin=tuple, size=tuple)
def slice(input_, begin, size, name=None) -> Any:
    """Return the slice of the given `size` that starts at `begin`; -1 extends to the end.

    Raises
    ------
    InvalidArgumentError: If the slice is out of range.

    Examples
    --------
    >>> print(tf.slice([[1, 2], [3, 4]], [0, 1], [-1, 1]).numpy())
    [[2]
     [4]]
    """
    ndim = input_._payload.ndim
    if not len(begin) == len(size) == ndim:
        raise refusal(V.invalid, "Expected begin and", ndim, len(begin), len(size))
    for place, (start, count) in enumerate(zip(begin, size, strict=True)):
        whole = input_._payload.shape[place]
        if not 0 <= start <= whole:
            raise V.invalid(f"Expected begin[{place}] in [0, {whole}], but got {start}")
        if count < -1 or start + count > whole:
            raise V.invalid(f"Expected size[{place}] in [0, {whole - start}], but got {count}")
        input_ = wg.narrow(input_, place, start, whole - start if count == -1 else count)
    return input_


@V.operation("StridedSlice", input_=V.ANY, begin=tuple, end=tuple, strides=tuple)
def strided_slice(
    input_,
    begin,
    end,
    strides=None,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
    var=None,
    name=None,
) -> Any:
    """Return ``input_[begin:end:strides, ...]``; each bit of a mask changes one position.

    Parameters
    ----------
    input_ : Tensor or tensor-like.
    begin, end, strides : sequence of int. One number for each sliced dimension.
    begin_mask, end_mask : int. Where a bit is set, the number is ignored, and the slice begins or
        ends at the edge.
    ellipsis_mask, new_axis_mask, shrink_axis_mask : int. Where a bit is set, the position is
        ``...``, a new dimension, or a single index.
    var, name : optional. Accepted, and of no effect.

    %(returns_differentiable)s

    Examples
    --------
    >>> print(tf.strided_slice([1, 2, 3, 4], [0], [4], [2]).numpy())
    [1 3]
    """
    index: list[Any] = []
    spans = zip(begin, end, strides or (1,) * len(begin), strict=True)
    for i, (start, stop, step) in enumerate(spans):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(start)
        else:
            first = None if begin_mask & bit else start
            last = None if end_mask & bit else stop
            index.append(builtins.slice(first, last, step))
    return read(input_, tuple(index))


__all__ = defined(globals())
