"""Layer 9 · compat: the class `Tensor`, TensorFlow's eager tensor, over this library's.

`wengert.compat.tensorflow.tensor` converts arguments and results of operations;
`wengert.compat.tensorflow.infix` defines the operators.

NOTE [tensors of strings]
A tensor of strings is a `Tensor` over an array of bytes. It supports shapes, indexing, comparisons,
``tf.strings``, and functions that move elements, like `tf.gather`, to which numbers stand for the
strings. `tensor_of` refuses it as an argument of any other operation, because the engine does not
compute with strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.dtypes import DType, of_numpy
from wengert.compat.tensorflow.shapes import TensorShape
from wengert.compat.tensorflow.words import refusal
from wengert.interp.levels import Lifted
from wengert.tape.base import TensorBase, new_tensor
from wengert.tensor.overrides import disabled_torch_function
from wengert.tensor.tensor import Tensor as NativeTensor

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


class _Missing:
    """Hides a protocol that TensorFlow's tensors do not have."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance, owner: type) -> Any:
        raise AttributeError(f"'EagerTensor' object has no attribute {self.name!r}")


class _Method(_Missing):
    """Hides a method that TensorFlow's tensors do not have."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance, owner: type) -> Any:
        raise refusal(AttributeError, "EagerTensor object has", self.name)


class Reference:
    """A hashable reference to a tensor or a variable, equal only for the same object."""

    __slots__ = ("__weakref__", "_wrapped")

    def __init__(self, wrapped) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """Return the referenced object."""
        return self._wrapped

    def __eq__(self, other) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"


def written(value) -> str:
    """Return a NumPy array as text, from the next line if it has several."""
    text = repr(value.item()) if isinstance(value, np.generic) else repr(value)
    return "\n" + text if "\n" in text else text


class Tensor(NativeTensor):
    """An eager tensor as in TensorFlow: an immutable value.

    Tensors are made by `constant`, `convert_to_tensor`, `zeros`, ... and by operations.

    Examples
    --------
    >>> tf.constant([1.0, 2.0]) * 3
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([3., 6.], dtype=float32)>
    """

    __slots__ = ()
    __torch_function__ = disabled_torch_function  # type: ignore[assignment]
    __array_ufunc__: Any = _Missing()
    __array_function__: Any = _Missing()
    __array_priority__ = 100

    def __new__(cls, *data, **kwargs) -> Any:
        """Raise an error: functions create tensors."""
        raise TypeError("tensors are made by tf.constant, tf.convert_to_tensor, tf.zeros, ...")

    # -- what it is -------------------------------------------------------------------------------

    @property
    def shape(self) -> TensorShape:  # type: ignore[override]
        return TensorShape(tuple(self._payload.shape))

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return self.shape

    def set_shape(self, shape) -> None:
        """Check that the shape is compatible with `shape`."""
        if not self.shape.is_compatible_with(shape):
            raise refusal(ValueError, "Tensor's shape {}", self.shape, shape)

    @property
    def dtype(self) -> DType:  # type: ignore[override]
        return of_numpy(np.dtype(self._payload.dtype))

    @property
    def ndim(self) -> int:
        return len(self._payload.shape)

    @property
    def device(self) -> str:  # type: ignore[override]
        return DEVICE

    backing_device = device

    @property
    def name(self) -> NoReturn:
        """Raise an error, as in eager TensorFlow: only graphs have names."""
        raise AttributeError("Tensor.name is undefined when eager execution is enabled.")

    @property
    def op(self) -> Any:
        """Raise an error, as in eager TensorFlow: only graphs have named operations."""
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self) -> Any:
        """Raise an error, as in eager TensorFlow: there is no graph."""
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    @property  # type: ignore[misc]  # read-only
    def grad(self) -> Any:
        """Raise an error: tensors have no gradients of their own; tapes compute them."""
        raise refusal(AttributeError, "'EagerTensor' object has")

    def ref(self) -> Reference:
        """Return a hashable reference to this tensor, for sets and dicts."""
        return Reference(self)

    # -- values -----------------------------------------------------------------------------------

    def numpy(self, *, force=False) -> Any:
        """Return the values as a NumPy array, or a NumPy scalar for a 0-d tensor.

        Operations on them are not recorded.
        """
        payload = self._payload
        if isinstance(payload, Lifted):
            batched = payload.traced or payload.owner.size
            payload = np.asarray(payload) if batched else payload.constant()
        if not payload.ndim:
            return payload[()] if isinstance(payload, np.ndarray) else payload
        return payload.copy()

    def __array__(self, dtype=None, copy: bool | None = None) -> Any:
        array = np.asarray(self.numpy())
        return array if dtype is None else array.astype(dtype, copy=False)

    def _scalar(self) -> Any:
        payload = self._payload  # NumPy words the refusal of several elements
        return payload.item() if payload.size == 1 else np.asarray(payload)

    def __float__(self) -> float:
        return float(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        if self._payload.dtype.kind not in "iu" or self._payload.ndim:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self._payload.item())

    def __bool__(self) -> bool:
        if self._payload.size != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() "
                "or a.all()"
                if self._payload.size
                else "The truth value of an empty array is ambiguous. Use `tf.size(x) > 0`."
            )
        return bool(self._payload)

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec) if spec or not self._payload.ndim else str(self)

    def __round__(self, ndigits: int | None = None) -> Any:
        raise AttributeError("EagerTensor object has no attribute 'round': use tf.round(x)")

    def __repr__(self) -> str:
        text = written(self.numpy())
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={text}>"

    def __str__(self) -> str:
        text = str(self.numpy())
        text = "\n" + text if "\n" in text else text
        return f"tf.Tensor({text}, shape={self.shape}, dtype={self.dtype.name})"

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    # -- as a sequence ----------------------------------------------------------------------------

    def __len__(self) -> int:
        if not self._payload.shape:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self._payload.shape[0])

    def __contains__(self, value) -> bool:
        raise TypeError("Tensor is not a container: use tf.reduce_any(tensor == value)")

    def __reversed__(self) -> Any:
        raise TypeError("'EagerTensor' object is not reversible: use tf.reverse(tensor, axis=[0])")

    def __setitem__(self, index, value) -> None:
        raise refusal(TypeError, "'tensorflow.python.framework.ops.EagerTensor' object does")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo) -> Any:
        return _made(self._payload.copy())

    def __reduce_ex__(self, protocol) -> Any:
        return _made, (np.asarray(self.numpy()),)


_OWN = {*vars(Tensor), "cls"}
for _name in dir(NativeTensor):
    # methods of PyTorch's tensors, which must be hidden from programs and from NumPy
    if not _name.startswith("_") and _name not in _OWN:
        setattr(Tensor, _name, _Method(_name))


# the class's name in TensorFlow, which programs print
Tensor.__name__ = Tensor.__qualname__ = "EagerTensor"


def _made(array, kind: type = Tensor) -> Any:
    tensor = new_tensor(array)
    tensor.__class__ = kind
    return tensor


# -- strings --------------------------------------------------------------------------------------


def is_text(value) -> bool:
    """Return whether a value is a string, or contains only strings."""
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
    """Return the strings of a value as an array of bytes.

    Raises
    ------
    TypeError: If an element is not a string.
    ValueError: If a list is not rectangular.
    """
    if isinstance(value, StringTensor):
        return value._payload
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
    """Build a tensor of strings."""
    return _made(bytes_of(value), StringTensor)


def each(function: Callable[..., Any], *values, dtype=object) -> Any:
    """Apply a function of strings to each element; return strings, or an array of `dtype`."""
    arrays = np.broadcast_arrays(*[bytes_of(value) for value in values])
    found = np.empty(arrays[0].shape, dtype)
    for place in np.ndindex(found.shape):
        found[place] = function(*[array[place] for array in arrays])
    return _made(found, StringTensor) if dtype is object else found


class StringTensor(Tensor):
    """A tensor of strings, which are bytes."""

    __slots__ = ()

    def __getitem__(self, index) -> Any:
        part = self._payload[index]
        return labels_of(part)

    def __iter__(self) -> Iterator[Any]:
        if not self._payload.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (labels_of(part) for part in self._payload)

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
        return labels_of(self._payload)

    def __reduce_ex__(self, protocol) -> Any:
        return labels_of, (self._payload.tolist(),)


StringTensor.__name__ = StringTensor.__qualname__ = "EagerTensor"


def _refused(name: str) -> Any:
    def operator(self, *args) -> Any:
        raise TypeError(f"tensors of strings have no {name}: use tf.strings")

    return operator


for _name in ("sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lt", "le", "gt", "ge"):
    setattr(StringTensor, f"__{_name}__", _refused(f"__{_name}__"))


__all__ = defined(globals(), "DEVICE")
