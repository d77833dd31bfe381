"""Layer 5 · ops · matrices: `linalg`: powers and exponentials of matrices, products."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import long_name, not_implemented, wrong_type
from wengert.base.export import export
from wengert.base.shapes import broadcast, normal_dim
from wengert.ops.arrange import diagonal as _diagonal
from wengert.ops.checks import numpy_names
from wengert.ops.coerce import dtype_name, integer, operand, operands
from wengert.ops.linear_checks import check_floating, check_same_dtype, square_of
from wengert.ops.linear_systems import inv
from wengert.ops.matmul import check_dtypes, check_lengths, matmul
from wengert.ops.options import fixed
from wengert.ops.out import into
from wengert.prims import contraction as contraction
from wengert.prims import products as products
from wengert.prims import scan as scan
from wengert.tape.record import T

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "multi_dot",
    "vander",
    "vecdot",
]


# -- functions of matrices ------------------------------------------------------------------------


@export("wengert", "Tensor")
def matrix_power(input: Any, n: int, *, out: Any = None) -> Any:
    """Return integer powers of square matrices.

    Parameters
    ----------
    input : Tensor. Of shape (..., m, m).
    n : int. The power: 0 gives the identity, a negative number powers of the inverse.

    %(returns_alike)s

    Raises
    ------
    LinAlgError: For negative powers of singular matrices.
    %(error_square)s

    Examples
    --------
    >>> wg.linalg.matrix_power(wg.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    x = square_of(input, "linalg_matrix_power", "linalg.matrix_power", "input")
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise wrong_type("linalg_matrix_power", "n", "int", n, 2)
    return into(out, _power(x, integer(n, "linalg_matrix_power", "n")), "linalg_matrix_power")


def _power(x: Any, n: int) -> Any:
    a = x._payload
    if n == 0:
        # no element depends on x, but the result stays in its graph
        one = fixed(np.eye(a.shape[-1], dtype=a.dtype), x)
        return T.where(fixed(np.zeros(a.shape, bool), x), x, one)
    if n == 1:
        return T.clone(x)
    if n == -1:
        return inv(x)
    if n < 0:
        x, n = inv(x), -n
    # by repeated squaring
    result = None
    while n > 1:
        if n % 2:
            result = x if result is None else matmul(result, x)
        x, n = matmul(x, x), n // 2
    return x if result is None else matmul(result, x)


@export("wengert", "Tensor")
def matrix_exp(input: Any) -> Any:
    """Return the exponentials of square matrices: the sums of ``matrix_power(input, k) / k!``.

    Parameters
    ----------
    input : Tensor. Of shape (..., n, n), of floating or complex dtype.

    %(returns_alike, raises_square)s

    References
    ----------
    N. J. Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J.
    Matrix Anal. Appl. 26 (2005).

    Examples
    --------
    >>> wg.linalg.matrix_exp(wg.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    x = square_of(input, "linalg_matrix_exp", "linalg.matrix_exp", "input")
    if x._payload.dtype.kind in "biu":
        check_floating(x, "linalg.matrix_exp")
    return T.linalg_matrix_exp(x)


# -- products -------------------------------------------------------------------------------------


def multi_dot(tensors: Any, *, out: Any = None) -> Any:
    """Return the product of several matrices, in the order that takes the fewest multiplications.

    Parameters
    ----------
    tensors : sequence of Tensor. Two or more matrices; the first and the last one may be vectors.

    Returns
    -------
    Tensor: The product, as by ``@``. Differentiable, to any order.

    Raises
    ------
    RuntimeError: If there are fewer than two, or the shapes or dtypes do not fit.

    References
    ----------
    T. H. Cormen, C. E. Leiserson, R. L. Rivest, C. Stein, "Introduction to Algorithms", chapter 15.

    Examples
    --------
    >>> wg.linalg.multi_dot([wg.ones(2, 3), wg.ones(3, 4), wg.ones(4)])
    tensor([12., 12.])
    """
    if not isinstance(tensors, list | tuple):
        raise wrong_type("linalg_multi_dot", "tensors", "tuple of Tensors", tensors, 1)
    result = chained(operands(tensors, "linalg_multi_dot"), "multi_dot")
    return result if out is None else into(out, result, "linalg_multi_dot")


def chained(factors: list[Any], name: str) -> Any:
    """The product of two or more factors in the best order."""
    count = len(factors)
    if count < 2:
        raise RuntimeError(f"{name}(): expected at least 2 tensors but got {count}")
    ends = {0: "first", count - 1: "last"}
    for i, factor in enumerate(factors):
        n = factor._payload.ndim
        if i in ends and n not in (1, 2):
            raise RuntimeError(f"{name}(): the {ends[i]} tensor must be 1D or 2D but got {n}D")
        if i not in ends and n != 2:
            raise RuntimeError(f"{name}(): tensor {i} must be 2D but got {n}D")
        if factor._payload.dtype != factors[0]._payload.dtype:
            kinds = (long_name(f._payload.dtype).lower() for f in (factors[0], factor))
            raise RuntimeError(
                f"{name}(): all tensors must have be the same dtype but tensor 0 is {next(kinds)} "
                f"and tensor {i} {next(kinds)}"
            )
    shapes = [factor._payload.shape for factor in factors]
    sizes = [shapes[0][0] if len(shapes[0]) == 2 else 1]
    for i, shape in enumerate(shapes):
        if i and shapes[i - 1][-1] != shape[0]:
            raise RuntimeError(
                f"{name}(): tensors {i - 1} and {i} with shapes {list(shapes[i - 1])} and "
                f"{list(shape)} cannot be multiplied"
            )
        sizes.append(1 if i == count - 1 and i and len(shape) == 1 else shape[-1])
    splits = _best_splits(sizes)

    def product(i: int, j: int) -> Any:
        if i == j:
            return factors[i]
        k = splits[i, j]
        return matmul(product(i, k), product(k + 1, j))

    return product(0, count - 1)


def _best_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Return where to split each part of a product for the fewest multiplications."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    splits = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            found = [
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i, j], splits[i, j] = min(found)
    return splits


@numpy_names
def vecdot(x: Any, y: Any, *, dim: int = -1, out: Any = None) -> Any:
    """Return the sums of products of vectors' elements, those of the first conjugated.

    Parameters
    ----------
    x, y : Tensor. Of one floating or complex dtype; they broadcast against each other.
    dim : int. The dimension along which the vectors lie.

    Returns
    -------
    Tensor: Without the dimension. Differentiable with respect to both, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.linalg.vecdot(wg.tensor([[1.0, 2.0], [3.0, 4.0]]), wg.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    x, y = operand(x, "linalg_vecdot", "x"), operand(y, "linalg_vecdot", "y", 2)
    a, b = x._payload, y._payload
    if a.dtype.kind in "biu":
        check_floating(x, "linalg.vecdot")
    check_same_dtype(
        x,
        y,
        "linalg.vecdot: Expected x and y to have the same dtype, but found x of type {} and y of "
        "type {} instead",
    )
    if a.ndim == b.ndim == 1:
        check_lengths(a, b)
    if a.dtype.kind == "c":
        x = T.conj(x)
    shape = a.shape if a.shape == b.shape else broadcast(a.shape, b.shape)
    dim = normal_dim(dim, len(shape))
    if not shape:
        result = T.mul(x, y)
    elif a.shape == b.shape:
        labels = tuple(range(len(shape)))
        result = T.contract(x, y, a=labels, b=labels, out=(*labels[:dim], *labels[dim + 1 :]))
    else:
        result = T.sum_dim(T.mul(x, y), dim=(dim,), keepdim=False)
    return result if out is None else into(out, result, "linalg_vecdot")


@numpy_names
def cross(input: Any, other: Any, *, dim: int = -1, out: Any = None) -> Any:
    """Return the vector products of vectors with three elements.

    Parameters
    ----------
    input, other : Tensor. With as many dimensions; they broadcast against each other.
    dim : int. The dimension of size 3 along which the vectors lie.

    Returns
    -------
    Tensor: Orthogonal to both. Differentiable with respect to both, to any order.

    Raises
    ------
    RuntimeError: If the shapes or dtypes do not fit, or the dimension has another size.

    Examples
    --------
    >>> wg.linalg.cross(wg.tensor([1.0, 0.0, 0.0]), wg.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    x, y = operand(input, "linalg_cross", "input"), operand(other, "linalg_cross", "other", 2)
    a, b = x._payload, y._payload
    if a.ndim != b.ndim:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions. They have "
            f"{a.ndim} and {b.ndim}"
        )
    if not a.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    place = normal_dim(dim, a.ndim)
    if a.shape[place] != 3 or b.shape[place] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[place]} and "
            f"{b.shape[place]}"
        )
    if a.dtype.kind == "b":
        raise not_implemented("cross", a.dtype, "convert the tensors to a number type")
    if a.dtype != b.dtype:
        check_dtypes(a, b, "expected scalar type {0} but found {1}")
    return into(out, T.linalg_cross(x, y, dim=place), "linalg_cross")


def vander(x: Any, N: int | None = None) -> Any:
    """Vandermonde matrices: the powers 0, 1, ... of elements.

    Parameters
    ----------
    x : Tensor. Of shape (..., n), not of bools.
    N : int, optional. The number of powers, at least 2; by default n.

    Returns
    -------
    Tensor: Of shape (..., n, N). Differentiable, to any order.

    Raises
    ------
    RuntimeError: If there are fewer than two powers.

    Examples
    --------
    >>> wg.linalg.vander(wg.tensor([2.0, 3.0]), N=3)
    tensor([[1., 2., 4.],
            [1., 3., 9.]])
    """
    v = operand(x, "linalg_vander", "x")
    a = v._payload
    if a.dtype.kind == "b":
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{dtype_name(a)}"
        )
    size = a.shape[-1] if a.ndim else 1
    count = size if N is None else integer(N, "linalg_vander", "N")
    if count <= 1:
        raise RuntimeError(f"N must be greater than 1. It is {count}")
    if not a.ndim:
        v = T.unsqueeze(v, dim=0)
    return powers(v, count)


def powers(v: Any, count: int) -> Any:
    """The powers 0 to `count` - 1 of elements, along a new last dimension."""
    shape = v._payload.shape
    if v._payload.dtype.kind in "biu":
        v = T.to_copy(v, dtype=np.dtype(np.int64))
    rows = fixed(np.ones((min(count, 1), *shape), v._payload.dtype), v)
    if count > 1:
        # multiply along the first dimension, so that the steps are on long rows
        repeated = T.expand(v, shape=(count - 1, *shape))
        rows = T.cat(rows, T.cumprod(repeated, dim=0, reverse=False), dim=0)
    return T.permute(rows, dims=(*range(1, len(shape) + 1), 0))


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Return the diagonals of matrices: a view.

    Parameters
    ----------
    A : Tensor. Of two or more dimensions.
    offset : int. The offset above the main diagonal.
    dim1, dim2 : int. The dimensions of rows and columns.

    Returns
    -------
    Tensor: Without these dimensions, the diagonal as its last one. Differentiable, to any order.

    %(raises_no_dim)s

    Examples
    --------
    >>> wg.linalg.diagonal(wg.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    return _diagonal(operand(A, "linalg_diagonal", "A"), offset, dim1, dim2)
