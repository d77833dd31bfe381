"""Layer 5 · ops · normalisation: of layers, groups, instances and batches, and to unit norm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.kernels.normalisation import are_few
from wengert.ops.checks import flag
from wengert.ops.coerce import integer, number, operand
from wengert.ops.normalisation_arguments import (
    UNKNOWN,
    applied,
    check_count,
    check_dtypes,
    last_dims,
    moments,
    parameter,
    running,
    update,
    widened,
)
from wengert.prims import mean_squares as mean_squares
from wengert.prims import normalisation as normalisation
from wengert.tape.base import new_tensor
from wengert.tape.modes import no_grad
from wengert.tape.operands import cast
from wengert.tape.record import T

_TOO_FEW = (
    "Dimension out of range (expected to be in range of [-1, 0], but got 1): the input needs the "
    "shape (N, C, ...), but has {}"
)

# -- layers ---------------------------------------------------------------------------------------


@export("nn.functional")
def layer_norm(
    input: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Any:
    """Return ``(input - mean) / sqrt(var + eps) * weight + bias``, along the last dimensions.

    Parameters
    ----------
    input : Tensor. Of shape (..., *normalized_shape) and of real floating dtype.
    normalized_shape : sequence of int. The sizes of the dimensions that share a mean and a variance
        (without correction).
    weight, bias : Tensor, optional. Of this shape and the input's dtype.
    eps : float. Added to the variance, which keeps the quotient finite.

    Returns
    -------
    Tensor: Of the input's shape and dtype; differentiable with respect to all tensors, to any
        order.

    %(raises_shape_or_dtype, error_floating)s

    References
    ----------
    J. L. Ba, J. R. Kiros, G. E. Hinton, "Layer normalization", 2016.

    Examples
    --------
    >>> wg.nn.functional.layer_norm(wg.tensor([[1.0, 2.0, 3.0]]), (3,))
    tensor([[-1.2247,  0.0000,  1.2247]])
    """
    x = operand(input, "layer_norm")
    weight = parameter(weight, "layer_norm", "weight", 3)
    bias = parameter(bias, "layer_norm", "bias", 4)
    dim = last_dims("layer_norm", x, normalized_shape, weight=weight, bias=bias)
    check_dtypes(x, "LayerNormKernelImpl", weight, bias)
    eps = number(eps, "layer_norm", "eps")
    known = moments(x, dim, eps)
    return applied("layer_norm", x, weight, bias, known, dim=dim, eps=eps)


@export("wengert", "nn.functional")
def rms_norm(
    input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None
) -> Any:
    """Return ``input / sqrt(mean(input ** 2) + eps) * weight``, along the last dimensions.

    Parameters
    ----------
    input : Tensor. Of shape (..., *normalized_shape) and of floating or complex dtype.
    normalized_shape : sequence of int. The sizes of the dimensions that share a mean.
    weight : Tensor, optional. Of this shape.
    eps : float, optional. Keeps the quotient finite; by default the machine epsilon of the input's
        dtype.

    Returns
    -------
    Tensor: Of the input's shape; differentiable with respect to both tensors, to any order.

    %(raises_shapes, error_integers)s

    References
    ----------
    B. Zhang, R. Sennrich, "Root mean square layer normalization", NeurIPS 2019.

    Examples
    --------
    >>> wg.nn.functional.rms_norm(wg.tensor([[3.0, 4.0]]), (2,))
    tensor([[0.8485, 1.1314]])
    """
    x = operand(input, "rms_norm")
    weight = parameter(weight, "rms_norm", "weight", 3)
    dim = last_dims("rms_norm", x, normalized_shape, weight=weight)
    dtype = x._payload.dtype
    if dtype.kind in "biu":
        raise not_implemented("rms_norm", x._payload.dtype, "convert the input to a floating dtype")
    x = widened(x)
    wide = x._payload.dtype
    eps = float(np.finfo(wide).eps) if eps is None else number(eps, "rms_norm", "eps")
    if weight is not None and weight._payload.dtype == dtype:
        result = T.rms_norm(x, widened(weight), dim=dim, eps=eps)
    else:
        result = T.rms_norm(x, new_tensor(wide.type(1)), dim=dim, eps=eps)
        result = result if weight is None else T.mul(result, weight)
    # the input's dtype is kept, whatever the weight's is
    return result if result._payload.dtype == dtype else cast(result, dtype)


# -- groups and instances -------------------------------------------------------------------------


@export("nn.functional")
def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Normalise over groups of channels of each sample, with a weight and a bias per channel.

    Parameters
    ----------
    %(channels)s
    num_groups : int. The number of groups; it divides C.
    weight, bias : Tensor, optional. Of shape (C,) and the input's dtype.
    eps : float. Added to the variance, which keeps the quotient finite.

    Returns
    -------
    Tensor: Of the input's shape and dtype; differentiable with respect to all tensors, to any
        order.

    Raises
    ------
    ValueError: If a group has a single element.
    %(error_shape_or_dtype, error_floating)s

    References
    ----------
    Y. Wu, K. He, "Group normalization", ECCV 2018.

    Examples
    --------
    >>> x = wg.tensor([[1.0, 3.0, 0.0, 10.0]])
    >>> wg.nn.functional.group_norm(x, 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    x = operand(input, "group_norm")
    shape = x._payload.shape
    groups = len(shape) > 1 and num_groups != 0
    if groups and shape[0] * shape[1] // num_groups * math.prod(shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {list(shape)}"
        )
    return normalised_groups(x, num_groups, weight, bias, number(eps, "group_norm", "eps"))


def normalised_groups(x: Any, num_groups: int, weight: Any, bias: Any, eps: float) -> Any:
    """Compute `group_norm` without a check of the number of values."""
    name = "group_norm"
    weight, bias = parameter(weight, name, "weight", 3), parameter(bias, name, "bias", 4)
    shape = x._payload.shape
    if len(shape) < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {len(shape)}: the "
            "input's shape is (N, C, ...)"
        )
    channels = shape[1]
    num_groups = integer(num_groups, name, "num_groups", 2)
    if num_groups == 0:
        raise ZeroDivisionError("integer division or modulo by zero: num_groups is 0")
    if num_groups < 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(shape)} and num_groups={num_groups}"
        )
    for arg, param in (("weight", weight), ("bias", bias)):
        if param is not None and param._payload.shape != (channels,):
            raise RuntimeError(
                f"Expected {arg} to be a vector of size equal to the number of channels in input, "
                f"but got {arg} of shape {list(param._payload.shape)} and input of shape "
                f"{list(shape)}"
            )
    check_dtypes(x, "GroupNormKernelImpl", weight, bias)
    return _by_groups(x, weight, bias, num_groups, eps)[0]


def _by_groups(
    x: Any, weight: Any, bias: Any, groups: int, eps: float, needed: bool = False
) -> Any:
    """Return the result, and the groups' moments if they are `needed` or records reuse them."""
    shape = x._payload.shape
    n, size = shape[0] * groups, math.prod(shape[1:]) // max(groups, 1)
    if not needed and are_few(x._payload, (1, n, size)):
        known = UNKNOWN
    else:
        with no_grad():
            known = T.moments(T.unsafe_view(widened(x), shape=(n, size)), dim=(1,), eps=eps)
    return applied("group_norm", x, weight, bias, known, groups=groups, eps=eps), known


