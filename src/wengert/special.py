"""Layer 6 · tensor: special functions, under PyTorch's names."""

from wengert.base.names import shows
from wengert.ops import special as _functions
from wengert.ops.special import *  # noqa: F403  its `__all__` is this module's

__all__ = _functions.__all__
__dir__ = shows(__all__)
