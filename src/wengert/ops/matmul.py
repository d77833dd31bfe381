"""Layer 5 · ops · products: products of matrices and vectors.

Products of more dimensions are decomposed as in PyTorch, so that graphs have the same nodes.
"""

from __future__ import annotations

import math
from typing import Any

from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.base.shapes import broadcast
from wengert.ops.cast import to
from wengert.ops.coerce import dtype_name, is_sparse, operand
from wengert.ops.out import into
from wengert.ops.strided import in_shape
from wengert.tape.base import TensorBase
from wengert.tape.modes import mixes_dtypes
from wengert.tape.record import T


def check_dtypes(a: Any, b: Any, message: str) -> None:
    """Raise if the dtypes differ (`message` names them), or if there are bools to multiply."""
    if a.dtype != b.dtype and not mixes_dtypes():
        names = dtype_name(a), dtype_name(b)
        said = message.format(*names, *map(str.lower, names))
        raise RuntimeError(f"{said}\n  Convert one of them: x.to(y.dtype).")
    if a.dtype.kind == "b" and (a.ndim == b.ndim == 1 or (a.size and b.size)):
        raise not_implemented("addmm_impl_cpu_", a.dtype, "convert the tensors to a number type")


_VECTORS = "dot : expected both vectors to have same dtype, but found {0} and {1}"
_MATRICES = "expected m1 and m2 to have the same dtype, but got: {2} != {3}"
ADDED_MATRICES = "mat1 and mat2 must have the same dtype, but got {0} and {1}"
_BATCHES = "expected scalar type {0} but found {1}"


@export("wengert", "Tensor")
def mm(input: Any, mat2: Any, *, out: Any = None) -> Any:
    """Return the product of two matrices.

    Parameters
    ----------
    input, mat2 : Tensor. Of shapes (n, m) and (m, p) and of one dtype. Nothing is broadcast (see
        `matmul`).

    Returns
    -------
    Tensor: Of shape (n, p). Differentiable, to any order.

    Raises
    ------
    RuntimeError: If one is not a matrix, or the shapes or dtypes do not fit.

    Examples
    --------
    >>> wg.mm(wg.tensor([[1.0, 2.0]]), wg.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    try:
        x, y = operand(input, "mm", "self"), operand(mat2, "mm", "mat2", 2)
    except TypeError:
        if out is None and (is_sparse(input) or is_sparse(mat2)):
            return input @ mat2
        raise
    a, b = x._payload, y._payload
    if a.ndim != 2 or b.ndim != 2:
        raise RuntimeError(
            f"{'self' if a.ndim != 2 else 'mat2'} must be a matrix, but the shapes are "
            f"{list(a.shape)} and {list(b.shape)}: use matmul() for other dimensions"
        )
    result = matrices(x, y)
    return result if out is None else into(out, result, "mm")


def matrices(x: Any, y: Any) -> Any:
    """The product of two tensors that are known to be matrices."""
    a, b = x._payload, y._payload
    if a.shape[1] != b.shape[0] or a.dtype is not b.dtype or a.dtype.kind == "b":
        check_matrices(a, b)
    return T.mm(x, y)


def int_mm(input: Any, mat2: Any, *, out: Any = None) -> Any:
    """Return the product of two matrices of int8 in int32, as ``torch._int_mm``."""
    x, y = operand(input, "_int_mm", "self"), operand(mat2, "_int_mm", "mat2", 2)
    for tensor, name in ((x, "self"), (y, "mat2")):
        if tensor._payload.dtype.itemsize != 1 or tensor._payload.dtype.kind not in "iu":
            raise RuntimeError(f"Expected {name} dtype to be int8 or uint8 but got {tensor.dtype}")
    return mm(to(x, "int32"), to(y, "int32"), out=out)


def check_matrices(a: Any, b: Any) -> None:
    """Refuse two matrices that cannot be multiplied."""
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
        )
    check_dtypes(a, b, _MATRICES)


@export("wengert", "Tensor")
def mv(input: Any, vec: Any, *, out: Any = None) -> Any:
    """Return the product of a matrix and a vector.

    Parameters
    ----------
    input, vec : Tensor. Of shapes (n, m) and (m,) and of one dtype.

    Returns
    -------
    Tensor: Of shape (n,). Differentiable, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.mv(wg.tensor([[1.0, 2.0], [3.0, 4.0]]), wg.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    try:
        x, y = operand(input, "mv", "self"), operand(vec, "mv", "vec", 2)
    except TypeError:
        if out is None and is_sparse(input):
            return input @ vec
        raise
    a, b = x._payload, y._payload
    if a.ndim != 2 or b.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {a.ndim}, {b.ndim}")
    result = _mv(x, y)
    return result if out is None else into(out, result, "mv")


def _mv(x: Any, y: Any) -> Any:
    check_matrix_vector(x._payload, y._payload)
    return T.mv(x, y)


def check_matrix_vector(a: Any, b: Any) -> None:
    """Refuse a matrix and a vector that cannot be multiplied."""
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({a.shape[0]}), mat ({a.shape[0]}x{a.shape[1]}), "
            f"vec ({b.shape[0]})"
        )
    if a.dtype is not b.dtype or a.dtype.kind == "b":
        check_dtypes(a, b, "addmv input tensors must have the same dtype, but got {0} and {1}")


