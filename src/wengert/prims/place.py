"""Layer 2 · prims: writes at positions of a dimension, of a mask, or of the flattened tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels import place as kernels
from wengert.prims.families import linear
from wengert.prims.record import case


def _whole(*rows: Any) -> Any:
    return lambda rng: np.array(rows, dtype=np.int64)


def _mask(*values: Any) -> Any:
    return lambda rng: np.array(values, dtype=bool)


linear(
    "index_fill",
    kernels.copying(kernels.fill_at),
    into=kernels.fill_at,
    params=("dim", "value"),
    vjp=(lambda F, g, index, dim: F.index_fill(g, index, dim=dim, value=0), None),
    cases=(
        case((3,), _whole(2, 0), dim=0, value=2.5),
        case((2, 3), _whole(1, 1), dim=1, value=-1.0),
        case((), _whole(0), dim=0, value=3.0),
    ),
    layout="same",
    doc="self with a number at positions of a dimension",
    writes="partial",
)
linear(
    "index_fill_tensor",
    kernels.copying(kernels.fill_at),
    into=kernels.fill_at,
    vjp=(
        lambda F, g, index, dim: F.index_fill(g, index, dim=dim, value=0),
        None,
        # count each position once, even if it is named several times
        lambda F, g, index, dim: F.sum(
            F.where(F.index_fill(F.zeros_like(g), index, dim=dim, value=1) == 1, g, 0)
        ),
    ),
    node="IndexFillBackward1",
    cases=(
        case((2, 3), _whole(2, 0), (), dim=1),
        case((3,), _whole(1), (), dim=0),
        case((3, 2), _whole(1, 1, 0), (), dim=0),
    ),
    layout="same",
    doc="self with a value without dimensions at positions of a dimension",
    writes="partial",
)
linear(
    "index_copy",
    kernels.copying(kernels.copy_at),
    into=kernels.copy_at,
    vjp=(
        lambda F, g, index, dim: F.index_fill(g, index, dim=dim, value=0),
        None,
        lambda F, g, index, source_shape, dim: F.view(
            F.index_select(g, index, dim=dim), shape=source_shape
        ),
    ),
    cases=(
        case((3,), _whole(2, 0), (2,), dim=0),
        case((2, 3), _whole(2, 0), (2, 2), dim=1),
        case((), _whole(0), (), dim=0),
        case((3,), _whole(1), (), dim=0),
    ),
    layout="same",
    shows={"source_sym_sizes": None},
    doc="self with the positions of source, in order, at those that an index names",
    writes="scattered",
)
linear(
    "masked_scatter",
    kernels.copying(kernels.scatter_masked),
    into=kernels.scatter_masked,
    vjp=(
        lambda F, g, mask: F.masked_fill(g, mask, value=0),
        None,
        lambda F, g, mask, source_shape: F.masked_scatter_backward(g, mask, shape=source_shape),
    ),
    cases=(
        case((3,), _mask(True, False, True), (2,)),
        case((2, 2), _mask([False, True], [True, False]), (2, 2)),
        case((2,), _mask(False, False), (0,)),
    ),
    masks=True,
    layout="same",
    raises=True,
    doc="self with the elements of source, in order, where a mask holds",
    writes="scattered",
)
linear(
    "masked_scatter_backward",
    kernels.masked_scatter_backward,
    vjp=(
        lambda F, g, mask, mask_shape, self_dtype: F.masked_scatter(
            F.zeros(shape=mask_shape, dtype=self_dtype), mask, g
        ),
        None,
    ),
    cases=(case((3,), _mask(True, False, True), shape=(3,)),),
    doc="the elements where a mask holds, in order, in a shape, with zeros behind them",
)
linear(
    "put",
    kernels.copying(kernels.put_at),
    into=kernels.put_at,
    vjp=(
        lambda F, g, index, self_dtype, source_shape, accumulate: (
            g
            if accumulate
            else F.put(g, index, F.zeros(shape=source_shape, dtype=self_dtype), accumulate=False)
        ),
        None,
        lambda F, g, index, source_shape: F.view(F.take(g, index), shape=source_shape),
    ),
    cases=(
        case((2, 3), _whole(5, 0), (2,), accumulate=False),
        case((2, 3), _whole(5, -6, 5), (3,), accumulate=True),
        case((3,), _whole([1], [2]), (2,), accumulate=False),
    ),
    layout="same",
    doc="self with values written, or added, at positions of it laid out as one dimension",
    writes="scattered",
)
