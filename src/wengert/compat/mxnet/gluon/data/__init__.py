"""Layer 9 · compat: ``gluon.data``: datasets, samplers and loaders.

>>> from wengert.compat.mxnet import gluon, np, npx
>>> npx.set_np()
>>> data = gluon.data.ArrayDataset(np.arange(6).reshape(3, 2), np.arange(3))
>>> for X, y in gluon.data.DataLoader(data, batch_size=2):
...     print(X.shape, y)
(2, 2) [0. 1.]
(1, 2) [2.]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import public, refusal
from wengert.compat.mxnet.numpy.creation import made
from wengert.compat.mxnet.results import CLASSES
from wengert.compat.mxnet.sampling import STREAM
from wengert.compat.mxnet.state import NUMPY
from wengert.utils.data import BatchSampler as _BatchSampler


class Dataset:
    """A sequence of examples; a subclass defines ``__len__`` and ``__getitem__``."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, idx) -> Any:
        raise NotImplementedError

    def transform(self, fn: Callable[..., Any], lazy=True) -> Dataset:
        """Return a dataset of ``fn(*example)``."""
        return _Transformed(self, fn)

    def transform_first(self, fn: Callable[..., Any], lazy=True) -> Dataset:
        """Return a dataset with `fn` applied to the first element of each example."""
        return _Transformed(self, lambda first, *rest: (fn(first), *rest) if rest else fn(first))


class SimpleDataset(Dataset):
    """A list as a dataset."""

    def __init__(self, data) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx) -> Any:
        return self._data[idx]


class _Transformed(SimpleDataset):
    def __init__(self, data: Dataset, fn: Callable[..., Any]) -> None:
        super().__init__(data)
        self._fn = fn

    def __getitem__(self, idx) -> Any:
        example = super().__getitem__(idx)
        return self._fn(*example) if isinstance(example, tuple) else self._fn(example)


class ArrayDataset(Dataset):
    """A dataset of arrays or lists of equal length; an example has one element of each.

    Raises
    ------
    AssertionError: If the lengths differ.
    """

    def __init__(self, *args) -> None:
        if not args:
            raise AssertionError("Needs at least 1 arrays")
        self._length = len(args[0])
        self._data = []
        for i, data in enumerate(args):
            if len(data) != self._length:
                raise refusal(AssertionError, "All arrays must", self._length, i, len(data))
            flat = isinstance(data, NDArray) and len(data.shape) == 1
            self._data.append(data.asnumpy() if flat else data)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, idx) -> Any:
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(data[idx] for data in self._data)


class SequentialSampler:
    """Yields the integers below `length` in order."""

    def __init__(self, length: int, start=0) -> None:
        self._start, self._length = start, length

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(SequentialSampler):
    """Yields the integers below `length` in random order."""

    def __iter__(self) -> Iterator[int]:
        return iter(STREAM.permutation(self._length)._payload.tolist())


class BatchSampler(_BatchSampler):
    """Yields lists of `batch_size` positions; `last_batch` is ``"keep"`` or ``"discard"``."""

    def __init__(self, sampler, batch_size: int, last_batch="keep") -> None:
        if last_batch not in ("keep", "discard"):
            raise refusal(ValueError, "last_batch must be", last_batch)
        super().__init__(sampler, batch_size, last_batch == "discard")


def default_batchify_fn(data) -> Any:
    """Combine examples into one array, or a list of arrays."""
    first = data[0]
    if isinstance(first, tuple):
        return [default_batchify_fn(part) for part in zip(*data, strict=True)]
    if isinstance(first, NDArray):
        return made(np.stack([np.asarray(x._payload) for x in data]), type(first))
    return made(np.asarray(data), CLASSES["np" if NUMPY.get()[1] else "nd"])


class DataLoader:
    """An iterable over batches of a dataset.

    Parameters
    ----------
    dataset : Dataset or array
    batch_size : int
    shuffle : bool
    sampler, batch_sampler : iterable, optional. The indices of examples, or lists of them.
    last_batch : {'keep', 'discard'}
    batchify_fn : callable, optional. A function from a list of examples to a batch.
    num_workers : int. Ignored: batches are created in this process.
    """

    def __init__(
        self,
        dataset,
        batch_size: int | None = None,
        shuffle=False,
        sampler=None,
        last_batch: str | None = None,
        batch_sampler=None,
        batchify_fn: Callable[..., Any] | None = None,
        num_workers=0,
        **memory,
    ) -> None:
        if batch_sampler is None:
            if batch_size is None:
                raise ValueError("batch_size must be specified unless batch_sampler is specified")
            if sampler is None:
                sampler = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
            elif shuffle:
                raise ValueError("shuffle must not be specified if sampler is specified")
            batch_sampler = BatchSampler(sampler, batch_size, last_batch or "keep")
        self._dataset, self._batches = dataset, batch_sampler
        self._batchify = default_batchify_fn if batchify_fn is None else batchify_fn

    def __iter__(self) -> Iterator[Any]:
        for batch in self._batches:
            yield self._batchify([self._dataset[i] for i in batch])

    def __len__(self) -> int:
        return len(self._batches)


__all__ = public(globals(), modules="vision")
