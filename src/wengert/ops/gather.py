"""Layer 5 · ops · choosing: elements read, written and added by integers along a dimension."""

from __future__ import annotations

from operator import gt
from typing import Any

import numpy as np

from wengert.base.errors import long_name
from wengert.base.export import export
from wengert.base.shapes import broadcast, normal_dim
from wengert.kernels.reduce import are_within
from wengert.ops.coerce import dtype_name, integer, operand, real_number
from wengert.ops.options import placed
from wengert.ops.out import into
from wengert.ops.shape import reshape
from wengert.ops.strided import in_shape
from wengert.ops.written import Form, copied, form
from wengert.prims import scatter as _records  # noqa: F401  of the primitives
from wengert.tape.base import new_tensor
from wengert.tape.operands import held, is_number, plain
from wengert.tape.record import T
from wengert.tape.saved import unpack
from wengert.tape.sparse import give_sparse

_INTEGERS = (np.dtype(np.int64), np.dtype(np.int32))


def _index_array(index: Any, op: str, kinds: str = "int32/int64") -> Any:
    value = operand(index, op, "index", 3)
    if value._payload.dtype not in _INTEGERS:
        if not value._payload.size:
            return new_tensor(value._payload.astype(np.int64))
        raise RuntimeError(
            f"{op}(): Expected dtype {kinds} for index, but got {dtype_name(value._payload)}"
        )
    return value


@export("wengert", "Tensor")
def index_select(input: Any, dim: int, index: Any, *, out: Any = None) -> Any:
    """Return positions of a dimension, in any order.

    Parameters
    ----------
    %(input, dim, positions)s

    Returns
    -------
    Tensor: A copy. Differentiable, to any order.

    Raises
    ------
    IndexError: If there is no such dimension or position.

    Examples
    --------
    >>> wg.tensor([1, 2, 3]).index_select(0, wg.tensor([2, 0]))
    tensor([3, 1])
    """
    x = operand(input, "index_select")
    axis = normal_dim(integer(dim, "index_select", "dim"), x._payload.ndim)
    where = _index_array(index, "index_select", "int32 or int64")
    array = where._payload
    if array.ndim > 1:
        raise IndexError(f"index_select(): Index is supposed to be a vector, but is {array.ndim}D")
    size = x._payload.shape[axis] if x._payload.ndim else 1
    if not x._payload.ndim and array.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {array.size} value(s)"
        )
    if not are_within(array, size):
        raise IndexError(f"index out of range in self: dimension {axis} has size {size}")
    result = T.index_select(x, where, dim=axis)
    return result if out is None else into(out, result, "index_select")


def check_bounds(array: Any, size: int, axis: int) -> None:
    """Refuse positions that a dimension does not have."""
    if not are_within(array, size):
        bad = array[(array < 0) | (array >= size)].flat[0]
        raise RuntimeError(f"index {bad} is out of bounds for dimension {axis} with size {size}")


def _check_ndim(index: Any, other: Any, name: str) -> None:
    if (index.ndim or 1) != (other.ndim or 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {name} tensor, but has "
            f"{index.ndim}, not {other.ndim}"
        )


def along(input: Any, dim: Any, index: Any, op: str) -> tuple[Any, Any, int]:
    """The tensor, the index and the dimension of `gather` and its like, checked."""
    x = operand(input, op)
    axis = normal_dim(integer(dim, op, "dim"), x._payload.ndim)
    where = _index_array(index, op)
    shape, places = x._payload.shape, where._payload.shape
    if not where._payload.size:
        # an empty index is valid for every tensor
        if shape and len(places) != len(shape):
            where = placed(x, np.zeros((0,) * len(shape), np.int64))
        return x, where, axis
    _check_ndim(where._payload, x._payload, "input" if op == "gather" else "self")
    for d, (size, count) in enumerate(zip(shape, places, strict=False)):
        if d != axis and count > size:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(places)} to be no "
                f"larger than self {list(shape)} apart from dimension {axis}"
            )
    if op == "gather":
        check_bounds(where._payload, shape[axis] if shape else 1, axis)
    if shape and not places:
        # a 0-d position names one element of a vector
        where = T.view(where, shape=(1,))
    return x, where, axis


