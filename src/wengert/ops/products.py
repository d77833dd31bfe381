"""Layer 5 · ops · products: outer, Kronecker, cross and tensor products, and chains of matrices."""

from __future__ import annotations

from typing import Any

from wengert.base.dtypes import joined
from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.base.shapes import expanded, normal_dims
from wengert.ops.affine import outer
from wengert.ops.checks import numpy_names, renamed
from wengert.ops.coerce import (
    dtype_name,
    in_former_order,
    integer,
    number,
    operand,
    operands,
    wide,
)
from wengert.ops.matmul import ADDED_MATRICES, check_dtypes, size_of
from wengert.ops.matrix_functions import chained, powers
from wengert.ops.matrix_functions import cross as _cross
from wengert.ops.out import into
from wengert.ops.reduce import sum
from wengert.ops.strided import in_shape
from wengert.prims import contraction as contraction
from wengert.prims import products as products
from wengert.tape.base import TensorBase
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tape.sites import warn, warn_once


@export("wengert", "Tensor", "Tensor_")
def addbmm(
    input: Any,
    batch1: Any,
    batch2: Any,
    *former: Any,
    beta: float = 1,
    alpha: float = 1,
    out: Any = None,
) -> Any:
    """Return the sum of products of matrices added to a matrix.

    That is ``beta * input + alpha * (batch1 @ batch2).sum(0)``.

    Parameters
    ----------
    input : Tensor. The summand; broadcasts to (n, p).
    batch1, batch2 : Tensor. Of shapes (b, n, m) and (b, m, p) and of one dtype.
    %(factors)s

    Returns
    -------
    Tensor: Of shape (n, p). Differentiable with respect to the three tensors, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.addbmm(wg.zeros(1, 1), wg.ones(2, 1, 3), wg.ones(2, 3, 1))
    tensor([[6.]])
    """
    if former:
        given = input, batch1, batch2
        input, batch1, batch2, beta, alpha = in_former_order("addbmm", given, former, beta, alpha)
    x, y = operand(batch1, "addbmm", "batch1", 2), operand(batch2, "addbmm", "batch2", 3)
    added = operand(input, "addbmm")
    a, b = x._payload, y._payload
    rows, columns = size_of(a, 1), size_of(b, 2)
    for name, value in (("batch1", a), ("batch2", b)):
        if value.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor, but has {value.ndim} dimensions")
    if a.shape[0] != b.shape[0]:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {a.shape[0]} and {b.shape[0]}"
        )
    if a.shape[2] != b.shape[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({a.shape[1]}x{a.shape[2]} and "
            f"{b.shape[1]}x{b.shape[2]})"
        )
    count, _, inner = a.shape
    if added._payload.shape != (rows, columns):
        expanded(added._payload.shape, (rows, columns))
    if a.dtype != b.dtype or a.dtype.kind == "b":
        check_dtypes(a, b, ADDED_MATRICES)
    if added._payload.dtype != a.dtype:
        check_dtypes(
            added._payload, b, "self and mat2 must have the same dtype, but got {0} and {1}"
        )
    if a.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)
    # one product of matrices whose rows and columns run through the whole batch
    wide = in_shape(T.permute(x, dims=(1, 0, 2)), (rows, count * inner))
    result = T.addmm(added, wide, in_shape(y, (count * inner, columns)), beta=beta, alpha=alpha)
    return result if out is None else into(out, result, "addbmm")


