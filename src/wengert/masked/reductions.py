"""Layer 8 · masked: reductions of the elements that a mask selects.

Masked elements are replaced by a value that is neutral to the operation, so derivatives are zero
there, and masked values may be anything, even NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from wengert.base.dtypes import iinfo
from wengert.base.layout import strided
from wengert.ops.cast import to
from wengert.ops.checks import all_dims
from wengert.ops.coerce import operand
from wengert.ops.create import ones
from wengert.ops.moments import vector_norm
from wengert.ops.select import where
from wengert.ops.transcendental import logaddexp as dense_logaddexp

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]


def _given(input: Any, mask: Any, dtype: Any, name: str) -> tuple[Any, Any]:
    """Convert a tensor, and broadcast the mask to its shape."""
    x = operand(input, name)
    x = x if dtype is None else to(x, dtype)
    if mask is None:
        return x, ones(tuple(x.shape), dtype=bool)
    return x, _input_mask(x, mask=operand(_dense(mask), name, "mask", 2))


def _dense(value: Any) -> Any:
    return value.to_dense() if getattr(value, "layout", strided) is not strided else value


def _canonical_dim(dim: Any, ndim: int) -> tuple[int, ...]:
    """Return the dimensions that `dim` names, in order."""
    return tuple(sorted(all_dims(dim, ndim, "masked")))


def _input_mask(input: Any, *args: Any, mask: Any = None, **others: Any) -> Any:
    """Return a mask as booleans of the shape of `input`."""
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    if mask.ndim > input.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
            f"input): {mask.ndim} and {input.ndim}"
        )
    return _dense(mask).bool().expand(tuple(input.shape))


def _output_mask(op: Callable[..., Any], input: Any, *args: Any, **kwargs: Any) -> Any:
    """Return where the result of a masked function depends on elements that the mask selects."""
    name = getattr(op, "__name__", str(op))
    if globals().get(name) is not op:
        raise ValueError(f"_output_mask expected masked operation (got {name})")
    given = signature(op).bind(input, *args, **kwargs).arguments
    selected = _input_mask(input, mask=given.get("mask"))
    if signature(op).parameters["dim"].default is Parameter.empty:
        # it reduces nothing
        return selected
    dims = _canonical_dim(given.get("dim"), input.ndim)
    return selected.any(dims, given.get("keepdim", False)) if dims else selected


def _of_layouts(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """Let a reduction take sparse tensors; its result has the layout of the input."""

    @wraps(reduce)
    def reduced(input: Any, *args: Any, **kwargs: Any) -> Any:
        dense = _dense(input)
        found = reduce(dense, *args, **kwargs)
        if dense is input:
            return found
        if kwargs.get("mask") is not None:
            found = _shown(found, _output_mask(reduced, dense, *args, **kwargs), 0)
        return found.to_sparse(layout=input.layout)

    return reduced


def _shown(x: Any, mask: Any, value: Any) -> Any:
    """Return `x` with another value where the mask is False."""
    return where(mask, x, x.new_full((), value))


def _bounded(x: Any, mask: Any) -> Any:
    """Return `x` with -inf where the mask is False, if it is floating."""
    return _shown(x, mask, -math.inf) if x.is_floating_point() else x


def _least(x: Any) -> Any:
    """Return a value that is not larger than any other."""
    if x.dtype.is_floating_point:
        return -math.inf
    return 0 if x.dtype.itemsize == 1 and not x.dtype.is_signed else iinfo(x.dtype).min


def _most(x: Any) -> Any:
    """Return a value that is not smaller than any other."""
    return math.inf if x.dtype.is_floating_point else iinfo(x.dtype).max


@_of_layouts
def sum(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Sum the elements that a mask selects; 0 if it selects none.

    Parameters
    ----------
    %(input)s
    dim : int or tuple of int, optional. The dimensions to reduce; default: all.
    keepdim : bool. Whether these stay, of size 1.
    dtype : dtype, optional. The dtype to which `input` is converted first.
    mask : Tensor, optional. True for elements to select; its shape broadcasts to `input`'s.

    Returns
    -------
    Tensor: Differentiable; masked elements get the gradient 0.

    Examples
    --------
    >>> x, mask = wg.tensor([1.0, 2.0, 3.0]), wg.tensor([True, False, True])
    >>> wg.masked.sum(x, mask=mask)
    tensor(4.)
    """
    x, mask = _given(input, mask, dtype, "masked.sum")
    return _shown(x, mask, 0).sum(_canonical_dim(dim, x.ndim), keepdim)


