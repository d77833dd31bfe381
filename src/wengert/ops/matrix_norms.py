"""Layer 5 · ops · matrices: norms of matrices, condition numbers, and `linalg.norm`."""

# the functions have PyTorch's names

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, is_differentiable
from wengert.base.errors import long_name, wrong_type
from wengert.base.shapes import normal_dim
from wengert.ops.checks import flag, renamed
from wengert.ops.coerce import operand, wide
from wengert.ops.linear_checks import check_floating, square_of
from wengert.ops.moments import vector_norm
from wengert.ops.options import placed
from wengert.ops.out import into
from wengert.ops.spectral import svdvals, values_of
from wengert.tape.modes import no_grad
from wengert.tape.operands import cast, is_number
from wengert.tape.record import T

__all__ = ["cond", "matrix_norm", "norm"]


def matrix_norm(
    input: Any,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return a norm of matrices.

    Parameters
    ----------
    input : Tensor. Of floating or complex dtype, with at least two dimensions.
    ord : {"fro", "nuc", inf, -inf, 1, -1, 2, -2}. "fro": the root of the sum of the squares of all
        elements; "nuc": the sum of the singular values; 2 and -2: the largest and the smallest one;
        1 and -1: the largest and the smallest sum of a column's absolute values; inf and -inf: of a
        row's.
    dim : tuple of two int. The dimensions of rows and of columns.
    %(keepdims, to_dtype)s

    Returns
    -------
    Tensor: Real; differentiable, to any order. Where several sums or singular values are the
        largest, each has an equal share of the gradient.

    Raises
    ------
    RuntimeError: If the input is not a matrix, `ord` is none of these, or the dtypes do not fit.

    Examples
    --------
    >>> A = wg.tensor([[3.0, 0.0], [4.0, 0.0]])
    >>> wg.linalg.matrix_norm(A), wg.linalg.matrix_norm(A, 1), wg.linalg.matrix_norm(A, 2)
    (tensor(5.), tensor(7.), tensor(5.))
    """
    x = operand(input, "linalg_matrix_norm")
    ndim = x._payload.ndim
    if ndim < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions. Got shape "
            f"{list(x._payload.shape)}; the norm of a vector is linalg.vector_norm"
        )
    if names:
        dim, keepdim = renamed("linalg_matrix_norm", dim, keepdim, names, usual=(-2, -1))
    dims = _two_dims(dim, ndim)
    if x._payload.dtype.kind in "biu":
        raise RuntimeError(
            "linalg.matrix_norm: Expected a floating point or complex tensor as input. Got "
            f"{long_name(x._payload.dtype)}; convert it with .to(dtype)"
        )
    if dtype is not None:
        x = _as_dtype(x, as_dtype(dtype).dtype)
    return into(
        out, _matrix_norm(x, _order(ord), dims, flag(keepdim, "keepdim")), "linalg_matrix_norm"
    )


def _order(ord: Any) -> Any:
    if isinstance(ord, str):
        if ord in ("fro", "nuc"):
            return ord
    elif not is_number(ord) and not isinstance(ord, np.generic):
        raise TypeError(
            "linalg_matrix_norm() received an invalid combination of arguments - got ord of type "
            f"{type(ord).__name__}, but expected a number or str"
        )
    elif isinstance(ord, complex):
        raise RuntimeError(
            "linalg.matrix_norm: Expected a non-complex scalar as the order of norm."
        )
    elif abs(ord) in (1, 2, math.inf):
        return float(ord)
    raise RuntimeError(
        f"linalg.matrix_norm: Order {ord} not supported. Give 'fro', 'nuc', inf, -inf, 1, -1, 2 or "
        "-2; for other powers of the elements there is linalg.vector_norm"
    )


def _two_dims(dim: Any, ndim: int) -> tuple[int, int]:
    if not isinstance(dim, tuple | list):
        raise TypeError(
            "linalg_matrix_norm() received an invalid combination of arguments - got dim of type "
            f"{type(dim).__name__}, but expected a tuple of two ints"
        )
    if len(dim) != 2:
        raise RuntimeError(
            f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}"
        )
    rows, columns = (normal_dim(d, ndim) for d in dim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    return rows, columns


def _as_dtype(x: Any, dtype: np.dtype[Any]) -> Any:
    have, name = x._payload.dtype, long_name(dtype)
    if not is_differentiable(dtype):
        raise RuntimeError(
            f"linalg.matrix_norm: dtype should be floating point or complex, but got {name}"
        )
    if (have.kind == "c") != (dtype.kind == "c"):
        kind = "complex" if have.kind == "c" else "real"
        raise RuntimeError(
            f"linalg.matrix_norm: dtype should be {kind} for {kind} inputs, but got {name}"
        )
    if dtype.itemsize < have.itemsize:
        raise RuntimeError(
            "linalg.matrix_norm: the dtype of the input should be convertible without narrowing to "
            f"the specified dtype, but got {long_name(have)} for {name}"
        )
    return cast(x, dtype)


def _matrix_norm(x: Any, ord: Any, dims: tuple[int, int], keepdim: bool) -> Any:
    if ord == "fro":
        return T.vector_norm(x, ord=2, dim=dims, keepdim=keepdim)
    if ord == "nuc" or abs(ord) == 2:
        return _of_singular_values(x, ord, dims, keepdim)
    rows, columns = dims if abs(ord) == 1 else dims[::-1]
    sums = T.vector_norm(x, ord=1, dim=(rows,), keepdim=True)
    result = _extreme(sums, ord > 0, (columns,))
    return result if keepdim else T.squeeze_dims(result, dim=tuple(sorted(dims)))


def _extreme(values: Any, largest: bool, dim: tuple[int, ...]) -> Any:
    """Return the largest or smallest of non-negative values along a kept dimension; 0 if none."""
    if not all(values._payload.shape[d] for d in dim):
        return T.sum_dim(values, dim=dim, keepdim=True)
    return (T.amax if largest else T.amin)(values, dim=dim, keepdim=True)


def _of_singular_values(x: Any, ord: Any, dims: tuple[int, int], keepdim: bool) -> Any:
    ndim = x._payload.ndim
    others = tuple([d for d in range(ndim) if d not in dims])
    if dims != (ndim - 2, ndim - 1):
        x = T.permute(x, dims=(*others, *dims))
    # LAPACK lacks half precision
    short = x._payload.dtype
    values = values_of(cast(x, np.dtype(np.float32)) if short.itemsize == 2 else x)
    last = (ndim - 2,)
    if ord == "nuc":
        result = T.sum_dim(values, dim=last, keepdim=False)
    else:
        result = T.squeeze_dim(_extreme(values, ord > 0, last), dim=ndim - 2)
    if short.itemsize == 2:
        result = cast(result, short)
    if keepdim:
        for d in sorted(dims):
            result = T.unsqueeze(result, dim=d)
    return result


def norm(
    input: Any,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return a norm of vectors or of matrices.

    Parameters
    ----------
    %(inexact_input)s
    ord : number or {"fro", "nuc"}, optional. As for `vector_norm` or, if there are two dimensions,
        for `matrix_norm`; by default the root of the sum of the squares of all elements.
    dim : int or tuple of int, optional. One dimension for vectors, two for matrices; by default all
        of them.
    %(keepdims, to_dtype)s

    Returns
    -------
    Tensor: Real; differentiable as `vector_norm` and `matrix_norm`.

    Raises
    ------
    RuntimeError: If there are more than two dimensions and an `ord`, or an `ord` does not fit.

    Examples
    --------
    >>> A = wg.tensor([[3.0, 0.0], [4.0, 0.0]])
    >>> wg.linalg.norm(A), wg.linalg.norm(A, "nuc"), wg.linalg.norm(A, 1, dim=1)
    (tensor(5.), tensor(5.), tensor([3., 4.]))
    """
    x = operand(input, "linalg_norm")
    ndim = x._payload.ndim
    if ord is not None and not isinstance(ord, str | np.generic) and not is_number(ord):
        raise TypeError(
            "linalg_norm() received an invalid combination of arguments - got ord of type "
            f"{type(ord).__name__}, but expected a number or str"
        )
    if names:
        dim, keepdim = renamed("linalg_norm", dim, keepdim, names)
    dims = (dim,) if hasattr(dim, "__index__") else dim
    if not isinstance(dims, tuple | list | None):
        raise wrong_type("linalg_norm", "dim", "tuple of ints", dim, 3)
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}"
        )
    if ord is None:
        return vector_norm(x, 2, dims, keepdim, dtype=dtype, out=out)
    if dims is None and ndim not in (1, 2) and not (isinstance(ord, str) and ndim < 1):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{ndim}D."
        )
    count = ndim if dims is None else len(dims)
    if isinstance(ord, str) or count == 2:
        dims = tuple(range(ndim))[-2:] if dims is None else dims
        return matrix_norm(x, ord, dims, keepdim, dtype=dtype, out=out)
    return vector_norm(x, ord, dims, keepdim, dtype=dtype, out=out)


