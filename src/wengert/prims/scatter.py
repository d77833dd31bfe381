"""Layer 2 · prims: values combined, in several ways, at indexed positions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.kernels import scatter as kernels
from wengert.kernels import shape as views
from wengert.kernels import strided
from wengert.prims import place as _place  # noqa: F401  it registers the views
from wengert.prims.families import general, linear
from wengert.prims.record import case, names_of

Shape = tuple[int, ...]


def _ones(F: Any, shape: Shape, dtype: Any) -> Any:
    return F.zeros(shape=shape, dtype=dtype) + 1


class _Elements:
    """The positions of `scatter_reduce`: one index per element."""

    @staticmethod
    def read(F: Any, array: Any, index: Any, dim: int) -> Any:
        return F.gather(array, index, dim=dim)

    @staticmethod
    def add(F: Any, array: Any, index: Any, values: Any, dim: int) -> Any:
        return F.scatter_add(array, index, values, dim=dim)

    @staticmethod
    def clear(F: Any, array: Any, index: Any, dim: int) -> Any:
        return F.scatter_value(array, index, dim=dim, value=0)

    @staticmethod
    def shares(F: Any, index: Any, shape: Shape, dtype: Any, dim: int, include_self: bool) -> Any:
        """Return the number of values that each mean is over, at least 1."""
        own = _ones(F, shape, dtype)
        start = own if include_self else F.scatter_value(own, index, dim=dim, value=0)
        count = F.scatter_add(start, index, _ones(F, tuple(index.shape), dtype), dim=dim)
        return count if include_self else F.where(count == 0, 1, count)

    @staticmethod
    def index(F: Any, index: Any, shape: Shape, dim: int) -> Any:
        return index


class _Positions:
    """The positions of `index_reduce`: one index per slice."""

    @staticmethod
    def read(F: Any, array: Any, index: Any, dim: int) -> Any:
        return F.index_select(array, index, dim=dim)

    @staticmethod
    def add(F: Any, array: Any, index: Any, values: Any, dim: int) -> Any:
        return F.index_add(array, index, values, dim=dim, alpha=1)

    @staticmethod
    def clear(F: Any, array: Any, index: Any, dim: int) -> Any:
        return F.index_fill(array, index, dim=dim, value=0)

    @staticmethod
    def shares(F: Any, index: Any, shape: Shape, dtype: Any, dim: int, include_self: bool) -> Any:
        """The number of values that each mean is over, at least 1, for one line of places."""
        line = (1,) * dim + shape[dim : dim + 1] + (1,) * (len(shape) - dim - 1)
        count = _Elements.shares(
            F,
            F.view(index, shape=(math.prod(index.shape),)),
            shape[dim:][:1],
            dtype,
            0,
            include_self,
        )
        return F.view(count, shape=line)

    @staticmethod
    def index(F: Any, index: Any, shape: Shape, dim: int) -> Any:
        line = (1,) * dim + shape[dim : dim + 1] + (1,) * (len(shape) - dim - 1)
        return F.expand(F.view(index, shape=line), shape=shape)


Places = type[_Elements] | type[_Positions]


def _ties(F: Any, at: Places, index: Any, own: Any, given: Any, dim: int) -> Any:
    """Return how many old and scattered values attain the extreme at each position."""
    count = at.add(F, own, index, given, dim)
    return F.where(count == 0, 1, count)


def _slope_of_self(
    at: Places,
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
    if not include_self:
        # positions that receive nothing keep their values; others do not depend on self
        return at.clear(F, g, index, dim)
    shape = tuple(self.shape)
    if reduce == "prod":
        spread = at.index(F, index, tuple(src.shape), dim)
        return g * F.scatter_reduce(
            _ones(F, shape, self_dtype), spread, src, dim=dim, reduce="prod", include_self=True
        )
    if reduce == "mean":
        return g / at.shares(F, index, shape, self_dtype, dim, True)
    if reduce == "sum":
        return g
    own = F.to_copy(self == result, dtype=self_dtype)
    given = F.to_copy(src == at.read(F, result, index, dim), dtype=self_dtype)
    return g * own / _ties(F, at, index, own, given, dim)


def _slope_of_src(
    at: Places,
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
    if reduce == "prod":
        spread = at.index(F, index, tuple(src.shape), dim)
        others = F.scatter_others(self, spread, src, dim=dim, include_self=include_self)
        return at.read(F, g, index, dim) * others
    if reduce == "mean":
        shares = at.shares(F, index, tuple(self.shape), self_dtype, dim, include_self)
        return at.read(F, g / shares, index, dim)
    if reduce == "sum":
        return at.read(F, g, index, dim)
    own = F.to_copy(self == result, dtype=self_dtype)
    if not include_self:
        own = at.clear(F, own, index, dim)
    given = F.to_copy(src == at.read(F, result, index, dim), dtype=self_dtype)
    return at.read(F, g / _ties(F, at, index, own, given, dim), index, dim) * given


def _by_self(
    F: Any, g: Any, self: Any, index: Any, src: Any, result: Any, self_dtype: Any, **how: Any
) -> Any:
    values = F.corner(src, shape=tuple(index.shape))
    return _slope_of_self(_Elements, F, g, self, index, values, result, self_dtype, **how)


def _by_src(
    F: Any,
    g: Any,
    self: Any,
    index: Any,
    src: Any,
    result: Any,
    self_dtype: Any,
    src_shape: Shape,
    **how: Any,
) -> Any:
    values = F.corner(src, shape=tuple(index.shape))
    slope = _slope_of_src(_Elements, F, g, self, index, values, result, self_dtype, **how)
    return F.corner_backward(slope, shape=src_shape)


def _others_by_self(
    F: Any, g: Any, self: Any, index: Any, src: Any, dim: int, include_self: bool
) -> Any:
    if not include_self:
        return F.zeros_like(self)
    others = F.scatter_others(self, index, src, dim=dim, include_self=False)
    return F.scatter_add(F.zeros_like(self), index, g * others, dim=dim)


def _others_by_src(
    F: Any,
    g: Any,
    self: Any,
    index: Any,
    src: Any,
    result: Any,
    src_dtype: Any,
    dim: int,
    include_self: bool,
) -> Any:
    """Sum the products of all values but two over the other values of each position.

    If a value is not 0, this is the product of all but one, divided by the value; where one or two
    values of a position are 0, they are first removed from the products, and where more are, all
    products are 0.
    """

    def without(values: Any) -> Any:
        """Return the sums over each position, minus the value itself."""
        sums = F.scatter_add(F.zeros_like(self), index, values, dim=dim)
        return F.gather(sums, index, dim=dim) - values

    is_zero = src == 0
    filled = F.where(is_zero, 1, src)
    zeros = without(F.to_copy(is_zero, dtype=src_dtype))
    only = F.logical_and(is_zero, zeros == 0)
    rest = F.scatter_others(self, index, F.where(only, 1, src), dim=dim, include_self=include_self)
    product = F.scatter_reduce(
        self, index, filled, dim=dim, reduce="prod", include_self=include_self
    )
    of_two = without(F.where(is_zero, g, 0)) * F.gather(product, index, dim=dim)
    of_zero = F.where(only, without(g * rest), F.where(zeros == 1, of_two, 0))
    return F.where(is_zero, of_zero, without(g * result) / filled)


def _whole(*rows: Any) -> Any:
    """Return a function from the random generator to a sample\'s index array."""
    return lambda rng: np.array(rows, dtype=np.int64)