def check_lengths(a: Any, b: Any) -> None:
    """Refuse vectors of different lengths."""
    if a.shape != b.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the "
            f"same number of elements, but got {a.size} and {b.size} elements respectively"
        )


def _vectors(input: Any, other: Any, op: str, arg: str) -> tuple[Any, Any]:
    x, y = operand(input, op, "self"), operand(other, op, arg, 2)
    a, b = x._payload, y._payload
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype is not b.dtype or a.dtype.kind == "b":
        check_dtypes(a, b, _VECTORS)
    check_lengths(a, b)
    return x, y


@export("wengert", "Tensor")
def dot(input: Any, tensor: Any, *, out: Any = None) -> Any:
    """Return the sum of the products of two vectors' elements.

    Parameters
    ----------
    input, tensor : Tensor. Of shape (n,) both and of one dtype.

    Returns
    -------
    Tensor: Without dimensions. Differentiable, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.dot(wg.tensor([1.0, 2.0]), wg.tensor([3.0, 4.0]))
    tensor(11.)
    """
    result = T.dot(*_vectors(input, tensor, "dot", "tensor"))
    return result if out is None else into(out, result, "dot")


@export("wengert", "Tensor")
def vdot(input: Any, other: Any, *, out: Any = None) -> Any:
    """Return the dot product of two vectors, with the first one conjugated.

    Parameters
    ----------
    input, other : Tensor. Of shape (n,) both and of one dtype.

    Returns
    -------
    Tensor: Without dimensions. Differentiable, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.vdot(wg.tensor([1.0, 2.0]), wg.tensor([3.0, 4.0]))
    tensor(11.)
    """
    result = T.vdot(*_vectors(input, other, "vdot", "other"))
    return result if out is None else into(out, result, "vdot")


@export("wengert", "Tensor")
def bmm(input: Any, mat2: Any, *, out: Any = None) -> Any:
    """Return the products of two batches of matrices.

    Parameters
    ----------
    input, mat2 : Tensor. Of shapes (b, n, m) and (b, m, p) and of one dtype.

    Returns
    -------
    Tensor: Of shape (b, n, p). Differentiable, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.bmm(wg.ones(2, 1, 3), wg.ones(2, 3, 1)).shape
    torch.Size([2, 1, 1])
    """
    try:
        x, y = operand(input, "bmm", "self"), operand(mat2, "bmm", "mat2", 2)
    except TypeError:
        if out is None and is_sparse(input):
            return input.bmm(mat2)
        raise
    check_batches(x, y)
    result = T.bmm(x, y)
    return result if out is None else into(out, result, "bmm")


def size_of(value: Any, dim: int) -> int:
    """The size of an array along a dimension that it may not have."""
    if dim < value.ndim:
        return value.shape[dim]
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{-value.ndim}, {value.ndim - 1}], "
        f"but got {dim})"
        if value.ndim
        else f"Dimension specified as {dim} but tensor has no dimensions"
    )


def check_batches(x: Any, y: Any) -> None:
    """Refuse what are not two lists of as many matrices that can be multiplied."""
    a, b = x._payload, y._payload
    for number, value in ((1, a), (2, b)):
        if value.ndim != 3:
            raise RuntimeError(
                f"batch{number} must be a 3D tensor, but has {value.ndim} dimensions"
            )
    if a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{a.shape[0]}, {a.shape[2]}] but got: [{b.shape[0]}, {b.shape[1]}]."
        )
    if a.dtype is not b.dtype or a.dtype.kind == "b":
        check_dtypes(a, b, _BATCHES)


