"""Layer 8 · nn: rearrangement of channels and pixels."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from wengert.nn import functional as F
from wengert.nn.modules.module import Module
from wengert.types import Tensor

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """`functional.pixel_shuffle` as a module: channels become pixels.

    Parameters
    ----------
    upscale_factor : int. The factor by which height and width grow.

    Examples
    --------
    >>> wg.nn.PixelShuffle(2)(wg.arange(4.0).view(1, 4, 1, 1))
    tensor([[[[0., 1.],
              [2., 3.]]]])
    """

    _shows = "upscale_factor="

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return the larger image."""
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    """`functional.pixel_unshuffle` as a module: pixels become channels.

    Parameters
    ----------
    downscale_factor : int. The factor by which height and width shrink.

    Examples
    --------
    >>> wg.nn.PixelUnshuffle(2)(wg.ones(1, 1, 4, 6)).shape
    torch.Size([1, 4, 2, 3])
    """

    _shows = "downscale_factor="

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return the smaller image, with more channels."""
        return F.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Module):
    """`functional.channel_shuffle` as a module: groups of channels are interleaved.

    Parameters
    ----------
    groups : int. The number of groups.

    Examples
    --------
    >>> wg.nn.ChannelShuffle(2)(wg.arange(4.0).view(1, 4, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    _shows = "groups="

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with its channels in the new order."""
        return F.channel_shuffle(input, self.groups)
