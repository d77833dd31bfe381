"""Layer 5 · ops · matrices: `linalg`: systems of linear equations, inverses, determinants.

NOTE [several matrices]
Dimensions before the last two are a batch of matrices, which are processed independently; the
batches of two arguments broadcast. If one matrix fails, the error names its batch element.
"""

from __future__ import annotations

import math
from typing import Any

from wengert.base.export import export
from wengert.kernels.spectral import LinAlgError
from wengert.ops.checks import flag
from wengert.ops.coerce import integer, wide
from wengert.ops.linear_checks import (
    check_floating,
    check_lapack,
    check_same_dtype,
    check_system,
    square_of,
)
from wengert.ops.linear_types import linalg_inv_ex, linalg_slogdet, linalg_solve_ex
from wengert.ops.out import into, into_several
from wengert.ops.permute import movedim
from wengert.ops.strided import in_shape
from wengert.prims import factors as factors
from wengert.prims import linear_systems as linear_systems
from wengert.tape.record import T

__all__ = [
    "LinAlgError",
    "det",
    "inv",
    "inv_ex",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "tensorinv",
    "tensorsolve",
]

_DTYPES = (
    "linalg.solve: Expected A and B to have the same dtype, but found A of type {} and B of type "
    "{} instead"
)


def _system(A: Any, B: Any, left: bool, op: str) -> tuple[Any, Any, bool]:
    """Return both arguments of a system, checked, and whether the second is a batch of vectors."""
    x = square_of(A, op, "linalg.solve")
    y = wide(B, op, "B", 2)
    a, b = x._payload, y._payload
    if a.dtype.kind in "biu":
        check_floating(x, "linalg.solve")
    check_same_dtype(x, y, _DTYPES)
    check_lapack(x, "lu_cpu")
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    check_system(a.shape, (*b.shape, 1) if vector else b.shape, left, "linalg.solve")
    if vector and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for "
            "left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    return x, y, vector


def solve(A: Any, B: Any, *, left: bool = True, out: Any = None) -> Any:
    """Solve systems of linear equations that have one solution each.

    Parameters
    ----------
    A : Tensor. Square matrices of shape (..., n, n), of floating or complex dtype.
    B : Tensor. Right-hand sides: matrices of shape (..., n, k); or vectors, of shape (n,) or of the
        shape of `A` without its last dimension.
    left : bool. Whether to solve ``A @ X = B`` or, for matrices (..., k, n), ``X @ A = B``.

    Returns
    -------
    Tensor: X. Differentiable with respect to both, to any order.

    %(raises_singular, error_shapes_or_dtypes)s

    Examples
    --------
    >>> A = wg.tensor([[2.0, 1.0], [1.0, 3.0]])
    >>> wg.linalg.solve(A, wg.tensor([3.0, 5.0]))
    tensor([0.8000, 1.4000])
    """
    x, y, vector = _system(A, B, left, "linalg_solve")
    return into(out, T.linalg_solve(x, y, left=left, vector=vector), "linalg_solve")


def solve_ex(
    A: Any, B: Any, *, left: bool = True, check_errors: bool = False, out: Any = None
) -> Any:
    """Solve systems of linear equations, with an error code per matrix instead of an exception.

    Parameters
    ----------
    A, B : Tensor. As for `solve`.
    left : bool. As for `solve`.
    %(checks, outs)s

    Returns
    -------
    result : Tensor. As from `solve`; not finite where a matrix is singular.
    info : Tensor. Of int32 and the shape of the batch of `A`: 0, or the number of the step, counted
        from 1, in which elimination met a 0.

    %(raises_checked, error_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.linalg.solve_ex(wg.zeros(2, 2), wg.ones(2)).info
    tensor(1, dtype=torch.int32)
    """
    x, y, vector = _system(A, B, left, "linalg_solve_ex")
    found = T.linalg_solve_ex(x, y, left=left, vector=vector, check=check_errors)
    return into_several(out, linalg_solve_ex(found), "linalg_solve_ex")


