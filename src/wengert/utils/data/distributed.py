"""Layer 8 · utils: `DistributedSampler`, which shares examples out among processes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from itertools import cycle, islice

from wengert.ops.choice import randperm
from wengert.ops.generator import Generator
from wengert.utils.data.sampler import Sampler
from wengert.utils.process_group import get_rank, get_world_size

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """One process's share of the examples: every `num_replicas`-th, starting at its rank.

    All shares have one length: some examples are repeated, or some are left out.

    Parameters
    ----------
    dataset : sized. The examples.
    num_replicas, rank : int, optional. The number of processes, and the rank of this one; by
        default those of the default group, which `distributed.init_process_group` makes.
    shuffle : bool. Whether to shuffle, differently for each epoch set by `set_epoch`.
    seed : int. The seed of the shuffling; the same in all processes.
    drop_last : bool. Whether to leave out examples so that the shares are equal.

    Raises
    ------
    ValueError: If the rank is out of range.

    Examples
    --------
    >>> from wengert.utils.data import DistributedSampler
    >>> [list(DistributedSampler("abcde", 2, rank, shuffle=False)) for rank in range(2)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        count = get_world_size() if num_replicas is None else num_replicas
        own = get_rank() if rank is None else rank
        if not 0 <= own < count:
            raise ValueError(f"Invalid rank {own}, rank should be in the interval [0, {count - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, count, own
        self.epoch, self.shuffle, self.seed, self.drop_last = 0, shuffle, seed, drop_last
        size = len(dataset)
        left_out = drop_last and size % count
        self.num_samples = math.ceil((size - count if left_out else size) / count)
        self.total_size = self.num_samples * count

    def __iter__(self) -> Iterator[int]:
        size = len(self.dataset)
        order: list[int] = list(range(size))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            order = randperm(size, generator=generator).tolist()
        whole = list(islice(cycle(order), self.total_size))
        return iter(whole[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, from which and the seed the next order is drawn."""
        self.epoch = epoch
