"""Layer 2 · prims: sorting and order statistics: the positions of elements, and the elements at
them.

Each operation that selects elements is two records: a constant one that finds positions, and a
linear one that takes the elements there. See NOTE [ranks] in `wengert.kernels.sorting`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels import sorting as kernels
from wengert.prims.families import constant, general, linear
from wengert.prims.record import case, not_implemented

Shape = tuple[int, ...]


def _positions(size: int, shape: Shape) -> Any:
    """Return positions in a dimension of `size`, for a case."""
    return lambda rng: np.asarray(rng.integers(0, size, shape) if size else np.zeros(shape, int))


# -- positions ------------------------------------------------------------------------------------

_ORDERED = tuple(
    case(shape, dim=dim, descending=descending)
    for shape, dim in (((), 0), ((3,), 0), ((2, 3), 0), ((2, 3), 1), ((0,), 0), ((2, 0), 0))
    for descending in (False, True)
)

constant(
    "argsort",
    kernels.order,
    cases=_ORDERED,
    layout="same",
    doc="the positions of the elements along a dimension in ascending or descending order",
    raises=False,
    batching="along",
)
constant(
    "argtop",
    kernels.top,
    cases=tuple(
        case(shape, k=k, dim=dim, largest=largest, sorted=True)
        for shape, dim, k in (((), 0, 1), ((5,), 0, 2), ((2, 3), 1, 3), ((3, 2), 0, 0))
        for largest in (False, True)
    ),
    doc="the positions of the k largest or smallest elements along a dimension",
    raises=False,
    batching="along",
)
constant(
    "argkth",
    kernels.kth,
    cases=(
        case((), k=0, dim=0, keepdim=False),
        case((3,), k=1, dim=0, keepdim=False),
        case((2, 3), k=0, dim=0, keepdim=True),
    ),
    layout="contiguous",
    doc="the position of the element of rank k (from 0) along a dimension",
    raises=False,
    batching="along",
)
constant(
    "argranked",
    kernels.ranked,
    cases=(case((4,), ranks=(1, 3, 1)), case((2, 3), ranks=(0,)), case((2, 3), ranks=())),
    doc="the positions of the elements of several ranks along the last dimension",
    raises=False,
    batching="leading",
)

_kernel: Any

for _name, _kernel, _doc in (
    ("argmedian", kernels.median_dim, "the position of the lower median along a dimension"),
    ("argnanmedian", kernels.nanmedian_dim, "the position of the lower median of what is not NaN"),
    ("argmode", kernels.mode, "the position of the most frequent element along a dimension"),
):
    constant(
        _name,
        _kernel,
        cases=(
            case((), dim=0, keepdim=False),
            case((3,), dim=0, keepdim=False),
            case((2, 3), dim=0, keepdim=True),
        ),
        raises=False,
        doc=_doc,
        batching="along",
    )

# -- elements at positions ------------------------------------------------------------------------


_SEVERAL = tuple(
    case(shape, _positions(shape[dim] if shape else 1, places), dim=dim)
    for shape, dim, places in (
        ((), 0, ()),
        ((3,), 0, (4,)),
        ((2, 3), 0, (2, 3)),
        ((2, 3), 1, (2, 2)),
        ((2, 3, 4), 1, (2, 3, 4)),
        ((0,), 0, (0,)),
        ((2, 0), 0, (2, 0)),
    )
)
_SINGLE = tuple(
    case(shape, _positions(shape[dim] if shape else 1, places), dim=dim)
    for shape, dim, places in (
        ((), 0, ()),
        ((3,), 0, ()),
        ((2, 3), 0, (1, 3)),
        ((2, 3, 4), 1, (2, 4)),
        ((0, 3), 1, (0,)),
    )
)

for _name, _node, _cases, _doc in (
    ("taken", "GatherBackward0", _SEVERAL, "the elements at positions"),
    ("sort", "SortBackward0", _SEVERAL, "the elements at the positions that sorting gave"),
    ("topk", "TopkBackward0", _SEVERAL, "the elements at the positions of the largest ones"),
    ("kthvalue", "KthvalueBackward0", _SINGLE, "the element at the position of a rank"),
    ("median_dim", "MedianBackward1", _SINGLE, "the element at the position of the median"),
    ("nanmedian_dim", "NanmedianBackward1", _SINGLE, "the element at the position of the median"),
    ("mode", "ModeBackward0", _SINGLE, "the element at the position of the most frequent one"),
    ("cummax", "CummaxBackward0", _SEVERAL, "the elements at the positions of running maxima"),
    ("cummin", "CumminBackward0", _SEVERAL, "the elements at the positions of running minima"),
):
    linear(
        _name,
        kernels.taken,
        layout="same" if _name == "sort" else "contiguous",
        vjp=(
            lambda F, g, indices, self_shape, dim: F.placed(g, indices, shape=self_shape, dim=dim),
            None,
        ),
        node=_node,
        cases=_cases,
        # positions found by the library itself
        raises=None if _name == "taken" else False,
        doc=f"{_doc} along a dimension",
        batching="chosen",
        fused="kernel",
    )

linear(
    "placed",
    kernels.placed,
    vjp=(lambda F, g, indices, dim: F.taken(g, indices, dim=dim), None),
    node="ScatterAddBackward0",
    cases=(
        case((), _positions(1, ()), shape=(), dim=0),
        case((4,), _positions(3, (4,)), shape=(3,), dim=0),
        case((2, 2), _positions(3, (2, 2)), shape=(2, 3), dim=1),
        case((2, 4), _positions(3, (2, 4)), shape=(2, 3, 4), dim=1),
    ),
    doc="zeros to which the elements of self are added at positions along a dimension",
    batching="chosen",
    fused="kernel",
)

# -- full medians ---------------------------------------------------------------------------------


def _slope_of_median(
    F: Any, g: Any, self: Any, result: Any, self_shape: Shape, self_dtype: Any
) -> Any:
    # elements equal to the median share its gradient, or NaNs if the median is one
    equal = F.logical_or(self == result, F.logical_and(self != self, result != result))
    share = F.to_copy(equal, dtype=self_dtype)
    count = F.sum_dim(share, dim=tuple(range(len(self_shape))), keepdim=True)
    # not by a product: 0 times a gradient that is not finite is NaN
    return F.where(equal, g / count, 0)


for _name, _kernel, _doc in (
    ("median", kernels.median, "the lower median of all elements"),
    ("nanmedian", kernels.nanmedian, "the lower median of all elements that are not NaN"),
):
    general(
        _name,
        _kernel,
        vjp=(_slope_of_median,),
        cases=(case(()), case((3,)), case((2, 4))),
        raises=False,
        refuses=not_implemented("median_cpu"),
        doc=f"{_doc}; ties share the gradient",
        tangents="reduced",
    )
