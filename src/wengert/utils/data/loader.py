"""Layer 8 · utils: `DataLoader`, which iterates over a data set in batches."""

from __future__ import annotations

import copy
import enum
import re
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
)
from functools import partial
from itertools import islice, repeat, takewhile
from multiprocessing import get_all_start_methods
from multiprocessing.context import BaseContext
from typing import Any, Generic

import numpy as np

from wengert.base.containers import by_name, field_names, with_fields
from wengert.base.dtypes import DTYPES
from wengert.ops.create import as_tensor, tensor
from wengert.ops.generator import Generator as _Generator
from wengert.ops.join import stack
from wengert.tape.base import TensorBase
from wengert.tape.sites import warn
from wengert.utils.data.dataset import Dataset, IterableDataset, T_co, examples_of
from wengert.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, drawn_seed
from wengert.utils.data.workers import END, Batches, Worker


def default_convert(data: Any) -> Any:
    """Convert the arrays of an example into tensors, and leave everything else.

    Parameters
    ----------
    data : object. An example; dictionaries, dataclasses, tuples and lists are traversed.

    Returns
    -------
    object: The example.

    Examples
    --------
    >>> from wengert.utils.data import default_convert
    >>> default_convert({"x": np.array([1, 2]), "name": "a"})
    {'x': tensor([1, 2]), 'name': 'a'}
    """
    if isinstance(data, np.ndarray | np.generic) and data.dtype.kind in "biufc":
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _like(data, [default_convert(part) for part in data])
    if field_names(data) is not None:
        return with_fields(data, default_convert(by_name(data)))
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """Collate a list of examples into one batch.

    Parameters
    ----------
    batch : list. Examples of one kind: tensors, arrays or numbers become a tensor with a new first
        dimension, strings a list; dictionaries, dataclasses, tuples and lists are traversed.

    Returns
    -------
    object: The batch.

    Raises
    ------
    RuntimeError: If examples have different lengths.
    TypeError: If they are of a kind that cannot be collated.

    Examples
    --------
    >>> from wengert.utils.data import default_collate
    >>> default_collate([(1.5, "a"), (2.5, "b")])
    [tensor([1.5000, 2.5000], dtype=torch.float64), ('a', 'b')]
    >>> default_collate([{"x": 1}, {"x": 2}])
    {'x': tensor([1, 2])}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Sequence[Any], *, collate_fn_map: dict[Any, Any] | None = None) -> Any:
    """As `default_collate`, with functions for classes of examples, which are asked first."""
    first = batch[0]
    inner = partial(collate, collate_fn_map=collate_fn_map)
    for kind, function in (collate_fn_map or {}).items():
        if isinstance(first, kind):
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, TensorBase):
        return stack(list(batch), 0)
    if isinstance(first, np.ndarray | np.generic) and first.dtype.kind in "biufc":
        return stack([as_tensor(example) for example in batch], 0)
    if isinstance(first, float):
        return tensor(list(batch), dtype=DTYPES["float64"])
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _like(first, {key: inner([one[key] for one in batch]) for key in first})
    if isinstance(first, Sequence):
        if any(len(example) != len(first) for example in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _like(first, [inner(part) for part in zip(*batch, strict=True)])
    if field_names(first) is not None:
        return with_fields(first, inner([by_name(example) for example in batch]))
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first)}: give the DataLoader a collate_fn"
    )


def collate_alike(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Collate examples of one kind; a value of the map that `collate` takes."""
    return collate(batch)


Collate = Callable[[list[Any]], Any]
OBJECTS = re.compile("[SaUO]")
"""Matches the dtypes of arrays of texts or objects, which no tensor can hold."""
default_collate_fn_map: dict[type, Callable[..., Any]] = {}
"""Functions that programs add for their own classes: ``collate(batch, collate_fn_map=...)``."""


def _like(example: Any, parts: Any) -> Any:
    """Return `parts` in a container of the class of `example`; a list for a tuple."""
    if hasattr(example, "_fields"):
        return type(example)(*parts)
    if type(example) in (dict, list, tuple):
        return parts
    try:
        if isinstance(example, MutableMapping | MutableSequence):
            # it may have attributes, which the constructor would not set
            made: Any = copy.copy(example)
            for key, part in parts.items() if isinstance(parts, dict) else enumerate(parts):
                made[key] = part
            return made
        return parts if isinstance(example, tuple) else type(example)(parts)
    except TypeError:
        return parts


