"""Layer 6 · tensor: special functions, under PyTorch's names."""

import sys as _sys

from wengert.base.names import shows
from wengert.ops import special as _functions
from wengert.ops.special import *  # noqa: F403  its `__all__` is this module's
from wengert.tensor.overrides import publish as _publish

__all__ = _functions.__all__
__dir__ = shows(__all__)
_publish(_sys.modules[__name__])