@export("wengert", "Tensor", "Tensor_")
def addr(
    input: Any,
    vec1: Any,
    vec2: Any,
    *former: Any,
    beta: float = 1,
    alpha: float = 1,
    out: Any = None,
) -> Any:
    """Add an outer product to a matrix: ``beta * input + alpha * outer(vec1, vec2)``.

    Parameters
    ----------
    input : Tensor. The summand; broadcasts to (n, m).
    vec1, vec2 : Tensor. Of shapes (n,) and (m,).
    %(factors)s

    Returns
    -------
    Tensor: Of shape (n, m). Differentiable with respect to the three tensors, to any order.

    Raises
    ------
    RuntimeError: If the shapes do not fit, or a factor of integers is floating.

    Examples
    --------
    >>> wg.addr(wg.ones(2, 2), wg.tensor([1.0, 2.0]), wg.tensor([1.0, 10.0]))
    tensor([[ 2., 11.],
            [ 3., 21.]])
    """
    if former:
        given = input, vec1, vec2
        input, vec1, vec2, beta, alpha = in_former_order("addr", given, former, beta, alpha)
    x = operand(input, "addr")
    v, w = operand(vec1, "addr", "vec1", 2), operand(vec2, "addr", "vec2", 3)
    for name, vector in (("vec1", v), ("vec2", w)):
        if vector._payload.ndim != 1:
            raise RuntimeError(
                f"addr: Expected 1-D argument {name}, but got {vector._payload.ndim}-D"
            )
    shape = (v._payload.shape[0], w._payload.shape[0])
    if x._payload.shape != shape:
        expanded(x._payload.shape, shape)
    beta, alpha = number(beta, "addr", "beta"), number(alpha, "addr", "alpha")
    kinds = {t._payload.dtype.kind for t in (x, v, w)}
    if kinds <= set("biu"):
        for name, value in (("beta", beta), ("alpha", alpha)):
            if isinstance(value, float | complex):
                raise RuntimeError(
                    f"For integral input tensors, argument {name} must not be a floating point "
                    "number."
                )
    if kinds == {"b"}:
        beta, alpha = bool(beta), bool(alpha)
    else:
        for name, value in (("beta", beta), ("alpha", alpha)):
            if isinstance(value, bool):
                raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    # unlike elsewhere, 0-d tensors take part in promotion like the vectors
    dtype = joined(joined(x._payload.dtype, v._payload.dtype), w._payload.dtype)
    return into(out, T.addr(*(cast(t, dtype) for t in (x, v, w)), beta=beta, alpha=alpha), "addr")


@export("wengert", "Tensor")
def ger(input: Any, vec2: Any, *, out: Any = None) -> Any:
    """Return the products of each element of one vector with each of another: see `outer`.

    Parameters
    ----------
    input, vec2 : Tensor. Vectors.

    Returns
    -------
    Tensor: Of shape (n, m). Differentiable, to any order.

    Raises
    ------
    RuntimeError: If one is not a vector.

    Examples
    --------
    >>> wg.ger(wg.tensor([1.0, 2.0]), wg.tensor([3.0]))
    tensor([[3.],
            [6.]])
    """
    return outer(input, vec2, out=out)


@export("wengert")
def chain_matmul(*matrices: Any, out: Any = None) -> Any:
    """Return the product of matrices in the order that takes the fewest multiplications.

    `linalg.multi_dot` is the newer form, which takes a list, and vectors at the ends.

    Parameters
    ----------
    *matrices : Tensor. One or more matrices.

    Returns
    -------
    Tensor: The product. Differentiable, to any order.

    Raises
    ------
    RuntimeError: If there are none, or shapes or dtypes do not fit.

    Examples
    --------
    >>> import warnings, wengert as wg
    >>> with warnings.catch_warnings(action="ignore"):  # it is deprecated
    ...     wg.chain_matmul(wg.ones(1, 3), wg.ones(3, 4), wg.ones(4, 1))
    tensor([[12.]])
    """
    warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
        "multiple parameters."
    )
    if len(matrices) == 1 and isinstance(matrices[0], list | tuple):
        matrices = tuple(matrices[0])
    factors = operands(list(matrices), "chain_matmul")
    if not factors:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for factor in factors:
        if factor._payload.ndim != 2:
            raise RuntimeError(
                f"Tensor dimension is {factor._payload.ndim}, expected 2 instead: chain_matmul() "
                "multiplies matrices"
            )
    result = T.clone(factors[0]) if len(factors) == 1 else chained(factors, "chain_matmul")
    return result if out is None else into(out, result, "chain_matmul")


