"""Layer 5 · ops · products: products plus a tensor; products with vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.errors import c_name
from wengert.base.export import export
from wengert.base.shapes import expanded
from wengert.ops.coerce import in_former_order, operand, real_number
from wengert.ops.matmul import (
    ADDED_MATRICES,
    check_batches,
    check_dtypes,
    check_matrices,
    check_matrix_vector,
    dot,
    matmul,
    matrices,
    size_of,
)
from wengert.ops.out import into
from wengert.ops.strided import in_shape
from wengert.tape.base import new_tensor
from wengert.tape.modes import NO_GRAD, current_mode, mixes_dtypes
from wengert.tape.record import T
from wengert.tape.write_checks import check_shape


def _check_added(x: Any, product: Any, shape: tuple[int, ...]) -> None:
    a = x._payload
    if a.shape != shape and a.shape != shape[-1:]:
        expanded(a.shape, shape)
    if a.dtype != product._payload.dtype:
        check_dtypes(
            a, product._payload, "self and mat2 must have the same dtype, but got {0} and {1}"
        )


def _factors(op: str, x: Any, beta: Any, alpha: Any) -> tuple[Any, Any]:
    """Return the factors as they multiply `x`: integers if `x` holds integers."""
    beta, alpha = real_number(beta, x, op, "beta"), real_number(alpha, x, op, "alpha")
    return (int(beta), int(alpha)) if x._payload.dtype.kind in "biu" else (beta, alpha)


@export("wengert", "Tensor", "Tensor_")
def addmm(
    input: Any,
    mat1: Any,
    mat2: Any,
    *former: Any,
    beta: float = 1,
    alpha: float = 1,
    out: Any = None,
) -> Any:
    """Add a matrix product to a matrix: ``beta * input + alpha * (mat1 @ mat2)``.

    Parameters
    ----------
    input : Tensor. The summand; broadcasts to (n, p).
    mat1, mat2 : Tensor. Of shapes (n, m) and (m, p).
    %(factors)s

    Returns
    -------
    Tensor: Of shape (n, p). Differentiable, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.addmm(wg.tensor([1.0]), wg.ones(2, 3), wg.ones(3, 2))
    tensor([[4., 4.],
            [4., 4.]])
    """
    if former:
        given = input, mat1, mat2
        input, mat1, mat2, beta, alpha = in_former_order("addmm", given, former, beta, alpha)
    x = operand(input, "addmm", "self")
    y, z = operand(mat1, "addmm", "mat1", 2), operand(mat2, "addmm", "mat2", 3)
    a, b = y._payload, z._payload
    if a.ndim != 2 or b.ndim != 2:
        raise RuntimeError(
            "mat1 and mat2 must be matrices, but the shapes are "
            f"{list(a.shape)} and {list(b.shape)}"
        )
    result = _plus_product(x, y, z, *_factors("addmm", x, beta, alpha))
    return result if out is None else into(out, result, "addmm")


def _plus_product(x: Any, y: Any, z: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """Add the product of two tensors that are known to be matrices."""
    a, b = y._payload, z._payload
    if a.shape[1] != b.shape[0] or a.dtype is not b.dtype or a.dtype.kind == "b":
        check_dtypes(a, b, ADDED_MATRICES)
        check_matrices(a, b)
    _check_added(x, y, (a.shape[0], b.shape[1]))
    return T.addmm(x, y, z, beta=beta, alpha=alpha)


def _turned(w: Any) -> Any:
    """Return a matrix turned, for a product; nothing else sees the view if nothing is recorded."""
    payload = w._payload
    if payload.__class__ is np.ndarray and current_mode() is NO_GRAD:
        return new_tensor(payload.T)
    return T.t(w)


@export("wengert", "Tensor", "Tensor_")
def addmv(
    input: Any,
    mat: Any,
    vec: Any,
    *former: Any,
    beta: float = 1,
    alpha: float = 1,
    out: Any = None,
) -> Any:
    """Add a matrix-vector product to a vector: ``beta * input + alpha * (mat @ vec)``.

    Parameters
    ----------
    input : Tensor. The summand; broadcasts to (n,).
    mat, vec : Tensor. Of shapes (n, m) and (m,).
    beta, alpha : number. Factors.

    Returns
    -------
    Tensor: Of shape (n,). Differentiable, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.addmv(wg.tensor([1.0, 2.0]), wg.ones(2, 3), wg.ones(3))
    tensor([4., 5.])
    """
    if former:
        given = input, mat, vec
        input, mat, vec, beta, alpha = in_former_order("addmv", given, former, beta, alpha)
    x, y, z = (
        operand(input, "addmv", "self"),
        operand(mat, "addmv", "mat", 2),
        operand(vec, "addmv", "vec", 3),
    )
    if y._payload.ndim != 2 or z._payload.ndim != 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {x._payload.ndim}, {y._payload.ndim}, "
            f"{z._payload.ndim}"
        )
    check_matrix_vector(y._payload, z._payload)
    _check_added(x, y, y._payload.shape[:1])
    beta, alpha = _factors("addmv", x, beta, alpha)
    result = T.addmv(x, y, z, beta=beta, alpha=alpha)
    return result if out is None else into(out, result, "addmv")


@export("wengert", "Tensor", "Tensor_")
def baddbmm(
    input: Any,
    batch1: Any,
    batch2: Any,
    *former: Any,
    beta: float = 1,
    alpha: float = 1,
    out: Any = None,
) -> Any:
    """Add products of two batches of matrices to a third: ``beta * input + alpha * bmm(...)``.

    Parameters
    ----------
    input : Tensor. The summand; broadcasts to (b, n, p).
    batch1, batch2 : Tensor. Of shapes (b, n, m) and (b, m, p).
    %(factors)s

    Returns
    -------
    Tensor: Of shape (b, n, p). Differentiable, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.baddbmm(wg.ones(1), wg.ones(2, 1, 3), wg.ones(2, 3, 1)).flatten()
    tensor([4., 4.])
    """
    if former:
        given = input, batch1, batch2
        input, batch1, batch2, beta, alpha = in_former_order("baddbmm", given, former, beta, alpha)
    x = operand(input, "baddbmm", "self")
    y, z = operand(batch1, "baddbmm", "batch1", 2), operand(batch2, "baddbmm", "batch2", 3)
    # the added tensor is checked first
    shape = size_of(y._payload, 0), size_of(y._payload, 1), size_of(z._payload, 2)
    kinds = [value._payload.dtype for value in (x, y, z)]
    if len(set(kinds)) > 1 and not mixes_dtypes():
        names = ", ".join(
            f"{name}: {c_name(kind)}"
            for name, kind in zip(("input", "batch1", "batch2"), kinds, strict=True)
        )
        raise RuntimeError(f"Input dtypes must be the same, got: {names}")
    check_batches(y, z)
    _check_added(x, y, shape)
    beta, alpha = _factors("baddbmm", x, beta, alpha)
    result = T.baddbmm(x, y, z, beta=beta, alpha=alpha)
    return result if out is None else into(out, result, "baddbmm")


@export("wengert", "Tensor")
def outer(input: Any, vec2: Any, *, out: Any = None) -> Any:
    """Return the outer product of two vectors.

    Parameters
    ----------
    input, vec2 : Tensor. Of shapes (n,) and (m,); their dtypes are promoted.

    Returns
    -------
    Tensor: Of shape (n, m). Differentiable, to any order.

    Raises
    ------
    RuntimeError: If one is not a vector.

    Examples
    --------
    >>> wg.outer(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 10.0]))
    tensor([[ 1., 10.],
            [ 2., 20.]])
    """
    x, y = operand(input, "outer", "self"), operand(vec2, "outer", "vec2", 2)
    for arg, value in (("self", x), ("vec2", y)):
        if value._payload.ndim != 1:
            raise RuntimeError(
                f"outer: Expected 1-D argument {arg}, but got {value._payload.ndim}-D"
            )
    result = T.mul(T.view(x, shape=(x._payload.size, 1)), y)
    return result if out is None else into(out, result, "outer")


@export("wengert", "Tensor")
def inner(input: Any, other: Any, *, out: Any = None) -> Any:
    """Return the sums of products over the last dimension of both; for vectors their `dot`.

    Parameters
    ----------
    input, other : Tensor. With the same size of the last dimension, or one without dimensions,
        which multiplies.

    Returns
    -------
    Tensor: Of the shape ``input.shape[:-1] + other.shape[:-1]``. Differentiable, to any order.

    Raises
    ------
    RuntimeError: If the last dimensions or the dtypes differ.

    Examples
    --------
    >>> wg.inner(wg.tensor([[1.0, 2.0], [3.0, 4.0]]), wg.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    x, y = operand(input, "inner", "self"), operand(other, "inner", "other", 2)
    a, b = x._payload.shape, y._payload.shape
    if not a or not b:
        result = T.mul(x, y)
    elif a[-1] != b[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(a)} and {list(b)}"
        )
    else:
        # by permutations, as in PyTorch's tensordot: they are cheap, and give its graph
        x = T.permute(x, dims=tuple(range(len(a))))
        y = T.permute(y, dims=(len(b) - 1, *range(len(b) - 1)))
        if len(a) == 1 and len(b) == 1:
            product = dot(x, y)
        else:
            product = matrices(
                in_shape(x, (math.prod(a[:-1]), a[-1])), in_shape(y, (b[-1], math.prod(b[:-1])))
            )
        result = T.view(product, shape=(*a[:-1], *b[:-1]))
    return result if out is None else into(out, result, "inner")


