"""Layer 2 · prims: systems of linear equations, inverses, determinants, least squares.

References
----------
M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); for least squares G. Golub and V. Pereyra, "The differentiation of
pseudo-inverses and nonlinear least squares problems whose variables separate" (1973).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels import linear_systems as kernels
from wengert.prims.families import general, per_matrix
from wengert.prims.matrices import mH, mT
from wengert.prims.record import case

Dims = tuple[int, ...]


_SQUARE = tuple(case(shape) for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2)))

# -- systems --------------------------------------------------------------------------------------


def _pull_of_solve(F: Any, g: Any, A: Any, left: bool, vector: bool) -> Any:
    return F.linalg_solve(mT(F, A), g, left=left, vector=vector)


def _slope_of_solve(F: Any, g: Any, shared: Any, result: Any, left: bool, vector: bool) -> Any:
    if vector:
        n = len(shared.shape)
        m = len(result.shape)
        return -(F.unsqueeze(shared, dim=n) * F.unsqueeze(result, dim=m - 1))
    return -(shared @ mT(F, result) if left else mT(F, result) @ shared)


_SYSTEMS: tuple[tuple[Dims, Dims, dict[str, bool]], ...] = (
    ((3, 3), (3, 2), {"left": True, "vector": False}),
    ((3, 3), (2, 3), {"left": False, "vector": False}),
    ((3, 3), (3,), {"left": True, "vector": True}),
    ((2, 2, 2), (2, 2), {"left": True, "vector": True}),
    ((2, 2, 2), (2,), {"left": True, "vector": True}),
    ((2, 1, 2, 2), (3, 2, 1), {"left": True, "vector": False}),
    ((9, 2, 2), (9, 2, 1), {"left": True, "vector": False}),
    ((5, 1, 1), (5, 2, 1), {"left": False, "vector": False}),
    ((0, 0), (0, 2), {"left": True, "vector": False}),
    ((2, 2), (2, 0), {"left": True, "vector": False}),
)

general(
    "linalg_solve",
    kernels.solve,
    vjp=(_slope_of_solve, lambda F, g, shared: shared),
    shared=_pull_of_solve,
    broadcasts=True,
    node="LinalgSolveExBackward0",
    cases=tuple(case(a, b, **params) for a, b, params in _SYSTEMS),
    shows={"vector": None},
    doc="the solutions of systems of linear equations",
    lacks="half",
    sparsity="per_matrix",
)
general(
    "linalg_solve_ex",
    kernels.solve_ex,
    vjp=(_slope_of_solve, lambda F, g, shared: shared),
    shared=_pull_of_solve,
    outputs=2,
    differentiable=1,
    broadcasts=True,
    cases=tuple(case(a, b, check=False, **params) for a, b, params in _SYSTEMS),
    doc="the solutions of systems of linear equations, and where there is none",
    lacks="half",
    sparsity="per_matrix",
)


def _slope_of_inv(F: Any, g: Any, result: Any) -> Any:
    turned = mT(F, result)
    return -(turned @ g @ turned)


per_matrix(
    "linalg_inv",
    kernels.inv,
    vjp=(_slope_of_inv,),
    node="LinalgInvExBackward0",
    cases=_SQUARE,
    shows={"inverse": "result"},
    doc="the inverses of matrices",
    lacks="half",
)
per_matrix(
    "linalg_inv_ex",
    kernels.inv_ex,
    vjp=(_slope_of_inv,),
    outputs=2,
    differentiable=1,
    cases=tuple(case(c.shapes[0], check=False) for c in _SQUARE),
    doc="the inverses of matrices, and where there is none",
    lacks="half",
)

# -- determinants ---------------------------------------------------------------------------------


def _scaled(F: Any, factors: Any, matrices: Any) -> Any:
    n = len(factors.shape)
    return F.unsqueeze(F.unsqueeze(factors, dim=n), dim=n + 1) * matrices


def _total(F: Any, x: Any) -> Any:
    n = len(x.shape)
    return F.sum_dim(x, dim=(n - 2, n - 1), keepdim=True)


def _third_slope_of_det(F: Any, g: Any, grad_output: Any, self: Any) -> Any:
    # with the inverse B of the transpose, the second derivative is <B, G> C - C G' B, where C is
    # the matrix of cofactors det(self) B
    turned = mT(F, F.linalg_inv(self))
    minors = F.cofactor(self)
    back = mT(F, turned)
    inner = turned @ mT(F, grad_output) @ turned
    around = _total(F, turned * grad_output) * g - g @ back @ grad_output
    return (
        F.cofactor_backward(around, self)
        + turned @ mT(F, g) @ minors @ mT(F, grad_output) @ turned
        - _total(F, minors * g) * inner
    )


per_matrix(
    "linalg_det",
    kernels.det,
    vjp=(lambda F, g, self: _scaled(F, g, F.cofactor(self)),),
    cases=_SQUARE,
    shows={"A": "self"},
    doc="the determinants of matrices",
    lacks="half",
)
per_matrix(
    "cofactor",
    kernels.cofactor,
    vjp=(lambda F, g, self: F.cofactor_backward(g, self),),
    cases=_SQUARE,
    doc="the determinants of what is left of matrices without each row and column, with signs",
    lacks="half",
)
per_matrix(
    "cofactor_backward",
    kernels.cofactor_backward,
    args=("grad_output", "self"),
    vjp=(
        lambda F, g, self: F.cofactor_backward(g, self),
        _third_slope_of_det,
    ),
    cases=tuple(case(c.shapes[0], c.shapes[0]) for c in _SQUARE),
    doc="the second derivative of the determinant, applied to grad_output",
    lacks="half",
)


def _slope_of_slogdet(F: Any, g: Any, self: Any, result: Any, self_dtype: Any) -> Any:
    g_sign, g_log = g
    inverse = mH(F, F.linalg_inv_ex(self, check=False)[0], self_dtype)
    if self_dtype.kind == "c":
        g_log = g_log - F.imag(F.conj(g_sign) * result) * 1j
    n = len(g_log.shape)
    factor = F.unsqueeze(F.unsqueeze(g_log, dim=n), dim=n + 1)
    # a singular matrix with a zero cotangent does not contribute to the gradient
    idle = F.logical_and(F.eq(factor, 0), F.logical_not(F.isfinite(inverse)))
    return F.where(idle, 0, factor * inverse)


per_matrix(
    "linalg_slogdet",
    kernels.slogdet,
    vjp=(_slope_of_slogdet,),
    outputs=2,
    conj="explicit",
    cases=_SQUARE,
    shows={"A": "self"},
    doc="the signs of determinants, and the logarithms of their absolute values",
    lacks="half",
)

# -- least squares --------------------------------------------------------------------------------


def _least(F: Any, A: Any, B: Any, rcond: float, driver: str) -> Any:
    return F.linalg_lstsq(A, B, rcond=rcond, driver=driver)[0]


def _slope_of_lstsq(
    F: Any,
    g: Any,
    A: Any,
    B: Any,
    result: Any,
    A_dtype: Any,
    A_shape: Dims,
    rcond: float,
    driver: str,
) -> Any:
    inverse = F.lstsq_inverse(A, rcond=rcond, driver=driver)
    back = mH(F, inverse, A_dtype)
    pull = back @ g
    slope = (B - A @ result) @ mH(F, inverse @ pull, A_dtype)
    slope = slope - pull @ mH(F, result, A_dtype)
    if driver == "gels" and A_shape[-2] >= A_shape[-1]:
        return slope
    # the part of g outside the range of the matrix
    lost = g - inverse @ (A @ g)
    return slope + back @ result @ mH(F, lost, A_dtype)


def slope_of_inverse(F: Any, g: Any, self: Any, result: Any, self_dtype: Any) -> Any:
    """Return the gradient of the pseudoinverse of a matrix."""
    turned, back = mH(F, result, self_dtype), mH(F, g, self_dtype)
    # the first two terms vanish only if self is invertible
    return (
        (back - self @ (result @ back)) @ (result @ turned)
        + (turned @ result) @ (back - (back @ result) @ self)
        - turned @ g @ turned
    )


per_matrix(
    "linalg_lstsq",
    kernels.lstsq,
    vjp=(
        _slope_of_lstsq,
        lambda F, g, A, A_dtype, rcond, driver: _least(F, mH(F, A, A_dtype), g, rcond, driver),
    ),
    outputs=3,
    differentiable=1,
    conj="explicit",
    cases=tuple(
        case(a, b, rcond=1e-15, driver=driver)
        for a, b in (
            ((4, 2), (4, 3)),
            ((2, 4), (2, 1)),
            (lambda rng: rng.standard_normal((2, 3, 3)) + 3 * np.eye(3), (2, 3, 1)),
            ((5, 2, 1), (5, 2, 1)),
            ((5, 1, 2), (5, 1, 1)),
            ((0, 2), (0, 1)),
        )
        for driver in ("gels", "gelsy", "gelsd", "gelss")
    ),
    doc="the solutions of least squares, ranks, and singular values",
    lacks="half",
)
per_matrix(
    "lstsq_inverse",
    kernels.lstsq_inverse,
    vjp=(slope_of_inverse,),
    conj="explicit",
    cases=tuple(
        case(shape, rcond=1e-15, driver=driver)
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2), (0, 2), (9, 2, 1))
        for driver in ("gels", "gelsy", "gelsd", "gelss")
    ),
    doc="the pseudoinverses that belong to the solutions of least squares",
    lacks="half",
)
