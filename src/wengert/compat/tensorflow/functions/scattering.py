"""Layer 9 · compat: TensorFlow's functions that write parts into a new tensor, or sort them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import shaped
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.indexing import flat_positions, positions
from wengert.compat.tensorflow.functions.templates import rows


@V.operation("ScatterNd")
def scatter_nd(indices, updates, shape, bad_indices_policy: str = "", name=None) -> Any:
    """Zeros of a shape, to which `updates` are added at positions.

    Parameters
    ----------
    indices : Tensor. Rows of positions, one for each of the first dimensions of the result.
    updates : Tensor. One part for each row.
    shape : sequence of int, or Tensor. The shape of the result.
    bad_indices_policy, name : optional. Accepted, and of no effect.

    Returns
    -------
    Tensor: Differentiable in `updates`.

    Raises
    ------
    InvalidArgumentError: If a position does not exist, or the shapes do not fit.

    Examples
    --------
    >>> print(tf.scatter_nd([[1], [3], [1]], [5, 6, 7], [4]).numpy())
    [ 0 12  0  6]
    """
    parts = V.tensor_of(updates)
    start = wg.as_tensor(np.zeros(V.shape_of("ScatterNd", shape), parts.payload.dtype))
    return _written("ScatterNd", start, indices, parts, _added)


def _added(rows, places, parts) -> Any:
    return wg.index_add(rows, 0, places, parts)


def _subtracted(rows, places, parts) -> Any:
    return wg.index_add(rows, 0, places, parts, alpha=-1)


def _replaced(rows, places, parts) -> Any:
    return wg.index_copy(rows, 0, places, parts)


def _raised(rows, places, parts) -> Any:
    return wg.index_reduce(rows, 0, places, parts, "amax")


def _lowered(rows, places, parts) -> Any:
    return wg.index_reduce(rows, 0, places, parts, "amin")


def _written(op: str, x, indices, parts, write) -> Any:
    """`x` with `parts` written by `write` where the rows of `indices` say."""
    found = positions(op, indices)
    sizes, depth = x.payload.shape, found.shape[-1]
    flat = flat_positions(op, found, sizes)
    wanted = found.shape[:-1] + sizes[depth:]
    if parts.payload.shape != wanted:
        raise V.invalid(
            op,
            "Dimensions [0,{0}) of indices[shape={1}] must match dimensions [0,{0}) of "
            "updates[shape={2}]: updates of shape {3} are needed".format(
                found.ndim - 1, V.shown(found.shape), V.shown(parts.payload.shape), V.shown(wanted)
            ),
        )
    rows = wg.reshape(x, (math.prod(sizes[:depth]), *sizes[depth:]))
    parts = wg.reshape(parts, (len(flat), *sizes[depth:]))
    return wg.reshape(write(rows, wg.as_tensor(flat), parts), sizes)


def _scatter(path: str, op: str, write: Callable[..., Any], words: str, line: str) -> Any:
    """The function `path`, which writes parts into the rows of a tensor by `write`."""

    @V.operation(op)
    def scatter(tensor, indices, updates, bad_indices_policy: str = "", name=None) -> Any:
        """The tensor with `updates` {words} at positions; `tensor` itself stays as it is.

        Parameters
        ----------
        tensor : Tensor. Or what becomes one.
        indices : Tensor. Rows of positions, one for each of the first dimensions of `tensor`.
        updates : Tensor. One part for each row, of the dtype of `tensor`.

        Returns
        -------
        Tensor: Differentiable in `tensor` and `updates`.

        Raises
        ------
        InvalidArgumentError: If a position does not exist, or shapes or dtypes do not fit.

        Examples
        --------
        >>> print(tf.{path}([1, 5, 3], [[0], [1]], [4, 4]).numpy())
        {line}
        """
        x, parts = V.aligned(op, tensor, updates)
        return _written(op, x, indices, parts, write)

    return shaped(scatter, path, words=words, line=line)


rows(
    globals(),
    _scatter,
    """
    tensor_scatter_nd_update | TensorScatterUpdate | =_replaced | put | [4 4 3]
    tensor_scatter_nd_add | TensorScatterAdd | =_added | added | [5 9 3]
    tensor_scatter_nd_sub | TensorScatterSub | =_subtracted | subtracted | [-3  1  3]
    tensor_scatter_nd_max | TensorScatterMax | =_raised | put, where they are greater, | [4 5 3]
    tensor_scatter_nd_min | TensorScatterMin | =_lowered | put, where they are less, | [1 4 3]
    """,
)


# -- parts by number -------------------------------------------------------------------------------


@V.operation("DynamicPartition")
def dynamic_partition(data, partitions, num_partitions: int, name=None) -> Any:
    """The parts of a tensor, sorted into lists by the numbers that `partitions` gives them.

    Examples
    --------
    >>> [part.numpy().tolist() for part in tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)]
    [[1, 3], [2]]
    """
    x = V.tensor_of(data)
    numbers = positions("DynamicPartition", partitions)
    sizes = x.payload.shape
    if sizes[: numbers.ndim] != numbers.shape:
        raise V.invalid(
            "DynamicPartition",
            f"data.shape must start with partitions.shape, got data.shape = {V.shown(sizes)}, "
            f"partitions.shape = {V.shown(numbers.shape)}",
        )
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < num_partitions):
        raise V.invalid("DynamicPartition", f"partitions must be in [0, {num_partitions})")
    rows = wg.reshape(x, (numbers.size, *sizes[numbers.ndim :]))
    return [
        wg.index_select(rows, 0, wg.as_tensor(np.flatnonzero(numbers == i)))
        for i in range(num_partitions)
    ]


@V.operation("DynamicStitch")
def dynamic_stitch(indices, data, name=None) -> Any:
    """Parts put where lists of positions say: ``result[indices[i][j]] = data[i][j]``.

    Examples
    --------
    >>> print(tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]).numpy())
    [10 20 30]
    """
    places = [positions("DynamicStitch", part) for part in indices]
    parts = V.aligned("DynamicStitch", *data)
    rest = parts[0].payload.shape[places[0].ndim :]
    rows = wg.cat([wg.reshape(part, (-1, *rest)) for part in parts])
    flat = np.concatenate([place.reshape(-1) for place in places])
    # of several parts for one position the last one counts
    source = np.full(int(flat.max(initial=-1)) + 1, -1)
    source[flat] = np.arange(flat.size)
    return wg.index_select(rows, 0, wg.as_tensor(np.maximum(source, 0)))


__all__ = defined(globals())
fill_sections(globals())