_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
"""Attributes that others are derived from, so they cannot be set later."""


def _check_context(context: Any, num_workers: int) -> None:
    """Refuse the values of ``multiprocessing_context`` that PyTorch refuses."""
    if context is None:
        return
    if num_workers <= 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > "
            f"0), but got num_workers={num_workers}"
        )
    methods = get_all_start_methods()
    if isinstance(context, str) and context not in methods:
        raise ValueError(
            f"multiprocessing_context option should specify a valid start method in {methods!r}, "
            f"but got multiprocessing_context={context!r}"
        )
    if not isinstance(context, str | BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context!r}"
        )


def _fetcher(loader: Any, dataset: Any, collate: Collate) -> Callable[[Any], Any]:
    """Return a function that fetches a batch, and `END` after the last one of a stream."""
    whole = loader._auto_collation
    if loader._dataset_kind is _DatasetKind.Iterable:
        # `iter` is asked once: a stream may start over when it is asked again
        examples = (example for example in dataset)
        if not whole:
            return lambda _: next(map(collate, examples), END)
        size = loader.batch_size

        def fetch(_: Any) -> Any:
            batch = list(islice(examples, size))
            enough = len(batch) == size or (batch and not loader.drop_last)
            return collate(batch) if enough else END

        return fetch
    if not whole:
        return lambda i: collate(dataset[i])
    return lambda numbers: collate(examples_of(dataset, numbers))


class _DatasetKind(enum.IntEnum):
    """Whether a data set has indices, or is a stream."""

    Map, Iterable = range(2)


def _is_batch(fetched: Any) -> bool:
    return fetched is not END


_EACH_WHOLE = (
    "For multiprocessing data-loading, this could be caused by not properly configuring the "
    "IterableDataset replica at each worker: let its __iter__ ask get_worker_info() for its share."
)


class _BaseDataLoaderIter:
    """An iterator over the batches of a loader, with a length.

    Packages make it of objects of their own that have the attributes of a `DataLoader`.
    """

    def __init__(self, loader: Any) -> None:
        self._loader, self._batches = loader, self._fetched(loader)
        self._count = 0

    def _fetched(self, loader: Any) -> Iterator[Any]:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        batch = next(self._batches)
        self._count += 1
        told = self._loader._IterableDataset_len_called
        if told is not None and self._count > told:
            warn(
                f"Length of IterableDataset {self._loader.dataset} was reported to be {told} (when "
                f"accessing len(dataloader)), but {self._count} samples have been fetched. "
                + (self._loader.num_workers > 0)
                * _EACH_WHOLE,
                UserWarning,
            )
        return batch

    def __len__(self) -> int:
        return len(self._loader)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """The iterator of loaders without workers."""

    def _fetched(self, loader: Any) -> Iterator[Any]:
        # drawn in each pass, with or without workers
        drawn_seed(loader.generator)
        fetch = _fetcher(loader, loader.dataset, loader.collate_fn)
        return takewhile(_is_batch, map(fetch, loader._index_sampler))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """The iterator of loaders with workers."""

    def _fetched(self, loader: Any) -> Iterator[Any]:
        workers = getattr(loader, "_workers", None)
        if workers is None:
            base = drawn_seed(loader.generator)
            workers = [Worker(loader, number, base) for number in range(loader.num_workers)]
            if loader.persistent_workers:
                loader._workers = workers

        def fetcher(worker: Worker) -> Callable[[Any], Any]:
            collate = worker.own(loader.collate_fn, loader.dataset)
            return _fetcher(loader, worker.info.dataset, collate)

        prefetch = 2 if loader.prefetch_factor is None else loader.prefetch_factor
        return Batches(workers, fetcher, loader._index_sampler, prefetch)


