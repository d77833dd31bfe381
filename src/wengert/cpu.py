"""Layer 0 · base: cpu: functions about the device on which tensors are computed."""

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
    """A stream of operations: the order of the program."""

    def wait_stream(self, stream: Any) -> None:
        """Return at once: no operation is pending."""


_CURRENT = Stream()
StreamContext = nullcontext


def is_available() -> bool:
    """Return True."""
    return True


def is_initialized() -> bool:
    """Return True: there is nothing to initialise."""
    return True


def device_count() -> int:
    """Return 1, whatever the number of cores."""
    return 1


def current_device() -> str:
    """Return the name of the device."""
    return "cpu"


def current_stream(device: Any = None) -> Stream:
    """Return the only stream."""
    return _CURRENT


def stream(stream: Any) -> nullcontext[None]:
    """Return a context with a stream: the only one."""
    return nullcontext()


def set_device(device: Any) -> None:
    """Do nothing: there is one device."""


def synchronize(device: Any = None) -> None:
    """Return at once: operations are complete when their functions return."""
