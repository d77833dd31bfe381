"""Layer 9 · compat: `jax.sharding`: the placement of arrays, on a single device."""

from __future__ import annotations

import contextlib
import enum
import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.compat.jax.batching import vmap
from wengert.compat.jax.cpu import CPU
from wengert.compat.jax.trees import tree_map
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import closed, defined


class Sharding:
    """The division of an array among devices."""

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
    """The placement of the whole array on one device."""

    def __init__(self, device=CPU, *, memory_kind="device") -> None:
        self._device = device
        self.memory_kind = memory_kind

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind={self.memory_kind})"


class PartitionSpec(tuple[Any, ...]):
    """The axes of a mesh that divide the dimensions of an array; None for a whole dimension."""

    def __new__(cls, *partitions) -> PartitionSpec:
        """Build a spec from the entries of the dimensions."""
        return super().__new__(cls, partitions)

    def __repr__(self) -> str:
        return f"P{tuple(self)!r}"

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
    ValueError: If there are several devices, or the numbers of names and axes differ.

    Examples
    --------
    >>> jax.sharding.Mesh(np.array(jax.devices()), ("x",)).shape
    {'x': 1}
    """

    def __init__(self, devices, axis_names, **options) -> None:
        self.devices = np.asarray(devices)
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if self.devices.size != 1:
            raise ValueError(f"there is one device, and the mesh has {self.devices.size}")
        if self.devices.ndim != len(self.axis_names):
            raise refusal(ValueError, "Mesh requires the ndim", self, len(self.axis_names))

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
    """The use of an axis of a mesh; with one device they are all the same."""

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

    def __init__(self, axis_sizes, axis_names=(), **options) -> None:
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
    """Return the active mesh, which has no axes."""
    return AbstractMesh(())


class NamedSharding(Sharding):
    """The dimensions of an array divided among the axes of a mesh: here each into one part."""

    def __init__(self, mesh: Mesh, spec, *, memory_kind: str | None = None) -> None:
        self.mesh, self.spec, self.memory_kind = mesh, spec, memory_kind

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh!r}, spec={self.spec!r})"


P = PartitionSpec


class Shard:
    """The class of a shard of an array; there are none here."""


def make_mesh(axis_shapes, axis_names, *args, devices=None, **options) -> Mesh:
    """Return the one device as a mesh of axes of size one."""
    return Mesh(np.full(tuple(axis_shapes), CPU), axis_names)


def create_device_mesh(mesh_shape, devices=None, **options) -> Any:
    """Return the one device in an array of the shape of a mesh, which must have one element.

    Raises
    ------
    ValueError: If it has more.
    """
    if math.prod(mesh_shape) != 1:
        raise refusal(ValueError, "Number of devices {}", 1, tuple(mesh_shape))
    return np.full(tuple(mesh_shape), CPU)


@contextlib.contextmanager
def set_mesh(mesh) -> Iterator[Any]:
    """Return a context that changes nothing: there is one device."""
    yield mesh


def reshard(x, out_sharding=None) -> Any:
    """Return the arrays unchanged."""
    return x


def auto_axes(fun=None, **options) -> Any:
    """Return the function itself."""
    return fun or (lambda function: function)


def shard_map(f=None, /, *, mesh=None, in_specs=None, out_specs=None, **options) -> Any:
    """Wrap a function of the shards on a device: here, the whole arrays.

    Parameters
    ----------
    f : callable. Takes and returns pytrees of arrays; `jax.lax.psum` and other collectives see the
        axes of the mesh, each of size one.
    mesh : Mesh. The mesh.
    """
    if f is None:
        return functools.partial(
            shard_map, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options
        )

    @functools.wraps(f)
    def mapped(*args) -> Any:
        call = lambda: f(*args)  # noqa: E731
        for name in () if mesh is None else mesh.axis_names:
            call = functools.partial(_alone, vmap(call, axis_size=1, axis_name=name))
        return call()

    return mapped


smap = shard_map


def _alone(call) -> Any:
    return tree_map(lambda x: x[0], call())


__getattr__ = closed(globals())

__all__ = [*defined(globals(), without="create_device_mesh"), "P", "smap"]
