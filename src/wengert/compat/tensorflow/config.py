"""Layer 9 · compat: ``tf.config``: devices and settings; there is one CPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.function import functions_run_eagerly, run_functions_eagerly

experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as programs name it."""

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the CPU; nothing for another device type.

    Examples
    --------
    >>> tf.config.list_physical_devices("GPU")
    []
    """
    return [PhysicalDevice("/physical_device:CPU:0", "CPU")] * (device_type in (None, "CPU"))


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Return the CPU, or an empty list for another device type."""
    return [LogicalDevice("/device:CPU:0", "CPU")] * (device_type in (None, "CPU"))


get_visible_devices = list_physical_devices


def set_visible_devices(devices, device_type: str | None = None) -> None:
    """Do nothing; accepted for compatibility."""


def set_soft_device_placement(enabled: bool) -> None:
    """Do nothing; accepted for compatibility."""


def set_memory_growth(device, enable: bool) -> None:
    """Do nothing; accepted for compatibility."""


experimental = SimpleNamespace(
    list_physical_devices=list_physical_devices,
    list_logical_devices=list_logical_devices,
    set_memory_growth=set_memory_growth,
    set_visible_devices=set_visible_devices,
)
"""``tf.config.experimental``: some of these functions under their older names."""

_MORE = """
    experimental experimental_functions_run_eagerly experimental_run_functions_eagerly
    functions_run_eagerly run_functions_eagerly
    """
__all__ = defined(globals(), _MORE, without="set_memory_growth")
