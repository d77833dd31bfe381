"""Layer 2 · prims: distances between points, as p-norms of their differences.

Where points, or single coordinates, coincide, the derivative does not exist and is taken to be 0,
in every order.
"""

from __future__ import annotations

import math
from typing import Any

from wengert.kernels import distances as kernels
from wengert.prims import moments as moments
from wengert.prims.families import general, linear, per_matrix
from wengert.prims.matrices import mT
from wengert.prims.record import case, not_implemented

Dims = tuple[int, ...]


def _pull(F: Any, g: Any, x1: Any, x2: Any, result: Any, shape: Dims, p: float, mm: bool) -> Any:
    """Return the cotangent of the points x1."""
    if not mm:
        return F.cdist_backward(g, x1, x2, result, p=p)
    none = result == 0
    ratio = F.where(none, 0, g / F.where(none, 1, result))
    return x1 * F.sum_dim(ratio, dim=(len(shape) - 1,), keepdim=True) - ratio @ x2


_POWERS = (2.0, 1.0, 3.0, 2.5, 1.5, math.inf)

per_matrix(
    "cdist",
    kernels.cdist,
    vjp=(
        lambda F, g, x1, x2, result, x1_shape, p, mm: _pull(F, g, x1, x2, result, x1_shape, p, mm),
        lambda F, g, x1, x2, result, x1_shape, p, mm: _pull(
            F, mT(F, g), x2, x1, mT(F, result), x1_shape, p, mm
        ),
    ),
    refuses={"c": "cdist only supports floating-point dtypes, X1 got: {}"},
    cases=(
        *(case((3, 2), (4, 2), p=p, mm=False) for p in _POWERS),
        case((2, 3, 2), (2, 2, 2), p=2.0, mm=True),
        case((2, 2, 40), (2, 3, 40), p=1.0, mm=False),
        case((2, 40), (3, 40), p=3.0, mm=False),
        case((2, 3), (2, 3), p=0.0, mm=False),
        case((0, 3), (2, 3), p=2.0, mm=False),
        case((2, 0), (3, 0), p=2.0, mm=False),
    ),
    shows={"mm": None},
    doc="the distances of the points of two lists from each other",
    raises=False,
    autocast="float32",
    sparsity="distances",
)


def _parts(F: Any, x1: Any, x2: Any, result: Any, shape: Dims, p: float) -> tuple[Any, Any, Any]:
    """Return, for each pair, the difference, its absolute coordinates, and the distance.

    Absolute values and distances of 0 are replaced by 1: results that use them are masked.
    """
    n = len(shape)
    apart = F.unsqueeze(x1, dim=n - 1) - F.unsqueeze(x2, dim=n - 2)
    size, far = F.abs(apart), F.unsqueeze(result, dim=n)
    if p != math.inf:
        size, far = F.where(apart == 0, 1, size), F.where(far == 0, 1, far)
    return apart, size, far


def _slopes(F: Any, x1: Any, x2: Any, result: Any, shape: Dims, p: float) -> Any:
    """Return the derivative of each distance with respect to the coordinates of x1's points."""
    apart, size, far = _parts(F, x1, x2, result, shape, p)
    if p == 0:
        return F.zeros_like(apart)
    if p == 1:
        return F.sign(apart)
    if p == math.inf:
        return F.where(size == far, F.sign(apart), 0)
    # 0 where points coincide, since their differences are 0
    powers = size ** (p - 2) * far ** (1 - p) if p != 2 else 1 / far
    return apart * powers


def _along(F: Any, g: Any, x1: Any, x2: Any, result: Any, shape: Dims, p: float) -> Any:
    """Return the change of the distances if the points x1 move by g."""
    n = len(shape)
    moves = _slopes(F, x1, x2, result, shape, p) * F.unsqueeze(g, dim=n - 1)
    return F.sum_dim(moves, dim=(n,), keepdim=False)


def _by_distance(
    F: Any, g: Any, self: Any, x1: Any, x2: Any, result: Any, shape: Dims, p: float
) -> Any:
    moved = _along(F, g, x1, x2, result, shape, p)
    if p in (0, 1, math.inf):
        return F.zeros_like(moved)
    none = result == 0
    return F.where(none, 0, self * moved * ((1 - p) / F.where(none, 1, result)))


def _by_points(
    F: Any, g: Any, self: Any, x1: Any, x2: Any, result: Any, shape: Dims, p: float
) -> Any:
    """Return the cotangent of the difference of each pair of points."""
    n = len(shape)
    apart, size, far = _parts(F, x1, x2, result, shape, p)
    if p in (0, 1, math.inf):
        return F.zeros_like(apart)
    steep = far ** (1 - p) * (p - 1)
    if p != 2:
        steep = F.where(apart == 0, 0, size ** (p - 2) * steep)
    weights = F.unsqueeze(F.where(result == 0, 0, self), dim=n)
    return steep * weights * F.unsqueeze(g, dim=n - 1)


