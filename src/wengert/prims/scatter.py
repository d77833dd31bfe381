"""Layer 2 · prims: values combined, in several ways, at the places that an index names."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels import scatter as kernels
from wengert.kernels import shape as views
from wengert.kernels import strided
from wengert.prims.families import general, linear
from wengert.prims.record import case

Shape = tuple[int, ...]


def _ones(F: Any, shape: Shape, dtype: Any) -> Any:
    return F.zeros(shape=shape, dtype=dtype) + 1


def _shares(F: Any, index: Any, shape: Shape, dtype: Any, dim: int, include_self: bool) -> Any:
    """The number of values that each mean is over, at least 1."""
    own = _ones(F, shape, dtype)
    added = _ones(F, tuple(index.shape), dtype)
    start = own if include_self else F.scatter_value(own, index, dim=dim, value=0)
    return F.scatter_add(start, index, added, dim=dim)


def _ties(F: Any, index: Any, own: Any, given: Any, dim: int) -> Any:
    """How many values, of the tensor and of those put there, are the extreme of each place."""
    count = F.scatter_add(own, index, given, dim=dim)
    return F.where(count == 0, 1, count)


def _slope_of_self(
    F: Any,
    g: Any,
    self: Any,
    index: Any,
    src: Any,
    result: Any,
    self_dtype: Any,
    dim: int,
    reduce: str,
    include_self: bool,
) -> Any:
    shape, counted = tuple(self.shape), tuple(index.shape)
    if reduce == "prod":
        filled = F.where(self == 0, 1, self)
        others = F.scatter_reduce(
            filled, index, src, dim=dim, reduce="prod", include_self=include_self
        )
        g = g * others / filled
    elif reduce == "mean":
        g = g / _shares(F, index, shape, self_dtype, dim, include_self)
    elif reduce != "sum":
        own = F.to_copy(self == result, dtype=self_dtype)
        given = F.corner(src, shape=counted) == F.gather(result, index, dim=dim)
        g = g * own / _ties(F, index, own, F.to_copy(given, dtype=self_dtype), dim)
    return g if include_self else F.scatter_value(g, index, dim=dim, value=0)


def _slope_of_src(
    F: Any,
    g: Any,
    self: Any,
    index: Any,
    src: Any,
    result: Any,
    self_dtype: Any,
    src_shape: Shape,
    dim: int,
    reduce: str,
    include_self: bool,
) -> Any:
    shape, counted = tuple(self.shape), tuple(index.shape)
    values = F.corner(src, shape=counted)
    if reduce == "prod":
        at = _slope_of_factor(F, g, self, index, values, result, dim, include_self)
    elif reduce == "mean":
        count = _shares(F, index, shape, self_dtype, dim, include_self)
        at = F.gather(g / count, index, dim=dim)
    elif reduce == "sum":
        at = F.gather(g, index, dim=dim)
    else:
        own = F.to_copy(self == result, dtype=self_dtype)
        if not include_self:
            own = F.scatter_value(own, index, dim=dim, value=0)
        given = F.to_copy(values == F.gather(result, index, dim=dim), dtype=self_dtype)
        at = F.gather(g / _ties(F, index, own, given, dim), index, dim=dim) * given
    return F.corner_backward(at, shape=src_shape)


def _slope_of_factor(
    F: Any, g: Any, self: Any, index: Any, src: Any, result: Any, dim: int, include_self: bool
) -> Any:
    """By a factor: the product of the others, which is 0 if one of them is."""
    is_zero = src == 0
    ones = F.to_copy(is_zero, dtype=self.dtype)
    count = F.gather(F.scatter_add(F.zeros_like(self), index, ones, dim=dim), index, dim=dim)
    filled = F.where(is_zero, 1, src)
    others = F.scatter_reduce(
        self, index, filled, dim=dim, reduce="prod", include_self=include_self
    )
    alone = F.where(count == 1, F.gather(g * others, index, dim=dim), 0)
    return F.where(is_zero, alone, F.gather(g * result, index, dim=dim) / filled)


def _places(rng: Any) -> Any:
    return np.array([[0, 0, 2], [1, 1, 1]], dtype=np.int64)


general(
    "scatter_reduce",
    kernels.scatter_reduce,
    args=("self", "index", "src"),
    params=("dim", "reduce", "include_self"),
    fixed=("index",),
    vjp=(_slope_of_self, None, _slope_of_src),
    domain=("nonzero", "real", "nonzero"),
    cases=tuple(
        [
            case((2, 3), _places, (2, 3), dim=1, reduce=reduce, include_self=include_self)
            for reduce in ("sum", "prod", "mean", "amax", "amin")
            for include_self in (True, False)
        ]
        + [
            case((2, 3), lambda rng: _places(rng)[:1, :2], (2, 3), dim=1, reduce=reduce, **kept)
            for reduce in ("prod", "mean", "amax")
            for kept in ({"include_self": True},)
        ]
    ),
    doc="self with values combined into it where an index says: sums, products, means, extremes",
)
linear(
    "select_scatter",
    kernels.through(views.select),
    args=("self", "src"),
    params=("dim", "index"),
    vjp=(
        lambda F, g, self_dtype, src_shape, dim, index: F.select_scatter(
            g, F.zeros(shape=src_shape, dtype=self_dtype), dim=dim, index=index
        ),
        lambda F, g, dim, index: F.select(g, dim=dim, index=index),
    ),
    cases=(case((3,), (), dim=0, index=1), case((2, 3), (2,), dim=1, index=2)),
    doc="self with src in one position of a dimension",
)
linear(
    "slice_scatter",
    kernels.through(views.slice_),
    args=("self", "src"),
    params=("dim", "start", "end", "step"),
    vjp=(
        lambda F, g, self_dtype, src_shape, dim, start, end, step: F.slice_scatter(
            g,
            F.zeros(shape=src_shape, dtype=self_dtype),
            dim=dim,
            start=start,
            end=end,
            step=step,
        ),
        lambda F, g, dim, start, end, step: F.slice(g, dim=dim, start=start, end=end, step=step),
    ),
    cases=(
        case((5,), (2,), dim=0, start=1, end=5, step=2),
        case((2, 3), (2, 0), dim=1, start=1, end=1, step=1),
    ),
    doc="self with src in a range of a dimension",
)
linear(
    "diagonal_scatter",
    kernels.through(views.diagonal),
    args=("self", "src"),
    params=("offset", "dim1", "dim2"),
    vjp=(
        lambda F, g, self_dtype, src_shape, offset, dim1, dim2: F.diagonal_scatter(
            g,
            F.zeros(shape=src_shape, dtype=self_dtype),
            offset=offset,
            dim1=dim1,
            dim2=dim2,
        ),
        lambda F, g, offset, dim1, dim2: F.diagonal(g, offset=offset, dim1=dim1, dim2=dim2),
    ),
    cases=(
        case((3, 3), (3,), offset=0, dim1=0, dim2=1),
        case((2, 3, 4), (3, 2), offset=-1, dim1=2, dim2=0),
    ),
    doc="self with src on a diagonal of two dimensions",
)
linear(
    "as_strided_scatter",
    kernels.through(strided.as_strided),
    args=("self", "src"),
    params=("size", "stride", "storage_offset", "layout"),
    vjp=(
        lambda F, g, self_dtype, src_shape, size, stride, storage_offset, layout: (
            F.as_strided_scatter(
                g,
                F.zeros(shape=src_shape, dtype=self_dtype),
                size=size,
                stride=stride,
                storage_offset=storage_offset,
                layout=layout,
            )
        ),
        lambda F, g, size, stride, storage_offset, layout: F.as_strided(
            g, size=size, stride=stride, storage_offset=storage_offset, layout=layout
        ),
    ),
    cases=(
        case((6,), (2, 2), size=(2, 2), stride=(3, 1), storage_offset=1, layout=((1,), 0)),
        case((2, 3), (2,), size=(2,), stride=(2,), storage_offset=3, layout=((3, 1), 0)),
    ),
    doc="self, which lies in order, with src at places of its memory",
)