@export("wengert", "Tensor")
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False, out: Any = None) -> Any:
    """Return the elements of `input` at the positions in `index` along a dimension.

    Parameters
    ----------
    %(input, dim, places)s
    sparse_grad : bool. Whether the gradient of a leaf is a sparse tensor.

    Returns
    -------
    Tensor: Of the shape of `index`. Differentiable, to any order.

    Raises
    ------
    RuntimeError: If a position is out of range, or the shapes do not fit.

    Examples
    --------
    >>> wg.tensor([[1, 2], [3, 4]]).gather(1, wg.tensor([[0], [1]]))
    tensor([[1],
            [4]])
    """
    x, where, axis = along(input, dim, index, "gather")
    result = T.gather(x, where, dim=axis)
    if sparse_grad and x._edge is not None:
        result = give_sparse(x, result, lambda node: _places(node, axis, x._payload.ndim))
    if result._payload.shape != index._payload.shape:
        result = T.view(result, shape=index._payload.shape)
    return result if out is None else into(out, result, "gather")


def _places(node: Any, axis: int, ndim: int) -> tuple[Any, tuple[int, ...], None]:
    """Return the positions in its input that a node of `gather` has read, one per element."""
    # 0-d tensors count as one-dimensional, both the index and the input
    array = np.atleast_1d(unpack(node, "index", True))
    places = np.indices(array.shape).reshape(array.ndim, array.size)
    places[axis] = array.reshape(-1)
    return places[:ndim], (array.size,), None


@export("wengert", "Tensor")
def take_along_dim(input: Any, indices: Any, dim: int | None = None, *, out: Any = None) -> Any:
    """Gather elements along a dimension; the other dimensions of both tensors broadcast.

    Parameters
    ----------
    %(input)s
    indices : Tensor. The positions, int64 or int32, negative ones from the end.
    dim : int, optional. The dimension; without it, both tensors are flattened.

    %(returns_smooth)s

    Raises
    ------
    RuntimeError: If a position is out of range, or the shapes do not fit.

    Examples
    --------
    >>> wg.take_along_dim(wg.tensor([[1, 2], [3, 4]]), wg.tensor([[1]]), 1)
    tensor([[2],
            [4]])
    """
    x, where = operand(input, "take_along_dim"), operand(indices, "take_along_dim", "indices", 2)
    if where._payload.dtype != np.int64:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            f"{long_name(where._payload.dtype)}"
        )
    if dim is None:
        result = gather(reshape(x, -1), 0, reshape(where, -1))
        return result if out is None else into(out, result, "take_along_dim")
    own, places = x._payload.shape, where._payload.shape
    if len(own) != len(places):
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {len(own)} dimensions for input, and {len(places)} dimensions for indices"
        )
    axis = normal_dim(dim, len(own))
    rest = broadcast((*own[:axis], 1, *own[axis + 1 :]), (*places[:axis], 1, *places[axis + 1 :]))
    wide = (*rest[:axis], own[axis], *rest[axis + 1 :])
    x = x if own == wide else T.expand(x, shape=wide)
    shape = (*rest[:axis], places[axis], *rest[axis + 1 :])
    index = where if places == shape else T.expand(where, shape=shape)
    if not are_within(index._payload, own[axis]):
        index = T.where(T.lt(index, 0), T.add(index, own[axis]), index)
    result = gather(x, axis, index)
    return result if out is None else into(out, result, "take_along_dim")