def inv(A: Any, *, out: Any = None) -> Any:
    """Return the inverses of square matrices.

    To solve equations, `solve` is quicker and more precise.

    Parameters
    ----------
    %(square, returns_alike, raises_singular, error_square)s

    Examples
    --------
    >>> wg.linalg.inv(wg.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    x = square_of(A, "linalg_inv", "linalg.inv")
    check_floating(x, "linalg.inv")
    return into(out, T.linalg_inv(x), "linalg_inv")


def inv_ex(A: Any, *, check_errors: bool = False, out: Any = None) -> Any:
    """Return inverses of matrices, with an error code per matrix instead of an exception.

    Parameters
    ----------
    %(square, checks, outs)s

    Returns
    -------
    inverse : Tensor. As from `inv`; not finite where a matrix is singular.
    info : Tensor. As from `solve_ex`.

    %(raises_checked, error_square)s

    Examples
    --------
    >>> wg.linalg.inv_ex(wg.eye(2)).info
    tensor(0, dtype=torch.int32)
    """
    x = square_of(A, "linalg_inv_ex", "linalg.inv")
    check_floating(x, "linalg.inv")
    return into_several(out, linalg_inv_ex(T.linalg_inv_ex(x, check=check_errors)), "linalg_inv_ex")


@export("wengert", "Tensor")
def det(A: Any, *, out: Any = None) -> Any:
    """Return the determinants of square matrices.

    Parameters
    ----------
    %(square)s

    Returns
    -------
    Tensor: Of shape (...). Differentiable, to any order; the first and second derivatives are exact
        for singular matrices, too, further ones are not finite there.

    %(raises_square)s

    Examples
    --------
    >>> A = wg.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    >>> wg.linalg.det(A).backward()
    >>> A.grad
    tensor([[ 4., -2.],
            [-2.,  1.]])
    """
    x = square_of(A, "linalg_det", "linalg.det")
    check_floating(x, "linalg.det", "lu_cpu")
    return into(out, T.linalg_det(x), "linalg_det")


@export("wengert", "Tensor")
def slogdet(A: Any, *, out: Any = None) -> Any:
    """Return the signs of determinants and the logarithms of their absolute values.

    Parameters
    ----------
    %(square, outs)s

    Returns
    -------
    sign : Tensor. Of shape (...): the determinant over its absolute value, 0 for singular matrices.
    logabsdet : Tensor. Real, of shape (...); -inf for singular matrices, where the gradient is not
        finite. Differentiable, to any order.

    %(raises_square)s

    Examples
    --------
    >>> wg.linalg.slogdet(wg.tensor([[0.0, 1.0], [1.0, 0.0]])).sign
    tensor(-1.)
    """
    x = square_of(A, "linalg_slogdet", "linalg.slogdet")
    check_floating(x, "linalg.slogdet")
    return into_several(out, linalg_slogdet(T.linalg_slogdet(x)), "linalg_slogdet")


def solve_triangular(
    A: Any,
    B: Any,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Any = None,
) -> Any:
    """Return the solutions of systems of linear equations with triangular matrices.

    Parameters
    ----------
    A : Tensor. Square matrices of shape (..., n, n), of which one triangle is read.
    B : Tensor. Right-hand sides of shape (..., n, k) or, not `left`, (..., k, n).
    upper : bool. Whether to read the upper triangle or the lower one.
    left : bool. Whether to solve ``A @ X = B`` or ``X @ A = B``.
    unitriangular : bool. Whether to take the diagonal of `A` to be ones.

    Returns
    -------
    Tensor: X; not finite where the diagonal has a 0. Differentiable with respect to both, to any
        order, with a gradient of `A` of the same triangle.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> A = wg.tensor([[2.0, 0.0], [1.0, 1.0]])
    >>> wg.linalg.solve_triangular(A, wg.tensor([[4.0], [5.0]]), upper=False)
    tensor([[2.],
            [3.]])
    """
    name = "linalg.solve_triangular"
    x = square_of(A, "linalg_solve_triangular", name)
    y = wide(B, "linalg_solve_triangular", "B", 2)
    check_system(x._payload.shape, y._payload.shape, left, name)
    check_lapack(x, "triangular_solve_cpu")
    check_same_dtype(
        x,
        y,
        f"{name}: Expected A and B to have the same dtype, but found A of type {{}} and B "
        "of type {} instead",
    )
    result = T.linalg_solve_triangular(
        x,
        y,
        upper=flag(upper, "upper"),
        left=flag(left, "left"),
        unitriangular=flag(unitriangular, "unitriangular"),
    )
    return result if out is None else into(out, result, "linalg_solve_triangular")


def tensorinv(input: Any, ind: int = 2, *, out: Any = None) -> Any:
    """Return the inverse of what a tensor does by `tensordot`.

    Parameters
    ----------
    input : Tensor. Of a shape of which the first `ind` sizes have the same product as the others.
    ind : int. The number of dimensions that are rows; at least 1.

    Returns
    -------
    Tensor: Of the shape ``input.shape[ind:] + input.shape[:ind]``. Differentiable, to any order.

    Raises
    ------
    LinAlgError: If there is none.
    RuntimeError: If the shape does not fit.

    Examples
    --------
    >>> wg.linalg.tensorinv(wg.eye(6).reshape(2, 3, 6)).shape
    torch.Size([6, 2, 3])
    """
    x = wide(input, "linalg_tensorinv", "input")
    ind = integer(ind, "linalg_tensorinv", "ind")
    shape = x._payload.shape
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    rows, columns = math.prod(shape[:ind]), math.prod(shape[ind:])
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {columns} != {rows}"
        )
    result = in_shape(inv(in_shape(x, (rows, rows))), (*shape[ind:], *shape[:ind]))
    return result if out is None else into(out, result, "linalg_tensorinv")


def tensorsolve(input: Any, other: Any, dims: Any = None, *, out: Any = None) -> Any:
    """Return the tensor X with ``tensordot(input, X, dims=X.ndim) == other``.

    Parameters
    ----------
    input : Tensor. Of the shape ``other.shape + X.shape``, where both have as many elements.
    other : Tensor. The right-hand side.
    dims : sequence of int, optional. Dimensions of `input` to move to its end first.

    Returns
    -------
    Tensor: X. Differentiable with respect to both, to any order.

    Raises
    ------
    LinAlgError: If there is no solution.
    %(error_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.linalg.tensorsolve(wg.eye(6).reshape(2, 3, 6), wg.ones(2, 3)).shape
    torch.Size([6])
    """
    x = wide(input, "linalg_tensorsolve", "input")
    y = wide(other, "linalg_tensorsolve", "other", 2)
    if dims is not None and len(dims):
        x = movedim(x, tuple(dims), tuple(range(-len(dims), 0)))
    shape, n = x._payload.shape, y._payload.ndim
    rows, columns = math.prod(shape[:n]), math.prod(shape[n:])
    if rows != columns or y._payload.size != rows:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {columns} != {rows}"
            + (f"; the size of other is {y._payload.size}" if rows == columns else "")
        )
    result = solve(in_shape(x, (rows, rows)), in_shape(y, (rows,)))
    return into(out, in_shape(result, shape[n:]), "linalg_tensorsolve")