_PLACES = _whole([0, 0, 2], [1, 1, 1])
_WAYS = ("prod", "mean", "amax", "amin")

general(
    "scatter_reduce",
    kernels.scatter_reduce,
    vjp=(_by_self, None, _by_src),
    domain=("nonzero", "real", "nonzero"),
    cases=tuple(
        [
            case((2, 3), _PLACES, (2, 3), dim=1, reduce=reduce, include_self=include_self)
            for reduce in ("sum", *_WAYS)
            for include_self in (True, False)
        ]
        + [
            case((2, 3), _whole([0, 0]), (2, 3), dim=1, reduce=reduce, include_self=True)
            for reduce in ("prod", "mean", "amax")
        ]
        + [
            case((), _whole(0, 0), (2,), dim=0, reduce="prod", include_self=True),
            case((3,), _whole(), (0,), dim=0, reduce="mean", include_self=False),
        ]
    ),
    doc="self with values combined into it where an index says: sums, products, means, extremes",
    reduces=("sum", *_WAYS),
)
general(
    "scatter_others",
    kernels.scatter_others,
    vjp=(_others_by_self, None, _others_by_src),
    domain=("nonzero", "real", "nonzero"),
    cases=(
        case((2, 3), _PLACES, (2, 3), dim=1, include_self=True),
        case((2, 3), _PLACES, (2, 3), dim=1, include_self=False),
        case((2,), _whole(1, 1, 1, 0), (4,), dim=0, include_self=True),
    ),
    doc="for each value that is multiplied into a place the product of the others there",
    batching="dims",
)
general(
    "index_reduce",
    kernels.index_reduce,
    vjp=(
        lambda F, g, self, index, source, result, self_dtype, **how: _slope_of_self(
            _Positions, F, g, self, index, source, result, self_dtype, **how
        ),
        None,
        lambda F, g, self, index, source, result, self_dtype, **how: _slope_of_src(
            _Positions, F, g, self, index, source, result, self_dtype, **how
        ),
    ),
    domain=("nonzero", "real", "nonzero"),
    cases=tuple(
        [
            case((2, 3), _whole(2, 0, 2, 2), (2, 4), dim=1, reduce=reduce, include_self=kept)
            for reduce in _WAYS
            for kept in (True, False)
        ]
        + [
            case((3, 2), _whole(1, 1), (2, 2), dim=0, reduce=reduce, include_self=True)
            for reduce in _WAYS
        ]
        + [case((2, 3), _whole(), (2, 0), dim=1, reduce="amax", include_self=True)]
    ),
    doc="self with positions of source combined into those that an index names",
    reduces=_WAYS,
)


