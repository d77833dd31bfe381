"""Layer 9 · compat: ``tf.lookup``: tables from keys to values.

>>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
>>> table = tf.lookup.StaticHashTable(init, default_value=-1)
>>> print(table.lookup(tf.constant(["b", "c"])).numpy())
[ 2 -1]
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from wengert.compat.tensorflow.dtypes import as_dtype
from wengert.compat.tensorflow.eager import bytes_of, is_text
from wengert.compat.tensorflow.elements import of_array
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of
from wengert.compat.tensorflow.words import public


def _array(value, dtype=None) -> Any:
    """Return numbers or strings as an array."""
    if is_text(value) or (dtype is not None and as_dtype(dtype).name == "string"):
        return bytes_of(value)
    array = np.asarray(numbers_of(value))
    return array if dtype is None else array.astype(as_dtype(dtype).as_numpy_dtype)


class KeyValueTensorInitializer:
    """The keys and values of a table."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None) -> None:
        self.keys, self.values = _array(keys, key_dtype), _array(values, value_dtype)


class TextFileIndex:
    """What `TextFileInitializer` takes from each line."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer:
    """The keys and values of a table: lines of a file, their numbers, or columns of them."""

    def __init__(
        self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None,
        delimiter="\t", name=None, value_index_offset=0,
    ) -> None:  # fmt: skip
        lines = Path(filename).read_bytes().splitlines()[:vocab_size]

        def column(index: int, dtype) -> Any:
            if index == TextFileIndex.LINE_NUMBER:
                found: Any = np.arange(len(lines)) + value_index_offset
            elif index == TextFileIndex.WHOLE_LINE:
                found = np.asarray(lines, object)
            else:
                parts = [line.split(delimiter.encode())[index] for line in lines]
                found = np.asarray(parts, object)
            kind = as_dtype(dtype)
            return found if kind.name == "string" else found.astype(kind.as_numpy_dtype)

        self.keys, self.values = column(key_index, key_dtype), column(value_index, value_dtype)


class _Table:
    """Base class of tables: a dictionary, and the dtypes of keys and values."""

    def __init__(self, key_dtype, value_dtype, default) -> None:
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self._default = _array(default, self.value_dtype)[()]
        self._held: dict[Any, Any] = {}

    def _fill(self, keys, values) -> None:
        found, rows = _array(keys, self.key_dtype), _array(values, self.value_dtype)
        parts = rows.reshape(found.size, *rows.shape[found.ndim :])
        self._held.update(zip(found.ravel().tolist(), parts, strict=True))

    def lookup(self, keys, name=None) -> Any:
        """Return the values of keys, or the default.

        Raises
        ------
        TypeError: If the keys have another dtype.
        """
        kind = getattr(keys, "dtype", None) or ("string" if is_text(keys) else self.key_dtype)
        if as_dtype(kind) != self.key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self.key_dtype.name}, received: "
                f"{as_dtype(kind).name}"
            )
        array = _array(keys, self.key_dtype)
        found = [self._held.get(key, self._default) for key in array.ravel().tolist()]
        kind = object if self.value_dtype.name == "string" else self.value_dtype.as_numpy_dtype
        rows = np.asarray(found, kind).reshape((*array.shape, *np.shape(self._default)))
        return of_array(rows)

    __getitem__ = lookup

    def size(self, name=None) -> Any:
        """Return how many keys there are."""
        return constant_of(np.int64(len(self._held)))

    def export(self, name=None) -> tuple[Any, Any]:
        """Return all keys and values."""
        keys = np.asarray([*self._held], object if self.key_dtype.name == "string" else None)
        return of_array(keys), self.lookup(of_array(keys))


class StaticHashTable(_Table):
    """A table that does not change.

    Parameters
    ----------
    initializer : KeyValueTensorInitializer or TextFileInitializer. The keys and values.
    default_value : The value of other keys.
    """

    def __init__(self, initializer, default_value, name=None, **kwargs) -> None:
        kinds = [
            "string" if one.dtype == object else one.dtype
            for one in (initializer.keys, initializer.values)
        ]
        super().__init__(kinds[0], kinds[1], default_value)
        self._fill(initializer.keys, initializer.values)


class StaticVocabularyTable(StaticHashTable):
    """A table from tokens to numbers; all other tokens share the number after the last.

    Raises
    ------
    ValueError: If `num_oov_buckets` is not 1.
    """

    def __init__(self, initializer, num_oov_buckets, *args, name=None, **kwargs) -> None:
        if num_oov_buckets != 1:
            raise ValueError(
                f"num_oov_buckets is 1 here: unknown tokens share one number: {num_oov_buckets}"
            )
        super().__init__(initializer, len(initializer.keys))

    def size(self, name=None) -> Any:
        """Return the number of keys and buckets."""
        return constant_of(np.int64(len(self._held) + 1))


class _Mutable(_Table):
    """A table that keys are added to and removed from."""

    def __init__(self, key_dtype, value_dtype, default_value, name=None, **kwargs) -> None:
        super().__init__(key_dtype, value_dtype, default_value)

    def insert(self, keys, values, name=None) -> None:
        """Set the values of keys."""
        self._fill(keys, values)

    def remove(self, keys, name=None) -> None:
        """Remove keys, if they are there."""
        for key in _array(keys, self.key_dtype).ravel().tolist():
            self._held.pop(key, None)


experimental = SimpleNamespace(MutableHashTable=_Mutable)
"""``tf.lookup.experimental``."""

__all__ = public(globals(), "experimental")
