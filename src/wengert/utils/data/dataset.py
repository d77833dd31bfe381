"""Layer 8 · utils: data sets, with examples by index or one by one."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from itertools import accumulate
from typing import Any, Generic, TypeVar, cast

from wengert.base.names import defined
from wengert.ops.choice import randperm
from wengert.ops.coerce import operands
from wengert.ops.generator import Generator
from wengert.types import Tensor

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """A data set with examples by index: a subclass has ``__getitem__``, usually also ``__len__``.

    Examples
    --------
    >>> from wengert.utils.data import Dataset
    >>> class Squares(Dataset):
    ...     def __len__(self):
    ...         return 10
    ...
    ...     def __getitem__(self, i):
    ...         return i * i
    >>> both = Squares() + Squares()
    >>> len(both), both[11]
    (20, 1)
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(
            "Subclasses of Dataset should implement __getitem__, but "
            f"{type(self).__name__} does not"
        )

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """A data set that yields examples one by one: a subclass has ``__iter__``.

    Examples
    --------
    >>> from wengert.utils.data import DataLoader, IterableDataset
    >>> class Countdown(IterableDataset):
    ...     def __iter__(self):
    ...         return iter((3, 2, 1))
    >>> list(DataLoader(Countdown(), batch_size=2))
    [tensor([3, 2]), tensor([1])]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(
            f"{type(self).__name__} gives no examples: a subclass of IterableDataset must have "
            "__iter__"
        )

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


def examples_of(dataset: Any, indices: list[Any]) -> Any:
    """Return several examples, in one call if the data set has ``__getitems__``."""
    many = getattr(dataset, "__getitems__", None)
    return many(indices) if callable(many) else [dataset[i] for i in indices]


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors: example `i` is a tuple of their rows `i`.

    Parameters
    ----------
    *tensors : Tensor. With the same number of rows; arrays and columns of tables become tensors.

    Raises
    ------
    AssertionError: If they differ; without any tensor it is a ValueError.
    TypeError: If an argument is not a tensor or an array.

    Examples
    --------
    >>> data = wg.utils.data.TensorDataset(wg.eye(2), wg.arange(2))
    >>> data[1]
    (tensor([0., 1.]), tensor(1))
    """

    def __init__(self, *tensors: Tensor) -> None:
        if not tensors:
            raise ValueError("TensorDataset() takes at least one tensor")
        self.tensors = tuple(operands(tensors, "TensorDataset"))
        sizes = [tensor.size(0) for tensor in self.tensors]
        if len(set(sizes)) > 1:
            raise AssertionError(f"Size mismatch between tensors: they have {sizes} rows")

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class ConcatDataset(Dataset[T_co]):
    """The concatenation of several data sets.

    Parameters
    ----------
    datasets : iterable of Dataset. At least one, each with examples by index.

    Raises
    ------
    AssertionError: If there is no data set, or one is an `IterableDataset`.

    Examples
    --------
    >>> from wengert.utils.data import ConcatDataset
    >>> ConcatDataset([[1, 2], [3]])[2]
    3
    """

    def __init__(self, datasets: Iterable[Dataset[T_co] | Sequence[T_co]]) -> None:
        self.datasets: list[Any] = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T_co:
        if -index > len(self):
            raise ValueError(
                "absolute value of index should not exceed dataset length: the index is "
                f"{index}, the length {len(self)}"
            )
        if index >= len(self):
            raise IndexError(f"index {index} is out of range: there are {len(self)} examples")
        index %= len(self)
        place = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[place - 1] if place else 0
        return self.datasets[place][index - before]


