"""Layer 2 · prims: copies, casts, and arrays made from a shape."""

import numpy as np

from wengert.kernels import create as kernels
from wengert.prims.families import constant, elementwise, linear, zero
from wengert.prims.record import case

constant(
    "zeros",
    lambda shape, dtype: np.zeros(shape, dtype),
    args=(),
    cases=(case(shape=(2, 3), dtype=np.dtype("float64")), case(shape=(), dtype=np.dtype("int64"))),
    doc="zeros of a shape and a dtype",
    raises=False,
)
constant(
    "zeros_like",
    np.zeros_like,
    doc="zeros like self",
    raises=False,
    batching="pointwise",
)
constant(
    "zero_tangent",
    np.zeros_like,
    doc="zeros for a tangent or cotangent like self that is not there",
    raises=False,
    batching="pointwise",
)
elementwise(
    "clone",
    kernels.clone,
    lin=lambda F, g: g,
    promote=None,
    doc="a copy",
    pointwise=False,
    maps=True,
    keeps_nan=True,
)
linear(
    "assign",
    kernels.assign,
    into=kernels.copy_into,
    vjp=(zero, lambda F, g: g),
    broadcasts=True,
    node="torch::autograd::CopyBackwards",
    cases=(case((2, 3), (2, 3)), case((2, 3), (3,)), case((3,), ())),
    doc="src in the shape and the place of self",
    pointwise=False,
    sparsity="written_over",
    quick="fdileE?",
)
elementwise(
    "fill_scalar",
    kernels.filled,
    into=lambda self, value: self.fill(value),
    lin=zero,
    promote=None,
    node="FillBackward2",
    cases=(case((2, 3), value=2.0),),
    doc="a number in the shape of self",
    raises=False,
    pointwise=False,
    writes="overlapping",
)
linear(
    "fill_tensor",
    kernels.assign,
    into=np.copyto,
    args=("self", "value"),
    vjp=(zero, lambda F, g: g),
    broadcasts=True,
    node="FillBackward3",
    cases=(case((2, 3), ()), case((), ())),
    doc="one value, of a tensor without dimensions, in the shape and the place of self",
    writes="aliased",
    sparsity="written_over",
)
elementwise(
    "zero",
    np.zeros_like,
    into=lambda self: self.fill(0),
    lin=zero,
    promote=None,
    doc="zeros in the shape and the place of self",
    pointwise=False,
    writes="overlapping",
)
linear(
    "to_copy",
    kernels.to_copy,
    overload="_to_copy.default",
    vjp=lambda F, g, self_dtype: F.to_copy(g, dtype=self_dtype),
    conj="explicit",
    cases=(case((2, 3), dtype=np.dtype("float64")),),
    formula="{}",
    doc="a copy in another dtype",
    batching="pointwise",
    maps=True,
    keeps_nan=True,
)
constant(
    "saturate",
    kernels.saturate,
    cases=(case((2, 3), dtype=np.dtype("int8")), case((), dtype=np.dtype("uint8"))),
    doc="floats as integers: truncated, at most the limits of the dtype, and 0 for NaN",
    batching="pointwise",
)
linear(
    "to_device",
    kernels.to_device,
    vjp=lambda F, g, self_device: F.to_device(g, device=self_device),
    conj="explicit",
    node="ToCopyBackward0",
    cases=(case((2, 3), device="cpu"),),
    formula="{}",
    doc="a copy on another device",
    batching="pointwise",
    keeps_nan=True,
)
