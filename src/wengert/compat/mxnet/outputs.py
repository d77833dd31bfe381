"""Layer 9 · compat: the last layers of symbolic networks, with gradients of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.autograd import Function
from wengert.nn import functional as F
from wengert.ops.shape import reshape as reshaped
from wengert.tape.base import new_tensor
from wengert.tape.record import T

__all__ = ["absolute_output", "linear_output", "logistic_output", "make_loss", "softmax_output"]


class _Output(Function):
    """The output of a graph, with a gradient that ignores the cotangent unless `weighted`."""

    @staticmethod
    def forward(ctx, data, made, slope, weighted: bool) -> Any:
        ctx.slope, ctx.weighted = slope, weighted
        result = made(data)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, *grads) -> Any:
        (result,) = ctx.saved_tensors
        slope = new_tensor(np.asarray(ctx.slope(result._payload), result._payload.dtype))
        return (slope * grads[0] if ctx.weighted else slope), None, None, None


def softmax_output(
    data,
    label,
    grad_scale=1.0,
    ignore_label=-1.0,
    multi_output=False,
    use_ignore=False,
    preserve_shape=False,
    normalization="null",
    out_grad=False,
    smooth_alpha=0.0,
) -> Any:
    """Return softmax of `data`; its gradient is that of the cross entropy with `label`.

    As in MXNet, the cotangent is ignored unless `out_grad` is true: the layer must be the last.
    """
    shape, labels = data._payload.shape, np.asarray(label._payload)
    axis = 1 if multi_output else -1
    flat = preserve_shape or multi_output or len(shape) < 3
    below = F.softmax if flat else _softmax_of_rest

    def slope(chances) -> Any:
        if labels.shape == shape:
            return (chances - labels) * grad_scale
        count = shape[axis]
        hot = np.eye(count, dtype=chances.dtype)[labels.astype(np.int64).clip(0, count - 1)]
        if smooth_alpha:
            hot = hot * (1 - smooth_alpha) + (1 - hot) * (smooth_alpha / (count - 1))
        kept = np.ones(labels.shape) if not use_ignore else labels != ignore_label
        rest = np.moveaxis(hot, -1, axis) if flat else hot.reshape(chances.shape)
        kept = np.expand_dims(kept, axis) if flat else kept.reshape(-1, *[1] * (len(shape) - 1))
        over = {"batch": shape[0], "valid": max(int(kept.sum()), 1)}.get(normalization, 1)
        if multi_output:
            over *= math.prod(shape[2:]) if normalization != "valid" else 1
        return (chances - rest) * kept * (grad_scale / over)

    return _Output.apply(data, lambda x: below(x, dim=axis), slope, out_grad)


def _softmax_of_rest(data, dim: int) -> Any:
    """Return softmax over all dimensions but the first."""
    shape = tuple(data._payload.shape)
    return reshaped(F.softmax(reshaped(data, (shape[0], math.prod(shape[1:]))), dim=1), shape)


def _regression(made: Callable[[Any], Any], slope: Callable[[Any, Any], Any]) -> Any:
    def output(data, label, grad_scale=1.0) -> Any:
        shape = data._payload.shape
        labels = np.asarray(label._payload).reshape(shape)
        scale = grad_scale / math.prod(shape[1:])
        return _Output.apply(data, made, lambda y: slope(y, labels) * scale, False)

    return output


linear_output = _regression(T.clone, lambda y, t: y - t)
logistic_output = _regression(F.sigmoid, lambda y, t: y - t)
absolute_output = _regression(T.clone, lambda y, t: np.sign(y - t))


def make_loss(data, grad_scale=1.0, valid_thresh=0.0, normalization="null") -> Any:
    """Return `data` as the output of a graph: its gradient is `grad_scale`, whatever the head."""

    def slope(values) -> Any:
        over = {"batch": len(values), "valid": max(int((values > valid_thresh).sum()), 1)}
        return np.full_like(values, grad_scale / over.get(normalization, 1))

    return _Output.apply(data, T.clone, slope, False)
