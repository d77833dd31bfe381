"""Layer 8 · masked: reductions of the elements that a mask selects, under torch.masked's names."""

from wengert.base.names import shows
from wengert.masked.reductions import *  # noqa: F403  all that the file offers
from wengert.masked.reductions import __all__ as __all__

__dir__ = shows(__all__)