@export("wengert", "Tensor")
@numpy_names
def cross(input: Any, other: Any, dim: int | None = None, *, out: Any = None) -> Any:
    """Return the vector products of vectors with three elements.

    Parameters
    ----------
    input, other : Tensor. With as many dimensions; they broadcast against each other.
    dim : int, optional. The dimension of size 3 along which the vectors lie; by default the first
        one of that size. `linalg.cross` takes the last dimension.

    Returns
    -------
    Tensor: Orthogonal to both. Differentiable with respect to both, to any order.

    %(raises_shapes_or_dtypes)s

    Examples
    --------
    >>> wg.cross(wg.tensor([1.0, 0.0, 0.0]), wg.tensor([0.0, 1.0, 0.0]), dim=0)
    tensor([0., 0., 1.])
    """
    x = operand(input, "cross")
    if dim is None:
        shape = x._payload.shape
        if 3 not in shape:
            raise RuntimeError(f"no dimension of size 3 in input, whose shape is {list(shape)}")
        warn_once(
            "Using torch.cross without specifying the dim arg is deprecated: the first dimension "
            "of size 3 is taken, and linalg.cross takes the last one"
        )
        dim = shape.index(3)
    return _cross(x, operand(other, "cross", "other", 2), dim=dim, out=out)


@export("wengert", "Tensor")
def kron(input: Any, other: Any, *, out: Any = None) -> Any:
    """Return the Kronecker product: each element of the first tensor times the whole second one.

    Parameters
    ----------
    input, other : Tensor. Of any shapes; the one with fewer dimensions gets further ones of size 1
        in front.

    Returns
    -------
    Tensor: The sizes of both multiplied. Differentiable with respect to both, to any order.

    Raises
    ------
    TypeError: If one is not a tensor.

    Examples
    --------
    >>> wg.kron(wg.tensor([1.0, 10.0]), wg.tensor([1.0, 2.0]))
    tensor([ 1.,  2., 10., 20.])
    """
    x, y = operand(input, "kron", "self"), operand(other, "kron", "other", 2)
    a, b = x._payload.shape, y._payload.shape
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    first = T.view(x, shape=tuple([size for pair in a for size in (pair, 1)]))
    second = T.view(y, shape=tuple([size for pair in b for size in (1, pair)]))
    shape = tuple([p * q for p, q in zip(a, b, strict=True)])
    return into(out, T.unsafe_view(T.mul(first, second), shape=shape), "kron")


@export("wengert", "Tensor")
def trace(input: Any) -> Any:
    """Return the sum of the elements on the diagonal of a matrix.

    Parameters
    ----------
    input : Tensor. Of two dimensions.

    Returns
    -------
    Tensor: Without dimensions; of int64 for integers. Differentiable, to any order.

    Raises
    ------
    RuntimeError: If the tensor is not a matrix.

    Examples
    --------
    >>> wg.trace(wg.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(5.)
    """
    x = wide(input, "trace")
    a = x._payload
    if a.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {a.ndim}")
    if a.dtype.kind == "b":
        raise not_implemented("trace", a.dtype, "convert it to integers")
    return sum(T.diagonal(x, offset=0, dim1=0, dim2=1))


