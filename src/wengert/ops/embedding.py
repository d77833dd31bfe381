"""Layer 5 · ops · sequences: embeddings: rows of a table, single and in bags."""

# the functions and arguments have PyTorch's names

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.dtypes import FLOATING, category
from wengert.base.export import export
from wengert.interp.levels import Lifted, is_elsewhere
from wengert.kernels.reduce import are_within
from wengert.ops.checks import flag
from wengert.ops.coerce import dtype_name, integer, number, operand
from wengert.ops.gather import gather, index_add
from wengert.ops.options import placed
from wengert.ops.reduce import sum
from wengert.ops.shape import reshape
from wengert.prims import embedding as _records  # noqa: F401  of the primitives
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.inplace import write
from wengert.tape.modes import no_grad
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tape.saved import unpack
from wengert.tape.sites import warn
from wengert.tape.sparse import give_sparse


def _row(padding_idx: int | None, count: int, error: Exception) -> int:
    """Return the row that gets no gradient, counted from the front; -1 for none."""
    if padding_idx is None:
        return -1
    padding_idx = integer(padding_idx, "embedding", "padding_idx")
    # 0 is allowed if there are no rows, as in PyTorch
    if padding_idx and not -count <= padding_idx < count:
        raise error
    return padding_idx % count if padding_idx else 0


def _check_index(index: Any, name: str = "embedding_bag") -> None:
    if index.dtype.kind not in "iu" or index.dtype.itemsize < 4:
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {dtype_name(index)} instead (while checking arguments for {name})"
        )


def _checked(input: Any, weight: Any, name: str) -> tuple[Any, Any]:
    x, w = operand(input, name), operand(weight, name, "weight", 2)
    _check_index(x._payload, name)
    if w._payload.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, but is {w._payload.ndim}D")
    count = w._payload.shape[0]
    if not are_within(x._payload, count):
        if name == "embedding_bag":
            raise RuntimeError(
                f"{name}: Expected idx >= 0 && idx < num_embeddings: the table has {count} rows"
            )
        raise IndexError(f"index out of range in self: the table has {count} rows")
    return x, w


def _shorten(weight: Any, indices: Any, max_norm: float, norm_type: float) -> None:
    """Scale down, in place, the rows in use whose norm is too large."""
    max_norm, norm_type = (
        number(value, "embedding", arg)
        for arg, value in (("max_norm", max_norm), ("norm_type", norm_type))
    )
    if isinstance(weight._payload, Lifted):  # tangents stay what they are
        weight = new_tensor(weight._payload.constant(), None, weight._share_version())
    rows = np.unique(indices)
    used = weight._payload[rows]
    norms = np.linalg.norm(used, norm_type, axis=1)
    factors = np.where(norms > max_norm, max_norm / (norms + 1e-7), 1)
    with no_grad():
        scaled = new_tensor((used * factors[:, None]).astype(weight._payload.dtype))
        params = {"indices": (rows,), "accumulate": False}
        write(TABLE["index_put"], weight, (scaled,), params, "embedding_renorm_")


