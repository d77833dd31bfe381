"""Layer 2 · prims: indexing with integer arrays and masks, for reading and writing.

See NOTE [indices] in `wengert.kernels.index`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels import index as kernels
from wengert.kernels.place import copying
from wengert.kernels.select import choose
from wengert.prims.families import constant, linear
from wengert.prims.record import case


def _whole(*rows: Any) -> Any:
    """Return a function from the random generator to a sample\'s index array."""
    return lambda rng: np.array(rows, dtype=np.int64)


def _mask(*values: Any) -> Any:
    return lambda rng: np.array(values, dtype=bool)


# -- x[i, j] --------------------------------------------------------------------------------------

_I = np.array([2, 0, 2])
_J = np.array([0, 1, 0])
_COLUMN = np.array([[0], [1]])
_CORNERS = np.array([[True, False, False], [False, False, True]])

linear(
    "index",
    kernels.index,
    overload="Tensor",
    vjp=lambda F, g, self_shape, indices: F.index_backward(g, shape=self_shape, indices=indices),
    cases=(
        case((3,), indices=(_I,)),
        case((3, 2), indices=(_I,)),
        case((3, 513), indices=(_I,)),
        case((3, 2), indices=(np.array([-1, 0]),)),
        case((2, 3), indices=(None, np.array([[2, 0], [1, 1]]))),
        case((2, 3, 4), indices=(_J, None, _I)),
        case((2, 3, 4), indices=(None, _COLUMN, np.array([3, 1]))),
        case((2, 3), indices=(_CORNERS,)),
        case((2, 3), indices=(None, np.array([True, False, True]))),
        case((2, 3, 4), indices=(_CORNERS, np.array([3, 0]))),
        case((2, 3), indices=(np.array([], dtype=np.int64),)),
    ),
    masks=True,
    doc="the elements that integer arrays or masks name",
    size="mask",
    sparsity="viewed",
    keeps_nan=True,
)
linear(
    "index_backward",
    kernels.index_backward,
    vjp=lambda F, g, indices: F.index(g, indices=indices),
    node="IndexPutBackward0",
    cases=(
        case((3,), shape=(3,), indices=(_I,)),
        case((3, 3), shape=(2, 3, 4), indices=(_J, None, _I)),
        case((2,), shape=(2, 3), indices=(_CORNERS,)),
    ),
    doc="zeros to which self is added where integer arrays or masks point",
    keeps_nan=True,
)


def _outside(F: Any, g: Any, indices: Any, accumulate: bool) -> Any:
    return g if accumulate else F.index_put(g, 0, indices=indices, accumulate=False)


def _written(F: Any, g: Any, value_shape: Any, indices: Any) -> Any:
    core = value_shape
    while core[:1] == (1,):
        core = core[1:]
    picked = F.sum_to(F.index(g, indices=indices), shape=core)
    return picked if core == value_shape else F.view(picked, shape=value_shape)


linear(
    "index_put",
    kernels.index_put,
    into=kernels.put_into,
    promote="same",
    vjp=(
        _outside,
        _written,
    ),
    cases=(
        case((3,), (2,), indices=(np.array([2, 0]),), accumulate=False),
        case((3, 2), (), indices=(np.array([2, 0]),), accumulate=False),
        case((2, 3), (2, 1), indices=(None, np.array([2, 2])), accumulate=True),
        case((2, 3), (2,), indices=(_CORNERS,), accumulate=True),
        case((2, 3), (1,), indices=(_CORNERS,), accumulate=False),
        case((2, 3), (1, 1, 1, 3), indices=(np.array([1, 0]),), accumulate=False),
    ),
    masks=True,
    layout="same",
    shows={"value_sym_sizes": None},
    doc="self with a value written, or added, where integer arrays or masks point",
    writes="partial scattered",
)

# -- one index array and a dimension --------------------------------------------------------------

