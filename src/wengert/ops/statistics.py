"""Layer 5 · ops · reductions: sums and means without NaN, covariances and correlations."""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, default_float, is_differentiable
from wengert.base.export import export
from wengert.ops import reduce
from wengert.ops.checks import all_dims, flag, renamed
from wengert.ops.coerce import dtype_name, integer, operand
from wengert.ops.out import into
from wengert.prims import parts as parts
from wengert.prims import statistics as statistics
from wengert.tape.base import new_tensor
from wengert.tape.masked import hides
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tape.sites import warn


@export("wengert", "Tensor")
def nansum(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the sum of the elements that are not NaN, overall or along dimensions.

    Parameters
    ----------
    %(real_input, summed)s

    Returns
    -------
    Tensor: The sums (0 over no elements); differentiable, to any order. A NaN gets the gradient 0.

    %(raises_complex_input, error_dims)s

    Examples
    --------
    >>> wg.nansum(wg.tensor([1.0, float("nan"), 2.0]))
    tensor(3.)
    """
    if names:
        dim, keepdim = renamed("nansum", dim, keepdim, names)
    x = operand(input, "nansum")
    kind = x._payload.dtype.kind
    if kind == "c":
        raise RuntimeError(
            "nansum on CPU does not support complex inputs: sum input.real and input.imag"
        )
    if kind in "biu":
        return reduce.sum(x, dim, keepdim, dtype=dtype, out=out)
    if dtype is not None:
        x = cast(x, as_dtype(dtype).dtype)
        if not is_differentiable(x._payload.dtype) or x._payload.dtype.kind == "c":
            return reduce.sum(x, dim, keepdim, dtype=dtype, out=out)
    dims = all_dims(dim, x._payload.ndim, "nansum")
    return into(out, hides(T.nansum(x, dim=dims, keepdim=flag(keepdim, "keepdim")), x), "nansum")


@export("wengert", "Tensor")
def nanmean(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    **names: Any,
) -> Any:
    """Return the mean of the elements that are not NaN, overall or along dimensions.

    Parameters
    ----------
    input : Tensor. Of any floating dtype.
    %(combined_dims, keepdims, to_dtype)s

    Returns
    -------
    Tensor: The means, NaN where no element counts; differentiable, to any order. A NaN gets the
        gradient 0.

    Raises
    ------
    RuntimeError: If the input is not floating.
    %(error_dims)s

    Examples
    --------
    >>> wg.nanmean(wg.tensor([[1.0, float("nan")], [2.0, 4.0]]), dim=1)
    tensor([1., 3.])
    """
    if names:
        dim, keepdim = renamed("nanmean", dim, keepdim, names)
    x = operand(input, "nanmean")
    if not is_differentiable(x._payload.dtype):
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{dtype_name(x._payload)}: convert it with .to(dtype)"
        )
    total = nansum(x, dim, keepdim, dtype=dtype)
    dims = all_dims(dim, x._payload.ndim, "nanmean")
    counted = T.eq(x, x)
    count = T.sum_dim(
        cast(counted, total._payload.dtype), dim=dims, keepdim=flag(keepdim, "keepdim")
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        result = T.div(total, count)
    return result if out is None else into(out, result, "nanmean")


# -- covariances ----------------------------------------------------------------------------------


@export("wengert", "Tensor")
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """Return the covariances of variables, each a row of observations.

    Parameters
    ----------
    input : Tensor. Of any dtype but bool: a matrix whose rows are variables and whose columns are
        observations, or the observations of a single variable.
    correction : int. What is subtracted from the number of observations, or from the sum of the
        weights, to divide by: 1 for an unbiased estimate, 0 for the mean.
    fweights : Tensor, optional. The frequency of each observation: integers.
    aweights : Tensor, optional. The weight of each observation.

    Returns
    -------
    Tensor: A symmetric matrix with the variances on its diagonal; a number for one variable.
        Differentiable with respect to `input` and `aweights`, to any order.

    Raises
    ------
    RuntimeError: If the input has more than two dimensions, or the weights do not fit.

    Warns
    -----
    UserWarning: If no degree of freedom is left.

    Examples
    --------
    >>> wg.cov(wg.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    x = operand(input, "cov")
    payload = x._payload
    _check_rows(x, "cov")
    if payload.dtype.kind == "b":
        raise RuntimeError(
            "cov(): bool dtype is not supported for input: convert it with .to(dtype)"
        )
    freedom = integer(correction, "cov", "correction")
    rows = x if payload.ndim == 2 else T.view(T.contiguous(x), shape=(1, payload.size))
    if not is_differentiable(payload.dtype):
        rows = cast(rows, default_float())
    observations = rows._payload.shape[1]
    weight, extra = _weights(fweights, aweights, observations, rows._payload.dtype)
    norm: Any
    # invalid, divide: no observations, or no degrees of freedom
    with np.errstate(divide="ignore", invalid="ignore"):
        if weight is None:
            centre = T.div_scalar(
                T.sum_dim(rows, dim=(1,), keepdim=True), other=observations or float("nan")
            )
            norm = observations - freedom
        else:
            weighed = T.mul(rows, weight)
            total = T.sum(weight)
            centre = T.div(T.sum_dim(weighed, dim=(1,), keepdim=True), total)
            norm = total - freedom
            if extra is not None and freedom:
                norm = total - T.sum(T.mul(weight, extra)) * freedom / total
        few: Any = np.bool_(norm <= 0) if weight is None else T.real(norm)._payload <= 0
        if few.any():
            warn(
                "cov(): degrees of freedom is <= 0. Correction should be strictly less than the "
                "number of observations.",
            )
            norm = 0.0 if weight is None else T.where(new_tensor(few), 0.0, norm)
        apart = T.sub(rows, centre)
        other = apart if weight is None else T.mul(apart, weight)
        if rows._payload.dtype.kind == "c":
            other = T.conj(other)
        return T.squeeze(T.mm(apart, T.t(other)) / norm)


def _check_rows(x: Any, op: str) -> None:
    if x._payload.ndim > 2:
        raise RuntimeError(
            f"{op}(): expected input to have two or fewer dimensions but got an input with "
            f"{x._payload.ndim} dimensions"
        )


def _weights(fweights: Any, aweights: Any, count: int, kind: Any) -> tuple[Any, Any]:
    """Return the product of both weights, in a common dtype, and the weights of the second kind."""
    product: Any = None
    extra: Any = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        weight = operand(given, "cov", name)
        payload = weight._payload
        if payload.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
                f"{payload.ndim} dimensions"
            )
        integral = name == "fweights"
        if payload.dtype.kind not in ("iu" if integral else "f"):
            raise RuntimeError(
                f"cov(): expected {name} to have {'integral' if integral else 'floating point'} "
                f"dtype but got {name} with {dtype_name(payload)} dtype"
            )
        if payload.size != count:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the "
                f"input but got {payload.size} != {count}"
            )
        if payload.size and payload.min() < 0:
            raise RuntimeError(f"cov(): {name} cannot be negative, but there is {payload.min()}")
        if integral:
            weight = cast(weight, np.dtype(kind.type(0).real.dtype))
        else:
            extra = weight
        product = weight if product is None else T.mul(product, weight)
    if product is not None and not T.sum(product)._payload.all():
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    return product, extra