@export("nn.functional")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """Apply a linear layer: ``input @ weight.T + bias``.

    Parameters
    ----------
    input : Tensor. Of shape (..., m).
    weight : Tensor. Of shape (p, m), or (m,) for results without the last dimension.
    bias : Tensor, optional. Of shape (p,).

    Returns
    -------
    Tensor: Of shape (..., p). Differentiable, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.nn.functional.linear(wg.ones(2, 3), wg.ones(4, 3), wg.zeros(4)).shape
    torch.Size([2, 4])
    """
    x, w = operand(input, "linear"), operand(weight, "linear", "weight", 2)
    if w._payload.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {w._payload.ndim}D: weight of "
            "linear() is a matrix, or a vector"
        )
    if not x._payload.ndim or not w._payload.ndim:
        raise RuntimeError(
            "both arguments to linear need to be at least 1D, but they are "
            f"{x._payload.ndim}D and {w._payload.ndim}D"
        )
    if bias is None:
        return matmul(x, _turned(w))
    bias = operand(bias, "linear", "bias", 3)
    shape = x._payload.shape
    if w._payload.ndim != 2:
        if len(shape) != 1 or bias._payload.ndim:
            raise RuntimeError(
                "mat2 must be a matrix, got 1-D tensor: a vector goes with a vector, and with a "
                "number for its bias"
            )
        return T.add(matmul(x, w), bias)
    if len(shape) == 2:
        return _plus_product(bias, x, _turned(w))
    own, added = x._payload, bias._payload
    own, added = getattr(own, "array", own), getattr(added, "array", added)
    if (own.flags.c_contiguous and added.flags.c_contiguous) and (
        bias._payload.ndim == 1 or len([n for n in bias._payload.shape if n != 1]) == 1
    ):
        rows = T.view(x, shape=(math.prod(shape[:-1]), shape[-1]))
        return T.view(
            _plus_product(bias, rows, _turned(w)), shape=(*shape[:-1], w._payload.shape[0])
        )
    product = matmul(x, _turned(w))
    check_shape(product._payload, [bias._payload])
    return T.add(product, bias)