@export("wengert", "Tensor")
def take(input: Any, index: Any, *, out: Any = None) -> Any:
    """Return elements by their position among all of them, row after row.

    Parameters
    ----------
    %(input)s
    index : Tensor. The positions, int64, negative ones from the end.

    Returns
    -------
    Tensor: Of the shape of `index`. Differentiable, to any order.

    Raises
    ------
    IndexError: If a position is out of range.

    Examples
    --------
    >>> wg.take(wg.tensor([[1, 2], [3, 4]]), wg.tensor([0, 3]))
    tensor([1, 4])
    """
    x, where = operand(input, "take"), operand(index, "take", "index", 2)
    array, size = where._payload, x._payload.size
    if array.dtype != np.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {dtype_name(array)}")
    if not are_within(array, size) and not (-size <= array.min() and array.max() < size):
        raise IndexError(f"out of range: tried to access an element beyond the {size} of self")
    result = T.take(x, where)
    return result if out is None else into(out, result, "take")


@form
def _scatter(
    input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Form:
    x, where, axis = along(input, dim, index, "scatter")
    source = plain(value if src is None else src)
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError(f"reduce argument must be either add or multiply, but got {reduce!r}")
    params: dict[str, Any] = {"dim": axis}
    if is_number(source):
        check_bounds(where._payload, x._payload.shape[axis] if x._payload.ndim else 1, axis)
        number = held(source, x._payload.dtype)
        if reduce is None:
            return "scatter_value", (where,), {**params, "value": number}
        source = placed(where, np.full(where._payload.shape, number, x._payload.dtype))
    else:
        source = source_of(x, where, source, axis, "scatter")
    if reduce == "multiply":
        return "scatter_reduce", (where, source), {**params, "reduce": "prod", "include_self": True}
    return "scatter" if reduce is None else "scatter_add", (where, source), params


@export("wengert", "Tensor", "Tensor_ written")
def scatter(
    input: Any,
    dim: int,
    index: Any,
    src: Any = None,
    *,
    value: Any = None,
    reduce: Any = None,
    out: Any = None,
) -> Any:
    """Return a copy with other values at the positions in `index` along a dimension.

    Parameters
    ----------
    %(input, dim, places)s
    src : Tensor or number. The values; a tensor of at least the shape of `index` (a number also as
        `value`).
    reduce : {"add", "multiply"}, optional. Whether to add to the elements, or to multiply them,
        instead of replacing them.

    Returns
    -------
    Tensor: Differentiable with respect to `input` and `src`, to any order; without `reduce` as long
        as no position is named twice.

    Raises
    ------
    RuntimeError: If a position is out of range, or the shapes or dtypes do not fit.

    Examples
    --------
    >>> wg.zeros(3).scatter(0, wg.tensor([2, 0]), wg.tensor([5.0, 6.0]))
    tensor([6., 0., 5.])
    """
    x = operand(input, "scatter")
    result = copied(x, _scatter(x, dim, index, src, value=value, reduce=reduce))
    return result if out is None else into(out, result, "scatter")


@form
def _scatter_add(input: Any, dim: int, index: Any, src: Any) -> Form:
    x, where, axis = along(input, dim, index, "scatter_add")
    return "scatter_add", (where, source_of(x, where, src, axis, "scatter_add")), {"dim": axis}


@export("wengert", "Tensor", "Tensor_ written")
def scatter_add(input: Any, dim: int, index: Any, src: Any, *, out: Any = None) -> Any:
    """Return a copy with values added at the positions in `index` along a dimension.

    Parameters
    ----------
    %(input, dim, places, source)s

    Returns
    -------
    Tensor: Differentiable with respect to `input` and `src`, to any order.

    Raises
    ------
    RuntimeError: If a position is out of range, or the shapes or dtypes do not fit.

    Examples
    --------
    >>> wg.zeros(3).scatter_add(0, wg.tensor([2, 2]), wg.tensor([5.0, 6.0]))
    tensor([ 0.,  0., 11.])
    """
    x = operand(input, "scatter_add")
    result = copied(x, _scatter_add(x, dim, index, src))
    return result if out is None else into(out, result, "scatter_add")


def source_of(x: Any, where: Any, src: Any, axis: int, op: str) -> Any:
    """The values for the places that an index names, checked."""
    source = operand(src, op, "src", 4)
    a, b = source._payload, where._payload
    if a.dtype != x._payload.dtype:
        raise RuntimeError(
            "scatter(): Expected self.dtype to be equal to src.dtype, but got "
            f"{dtype_name(x._payload)} and {dtype_name(a)}"
        )
    if not b.size and a.ndim != b.ndim:
        nothing = T.slice(in_shape(source, (a.size,)), dim=0, start=0, end=0, step=1)
        return T.view(nothing, shape=b.shape)
    _check_ndim(b, a, "src")
    if a.shape != b.shape and any(map(gt, b.shape or (1,), a.shape or (1,))):
        raise RuntimeError(
            f"Expected index {list(b.shape)} to be no larger than self {list(x._payload.shape)} "
            f"apart from dimension {axis} and to be no larger size than src {list(a.shape)}"
        )
    check_bounds(b, x._payload.shape[axis] if x._payload.ndim else 1, axis)
    if a.ndim > b.ndim:
        return T.select(source, dim=0, index=0)
    return source if a.ndim == b.ndim else T.view(source, shape=b.shape)


def check_slices(op: str, own: Any, index: Any, source: Any, axis: int) -> None:
    """Refuse sources that do not have a slice of an array's shape for each position."""
    shape = own.shape
    count = source.shape[axis] if axis < source.ndim else 1
    if count != index.size:
        raise RuntimeError(
            f"{op}(): Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({count}), for dim: {axis}"
        )
    if source.shape != (*shape[:axis], *(count,) * bool(shape), *shape[axis + 1 :]):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(shape)} source.shape = {list(source.shape)}"
        )


