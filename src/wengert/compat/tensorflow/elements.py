"""Layer 9 · compat: elements of datasets: tensors in tuples and dictionaries."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.compat.tensorflow.eager import is_text, labels_of
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.drawing import own_stream
from wengert.compat.tensorflow.functions.joining import stack
from wengert.compat.tensorflow.functions.philox import Philox
from wengert.compat.tensorflow.words import refusal
from wengert.utils._pytree import tree_leaves, tree_map


def _whole(value) -> bool:
    return isinstance(value, list)  # a list is one tensor


def mapped(function: Callable[[Any], Any], value) -> Any:
    """Return a structure with `function` applied to each of its leaves."""
    return tree_map(function, value, is_leaf=_whole)


def leaves(value) -> list[Any]:
    """Return the leaves of a structure, in order."""
    return tree_leaves(value, _whole)


def joined(function: Callable[[list[Any]], Any], values: list[Any]) -> Any:
    """Combine structures of one form, with `function` applied to corresponding leaves."""
    return tree_map(lambda *parts: function([*parts]), *values, is_leaf=_whole)


def tensor(value) -> Any:
    """Convert a component of an element to a tensor."""
    if is_text(value):
        return labels_of(value)
    return value if hasattr(value, "_payload") else V.made(V.tensor_of(value))


def part_at(place: int) -> Callable[[Any], Any]:
    """Return a function that picks one part of an array."""
    return lambda array: of_array(array[place])


def of_array(part) -> Any:
    """Convert an array to a tensor."""
    return labels_of(part) if is_text(part) else V.constant_of(part)


def stacked(parts: list[Any]) -> Any:
    """Stack tensors along a new first dimension."""
    return labels_of(parts) if is_text(parts) else stack(parts)


def array_of(tensor) -> Any:
    """Return the numbers or strings of a tensor as an array."""
    return tensor._payload if is_text(tensor) else V.numbers_of(tensor)


def next_of(values: Iterator[Any]) -> Callable[[Any], Any]:
    """Return a function that ignores its argument and returns the next of the given values."""
    return lambda _: next(values)


def called(function: Callable[..., Any], element) -> Any:
    """Call a function on an element; a tuple, except a named tuple, is unpacked into arguments."""
    return function(*element) if type(element) is tuple else function(element)


def positive(value, op: str, what: str) -> int:
    """Return a size; raise if it is not positive."""
    size = V.integer(value, what)
    if size <= 0:
        raise V.invalid(f"{what} must be greater than zero.", op)
    return size


def padded(sizes, value, parts: list[Any]) -> Any:
    """Stack tensors of different shapes, padded to the given sizes, or to the largest."""
    shapes = [part._payload.shape for part in parts]
    wide = [max(column) for column in zip(*shapes, strict=True)]
    if sizes is not None:
        known = list(getattr(sizes, "as_list", lambda: sizes)())
        wide = [n if size in (None, -1) else size for size, n in zip(known, wide, strict=True)]
    if any(n > size for shape in shapes for n, size in zip(shape, wide, strict=True)):
        raise V.invalid("an element is larger than its padded shape", "PaddedBatchDatasetV2")
    first = np.asarray(parts[0]._payload)
    start = (b"" if is_text(parts[0]) else 0) if value is None else np.asarray(value)[()]
    whole = np.full((len(parts), *wide), start, first.dtype)
    for place, part in enumerate(parts):
        inner: Any = tuple(slice(n) for n in part._payload.shape)
        whole[(place, *inner)] = part._payload
    return of_array(whole)


def for_leaves(given, many: int) -> list[Any]:
    """Return one setting per tensor of an element, from a structure of settings or one for all."""
    if isinstance(given, tuple | dict):
        return leaves(given)
    return [given] * many


def fitting(pair: list[Any]) -> None:
    """Raise an error if a tensor does not have the shape that a signature gives."""
    tensor, spec = pair
    if not spec.shape.is_compatible_with(tensor.shape):
        raise V.invalid(
            f"TypeError: `generator` yielded an element of shape {tuple(tensor.shape)} where an "
            f"element of shape {spec.shape} was expected."
        )


def frozen(value) -> Any:
    """Return a tensor as an array that files can hold; strings become fixed-width ones."""
    if not is_text(value):
        return V.numbers_of(value)
    array = value._payload
    return np.asarray(array.tolist(), f"S{max(map(len, np.ravel(array)), default=1) + 1}")


def thawed(array) -> Any:
    """Return the tensor of an array of a file."""
    return labels_of(array.astype(object)) if array.dtype.kind == "S" else V.constant_of(array)


def lots(elements, size, whole_only=False) -> Iterator[list[Any]]:
    """Yield lists of `size` elements, or of several sizes in turn; the last may be shorter."""
    source, sizes = iter(elements), V.integers(size, "batch_size")
    turns, wholes = itertools.cycle(sizes), itertools.cycle(sizes)
    lots = iter(lambda: list(itertools.islice(source, next(turns))), [])
    return filter(lambda lot: len(lot) == next(wholes), lots) if whole_only else lots


def loose_in_batches(known, batch_size, drop_remainder=False, *_, **kwargs) -> int:
    """Return the number of leading sizes of batches that may differ."""
    return known + 1 if known or not drop_remainder else 0


def _finite(count, many: Callable[[], int]) -> Any:
    """Return a number that depends on `count`, unless that is unknown or infinite."""
    return count if count is None or count < 0 else many()


def in_batches(count, batch_size, drop_remainder=False, *_, **kwargs) -> Any:
    """Return the number of batches."""
    size = positive(batch_size, "BatchDatasetV2", "Batch size")
    return _finite(count, lambda: count // size if drop_remainder else -(-count // size))


def in_windows(count, size, shift=None, stride=1, drop_remainder=False, name=None) -> Any:
    """Return the number of windows."""
    step = size if shift is None else shift
    wide = (size - 1) * stride + 1
    return _finite(
        count,
        lambda: max(0, (count - wide) // step + 1) if drop_remainder else -(-count // step),
    )


def repeated(known, /, count=None, name=None) -> Any:
    """Return the number of elements, repeated."""
    times = -1 if count is None else V.integer(count, "count")
    return -1 if times < 0 else _finite(known, lambda: known * times)


def taken(known, /, count, name=None) -> Any:
    """Return the number of the first elements."""
    number = V.integer(count, "count")
    return known if number < 0 or known is None else number if known < 0 else min(number, known)


def skipped(known, /, count, name=None) -> Any:
    """Return the number of elements after the first."""
    number = V.integer(count, "count")
    return _finite(known, lambda: max(known - number, 0))


def in_shards(known, /, num_shards, index, name=None) -> Any:
    """Return the number of elements of a part."""
    step, place = V.integer(num_shards, "num_shards"), V.integer(index, "index")
    if not 0 <= place < step:
        raise refusal(V.invalid, "Index must be", step - 1, place, operation="ShardDataset")
    return _finite(known, lambda: -((place - known) // step))


def draws(seed, varied) -> Callable[[], Philox]:
    """Return a factory of streams, one per iteration, which differ if `varied`."""
    begun = own_stream(seed)
    seeds = begun.singles()

    def begin() -> Philox:
        if not varied:
            return Philox(begun.key, begun.counter)
        return Philox(next(seeds), next(seeds) << 64)

    return begin
