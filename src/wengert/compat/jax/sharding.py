"""Layer 9 · compat: `jax.sharding`: where arrays lie, which is one place."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.jax.cpu import CPU

__all__ = [
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "get_abstract_mesh",
]


class Sharding:
    """How an array is divided among devices."""

    @property
    def device_set(self) -> set[Any]:
        """The devices."""
        return {CPU}

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device has the whole array; there is one."""
        return True

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))


class SingleDeviceSharding(Sharding):
    """The whole array lies on one device."""

    def __init__(self, device: Any = CPU, *, memory_kind: str = "device") -> None:
        self._device = device
        self.memory_kind = memory_kind

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind={self.memory_kind})"


class PartitionSpec(tuple[Any, ...]):
    """The axes of a mesh that divide the dimensions of an array; None for those of no axis."""

    def __new__(cls, *partitions: Any) -> PartitionSpec:
        """Make one of the entries of the dimensions."""
        return super().__new__(cls, partitions)

    def __repr__(self) -> str:
        return f"PartitionSpec{tuple(self)!r}"

    def __reduce__(self) -> Any:
        return PartitionSpec, tuple(self)


class Mesh:
    """Devices in an array whose axes have names: here each of size one.

    Parameters
    ----------
    devices : array_like. The one device.
    axis_names : tuple of str. The names of the axes.

    Raises
    ------
    ValueError: If there are several devices, or another number of names than of axes.

    Examples
    --------
    >>> jax.sharding.Mesh(np.array(jax.devices()), ("x",)).shape
    {'x': 1}
    """

    def __init__(self, devices: Any, axis_names: Any, **options: Any) -> None:
        self.devices = np.asarray(devices)
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if self.devices.size != 1:
            raise ValueError(f"there is one device, and the mesh has {self.devices.size}")
        if self.devices.ndim != len(self.axis_names):
            raise ValueError(
                f"Mesh requires the ndim of its first argument (`devices`) to equal the length of "
                f"its second argument (`axis_names`), got {self.devices.ndim} and "
                f"{len(self.axis_names)}"
            )

    @property
    def shape(self) -> dict[str, int]:
        """The sizes of the axes."""
        return dict.fromkeys(self.axis_names, 1)

    @property
    def empty(self) -> bool:
        """Whether there is no device."""
        return False

    def __enter__(self) -> Mesh:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __repr__(self) -> str:
        return f"Mesh({', '.join(f'{name!r}: 1' for name in self.axis_names)})"


class AxisType(enum.Enum):
    """How an axis of a mesh is used: of one device there is one way."""

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()


class AbstractMesh:
    """The sizes and names of axes, without devices.

    Parameters
    ----------
    axis_sizes : tuple of int. The sizes.
    axis_names : tuple of str. The names of the axes.
    """

    def __init__(self, axis_sizes: Any, axis_names: Any = (), **options: Any) -> None:
        self.axis_sizes, self.axis_names = tuple(axis_sizes), tuple(axis_names)

    @property
    def shape(self) -> dict[str, int]:
        """The sizes of the axes."""
        return dict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def empty(self) -> bool:
        """Whether there is no axis."""
        return not self.axis_sizes

    def __repr__(self) -> str:
        return f"AbstractMesh({self.shape!r})"


def get_abstract_mesh() -> AbstractMesh:
    """The mesh that is in use: none."""
    return AbstractMesh(())


class NamedSharding(Sharding):
    """The dimensions of an array divided among the axes of a mesh: here each into one part."""

    def __init__(self, mesh: Mesh, spec: Any, *, memory_kind: str | None = None) -> None:
        self.mesh, self.spec, self.memory_kind = mesh, spec, memory_kind

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh!r}, spec={self.spec!r})"


_ABSENT = "there is one device, and arrays are whole"


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module 'jax.sharding' has no attribute {name!r}: {_ABSENT}")


fill_sections(globals())