class DataLoader(Generic[T_co]):
    """Iterate over a data set in batches.

    Examples are fetched in this process and thread. With the same seed they come in the same order
    as from PyTorch's loader, and random numbers drawn for them are the same.

    Parameters
    ----------
    dataset : Dataset or sequence, or IterableDataset. The examples.
    batch_size : int, optional. The number of examples in a batch; None for single examples.
    shuffle : bool, optional. Whether to shuffle the examples in each pass.
    sampler : iterable of int, optional. The order, instead of `shuffle`.
    batch_sampler : iterable of list, optional. The indices in each batch, instead of all of these.
    collate_fn : callable, optional. The function that makes a batch of a list of examples; default:
        `default_collate`.
    drop_last : bool. Whether to leave out a smaller last batch.
    generator : Generator, optional. Where random numbers come from.
    num_workers : int. The number of workers that take turns. They run in this process, with their
        own random numbers and a shallow copy of the data set.
    worker_init_fn : callable, optional. Called with the number of each worker, as this worker.
    prefetch_factor : int, optional. The number of batches that a worker gets ahead.
    persistent_workers : bool. Whether the next pass uses the same workers.
    pin_memory, timeout, multiprocessing_context, pin_memory_device, in_order: Accepted for
        compatibility with PyTorch.

    Raises
    ------
    ValueError: If arguments exclude one another.

    Examples
    --------
    >>> from wengert.utils.data import DataLoader, TensorDataset
    >>> data = TensorDataset(wg.arange(5), wg.arange(5) ** 2)
    >>> for x, y in DataLoader(data, batch_size=3):
    ...     print(x, y)
    tensor([0, 1, 2]) tensor([0, 1, 4])
    tensor([3, 4]) tensor([ 9, 16])
    """

    def __init__(
        self,
        dataset: Dataset[T_co] | Sequence[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: _Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise ValueError(
                f"num_workers option should be non-negative, but is {num_workers}; use "
                "num_workers=0 to disable multiprocessing."
            )
        if timeout < 0:
            raise ValueError(f"timeout option should be non-negative, but is {timeout}")
        if not num_workers and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to "
                "None."
            )
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError(
                f"prefetch_factor option should be non-negative, but is {prefetch_factor}"
            )
        if persistent_workers and not num_workers:
            raise ValueError("persistent_workers option needs num_workers > 0")
        _check_context(multiprocessing_context, num_workers)
        is_stream = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if is_stream else _DatasetKind.Map
        orders = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        for option, value in orders.items() if is_stream else ():
            if value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {option} option, but "
                    f"got {option}={value}: the data set decides on the order"
                )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                    "and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None and not is_stream:
            sized: Any = dataset
            sampler = (
                RandomSampler(sized, generator=generator) if shuffle else SequentialSampler(sized)
            )
        if batch_size is not None and batch_sampler is None and sampler is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        if is_stream and batch_size is not None:
            # refuses invalid sizes
            BatchSampler((), batch_size, drop_last)
        self.dataset: Any = dataset
        self.batch_size = batch_size
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.drop_last = drop_last
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.prefetch_factor = prefetch_factor
        self.persistent_workers = persistent_workers
        self.pin_memory_device, self.in_order = pin_memory_device, in_order
        self.generator = generator
        self._auto_collation = batch_size is not None or batch_sampler is not None
        default = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn or default
        self._workers: list[Worker] | None = None
        self._IterableDataset_len_called: int | None = None
        self._is_complete = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and getattr(self, "_is_complete", False):
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        kind = _MultiProcessingDataLoaderIter if self.num_workers else _SingleProcessDataLoaderIter
        return kind(self)

    @property
    def _index_sampler(self) -> Iterable[Any]:
        """The indices of each batch to fetch."""
        if self._dataset_kind is _DatasetKind.Iterable:
            return repeat(None)
        return (self.sampler or ()) if self.batch_sampler is None else self.batch_sampler

    def __len__(self) -> int:
        """Return the number of batches in a pass."""
        if self._dataset_kind is _DatasetKind.Map:
            order: Any = self.sampler if self.batch_sampler is None else self.batch_sampler
            return len(order)
        count, size = len(self.dataset), self.batch_size or 1
        told = self._IterableDataset_len_called = (
            count // size if self.drop_last else -(-count // size)
        )
        return told
