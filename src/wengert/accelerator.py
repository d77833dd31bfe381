"""Layer 0 · base: functions about the current accelerator, of which there is none."""

from __future__ import annotations

import importlib
from typing import Any

from wengert.base.device import device as Device
from wengert.base.names import shows

__all__ = ["current_accelerator", "device_count", "is_available"]
__dir__ = shows(__all__)


def is_available() -> bool:
    """Return False: tensors are computed on the CPU.

    Examples
    --------
    >>> wg.accelerator.is_available()
    False
    """
    return False


def current_accelerator(check_available: bool = False) -> Device | None:
    """Return None: there is no accelerator.

    Parameters
    ----------
    check_available : bool. Has no effect.

    Examples
    --------
    >>> accelerator = wg.accelerator.current_accelerator()
    >>> wg.device("cpu" if accelerator is None else accelerator)
    device(type='cpu')
    """
    return None


def device_count() -> int:
    """Return 0: there is no accelerator.

    Examples
    --------
    >>> wg.accelerator.device_count()
    0
    """
    return 0


def get_device_module(device: str | Device | None = None) -> Any:
    """Return the module of functions about a device; by default of the CPU.

    Examples
    --------
    >>> wg.get_device_module("cuda:0") is wg.cuda
    True
    """
    named = "cpu" if device is None else Device(device).type
    return importlib.import_module(f"wengert.{named}")


def _needs_one(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Cannot access accelerator device when none is available. Ask "
            f"accelerator.is_available() before accelerator.{name}()."
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Needs an accelerator, of which there is none."
    return function


for _name in (
    *("current_device_index", "current_stream", "set_device_index", "set_stream", "synchronize"),
    *("current_device_idx", "device_index", "get_memory_info", "set_device_idx"),
    *("get_device_capability", "memory_allocated", "memory_stats", "max_memory_allocated"),
    *("empty_cache", "max_memory_reserved", "memory_reserved", "reset_peak_memory_stats"),
):
    globals()[_name] = _needs_one(_name)
