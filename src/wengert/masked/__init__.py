"""Layer 8 · masked: reductions of the elements that a mask selects, under torch.masked's names."""

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.masked.reductions import *  # noqa: F403  all that the file offers
from wengert.masked.reductions import __all__ as __all__
from wengert.masked.reductions import _canonical_dim as _canonical_dim
from wengert.masked.reductions import _input_mask as _input_mask
from wengert.masked.reductions import _output_mask as _output_mask

__getattr__ = elsewhere(__name__)
__dir__ = shows(__all__)
