"""Layer 8 · masked: reductions of the elements that a mask selects, under torch.masked's names."""

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.masked.reductions import *  # noqa: F403  all that the file offers
from wengert.masked.reductions import __all__ as __all__

__getattr__ = elsewhere(__name__)
__dir__ = shows(__all__)
