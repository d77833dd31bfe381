"""Layer 8 · nn: fusion of a convolution or linear layer with the batch normalisation after it.

In evaluation, a batch normalisation is an affine function of each channel, so it can be folded into
the weights before it.
"""

from __future__ import annotations

import copy
from typing import Any

from wengert.base.names import defined
from wengert.nn.parameter import Parameter
from wengert.ops.like import ones_like, zeros_like
from wengert.ops.pointwise import rsqrt


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """Return a convolution that computes ``bn(conv(x))``.

    Parameters
    ----------
    conv : Module. A convolution, in evaluation mode.
    bn : Module. The batch normalisation after it, in evaluation mode.
    transpose : bool. Whether the convolution is a transposed one.

    Returns
    -------
    Module: A copy of `conv` with other weights.

    Raises
    ------
    AssertionError: If one of the two is in training mode, or `bn` has no running statistics.

    Examples
    --------
    >>> conv, bn = wg.nn.Conv2d(1, 2, 3).eval(), wg.nn.BatchNorm2d(2).eval()
    >>> fused = wg.nn.utils.fuse_conv_bn_eval(conv, bn)
    >>> x = wg.randn(1, 1, 5, 5)
    >>> wg.allclose(fused(x), bn(conv(x)), atol=1e-5)
    True
    """
    fused = _copied(conv, bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        conv.weight,
        conv.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
        transpose,
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any,
    conv_b: Any,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Any,
    bn_b: Any,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Return the weight and bias of a convolution fused with a batch normalisation.

    Parameters
    ----------
    conv_w, conv_b : Tensor. The convolution's weight, and its bias or None.
    %(batch_norm)s
    transpose : bool. Whether the convolution is a transposed one, whose weight has its channels
        second.

    Examples
    --------
    >>> mean, variance = wg.zeros(1), wg.full((1,), 4.0)
    >>> weight, bias = wg.nn.utils.fuse_conv_bn_weights(
    ...     wg.ones(1, 1, 1, 1), None, mean, variance, 0.0, None, None
    ... )
    >>> weight.item(), bias.item()
    (0.5, 0.0)
    """
    slope, shift = _affine(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    shape = [1] * conv_w.ndim
    shape[1 if transpose else 0] = -1
    return _parameters(conv_w * slope.reshape(shape), shift, conv_w, conv_b)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """Return a linear layer that computes ``bn(linear(x))``.

    Parameters
    ----------
    linear : Module. A linear layer, in evaluation mode.
    bn : Module. The batch normalisation after it, in evaluation mode, of as many features, or of
        one.

    Returns
    -------
    Module: A copy of `linear` with other weights.

    Raises
    ------
    AssertionError: If one of the two is in training mode, or the features do not fit.

    Examples
    --------
    >>> linear, bn = wg.nn.Linear(3, 2).eval(), wg.nn.BatchNorm1d(2).eval()
    >>> fused = wg.nn.utils.fuse_linear_bn_eval(linear, bn)
    >>> x = wg.randn(4, 3)
    >>> wg.allclose(fused(x), bn(linear(x)), atol=1e-5)
    True
    """
    fused = _copied(linear, bn)
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, but they are "
            f"{linear.out_features} and {bn.num_features}"
        )
    fused.weight, fused.bias = fuse_linear_bn_weights(
        linear.weight, linear.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Parameter, Parameter]:
    """Return the weight and bias of a linear layer fused with a batch normalisation.

    Parameters
    ----------
    linear_w, linear_b : Tensor. The layer's weight, and its bias or None.
    %(batch_norm)s

    Examples
    --------
    >>> mean, variance = wg.ones(1), wg.full((1,), 4.0)
    >>> weight, bias = wg.nn.utils.fuse_linear_bn_weights(
    ...     wg.ones(1, 1), None, mean, variance, 0.0, None, None
    ... )
    >>> weight.item(), bias.item()
    (0.5, -0.5)
    """
    slope, shift = _affine(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    return _parameters(linear_w * slope.unsqueeze(-1), shift, linear_w, linear_b)


def _copied(layer: Any, bn: Any) -> Any:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval! Call .eval() on both modules first.")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError(
            "Fusion needs running statistics: make the normalisation with track_running_stats=True."
        )
    return copy.deepcopy(layer)


def _affine(bias: Any, mean: Any, variance: Any, eps: float, weight: Any, offset: Any) -> Any:
    """Return the scale of a normalisation, and the bias after it."""
    scale = ones_like(mean) if weight is None else weight
    start = zeros_like(mean) if offset is None else offset
    before = zeros_like(mean) if bias is None else bias
    slope = scale * rsqrt(variance + eps)
    return slope, (before - mean) * slope + start


def _parameters(weight: Any, bias: Any, old: Any, old_bias: Any) -> tuple[Parameter, Parameter]:
    trains = old.requires_grad if old_bias is None else old_bias.requires_grad
    return (
        Parameter(weight.detach().to(old.dtype), old.requires_grad),
        Parameter(bias.detach().to(old.dtype), trains),
    )


__all__ = defined(globals())