class Subset(Dataset[T_co]):
    """Some examples of a data set.

    Parameters
    ----------
    dataset : Dataset. The whole data set.
    indices : sequence of int. Their indices in it.

    Examples
    --------
    >>> from wengert.utils.data import Subset
    >>> list(Subset("abc", [2, 0]))
    ['c', 'a']
    """

    def __init__(self, dataset: Dataset[T_co] | Sequence[T_co], indices: Sequence[int]) -> None:
        self.dataset: Any = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> Any:
        if type(self).__getitem__ is not Subset.__getitem__:
            return [self[i] for i in indices]
        return examples_of(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[T] | Sequence[T], lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[T]]:
    """Split a data set into random subsets.

    Parameters
    ----------
    dataset : Dataset. With a length.
    lengths : sequence of int or of float. The number of examples in each part; or fractions that
        sum to 1. The examples that rounding leaves over go to the first parts, one each.
    generator : Generator, optional. Where random numbers come from.

    Returns
    -------
    list of Subset: The parts.

    Raises
    ------
    ValueError: If the lengths do not add up to that of the data set.

    Examples
    --------
    >>> data = wg.utils.data.TensorDataset(wg.arange(10))
    >>> [len(part) for part in wg.utils.data.random_split(data, [0.7, 0.3])]
    [7, 3]
    """
    count = len(cast("Sized", dataset))
    sizes: list[Any] = list(lengths)
    if math.isclose(sum(sizes), 1) and sum(sizes) <= 1:
        for i, fraction in enumerate(sizes):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        sizes = [math.floor(count * fraction) for fraction in sizes]
        for i in range(count - sum(sizes)):
            sizes[i % len(sizes)] += 1
    if sum(sizes) != count:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset: "
            f"{sum(sizes)} and {count}"
        )
    order = randperm(count, generator=generator).tolist()
    return [
        Subset(dataset, order[stop - size : stop])
        for size, stop in zip(sizes, accumulate(sizes), strict=True)
    ]


class StackDataset(Dataset[Any]):
    """Several data sets side by side: an example is a tuple, or a dictionary, of their examples.

    Parameters
    ----------
    *args, **kwargs : Dataset. Of equal length, all by position or all by name.

    Raises
    ------
    ValueError: If lengths differ, no data set is given, or some are given by position and some by
        name.

    Examples
    --------
    >>> from wengert.utils.data import StackDataset
    >>> StackDataset([1, 2], "ab")[1], StackDataset(x=[1, 2], y="ab")[0]
    ((2, 'b'), {'x': 1, 'y': 'a'})
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like "
                "input/output, but both types are given."
            )
        parts = args or tuple(kwargs.values())
        if not parts:
            raise ValueError("At least one dataset should be passed")
        if len(set(map(len, parts))) > 1:
            raise ValueError("Size mismatch between datasets")
        self.datasets: Any = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        named = isinstance(self.datasets, dict)
        columns = []
        for dataset in self.datasets.values() if named else self.datasets:
            columns.append(examples_of(dataset, indices))
            if len(columns[-1]) != len(indices):
                raise ValueError(
                    "Nested dataset's output size mismatch. "
                    f"Expected {len(indices)}, got {len(columns[-1])}"
                )
        rows = zip(*columns, strict=True)
        return [dict(zip(self.datasets, row, strict=True)) if named else row for row in rows]

    def __len__(self) -> int:
        parts = self.datasets
        return len(next(iter(parts.values())) if isinstance(parts, dict) else parts[0])


class ChainDataset(IterableDataset[Any]):
    """The concatenation of several iterable data sets, as ``a + b`` makes it.

    Parameters
    ----------
    datasets : iterable of IterableDataset.

    Examples
    --------
    >>> from wengert.utils.data import ChainDataset, IterableDataset
    >>> len(list(ChainDataset([IterableDataset() for _ in range(0)])))
    0
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def _parts(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._parts():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(cast("Sized", dataset)) for dataset in self._parts())


def functional_datapipe(name: str, enable_df_api_tracing: bool = False) -> Callable[[Any], Any]:
    """Return a decorator that leaves a class as it is: data pipes cannot be instantiated here.

    Examples
    --------
    >>> @wg.utils.data.functional_datapipe("halve")
    ... class Halves:
    ...     pass
    """
    return lambda cls: cls


__all__ = defined(globals(), without="T T_co examples_of functional_datapipe")