def _inset(view: str, kernel: Callable[..., Any], **more: Any) -> None:
    """Return a copy of an array of which another one is a view."""
    linear(
        f"{view}_scatter",
        kernels.through(kernel),
        params=names_of(kernel)[1:],
        vjp=(
            lambda F, g, self_dtype, src_shape, **place: getattr(F, f"{view}_scatter")(
                g, F.zeros(shape=src_shape, dtype=self_dtype), **place
            ),
            lambda F, g, **place: getattr(F, view)(g, **place),
        ),
        **more,
    )


_inset(
    "select",
    views.select,
    cases=(case((3,), (), dim=0, index=1), case((2, 3), (2,), dim=1, index=2)),
    layout="same",
    doc="self with src in one position of a dimension",
    batching="dims",
)
_inset(
    "slice",
    views.slice_,
    cases=(
        case((5,), (2,), dim=0, start=1, end=5, step=2),
        case((2, 3), (2, 0), dim=1, start=1, end=1, step=1),
    ),
    layout="same",
    doc="self with src in a range of a dimension",
    batching="dims",
)
_inset(
    "diagonal",
    views.diagonal,
    cases=(
        case((3, 3), (3,), offset=0, dim1=0, dim2=1),
        case((2, 3, 4), (3, 2), offset=-1, dim1=2, dim2=0),
    ),
    layout="same",
    doc="self with src on a diagonal of two dimensions",
    batching="dims",
)
_inset(
    "as_strided",
    strided.as_strided,
    cases=(
        case((6,), (2, 2), size=(2, 2), stride=(3, 1), storage_offset=1, layout=((1,), 0)),
        case((2, 3), (2,), size=(2,), stride=(2,), storage_offset=3, layout=((3, 1), 0)),
    ),
    doc="self, which lies in order, with src at places of its memory",
)
