"""Layer 2 · prims: products of vectors, exponentials of matrices."""

from __future__ import annotations

from typing import Any

from wengert.kernels import products as kernels
from wengert.prims.families import bilinear, general, per_matrix
from wengert.prims.matrices import mT
from wengert.prims.record import case

bilinear(
    "linalg_cross",
    kernels.cross,
    vjp=(
        lambda F, g, other, dim: F.linalg_cross(other, g, dim=dim),
        lambda F, g, self, dim: F.linalg_cross(g, self, dim=dim),
    ),
    promote="same",
    broadcasts=True,
    cases=(
        case((3,), (3,), dim=0),
        case((2, 3), (1, 3), dim=1),
        case((3, 1), (3, 2), dim=0),
        case((0, 3), (0, 3), dim=1),
    ),
    doc="the vector products of vectors with three elements",
    batching="dims",
    sparsity="along_dim",
    casts=False,
)


def _times(g: Any, factor: Any) -> Any:
    return g if factor == 1 else g * factor


general(
    "addr",
    kernels.addr,
    vjp=(
        # three vectors of one size have a common shape, but their result has two dimensions
        lambda F, g, self_shape, beta: F.sum_to(_times(g, beta), shape=self_shape),
        lambda F, g, vec2, alpha: _times(F.mv(g, vec2), alpha),
        lambda F, g, vec1, alpha: _times(F.mv(F.t(g), vec1), alpha),
    ),
    promote="same",
    broadcasts=True,
    cases=(
        case((2, 3), (2,), (3,), beta=1, alpha=1),
        case((3,), (2,), (3,), beta=0.5, alpha=-2.0),
        case((), (2,), (0,), beta=0, alpha=1),
        case((2,), (2,), (2,), beta=1, alpha=1),
    ),
    shows={"self_sym_sizes": None},
    doc="beta * self + alpha * the outer product of vec1 and vec2",
    tangents="parts",
    batching="parts",
    raises=False,
    sparsity="outer",
)


def _slope_of_exp(F: Any, g: Any, self: Any, self_shape: tuple[int, ...]) -> Any:
    # the derivative along g, transposed, is a block of the exponential of a larger matrix
    n, size = len(self_shape), self_shape[-1]
    turned = mT(F, self)
    upper = F.cat(turned, g, dim=n - 1)
    lower = F.cat(F.zeros_like(turned), turned, dim=n - 1)
    whole = F.linalg_matrix_exp(F.cat(upper, lower, dim=n - 2))
    rows = F.slice(whole, dim=n - 2, start=0, end=size, step=1)
    return F.slice(rows, dim=n - 1, start=size, end=2 * size, step=1)


# the derivative: R. Mathias, "A chain rule for matrix functions and applications", SIAM J. Matrix
# Anal. Appl. 17 (1996), theorem 2.1
per_matrix(
    "linalg_matrix_exp",
    kernels.matrix_exp,
    vjp=(_slope_of_exp,),
    cases=(case((2, 2)), case((2, 3, 3)), case((1, 1)), case((0, 2, 2)), case((0, 0))),
    doc="the exponentials of matrices",
)
