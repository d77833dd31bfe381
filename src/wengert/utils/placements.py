"""Layer 8 · utils: placements of distributed tensors, which packages write in tables.

There is one process here, and tensors are not distributed: these only hold their arguments.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Placement:
    """The layout of a tensor along one dimension of a device mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Return whether each device has a shard, along `dim` or any dimension."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Return whether each device has a full copy."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Return whether each device has a summand."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each device has a shard along a dimension."""

    dim: int


@dataclass(frozen=True)
class _StridedShard(Shard):
    split_factor: int = 1


@dataclass(frozen=True)
class Replicate(Placement):
    """Each device has a full copy."""


@dataclass(frozen=True)
class Partial(Placement):
    """Each device has a summand."""

    reduce_op: str = "sum"
