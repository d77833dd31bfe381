"""Layer 8 · nn: images split into windows, and windows summed into images."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from wengert.nn import functional as F
from wengert.nn.modules.making import Sizes
from wengert.nn.modules.module import Module
from wengert.types import Tensor

__all__ = ["Fold", "Unfold"]


class _Windows(Module):
    """The common options of `Unfold` and `Fold`."""

    _shows = "kernel_size= dilation= padding= stride="

    def __init__(
        self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride


class Unfold(_Windows):
    """`functional.unfold` as a module: the windows of an image as columns.

    Parameters
    ----------
    kernel_size, dilation, padding, stride : int or tuple of int. The size of the windows, the
        distance between their elements, the padding of the image, and the step from one window to
        the next.

    Examples
    --------
    >>> wg.nn.Unfold(2)(wg.arange(6.0).view(1, 1, 2, 3))
    tensor([[[0., 1.],
             [1., 2.],
             [3., 4.],
             [4., 5.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(_Windows):
    """`functional.fold` as a module: sum windows at their positions in an image.

    Parameters
    ----------
    output_size : int or tuple of int. The height and width of the image.
    kernel_size, dilation, padding, stride : int or tuple of int. As for `Unfold`.

    Examples
    --------
    >>> wg.nn.Fold((2, 3), 2)(wg.ones(1, 4, 2))
    tensor([[[[1., 2., 1.],
              [1., 2., 1.]]]])
    """

    def __init__(
        self,
        output_size: Sizes,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Return the image."""
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, {super().extra_repr()}"
