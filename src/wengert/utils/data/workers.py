"""Layer 8 · utils: the workers of a `DataLoader`: this process, with their own random numbers."""

from __future__ import annotations

import copy
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import cycle, islice
from typing import Any, NamedTuple

import numpy as np

from wengert.kernels.random import Stream
from wengert.ops.generator import drawing_from
from wengert.utils.data.dataset import Dataset

END = object()
"""What a worker returns when its share of a stream has ended."""


class WorkerInfo(NamedTuple):
    """A worker, as `get_worker_info` describes it.

    Attributes
    ----------
    id: Its number, from 0.
    num_workers: The number of workers.
    seed: The seed of its random numbers.
    dataset: Its copy of the data set.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_CURRENT: ContextVar[WorkerInfo | None] = ContextVar("worker", default=None)


def get_worker_info() -> WorkerInfo | None:
    """Return the worker that is fetching examples, or None outside of workers.

    Examples
    --------
    >>> from wengert.utils.data import get_worker_info
    >>> get_worker_info() is None
    True
    """
    return _CURRENT.get()


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Return the seed of NumPy's random numbers in a worker."""
    words = np.random.SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0])
    return list(map(int, words.generate_state(4)))


class Worker:
    """A worker, which runs in this process, unlike PyTorch's separate processes.

    It has a shallow copy of the data set, and its own states of the random numbers of the library,
    of NumPy and of Python. So a program gets the numbers that it gets with worker processes.
    """

    def __init__(self, loader: Any, number: int, base: int) -> None:
        dataset = loader.dataset
        if isinstance(dataset, Dataset):
            # worker_init_fn and iterators may change its attributes
            dataset = copy.copy(dataset)
        elif dataset is loader:
            # a package's own object: what its workers change in it may lie deeper
            dataset = copy.deepcopy(dataset)
        seed = base + number
        self.info = WorkerInfo(number, loader.num_workers, seed, dataset)
        self._stream = Stream(seed)
        self._python = random.Random(seed).getstate()
        self._numpy = np.random.RandomState(_generate_state(base, number)).get_state()
        if loader.worker_init_fn is not None:
            self.call(self.own(loader.worker_init_fn, loader.dataset), number)

    def own(self, function: Any, dataset: Any) -> Any:
        """Return `function`, bound to this worker's copy if it is a method of `dataset`."""
        if getattr(function, "__self__", None) is not dataset:
            return function
        return function.__func__.__get__(self.info.dataset)

    @contextmanager
    def _working(self) -> Iterator[None]:
        outside = random.getstate(), np.random.get_state()
        random.setstate(self._python)
        np.random.set_state(self._numpy)
        token = _CURRENT.set(self.info)
        try:
            with drawing_from(self._stream):
                yield
        finally:
            _CURRENT.reset(token)
            self._python, self._numpy = random.getstate(), np.random.get_state()
            random.setstate(outside[0])
            np.random.set_state(outside[1])

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call `function` as this worker."""
        with self._working():
            return function(*args)


class Batches(Iterator[Any]):
    """The batches that workers fetch, in PyTorch's order; an error ends only its own batch.

    The workers take turns. Batch indices are drawn ahead as far as in PyTorch, since a
    sampler may draw random numbers.
    """

    def __init__(
        self,
        workers: list[Worker],
        fetcher: Callable[[Worker], Callable[[Any], Any]],
        orders: Iterable[Any],
        prefetch: int,
    ) -> None:
        self._fetch = {worker: worker.call(fetcher, worker) for worker in workers}
        self._tasks: deque[tuple[Worker, Any]] = deque()
        self._given, self._turns = iter(orders), cycle(workers)
        self._assign(prefetch * len(workers))

    def _assign(self, count: int) -> None:
        for order in islice(self._given, count):
            if not self._fetch:
                return
            worker = next(worker for worker in self._turns if worker in self._fetch)
            self._tasks.append((worker, order))

    def __next__(self) -> Any:
        while self._tasks:
            worker, order = self._tasks.popleft()
            if worker not in self._fetch:
                continue
            try:
                batch = worker.call(self._fetch[worker], order)
                if batch is END:
                    del self._fetch[worker]
            finally:
                self._assign(1)
            if batch is not END:
                return batch
        raise StopIteration
