"""Layer 9 · compat: how Keras's models take their data: batches of arrays, or of datasets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions.streams import stream_of
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of


def size_of(x) -> Any:
    """The number of examples in a batch."""
    return np.float32(len(_first(x)))


def packed(x, y, weight) -> Any:
    """Inputs, targets and weights as what datasets give."""
    if weight is not None:
        return x, y, weight
    return (x,) if y is None else (x, y)


def unpacked(data) -> tuple[Any, Any, Any]:
    """Inputs, targets and weights of what a dataset gave."""
    if not isinstance(data, tuple):
        return data, None, None
    x, y, weight = (*data, None, None)[:3]
    return x, y, weight


def count_of(x, batch_size: int | None, steps: int | None) -> int | None:
    """The number of batches; None if it is not known."""
    if steps is not None:
        return steps
    if _is_data(x) or isinstance(x, list):
        return -(-len(_first(x)) // (batch_size or 32))
    try:
        return len(x)
    except TypeError:
        return None


def weighted(data: Iterator[Any], class_weight) -> Iterator[Any]:
    """Batches, whose examples count as their classes do."""
    for batch in data:
        x, y, weight = unpacked(batch)
        if not class_weight:
            yield batch
            continue
        if weight is not None:
            raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
        labels = np.asarray(numbers_of(y))
        if labels.ndim > 1:
            labels = labels[..., 0] if labels.shape[-1] == 1 else labels.argmax(-1)
        found = [class_weight.get(int(label), 1.0) for label in labels.ravel()]
        yield x, y, constant_of(np.asarray(found, np.float32).reshape(labels.shape))


def validation_parts(data) -> tuple[Any, Any, Any]:
    """Inputs, targets and weights of what ``validation_data=`` was given."""
    return unpacked(data) if isinstance(data, tuple) else (data, None, None)


def _mapped(function, value) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_mapped(function, part) for part in value)
    if isinstance(value, dict):
        return {key: _mapped(function, part) for key, part in value.items()}
    return None if value is None else function(value)


def _first(value) -> Any:
    while isinstance(value, list | tuple | dict):
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return value


def _is_data(value) -> bool:
    """Whether `value` holds examples side by side, in arrays or tensors."""
    return hasattr(_first(value), "shape") or not hasattr(value, "__iter__")


def _array(value) -> Any:
    array = np.asarray(numbers_of(value))
    return array.astype(np.float32) if array.dtype == np.float64 else array


def batches(
    x, y, weight, batch_size: int | None, shuffle: bool, steps: int | None
) -> Iterator[Any]:
    """Batches of examples, in another order if `shuffle` says so."""
    if not _is_data(x) and not isinstance(x, list):
        for number, data in enumerate(x):
            if steps is not None and number >= steps:
                return
            yield data
        return
    x, y, weight = (_mapped(_array, part) for part in (x, y, weight))
    count = len(_first(x))
    for part in (y, weight):
        if part is not None and len(_first(part)) != count:
            raise ValueError(
                "Data cardinality is ambiguous. Make sure all arrays contain the same number of "
                f"samples: {count} and {len(_first(part))}"
            )
    order = stream_of(None).permutation(count) if shuffle else np.arange(count)
    size = batch_size or 32
    for number, start in enumerate(range(0, count, size)):
        if steps is not None and number >= steps:
            return
        chosen = order[start : start + size]
        parts = [
            _mapped(lambda array, chosen=chosen: constant_of(array[chosen]), part)
            for part in (x, y, weight)
        ]
        yield packed(*parts)


def cut(x, y, weight, share: float) -> tuple[Any, Any, Any, Any]:
    """What comes before the last `share` of the examples, and that."""
    x, y, weight = (_mapped(_array, part) for part in (x, y, weight))
    place = int(np.floor(len(_first(x)) * (1 - share)))
    before = [_mapped(lambda array: array[:place], part) for part in (x, y, weight)]
    after = tuple(_mapped(lambda array: array[place:], part) for part in (x, y, weight))
    return before[0], before[1], before[2], after


__all__ = defined(globals())
