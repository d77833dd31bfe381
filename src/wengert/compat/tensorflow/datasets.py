"""Layer 9 · compat: the datasets of ``tf.data``: streams of examples, in Python.

NOTE [datasets]
A `Dataset` is a function that starts an iteration; it can be iterated any number of times. Elements
are tensors, or tuples, lists and dicts of them. Nothing is prefetched, or computed in other threads
or in graphs: mapped functions run as Python. After an error in a function the iteration can
continue with the next element, as in TensorFlow. An error ends a Python generator, so stages
without state are plain iterators, and stages that are generators refuse to continue.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import os
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from wengert.compat.tensorflow import elements as E
from wengert.compat.tensorflow.archive import coded, decoded, read_archive, write_archive
from wengert.compat.tensorflow.conversion import TensorSpec, convert_to_tensor
from wengert.compat.tensorflow.dtypes import as_dtype
from wengert.compat.tensorflow.eager import is_text
from wengert.compat.tensorflow.errors import OpError
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.drawing import own_stream
from wengert.compat.tensorflow.io import matching_files
from wengert.compat.tensorflow.iterators import Iteration
from wengert.compat.tensorflow.words import public

AUTOTUNE = -1
"""The automatic number of parallel calls, which is one here."""
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def _same(known: int, /, *args, **kwargs) -> int:
    return known


def _unknown(count: int | None, *args, **kwargs) -> int | None:
    return None


def _any(known: int, /, *args, **kwargs) -> int:
    return 99  # more than the dimensions of an element


def _stage(count: Callable[..., int | None], loose=_same) -> Callable[[Any], Any]:
    """Decorate a generator of elements to return a dataset of them.

    `count` checks the arguments, and returns the number of elements, given that of the dataset;
    `loose` returns the number of leading sizes that are not the same in all elements.
    """

    def decorate(elements) -> Any:
        @functools.wraps(elements)
        def method(self, *args, **kwargs) -> Any:
            known = count(self._count, *args, **kwargs)
            wide = loose(self._loose, *args, **kwargs)
            return Dataset(lambda: elements(self, *args, **kwargs), known, loose=wide)

        return method

    return decorate


def _batch(elements: list[Any]) -> Any:
    """Stack elements along a new first dimension."""
    return E.joined(E.stacked, elements)


class Options:
    """Options of datasets, none of which has an effect here."""

    def __init__(self) -> None:
        self.autotune = self.threading = self.experimental_optimization = SimpleNamespace()
        self.experimental_distribute = SimpleNamespace()


class Dataset:
    """A stream of elements that can be iterated again.

    Made by `from_tensor_slices`, `from_tensors`, `from_generator`, `range` or `zip`.

    Examples
    --------
    >>> dataset = tf.data.Dataset.from_tensor_slices(([1, 2, 3], [4, 5, 6]))
    >>> for x, y in dataset.take(1):
    ...     print(x.numpy(), y.numpy())
    1 4
    """

    def __init__(
        self, begin: Callable[[], Iterator[Any]], count: int | None = None, spec=None, loose=0
    ) -> None:
        self._begin = begin
        self._spec = spec
        self._loose = loose
        """The number of leading sizes of elements that may differ between them."""
        self._count = count
        """The number of elements; None if it is unknown, -1 if it is infinite."""

    # -- sources ----------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors, name=None) -> Dataset:
        """Build a dataset from the slices of tensors along their first dimension.

        Raises
        ------
        ValueError: If a tensor has no dimensions, or their sizes differ.

        Examples
        --------
        >>> [x.numpy().tolist() for x in tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])]
        [[1, 2], [3, 4]]
        """
        arrays = E.mapped(E.tensor, tensors)
        sizes = []
        for leaf in E.leaves(arrays):
            if not leaf._payload.ndim:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
            sizes.append(leaf._payload.shape[0])
        if len(set(sizes)) > 1:
            raise ValueError(f"Dimensions {sizes[0]} and {sizes[1]} are not compatible")

        def begin() -> Iterator[Any]:
            held = E.mapped(E.array_of, arrays)
            for place in range(sizes[0]):
                yield E.mapped(E.part_at(place), held)

        spec = E.mapped(lambda one: TensorSpec(one.shape[1:], one.dtype), arrays)
        return Dataset(begin, sizes[0], spec)

    @staticmethod
    def from_tensors(tensors, name=None) -> Dataset:
        """Build a dataset of one element.

        Examples
        --------
        >>> len(tf.data.Dataset.from_tensors([1, 2, 3]))
        1
        """
        element = E.mapped(E.tensor, tensors)
        return Dataset(lambda: iter([element]), 1)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types=None,
        output_shapes=None,
        args=None,
        output_signature=None,
        name=None,
    ) -> Dataset:
        """Build a dataset from the items of a generator function.

        Examples
        --------
        >>> dataset = tf.data.Dataset.from_generator(lambda: iter([1, 2]), output_types=tf.int64)
        >>> [x.dtype for x in dataset]
        [tf.int64, tf.int64]
        """
        types, spec = output_types, output_signature
        if spec is not None:
            types = E.mapped(lambda one: one.dtype, spec)

        def begin() -> Iterator[Any]:
            for value in generator(*(args or ())):
                if types is None:
                    yield E.mapped(E.tensor, value)
                    continue
                element = E.joined(lambda pair: convert_to_tensor(*pair), [value, types])
                if spec is not None:
                    E.joined(E.fitting, [element, spec])
                yield element

        return Dataset(begin, spec=spec, loose=_any(0))

    @staticmethod
    def range(*args, output_type=None, name=None) -> Dataset:
        """Build a dataset of the integers of Python's ``range``, as int64.

        Examples
        --------
        >>> [int(x) for x in tf.data.Dataset.range(1, 6, 2)]
        [1, 3, 5]
        """
        bounds = [V.integer(arg, "range") for arg in args]
        if bounds[2:] == [0]:
            raise V.invalid("step must be a non-zero integer.", "RangeDataset")
        numbers = range(*bounds)
        kind = np.dtype(np.int64 if output_type is None else output_type.as_numpy_dtype)
        return Dataset(lambda: (V.constant_of(kind.type(n)) for n in numbers), len(numbers))

    @staticmethod
    def zip(*args, datasets=None, name=None) -> Dataset:
        """Pair the elements of several datasets, until one ends.

        Examples
        --------
        >>> a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(5, 9)
        >>> [(int(x), int(y)) for x, y in tf.data.Dataset.zip((a, b))]
        [(0, 5), (1, 6), (2, 7)]
        """
        parts = datasets if datasets is not None else args[0] if len(args) == 1 else args
        inner = E.leaves(parts)

        def begin() -> Iterator[Any]:
            for values in zip(*inner, strict=False):
                yield E.mapped(E.next_of(iter(values)), parts)

        counts = [dataset._count for dataset in inner]
        finite = [count for count in counts if count is not None and count >= 0]
        known = None if None in counts else min(finite, default=-1)
        return Dataset(begin, known, loose=max(dataset._loose for dataset in inner))

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None) -> Dataset:
        """Build an endless dataset of random integers below 2**32."""
        draws = E.draws(seed, rerandomize_each_iteration)

        def begin() -> Iterator[Any]:
            for number in draws().singles():
                yield V.constant_of(np.int64(number))

        return Dataset(begin, -1)

    @staticmethod
    def counter(start=0, step=1, dtype=None, name=None) -> Dataset:
        """Build an endless dataset of numbers that grow by `step`."""
        kind = np.dtype(np.int64 if dtype is None else as_dtype(dtype).as_numpy_dtype)
        return Dataset(
            lambda: (V.constant_of(kind.type(n)) for n in itertools.count(start, step)), -1
        )

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None) -> Dataset:
        """Build a dataset of the files that match patterns, by default in random order.

        Raises
        ------
        InvalidArgumentError: If there is no such file.
        """
        found = matching_files(file_pattern)
        if not found.shape[0]:
            raise V.invalid(f"No files matched pattern: {file_pattern}")
        files = Dataset.from_tensor_slices(found)
        return files if shuffle is False else files.shuffle(found.shape[0], seed)

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None) -> Dataset:
        """Build a dataset of the elements that `save` wrote, in its own format."""
        codes, arrays = read_archive(os.path.join(os.fspath(path), "elements.wengert"))
        elements = [decoded(code, lambda _, key: E.thawed(arrays[key])) for code in codes]
        return Dataset(lambda: iter(elements), len(elements))

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None) -> None:
        """Write all elements to a folder, in a format of its own."""
        arrays: dict[str, Any] = {}

        def leaf(value, where: str) -> dict[str, Any]:
            arrays[where] = E.frozen(value)
            return {"array": where}

        codes = [coded(element, leaf, str(i)) for i, element in enumerate(self)]
        os.makedirs(path, exist_ok=True)
        write_archive(os.path.join(os.fspath(path), "elements.wengert"), codes, arrays)

    @_stage(_same)
    def snapshot(
        self, path, compression="AUTO", reader_func=None, shard_func=None, name=None
    ) -> Any:
        """Write the elements to a folder when they are first needed; afterwards read them."""
        if not os.path.exists(os.path.join(os.fspath(path), "elements.wengert")):
            self.save(path)
        return iter(Dataset.load(path))

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True) -> Dataset:
        """Take each element from the dataset that the next index selects."""

        def begin() -> Iterator[Any]:
            streams = [iter(dataset) for dataset in datasets]
            for place in choice_dataset:
                found = list(itertools.islice(streams[int(place)], 1))
                if not found and stop_on_empty_dataset:
                    return
                yield from found

        return Dataset(begin)

    @staticmethod
    def sample_from_datasets(
        datasets,
        weights=None,
        seed=None,
        stop_on_empty_dataset=False,
        rerandomize_each_iteration=None,
    ) -> Dataset:
        """Take each element from a dataset drawn at random with the given weights."""
        draws = E.draws(seed, rerandomize_each_iteration)
        chances = np.ones(len(datasets)) if weights is None else np.array(V.numbers_of(weights))

        def begin() -> Iterator[Any]:
            rng, left = draws(), np.array(chances, np.float64)
            streams = [iter(dataset) for dataset in datasets]
            while left.any():
                place = int(rng.choice(len(left), p=left / left.sum()))
                found = list(itertools.islice(streams[place], 1))
                if not found and stop_on_empty_dataset:
                    return
                yield from found
                left[place] *= len(found)

        return Dataset(begin)

    # -- one from another -------------------------------------------------------------------------

    @_stage(_same)
    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls=None,
        deterministic=None,
        name=None,
        **kwargs,
    ) -> Any:
        """Apply a function to each element; a tuple is unpacked into arguments."""

        def result(element) -> Any:
            found = E.called(map_func, element)
            return E.mapped(E.tensor, tuple(found) if isinstance(found, list) else found)

        return map(result, self)

    @_stage(_unknown)
    def filter(self, predicate: Callable[..., Any], name=None) -> Any:
        """Keep the elements for which a function is true."""
        return filter(functools.partial(E.called, predicate), self)

    @_stage(_unknown)
    def take_while(self, predicate: Callable[..., Any], name=None) -> Any:
        """Take elements until a function is false."""
        return itertools.takewhile(functools.partial(E.called, predicate), self)

    @_stage(_unknown, _any)
    def flat_map(self, map_func: Callable[..., Any], name=None) -> Any:
        """Map each element to a dataset, and concatenate these."""
        return itertools.chain.from_iterable(map(functools.partial(E.called, map_func), self))

    @_stage(_unknown, _any)
    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length=None,
        block_length=None,
        num_parallel_calls=None,
        deterministic=None,
        name=None,
    ) -> Any:
        """Map each element to a dataset, and interleave these, `cycle_length` at a time.

        Examples
        --------
        >>> dataset = tf.data.Dataset.range(2).interleave(
        ...     lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2)
        >>> [int(x) for x in dataset]
        [0, 1, 0, 1]
        """
        sources = iter(self)
        many = 10 if cycle_length in (None, AUTOTUNE) else V.integer(cycle_length, "cycle_length")
        block = 1 if block_length is None else V.integer(block_length, "block_length")
        turns: list[Any] = [None] * many
        while True:
            for place in range(many):
                if turns[place] is None:
                    turns[place] = next((iter(E.called(map_func, one)) for one in sources), None)
                for _ in range(block if turns[place] is not None else 0):
                    found = list(itertools.islice(turns[place], 1))
                    if not found:
                        turns[place] = None
                        break
                    yield from found
            if all(turn is None for turn in turns):
                sources, rest = itertools.tee(sources)
                if next(rest, None) is None:
                    return

    @_stage(E.in_windows)
    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None) -> Any:
        """Yield datasets of `size` elements each, which begin `shift` elements apart.

        Examples
        --------
        >>> for part in tf.data.Dataset.range(5).window(3, shift=1, drop_remainder=True):
        ...     print([int(x) for x in part])
        [0, 1, 2]
        [1, 2, 3]
        [2, 3, 4]
        """
        many, gap = V.integer(size, "size"), V.integer(stride, "stride")
        step = many if shift is None else V.integer(shift, "shift")
        held: list[Any] = []
        elements = iter(self)
        wide = (many - 1) * gap + 1
        while True:
            held += itertools.islice(elements, wide - len(held))
            if not held or (drop_remainder and len(held) < wide):
                return
            yield _of_windows(held[:wide:gap])
            if step > len(held):
                list(itertools.islice(elements, step - len(held)))
            held = held[step:]

    @_stage(_same)
    def scan(self, initial_state, scan_func: Callable[..., Any], name=None) -> Any:
        """Carry a state along the elements, with a function that returns the next state and an
        output.
        """
        state = E.mapped(E.tensor, initial_state)
        for element in self:
            state, found = scan_func(state, element)
            state = E.mapped(E.tensor, state)
            yield E.mapped(E.tensor, found)

    @_stage(_unknown)
    def unique(self, name=None) -> Any:
        """Yield each distinct element once, at its first occurrence."""
        seen: set[Any] = set()
        for element in self:
            key = element.numpy().tobytes() if not is_text(element) else element._payload[()]
            if key not in seen:
                seen.add(key)
                yield element

    @_stage(_unknown, _any)
    def group_by_window(
        self, key_func, reduce_func, window_size=None, window_size_func=None, name=None
    ) -> Any:
        """Group elements by key, and reduce windows of `window_size` elements with a function."""
        groups: dict[int, list[Any]] = {}
        for element in self:
            key = int(E.called(key_func, element))
            found = groups.setdefault(key, [])
            found.append(element)
            size = window_size if window_size_func is None else int(window_size_func(key))
            if len(found) == size:
                yield from reduce_func(V.constant_of(np.int64(key)), _of_windows(groups.pop(key)))
        for key, found in groups.items():
            yield from reduce_func(V.constant_of(np.int64(key)), _of_windows(found))

    @_stage(_unknown, _any)
    def bucket_by_sequence_length(
        self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
        padding_values=None, pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False,
        name=None,
    ) -> Any:  # fmt: skip
        """Batch elements of similar length: those between two boundaries, padded to one shape.

        Examples
        --------
        >>> rows = tf.data.Dataset.range(1, 6).map(lambda n: tf.fill([n], n))
        >>> batches = rows.bucket_by_sequence_length(lambda x: x.shape[0], [3], [2, 3])
        >>> [batch.shape.as_list() for batch in batches]
        [[2, 2], [3, 5]]
        """
        if pad_to_bucket_boundary:
            raise ValueError("pad_to_bucket_boundary=True is not offered: give padded_shapes")
        held: dict[int, list[Any]] = {}

        def batch(elements: list[Any]) -> Any:
            part = Dataset(lambda: iter(elements), len(elements))
            size = len(elements)
            if no_padding:
                return next(iter(part.batch(size)))
            return next(iter(part.padded_batch(size, padded_shapes, padding_values)))

        for element in self:
            length = int(E.called(element_length_func, element))
            place = bisect.bisect_right(list(bucket_boundaries), length)
            found = held.setdefault(place, [])
            found.append(element)
            if len(found) == bucket_batch_sizes[place]:
                yield batch(held.pop(place))
        for _, found in () if drop_remainder else sorted(held.items()):
            yield batch(found)

    @_stage(_unknown)
    def rejection_resample(
        self, class_func, target_dist, initial_dist=None, seed=None, name=None
    ) -> Any:
        """Drop elements at random, so that classes occur as often as asked for.

        Elements become pairs of their class and themselves. The frequencies of classes are those
        that are given, or those seen so far.
        """
        wanted = np.asarray(V.numbers_of(target_dist), np.float64)
        counts = np.ones(len(wanted))
        draws = own_stream(seed)
        for element in self:
            kind = int(E.called(class_func, element))
            counts[kind] += 1
            shares = counts / counts.sum() if initial_dist is None else V.numbers_of(initial_dist)
            ratios = np.divide(wanted, shares, out=np.zeros(len(wanted)), where=shares > 0)
            if draws.uniform_of((), np.dtype(np.float32)) < ratios[kind] / ratios.max():
                yield V.constant_of(np.int32(kind)), element

    @_stage(_unknown)
    def ignore_errors(self, log_warning=False, name=None) -> Any:
        """Skip elements whose computation raises one of TensorFlow's errors."""
        elements = iter(self)
        while True:
            try:
                yield next(elements)
            except StopIteration:
                return
            except OpError:
                continue

    @_stage(E.in_batches, E.loose_in_batches)
    def batch(
        self,
        batch_size,
        drop_remainder=False,
        num_parallel_calls=None,
        deterministic=None,
        name=None,
    ) -> Any:
        """Combine elements into batches along a new first dimension.

        Raises
        ------
        InvalidArgumentError: If their shapes differ, or the size is not positive.
        """
        return map(_batch, E.lots(self, batch_size, drop_remainder))

    @_stage(
        lambda count, size, *args, **kwargs: E.in_batches(count, size, *args[2:], **kwargs), _any
    )
    def padded_batch(
        self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None
    ) -> Any:
        """Combine elements into batches, padding the elements of each to one shape.

        Examples
        --------
        >>> dataset = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n)).padded_batch(2)
        >>> print(next(iter(dataset)).numpy())
        [[1 0]
         [2 2]]
        """

        def batch(chosen: list[Any]) -> Any:
            columns = [E.leaves(element) for element in chosen]
            many = len(columns[0])
            shapes, values = (
                E.for_leaves(given, many) for given in (padded_shapes, padding_values)
            )
            made = map(E.padded, shapes, values, map(list, zip(*columns, strict=True)))
            return E.mapped(E.next_of(made), chosen[0])

        return map(batch, E.lots(self, batch_size, drop_remainder))

    @_stage(_unknown, E.loose_in_batches)
    def rebatch(self, batch_size, drop_remainder=False, name=None) -> Any:
        """Regroup the examples of batches into batches of another size, or of several in turn."""
        return map(_batch, E.lots(self.unbatch(), batch_size, drop_remainder))

    @_stage(_unknown, lambda known: max(known - 1, 0))
    def unbatch(self, name=None) -> Any:
        """Yield the slices of each element along its first dimension."""
        return itertools.chain.from_iterable(map(Dataset.from_tensor_slices, self))

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None) -> Dataset:
        """Shuffle the elements: draw each from a buffer of the next `buffer_size`.

        Raises
        ------
        InvalidArgumentError: If `buffer_size` is not positive.
        """
        size = E.positive(buffer_size, "ShuffleDatasetV3", "buffer_size")
        draws = E.draws(seed, reshuffle_each_iteration in (True, None))

        def begin() -> Iterator[Any]:
            numbers, elements = draws().singles(), iter(self)
            buffer = list(itertools.islice(elements, size))
            first, wide = 0, len(buffer)
            left = wide  # of the buffer, from the place `first` on
            while left:
                place = (first + next(numbers) % left) % wide
                yield buffer[place]
                buffer[place] = buffer[first]
                for element in itertools.islice(elements, 1):
                    buffer[first] = element
                    break
                else:
                    left -= 1
                first = (first + 1) % wide

        return Dataset(begin, self._count, self._spec, self._loose)

    @_stage(E.repeated)
    def repeat(self, count=None, name=None) -> Any:
        """Repeat the elements `count` times, or endlessly."""
        times = -1 if count is None else V.integer(count, "count")
        for _ in itertools.count() if times < 0 else range(times):
            empty = True
            for element in self:
                empty = False
                yield element
            if empty:
                return

    @_stage(E.taken)
    def take(self, count, name=None) -> Any:
        """Take the first `count` elements; all of them for -1."""
        number = V.integer(count, "count")
        return itertools.islice(self, None if number < 0 else number)

    @_stage(E.skipped)
    def skip(self, count, name=None) -> Any:
        """Skip the first `count` elements."""
        return itertools.islice(self, V.integer(count, "count"), None)

    @_stage(E.in_shards)
    def shard(self, num_shards, index, name=None) -> Any:
        """Take every `num_shards`-th element, starting with the one at `index`."""
        return itertools.islice(self, int(index), None, int(num_shards))

    @_stage(_same)
    def enumerate(self, start=0, name=None) -> Any:
        """Pair the elements with their indices, as int64.

        Examples
        --------
        >>> [(int(i), int(x)) for i, x in tf.data.Dataset.range(5, 7).enumerate()]
        [(0, 5), (1, 6)]
        """
        numbers = map(V.constant_of, map(np.int64, itertools.count(V.integer(start, "start"))))
        return zip(numbers, self, strict=False)

    def concatenate(self, dataset: Dataset, name=None) -> Dataset:
        """Append the elements of another dataset."""
        counts = (self._count, dataset._count)
        known = None if None in counts else -1 if -1 in counts else sum(counts)  # type: ignore[arg-type]
        loose = max(self._loose, dataset._loose)
        return Dataset(lambda: itertools.chain(self, dataset), known, loose=loose)

    def cache(self, filename="", name=None) -> Dataset:
        """Keep the elements in memory after the first complete iteration."""
        kept: list[list[Any]] = []

        def begin() -> Iterator[Any]:
            if kept:
                yield from kept[0]
                return
            elements = []
            for element in self:
                elements.append(element)
                yield element
            kept[:] = [elements]

        return Dataset(begin, self._count, self._spec, self._loose)

    @_stage(_same)
    def prefetch(self, buffer_size=AUTOTUNE, name=None) -> Any:
        """Return the same elements: nothing is prefetched here."""
        return iter(self)

    @_stage(_same)
    def with_options(self, options, name=None) -> Any:
        """Return the same elements: options have no effect here."""
        return iter(self)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Apply a function to this dataset, and return its result."""
        return transformation_func(self)

    def reduce(self, initial_state, reduce_func: Callable[[Any, Any], Any], name=None) -> Any:
        """Fold the elements with a function of the previous value and an element.

        Examples
        --------
        >>> start = tf.constant(0, tf.int64)
        >>> print(tf.data.Dataset.range(5).reduce(start, lambda a, b: a + b).numpy())
        10
        """
        state = E.mapped(E.tensor, initial_state)
        for element in self:
            state = E.mapped(E.tensor, reduce_func(state, element))
        return state

    # -- taking elements --------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        return Iteration(self._begin(), self._begin)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Return an iterator over the elements as arrays.

        Examples
        --------
        >>> [int(x) for x in tf.data.Dataset.range(3).as_numpy_iterator()]
        [0, 1, 2]
        """
        return map(functools.partial(E.mapped, lambda x: x.numpy()), self)

    def __len__(self) -> int:
        if self._count is None:
            raise TypeError("The dataset length is unknown.")
        if self._count < 0:
            raise TypeError("The dataset is infinite.")
        return self._count

    def __bool__(self) -> bool:
        return True

    def cardinality(self, name=None) -> Any:
        """Return the number of elements: -1 if infinite, -2 if unknown."""
        return V.constant_of(np.int64(UNKNOWN_CARDINALITY if self._count is None else self._count))

    def get_single_element(self, name=None) -> Any:
        """Return the only element.

        Raises
        ------
        InvalidArgumentError: If the dataset is empty, or has several elements.
        """
        found = list(itertools.islice(iter(self), 2))
        if len(found) != 1:
            raise V.invalid(
                "Dataset was empty." if not found else "Dataset had more than one element.",
                "DatasetToSingleElement",
            )
        return found[0]

    @property
    def element_spec(self) -> Any:
        """The shapes and dtypes that were given, or those of the first element, in which sizes
        that batches may change are None.
        """

        def spec(x) -> TensorSpec:
            sizes = [None if i < self._loose else n for i, n in enumerate(x.shape)]
            return TensorSpec(sizes, x.dtype)

        return E.mapped(spec, next(iter(self))) if self._spec is None else self._spec

    def __repr__(self) -> str:
        return f"<_Dataset element_spec={self.element_spec}>"


def _of_windows(elements: list[Any]) -> Any:
    """Return the elements as a dataset, or as one dataset for each component."""
    first = elements[0]
    if not isinstance(first, tuple | dict):
        return Dataset(lambda: iter(elements), len(elements))
    columns = zip(*[E.leaves(element) for element in elements], strict=True)
    return E.mapped(E.next_of(iter([_of_windows(list(column)) for column in columns])), first)


__all__ = public(globals(), "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY")