@_of_layouts
def prod(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Multiply the elements that a mask selects, 1 if it selects none; arguments as for `sum`.

    Examples
    --------
    >>> x, mask = wg.tensor([2.0, 3.0, 4.0]), wg.tensor([True, False, True])
    >>> wg.masked.prod(x, mask=mask)
    tensor(8.)
    """
    x, mask = _given(input, mask, dtype, "masked.prod")
    x, dims = _shown(x, mask, 1), _canonical_dim(dim, x.ndim)[::-1]
    if not dims:
        return x.unsqueeze(-1).prod(-1)
    for one in dims:
        x = x.prod(one, keepdim)
    return x


@_of_layouts
def mean(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Average the elements that a mask selects, NaN if it selects none; arguments as for `sum`.

    Raises
    ------
    ValueError: If the dtype is neither floating nor complex.

    Examples
    --------
    >>> wg.masked.mean(wg.tensor([1.0, 5.0]), mask=wg.tensor([False, True]))
    tensor(5.)
    """
    x, mask = _given(input, mask, dtype, "masked.mean")
    if not (x.is_floating_point() or x.is_complex()):
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {x.dtype!r}"
        )
    dims = _canonical_dim(dim, x.ndim)
    return _shown(x, mask, 0).sum(dims, keepdim) / mask.sum(dims, keepdim)


