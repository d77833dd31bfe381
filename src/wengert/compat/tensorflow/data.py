"""Layer 9 · compat: ``tf.data``: streams of examples, in Python.

NOTE [datasets]
A `Dataset` is a function that begins an iteration, and can be begun any number of times. Elements
are tensors, or tuples, lists and dicts of them. Nothing is computed ahead, in other threads or in
graphs: functions that are mapped run as Python.

>>> dataset = tf.data.Dataset.range(5).map(lambda x: x * x).batch(2)
>>> [batch.numpy().tolist() for batch in dataset]
[[0, 1], [4, 9], [16]]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.conversion import TensorSpec
from wengert.compat.tensorflow.eager import bytes_of, is_text, labels_of
from wengert.compat.tensorflow.errors import OutOfRangeError
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.drawing import stream_of
from wengert.compat.tensorflow.functions.joining import stack
from wengert.compat.tensorflow.refusal import refusal

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "TextLineDataset"]


def mapped(function: Callable[[Any], Any], value) -> Any:
    """A structure with `function` applied to each of its leaves."""
    if isinstance(value, dict):
        return {key: mapped(function, part) for key, part in value.items()}
    if isinstance(value, tuple):
        parts = [mapped(function, part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return function(value)


def leaves(value) -> Iterator[Any]:
    """The leaves of a structure, in order."""
    if isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def joined(function: Callable[[list[Any]], Any], values: list[Any]) -> Any:
    """Structures of one form as one, with `function` applied to the leaves of each place."""
    first = values[0]
    if isinstance(first, dict):
        return {key: joined(function, [value[key] for value in values]) for key in first}
    if isinstance(first, tuple):
        parts = [joined(function, list(column)) for column in zip(*values, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return function(values)


AUTOTUNE = -1
"""A number of parallel calls, of which there is one."""
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def _tensor(value) -> Any:
    if is_text(value):
        return labels_of(value)
    return value if hasattr(value, "_payload") else V.made(V.tensor_of(value))


def _part(place: int) -> Callable[[Any], Any]:
    return lambda array: _of_array(array[place])


def _of_array(part) -> Any:
    return labels_of(part) if is_text(part) else V.constant_of(part)


def _stacked(parts: list[Any]) -> Any:
    return labels_of(parts) if is_text(parts) else stack(parts)


def _array_of(tensor) -> Any:
    return tensor._payload if is_text(tensor) else V.numbers_of(tensor)


def _next_of(values: Iterator[Any]) -> Callable[[Any], Any]:
    return lambda _: next(values)


def _number(value, what: str) -> int:
    return V.integers(value, what)[0]


class Dataset:
    """A stream of elements, which can be begun again.

    Made by `from_tensor_slices`, `from_tensors`, `from_generator`, `range` or `zip`.

    Examples
    --------
    >>> dataset = tf.data.Dataset.from_tensor_slices(([1, 2, 3], [4, 5, 6]))
    >>> for x, y in dataset.take(1):
    ...     print(x.numpy(), y.numpy())
    1 4
    """

    def __init__(self, begin: Callable[[], Iterator[Any]], count: int | None = None) -> None:
        self._begin = begin
        self._count = count
        """The number of elements; None if it is not known, -1 if there is no end."""

    # -- sources ----------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors, name=None) -> Dataset:
        """The parts of tensors along their first dimension, side by side.

        Raises
        ------
        ValueError: If a tensor has no dimensions, or their sizes differ.

        Examples
        --------
        >>> [x.numpy().tolist() for x in tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])]
        [[1, 2], [3, 4]]
        """
        arrays = mapped(_tensor, tensors)
        sizes = []
        for leaf in leaves(arrays):
            if not leaf._payload.ndim:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
            sizes.append(leaf._payload.shape[0])
        if len(set(sizes)) > 1:
            raise ValueError(f"Dimensions {sizes[0]} and {sizes[1]} are not compatible")

        def begin() -> Iterator[Any]:
            held = mapped(_array_of, arrays)
            for place in range(sizes[0]):
                yield mapped(_part(place), held)

        return Dataset(begin, sizes[0])

    @staticmethod
    def from_tensors(tensors, name=None) -> Dataset:
        """One element.

        Examples
        --------
        >>> len(tf.data.Dataset.from_tensors([1, 2, 3]))
        1
        """
        element = mapped(_tensor, tensors)
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
        """What a generator function yields.

        Examples
        --------
        >>> dataset = tf.data.Dataset.from_generator(lambda: iter([1, 2]), output_types=tf.int64)
        >>> [x.dtype for x in dataset]
        [tf.int64, tf.int64]
        """
        types = output_types
        if output_signature is not None:
            types = mapped(lambda spec: spec.dtype, output_signature)

        def begin() -> Iterator[Any]:
            for value in generator(*(args or ())):
                if types is None:
                    yield mapped(_tensor, value)
                else:
                    yield joined(lambda pair: V.made(V.tensor_of(pair[0], pair[1])), [value, types])

        return Dataset(begin)

    @staticmethod
    def range(*args, output_type=None, name=None) -> Dataset:
        """The whole numbers that Python's ``range`` gives, as int64.

        Examples
        --------
        >>> [int(x) for x in tf.data.Dataset.range(1, 6, 2)]
        [1, 3, 5]
        """
        numbers = range(*(_number(arg, "range") for arg in args))
        kind = np.dtype(np.int64 if output_type is None else output_type.as_numpy_dtype)
        return Dataset(lambda: (V.constant_of(kind.type(n)) for n in numbers), len(numbers))

    @staticmethod
    def zip(*args, datasets=None, name=None) -> Dataset:
        """The elements of several datasets side by side, as long as all have some.

        Examples
        --------
        >>> a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(5, 9)
        >>> [(int(x), int(y)) for x, y in tf.data.Dataset.zip((a, b))]
        [(0, 5), (1, 6), (2, 7)]
        """
        parts = datasets if datasets is not None else args[0] if len(args) == 1 else args
        inner = list(leaves(parts))

        def begin() -> Iterator[Any]:
            for values in zip(*inner, strict=False):
                yield mapped(_next_of(iter(values)), parts)

        counts = [dataset._count for dataset in inner]
        if None in counts:
            return Dataset(begin)
        finite = [count for count in counts if count is not None and count >= 0]
        return Dataset(begin, min(finite) if finite else -1)

    # -- one from another -------------------------------------------------------------------------

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls=None,
        deterministic=None,
        name=None,
        **kwargs,
    ) -> Dataset:
        """A function of each element; the parts of a tuple are its arguments."""

        def begin() -> Iterator[Any]:
            for element in self:
                result = map_func(*element) if isinstance(element, tuple) else map_func(element)
                yield mapped(_tensor, tuple(result) if isinstance(result, list) else result)

        return Dataset(begin, self._count)

    def filter(self, predicate: Callable[..., Any], name=None) -> Dataset:
        """The elements for which a function is true."""

        def begin() -> Iterator[Any]:
            for element in self:
                if predicate(*element) if isinstance(element, tuple) else predicate(element):
                    yield element

        return Dataset(begin)

    def flat_map(self, map_func: Callable[..., Any], name=None) -> Dataset:
        """The elements of the datasets that a function makes of each element."""

        def begin() -> Iterator[Any]:
            for element in self:
                yield from map_func(*element) if isinstance(element, tuple) else map_func(element)

        return Dataset(begin)

    def batch(
        self,
        batch_size,
        drop_remainder: bool = False,
        num_parallel_calls=None,
        deterministic=None,
        name=None,
    ) -> Dataset:
        """Several elements as one, along a new first dimension.

        Raises
        ------
        InvalidArgumentError: If their shapes differ, or the size is not positive.
        """
        size = _number(batch_size, "batch_size")
        if size <= 0:
            raise V.invalid("BatchDatasetV2", "Batch size must be greater than zero.")

        def begin() -> Iterator[Any]:
            elements = iter(self)
            while chosen := list(itertools.islice(elements, size)):
                if len(chosen) == size or not drop_remainder:
                    yield joined(_stacked, chosen)

        count = self._count
        if count is not None and count >= 0:
            count = count // size if drop_remainder else -(-count // size)
        return Dataset(begin, count)

    def unbatch(self, name=None) -> Dataset:
        """The parts of each element along its first dimension."""

        def begin() -> Iterator[Any]:
            for element in self:
                yield from Dataset.from_tensor_slices(element)

        return Dataset(begin)

    def shuffle(
        self, buffer_size, seed=None, reshuffle_each_iteration: bool = True, name=None
    ) -> Dataset:
        """The elements in another order: each time one of the next `buffer_size`.

        Raises
        ------
        InvalidArgumentError: If `buffer_size` is not positive.
        """
        size = _number(buffer_size, "buffer_size")
        if size <= 0:
            raise V.invalid("ShuffleDatasetV3", "buffer_size must be greater than zero.")
        start = int(stream_of(seed).integers(1 << 62))
        turns = itertools.count()

        def begin() -> Iterator[Any]:
            turn = next(turns) if reshuffle_each_iteration in (True, None) else 0
            rng = np.random.default_rng([start, turn])
            elements = iter(self)
            buffer = list(itertools.islice(elements, size))
            for element in elements:
                place = int(rng.integers(len(buffer)))
                yield buffer[place]
                buffer[place] = element
            for place in rng.permutation(len(buffer)):
                yield buffer[place]

        return Dataset(begin, self._count)

    def repeat(self, count=None, name=None) -> Dataset:
        """The elements again and again, `count` times, or without end."""
        times = -1 if count is None else _number(count, "count")

        def begin() -> Iterator[Any]:
            for _ in itertools.count() if times < 0 else range(times):
                empty = True
                for element in self:
                    empty = False
                    yield element
                if empty:
                    return

        if times < 0:
            return Dataset(begin, -1)
        many = self._count
        return Dataset(begin, many * times if many is not None and many >= 0 else many)

    def take(self, count, name=None) -> Dataset:
        """The first `count` elements; all of them for -1."""
        number = _number(count, "count")
        if number < 0:
            return self
        many = self._count
        known = number if many == -1 else None if many is None else min(number, many)
        return Dataset(lambda: itertools.islice(iter(self), number), known)

    def skip(self, count, name=None) -> Dataset:
        """The elements without the first `count`."""
        number = _number(count, "count")
        many = self._count
        known = many if many is None or many < 0 else max(many - number, 0)
        return Dataset(lambda: itertools.islice(iter(self), number, None), known)

    def shard(self, num_shards, index, name=None) -> Dataset:
        """Each `num_shards`-th element, beginning with the one at `index`."""
        step, place = _number(num_shards, "num_shards"), _number(index, "index")
        return Dataset(lambda: itertools.islice(iter(self), place, None, step))

    def enumerate(self, start=0, name=None) -> Dataset:
        """The elements with their numbers, as int64.

        Examples
        --------
        >>> [(int(i), int(x)) for i, x in tf.data.Dataset.range(5, 7).enumerate()]
        [(0, 5), (1, 6)]
        """
        first = _number(start, "start")

        def begin() -> Iterator[Any]:
            for number, element in enumerate(self, first):
                yield V.constant_of(np.int64(number)), element

        return Dataset(begin, self._count)

    def concatenate(self, dataset: Dataset, name=None) -> Dataset:
        """The elements, and then those of another dataset."""
        counts = (self._count, dataset._count)
        known = None if None in counts else -1 if -1 in counts else sum(counts)  # type: ignore[arg-type]
        return Dataset(lambda: itertools.chain(iter(self), iter(dataset)), known)

    def cache(self, filename: str = "", name=None) -> Dataset:
        """The same elements, kept in memory once they have all been made."""
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

        return Dataset(begin, self._count)

    def prefetch(self, buffer_size=AUTOTUNE, name=None) -> Dataset:
        """The same elements: nothing is made ahead here."""
        return Dataset(self._begin, self._count)

    def with_options(self, options, name=None) -> Dataset:
        """The same elements: options have no effect here."""
        return Dataset(self._begin, self._count)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What a function makes of this dataset."""
        return transformation_func(self)

    def reduce(self, initial_state, reduce_func: Callable[[Any, Any], Any], name=None) -> Any:
        """The last of the values that a function makes of the one before and of an element.

        Examples
        --------
        >>> start = tf.constant(0, tf.int64)
        >>> print(tf.data.Dataset.range(5).reduce(start, lambda a, b: a + b).numpy())
        10
        """
        state = mapped(_tensor, initial_state)
        for element in self:
            state = mapped(_tensor, reduce_func(state, element))
        return state

    # -- taking elements --------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        return _Iteration(self._begin(), self._begin)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements as arrays.

        Examples
        --------
        >>> [int(x) for x in tf.data.Dataset.range(3).as_numpy_iterator()]
        [0, 1, 2]
        """
        for element in self:
            yield mapped(lambda x: x.numpy(), element)

    def __len__(self) -> int:
        if self._count is None:
            raise TypeError("The dataset length is unknown.")
        if self._count < 0:
            raise TypeError("The dataset is infinite.")
        return self._count

    def __bool__(self) -> bool:
        return True

    def cardinality(self, name=None) -> Any:
        """The number of elements, -1 if there is no end, -2 if it is not known."""
        return V.constant_of(np.int64(UNKNOWN_CARDINALITY if self._count is None else self._count))

    def get_single_element(self, name=None) -> Any:
        """The only element.

        Raises
        ------
        InvalidArgumentError: If there is none, or there are several.
        """
        found = list(itertools.islice(iter(self), 2))
        if len(found) != 1:
            raise V.invalid(
                "DatasetToSingleElement",
                "Dataset was empty." if not found else "Dataset had more than one element.",
            )
        return found[0]

    @property
    def element_spec(self) -> Any:
        """The shapes and dtypes of the first element."""
        return mapped(lambda x: TensorSpec(x.shape, x.dtype), next(iter(self)))

    def __repr__(self) -> str:
        return f"<_Dataset element_spec={self.element_spec}>"


class TextLineDataset(Dataset):
    """The lines of text files, as strings.

    Parameters
    ----------
    filenames : str, path, or list of them. The files, one after the other.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.txt")
    >>> _ = path.write_text("one\\ntwo\\n")
    >>> [line.numpy() for line in tf.data.TextLineDataset(path)]
    [b'one', b'two']
    """

    def __init__(self, filenames, *args, name=None) -> None:
        given = filenames if isinstance(filenames, list | tuple) else [filenames]
        paths = [one if hasattr(one, "__fspath__") else bytes_of(one).ravel() for one in given]

        def begin() -> Iterator[Any]:
            for one in paths:
                for path in [one] if hasattr(one, "__fspath__") else one:
                    with open(path, "rb") as file:
                        for line in file:
                            yield labels_of(line.rstrip(b"\n").rstrip(b"\r"))

        super().__init__(begin)


class _Iteration:
    """An iteration that has begun."""

    def __init__(self, elements: Iterator[Any], begin: Callable[[], Iterator[Any]]) -> None:
        self._elements = elements
        self._begin = begin
        self._taken = 0

    def __iter__(self) -> _Iteration:
        return self

    def __next__(self) -> Any:
        found = next(self._elements)
        self._taken += 1
        return found

    def _skip_to(self, place: int) -> None:
        """Go on at a place that a checkpoint noted."""
        self._elements = itertools.islice(self._begin(), place, None)
        self._taken = place

    def get_next(self) -> Any:
        """The next element; an OutOfRangeError if there is none."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext]") from None


def __getattr__(name: str) -> Any:
    if name == "experimental":
        raise AttributeError(
            "module 'tensorflow.data' has no attribute 'experimental': write tf.data.AUTOTUNE for "
            "tf.data.experimental.AUTOTUNE"
        )
    raise refusal("data", name)


fill_sections(globals())
