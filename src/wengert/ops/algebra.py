"""Layer 5 · ops · matrices: linear algebra outside `linalg`: other names, older functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.base.shapes import broadcast
from wengert.ops.checks import flag
from wengert.ops.coerce import operand, wide
from wengert.ops.factors import householder_product, lu_factor_ex
from wengert.ops.factors import lu_solve as _lu_solve
from wengert.ops.linear_checks import (
    adjoint_of,
    check_floating,
    check_lapack,
    check_same_dtype,
    expand_batch,
    square_of,
    transposed,
    triangles,
)
from wengert.ops.linear_systems import det, inv, slogdet
from wengert.ops.linear_types import lu_unpack as _unpacked
from wengert.ops.linear_types import triangular_solve as _solved
from wengert.ops.matrix_functions import matrix_exp, matrix_power
from wengert.ops.out import into, into_several
from wengert.prims import factors as factors
from wengert.prims import linear_systems as linear_systems
from wengert.tape.base import new_tensor
from wengert.tape.record import T
from wengert.tape.sites import warn_outdated

__all__ = [
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "det",
    "inverse",
    "logdet",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matrix_exp",
    "matrix_power",
    "orgqr",
    "slogdet",
    "triangular_solve",
]


@export("wengert", "Tensor")
def inverse(input: Any, *, out: Any = None) -> Any:
    """Return the inverses of square matrices: see `linalg.inv`.

    Parameters
    ----------
    input : Tensor. Of shape (..., n, n), of floating or complex dtype.

    %(returns_alike, raises_singular, error_square)s

    Examples
    --------
    >>> wg.inverse(wg.tensor([[2.0]]))
    tensor([[0.5000]])
    """
    return inv(operand(input, "inverse"), out=out)


@export("wengert", "Tensor")
def logdet(input: Any) -> Any:
    """Return the logarithms of determinants.

    Parameters
    ----------
    input : Tensor. Square matrices of shape (..., n, n), of floating or complex dtype.

    Returns
    -------
    Tensor: Of shape (...): -inf for a determinant of 0, NaN for a negative one of real matrices.
        Differentiable, to any order.

    %(raises_square)s

    Examples
    --------
    >>> wg.logdet(wg.tensor([[2.0, 0.0], [0.0, 0.5]]))
    tensor(0.)
    """
    x = square_of(operand(input, "logdet"), "logdet", "logdet", "input")
    check_floating(x, "logdet")
    sign, logabsdet = T.linalg_slogdet(x)
    if sign._payload.dtype.kind == "c":
        return T.add(T.log(sign), logabsdet)
    return T.where(T.eq(sign, -1), np.nan, logabsdet)


# -- Cholesky -------------------------------------------------------------------------------------


@export("wengert", "Tensor")
def cholesky(input: Any, upper: bool = False, *, out: Any = None) -> Any:
    """Return the Cholesky factors of positive definite matrices: see `linalg.cholesky`.

    Parameters
    ----------
    input : Tensor. Of shape (..., n, n), of floating or complex dtype.
    upper : bool. Whether to return the upper triangular factor or the lower one.

    %(returns_alike, raises_definite, error_square)s

    Examples
    --------
    >>> import warnings, wengert as wg
    >>> with warnings.catch_warnings(action="ignore"):  # it is deprecated
    ...     wg.cholesky(wg.tensor([[4.0]]))
    tensor([[2.]])
    """
    warn_outdated("cholesky", "linalg.cholesky")
    x = square_of(operand(input, "cholesky"), "cholesky", "cholesky", "input")
    check_lapack(x, "cholesky_cpu")
    return into(out, T.linalg_cholesky(x, upper=flag(upper, "upper"), what="cholesky"), "cholesky")


@export("wengert", "Tensor")
def cholesky_solve(input: Any, input2: Any, upper: bool = False, *, out: Any = None) -> Any:
    """Return the solutions of systems of linear equations with Cholesky factors.

    Parameters
    ----------
    input : Tensor. Right-hand sides of shape (..., n, k).
    input2 : Tensor. Factors of shape (..., n, n), of which one triangle is read.
    upper : bool. Whether to read the upper triangle.

    Returns
    -------
    Tensor: X in ``A @ X = input``, where A is ``L @ L.mH`` or, `upper`, ``U.mH @ U``.
        Differentiable with respect to both, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.cholesky_solve(wg.tensor([[8.0]]), wg.tensor([[2.0]]))
    tensor([[2.]])
    """
    y, x = _right_side(input, input2, "cholesky_solve", "input2", "b", "")
    check_lapack(x, "cholesky_solve_cpu")
    back = adjoint_of(x)
    first, second = (back, x) if flag(upper, "upper") else (x, back)
    half = T.linalg_solve_triangular(first, y, upper=False, left=True, unitriangular=False)
    result = T.linalg_solve_triangular(second, half, upper=True, left=True, unitriangular=False)
    return result if out is None else into(out, result, "cholesky_solve")


def _right_side(b: Any, A: Any, op: str, arg: str, name: str, prefix: str) -> tuple[Any, Any]:
    """Return the checked arguments of the older solvers, whose right-hand side comes first."""
    y, x = wide(b, op), wide(A, op, arg, 2)
    right, matrix = y._payload, x._payload
    for value, letter in ((right, name), (matrix, "u" if name == "b" and not prefix else "A")):
        if value.ndim < 2:
            words = f"Expected {letter} to have" if prefix else f"{letter} should have"
            but = "it has" if prefix else "has"
            raise RuntimeError(
                f"{prefix}{words} at least 2 dimensions, but {but} {value.ndim} dimensions instead"
            )
    n, m = matrix.shape[-2:]
    if n != m:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {n} by {m} matrices"
        )
    if right.shape[-2] != n:
        raise RuntimeError(
            f"Incompatible matrix sizes for {op}: each A matrix is {n} by {n} but each b matrix is "
            f"{right.shape[-2]} by {right.shape[-1]}"
        )
    check_same_dtype(
        y,
        x,
        "Expected b and A to have the same dtype, but found b of type {} and A of type {} instead",
    )
    if right.shape[:-2] != matrix.shape[:-2]:
        broadcast(right.shape[:-2], matrix.shape[:-2])
    return y, x


@export("wengert", "Tensor")
def cholesky_inverse(input: Any, upper: bool = False, *, out: Any = None) -> Any:
    """Return the inverses of matrices, from their Cholesky factors.

    Parameters
    ----------
    input : Tensor. Factors of shape (..., n, n), of which one triangle is read.
    upper : bool. Whether to read the upper triangle.

    Returns
    -------
    Tensor: The inverse of ``L @ L.mH`` or, `upper`, of ``U.mH @ U``. Differentiable, to any order.

    Raises
    ------
    LinAlgError: If the diagonal has a 0.
    %(error_square)s

    Examples
    --------
    >>> wg.cholesky_inverse(wg.tensor([[2.0]]))
    tensor([[0.2500]])
    """
    x = square_of(operand(input, "cholesky_inverse"), "cholesky_inverse", "cholesky_inverse")
    check_lapack(x, "cholesky_inverse_out_cpu")
    return into(out, T.cholesky_inverse(x, upper=flag(upper, "upper")), "cholesky_inverse")


@export("wengert", "Tensor")
def triangular_solve(
    input: Any,
    A: Any,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: Any = None,
) -> Any:
    """Return the solutions of triangular systems of equations: see `linalg.solve_triangular`.

    Parameters
    ----------
    input : Tensor. Right-hand sides of shape (..., n, k).
    A : Tensor. Square matrices of shape (..., n, n), of which one triangle is read.
    upper : bool. Whether to read the upper triangle.
    transpose : bool. Whether to solve with the transposed matrices.
    unitriangular : bool. Whether to take the diagonal to be ones.
    %(outs)s

    Returns
    -------
    solution : Tensor. X in ``A @ X = input``. Differentiable with respect to both, to any order.
    cloned_coefficient : Tensor. A copy of `A`.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> import warnings, wengert as wg
    >>> with warnings.catch_warnings(action="ignore"):  # it is deprecated
    ...     wg.triangular_solve(wg.tensor([[8.0]]), wg.tensor([[2.0]])).solution
    tensor([[4.]])
    """
    warn_outdated("triangular_solve", "linalg.solve_triangular")
    y, x = _right_side(input, A, "triangular_solve", "A", "b", "torch.triangular_solve: ")
    check_lapack(x, "triangular_solve_cpu")
    solution = T.linalg_solve_triangular(
        transposed(x) if transpose else x,
        y,
        upper=flag(upper, "upper") != flag(transpose, "transpose"),
        left=True,
        unitriangular=flag(unitriangular, "unitriangular"),
    )
    batch = solution._payload.shape[:-2]
    results = _solved((solution, T.clone(expand_batch(x, batch))))
    return results if out is None else into_several(out, results, "triangular_solve")


# -- LU -------------------------------------------------------------------------------------------


@export("wengert", "Tensor")
def lu(A: Any, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """Return the triangular factors of matrices with exchanged rows: see `linalg.lu_factor`.

    `linalg.lu` returns the factors separately.

    Parameters
    ----------
    %(rectangular, pivot)s
    get_infos : bool. Whether to return where U has its first 0, too.
    %(outs)s

    Returns
    -------
    LU, pivots : Tensor. As from `linalg.lu_factor`.
    infos : Tensor. With `get_infos`: as from `linalg.lu_factor_ex`.

    %(raises_pivot)s

    Examples
    --------
    >>> import warnings, wengert as wg
    >>> with warnings.catch_warnings(action="ignore"):  # it is deprecated
    ...     wg.lu(wg.eye(2))[1]
    tensor([1, 2], dtype=torch.int32)
    """
    warn_outdated("lu", "linalg.lu_factor / torch.linalg.lu_factor_ex")
    results = tuple(lu_factor_ex(A, pivot=pivot))
    return into_several(out, results if get_infos else results[:2], "lu")


@export("wengert", "Tensor")
def lu_solve(input: Any, LU_data: Any, LU_pivots: Any, *, out: Any = None) -> Any:
    """Return the solutions of systems of linear equations with LU factors: see `linalg.lu_solve`.

    Parameters
    ----------
    input : Tensor. Right-hand sides of shape (..., n, k).
    LU_data, LU_pivots : Tensor. As from `linalg.lu_factor`.

    Returns
    -------
    Tensor: The solutions. Differentiable with respect to `input` and `LU_data`, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> import warnings, wengert as wg
    >>> with warnings.catch_warnings(action="ignore"):  # it is deprecated
    ...     wg.lu_solve(wg.tensor([[8.0]]), *wg.lu(wg.tensor([[2.0]])))
    tensor([[4.]])
    """
    warn_outdated("lu_solve", "linalg.lu_solve")
    return _lu_solve(LU_data, LU_pivots, operand(input, "lu_solve"), out=out)


@export("wengert")
def lu_unpack(
    LU_data: Any,
    LU_pivots: Any,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: Any = None,
) -> Any:
    """Unpack the factors from `linalg.lu_factor`.

    Parameters
    ----------
    LU_data : Tensor. Of shape (..., m, n).
    LU_pivots : Tensor. Of int32 and shape (..., min(m, n)).
    unpack_data : bool. Whether to return L and U; else they are empty.
    unpack_pivots : bool. Whether to return P; else it is empty.
    %(outs)s

    Returns
    -------
    P, L, U : Tensor. As from `linalg.lu`; L and U are differentiable, to any order.

    Raises
    ------
    RuntimeError: If the pivots are not what `linalg.lu_factor` gives.

    Examples
    --------
    >>> wg.lu_unpack(*wg.linalg.lu_factor(wg.tensor([[0.0, 1.0], [2.0, 0.0]]))).U
    tensor([[2., 0.],
            [0., 1.]])
    """
    x, p = operand(LU_data, "lu_unpack", "LU_data"), operand(LU_pivots, "lu_unpack", "LU_pivots", 2)
    a, pivots = x._payload, p._payload
    if unpack_pivots and pivots.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype."
            f" It is of {pivots.dtype}.\nNote: this function is intended to be used with the "
            "output produced by torch.linalg.lu_factor"
        )
    bad = unpack_pivots and pivots.size and not 1 <= pivots.min() <= pivots.max() <= a.shape[-2]
    if bad or (unpack_pivots and pivots.shape != (*a.shape[:-2], min(a.shape[-2:]))):
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive. Did you "
            "properly pass the result of lu_factor? The shapes are "
            f"{list(a.shape)} and {list(pivots.shape)}"
        )
    nothing = new_tensor(np.empty(0, a.dtype))
    P = T.lu_permutation(x, p) if unpack_pivots else nothing
    results = _unpacked((P, *(triangles(x) if unpack_data else (nothing, nothing))))
    return results if out is None else into_several(out, results, "lu_unpack")


@export("wengert", "Tensor")
def orgqr(input: Any, input2: Any) -> Any:
    """Return the first columns of a product of reflections: see `linalg.householder_product`.

    Parameters
    ----------
    input : Tensor. The vectors, of shape (..., m, n).
    input2 : Tensor. Their factors, of shape (..., k).

    Returns
    -------
    Tensor: Of shape (..., m, n). Differentiable with respect to both, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.orgqr(wg.zeros(2, 1), wg.tensor([2.0])).shape
    torch.Size([2, 1])
    """
    return householder_product(input, input2)
