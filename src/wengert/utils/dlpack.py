"""Layer 8 · utils: memory shared with other libraries, under torch.utils.dlpack's names."""

from wengert.ops.foreign import from_dlpack
from wengert.tensor.numpy.dlpack import DLDeviceType, to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
