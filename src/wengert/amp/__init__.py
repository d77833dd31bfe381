"""Layer 9 · amp: mixed precision, as ``torch.amp`` has it: `autocast` and `GradScaler`."""

from wengert.amp.autocast import (
    autocast,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    is_autocast_available,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
)
from wengert.amp.functions import custom_bwd, custom_fwd
from wengert.amp.scaler import GradScaler
from wengert.base.names import shows

__all__ = [
    "GradScaler",
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "is_autocast_available",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
]
__dir__ = shows(__all__)
