"""Layer 5 · ops · choosing: values combined at the positions of a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.base.sections import fill_sections
from wengert.base.shapes import normal_dim
from wengert.kernels.reduce import are_within
from wengert.ops.coerce import dtype_name, integer, operand
from wengert.ops.gather import along, source_of
from wengert.ops.out import into
from wengert.prims import scatter as _records
from wengert.prims.facet import Facet
from wengert.prims.record import TABLE
from wengert.tape.record import T

REQUIRES = (_records,)

REDUCES: Facet[tuple[str, ...]] = Facet("reduces", lambda prim: ())
"""The allowed values of the parameter `reduce`."""


def _refuse(x: Any, kernel: str, kinds: str, op: str) -> None:
    """Refuse dtypes of the given `kinds`."""
    if x._payload.dtype.kind in kinds:
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{dtype_name(x._payload)}': {op}() takes tensors of "
            "other dtypes; convert the tensors with .to(dtype)"
        )


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
    params = {"dim": axis, "reduce": reduce, "include_self": bool(include_self)}
    result = T.scatter_reduce(x, where, y, **params)
    return result if out is None else into(out, result, "scatter_reduce")


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
    params = {"dim": axis, "reduce": reduce, "include_self": bool(include_self)}
    result = T.index_reduce(x, where, y, **params)
    return result if out is None else into(out, result, "index_reduce")


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
    count = source.shape[axis] if axis < source.ndim else 1
    if index.size != count:
        raise RuntimeError(
            f"index_reduce_(): Number of indices ({index.size}) should be equal to "
            f"source.size(dim): ({count}), for dim: {axis}"
        )
    shape = own.shape
    if source.shape != (*shape[:axis], *(count,) * bool(shape), *shape[axis + 1 :]):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(shape)} source.shape = {list(source.shape)}"
        )
    size = shape[axis] if shape else 1
    if not are_within(index, size):
        raise IndexError(
            f"index out of range in self: dimension {axis} has {size} positions, but the index "
            f"names {index[(index < 0) | (index >= size)].flat[0]}"
        )


fill_sections(globals())
