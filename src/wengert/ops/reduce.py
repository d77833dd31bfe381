"""Layer 5 · ops · reductions: sums, means, products, counts and running sums along dimensions.

Every function also takes NumPy's names ``axis`` and ``keepdims``. None and an empty sequence mean
all dimensions.
"""

# the functions have PyTorch's names

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, is_differentiable
from wengert.base.errors import long_name, not_implemented
from wengert.base.export import export
from wengert.ops.checks import (
    all_dims,
    check_alone,
    dim_or_axis,
    flag,
    names_none,
    one_dim,
    renamed,
)
from wengert.ops.coerce import operand
from wengert.ops.out import asked, into
from wengert.prims import moments as moments
from wengert.prims import scan as scan
from wengert.tape.base import TensorBase
from wengert.tape.operands import cast
from wengert.tape.record import T

_INT64 = np.dtype(np.int64)


def _summable(input: Any, dtype: Any, name: str) -> Any:
    """Return the input in the dtype of the sum: int64 for bools and integers."""
    if not isinstance(input, TensorBase):
        input = operand(input, name)
    if dtype is not None:
        return cast(input, as_dtype(dtype).dtype)
    if input._payload.dtype.kind in "biu":
        return cast(input, _INT64)
    return input


def _narrowed(result: Any, dtype: Any) -> Any:
    """Return a result in the requested dtype: NumPy widens integers in sums."""
    return result if dtype is None else cast(result, as_dtype(dtype).dtype)


