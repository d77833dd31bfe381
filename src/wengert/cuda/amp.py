"""Layer 9 · cuda: deprecated names for mixed precision on a GPU; they warn unless disabled.

Those for a CPU, of ``cpu.amp``, are here, too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert import amp

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
__path__: list[str] = []  # `cuda.amp.autocast_mode` and others are rows of a table


class autocast(amp.autocast):
    """Old name of ``amp.autocast("cuda")``, which disables itself without a GPU.

    Examples
    --------
    >>> with wg.cuda.amp.autocast(enabled=False):
    ...     (wg.ones(1, 1) @ wg.ones(1, 1)).dtype
    torch.float32
    """

    def __init__(
        self, enabled: bool = True, dtype: Any = "float16", cache_enabled: bool = True
    ) -> None:
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """Old name of ``amp.GradScaler("cuda")``, which disables itself without a GPU.

    Examples
    --------
    >>> wg.cuda.amp.GradScaler(enabled=False).get_scale()
    1.0
    """

    _device = "cuda"

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__(
            self._device, init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


class _OnCPU(amp.autocast):
    """Old name of ``amp.autocast("cpu")``."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class _CPUScaler(GradScaler):
    """Old name of ``amp.GradScaler("cpu")``."""

    _device = "cpu"


custom_fwd: Callable[..., Any] = functools.partial(amp.custom_fwd, device_type="cuda")
custom_bwd: Callable[..., Any] = functools.partial(amp.custom_bwd, device_type="cuda")
