"""Layer 8 · utils: the orders in which the examples of a data set are gone through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

from wengert.base.dtypes import DTYPES
from wengert.base.sections import fill_sections
from wengert.ops.choice import multinomial, randint, randperm
from wengert.ops.create import as_tensor, empty
from wengert.ops.generator import Generator

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
    "drawn_seed",
]

_AT_ONCE = 32
"""How many numbers PyTorch draws at once, which decides on what comes after them."""

T_co = TypeVar("T_co", covariant=True)


def drawn_seed(generator: Any = None) -> int:
    """A number for another generator to begin with."""
    return int(empty((), dtype=DTYPES["int64"]).random_(generator=generator).item())


class Sampler(Generic[T_co]):
    """An order of examples: a subclass has ``__iter__``, which gives their numbers.

    Examples
    --------
    >>> from wengert.utils.data import DataLoader, Sampler
    >>> class Backwards(Sampler[int]):
    ...     def __iter__(self):
    ...         return iter((2, 1, 0))
    >>> list(DataLoader("abc", batch_size=None, sampler=Backwards()))
    ['c', 'b', 'a']
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} has no method __iter__()")


class SequentialSampler(Sampler[int]):
    """The order that they are in.

    Parameters
    ----------
    data_source : sized. The examples.

    Examples
    --------
    >>> from wengert.utils.data import SequentialSampler
    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A random order.

    Parameters
    ----------
    data_source : sized. The examples.
    replacement : bool. Whether each number is drawn among all.
    num_samples : int, optional. How many are drawn; default: as many as there are.
    generator : Generator, optional. Where random numbers come from; default: one of its own, begun
        again each time.

    Raises
    ------
    TypeError: If `replacement` is not a boolean.
    ValueError: If nothing is to be drawn.

    Examples
    --------
    >>> sorted(wg.utils.data.RandomSampler("abc"))
    [0, 1, 2]
    >>> len(wg.utils.data.RandomSampler("abc", replacement=True, num_samples=10))
    10
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        _check_count(self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many are drawn."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, generator = len(self.data_source), self.generator
        if generator is None:
            generator = Generator()
            generator.manual_seed(drawn_seed())
        left = self.num_samples
        while True:
            if self.replacement:
                size = min(left, _AT_ONCE)
                drawn = randint(0, count, (size,), generator=generator).tolist()
                full = _AT_ONCE
            else:
                drawn = randperm(count, generator=generator).tolist()[:left]
                full = count
            yield from drawn
            if left < full:
                return
            left -= full

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given numbers, in a random order.

    Parameters
    ----------
    indices : sequence of int. The numbers.
    generator : Generator, optional. Where random numbers come from.

    Examples
    --------
    >>> from wengert.utils.data import SubsetRandomSampler
    >>> sorted(SubsetRandomSampler([7, 5]))
    [5, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Numbers that are drawn with given probabilities.

    Parameters
    ----------
    weights : sequence of float. The probabilities, times any factor.
    num_samples : int. How many are drawn.
    replacement : bool. Whether a number may come again.
    generator : Generator, optional. Where random numbers come from.

    Raises
    ------
    ValueError: If nothing is to be drawn, the weights are not a vector, or `replacement` is no
        boolean.

    Examples
    --------
    >>> from wengert.utils.data import WeightedRandomSampler
    >>> list(WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Any = None,
    ) -> None:
        _check_count(num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        self.weights = as_tensor(weights, dtype=DTYPES["float64"])
        if self.weights.ndim != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Numbers of another order, in lists of equal length.

    Parameters
    ----------
    sampler : iterable of int. The other order.
    batch_size : int. How long the lists are.
    drop_last : bool. Whether a last list that is shorter is left out.

    Raises
    ------
    ValueError: If `batch_size` is not a positive integer, or `drop_last` no boolean.

    Examples
    --------
    >>> from wengert.utils.data import BatchSampler
    >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        given: Any = batch_size
        if not isinstance(given, int) or isinstance(given, bool) or given <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]  # an order without one has no length
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def _check_count(num_samples: Any) -> None:
    if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
        raise ValueError(
            f"num_samples should be a positive integer value, but got num_samples={num_samples}"
        )


fill_sections(globals())
