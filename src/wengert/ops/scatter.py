"""Layer 5 · ops · choosing: values combined at the positions of a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.base.shapes import normal_dim
from wengert.kernels.reduce import are_within
from wengert.ops.checks import flag
from wengert.ops.coerce import dtype_name, integer, operand
from wengert.ops.gather import along, check_slices, source_of
from wengert.ops.options import placed
from wengert.ops.out import into
from wengert.ops.search import searchsorted
from wengert.prims import scatter as scatter
from wengert.prims.facet import Facet
from wengert.prims.record import TABLE
from wengert.tape.base import new_tensor
from wengert.tape.record import T

REDUCES: Facet[tuple[str, ...]] = Facet("reduces", lambda prim: ())
"""The allowed values of the parameter `reduce`."""


def _refuse(x: Any, kernel: str, kinds: str, op: str) -> None:
    """Refuse dtypes of the given `kinds`."""
    if x._payload.dtype.kind in kinds:
        advice = f"{op}() takes tensors of other dtypes; convert the tensors with .to(dtype)"
        raise not_implemented(kernel, x._payload.dtype, advice)


@export("wengert", "Tensor", "Tensor_")
def scatter_reduce(
    input: Any,
    dim: int,
    index: Any,
    src: Any,
    reduce: str,
    *,
    include_self: bool = True,
    out: Any = None,
) -> Any:
    """Return a copy with values combined in at the positions in `index` along a dimension.

    Parameters
    ----------
    %(input, dim, places, source)s
    reduce : {"sum", "prod", "mean", "amax", "amin"}. How to combine the values for one position.
    include_self : bool. Whether what `input` has at a place is one of the values there.

    Returns
    -------
    Tensor: Differentiable with respect to `input` and `src`, to any order (products in which
        several values are 0: to second order). Extremes that several values share give each of them
        the same part of the gradient.

    Raises
    ------
    RuntimeError: If a position is out of range, the shapes or dtypes do not fit, or `reduce` is
        none of these.
    NotImplementedError: If values of this dtype have no order, for extremes, or no means.

    Examples
    --------
    >>> wg.ones(3).scatter_reduce(0, wg.tensor([2, 2]), wg.tensor([5.0, 6.0]), "prod")
    tensor([ 1.,  1., 30.])
    """
    x, where, axis = along(input, dim, index, "scatter")
    if reduce not in REDUCES[TABLE["scatter_reduce"]]:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    y = source_of(x, where, src, axis, "scatter_reduce")
    if reduce not in ("sum", "prod"):
        kernel = f"scatter_gather_tensor_cpu_reduce_{reduce}"
        _refuse(x, kernel, "b" if reduce == "mean" else "c", "scatter_reduce")
    params = {"dim": axis, "reduce": reduce, "include_self": flag(include_self, "include_self")}
    return into(out, T.scatter_reduce(x, where, y, **params), "scatter_reduce")


@export("wengert", "Tensor", "Tensor_")
def index_reduce(
    input: Any,
    dim: int,
    index: Any,
    source: Any,
    reduce: str,
    *,
    include_self: bool = True,
    out: Any = None,
) -> Any:
    """Return a copy with slices of another tensor combined in along a dimension.

    Parameters
    ----------
    %(input, dim, positions)s
    source : Tensor. Of the shape of `input`, but with as many positions as `index` names.
    reduce : {"prod", "mean", "amax", "amin"}. How to combine the values for one position.
    include_self : bool. Whether what `input` has at a place is one of the values there.

    Returns
    -------
    Tensor: Differentiable with respect to `input` and `source`, as `scatter_reduce`.

    Raises
    ------
    IndexError: If `index` is not a vector, or a position is out of range.
    RuntimeError: If the shapes or dtypes do not fit, or `reduce` is none of these.
    NotImplementedError: If values of this dtype have no order, for extremes, or no means.

    Examples
    --------
    >>> wg.ones(3).index_reduce(0, wg.tensor([2, 2]), wg.tensor([5.0, 6.0]), "amax")
    tensor([1., 1., 6.])
    """
    x, y = operand(input, "index_reduce"), operand(source, "index_reduce", "source", 4)
    where = operand(index, "index_reduce", "index", 3)
    if reduce not in REDUCES[TABLE["index_reduce"]]:
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    axis = normal_dim(integer(dim, "index_reduce", "dim"), x._payload.ndim)
    _check_positions(x._payload, where._payload, y._payload, axis)
    if reduce != "prod":
        kernel = "div_floor_cpu" if reduce == "mean" else f"{reduce[1:]}imum_cpu"
        _refuse(x, kernel, "b" if reduce == "mean" else "c", "index_reduce")
    params = {"dim": axis, "reduce": reduce, "include_self": flag(include_self, "include_self")}
    return into(out, T.index_reduce(x, where, y, **params), "index_reduce")


@export("wengert")
def segment_reduce(
    data: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Any:
    """Return the reductions of consecutive segments of a dimension.

    Parameters
    ----------
    data : Tensor. Of a floating dtype.
    reduce : {"sum", "mean", "max", "min", "prod"}. How to combine the values of a segment.
    lengths : Tensor, optional. The number of positions of each segment. Its last dimension is the
        dimension `axis` of `data`, its others are those before.
    indices : None. Not supported, as in PyTorch.
    offsets : Tensor, optional. In place of `lengths`: where each segment begins, and where the last
        one ends.
    axis : int. The dimension of the segments.
    unsafe : bool. Whether `lengths` may cover less than the whole dimension.
    initial : number, optional. What each reduction starts from; an empty segment has this value.

    Returns
    -------
    Tensor: Differentiable with respect to `data`. Without `initial`, the mean of an empty segment
        is NaN.

    Raises
    ------
    RuntimeError: If the segments do not fit the dimension, or `reduce` is none of these.
    NotImplementedError: If `data` is not floating.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0, 3.0, 4.0])
    >>> wg.segment_reduce(x, "sum", lengths=wg.tensor([3, 0, 1]))
    tensor([6., 0., 4.])
    """
    op = "segment_reduce"
    x = operand(data, op, "data")
    if indices is not None:
        raise RuntimeError(f"{op}(): indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise RuntimeError(f"{op}(): Either lengths or offsets must be defined.")
    how = f"a{reduce}" if reduce in ("max", "min") else reduce
    if how not in REDUCES[TABLE["scatter_reduce"]]:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, max or min, got {reduce}"
        )
    _refuse(x, "_segment_reduce_cpu", "biuc", op)
    dim = normal_dim(integer(axis, op, "axis"), x._payload.ndim)
    sizes, start = x._payload.shape, initial
    if start is None or reduce != how:
        start = {"prod": 1, "amax": -np.inf}.get(how, np.inf if how == "amin" else 0)
    named = "lengths" if offsets is None else "offsets"
    ends = operand(lengths if offsets is None else offsets, op, named).long()
    if ends._payload.ndim != dim + 1:
        raise RuntimeError(
            f"{op}(): Expected axis to be the last dimension of {named} but got {dim}."
        )
    if offsets is None:
        ends = T.cat(ends.new_zeros((*ends.shape[:-1], 1)), ends.cumsum(-1), dim=dim)
        if not unsafe and bool((ends[..., -1] != sizes[dim]).any()):
            raise RuntimeError(
                f"{op}(): Expected all rows of lengths along axis to sum to data.size("
                "lengths.dim()-1) when !unsafe."
            )
    counts = ends[..., 1:] - ends[..., :-1]
    if bool((counts < 0).any()) or bool((ends < 0).any()) or bool((ends > sizes[dim]).any()):
        raise RuntimeError(f"{op}(): {named} contains negative value!, or exceeds the dimension")
    # positions before the first segment and behind the last one go to segments that are dropped
    steps = placed(x, np.broadcast_to(np.arange(sizes[dim]), sizes[: dim + 1]))
    apart = (...,) + (None,) * (len(sizes) - dim - 1)
    places = searchsorted(ends, steps, right=True)[apart].expand(sizes)
    slots = (*sizes[:dim], counts.shape[-1] + 2, *sizes[dim + 1 :])
    base = placed(x, np.full(slots, start, x._payload.dtype))
    summing = {"dim": dim, "reduce": "sum", "include_self": True}
    own = {} if reduce == "mean" else {"reduce": how, "include_self": reduce == how}
    every = T.scatter_reduce(base, places, x, **{**summing, **own})
    if reduce != how:
        # NaN equals no extreme, not even itself: added apart, it gets its gradient; -0.0 adds 0
        nothing = placed(x, np.full(slots, -0.0, x._payload.dtype))
        nans = T.where(T.isnan(x), x, new_tensor(np.asarray(-0.0, x._payload.dtype)))
        every = every + T.scatter_reduce(nothing, places, nans, **summing)
        if initial is not None:  # a value that equals it has the whole gradient
            bound = new_tensor(np.asarray(initial, x._payload.dtype))
            beyond = T.lt(every, bound) if how == "amax" else T.gt(every, bound)
            every = T.where(beyond, bound, every)
    found = every.narrow(dim, 1, counts.shape[-1])
    if reduce == "mean":
        found = found / counts.clamp(min=1)[apart]
        if initial is None:
            found = found.masked_fill((counts == 0)[apart], np.nan)
    return found


def _check_positions(own: Any, index: Any, source: Any, axis: int) -> None:
    if index.ndim > 1:
        raise IndexError(
            "index_reduce_(): Index is supposed to be a vector, but got dim: "
            f"{index.ndim} with type: {dtype_name(index)} and size: {list(index.shape)}"
        )
    if index.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
        raise RuntimeError(
            f"index_reduce_(): Expected dtype int32/int64 for index but got: {dtype_name(index)}"
        )
    if own.dtype != source.dtype:
        raise RuntimeError(
            f"index_reduce_(): self ({dtype_name(own)}) and source ({dtype_name(source)}) must "
            "have the same scalar type"
        )
    check_slices("index_reduce_", own, index, source, axis)
    size = own.shape[axis] if own.ndim else 1
    if not are_within(index, size):
        raise IndexError(
            f"index out of range in self: dimension {axis} has {size} positions, but the index "
            f"names {index[(index < 0) | (index >= size)].flat[0]}"
        )
