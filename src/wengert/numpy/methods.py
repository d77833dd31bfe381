"""Layer 9 · numpy: methods and attributes of arrays that differ from those of tensors.

Importing this module adds them to the class. PyTorch's other methods remain, and return arrays;
NumPy's methods that are missing here raise an AttributeError that says what to write instead.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from wengert.base.dtypes import as_dtype as checked
from wengert.numpy.arrays import copied, made, ndarray
from wengert.numpy.functions import function_of
from wengert.tape.base import TensorBase
from wengert.tape.detachments import note
from wengert.tape.record import T as recorded
from wengert.tensor.methods import TensorMethods
from wengert.tensor.numpy.counterparts import as_dtype, check_cast
from wengert.tensor.tensor import Tensor

_MADE: dict[str, Callable[..., Any]] = {}
_PARTS = {(np.dtype(np.complex64), np.dtype(np.float32)), (np.dtype(complex), np.dtype(float))}
"""Dtypes of complex numbers and of their parts."""
_BYTES = "the bytes of an array have no gradient: write x.detach().numpy().{}"
ABSENT = {
    **dict.fromkeys(("byteswap", "getfield", "setfield", "setflags"), _BYTES),
    **dict.fromkeys(("ctypes", "__array_interface__", "__array_struct__"), _BYTES),
    **dict.fromkeys(("newbyteorder", "tostring"), _BYTES),
    "itemset": "write x[i] = value",
    "ptp": "write np.ptp(x)",
    "resize": "write x = np.resize(x, shape)",
}
"""Methods of NumPy's arrays that are missing here, and their replacements."""


def _function(name: str) -> Callable[..., Any]:
    found = _MADE.get(name)
    if found is None:
        found = _MADE[name] = function_of(name)
    return found


def _sizes(given: tuple[Any, ...]) -> Any:
    return given[0] if len(given) == 1 else given


class ArrayMethods:
    """The methods to add to the class."""

    _payload: Any
    _ext: Any
    _edge: Any
    _array: Callable[[], Any]

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self._payload.size)

    @property
    def dtype(self) -> Any:
        """NumPy's dtype of the elements."""
        return self._payload.dtype

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides in bytes."""
        return tuple(self._array().strides)

    @property
    def flags(self) -> Any:
        """The memory layout of the elements (see `numpy.ndarray.flags`)."""
        return self._array().flags

    @property
    def base(self) -> Any:
        """The array that owns the memory of a view, or None."""
        return None if self._ext is None else self._ext.base

    @property
    def T(self) -> Any:
        """The array with its axes in reverse order."""
        return made(_reversed(self), (self,))

    @property
    def mT(self) -> Any:
        """The array with its last two axes swapped."""
        return made(_function("matrix_transpose")(self))

    @property
    def real(self) -> Any:
        """The real part; writable."""
        return made(_function("real")(self), (self,))

    @real.setter
    def real(self, value: Any) -> None:
        if self._payload.dtype.kind != "c":
            self[...] = value  # type: ignore[index]
            return
        made(recorded.view_as_real(self))[..., 0] = value

    @property
    def imag(self) -> Any:
        """The imaginary part; writable if the array is complex."""
        return made(_function("imag")(self))

    @imag.setter
    def imag(self, value: Any) -> None:
        if self._payload.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        made(recorded.view_as_real(self))[..., 1] = value

    @property
    def flat(self) -> Any:
        """The elements in one dimension, as a view if the memory allows it."""
        return self.reshape(-1)

    @flat.setter
    def flat(self, value: Any) -> None:
        value = _function("resize")(value, self._payload.size)
        self[...] = value.reshape(self._payload.shape)  # type: ignore[index]

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> Any:
        """Return the elements in another shape (see `numpy.reshape`)."""
        # NumPy's own function has `copy` since version 2.1
        more = {} if copy is None else {"copy": copy}
        return _function("reshape")(self, _sizes(shape), order=order, **more)

    def ravel(self, order: str = "C") -> Any:
        """Return the elements in one dimension, as a view if the memory allows it."""
        return _function("ravel")(self, order)

    def flatten(self, order: str = "C") -> Any:
        """Return a copy of the elements in one dimension."""
        return _function("copy")(_function("ravel")(self, order))

    def transpose(self, *axes: Any) -> Any:
        """Return the array with its axes permuted, by default reversed."""
        return _function("transpose")(self, _sizes(axes) if axes else None)

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """Return the slices along an axis that a condition selects (see `numpy.compress`)."""
        return _function("compress")(condition, self, axis=axis, out=out)

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        """Convert to another dtype: differentiable between floating and complex ones."""
        converted = as_dtype(self, dtype)
        check_cast("array data", self._payload.dtype, converted._payload.dtype, casting)
        if converted._edge is None and self._edge is not None:
            note(f".astype({converted._payload.dtype})", self)
        return made(_function("copy")(self) if copy and converted is self else converted)

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """Return a view of the same memory, or of its bytes as another dtype.

        The gradient flows between complex numbers and their parts, not through other bytes.
        """
        if dtype is None or (isinstance(dtype, _type) and issubclass(dtype, TensorBase)):
            return made(recorded.alias(self))
        plain: Any = Tensor
        kinds, shape = (self._payload.dtype, checked(dtype).dtype), self._payload.shape
        if kinds[0] == kinds[1]:
            return made(recorded.alias(self))
        if shape and kinds in _PARTS:
            return made(plain.flatten(recorded.view_as_real(self), -2))
        if shape and kinds[::-1] in _PARTS and shape[-1] % 2 == 0:
            return made(recorded.view_as_complex(plain.unflatten(self, -1, (-1, 2))))
        return made(plain.view(self, checked(dtype)))

    def copy(self, order: str = "C") -> Any:
        """Return a copy, through which the gradient flows."""
        return copied(made(recorded.clone(self)))

    def conj(self) -> Any:
        """Return the complex conjugate."""
        conjugate: Any = np.conjugate
        return conjugate(self)

    conjugate = conj

    def fill(self, value: Any) -> None:
        """Set every element, in place; recorded."""
        self[...] = value  # type: ignore[index]

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, **more: Any) -> None:
        """Sort in place; recorded."""
        self[...] = _function("sort")(self, axis)  # type: ignore[index]

    def partition(
        self, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
    ) -> None:
        """Sort partially in place, as `numpy.partition` does; recorded."""
        self[...] = _function("partition")(self, kth, axis)  # type: ignore[index]

    def item(self, *args: Any) -> Any:
        """Return one element as a Python number: the only one, or the one at an index.

        The gradient does not flow through it.
        """
        if args:
            index = _sizes(args)
            at = index if isinstance(index, tuple) else np.unravel_index(index, self._payload.shape)
            return Tensor.item(self[at])  # type: ignore[index]
        if self._payload.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return Tensor.item(self)  # type: ignore[arg-type]

    def tobytes(self, order: Any = "C") -> bytes:
        """Return the memory of the elements as bytes."""
        return _detached_array(self, "tobytes").tobytes(order)

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file (see `numpy.ndarray.tofile`)."""
        _detached_array(self, "tofile").tofile(fid, sep, format)

    def dumps(self) -> bytes:
        """Return the array as a pickle."""
        return pickle.dumps(self)

    def dump(self, file: Any) -> None:
        """Write the array as a pickle to a file, open or named."""
        if hasattr(file, "write"):
            pickle.dump(self, file)
            return
        with open(file, "wb") as opened:
            pickle.dump(self, opened)