@export("nn.functional")
def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Normalise each channel of each sample: `batch_norm` per sample.

    Parameters
    ----------
    %(channels)s
    running_mean, running_var : Tensor, optional. Of shape (C,). If `use_input_stats`, they are
        brought up to date with the mean of what the samples have; otherwise they are used.
    weight, bias : Tensor, optional. Of shape (C,) and the input's dtype.
    use_input_stats : bool. Whether to use the means and variances of the input.
    %(momentum_and_eps)s

    Raises
    ------
    ValueError: If there is a single element in a channel of a sample, or only one running value is
        given.
    %(error_shape_or_dtype)s

    References
    ----------
    D. Ulyanov, A. Vedaldi, V. Lempitsky, "Instance normalization", 2016.

    Examples
    --------
    >>> wg.nn.functional.instance_norm(wg.tensor([[[1.0, 3.0], [0.0, 10.0]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """
    x = operand(input, "instance_norm")
    shape = list(x._payload.shape)
    if use_input_stats and math.prod(shape[2:]) == 1:
        raise ValueError(
            "Expected more than 1 spatial element when training, got input size "
            f"torch.Size({shape})"
        )
    statistics = running_mean, running_var
    eps = number(eps, "instance_norm", "eps")
    return normalised_instances(x, *statistics, weight, bias, use_input_stats, momentum, eps)


def normalised_instances(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> Any:
    """Compute `instance_norm` without a check of the number of values."""
    name = "instance_norm"
    shape = x._payload.shape
    mean, var = running(name, running_mean, running_var)
    if not use_input_stats and mean is None:
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    weight, bias = parameter(weight, name, "weight", 4), parameter(bias, name, "bias", 5)
    check_dtypes(x, "batch_norm", weight, bias, mean, var)
    if len(shape) < 2:
        raise IndexError(_TOO_FEW.format(list(shape)))
    n, channels = shape[:2]
    for arg, param in (("weight", weight), ("bias", bias)):
        if param is not None and param._payload.size != channels:
            raise RuntimeError(
                f"{arg} should contain {n * channels} elements not {n * param._payload.size}: one "
                "for each channel of each sample"
            )
    check_count(mean, "running_mean", channels)
    check_count(var, "running_var", channels)
    if not use_input_stats:
        return _with_statistics(x, weight, bias, mean, var, eps)
    needed = mean is not None and x._payload.size > 0
    result, known = _by_groups(x, weight, bias, max(channels, 1), eps, needed)
    if needed:
        parts = new_tensor(known._payload.reshape(3, n, channels))
        each = T.mean_dim(parts, dim=(1,), keepdim=False)._payload
        update(name, mean, var, each, math.prod(shape[2:]), momentum)
    return result


# -- batches --------------------------------------------------------------------------------------


def _with_statistics(x: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    # copies: later batches may write to the running values, which the derivative needs unchanged
    fixed = [new_tensor(value._payload.copy()) for value in (mean, var)]
    return applied("batch_norm_fixed", x, weight, bias, *fixed, eps=eps)


@export("nn.functional")
def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Return ``(input - mean) / sqrt(var + eps) * weight + bias``, with one mean for each channel.

    Parameters
    ----------
    %(channels)s
    running_mean, running_var : Tensor or None. Of shape (C,): what to use; if `training`, they are
        brought up to date instead, the variance with Bessel's correction.
    weight, bias : Tensor, optional. Of shape (C,) and the input's dtype.
    training : bool. Whether to use the means and variances of the input.
    %(momentum_and_eps)s

    Raises
    ------
    ValueError: If there is a single element in a channel when training, or one running value only.
    RuntimeError: If shapes or dtypes do not fit, or nothing says the means.

    References
    ----------
    S. Ioffe, C. Szegedy, "Batch normalization", ICML 2015.

    Examples
    --------
    >>> x, mean, var = wg.tensor([[1.0], [3.0]]), wg.zeros(1), wg.ones(1)
    >>> wg.nn.functional.batch_norm(x, mean, var, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    >>> mean, var
    (tensor([0.2000]), tensor([1.1000]))
    """
    name = "batch_norm"
    x = operand(input, name)
    shape = x._payload.shape
    eps = number(eps, "batch_norm", "eps")
    if training and eps <= 0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if training and shape and math.prod(shape[2:]) * shape[0] == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"torch.Size({list(shape)})"
        )
    statistics = running_mean, running_var
    return normalised_batch(name, x, *statistics, weight, bias, training, momentum, eps)


def normalised_batch(
    name: str,
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    """Compute `batch_norm` without a check of the number of values."""
    shape = x._payload.shape
    weight, bias = parameter(weight, name, "weight", 4), parameter(bias, name, "bias", 5)
    if not x._payload.size:
        # PyTorch requires no means then, and no parameter per channel
        result = T.clone(x)
        for combine, param in ((T.mul, weight), (T.add, bias)):
            if param is not None and param._payload.size:
                result = combine(result, T.select(param, dim=0, index=0))
        return result
    if len(shape) < 2:
        raise IndexError(_TOO_FEW.format(list(shape)))
    mean, var = running(name, running_mean, running_var)
    if mean is None and not training:
        raise RuntimeError("running_mean must be defined in evaluation mode")
    for arg, param in (
        ("running_mean", mean),
        ("running_var", var),
        ("weight", weight),
        ("bias", bias),
    ):
        check_count(param, arg, shape[1])
    check_dtypes(x, "batch_norm", weight, bias, mean, var)
    if not flag(training, "training"):
        return _with_statistics(x, weight, bias, mean, var, eps)
    dim = (0, *range(2, len(shape)))
    known = moments(x, dim, eps) if mean is None else T.moments(widened(x), dim=dim, eps=eps)
    result = applied("batch_norm", x, weight, bias, known, eps=eps)
    if mean is not None:
        count = x._payload.size // shape[1]
        if count > 1:
            update(name, mean, var, known._payload, count, momentum)
    return result
