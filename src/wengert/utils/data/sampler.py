"""Layer 8 · utils: samplers, the orders in which a data set is traversed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

from wengert.base.dtypes import DTYPES
from wengert.base.names import defined
from wengert.ops.choice import multinomial, randint, randperm
from wengert.ops.create import as_tensor, empty
from wengert.ops.generator import Generator

_AT_ONCE = 32
"""The number of draws that PyTorch makes at once, which determines the draws after them."""

T_co = TypeVar("T_co", covariant=True)


def drawn_seed(generator: Any = None) -> int:
    """Draw the seed for another generator."""
    return int(empty((), dtype=DTYPES["int64"]).random_(generator=generator).item())


class Sampler(Generic[T_co]):
    """An order of examples: a subclass has ``__iter__``, which yields their indices.

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
    """The examples in order.

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
    """The examples in random order.

    Parameters
    ----------
    data_source : sized. The examples.
    replacement : bool. Whether to draw with replacement.
    num_samples : int, optional. The number of draws; default: the number of examples.
    generator : Generator, optional. Where random numbers come from; default: its own, newly seeded
        in each pass.

    Raises
    ------
    TypeError: If `replacement` is not a boolean.
    ValueError: If `num_samples` is not positive.

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
        """The number of examples drawn."""
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
    """Given indices, in random order.

    Parameters
    ----------
    indices : sequence of int. The indices.
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
    """Indices drawn with given probabilities.

    Parameters
    ----------
    weights : sequence of float. The probabilities, up to a common factor.
    num_samples : int. The number of draws.
    replacement : bool. Whether to draw with replacement.
    generator : Generator, optional. Where random numbers come from.

    Raises
    ------
    ValueError: If `num_samples` is not positive, the weights are not a vector, or `replacement` is
        not a boolean.

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
    """The indices of another sampler, in lists of equal length.

    Parameters
    ----------
    sampler : iterable of int. The other sampler.
    batch_size : int. The length of the lists.
    drop_last : bool. Whether to leave out a shorter last list.

    Raises
    ------
    ValueError: If `batch_size` is not a positive integer, or `drop_last` not a boolean.

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


__all__ = defined(globals(), without="T_co")