_type = type  # an argument above has the same name


def _reversed(x: Any) -> Any:
    return TensorMethods.T.__get__(x) if x._payload.ndim == 2 else _function("transpose")(x)


def _detached_array(x: Any, name: str) -> Any:
    """Return the values of `x` for a use that loses the gradient."""
    if x._edge is not None:
        note(f".{name}()", x)
    return x._array()


class _Lazy:
    """A placeholder for a NumPy function, which replaces it in the class on first access."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        method = _function(self.name)
        setattr(ndarray, self.name, method)
        return method if instance is None else method.__get__(instance, owner)


def _tensors(name: str) -> Callable[..., Any]:
    """Wrap a method of tensors, so that it returns an array."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return made(getattr(Tensor, name)(self, *args, **kwargs), (self,))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Like `wengert.Tensor.{name}`, but return an array."
    return method


def _absent(self: Any, name: str) -> NoReturn:
    cure = ABSENT.get(name)
    why = "" if cure is None else f": NumPy's arrays have it, but {cure.format(name)}"
    raise AttributeError(f"'wengert.numpy.ndarray' object has no attribute {name!r}{why}")


for _name, _value in vars(TensorMethods).items():
    if not _name.startswith("_") and not isinstance(_value, property):
        setattr(ndarray, _name, _tensors(_name))
ndarray.detach = _tensors("detach")  # type: ignore[method-assign]
for _name, _value in vars(np.ndarray).items():
    # methods that are NumPy functions of the same name, with the array as first argument
    _alike = callable(_value) and callable(getattr(np, _name, None))
    if _alike and _name not in ABSENT and not _name.startswith("_"):
        setattr(ndarray, _name, _Lazy(_name))
for _name, _value in vars(ArrayMethods).items():
    if not _name.startswith("_"):
        setattr(ndarray, _name, _value)
ndarray.__getattr__ = _absent  # type: ignore[method-assign]
