"""Layer 2 · prims: products of matrices and vectors.

All arguments have one dtype: the public functions check that, with PyTorch's errors.
"""

from __future__ import annotations

from typing import Any

from wengert.kernels import matmul as kernels
from wengert.prims.families import bilinear, general
from wengert.prims.record import case

_OF_MAT2 = {
    "mat2_sym_sizes": lambda mat2: tuple(mat2.shape),
    "mat2_sym_strides": lambda mat2: mat2.stride(),
}
"""The attributes of the second matrix that PyTorch's nodes show."""


def _mm_mat2(F: Any, g: Any, self: Any, mat2_ordered: bool) -> Any:
    """Return the cotangent of a product's second matrix, in that matrix's memory order."""
    if mat2_ordered:
        return F.mm(F.t(self), g)
    # for a transposed weight: its gradient will be transposed in turn, and need not be copied
    return F.t(F.mm(F.t(g), self))


bilinear(
    "mm",
    kernels.mm,
    args=("self", "mat2"),
    vjp=(
        lambda F, g, mat2: F.mm(g, F.t(mat2)),
        _mm_mat2,
    ),
    infix="{}.dot({})",
    promote=None,
    cases=(case((2, 3), (3, 4)), case((1, 1), (1, 1)), case((2, 0), (0, 3)), case((0, 2), (2, 2))),
    shows={
        "self_sym_sizes": lambda self: tuple(self.shape),
        "self_sym_strides": lambda self: self.stride(),
        **_OF_MAT2,
    },
    formula="{} @ {}",
    doc="the product of two matrices",
    autocast="lower",
    sparsity="matrix_product",
)
bilinear(
    "mv",
    kernels.mv,
    args=("self", "vec"),
    vjp=(
        lambda F, g, vec: F.unsqueeze(g, dim=1) * F.unsqueeze(vec, dim=0),
        lambda F, g, self: F.mv(F.t(self), g),
    ),
    infix="{}.dot({})",
    promote=None,
    cases=(case((2, 3), (3,)), case((2, 0), (0,)), case((0, 2), (2,))),
    formula="{} @ {}",
    doc="the product of a matrix and a vector",
    autocast="lower",
    sparsity="matrix_vector",
)
bilinear(
    "dot",
    kernels.dot,
    args=("self", "tensor"),
    vjp=(lambda F, g, tensor: g * tensor, lambda F, g, self: g * self),
    infix="{}.dot({})",
    promote=None,
    cases=(case((3,), (3,)), case((0,), (0,))),
    formula="{} @ {}",
    doc="the sum of the products of two vectors' elements",
    autocast="lower",
)
general(
    "vdot",
    kernels.vdot,
    vjp=(lambda F, g, other: F.conj(g) * other, lambda F, g, self: g * self),
    conj="explicit",
    cases=(case((3,), (3,)), case((0,), (0,))),
    doc="the sum of the products of two vectors' elements, those of the first conjugated",
    batching="parts",
    raises=False,
    tangents="bilinear",
)
bilinear(
    "bmm",
    kernels.bmm,
    vjp=(
        lambda F, g, mat2: F.bmm(g, F.transpose(mat2, dim0=1, dim1=2)),
        lambda F, g, self: F.bmm(F.transpose(self, dim0=1, dim1=2), g),
    ),
    promote=None,
    cases=(case((2, 3, 4), (2, 4, 2)), case((0, 2, 2), (0, 2, 2)), case((2, 1, 0), (2, 0, 3))),
    formula="{} @ {}",
    doc="the products of two lists of matrices",
    autocast="lower",
    sparsity="matrix_product",
)


def _times(g: Any, factor: Any) -> Any:
    return g if factor == 1 else g * factor


_ADDED = (
    case((4,), (2, 3), (3, 4), beta=1, alpha=1),
    case((2, 1), (2, 3), (3, 4), beta=0.5, alpha=-2.0),
    case((2, 4), (2, 0), (0, 4), beta=1, alpha=1),
)
general(
    "addmm",
    kernels.addmm,
    vjp=(
        lambda F, g, beta: _times(g, beta),
        lambda F, g, mat2, alpha: _times(F.mm(g, F.t(mat2)), alpha),
        lambda F, g, mat1, mat2_ordered, alpha: _times(_mm_mat2(F, g, mat1, mat2_ordered), alpha),
    ),
    broadcasts=True,
    cases=_ADDED,
    shows={
        "mat1_sym_sizes": lambda mat1: tuple(mat1.shape),
        "mat1_sym_strides": lambda mat1: mat1.stride(),
        **_OF_MAT2,
    },
    doc="beta * self + alpha * (mat1 @ mat2)",
    batching="parts",
    raises=False,
    autocast="lower",
    sparsity="matrix_product",
)
general(
    "addmv",
    kernels.addmv,
    args=("self", "mat", "vec"),
    vjp=(
        lambda F, g, beta: _times(g, beta),
        lambda F, g, vec, alpha: _times(F.unsqueeze(g, dim=1) * F.unsqueeze(vec, dim=0), alpha),
        lambda F, g, mat, alpha: _times(F.mv(F.t(mat), g), alpha),
    ),
    broadcasts=True,
    cases=(
        case((2,), (2, 3), (3,), beta=1, alpha=1),
        case((), (2, 3), (3,), beta=0.5, alpha=-2.0),
    ),
    doc="beta * self + alpha * (mat @ vec)",
    batching="parts",
    raises=False,
    autocast="lower",
    sparsity="matrix_vector",
)
general(
    "baddbmm",
    kernels.baddbmm,
    vjp=(
        lambda F, g, beta: _times(g, beta),
        lambda F, g, batch2, alpha: _times(F.bmm(g, F.transpose(batch2, dim0=1, dim1=2)), alpha),
        lambda F, g, batch1, alpha: _times(F.bmm(F.transpose(batch1, dim0=1, dim1=2), g), alpha),
    ),
    broadcasts=True,
    cases=(
        case((4,), (2, 3, 2), (2, 2, 4), beta=1, alpha=1),
        case((2, 3, 1), (2, 3, 2), (2, 2, 4), beta=0.5, alpha=2.0),
    ),
    doc="beta * self + alpha * (batch1 @ batch2)",
    batching="parts",
    raises=False,
    autocast="lower",
    sparsity="matrix_product",
)
