"""Layer 0 · base: cpu: what programs ask of the device that tensors are computed on."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.base.kept import empty_cache, keep_memory, memory_kept
from wengert.base.names import shows

__all__ = [
    "StreamContext",
    "current_device",
    "current_stream",
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "keep_memory",
    "memory_kept",
    "set_device",
    "stream",
    "synchronize",
]
__dir__ = shows(__all__)
__path__: list[str] = []  # `cpu.amp` is a row of a table
__getattr__ = elsewhere(__name__)


class Stream:
    """The order in which operations run: that of the program."""

    def wait_stream(self, stream: Any) -> None:
        """Wait for another one: nothing is late."""


_CURRENT = Stream()
StreamContext = nullcontext


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True: there is nothing to initialise."""
    return True


def device_count() -> int:
    """1, whatever the number of cores."""
    return 1


def current_device() -> str:
    """The name of the device."""
    return "cpu"


def current_stream(device: Any = None) -> Stream:
    """The order in which operations run."""
    return _CURRENT


def stream(stream: Any) -> nullcontext[None]:
    """A context in which operations run in an order; there is one."""
    return nullcontext()


def set_device(device: Any) -> None:
    """Has no effect: there is one device."""


def synchronize(device: Any = None) -> None:
    """Wait for what runs: nothing does, when a function returns."""
