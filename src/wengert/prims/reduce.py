"""Layer 2 · prims: operations that combine the elements along dimensions.

``dim`` is always a tuple of different non-negative ints; the public functions normalise it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels import reduce as kernels
from wengert.kernels.sums import sum_to, sums, total
from wengert.prims.families import constant, general, linear, reduction
from wengert.prims.record import case

_WHOLE = (case(()), case((3,)), case((2, 3)), case((0,)))


def spread(F: Any, g: Any, shape: tuple[int, ...], dim: tuple[int, ...], keepdim: bool) -> Any:
    """Broadcast a reduction's cotangent to every element that was combined into it."""
    if not keepdim and shape:
        g = F.view(g, shape=tuple([1 if i in dim else n for i, n in enumerate(shape)]))
    return F.expand(g, shape=shape)


def _extent(shape: tuple[int, ...], dim: tuple[int, ...]) -> int:
    return math.prod([shape[i] for i in dim])


_COUNT = {"self_sym_numel": lambda self_shape: math.prod(self_shape)}

# -- sums ----------------------------------------------------------------------------------------

linear(
    "sum_to",
    sum_to,
    vjp=lambda F, g, self_shape: F.expand(g, shape=self_shape),
    node="SumBackward1",
    cases=(case((2, 3), shape=(3,)), case((2, 3), shape=(2, 1)), case((3,), shape=())),
    doc="the sum over what broadcasting `shape` to self would repeat",
    combines="add",
)
linear(
    "sum",
    total,
    vjp=lambda F, g, self_shape: F.expand(g, shape=self_shape),
    cases=_WHOLE,
    doc="the sum of all elements",
    combines="add",
    sparsity="total",
    overloaded=True,
    casts=True,
)
reduction(
    "sum_dim",
    sums,
    overload="sum.dim_IntList",
    params=("dim", "keepdim"),
    vjp=lambda F, g, self_shape, dim, keepdim: spread(F, g, self_shape, dim, keepdim),
    node="SumBackward1",
    doc="the sum along dimensions",
    combines="add",
)
linear(
    "mean",
    kernels.mean_all,
    vjp=lambda F, g, self_shape: F.expand(g / math.prod(self_shape), shape=self_shape),
    cases=_WHOLE[:3],
    shows=_COUNT,
    doc="the mean of all elements",
    sparsity="total",
    overloaded=True,
    casts=True,
)
reduction(
    "mean_dim",
    kernels.mean,
    vjp=lambda F, g, self_shape, dim, keepdim: spread(
        F, g / _extent(self_shape, dim), self_shape, dim, keepdim
    ),
    node="MeanBackward1",
    shows=_COUNT,
    doc="the mean along dimensions",
)

# -- extremes -------------------------------------------------------------------------------------


def _evenly(F: Any, mask: Any, dtype: Any, dim: tuple[int, ...]) -> Any:
    """Return each element's share of a cotangent that is divided evenly over a mask along `dim`."""
    share = F.to_copy(mask, dtype=dtype)
    return share / F.sum_dim(share, dim=dim, keepdim=True)


def _slope_of_extreme(
    F: Any, g: Any, self: Any, result: Any, self_shape: tuple[int, ...], self_dtype: Any
) -> Any:
    # a NaN is the extreme wherever there is one, and receives the gradient
    mask = F.logical_or(self == result, self != self)
    dim = tuple(range(len(self_shape)))
    count = F.sum_dim(F.to_copy(mask, dtype=self_dtype), dim=dim, keepdim=True)
    # not by a product: 0 times an infinite gradient is NaN
    return F.where(mask, g / count, 0)


def _slope_of_extremes(
    F: Any,
    g: Any,
    self: Any,
    result: Any,
    self_shape: tuple[int, ...],
    self_dtype: Any,
    dim: tuple[int, ...],
    keepdim: bool,
) -> Any:
    mask = self == spread(F, result, self_shape, dim, keepdim)
    return spread(F, g, self_shape, dim, keepdim) * _evenly(F, mask, self_dtype, dim)


