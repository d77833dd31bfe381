"""Layer 9 · compat: TensorFlow's functions that join, split, repeat and reorder."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.words import refusal


@V.operation("ConcatV2")
def concat(values, axis, name="concat") -> Any:
    """Concatenate tensors along a dimension.

    Parameters
    ----------
    values : sequence of Tensor. The tensors, of one dtype, and of one shape except along `axis`.
    axis : int. The dimension.

    %(returns_differentiable)s

    Raises
    ------
    InvalidArgumentError: If dtypes or shapes do not match, or `axis` is out of range.

    Examples
    --------
    >>> print(tf.concat([[1, 2], [3]], axis=0).numpy())
    [1 2 3]
    """
    single = not isinstance(values, list | tuple)
    parts = [V.tensor_of(values)] if single else V.aligned("ConcatV2", *values)
    first = parts[0]._payload
    if not first.ndim and not single:
        raise V.invalid("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
    place = V.axis_of(
        axis,
        first.ndim,
        f"ConcatOp : Expected concatenating dimensions in the range [{-first.ndim}, {first.ndim}), "
        "but got",
    )
    for number, part in enumerate(parts):
        here, there = first.shape, part._payload.shape
        if len(here) != len(there):
            raise refusal(V.invalid, "ConcatOp : Ranks", V.shown(here), number, V.shown(there))
        for i, (a, b) in enumerate(zip(here, there, strict=True)):
            if a != b and i != place:
                raise refusal(
                    V.invalid, "ConcatOp : Dimension", i, V.shown(here), number, V.shown(there)
                )
    return wg.cat(parts, place)


@V.operation("Pack", axis=int)
def stack(values, axis=0, name="stack") -> Any:
    """Stack tensors along a new dimension.

    Raises
    ------
    InvalidArgumentError: If the shapes or the dtypes differ.
    ValueError: If `axis` is out of range.

    Examples
    --------
    >>> print(tf.stack([[1, 2], [3, 4]], axis=1).numpy())
    [[1 3]
     [2 4]]
    """
    parts = _stackable(values)
    first = parts[0]._payload
    for number, part in enumerate(parts):
        if part._payload.shape != first.shape:
            raise V.invalid(
                f"Shapes of all inputs must match: values[0].shape = {V.shown(first.shape)} != "
                f"values[{number}].shape = {V.shown(part._payload.shape)}"
            )
    rank = first.ndim + 1
    if not -rank <= axis < rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
    return wg.stack(parts, axis)


def _stackable(values) -> list[Any]:
    if isinstance(values, list | tuple) and not any(hasattr(v, "_payload") for v in values):
        # the numbers of a list share one dtype: [1, 2.0] is a list of floats
        values = V.tensor_of(list(values))
    return V.list_of("Pack", values)


@V.operation("Unpack", value=V.ANY, axis=int)
def unstack(value, num: int | None = None, axis=0, name="unstack") -> Any:
    """Return the slices of a tensor along a dimension, as a list.

    Raises
    ------
    InvalidArgumentError: If `num` is given and differs from the number of slices.
    ValueError: If `axis` is out of range.

    Examples
    --------
    >>> [part.numpy().tolist() for part in tf.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    ndim = value._payload.ndim
    if not -ndim <= axis < ndim:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-ndim}, {ndim})")
    if num is not None and num != value._payload.shape[axis]:
        raise refusal(
            V.invalid, "Input shape axis", axis % ndim, num, V.shown(value._payload.shape)
        )
    return list(wg.unbind(value, axis))


