"""Layer 7 · autograd: PyTorch's own Functions, under torch.autograd._functions' names."""

from __future__ import annotations

import math
from typing import Any

from wengert.autograd.function import Function

__all__ = ["Resize"]


class Resize(Function):
    """``Resize.apply(tensor, sizes)``: the elements in another shape.

    Examples
    --------
    >>> wg.autograd._functions.Resize.apply(wg.arange(4.0), (2, 2)).shape
    torch.Size([2, 2])
    """

    @staticmethod
    def forward(ctx: Any, tensor: Any, sizes: tuple[int, ...]) -> Any:
        """Return the elements of `tensor` in the shape `sizes`, which must have the same number."""
        if tensor.numel() != math.prod(sizes):
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, sizes))} ({math.prod(sizes)} elements in "
                f"total), but the given tensor has a size of {'x'.join(map(str, tensor.shape))} "
                f"({tensor.numel()} elements). autograd's resize can only change the shape of a "
                "given tensor, while preserving the number of elements."
            )
        ctx.input_sizes = tensor.shape
        return tensor.contiguous().view(*sizes)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        """Return the gradient in the shape of the argument."""
        return grad_output.contiguous().view(ctx.input_sizes), None
