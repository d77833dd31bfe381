"""Layer 8 · utils: how tensors would be laid out among machines, which packages write in tables.

There is one process here, and no tensor is laid out: these only hold what they are given.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Placement:
    """How a tensor is laid out along one dimension of a mesh of machines."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each machine has a part of it, along `dim` or any dimension."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each machine has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each machine has a summand of it."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each machine has a part, along a dimension."""

    dim: int


@dataclass(frozen=True)
class _StridedShard(Shard):
    split_factor: int = 1


@dataclass(frozen=True)
class Replicate(Placement):
    """Each machine has all of it."""


@dataclass(frozen=True)
class Partial(Placement):
    """Each machine has a summand."""

    reduce_op: str = "sum"
