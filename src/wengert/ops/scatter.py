"""Layer 5 · ops: values combined at the positions of a dimension."""

from __future__ import annotations

from typing import Any

from wengert.base.errors import long_name
from wengert.base.shapes import normal_dim
from wengert.ops.coerce import integer, operand
from wengert.ops.gather import along, source_of
from wengert.ops.shape import reshape
from wengert.prims import scatter as _records
from wengert.tape.record import T

__all__ = ["index_reduce", "scatter_reduce"]

REQUIRES = (_records,)


def scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """A copy into which values are combined at the positions of a dimension that `index` names.

    Parameters
    ----------
    input : Tensor
        Of any shape.
    dim : int
        The dimension.
    index : Tensor
        The positions, int64 or int32; no larger than `input` apart from `dim`.
    src : Tensor
        The values, of at least the shape of `index`.
    reduce : {"sum", "prod", "mean", "amax", "amin"}
        How the values for one place are combined.
    include_self : bool
        Whether what `input` has at a place is one of the values there.

    Returns
    -------
    Tensor
        Differentiable with respect to `input` and `src`, to any order; extremes that several
        values share give each of them the same part of the gradient. The second derivative of a
        product is right where at most one of its factors is zero.

    Raises
    ------
    RuntimeError
        If a position is out of range, the shapes or dtypes do not fit, or `reduce` is none of
        these.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.ones(3).scatter_reduce(0, wg.tensor([2, 2]), wg.tensor([5.0, 6.0]), "prod")
    tensor([ 1.,  1., 30.])
    """
    x, where, axis = along(input, dim, index, "scatter")
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    y = source_of(x, where, src, axis, "scatter")
    if reduce[0] == "a" and x.payload.dtype.kind == "c":
        raise NotImplementedError(
            f'"scatter_gather_tensor_cpu_reduce_{reduce}" not implemented for '
            f"'{long_name(x.payload.dtype)}'"
        )
    params = {"dim": axis, "reduce": reduce, "include_self": bool(include_self)}
    return T.scatter_reduce(x, where, y, **params)


def index_reduce(
    input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """A copy to whose positions of a dimension those of another tensor are combined.

    Parameters
    ----------
    input : Tensor
        Of any shape.
    dim : int
        The dimension.
    index : Tensor
        The positions: a vector of int64 or int32.
    source : Tensor
        Of the shape of `input`, but with as many positions as `index` names.
    reduce : {"prod", "mean", "amax", "amin"}
        How the values for one place are combined.
    include_self : bool
        Whether what `input` has at a place is one of the values there.

    Returns
    -------
    Tensor
        Differentiable with respect to `input` and `source`, as `scatter_reduce`.

    Raises
    ------
    IndexError
        If `index` is no vector.
    RuntimeError
        If a position is out of range, the shapes or dtypes do not fit, or `reduce` is none of
        these.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.ones(3).index_reduce(0, wg.tensor([2, 2]), wg.tensor([5.0, 6.0]), "amax")
    tensor([1., 1., 6.])
    """
    x, y = operand(input, "index_reduce"), operand(source, "index_reduce", "source", 4)
    where = operand(index, "index_reduce", "index", 3)
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"reduce argument must be either prod, mean, amax or amin, got {reduce}."
        )
    axis = normal_dim(integer(dim, "index_reduce", "dim"), x.payload.ndim)
    if where.payload.ndim > 1:
        raise IndexError("index_reduce_(): Index is supposed to be a vector")
    if x.payload.dtype != y.payload.dtype:
        raise RuntimeError("index_reduce_(): self and source must have the same scalar type")
    count = y.payload.shape[axis] if y.payload.ndim else 1
    if count != where.payload.size:
        raise RuntimeError(
            f"index_reduce_(): Number of indices ({where.payload.size}) should be equal to "
            f"source.size(dim): ({count}), for dim: {axis}"
        )
    if not y.payload.ndim:
        spread = reshape(where, ())
    else:
        lead = (1,) * axis + (count,) + (1,) * (y.payload.ndim - axis - 1)
        spread = T.expand(reshape(where, lead), shape=y.payload.shape)
    if not x.payload.ndim and y.payload.ndim:
        x = reshape(x, (1,))
        made = scatter_reduce(x, 0, spread, y, reduce, include_self=include_self)
        return reshape(made, ())
    return scatter_reduce(x, axis, spread, y, reduce, include_self=include_self)