def cond(input: Any, p: Any = None, *, out: Any = None) -> Any:
    """Return the condition number of matrices: the norm of each, times that of its inverse.

    Parameters
    ----------
    input : Tensor. Of shape (..., m, n) and of a floating or complex dtype; square unless `p` is
        None, 2 or -2.
    p : {None, "fro", "nuc", inf, -inf, 1, -1, 2, -2}. The norm, as ``ord`` of `matrix_norm`; None
        stands for 2. For 2 the result is the ratio of the largest to the smallest singular value,
        for -2 the inverse of it.

    Returns
    -------
    Tensor: Real, of the shape of `input` without its last two dimensions; infinity where a matrix
        is singular. Differentiable, to any order.

    Raises
    ------
    RuntimeError: If the input is not a matrix, is not square where it must be, or `p` is none of
        these.

    Examples
    --------
    >>> wg.linalg.cond(wg.tensor([[4.0, 0.0], [0.0, 1.0]]))
    tensor(4.)
    """
    x = wide(input, "linalg_cond")
    if x._payload.ndim < 2:
        raise RuntimeError(
            "linalg.cond: The input tensor must have at least 2 dimensions. Got shape "
            f"{list(x._payload.shape)}"
        )
    named = isinstance(p, str) and p in ("fro", "nuc")
    number = not isinstance(p, str) and p is not None and abs(p) in (1, 2, math.inf)
    if p is not None and not named and not number:
        raise RuntimeError(
            f"linalg.cond got an invalid norm type: {p}. Give None, 'fro', 'nuc', inf, -inf, 1, "
            "-1, 2 or -2"
        )
    result = _cond_of_values(x, p) if p is None or (number and abs(p) == 2) else _cond(x, p)
    return result if out is None else into(out, result, "linalg_cond")


