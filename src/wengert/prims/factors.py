"""Layer 2 · prims: triangular systems, LU factors, Cholesky factors.

Rules that contain the adjoint of a factor conjugate explicitly.

References
----------
M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); for Cholesky factors I. Murray, "Differentiation of the Cholesky
decomposition" (2016).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.kernels import factors as kernels
from wengert.prims.families import constant, general, linear, per_matrix
from wengert.prims.matrices import mH, mT
from wengert.prims.record import case

Dims = tuple[int, ...]


def _rows(F: Any, x: Any, start: int, end: int) -> Any:
    return _part(F, x, len(x.shape) - 2, start, end)


def _columns(F: Any, x: Any, start: int, end: int) -> Any:
    return _part(F, x, len(x.shape) - 1, start, end)


def _part(F: Any, x: Any, dim: int, start: int, end: int) -> Any:
    whole = start == 0 and end == x.shape[dim]
    return x if whole else F.slice(x, dim=dim, start=start, end=end, step=1)


def _triangular(*shape: int) -> Callable[[Any], Any]:
    """Return matrices whose two triangles are both well conditioned."""
    return lambda rng: rng.standard_normal(shape) * 0.5 + 2 * np.eye(shape[-1])


def _positive(*shape: int) -> Callable[[Any], Any]:
    """Return positive definite symmetric matrices."""

    def draw(rng: Any) -> Any:
        root = rng.standard_normal(shape)
        return root @ root.swapaxes(-1, -2) + 2 * np.eye(shape[-1])

    return draw


# -- triangular systems ---------------------------------------------------------------------------


def _pull_of_triangular(
    F: Any, g: Any, A: Any, upper: bool, left: bool, unitriangular: bool
) -> Any:
    return F.linalg_solve_triangular(
        mT(F, A), g, upper=not upper, left=left, unitriangular=unitriangular
    )


def _slope_of_triangular(
    F: Any, g: Any, shared: Any, result: Any, upper: bool, left: bool, unitriangular: bool
) -> Any:
    slope = shared @ mT(F, result) if left else mT(F, result) @ shared
    if upper:
        return -F.triu(slope, diagonal=int(unitriangular))
    return -F.tril(slope, diagonal=-int(unitriangular))


general(
    "linalg_solve_triangular",
    kernels.solve_triangular,
    vjp=(_slope_of_triangular, lambda F, g, shared: shared),
    shared=_pull_of_triangular,
    broadcasts=True,
    cases=(
        *(
            case(_triangular(3, 3), (3, 3), upper=upper, left=left, unitriangular=unit)
            for upper in (False, True)
            for left in (False, True)
            for unit in (False, True)
        ),
        case(_triangular(2, 1, 2, 2), (3, 2, 1), upper=False, left=True, unitriangular=False),
        case(_triangular(2, 2), (9, 2, 2), upper=True, left=False, unitriangular=False),
        case(_triangular(0, 0), (0, 2), upper=True, left=True, unitriangular=False),
        case(_triangular(2, 2), (2, 0), upper=True, left=True, unitriangular=True),
    ),
    doc="the solutions of triangular systems of equations",
    lacks="half",
    batching="pointwise",
    sparsity="per_matrix",
)

# -- LU -------------------------------------------------------------------------------------------

linear(
    "permute_rows",
    kernels.permute_rows,
    vjp=(lambda F, g, pivots, back: F.permute_rows(g, pivots, back=not back), None),
    cases=tuple(
        case(shape, lambda rng, pivots=pivots: np.array(pivots, np.int32), back=back)
        for shape, pivots in (((3, 2), [2, 3, 3]), ((2, 3, 2), [[3, 2], [1, 3]]), ((0, 2), []))
        for back in (False, True)
    ),
    doc="the rows of matrices in the order that the exchanges of LU factors say",
    batching="leading",
)
constant(
    "lu_permutation",
    kernels.lu_permutation,
    args=("self", "pivots"),
    fixed=("pivots",),
    cases=tuple(
        case(shape, lambda rng, pivots=pivots: np.array(pivots, np.int32))
        for shape, pivots in (((3, 2), [2, 3]), ((2, 2, 3), [[2, 2], [1, 2]]), ((2, 0), []))
    ),
    doc="the permutation matrices of LU factors",
    batching="leading",
)
linear(
    "unit_lower",
    kernels.unit_lower,
    vjp=lambda F, g: F.tril(g, diagonal=-1),
    cases=(case((3, 3)), case((3, 2)), case((2, 2, 3)), case((0, 2))),
    doc="the elements of matrices below the diagonal, and ones on it",
    batching="leading",
    tangents="diagonal",
)


def _slope_of_lu(F: Any, g: Any, result: Any, self_shape: Dims, self_dtype: Any) -> Any:
    nd, (m, n) = len(self_shape), self_shape[-2:]
    k = min(m, n)
    pivots = F.select(_columns(F, result, 0, k), dim=nd - 2, index=m)
    LU, g = _rows(F, result, 0, m), g[1] + _rows(F, g[0], 0, m)
    first = _columns(F, _rows(F, LU, 0, k), 0, k)
    g_first = _columns(F, _rows(F, g, 0, k), 0, k)
    back = mH(F, first, self_dtype)
    # products of the adjoints of L, which has a unit diagonal, and of U with the cotangents
    below, above = F.tril(g_first, diagonal=-1), F.triu(g_first, diagonal=0)
    left = below + F.triu(back, diagonal=1) @ below
    right = above @ F.tril(back, diagonal=0)
    if m < n:
        rest, g_rest = _columns(F, LU, k, n), _columns(F, g, k, n)
        left = left - g_rest @ mH(F, rest, self_dtype)
    elif m > n:
        rest, g_rest = _rows(F, LU, k, m), _rows(F, g, k, m)
        right = right - mH(F, rest, self_dtype) @ g_rest
    inner = F.tril(left, diagonal=-1) + F.triu(right, diagonal=0)
    slope = F.linalg_solve_triangular(back, inner, upper=False, left=False, unitriangular=False)
    if m > n:
        low = F.linalg_solve_triangular(back, g_rest, upper=False, left=False, unitriangular=False)
    slope = F.linalg_solve_triangular(back, slope, upper=True, left=True, unitriangular=True)
    if m > n:
        slope = F.cat(slope, low, dim=nd - 2)
    elif m < n:
        side = F.linalg_solve_triangular(back, g_rest, upper=True, left=True, unitriangular=True)
        slope = F.cat(slope, side, dim=nd - 1)
    return F.permute_rows(slope, pivots, back=True)


per_matrix(
    "linalg_lu_factor_ex",
    kernels.lu_factor_ex,
    vjp=(_slope_of_lu,),
    outputs=4,
    differentiable=2,
    conj="explicit",
    cases=tuple(case(shape) for shape in ((3, 3), (2, 4), (4, 2), (2, 2, 3), (0, 2), (9, 2, 2))),
    doc="LU factors of matrices, after them and the pivots in one array",
    lacks="half",
)


def _slope_of_lu_solve(
    F: Any, g: Any, LU: Any, pivots: Any, result: Any, LU_dtype: Any, adjoint: bool
) -> Any:
    back = mH(F, LU, LU_dtype)
    if not adjoint:
        # of U times the solution, then of L
        pull = F.linalg_solve_triangular(back, g, upper=False, left=True, unitriangular=False)
        above = -(pull @ mH(F, result, LU_dtype))
        below = F.linalg_solve_triangular(
            back,
            above @ F.tril(back, diagonal=0),
            upper=True,
            left=True,
            unitriangular=True,
        )
    else:
        pull = F.linalg_lu_solve(LU, g, pivots, adjoint=False)
        turned = F.permute_rows(result, pivots, back=False)
        product = -(turned @ mH(F, pull, LU_dtype))
        above = product + F.triu(back, diagonal=1) @ product
        below = product @ F.tril(back, diagonal=0)
    return F.tril(below, diagonal=-1) + F.triu(above, diagonal=0)


def _pivots(*values: Any) -> Callable[[Any], Any]:
    return lambda rng: np.array(values, np.int32)


per_matrix(
    "linalg_lu_solve",
    kernels.lu_solve,
    vjp=(
        _slope_of_lu_solve,
        lambda F, g, LU, pivots, adjoint: F.linalg_lu_solve(LU, g, pivots, adjoint=not adjoint),
        None,
    ),
    conj="explicit",
    cases=(
        *(
            case(_triangular(3, 3), (3, 2), _pivots(2, 3, 3), adjoint=adjoint)
            for adjoint in (False, True)
        ),
        case(_triangular(2, 2, 2), (2, 2, 1), _pivots([2, 2], [1, 2]), adjoint=False),
        *(
            case(_triangular(9, 2, 2), (9, 2, 1), _pivots(*[[2, 2], [1, 2], [2, 2]] * 3), adjoint=a)
            for a in (False, True)
        ),
        case(_triangular(0, 0), (0, 2), _pivots(), adjoint=False),
    ),
    doc="the solutions of systems of equations with LU factors",
    lacks="half",
)

# -- Cholesky -------------------------------------------------------------------------------------


def _slope_of_cholesky(
    F: Any, g: Any, factor: Any, shape: Dims, dtype: Any, upper: bool | None
) -> Any:
    n = len(shape)
    back = mH(F, factor, dtype)
    if upper:
        factor, back, g = back, factor, mH(F, g, dtype)
    inner = back @ g
    below = F.tril(inner, diagonal=-1)
    diagonal = F.diagonal(inner, offset=0, dim1=n - 2, dim2=n - 1)
    if dtype.kind == "c":
        diagonal = F.real(diagonal)
    middle = below + mH(F, below, dtype)
    middle = middle + F.diag_embed(diagonal, offset=0, dim1=n - 2, dim2=n - 1)
    side = F.linalg_solve_triangular(back, middle, upper=True, left=True, unitriangular=False)
    return (
        F.linalg_solve_triangular(factor, side, upper=False, left=False, unitriangular=False) * 0.5
    )


_CHOLESKY = tuple(_positive(*shape) for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0)))

# finite differences perturb each triangle alone: the samples use the mean of both
per_matrix(
    "linalg_cholesky",
    kernels.cholesky,
    params=("upper", "what"),
    vjp=(
        lambda F, g, result, self_shape, self_dtype, upper: _slope_of_cholesky(
            F, g, result, self_shape, self_dtype, upper
        ),
    ),
    conj="explicit",
    node="LinalgCholeskyExBackward0",
    cases=tuple(case(draw, upper=None, what="linalg.cholesky") for draw in _CHOLESKY),
    doc="Cholesky factors of Hermitian matrices",
    lacks="half",
)
per_matrix(
    "linalg_cholesky_ex",
    kernels.cholesky_ex,
    vjp=(
        lambda F, g, result, self_shape, self_dtype, upper: _slope_of_cholesky(
            F, g, result, self_shape, self_dtype, upper
        ),
    ),
    outputs=2,
    differentiable=1,
    conj="explicit",
    cases=tuple(case(draw, upper=None, check=False) for draw in _CHOLESKY),
    doc="Cholesky factors of Hermitian matrices, and where there is none",
    lacks="half",
)


def _slope_of_cholesky_inverse(
    F: Any, g: Any, self: Any, result: Any, self_dtype: Any, upper: bool
) -> Any:
    inner = result @ (g + mH(F, g, self_dtype)) @ result
    if upper:
        return -F.triu(F.triu(self, diagonal=0) @ inner, diagonal=0)
    return -F.tril(inner @ F.tril(self, diagonal=0), diagonal=0)


per_matrix(
    "cholesky_inverse",
    kernels.cholesky_inverse,
    vjp=(_slope_of_cholesky_inverse,),
    conj="explicit",
    cases=tuple(
        case(_triangular(*shape), upper=upper)
        for shape in ((3, 3), (2, 2, 2), (0, 0))
        for upper in (False, True)
    ),
    doc="the inverses of matrices, from their Cholesky factors",
    lacks="half",
    casts=True,
)
