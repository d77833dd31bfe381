"""Layer 6 · tensor: discrete Fourier transforms, under PyTorch's names."""

import sys as _sys

from wengert.base.names import shows
from wengert.ops import fourier, frequencies
from wengert.ops.fourier import *  # noqa: F403  the lists of names are these modules' own
from wengert.ops.frequencies import *  # noqa: F403
from wengert.tensor.overrides import publish as _publish

__all__ = [*fourier.__all__, *frequencies.__all__]
__dir__ = shows(__all__)
_publish(_sys.modules[__name__])