@export("nn.functional")
def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Return rows of a table by their indices.

    Parameters
    ----------
    input : Tensor. The numbers of the rows, int64 or int32, of any shape.
    weight : Tensor. The table, of shape (rows, d).
    padding_idx : int, optional. A row that gets no gradient.
    max_norm : float, optional. Rows in use that are longer are scaled down to this norm first, in
        place.
    norm_type : float. The power of that norm.
    %(of_rows)s

    Returns
    -------
    Tensor: Of the shape of `input` and d; differentiable with respect to `weight`, to any order.

    Raises
    ------
    IndexError: If there is no such row.
    RuntimeError: If the dtype of `input` or the shape of `weight` does not fit.

    Examples
    --------
    >>> table = wg.tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> wg.nn.functional.embedding(wg.tensor([1, 1, 0]), table)
    tensor([[2., 3.],
            [2., 3.],
            [0., 1.]])
    """
    if not hasattr(weight, "_payload") and hasattr(input, "_payload"):
        operand(weight, "embedding", "weight", 2)
    x, w = _checked(input, weight, "embedding")
    outside = AssertionError("Padding_idx must be within num_embeddings")
    row = _row(padding_idx, w._payload.shape[0], outside)
    if max_norm is not None and x._payload.size:
        _shorten(w, x._payload, max_norm, norm_type)
    return _rows(w, x, row, flag(scale_grad_by_freq, "scale_grad_by_freq"), sparse)


def _rows(w: Any, x: Any, row: int, by_freq: bool, sparse: bool) -> Any:
    out = T.embedding(w, x, padding_idx=row, scale_grad_by_freq=by_freq)
    if not sparse or w._edge is None:
        return out
    width = w._payload.shape[1]

    def places(node: Any) -> tuple[Any, tuple[int, int], Any]:
        if by_freq:
            raise RuntimeError(
                "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
            )
        # a copy, since the gradient outlives the tensor of indices
        index = np.array(unpack(node, "indices", True)).reshape(-1)
        kept = None if row < 0 else np.flatnonzero(index != row)
        return (index if kept is None else index[kept])[None], (index.size, width), kept

    return give_sparse(w, out, places)


@export("nn.functional")
def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """Return sums, means or maxima over bags of rows of a table.

    Parameters
    ----------
    input : Tensor. The numbers of the rows: of shape (bags, n), or one bag after the other.
    weight : Tensor. The table, of shape (rows, d).
    offsets : Tensor, optional. The start of each bag, for an `input` of one dimension.
    max_norm, norm_type, scale_grad_by_freq, sparse: As for `embedding`.
    mode : {"mean", "sum", "max"}. How to reduce the rows of a bag; an empty one gives zeros.
    per_sample_weights : Tensor, optional. A factor for each entry of `input`, for sums only.
    include_last_offset : bool. Whether `offsets` ends with the length of `input`.
    padding_idx : int, optional. A row that does not count, and gets no gradient.

    Returns
    -------
    Tensor: Of shape (bags, d); differentiable with respect to `weight` and `per_sample_weights`.

    Raises
    ------
    RuntimeError: If there is no such row, or `offsets` or dtypes do not fit.
    ValueError: If shapes or options do not fit together.

    Examples
    --------
    >>> table = wg.tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> wg.nn.functional.embedding_bag(wg.tensor([[0, 1], [1, 1]]), table)
    tensor([[1., 2.],
            [2., 3.]])
    """
    whole = getattr(getattr(weight, "_payload", None), "dtype", None) == np.int64
    if whole and isinstance(input, TensorBase) and category(input._payload.dtype) == FLOATING:
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
            "`embedding_bag(input, weight, ...)`.",
        )
        input, weight = weight, input
    x, w = _checked(input, weight, "embedding_bag")
    largest = mode == "max"
    if not (largest or mode == "sum" or mode == "mean"):
        raise ValueError(f"mode has to be one of sum, mean or max, but got {mode!r}")
    if largest and sparse:
        raise ValueError("max mode does not support sparse weights: pass sparse=False")
    factors = None
    if per_sample_weights is not None:
        factors = _factors(per_sample_weights, x._payload, w._payload, mode)
    starts = _starts(x._payload, offsets)
    count = w._payload.shape[0]
    outside = RuntimeError(
        f"padding_idx must be within the number of embeddings, {-count} through {count - 1}, but "
        f"got {padding_idx}"
    )
    row = _row(padding_idx, count, outside)
    if include_last_offset and x._payload.ndim == 1:
        if not len(starts):
            raise RuntimeError(
                "include_last_offset: number of offset should be at least 1, but offsets is empty"
            )
        end, starts = starts[-1], starts[:-1]
        # as in PyTorch: for a maximum, for doubles, or with padding, the last bag continues
        short = not largest and row < 0 and w._payload.dtype != np.float64
        if end < x._payload.size and short:
            x = x[:end]
            factors = None if factors is None else factors[:end]
    places = x._payload.fetched() if is_elsewhere(x._payload) else x._payload
    places = places.reshape(-1)
    if max_norm is not None and places.size:
        _shorten(w, places, max_norm, norm_type)
    lengths = np.diff([*starts, places.size])
    if (lengths < 0).any():
        raise RuntimeError(f"offsets must not decrease, but got {starts.tolist()}")
    bags = np.repeat(np.arange(len(starts)), lengths)
    scaled = flag(scale_grad_by_freq, "scale_grad_by_freq")
    real = None
    if isinstance(places, Lifted):
        # elements of a batch may have padding at different positions: it stays, but does not count
        flat, kept, owners = new_tensor(places), slice(None), bags
        real = reshape(T.ne(flat, row), (-1, 1)) if row >= 0 else None
    else:
        kept = places != row if row >= 0 else slice(None)
        # a copy, since the gradient needs it after the caller may have written to the tensor
        flat = placed(x, places[kept] if row >= 0 else places.copy())
        owners = bags[kept]
    rows = _rows(w, flat, -1, scaled, sparse)
    if factors is not None:
        rows = rows * reshape(reshape(factors, (-1,))[kept], (-1, 1))
    return _reduced(rows, owners, len(starts), mode, real)


def _factors(given: Any, places: Any, table: Any, mode: str) -> Any:
    """Return `per_sample_weights` as a tensor that fits."""
    factors = operand(given, "embedding_bag", "per_sample_weights")
    if factors._payload.shape != places.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({list(factors._payload.shape)}) is not "
            f"None, then it must have the same shape as the input ({list(places.shape)})"
        )
    if mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only "
            f"supported for mode='sum' (got mode='{mode}')."
        )
    if factors._payload.dtype != table.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for "
            f"argument #1 'per_sample_weights'; but {dtype_name(table)} does not equal "
            f"{dtype_name(factors._payload)} (while checking arguments for embedding_bag)"
        )
    return factors


def _reduced(rows: Any, owners: Any, bags: int, mode: str, real: Any) -> Any:
    """Return the sums, means or maxima of the rows of each bag; those that are not `real` are 0."""
    counts = np.bincount(owners, minlength=bags)
    dtype = rows._payload.dtype
    if real is not None:
        rows = T.where(real, rows, -math.inf if mode == "max" else 0)
        found = _totals(cast(real, dtype), owners, counts)
        divisor = T.where(T.gt(found, 0), found, 1)
    if mode == "max":
        result = _largest(rows, owners, counts)
        return result if real is None else T.where(T.gt(found, 0), result, 0)
    total = _totals(rows, owners, counts)
    if mode == "mean" and real is None:
        return total / placed(rows, np.maximum(counts, 1)[:, None].astype(dtype))
    return total / divisor if mode == "mean" else total


def _totals(rows: Any, owners: Any, counts: Any) -> Any:
    """Return the sums of the rows of each bag."""
    longest = int(counts.max(initial=0))
    size = rows._payload.shape[1]
    if longest and (counts == longest).all():
        # while all bags have the same length, they are rows of one array
        return sum(reshape(rows, (len(counts), longest, size)), 1)
    zeros = placed(rows, np.zeros((len(counts), size), rows._payload.dtype))
    return index_add(zeros, 0, placed(rows, owners), rows)


def _starts(places: Any, offsets: Any) -> Any:
    if places.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                "of fixed length sequences. However, found offsets of type " + str(type(offsets))
            )
        return np.arange(places.shape[0]) * places.shape[1]
    if places.ndim != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {places.ndim}"
        )
    if offsets is None:
        raise ValueError(
            "offsets has to be a 1D Tensor but got None: they say where bags of a 1D input begin"
        )
    starts = operand(offsets, "embedding_bag", "offsets")._payload
    starts = starts.fetched() if is_elsewhere(starts) else starts
    _check_index(starts)
    if starts.ndim != 1:
        raise ValueError(f"offsets has to be a 1D Tensor, but is {starts.ndim}D")
    if starts.size and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {starts[0]}"
        )
    if starts.size and starts[-1] > places.size:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {places.size} but got "
            f"offsets[-1] of {starts[-1]}"
        )
    return starts


def _largest(rows: Any, owners: Any, counts: Any) -> Any:
    """Return the largest element of each column of each bag: the first in a tie."""
    values = rows._payload
    if not len(values):
        return sum(rows, 0, keepdim=True).expand(len(counts), -1)
    if isinstance(values, Lifted) or is_elsewhere(values):
        bags = []
        for i, count in enumerate(counts):
            places = placed(rows, np.flatnonzero(owners == i))
            own = T.index_select(rows, places, dim=0)
            best = T.argmax(own, dim=0, keepdim=True) if count else None
            first = T.slice(rows, dim=0, start=0, end=1, step=1)
            bags.append(T.zeros_like(first) if best is None else T.gather(own, best, dim=0))
        return T.cat(*bags, dim=0)
    # the rows of a bag are neighbours
    starts = (counts.cumsum() - counts)[:, None]
    if (counts == counts[0]).all():
        places = values.reshape(len(counts), counts[0], -1).argmax(1)
        return gather(rows, 0, new_tensor(places + starts))
    places = np.zeros((len(counts), values.shape[1]), np.int64)
    for bag in np.flatnonzero(counts):
        first = starts[bag, 0]
        places[bag] = values[first : first + counts[bag]].argmax(0)
    places += np.where(counts, starts.T, 0).T
    filled = new_tensor((counts > 0)[:, None].astype(values.dtype))
    return gather(rows, 0, new_tensor(places)) * filled
