"""Layer 9 · compat: the only device, the CPU, under JAX's names."""

from __future__ import annotations

from typing import Any, ClassVar

from wengert.compat.jax.words import refusal


class Device:
    """The CPU."""

    id = 0
    process_index = 0
    platform = "cpu"
    device_kind = "cpu"
    client: ClassVar[Any] = None

    def __repr__(self) -> str:
        return "CpuDevice(id=0)"

    def __str__(self) -> str:
        return "cpu:0"

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


CPU = Device()


def devices(backend: str | None = None) -> list[Device]:
    """Return the devices of a backend: one CPU.

    Raises
    ------
    RuntimeError: If `backend` is any other.

    Examples
    --------
    >>> jax.devices()
    [CpuDevice(id=0)]
    """
    if backend not in (None, "cpu"):
        raise refusal(RuntimeError, "Unknown backend: {0!r}", backend)
    return [CPU]


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Device]:
    """Return the local devices, which are those that `devices` returns."""
    return devices(backend)


def device_count(backend: str | None = None) -> int:
    """Return the number of devices: one."""
    return len(devices(backend))


local_device_count = device_count


def default_backend() -> str:
    """Return the name of the platform: ``"cpu"``."""
    return "cpu"


def process_index(backend: str | None = None) -> int:
    """Return the index of this process: 0."""
    return 0


def process_count(backend: str | None = None) -> int:
    """Return the number of processes: one."""
    return 1
