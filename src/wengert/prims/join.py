"""Layer 2 · prims: operations that join any number of tensors into one."""

from wengert.kernels import join as kernels
from wengert.prims.families import linear
from wengert.prims.record import case

linear(
    "cat",
    kernels.cat,
    args=("*tensors",),
    promote="same",
    vjp=lambda F, g, tensors_shape, dim: F.split_with_sizes(
        g, sizes=tuple([shape[dim] for shape in tensors_shape]), dim=dim
    ),
    cases=(
        case((2,), (3,), dim=0),
        case((2, 3), (2, 1), (2, 0), dim=1),
        case((1, 3), dim=0),
    ),
    doc="the tensors one after the other along a dimension",
    keeps_nan=True,
)
linear(
    "stack",
    kernels.stack,
    args=("*tensors",),
    promote="same",
    vjp=lambda F, g, dim: F.unbind(g, dim=dim),
    cases=(
        case((), (), dim=0),
        case((2, 3), (2, 3), (2, 3), dim=1),
        case((2,), (2,), dim=1),
        case((0,), (0,), dim=0),
    ),
    doc="the tensors as positions of a new dimension",
    keeps_nan=True,
)