@export("wengert", "Tensor")
def sum(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the sum of the elements, overall or along dimensions.

    Parameters
    ----------
    %(any_input, summed)s

    Returns
    -------
    Tensor: The sums (0 over no elements); differentiable for floating and complex dtypes.

    %(raises_dims)s
    RuntimeError: If a dimension is given twice.

    Examples
    --------
    >>> x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.sum()
    tensor(10.)
    >>> wg.sum(x, dim=1, keepdim=True)
    tensor([[3.],
            [7.]])
    """
    if names:
        dim, keepdim = renamed("sum", dim, keepdim, names)
    if out is not None:
        dtype = asked(dtype, out)
    input = _summable(input, dtype, "sum")
    if dim is None and not keepdim:
        result = T.sum(input)
    else:
        dims = all_dims(dim, input._payload.ndim, "sum")
        result = T.sum_dim(input, dim=dims, keepdim=flag(keepdim, "keepdim"))
    if dtype is not None:
        result = _narrowed(result, dtype)
    return result if out is None else into(out, result, "sum")


@export("wengert", "Tensor")
def mean(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the mean of the elements, overall or along dimensions.

    Parameters
    ----------
    input : Tensor. Of floating or complex dtype, unless `dtype` is given.
    dim : int or tuple of int, optional. The dimensions to average over; all by default.
    keepdim : bool. Whether to leave a dimension of size 1 for each that is averaged over.
    dtype : dtype, optional. A floating or complex dtype to convert the input to first.

    Returns
    -------
    Tensor: The means (NaN over no elements); differentiable.

    Raises
    ------
    RuntimeError: If the input is an integer or bool tensor and no `dtype` is given.
    %(error_dims)s

    Examples
    --------
    >>> wg.mean(wg.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
    tensor([2., 3.])
    """
    if names:
        dim, keepdim = renamed("mean", dim, keepdim, names)
    if not isinstance(input, TensorBase):
        input = operand(input, "mean")
    if dtype is not None:
        input = _as_mean_dtype(input, as_dtype(dtype).dtype, "Optional")
    elif input._payload.dtype.kind in "biu":
        _as_mean_dtype(input, input._payload.dtype, "Input")
    if dim is None and not keepdim:
        result = T.mean(input)
    else:
        dims = all_dims(dim, input._payload.ndim, "mean")
        result = T.mean_dim(input, dim=dims, keepdim=flag(keepdim, "keepdim"))
    return result if out is None else into(out, result, "mean")


def _as_mean_dtype(input: Any, dtype: np.dtype[Any], whose: str) -> Any:
    if not is_differentiable(dtype):
        raise RuntimeError(
            f"mean(): could not infer output dtype. {whose} dtype must be either a floating point "
            f"or complex dtype. Got: {long_name(dtype)}. Give a dtype, as in "
            "mean(dtype=wengert.float32)."
        )
    return cast(input, dtype)


@export("wengert", "Tensor")
def prod(
    input: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the product of the elements, overall or along one dimension.

    The derivative is exact where elements are 0, too, to any order.

    Parameters
    ----------
    %(any_input)s
    dim : int, optional. The dimension to multiply along; all by default.
    %(keepdim)s
    dtype : dtype, optional. The dtype to convert the input to first. Without it bools and integers
        multiply as int64.

    Returns
    -------
    Tensor: The products (1 over no elements); differentiable.

    %(raises_dim)s
    TypeError: If `dim` is not an int.

    Examples
    --------
    >>> x = wg.tensor([2.0, 0.0, 5.0], requires_grad=True)
    >>> x.prod().backward()
    >>> x.grad
    tensor([ 0., 10.,  0.])
    """
    if names:
        dim, keepdim = renamed("prod", dim, keepdim, names)
    if out is not None:
        dtype = asked(dtype, out)
    input = _summable(input, dtype, "prod")
    check_alone("prod", dim, keepdim)
    if dim is None:
        result = T.prod(input)
    else:
        ndim = input._payload.ndim
        dims = (one_dim(dim, ndim, "prod"),) if ndim else _of_scalar(dim, "prod")
        result = T.prod_dim(input, dim=dims, keepdim=flag(keepdim, "keepdim"))
    result = _narrowed(result, dtype)
    return result if out is None else into(out, result, "prod")


def _of_scalar(dim: Any, name: str) -> tuple[int, ...]:
    """Return the dimensions of a 0-d tensor: `dim` may be 0 or -1."""
    one_dim(dim, 0, name)
    return ()


@export("wengert", "Tensor")
def any(
    input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None, **names: Any
) -> Any:
    """Return whether any element is nonzero, overall or along dimensions.

    Parameters
    ----------
    %(tested)s

    Returns
    -------
    Tensor: Of bools (for uint8 input, of uint8); without a derivative. False over no elements.

    %(raises_dims)s

    Examples
    --------
    >>> wg.any(wg.tensor([[0, 1], [0, 0]]), dim=1)
    tensor([ True, False])
    """
    return _truth("any", input, dim, keepdim, out, names)


@export("wengert", "Tensor")
def all(
    input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None, **names: Any
) -> Any:
    """Return whether all elements are nonzero, overall or along dimensions.

    Parameters
    ----------
    %(tested)s

    Returns
    -------
    Tensor: Of bools (for uint8 input, of uint8); without a derivative. True over no elements.

    %(raises_dims)s

    Examples
    --------
    >>> wg.all(wg.tensor([[0, 1], [2, 3]]), dim=1)
    tensor([False,  True])
    """
    return _truth("all", input, dim, keepdim, out, names)


def _truth(name: str, input: Any, dim: Any, keepdim: Any, out: Any, names: dict[str, Any]) -> Any:
    if names:
        dim, keepdim = renamed(name, dim, keepdim, names)
    input = operand(input, name)
    payload = input._payload
    dims = () if dim is not None and names_none(dim) else all_dims(dim, payload.ndim, name)
    result = getattr(T, name)(input, dim=dims, keepdim=flag(keepdim, "keepdim"))
    given = isinstance(out, TensorBase)
    kind = (out if given else input)._payload.dtype
    if given and kind not in (np.bool_, np.uint8):
        raise RuntimeError(f"{name} only supports bool tensor for result, got: {long_name(kind)}")
    result = cast(result, kind) if kind == np.uint8 else result
    return result if out is None else into(out, result, name)


@export("wengert", "Tensor")
def count_nonzero(input: Any, dim: Any = None, *dims: Any, **names: Any) -> Any:
    """Count the nonzero elements, overall or along dimensions.

    Parameters
    ----------
    %(any_input)s
    dim : int or tuple of int, optional. The dimensions to count along; all by default.
    *dims : int. More of them.

    Returns
    -------
    Tensor: Of int64; without a derivative.

    %(raises_dims)s

    Examples
    --------
    >>> wg.count_nonzero(wg.tensor([[0, 1], [2, 3]]), dim=0)
    tensor([1, 2])
    """
    if names:
        dim, _ = renamed("count_nonzero", dim, True, names)
    input = operand(input, "count_nonzero")
    dim = (dim, *dims) if dims else dim
    return T.count_nonzero(input, dim=all_dims(dim, input._payload.ndim, "count_nonzero"))


@export("wengert", "Tensor")
def logsumexp(
    input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None, **names: Any
) -> Any:
    """Return the logarithm of the sum of the exponentials along dimensions, without overflow.

    Parameters
    ----------
    input : Tensor. Of any shape; bools and integers become floating.
    dim : int or tuple of int. The dimensions to sum over. It must be given.
    %(keepdims)s

    Returns
    -------
    Tensor: The logarithms (minus infinity over no elements); differentiable.

    Raises
    ------
    TypeError: If no `dim` is given.
    %(error_dims)s

    Examples
    --------
    >>> wg.logsumexp(wg.tensor([[1000.0, 1000.0], [0.0, 1.0]]), dim=1)
    tensor([1000.6932,    1.3133])
    """
    if names:
        dim, keepdim = renamed("logsumexp", dim, keepdim, names)
    input = operand(input, "logsumexp")
    if dim is None:
        raise TypeError(
            "logsumexp(): argument 'dim' (position 2) must be tuple of ints, not NoneType"
        )
    dims = all_dims(dim, input._payload.ndim, "logsumexp")
    result = T.logsumexp(input, dim=dims, keepdim=flag(keepdim, "keepdim"))
    return result if out is None else into(out, result, "logsumexp")


def _runnable(input: Any, dtype: Any, name: str) -> Any:
    """Compute `_summable`, but refuse bools."""
    input = _summable(input, dtype, name)
    if input._payload.dtype.kind == "b":
        raise not_implemented(
            f"{name}_out_cpu", input._payload.dtype, "give another dtype, such as int64"
        )
    return input


@export("wengert", "Tensor", "Tensor_")
def cumsum(
    input: Any, dim: Any = None, *, dtype: Any = None, out: Any = None, axis: Any = None
) -> Any:
    """Return the running sums along a dimension: each element with all that precede it.

    Parameters
    ----------
    %(any_input, named_along)s
    dtype : dtype, optional. The dtype to convert the input to first. Without it bools and integers
        add up as int64.

    %(returns_of_the_shape, raises_dim)s

    Examples
    --------
    >>> wg.cumsum(wg.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 3., 6.])
    """
    dim = dim_or_axis(dim, axis, "cumsum")
    if out is not None:
        dtype = asked(dtype, out)
    input = _runnable(input, dtype, "cumsum")
    result = T.cumsum(input, dim=one_dim(dim, input._payload.ndim, "cumsum"), reverse=False)
    result = _narrowed(result, dtype)
    return result if out is None else into(out, result, "cumsum")


@export("wengert", "Tensor", "Tensor_")
def cumprod(
    input: Any, dim: Any = None, *, dtype: Any = None, out: Any = None, axis: Any = None
) -> Any:
    """Return the running products along a dimension: each element with all that precede it.

    The derivative is exact where elements are 0, too, to any order.

    Parameters
    ----------
    %(any_input, named_along)s
    dtype : dtype, optional. The dtype to convert the input to first. Without it bools and integers
        multiply as int64.

    %(returns_of_the_shape, raises_dim)s

    Examples
    --------
    >>> wg.cumprod(wg.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 2., 6.])
    """
    dim = dim_or_axis(dim, axis, "cumprod")
    if out is not None:
        dtype = asked(dtype, out)
    input = _runnable(input, dtype, "cumprod")
    result = T.cumprod(input, dim=one_dim(dim, input._payload.ndim, "cumprod"), reverse=False)
    result = _narrowed(result, dtype)
    return result if out is None else into(out, result, "cumprod")