@form
def _index_add(x: Any, dim: int, index: Any, source: Any, *, alpha: float = 1) -> Form:
    y = operand(source, "index_add", "source", 4)
    axis = normal_dim(integer(dim, "index_add", "dim"), x._payload.ndim)
    where = _index_array(index, "index_add")
    own, given, array = x._payload, y._payload, where._payload
    if array.ndim > 1:
        raise IndexError(f"index_add_(): Index is supposed to be a vector, but is {array.ndim}D")
    if own.dtype != given.dtype:
        raise RuntimeError(
            "index_add_(): self and source must have the same scalar type, but got "
            f"{own.dtype} and {given.dtype}"
        )
    check_slices("index_add_", own, array, given, axis)
    size = own.shape[axis] if own.ndim else 1
    check_bounds(array, size, axis)
    alpha = real_number(alpha, x, "index_add", "alpha")
    if own.dtype.kind in "iu":
        alpha = held(alpha, own.dtype)
    return "index_add", (where, y), {"dim": axis, "alpha": alpha}


@export("wengert", "Tensor", "Tensor_ written")
def index_add(
    input: Any, dim: int, index: Any, source: Any, *, alpha: float = 1, out: Any = None
) -> Any:
    """Return a copy with slices of another tensor added along a dimension.

    Parameters
    ----------
    %(input, dim, positions)s
    source : Tensor. The values to add: of the shape of `input`, but with one position per entry of
        `index`.
    alpha : number. A factor of `source`.

    Returns
    -------
    Tensor: Differentiable with respect to `input` and `source`, to any order.

    Raises
    ------
    RuntimeError: If a position is out of range, or the shapes or dtypes do not fit.

    Examples
    --------
    >>> wg.zeros(3).index_add(0, wg.tensor([2, 2]), wg.tensor([5.0, 6.0]))
    tensor([ 0.,  0., 11.])
    """
    x = operand(input, "index_add")
    result = copied(x, _index_add(x, dim, index, source, alpha=alpha))
    return result if out is None else into(out, result, "index_add")