@export("wengert")
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Return the Vandermonde matrix of a vector: the powers of its elements.

    Parameters
    ----------
    x : Tensor. Of shape (n,).
    N : int, optional. The number of powers; by default n.
    increasing : bool. Whether the powers go up from 0, or down to it.

    Returns
    -------
    Tensor: Of shape (n, N). Differentiable, to any order.

    Raises
    ------
    RuntimeError: If `x` is not a vector, or `N` is negative.

    Examples
    --------
    >>> wg.vander(wg.tensor([2.0, 3.0]), N=3)
    tensor([[4., 2., 1.],
            [9., 3., 1.]])
    """
    v = operand(x, "vander", "x")
    if v._payload.ndim != 1:
        raise RuntimeError(
            f"x must be a one-dimensional tensor. Its shape is {list(v._payload.shape)}: use "
            "linalg.vander() for several vectors"
        )
    count = v._payload.shape[0] if N is None else integer(N, "vander", "N")
    if count < 0:
        raise RuntimeError(f"N must be non-negative. It is {count}")
    rising = powers(v, count)
    return rising if increasing or count < 2 else T.flip(rising, dims=(1,))


# -- tensordot ------------------------------------------------------------------------------------


def _dim_lists(dims: Any, a: Any, b: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the dimensions of both arguments that are summed over."""
    if isinstance(dims, TensorBase):
        dims = dims._payload.tolist()
        if isinstance(dims, list) and len(dims) == 1:
            dims = dims[0]
    if isinstance(dims, list | tuple) and len(dims) == 2:
        first, second = dims
        first = [first] if hasattr(first, "__index__") else list(first)
        second = [second] if hasattr(second, "__index__") else list(second)
        if len(first) != len(second):
            raise RuntimeError(
                f"both dimension lists should have same length, but they are {first} and {second}"
            )
        return normal_dims(first, a.ndim), normal_dims(second, b.ndim)
    if not hasattr(dims, "__index__"):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
            f"containing two lists, but got dims={dims}"
        )
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(a.ndim, b.ndim):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return tuple(range(a.ndim - dims, a.ndim)), tuple(range(dims))


@export("wengert")
def tensordot(a: Any, b: Any, dims: Any = 2, out: Any = None, **names: Any) -> Any:
    """Return the sums of products of two tensors over given dimensions.

    Parameters
    ----------
    a, b : Tensor. Of one dtype.
    dims : int, or two lists of int. How many dimensions to sum over, the last ones of `a` and the
        first ones of `b`; or which dimensions of `a`, and which of `b`. A size of 1 broadcasts.
        Also as `axes`, NumPy's name.

    Returns
    -------
    Tensor: With the other dimensions of `a`, then those of `b`. Differentiable with respect to
        both, to any order.

    Raises
    ------
    RuntimeError: If the sizes or dtypes do not fit.

    Examples
    --------
    >>> wg.tensordot(wg.ones(2, 3, 4), wg.ones(4, 3, 5), dims=([1, 2], [1, 0])).shape
    torch.Size([2, 5])
    """
    if names:
        dims, _ = renamed("tensordot", dims, True, names, "axes", 2)
    x, y = operand(a, "tensordot", "a"), operand(b, "tensordot", "b", 2)
    first, second = _dim_lists(dims, x._payload, y._payload)
    if x._payload.dtype != y._payload.dtype:
        raise RuntimeError(
            "both inputs should have same dtype, but they are "
            f"{dtype_name(x._payload)} and {dtype_name(y._payload)}"
        )
    if x._payload.dtype.kind == "b":
        check_dtypes(x._payload, y._payload, "")
    for i, j in zip(first, second, strict=True):
        n, m = x._payload.shape[i], y._payload.shape[j]
        if n == m:
            continue
        if n == 1:
            y = sum(y, j, True, dtype=b.dtype)
        elif m == 1:
            x = sum(x, i, True, dtype=a.dtype)
        else:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} in dim "
                f"{i - x._payload.ndim} and second has size {m} in dim {j}"
            )
    left = tuple(range(x._payload.ndim))
    right = list(range(len(left), len(left) + y._payload.ndim))
    for i, j in zip(first, second, strict=True):
        right[j] = i
    kept = [i for i in left if i not in first]
    others = [label for j, label in enumerate(right) if j not in second]
    return into(out, T.contract(x, y, a=left, b=tuple(right), out=(*kept, *others)), "tensordot")
