"""Layer 9 · compat: the output layers of ``mxnet.nd``, whose gradient is that of a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.autograd import Function
from wengert.nn import functional as F
from wengert.ops.reduce import sum as total
from wengert.tape.base import new_tensor
from wengert.tape.record import T

__all__ = ["FUNCTIONS"]


class _SoftmaxOutput(Function):
    """softmax, with the gradient of the cross entropy to labels, whatever cotangent comes."""

    @staticmethod
    def forward(ctx, data, label, scale: float) -> Any:
        result = F.softmax(data, dim=1 if data.payload.ndim > 1 else 0)
        ctx.save_for_backward(result, label)
        ctx.scale = scale
        return result

    @staticmethod
    def backward(ctx, *grads) -> Any:
        chances, label = ctx.saved_tensors
        places = label.payload.astype(np.int64)
        hot = np.eye(chances.payload.shape[-1], dtype=chances.payload.dtype)[places]
        return (chances - new_tensor(hot)) * ctx.scale, None, None


def softmax_output(
    data, label, grad_scale: float = 1.0, normalization: str = "null", **kwargs
) -> Any:
    """softmax of `data`; its gradient is that of the cross entropy to `label`, as in MXNet.

    The gradient that comes from further on is ignored: the layer is the last one.
    """
    scale = grad_scale / data.payload.shape[0] if normalization == "batch" else grad_scale
    return _SoftmaxOutput.apply(data, label, scale)


def softmax_cross_entropy(data, label) -> Any:
    """The sum over all rows of the cross entropy of softmax(data) to `label`."""
    return F.cross_entropy(data, new_tensor(label.payload.astype(np.int64)), reduction="sum")


def make_loss(data, **kwargs) -> Any:
    """`data`, as the end of a graph."""
    return T.clone(data)


def l2_normalization(data, eps: float = 1e-10, mode: str = "instance") -> Any:
    """`data` divided by the square root of its sum of squares, for each instance."""
    axes = {"instance": tuple(range(1, data.payload.ndim)), "channel": (1,)}
    dims = axes.get(mode, tuple(range(2, data.payload.ndim)))
    squares = total(data * data, dims, True)
    return data / T.sqrt(squares + eps)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "L2Normalization": l2_normalization,
    "MakeLoss": make_loss,
    "SoftmaxOutput": softmax_output,
    "make_loss": make_loss,
    "softmax_cross_entropy": softmax_cross_entropy,
}
