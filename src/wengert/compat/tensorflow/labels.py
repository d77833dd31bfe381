"""Layer 9 · compat: tensors of strings: labels that are carried along, and computed with NumPy.

NOTE [tensors of strings]
A tensor of strings is a `Tensor` over an array of bytes. It has a shape, parts, and comparisons;
``tf.strings`` makes others of it. Every other operation refuses it where it comes in, by
`tensor_of`: nothing of this library computes with strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.compat.tensorflow.eager import Tensor
from wengert.tape.base import TensorBase, new_tensor

__all__ = ["StringTensor", "bytes_of", "each", "is_text", "labels_of"]


def is_text(value) -> bool:
    """Whether a value is a string, or holds strings alone."""
    if isinstance(value, str | bytes | StringTensor):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "US" or (value.dtype.kind == "O" and is_text(value.tolist()))
    return isinstance(value, list | tuple) and bool(value) and all(is_text(part) for part in value)


def _encoded(text) -> bytes:
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, bytes):
        return text
    raise TypeError(f"Cannot convert {text!r} to EagerTensor of dtype string")


def bytes_of(value) -> Any:
    """The strings of a value, as an array of bytes.

    Raises
    ------
    TypeError: If something in it is not a string.
    ValueError: If a list is not rectangular.
    """
    if isinstance(value, StringTensor):
        return value.payload
    if isinstance(value, TensorBase) or hasattr(value, "_as_tensor"):
        raise TypeError(f"a tensor of strings is needed, not one of {value.dtype!r}")
    if isinstance(value, list | tuple):
        parts = [bytes_of(part) for part in value]
        shapes = {part.shape for part in parts}
        if len(shapes) > 1:
            raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
        array = np.empty((len(parts), *(shapes.pop() if shapes else ())), object)
        for place, part in enumerate(parts):
            array[place] = part if part.ndim else part[()]
        return array
    given = np.asarray(value, object)
    array = np.empty(given.shape, object)
    for index in np.ndindex(given.shape):
        array[index] = _encoded(given[index])
    return array


def labels_of(value) -> Any:
    """A tensor of strings."""
    return _made(bytes_of(value))


def _made(array) -> Any:
    tensor = new_tensor(array)
    tensor.__class__ = StringTensor
    return tensor


def each(function: Callable[..., Any], *values, dtype=object) -> Any:
    """A function of strings, for each element; a tensor of strings, or an array of `dtype`."""
    arrays = np.broadcast_arrays(*[bytes_of(value) for value in values])
    found = np.empty(arrays[0].shape, dtype)
    for place in np.ndindex(found.shape):
        found[place] = function(*[array[place] for array in arrays])
    return _made(found) if dtype is object else found


class StringTensor(Tensor):
    """A tensor of strings, which are bytes."""

    __slots__ = ()

    def __getitem__(self, index) -> Any:
        part = self.payload[index]
        return labels_of(part)

    def __iter__(self) -> Iterator[Any]:
        if not self.payload.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (labels_of(part) for part in self.payload)

    def _compared(self, other, equal: bool) -> Any:
        same = each(lambda a, b: a == b, self, other, dtype=np.bool_)
        tensor = new_tensor(same if equal else ~same)
        tensor.__class__ = Tensor
        return tensor

    def __eq__(self, other) -> Any:
        return self._compared(other, True) if is_text(other) else NotImplemented

    def __ne__(self, other) -> Any:
        return self._compared(other, False) if is_text(other) else NotImplemented

    __hash__ = Tensor.__hash__

    def __add__(self, other) -> Any:
        return each(lambda a, b: a + b, self, other)

    def __radd__(self, other) -> Any:
        return each(lambda a, b: a + b, other, self)

    def __deepcopy__(self, memo) -> Any:
        return labels_of(self.payload)

    def __reduce_ex__(self, protocol) -> Any:
        return labels_of, (self.payload.tolist(),)


StringTensor.__name__ = StringTensor.__qualname__ = "EagerTensor"


def _refused(name: str) -> Any:
    def operator(self, *args) -> Any:
        raise TypeError(f"tensors of strings have no {name}: use tf.strings")

    return operator


for _name in ("sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lt", "le", "gt", "ge"):
    setattr(StringTensor, f"__{_name}__", _refused(f"__{_name}__"))