per_matrix(
    "cdist_backward",
    kernels.cdist_backward,
    args=("self", "x1", "x2", "distances"),
    vjp=(
        lambda F, g, x1, x2, distances, x1_shape, p: _along(F, g, x1, x2, distances, x1_shape, p),
        lambda F, g, self, x1, x2, distances, x1_shape, p: F.sum_dim(
            _by_points(F, g, self, x1, x2, distances, x1_shape, p),
            dim=(len(x1_shape) - 1,),
            keepdim=False,
        ),
        lambda F, g, self, x1, x2, distances, x1_shape, p: (
            -F.sum_dim(
                _by_points(F, g, self, x1, x2, distances, x1_shape, p),
                dim=(len(x1_shape) - 2,),
                keepdim=False,
            )
        ),
        lambda F, g, self, x1, x2, distances, x1_shape, p: _by_distance(
            F, g, self, x1, x2, distances, x1_shape, p
        ),
    ),
    domain=("real", "real", "real", "positive"),
    refuses=not_implemented("cdist_backward"),
    cases=tuple(
        case((3, 4), (3, 2), (4, 2), (3, 4), p=p) for p in (2.0, 1.0, 3.0, 2.5, 1.5, math.inf)
    ),
    doc="what arrives at the first points of cdist",
    raises=False,
)

# -- one list of points ---------------------------------------------------------------------------


def _pull_of_pairs(F: Any, g: Any, self: Any, result: Any, self_shape: Dims, p: float) -> Any:
    size = self_shape[0]
    weights = F.square_of_pairs(g, size=size)
    distances = F.square_of_pairs(result, size=size)
    return F.cdist_backward(weights, self, self, distances, p=p)


general(
    "pdist",
    kernels.pdist,
    vjp=(_pull_of_pairs,),
    refuses={"c": "pdist only supports floating-point dtypes, got: {}"},
    cases=(
        *(case((4, 3), p=p) for p in _POWERS),
        case((1, 3), p=2.0),
        case((0, 3), p=2.0),
        case((3, 0), p=1.0),
    ),
    doc="the distances of each of a list of points from those after it",
    raises=False,
)
linear(
    "square_of_pairs",
    kernels.square_of_pairs,
    vjp=lambda F, g: F.pairs_of_square(g) + F.pairs_of_square(F.t(g)),
    cases=(case((3,), size=3), case((0,), size=1)),
    doc="a symmetric matrix, from what is above its diagonal",
)
linear(
    "pairs_of_square",
    kernels.pairs_of_square,
    vjp=lambda F, g, self_shape: F.triu(F.square_of_pairs(g, size=self_shape[0]), diagonal=1),
    cases=(case((3, 3)), case((1, 1))),
    doc="what is above the diagonal of a square matrix",
)

# -- lengths --------------------------------------------------------------------------------------


def _slope_of_length(
    F: Any, self: Any, length: Any, long: Any, dim: Dims, p: float, self_dtype: Any
) -> Any:
    """Return the derivative of norms along `dim`; `length` is 1 for slices within bounds."""
    if p == 2:
        return self / length
    size = F.abs(self)
    if p == math.inf:
        mask = F.logical_and(size == length, long)
        share = F.to_copy(mask, dtype=length.dtype)
        count = F.sum_dim(share, dim=dim, keepdim=True)
        return F.sgn(self) * (share / F.where(long, count, 1))
    if p == 1:
        return F.sgn(self)
    none = size == 0
    powers = F.pow_scalar(F.where(none, 1, size), exponent=p - 2)
    return self * F.where(none, 0, powers * F.pow_scalar(length, exponent=1 - p))


def _slope_of_renorm(
    F: Any, g: Any, self: Any, self_dtype: Any, p: float, dim: Dims, maxnorm: float
) -> Any:
    length = F.vector_norm(self, ord=p, dim=dim, keepdim=True)
    long = length > maxnorm
    length = F.where(long, length, 1)
    scale = 1 / (length + 1e-7)
    along = F.real(F.conj(self) * g) if self_dtype.kind == "c" else self * g
    pull = F.sum_dim(along, dim=dim, keepdim=True) * (scale * scale * -maxnorm)
    slope = _slope_of_length(F, self, length, long, dim, p, self_dtype)
    return g * F.where(long, scale * maxnorm, 1) + F.where(long, slope * pull, 0)


general(
    "renorm",
    kernels.renorm,
    vjp=(_slope_of_renorm,),
    conj="explicit",
    domain="nonzero",
    cases=tuple(
        case(shape, p=p, dim=dim, maxnorm=maxnorm)
        for shape, dim in (((3, 4), (1,)), ((2, 3, 2), (0, 2)), ((2, 0), (1,)))
        for p, maxnorm in ((2.0, 2.0), (1.0, 3.0), (2.5, 1.0), (math.inf, 1.5), (3.0, 100.0))
        if 0 not in shape or p != math.inf
    ),
    layout="contiguous",
    doc="self with those parts scaled down whose norm along dimensions is too large",
    batching="dims",
)