@export("wengert", "Tensor")
def corrcoef(input: Any) -> Any:
    """Return the correlation coefficients of variables, each a row of observations.

    Parameters
    ----------
    input : Tensor. Of any dtype but bool: a matrix whose rows are variables and whose columns are
        observations, or the observations of a single variable.

    Returns
    -------
    Tensor: A symmetric matrix with ones on its diagonal; 1 for one variable. NaN where a variable
        does not vary. Differentiable, to any order.

    Raises
    ------
    RuntimeError: If the input has more than two dimensions.

    Examples
    --------
    >>> wg.corrcoef(wg.tensor([[0.0, 1.0, 2.0], [4.0, 2.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    x = operand(input, "corrcoef")
    _check_rows(x, "corrcoef")
    together = cov(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        if not together._payload.ndim:
            return T.div(together, together)
        variances = T.diagonal(together, offset=0, dim1=0, dim2=1)
        complex_ = together._payload.dtype.kind == "c"
        deviations = T.sqrt(T.real(variances) if complex_ else variances)
        size = deviations._payload.size
        share = T.div(together, T.view(deviations, shape=(size, 1)))
        share = T.div(share, T.view(deviations, shape=(1, size)))
    if complex_:
        # rounding may have moved them out of bounds
        return T.complex(*[T.clamp(part(share), min=-1, max=1) for part in (T.real, T.imag)])
    return T.clamp(share, min=-1, max=1)