def _slope_of_picked(
    F: Any, g: Any, indices: Any, self_shape: tuple[int, ...], dim: int, keepdim: bool
) -> Any:
    if not self_shape:
        return g
    taken = F.at_index(indices, dim=dim, shape=self_shape, keepdim=keepdim)
    return F.where(taken, spread(F, g, self_shape, (dim,), keepdim), 0)


_kernel: Any

for _name, _kernel, _doc in (
    ("max", kernels.maximum, "the largest element; ties share the gradient"),
    ("min", kernels.minimum, "the smallest element; ties share the gradient"),
):
    general(
        _name,
        _kernel,
        lacks="complex",
        vjp=(_slope_of_extreme,),
        node=f"{_name.capitalize()}Backward1",
        cases=_WHOLE[:3],
        raises=False,
        doc=_doc,
        tangents="reduced",
        combines=_name,
        overloaded=True,
    )

for _name, _kernel, _doc in (
    ("amax", kernels.amax, "the largest element along dimensions; ties share the gradient"),
    ("amin", kernels.amin, "the smallest element along dimensions; ties share the gradient"),
):
    reduction(
        _name,
        _kernel,
        vjp=_slope_of_extremes,
        doc=_doc,
        lacks="complex",
        combines=_name[1:],
    )

_PICKED = (
    case((2, 3), lambda rng: rng.integers(0, 3, (2,)), dim=1, keepdim=False),
    case((2, 3), lambda rng: rng.integers(0, 2, (1, 3)), dim=0, keepdim=True),
    case((), lambda rng: np.zeros((), np.int64), dim=0, keepdim=False),
    case((3,), lambda rng: np.array(2), dim=0, keepdim=False),
    case((0, 3), lambda rng: np.zeros((0,), np.int64), dim=1, keepdim=False),
)

for _name in ("max", "min"):
    linear(
        f"{_name}_dim",
        kernels.pick,
        vjp=(_slope_of_picked, None),
        node=f"{_name.capitalize()}Backward0",
        cases=_PICKED,
        raises=False,
        lacks="complex",
        doc="the element at each index along a dimension, as a search for extremes found it",
        batching="chosen",
    )

constant(
    "at_index",
    kernels.at_index,
    args=("indices",),
    cases=(case(lambda rng: rng.integers(0, 3, (2,)), dim=1, shape=(2, 3), keepdim=False),),
    doc="a mask of the elements along a dimension that indices name",
    batching="dims",
)

for _name, _kernel, _doc in (
    ("argmax", kernels.argmax, "the position of the largest element"),
    ("argmin", kernels.argmin, "the position of the smallest element"),
):
    constant(
        _name,
        _kernel,
        cases=(
            case((2, 3), dim=1, keepdim=False),
            case((2, 3), dim=None, keepdim=True),
            case((), dim=None, keepdim=False),
        ),
        raises=False,
        doc=_doc,
        batching="flattened",
    )

_TRUTH = (case((2, 3), dim=(1,), keepdim=False), case((), dim=(), keepdim=False))

constant(
    "any",
    lambda self, dim, keepdim: kernels.truth(self, dim, keepdim, every=False),
    cases=_TRUTH,
    layout="contiguous",
    doc="whether some element along dimensions is not 0",
    raises=False,
    batching="dims",
    combines="or",
    overloaded=True,
)
constant(
    "all",
    lambda self, dim, keepdim: kernels.truth(self, dim, keepdim, every=True),
    cases=_TRUTH,
    layout="contiguous",
    doc="whether no element along dimensions is 0",
    raises=False,
    batching="dims",
    combines="and",
    overloaded=True,
)
constant(
    "count_nonzero",
    kernels.count,
    cases=(case((2, 3), dim=(0,)), case((2, 3), dim=(0, 1))),
    layout="contiguous",
    doc="the number of elements along dimensions that are not 0",
    raises=False,
    batching="dims",
    combines="count",
)