linear(
    "index_select",
    lambda self, index, dim: np.take(self, index.reshape(-1), dim) if self.ndim else self.copy(),
    vjp=(
        lambda F, g, index, self_shape, self_dtype, dim: F.index_add(
            F.zeros(shape=self_shape, dtype=self_dtype), index, g, dim=dim, alpha=1
        ),
        None,
    ),
    cases=(
        case((3,), _whole(2, 0, 2), dim=0),
        case((2, 3), _whole(1, 1), dim=1),
        case((2, 3), _whole(), dim=0),
    ),
    layout="contiguous",
    doc="positions of a dimension",
)
linear(
    "index_add",
    copying(kernels.index_add_at),
    into=kernels.index_add_at,
    vjp=(
        lambda F, g: g,
        None,
        lambda F, g, index, dim, alpha: F.index_select(g, index, dim=dim) * alpha,
    ),
    cases=(
        case((3,), _whole(2, 2), (2,), dim=0, alpha=1),
        case((2, 3), _whole(0, 2), (2, 2), dim=1, alpha=-2.0),
    ),
    layout="same",
    doc="self to which positions of a dimension of source are added",
    fused="kernel",
    writes="scattered",
)
linear(
    "gather",
    kernels.gather,
    vjp=(
        lambda F, g, index, self_shape, self_dtype, dim: F.scatter_add(
            F.zeros(shape=self_shape, dtype=self_dtype), index, g, dim=dim
        ),
        None,
    ),
    cases=(
        case((3,), _whole(2, 2, 0, 1), dim=0),
        case((2, 3), _whole([1, 0, 1]), dim=0),
        case((2, 3), _whole([1, 2], [0, 0]), dim=1),
        case((3, 2), _whole([1], [0]), dim=1),
    ),
    layout="contiguous",
    shows={"sparse_grad": lambda: False, "self_sym_sizes": None},
    doc="the elements along a dimension that an index names for each place",
    fused="kernel",
)
linear(
    "scatter_add",
    copying(kernels.scatter_add_at),
    into=kernels.scatter_add_at,
    vjp=(
        lambda F, g: g,
        None,
        lambda F, g, index, src_shape, dim: F.corner_backward(
            F.gather(g, index, dim=dim), shape=src_shape
        ),
    ),
    cases=(
        case((3,), _whole(2, 2, 0), (3,), dim=0),
        case((2, 3), _whole([1, 0, 1]), (2, 3), dim=0),
    ),
    layout="same",
    shows={"src_sym_sizes": None},
    doc="self to which src is added at the places that an index names along a dimension",
    fused="kernel",
    writes="scattered",
)
linear(
    "scatter",
    copying(kernels.scatter_at),
    into=kernels.scatter_at,
    vjp=(
        lambda F, g, index, dim: F.scatter_value(g, index, dim=dim, value=0),
        None,
        lambda F, g, index, src_shape, dim: F.corner_backward(
            F.gather(g, index, dim=dim), shape=src_shape
        ),
    ),
    cases=(
        case((3,), _whole(2, 0), (2,), dim=0),
        case((2, 3), _whole([1, 0, 1]), (2, 3), dim=0),
    ),
    layout="same",
    shows={"src_sym_sizes": None},
    doc="self with src written at the places that an index names along a dimension",
    fused="kernel",
    writes="scattered",
)
linear(
    "scatter_value",
    copying(kernels.scatter_value_at),
    into=kernels.scatter_value_at,
    vjp=(lambda F, g, index, dim: F.scatter_value(g, index, dim=dim, value=0), None),
    node="ScatterBackward1",
    cases=(case((2, 3), _whole([1, 0, 1]), dim=0, value=2.5),),
    layout="same",
    doc="self with a number written at the places that an index names along a dimension",
    fused="kernel",
    writes="scattered",
)
linear(
    "corner_backward",
    kernels.corner_backward,
    vjp=lambda F, g, self_shape: F.corner(g, shape=self_shape),
    node="ConstantPadNdBackward0",
    cases=(case((1, 2), shape=(2, 3)), case((2,), shape=(2,))),
    doc="self with zeros behind it in every dimension, up to a shape",
    batching="dims",
)
linear(
    "corner",
    lambda self, shape: self[tuple([slice(size) for size in shape])].copy(),
    vjp=lambda F, g, self_shape: F.corner_backward(g, shape=self_shape),
    node="SliceBackward0",
    cases=(case((2, 3), shape=(1, 2)),),
    doc="the first elements of every dimension",
    batching="dims",
)


linear(
    "take",
    kernels.take,
    vjp=(
        lambda F, g, index, self_shape: F.take_backward(g, index, shape=self_shape),
        None,
    ),
    cases=(case((2, 3), _whole(5, 0, 5)), case((2, 3), _whole([1], [2])), case((), _whole(0))),
    layout="contiguous",
    doc="the elements at positions of self laid out as one dimension",
)

linear(
    "take_backward",
    kernels.take_backward,
    vjp=(lambda F, g, index: F.take(g, index), None),
    node="PutBackward0",
    cases=(case((3,), _whole(5, 0, 5), shape=(2, 3)),),
    doc="zeros to which self is added at positions of them laid out as one dimension",
)

# -- masks ----------------------------------------------------------------------------------------

linear(
    "masked_select",
    kernels.masked_select,
    vjp=(lambda F, g, mask: F.masked_select_backward(g, mask), None),
    cases=(
        case((3,), _mask(True, False, True)),
        case((2, 2), _mask([False, False], [True, False])),
        case((2,), _mask(False, False)),
    ),
    masks=True,
    doc="the elements where a mask of the same shape holds",
    size="mask",
)
linear(
    "masked_select_backward",
    kernels.masked_select_backward,
    vjp=(lambda F, g, mask: F.masked_select(g, mask), None),
    node="MaskedScatterBackward0",
    cases=(case((2,), _mask(True, False, True)),),
    raises=True,
    doc="zeros with the elements of self, in order, where a mask holds",
)
linear(
    "masked_fill",
    lambda self, mask, value: choose(np.logical_not(mask), self, value),
    overload="Tensor Scalar",
    into=lambda self, mask, value: np.copyto(self, value, where=mask),
    broadcasts=True,
    vjp=(lambda F, g, mask: F.masked_fill(g, mask, value=0), None),
    cases=(
        case((3,), _mask(True, False, True), value=2.5),
        case((2, 3), _mask(True, False, True), value=0),
        case((), _mask(True, False), value=1.0),
    ),
    masks=True,
    layout="contiguous",
    doc="self with a number where a mask holds",
    writes="partial",
)
linear(
    "masked_fill_tensor",
    lambda self, mask, value: np.where(mask, value, self),
    # only where the mask holds: another element may lie in the same memory
    into=lambda self, mask, value: np.copyto(self, value, where=mask),
    broadcasts=True,
    vjp=(
        lambda F, g, mask: F.masked_fill(g, mask, value=0),
        None,
        lambda F, g, mask: F.where(mask, g, 0),
    ),
    node="MaskedFillBackward1",
    cases=(case((2, 3), _mask(True, False, True), ()),),
    masks=True,
    layout="contiguous",
    doc="self with a value without dimensions where a mask holds",
    writes="partial aliased",
)
constant(
    "nonzero",
    lambda self: np.argwhere(self),
    cases=(case((2, 3)), case(())),
    doc="the positions of all elements that are not zero, one per row",
    size="mask",
)