@export("wengert", "Tensor")
def matmul(input: Any, other: Any, *, out: Any = None) -> Any:
    """Return the product of vectors, matrices, or batches of matrices; the operator ``@``.

    Parameters
    ----------
    input, other : Tensor. Of one dtype. Two vectors give their `dot`; a vector before or after a
        matrix is a row or a column, whose dimension the result lacks; further dimensions are
        batch dimensions, which broadcast.

    %(returns_smooth)s

    Raises
    ------
    RuntimeError: If one has no dimensions, or the shapes or dtypes do not fit.

    Examples
    --------
    >>> x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x @ wg.tensor([1.0, 10.0])
    tensor([21., 43.])
    >>> (wg.ones(5, 2, 3) @ wg.ones(3, 4)).shape
    torch.Size([5, 2, 4])
    """
    if out is not None:
        return into(out, matmul(input, other), "matmul")
    # conditions written out for speed
    if not isinstance(input, TensorBase):
        if is_sparse(input):
            return input @ other
        input = operand(input, "matmul")
    if not isinstance(other, TensorBase):
        if is_sparse(other):
            return input @ other
        other = operand(other, "matmul", "other", 2)
    a, b = input._payload, other._payload
    if a.ndim == 2 and b.ndim == 2:
        # as `matrices`
        if a.shape[1] != b.shape[0] or a.dtype is not b.dtype or a.dtype.kind == "b":
            check_matrices(a, b)
        return T.mm(input, other)
    x, y = input, other
    n, m = a.ndim, b.ndim
    if n == 2 and m == 1:
        return _mv(x, y)
    if n == 1 and m == 1:
        return dot(x, y)
    if n == 0 or m == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {n}D and {m}D"
        )
    if n == 1 and m == 2:
        return T.squeeze_dim_(matrices(T.unsqueeze(x, dim=0), y), dim=0)
    if _can_fold(x, y):
        return _folded(x, y)
    if n == 3 and m == 3 and x._payload.shape[0] != y._payload.shape[0]:
        if x._payload.shape[0] == 1 and x._edge is not None:
            return matmul(T.squeeze_dim(x, dim=0), y)
        if y._payload.shape[0] == 1 and y._edge is not None:
            return matmul(x, T.squeeze_dim(y, dim=0))
    return _batched(x, y)


def _can_fold(x: Any, y: Any) -> bool:
    """Return whether the leading dimensions of one argument fold into rows for a matrix."""
    large, small = (x, y) if x._payload.ndim >= y._payload.ndim else (y, x)
    if small._payload.ndim > 2 or large._payload.ndim < 3:
        return False
    if small._edge is not None:
        return True
    if x._payload.ndim == 2:
        return False
    shape, strides = large._payload.shape, large._payload.strides
    if large is y:
        shape = (*shape[:-2], shape[-1], shape[-2])
        strides = (*strides[:-2], strides[-1], strides[-2])
    return large._payload.size == 0 or all(
        strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2)
    )


def _mT(x: Any) -> Any:
    return T.transpose(x, dim0=x._payload.ndim - 2, dim1=x._payload.ndim - 1)


def _folded(x: Any, y: Any) -> Any:
    swapped = y._payload.ndim > x._payload.ndim
    large = _mT(y) if swapped else x
    small = (T.t(x) if x._payload.ndim == 2 else x) if swapped else y
    shape = large._payload.shape
    rows = in_shape(large, (math.prod(shape[:-1]), shape[-1]))
    if small._payload.ndim == 1:
        return T.unsafe_view(_mv(rows, small), shape=shape[:-1])
    result = T.unsafe_view(matrices(rows, small), shape=(*shape[:-1], small._payload.shape[1]))
    return T.contiguous(_mT(result)) if swapped else result


def _batched(x: Any, y: Any) -> Any:
    a, b = x._payload.shape, y._payload.shape
    batch = broadcast(a[:-2], b[:-2])
    count = math.prod(batch)
    left = a[-2:] if len(a) > 1 else (1, a[0])
    right = b[-2:] if len(b) > 1 else (b[0], 1)
    x = in_shape(T.expand(x, shape=(*batch, *left)), (count, *left))
    if len(b) > 1:
        y = in_shape(T.expand(y, shape=(*batch, *right)), (count, *right))
    else:
        y = T.unsqueeze(in_shape(T.expand(y, shape=(*batch, *b)), (count, *b)), dim=2)
    check_batches(x, y)
    result = T.bmm(x, y)
    if len(b) == 1:
        result = T.squeeze_dim(result, dim=2)
    return T.unsafe_view(
        result,
        shape=(*batch, *(left[:1] if len(a) > 1 else ()), *(right[1:] if len(b) > 1 else ())),
    )