@V.operation("Split")
def split(value, num_or_size_splits, axis=0, num: int | None = None, name="split") -> Any:
    """Split a tensor along a dimension into equal parts, or parts of given sizes.

    Parameters
    ----------
    value : Tensor or tensor-like.
    num_or_size_splits : int or sequence of int. The number of parts, or their sizes; one size may
        be -1, for the remainder.
    axis : int. The dimension.
    num : int, optional. The number of parts, if `num_or_size_splits` lists them.

    Returns
    -------
    list of Tensor: Differentiable.

    Raises
    ------
    InvalidArgumentError: If the sizes do not add up to that of the dimension, or it cannot be split
        into equal parts.

    Examples
    --------
    >>> [part.numpy().tolist() for part in tf.split([1, 2, 3, 4], 2)]
    [[1, 2], [3, 4]]
    >>> [part.numpy().tolist() for part in tf.split([1, 2, 3, 4], [1, 3])]
    [[1], [2, 3, 4]]
    """
    x = V.tensor_of(value)
    place = V.axis_of(axis, x._payload.ndim)
    size = x._payload.shape[place]
    if isinstance(num_or_size_splits, list | tuple) or np.ndim(num_or_size_splits):
        sizes = list(V.integers(num_or_size_splits, "num_or_size_splits"))
        if num not in (None, len(sizes)):
            raise V.invalid(f"Length of size_splits is {len(sizes)}, but num is {num}", "SplitV")
        if -1 in sizes:
            sizes[sizes.index(-1)] = size - sum(sizes) - 1
        if sum(sizes) != size or min(sizes, default=0) < 0:
            raise refusal(V.invalid, "Determined shape must", sum(sizes), operation="SplitV")
        return list(wg.split(x, sizes, place))
    (count,) = V.integers(num_or_size_splits, "num_or_size_splits")
    if count < 1 or size % count:
        raise refusal(V.invalid, "Number of ways", place, size, count)
    return list(wg.split(x, size // count, place)) if size else [x] * count


@V.operation("Tile", input=V.ANY)
def tile(input, multiples, name=None) -> Any:
    """Repeat a tensor `multiples` times along each dimension.

    Raises
    ------
    InvalidArgumentError: If `multiples` does not have one number per dimension.

    Examples
    --------
    >>> print(tf.tile([1, 2], [2]).numpy())
    [1 2 1 2]
    """
    if np.ndim(multiples) == 0:
        raise V.invalid("Expected multiples to be 1-D, but got shape []")
    counts = V.integers(multiples, "multiples")
    if len(counts) != input._payload.ndim:
        raise refusal(V.invalid, "Expected multiples argument", input._payload.ndim, len(counts))
    return wg.tile(input, counts)


@V.operation("Repeat", input=V.ANY)
def repeat(input, repeats, axis=None, name=None) -> Any:
    """Repeat each element, or each slice along `axis`.

    Examples
    --------
    >>> print(tf.repeat([1, 2], [1, 3]).numpy())
    [1 2 2 2]
    """
    if axis is None:
        input, place = wg.reshape(input, (-1,)), 0
    else:
        place = V.axis_of(axis, input._payload.ndim)
    counts = V.integers(repeats, "repeats")
    every = np.repeat(
        np.arange(input._payload.shape[place]), counts if len(counts) > 1 else counts[0]
    )
    return wg.index_select(input, place, wg.as_tensor(every))


@V.operation("ReverseV2", tensor=V.ANY)
def reverse(tensor, axis, name=None) -> Any:
    """Reverse a tensor along the given dimensions.

    Raises
    ------
    InvalidArgumentError: If a dimension is out of range, or `axis` is not a list.

    Examples
    --------
    >>> print(tf.reverse([1, 2, 3], [0]).numpy())
    [3 2 1]
    """
    if np.ndim(axis) == 0:
        raise V.invalid("'dims' must be 1-dimension, not 0: write axis=[0]")
    for number, place in enumerate(V.integers(axis, "axis")):
        if not -tensor._payload.ndim <= place < tensor._payload.ndim:
            raise refusal(V.invalid, "'axis'[{}] = {}", number, place, tensor._payload.ndim - 1)
    return wg.flip(tensor, V.axes_of(axis, tensor._payload.ndim))


@V.operation("ReverseSequence", input=V.ANY)
def reverse_sequence(
    input, seq_lengths, seq_axis: int | None = None, batch_axis: int | None = None, name=None
) -> Any:
    """Reverse the first ``seq_lengths[i]`` elements of each sequence.

    Examples
    --------
    >>> print(tf.reverse_sequence([[1, 2, 3]], [2], seq_axis=1, batch_axis=0).numpy())
    [[2 1 3]]
    """
    along = V.axis_of(0 if seq_axis is None else seq_axis, input._payload.ndim)
    batch = V.axis_of(0 if batch_axis is None else batch_axis, input._payload.ndim)
    lengths = np.array(V.integers(seq_lengths, "seq_lengths"))[:, None]
    places = np.arange(input._payload.shape[along])[None, :]
    order = np.where(places < lengths, lengths - 1 - places, places)
    moved = wg.movedim(input, (batch, along), (0, 1))
    order = order.reshape(*order.shape, *(1,) * (input._payload.ndim - 2))
    picked = wg.take_along_dim(moved, wg.as_tensor(order), 1)
    return wg.movedim(picked, (0, 1), (batch, along))


@V.operation("Roll", input=V.ANY)
def roll(input, shift, axis, name=None) -> Any:
    """Shift the elements along dimensions, wrapping around at the ends.

    Examples
    --------
    >>> print(tf.roll([1, 2, 3], 1, 0).numpy())
    [3 1 2]
    """
    return wg.roll(input, V.integers(shift, "shift"), V.integers(axis, "axis"))


@V.operation("Pad", tensor=V.ANY)
def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None) -> Any:
    """Pad a tensor before and after, along each dimension.

    Parameters
    ----------
    tensor : Tensor or tensor-like.
    paddings : sequence of pairs of int. For each dimension, the numbers of elements before and
        after.
    mode : str. ``"CONSTANT"``; ``"REFLECT"``, mirrored without the edge; or ``"SYMMETRIC"``,
        mirrored with the edge.
    constant_values : number. The value of constant padding.

    %(returns_differentiable)s

    Raises
    ------
    InvalidArgumentError: If there is not one pair per dimension, or mirrored padding exceeds the
        tensor.
    ValueError: If `mode` is unknown.

    Examples
    --------
    >>> print(tf.pad([1, 2, 3], [[2, 1]]).numpy())
    [0 0 1 2 3 0]
    >>> print(tf.pad([1, 2, 3], [[2, 1]], "REFLECT").numpy())
    [3 2 1 2 3 2]
    """
    flat = V.integers(
        np.asarray(paddings).ravel() if not hasattr(paddings, "_payload") else paddings
    )
    pairs = list(zip(flat[::2], flat[1::2], strict=True))
    if min(flat, default=0) < 0:
        raise V.invalid(f"Paddings must be non-negative: {' '.join(map(str, flat))}")
    if len(pairs) != tensor._payload.ndim:
        raise refusal(V.invalid, "The first dimension", len(pairs), V.shown(tensor._payload.shape))
    chosen = mode.upper()
    if chosen == "CONSTANT":
        (tensor, fill) = V.aligned("PadV2", tensor, constant_values)
        widths = [width for pair in reversed(pairs) for width in pair]
        return wg.nn.functional.pad(tensor, widths, value=fill._payload.item())
    if chosen not in ("REFLECT", "SYMMETRIC"):
        raise refusal(ValueError, "Value of argument", mode)
    for place, (before, after) in enumerate(pairs):
        size = tensor._payload.shape[place]
        limit = size - 1 if chosen == "REFLECT" else size
        if max(before, after) > limit:
            raise V.invalid(
                f"paddings must be {'less than' if limit < size else 'no greater than'} the "
                f"dimension size: {before}, {after} not less than {size}",
                "MirrorPad",
            )
        how: Any = chosen.lower()
        order = np.pad(np.arange(size), (before, after), mode=how)
        tensor = wg.index_select(tensor, place, wg.as_tensor(order))
    return tensor


__all__ = defined(globals())