@_of_layouts
def amax(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Return the largest element that a mask selects; arguments as for `sum`.

    If it selects none, that is the smallest value of the dtype.

    Examples
    --------
    >>> wg.masked.amax(wg.tensor([2.0, 9.0, 4.0]), mask=wg.tensor([True, False, True]))
    tensor(4.)
    """
    x, mask = _given(input, mask, dtype, "masked.amax")
    return _shown(x, mask, _least(x)).amax(_canonical_dim(dim, x.ndim), keepdim)


@_of_layouts
def amin(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Return the smallest element that a mask selects; arguments as for `sum`.

    If it selects none, that is the largest value of the dtype.

    Examples
    --------
    >>> wg.masked.amin(wg.tensor([2.0, 1.0, 4.0]), mask=wg.tensor([True, False, True]))
    tensor(2.)
    """
    x, mask = _given(input, mask, dtype, "masked.amin")
    return _shown(x, mask, _most(x)).amin(_canonical_dim(dim, x.ndim), keepdim)


def argmax(
    input: Any,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Return the index of the largest element that a mask selects; arguments as for `sum`.

    The index has the dtype of `input`, as in PyTorch.

    Examples
    --------
    >>> wg.masked.argmax(wg.tensor([2.0, 9.0, 4.0]), mask=wg.tensor([True, False, True]))
    tensor(2.)
    """
    x, mask = _given(input, mask, dtype, "masked.argmax")
    return to(_shown(x, mask, _least(x)).argmax(dim, keepdim), x.dtype)


def argmin(
    input: Any,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Return the index of the smallest element that a mask selects; arguments as for `sum`.

    The index has the dtype of `input`, as in PyTorch.

    Examples
    --------
    >>> wg.masked.argmin(wg.tensor([2.0, 1.0, 4.0]), mask=wg.tensor([True, False, True]))
    tensor(0.)
    """
    x, mask = _given(input, mask, dtype, "masked.argmin")
    return to(_shown(x, mask, _most(x)).argmin(dim, keepdim), x.dtype)


def logsumexp(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Compute the logarithm of the sum of exponentials; arguments as for `sum`.

    If the mask selects none, that is -inf.

    Examples
    --------
    >>> wg.masked.logsumexp(wg.tensor([0.0, 99.0, 0.0]), 0, mask=wg.tensor([True, False, True]))
    tensor(0.6931)
    """
    x, mask = _given(input, mask, dtype, "masked.logsumexp")
    if not (x.is_floating_point() or x.is_complex()):
        x = to(x, "float32")
    return _shown(x, mask, -math.inf).logsumexp(_canonical_dim(dim, x.ndim), keepdim)


def norm(
    input: Any,
    ord: float | None = 2.0,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Compute the vector norm of the elements that a mask selects; arguments as for `sum`.

    Parameters
    ----------
    ord : float, optional. The order of the norm; 2 by default.

    Examples
    --------
    >>> wg.masked.norm(wg.tensor([3.0, 9.0, 4.0]), mask=wg.tensor([True, False, True]))
    tensor(5.)
    """
    x, mask = _given(input, mask, dtype, "masked.norm")
    order = 2.0 if ord is None else ord
    hidden = math.inf if order < 0 else 0
    return vector_norm(_shown(x, mask, hidden), order, _canonical_dim(dim, x.ndim), keepdim)


def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Compute the variance of the elements that a mask selects; arguments as for `sum`.

    Parameters
    ----------
    unbiased : bool, optional. Whether to divide by the number of elements minus 1; the default.
    correction : float, optional. What to subtract from the number of elements instead of 1.

    Examples
    --------
    >>> wg.masked.var(wg.tensor([1.0, 99.0, 3.0]), mask=wg.tensor([True, False, True]))
    tensor(2.)
    """
    x, mask = _given(input, mask, dtype, "masked.var")
    if unbiased is not None and correction is not None:
        raise ValueError("Only one of unbiased and correction may be given")
    if not (x.is_floating_point() or x.is_complex()):
        x = to(x, "float32")
    less = float(unbiased is not False) if correction is None else float(correction)
    dims = _canonical_dim(dim, x.ndim)
    count = to(mask.sum(dims, True), x.dtype.to_real())
    centre = _shown(x, mask, 0).sum(dims, True) / count
    apart = _shown(x - centre, mask, 0)
    squares = (apart * apart.conj()).real if x.is_complex() else apart * apart
    # PyTorch's result is complex if the input is
    total = to(squares.sum(dims, True) / (count - less).clamp_min(0), x.dtype)
    if keepdim:
        return total
    return total.reshape([size for i, size in enumerate(x.shape) if i not in dims])


def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Compute the square root of `var`; arguments as for `var`.

    Examples
    --------
    >>> x, mask = wg.tensor([1.0, 99.0, 5.0]), wg.tensor([True, False, True])
    >>> wg.masked.std(x, unbiased=False, mask=mask)
    tensor(2.)
    """
    return var(
        input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask
    ).sqrt()


def median(
    input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Return the median of the elements that a mask selects along a dimension; NaN for none.

    Parameters
    ----------
    %(input, dim, keepdim)s
    dtype : dtype, optional. The dtype to which `input` is converted first.
    mask : Tensor, optional. True for elements to select; its shape broadcasts to `input`'s.

    Raises
    ------
    ValueError: If it selects none somewhere, and the dtype is not floating.

    Examples
    --------
    >>> wg.masked.median(wg.tensor([1.0, 99.0, 5.0]), mask=wg.tensor([True, False, True]))
    tensor(1.)
    """
    x, mask = _given(input, mask, dtype, "masked.median")
    if x.is_floating_point():
        return _shown(x, mask, math.nan).nanmedian(dim, keepdim).values
    if not bool(mask.any(dim).all()):
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return to(_shown(x.double(), mask, math.nan).nanmedian(dim, keepdim).values, x.dtype)


def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Compute `softmax` of the selected elements; 0 where the mask is False, NaN if it selects
    none.

    Parameters
    ----------
    %(input, dim)s
    dtype : dtype, optional. The dtype to which `input` is converted first.
    mask : Tensor, optional. True for elements to select; its shape broadcasts to `input`'s.

    Examples
    --------
    >>> x, mask = wg.tensor([1.0, 2.0, 1.0]), wg.tensor([True, False, True])
    >>> wg.masked.softmax(x, 0, mask=mask)
    tensor([0.5000, 0.0000, 0.5000])
    """
    x, mask = _given(input, mask, dtype, "masked.softmax")
    return _bounded(x, mask).softmax(dim)


def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Compute the logarithm of `softmax`; arguments as for `softmax`.

    Examples
    --------
    >>> wg.masked.log_softmax(wg.tensor([0.0, 9.0, 0.0]), 0, mask=wg.tensor([True, False, True]))
    tensor([-0.6931,    -inf, -0.6931])
    """
    x, mask = _given(input, mask, dtype, "masked.log_softmax")
    return _bounded(x, mask).log_softmax(dim)


def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Compute `softmax` of the negated elements; arguments as for `softmax`.

    Examples
    --------
    >>> wg.masked.softmin(wg.tensor([1.0, 9.0, 1.0]), 0, mask=wg.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    x, mask = _given(input, mask, dtype, "masked.softmin")
    return _bounded(-x, mask).softmax(dim)


def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Sum the elements that a mask selects up to each; arguments as for `softmax`.

    Examples
    --------
    >>> wg.masked.cumsum(wg.tensor([1.0, 9.0, 2.0]), 0, mask=wg.tensor([True, False, True]))
    tensor([1., 1., 3.])
    """
    x, mask = _given(input, mask, dtype, "masked.cumsum")
    return to(_shown(x, mask, 0).cumsum(dim), x.dtype)


def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Multiply the elements that a mask selects up to each; arguments as for `softmax`.

    Examples
    --------
    >>> wg.masked.cumprod(wg.tensor([2.0, 9.0, 3.0]), 0, mask=wg.tensor([True, False, True]))
    tensor([2., 2., 6.])
    """
    x, mask = _given(input, mask, dtype, "masked.cumprod")
    return to(_shown(x, mask, 1).cumprod(dim), x.dtype)


def normalize(
    input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None
) -> Any:
    """Divide the selected elements by their norm along a dimension; arguments as for `softmax`.

    Parameters
    ----------
    ord : float. The order of the norm.
    eps : float. The least number to divide by.

    Examples
    --------
    >>> wg.masked.normalize(wg.tensor([3.0, 9.0, 4.0]), 2, 0, mask=wg.tensor([True, False, True]))
    tensor([0.6000, 0.0000, 0.8000])
    """
    x, mask = _given(input, mask, dtype, "masked.normalize")
    size = norm(x, ord, dim, keepdim=True, mask=mask)
    return _shown(x, mask, 0) / size.clamp_min(eps)


def logaddexp(
    input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None
) -> Any:
    """Compute `logaddexp` of two tensors, in which masked elements count as -inf.

    Parameters
    ----------
    input, other : Tensor. Of shapes that broadcast.
    dtype : dtype, optional. The dtype to which both are converted first.
    input_mask, other_mask : Tensor, optional. True for elements to select of each.

    Examples
    --------
    >>> wg.masked.logaddexp(wg.zeros(2), wg.zeros(2), other_mask=wg.tensor([True, False]))
    tensor([0.6931, 0.0000])
    """
    x, shown = _given(input, input_mask, dtype, "masked.logaddexp")
    y, also = _given(other, other_mask, dtype, "masked.logaddexp")
    return dense_logaddexp(_shown(x, shown, -math.inf), _shown(y, also, -math.inf))