def _cond_of_values(x: Any, p: Any) -> Any:
    values = svdvals(x)
    last = values._payload.ndim - 1
    count = values._payload.shape[last]
    if not count:
        return T.sum_dim(values, dim=(last,), keepdim=False)
    largest = T.select(values, dim=last, index=0)
    smallest = T.select(values, dim=last, index=count - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return T.div(smallest, largest) if p == -2 else T.div(largest, smallest)


def _cond(x: Any, p: Any) -> Any:
    x = square_of(x, "linalg_cond", f"linalg.cond(ord={p})", "input")
    check_floating(x, "linalg.cond", "linalg_inv_ex")
    array = x._payload
    if not array.size:
        dims = (array.ndim - 2, array.ndim - 1)
        return T.sum_dim(T.abs(x), dim=dims, keepdim=False)
    order = p if isinstance(p, str) else float(p)
    eye = placed(x, np.eye(array.shape[-1], dtype=array.dtype))
    with no_grad():
        singular = T.eq(T.linalg_slogdet(x)[0], 0)
    if not singular._payload.any():
        return _times_inverse(x, eye, order)
    # everything must be finite in the branch not taken, too
    regular = T.where(
        T.unsqueeze(T.unsqueeze(singular, dim=array.ndim - 2), dim=array.ndim - 1), eye, x
    )
    return T.where(singular, math.inf, _times_inverse(regular, eye, order))


def _times_inverse(x: Any, eye: Any, order: Any) -> Any:
    """Return the norms of matrices times the norms of their inverses."""
    dims = (x._payload.ndim - 2, x._payload.ndim - 1)
    inverse = T.solve_factor(x, eye, turned=False, what="linalg.cond")
    return T.mul(_matrix_norm(x, order, dims, False), _matrix_norm(inverse, order, dims, False))
