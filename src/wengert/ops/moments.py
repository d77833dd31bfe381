"""Layer 5 · ops · reductions: variances, standard deviations and norms along dimensions.

Every function also takes NumPy's names ``axis`` and ``keepdims``. None and an empty sequence mean
all dimensions.
"""

# the functions have PyTorch's names

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, is_differentiable
from wengert.base.errors import long_name, wrong_type
from wengert.base.export import export
from wengert.ops.checks import all_dims, flag, names_none, renamed
from wengert.ops.coerce import number, operand
from wengert.ops.out import into
from wengert.prims import moments as moments
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tape.sites import warn


@export("wengert", "Tensor")
def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the variance of the elements, overall or along dimensions.

    Parameters
    ----------
    %(inexact_input)s
    dim : int or tuple of int, optional. The dimensions to combine; all by default. A bool in its
        place is `unbiased`.
    unbiased : bool, optional. True stands for a `correction` of 1, False for 0.
    %(keepdims)s
    correction : number, optional. What to subtract from the number of elements in the denominator;
        1 by default.

    Returns
    -------
    Tensor: The variances, real; differentiable. Computed in two passes, so that a large mean costs
        no digits.

    Raises
    ------
    RuntimeError: If the input is an integer or bool tensor.
    %(error_dims)s
    TypeError: If both `unbiased` and `correction` are given.

    Warns
    -----
    UserWarning: If there are no more elements than the correction.

    Examples
    --------
    >>> wg.var(wg.tensor([[1.0, 2.0], [3.0, 5.0]]), dim=1)
    tensor([0.5000, 2.0000])
    """
    result = _spread("var", input, dim, unbiased, keepdim, correction, names)
    return result if out is None else into(out, result, "var")


@export("wengert", "Tensor")
def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the standard deviation, overall or along dimensions; arguments as for `var`.

    Where it is 0, its derivative is 0.

    Examples
    --------
    >>> wg.std(wg.tensor([1.0, 2.0, 3.0, 4.0]), correction=0)
    tensor(1.1180)
    """
    result = _spread("std", input, dim, unbiased, keepdim, correction, names)
    return result if out is None else into(out, result, "std")


@export("wengert")
def var_mean(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    **names: Any,
) -> tuple[Any, Any]:
    """Return the variance and the mean, as a tuple; arguments as for `var`.

    Examples
    --------
    >>> wg.var_mean(wg.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    return _spread("var_mean", input, dim, unbiased, keepdim, correction, names)


@export("wengert")
def std_mean(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    **names: Any,
) -> tuple[Any, Any]:
    """Return the standard deviation and the mean, as a tuple; arguments as for `var`.

    Examples
    --------
    >>> wg.std_mean(wg.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    return _spread("std_mean", input, dim, unbiased, keepdim, correction, names)


def _spread(
    name: str,
    input: Any,
    dim: Any,
    unbiased: Any,
    keepdim: Any,
    correction: Any,
    names: dict[str, Any],
) -> Any:
    if names:
        dim, keepdim = renamed(name, dim, keepdim, names)
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError(
                f"{name}() received an invalid combination of arguments: give unbiased or "
                "correction, not both"
            )
        correction = int(flag(unbiased, "unbiased"))
    elif correction is None:
        correction = 1
    correction = number(correction, name, "correction")
    if correction.__class__ is not int and not isinstance(correction, Real):
        raise wrong_type(name, "correction", "Number", correction)
    input = operand(input, name)
    payload = input._payload
    if not is_differentiable(payload.dtype):
        raise RuntimeError(
            f"{name if '_' in name else 'std and var'} only support floating point and complex "
            f"dtypes, but got {long_name(payload.dtype)}; convert the input with .to(dtype)"
        )
    dims = all_dims(dim, payload.ndim, name)
    if math.prod([payload.shape[i] for i in dims]) <= correction:
        warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
        )
    return getattr(T, name)(
        input, dim=dims, correction=correction, keepdim=flag(keepdim, "keepdim")
    )


def vector_norm(
    x: Any,
    ord: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the norm of the elements as a vector, overall or along dimensions.

    Parameters
    ----------
    x : Tensor. Of floating or complex dtype.
    ord : number. The power p in ``sum(abs(x) ** p) ** (1 / p)``. Infinity and minus infinity give
        the largest and the smallest absolute value, 0 the number of elements other than 0.
    %(combined_dims, keepdims, to_dtype)s

    Returns
    -------
    Tensor: The norms, real; differentiable. Where a norm has no derivative, as at 0, the gradient
        is 0.

    Raises
    ------
    RuntimeError: If the dtype is an integer dtype or bool, or if an infinite norm has no elements.
    TypeError: If `ord` is not a number.
    %(error_dims)s

    Examples
    --------
    >>> x = wg.tensor([3.0, -4.0])
    >>> wg.linalg.vector_norm(x), wg.linalg.vector_norm(x, 1)
    (tensor(5.), tensor(7.))
    """
    if names:
        dim, keepdim = renamed("linalg_vector_norm", dim, keepdim, names)
    ord = number(ord, "linalg_vector_norm", "ord")
    if isinstance(ord, complex):
        raise RuntimeError(
            "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
        )
    if isinstance(ord, str) or not hasattr(ord, "__float__"):
        raise wrong_type("linalg_vector_norm", "ord", "Number", ord, 2)
    x = operand(x, "linalg_vector_norm")
    check_norm_dtype(x)
    if dtype is not None:
        x = _as_norm_dtype(x, as_dtype(dtype).dtype)
    payload = x._payload
    dims = all_dims(dim, payload.ndim, "linalg_vector_norm")
    if payload.size == 0 and (ord < 0 or ord == math.inf):
        _check_identity(payload.shape, ord, dims, dim)
    result = T.vector_norm(x, ord=ord, dim=dims, keepdim=flag(keepdim, "keepdim"))
    return result if out is None else into(out, result, "linalg_vector_norm")


def check_norm_dtype(x: Any) -> None:
    """Refuse a tensor of integers, in PyTorch's words."""
    if not is_differentiable(x._payload.dtype):
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{long_name(x._payload.dtype)}; convert it with .to(dtype)"
        )


def _as_norm_dtype(x: Any, dtype: np.dtype[Any]) -> Any:
    if not is_differentiable(dtype) or (x._payload.dtype.kind == "c" and dtype.kind != "c"):
        raise RuntimeError(
            "linalg.vector_norm: dtype should be floating point or complex, and complex for a "
            f"complex input. Got {long_name(dtype)} for {long_name(x._payload.dtype)}"
        )
    return cast(x, dtype)


def _check_identity(shape: tuple[int, ...], ord: float, dims: tuple[int, ...], dim: Any) -> None:
    empty = [i for i in dims if shape[i] == 0]
    if names_none(dim) or empty:
        where = (
            "an empty tensor because"
            if names_none(dim)
            else (f"the dimension {empty[0]} because this dimension is empty and")
        )
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord:g} norm on {where} the operation does not "
            "have an identity"
        )
