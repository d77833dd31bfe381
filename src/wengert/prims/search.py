"""Layer 2 · prims: distinct elements, positions in sorted sequences, membership, and bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels import distinct, search
from wengert.prims.families import constant
from wengert.prims.record import case, not_implemented


def _whole(*values: Any) -> Any:
    return lambda rng: np.array(values, np.int64)


_EQUAL = (case((3,)), case(_whole([2, 0], [2, 1])), case((0,)), case(()))
_SLICES = ((2, 3), 0), ((2, 2, 3), 1), ((3,), 0), ((0, 2), 0)
_kernel: Any

for _name, _kernel, _doc in (
    ("unique_values", distinct.unique_values, "the different elements in order"),
    (
        "unique_consecutive_values",
        distinct.unique_consecutive_values,
        "the first elements of groups of equal neighbours",
    ),
):
    constant(_name, _kernel, cases=_EQUAL, doc=_doc, size="values")

constant(
    "unique",
    distinct.unique,
    outputs=3,
    cases=_EQUAL,
    doc="where each different element first is, the group of each element, and their sizes",
    size="values",
)
constant(
    "unique_rows",
    distinct.unique_rows,
    outputs=3,
    cases=tuple(case(shape, dim=dim) for shape, dim in _SLICES),
    refuses=not_implemented("unique"),
    doc="where each different slice along a dimension first is, the group of each, and their sizes",
    size="values",
)
constant(
    "unique_consecutive",
    distinct.unique_consecutive,
    outputs=3,
    cases=tuple(case(shape, dim=dim) for shape, dim in (*_SLICES, ((2, 2), None), ((), None))),
    doc="where each group of equal neighbours begins, the group of each element, and their sizes",
    size="values",
)

constant(
    "searchsorted",
    search.searchsorted,
    args=("sorted_sequence", "self"),
    cases=tuple(
        case(lambda rng, shape=shape: np.sort(rng.standard_normal(shape)), values, right=right)
        for shape, values in (((4,), (2, 3)), ((4,), ()), ((2, 3), (2, 2)), ((0,), (2,)))
        for right in (False, True)
    ),
    doc="where to insert values into sorted sequences",
    raises=False,
)
constant(
    "isin",
    search.isin,
    args=("elements", "test_elements"),
    cases=(
        case(_whole(1, 2, 3), _whole(2), invert=False),
        case(_whole([1], [2]), _whole(), invert=True),
    ),
    doc="whether each element is among others",
    raises=False,
)
constant(
    "nonzero_static",
    search.nonzero_static,
    cases=(case((2, 3), size=4, fill_value=-1), case((), size=2, fill_value=0)),
    doc="so many positions of elements that are not zero",
)
constant(
    "bincount",
    search.bincount,
    cases=(case(_whole(2, 0, 2), size=5), case(_whole(), size=0)),
    doc="how often each number occurs",
    size="values",
)
constant(
    "histc",
    search.histc,
    cases=(case((7,), bins=3, low=-1.0, high=1.0), case((2, 2), bins=1, low=-9.0, high=9.0)),
    refuses=not_implemented("histogram_cpu"),
    doc="how many elements are in each of some bins of one width",
)

_BINS = tuple(
    case(shape, edges=edges, even=even)
    for shape, edges in (
        ((5,), (np.array([-1.0, 0.0, 1.0]),)),
        ((4, 2), (np.array([-1.0, 1.0]), np.array([-1.0, 0.0, 1.0]))),
    )
    for even in (False, True)
)
constant(
    "histogram",
    search.histogram,
    cases=_BINS,
    refuses=not_implemented("histogramdd"),
    doc="how many rows of coordinates are in each bin",
)
constant(
    "bin_numbers",
    search.bin_numbers,
    cases=_BINS,
    refuses=not_implemented("histogramdd"),
    doc="the number of the bin that each row of coordinates is in",
)
