"""Layer 5 · ops · reductions: the largest and smallest elements, and their positions.

NOTE [ties]
Of several equal extremes, `max` and `min` of a whole tensor, and `amax` and `amin`, give each an
equal share of the gradient; `max` and `min` along a dimension give all of it to the element whose
index they return, the first. A NaN is both the largest and the smallest element.
"""

# the functions have PyTorch's names

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import long_name
from wengert.base.export import export
from wengert.ops import return_types
from wengert.ops.checks import all_dims, check_alone, flag, names_none, one_dim, real_input, renamed
from wengert.ops.coerce import operand
from wengert.ops.out import check_dtype, into
from wengert.tape.base import TensorBase
from wengert.tape.detachments import note
from wengert.tape.record import T


@export("wengert", "Tensor")
def max(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    other: Any = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the largest element, overall or along a dimension, or the larger of two tensors.

    Three functions: ``max(input)``, ``max(input, dim, keepdim=False)``, ``max(input, other)``.

    Parameters
    ----------
    %(real_input, searched_or_compared)s

    Returns
    -------
    Tensor or return_types.max: The largest element as a 0-d tensor, or a named tuple ``(values,
        indices)``, or the larger elements. Values are differentiable: equal elements share the
        gradient, except along a dimension, where the first takes all of it.

    %(raises_empty, error_empty_dim)s

    Examples
    --------
    >>> x = wg.tensor([[1.0, 5.0], [4.0, 2.0]])
    >>> x.max()
    tensor(5.)
    >>> x.max(dim=1).indices
    tensor([1, 0])
    >>> wg.max(x, wg.tensor(3.0))
    tensor([[3., 5.],
            [4., 3.]])
    """
    return _extreme("max", input, dim, keepdim, other, out, names)


@export("wengert", "Tensor")
def min(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    other: Any = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the smallest element, overall or along a dimension, or the smaller of two tensors.

    Three functions: ``min(input)``, ``min(input, dim, keepdim=False)``, ``min(input, other)``.

    Parameters
    ----------
    %(real_input, searched_or_compared)s

    Returns
    -------
    Tensor or return_types.min: The smallest element as a 0-d tensor, or a named tuple ``(values,
        indices)``, or the smaller elements. Values are differentiable: equal elements share the
        gradient, except along a dimension, where the first takes all of it.

    %(raises_empty, error_empty_dim)s

    Examples
    --------
    >>> x = wg.tensor([[1.0, 5.0], [4.0, 2.0]])
    >>> values, indices = x.min(dim=0)
    >>> values, indices
    (tensor([1., 2.]), tensor([0, 1]))
    """
    return _extreme("min", input, dim, keepdim, other, out, names)


def _extreme(
    name: str, input: Any, dim: Any, keepdim: Any, other: Any, out: Any, names: dict[str, Any]
) -> Any:
    if names:
        dim, keepdim = renamed(name, dim, keepdim, names)
    if isinstance(dim, TensorBase | np.ndarray):
        dim, other = None, dim
    check_alone(name, dim, keepdim)
    input = real_input(input, name, f"{name}_all") if dim is None else _ordered(input, name)
    if other is not None:
        other = _ordered(other, name)
        result = T.maximum(input, other) if name == "max" else T.minimum(input, other)
    elif dim is None:
        _check_any(name, input._payload)
        result = getattr(T, name)(input)
    else:
        dim = one_dim(dim, input._payload.ndim, name)
        _check_along(name, input._payload, (dim,))
        find = T.argmax if name == "max" else T.argmin
        indices = find(input, dim=dim, keepdim=flag(keepdim, "keepdim"))
        values = getattr(T, f"{name}_dim")(
            input, indices, dim=dim, keepdim=flag(keepdim, "keepdim")
        )
        if out is not None:
            values, indices = into(out[0], values, name), into(out[1], indices, name)
        return getattr(return_types, name)((values, indices))
    # these convert to the dtype of `out`, unlike the extremes along a dimension
    return result if out is None else into(out, result, f"{name}imum")


def _ordered(value: Any, name: str) -> Any:
    tensor = operand(value, name)
    if tensor._payload.dtype.kind == "c":
        raise RuntimeError(f"{name}(): does not support complex input, which has no order")
    return tensor


def _check_any(name: str, payload: Any, error: type[Exception] = RuntimeError) -> None:
    if payload.size == 0:
        raise error(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            f"reduction dim with the 'dim' argument. The input has the shape {list(payload.shape)}."
        )


def _check_along(name: str, payload: Any, dims: tuple[int, ...]) -> None:
    if payload.size == 0:
        for dim in dims:
            if payload.shape[dim] == 0:
                raise IndexError(
                    f"{name}(): Expected reduction dim {dim} to have non-zero size. The input has "
                    f"the shape {list(payload.shape)}."
                )


@export("wengert", "Tensor")
def amax(input: Any, dim: Any = (), keepdim: bool = False, *, out: Any = None, **names: Any) -> Any:
    """Return the largest elements along dimensions.

    Parameters
    ----------
    %(real_input, searched_dims, keepdims)s

    Returns
    -------
    Tensor: The largest elements; differentiable, equal ones share the gradient.

    %(raises_empty_dims, error_empty)s

    Examples
    --------
    >>> x = wg.tensor([[1.0, 3.0, 3.0]], requires_grad=True)
    >>> x.amax(1).backward(wg.tensor([1.0]))
    >>> x.grad
    tensor([[0.0000, 0.5000, 0.5000]])
    """
    return _along("amax", input, dim, keepdim, out, names)


@export("wengert", "Tensor")
def amin(input: Any, dim: Any = (), keepdim: bool = False, *, out: Any = None, **names: Any) -> Any:
    """Return the smallest elements along dimensions.

    Parameters
    ----------
    %(real_input, searched_dims, keepdims)s

    Returns
    -------
    Tensor: The smallest elements; differentiable, equal ones share the gradient.

    %(raises_empty_dims, error_empty)s

    Examples
    --------
    >>> wg.amin(wg.tensor([[1.0, 3.0], [0.0, 4.0]]), dim=(0, 1))
    tensor(0.)
    """
    return _along("amin", input, dim, keepdim, out, names)


def _along(name: str, input: Any, dim: Any, keepdim: Any, out: Any, names: dict[str, Any]) -> Any:
    if names:
        dim, keepdim = renamed(name, None if names_none(dim) else dim, keepdim, names)
    input = real_input(input, name, f"{name[1:]}_values_cpu")
    payload = input._payload
    dims = all_dims(dim, payload.ndim, name)
    if payload.size == 0:
        if names_none(dim):
            _check_any(name, payload)
        _check_along(name, payload, dims)
    if isinstance(out, TensorBase) and out._payload.dtype != payload.dtype:
        raise RuntimeError(
            "Expected the dtype for input and out to match, but got "
            f"{long_name(payload.dtype)} for input's dtype and {long_name(out._payload.dtype)} for "
            "out's dtype."
        )
    result = getattr(T, name)(input, dim=dims, keepdim=flag(keepdim, "keepdim"))
    return result if out is None else into(out, result, name)


@export("wengert", "Tensor")
def aminmax(
    input: Any, *, dim: int | None = None, keepdim: bool = False, out: Any = None, **names: Any
) -> Any:
    """Return the smallest and the largest elements, overall or along a dimension.

    Parameters
    ----------
    %(real_input)s
    dim : int, optional. The dimension to search; all by default.
    %(keepdims)s
    out : tuple of Tensor, optional. Where to write both, of the dtype of `input`; outside the graph
        only.

    Returns
    -------
    return_types.aminmax: A named tuple ``(min, max)``; differentiable, equal elements share the
        gradient.

    %(raises_empty, error_dim)s

    Examples
    --------
    >>> low, high = wg.aminmax(wg.tensor([3.0, 1.0, 2.0]))
    >>> low, high
    (tensor(1.), tensor(3.))
    """
    if names:
        dim, keepdim = renamed("aminmax", dim, keepdim, names)
    input = real_input(input, "aminmax", "aminmax")
    payload = input._payload
    dims = all_dims(dim, payload.ndim, "aminmax")
    if payload.size == 0 and (dim is None or 0 in [payload.shape[i] for i in dims]):
        if dim is None:
            raise RuntimeError(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                f"identity. The input has the shape {list(payload.shape)}."
            )
        raise IndexError(
            f"aminmax: Expected reduction dim {dims[0]} to have non-zero size. The input has the "
            f"shape {list(payload.shape)}."
        )
    for given in () if out is None else out:
        if isinstance(given, TensorBase):
            check_dtype(given, input)
    low = T.amin(input, dim=dims, keepdim=flag(keepdim, "keepdim"))
    high = T.amax(input, dim=dims, keepdim=flag(keepdim, "keepdim"))
    if out is not None:
        low, high = into(out[0], low, "aminmax"), into(out[1], high, "aminmax")
    return return_types.aminmax((low, high))


@export("wengert", "Tensor")
def argmax(
    input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None, **names: Any
) -> Any:
    """Return the position of the largest element, among all (counted flat) or along a dimension.

    Parameters
    ----------
    %(numeric_input, searched_dim, keepdim, out)s

    Returns
    -------
    Tensor: Of int64; without a derivative. The first position, if several elements are the largest.

    Raises
    ------
    IndexError: If there is no element to choose from, or the dimension is out of range.
    RuntimeError: If the input is bool.

    Examples
    --------
    >>> wg.argmax(wg.tensor([[1.0, 5.0], [4.0, 2.0]]), dim=1)
    tensor([1, 0])
    """
    return _position("argmax", input, dim, keepdim, out, names)


@export("wengert", "Tensor")
def argmin(
    input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None, **names: Any
) -> Any:
    """Return the position of the smallest element, among all (counted flat) or along a dimension.

    Parameters
    ----------
    %(numeric_input, searched_dim, keepdim, out)s

    Returns
    -------
    Tensor: Of int64; without a derivative. The first position, if several elements are the
        smallest.

    Raises
    ------
    IndexError: If there is no element to choose from, or the dimension is out of range.
    RuntimeError: If the input is bool.

    Examples
    --------
    >>> wg.argmin(wg.tensor([[1.0, 5.0], [4.0, 2.0]]))
    tensor(0)
    """
    return _position("argmin", input, dim, keepdim, out, names)


def _position(
    name: str, input: Any, dim: Any, keepdim: Any, out: Any, names: dict[str, Any]
) -> Any:
    if names:
        dim, keepdim = renamed(name, dim, keepdim, names)
    input = _ordered(input, name)
    payload = input._payload
    if payload.dtype.kind == "b":
        raise RuntimeError(f"{name}(): does not support bool input; convert it with .to(dtype)")
    if dim is None:
        _check_any(name, payload, IndexError)
    else:
        dim = one_dim(dim, payload.ndim, name)
        _check_along(name, payload, (dim,))
    if input._edge is not None:
        note(f"{name}()", input)
    result = getattr(T, name)(input, dim=dim, keepdim=flag(keepdim, "keepdim"))
    return result if out is None else into(out, result, name)
