"""Layer 6 · tensor: discrete Fourier transforms, under PyTorch's names."""

from wengert.base.names import shows
from wengert.ops import fourier, frequencies
from wengert.ops.fourier import *  # noqa: F403  the lists of names are these modules' own
from wengert.ops.frequencies import *  # noqa: F403

__all__ = [*fourier.__all__, *frequencies.__all__]
__dir__ = shows(__all__)
