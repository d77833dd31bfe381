"""Layer 6 · tensor: the memory under tensors, for ``x.untyped_storage()`` and ``x.storage()``.

A storage is the whole array that owns a tensor's memory, so views of one another share it. It holds
their version cell, so a write through it counts as a write to the tensors.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from wengert.base import extras
from wengert.base.device import CPU, check_device, device
from wengert.base.dtypes import as_dtype, dtype, from_numpy_dtype, get_default_dtype
from wengert.base.errors import long_name
from wengert.interp.dual import Dual
from wengert.interp.levels import is_elsewhere, memory_of
from wengert.kernels.shared import map_file, shared_memory_of
from wengert.kernels.strided import owner_of
from wengert.tape.inplace import count
from wengert.tape.modes import untraced
from wengert.tensor.copying import copied_together

_NAMES = {
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
    "ComplexDouble": "complex128",
    "ComplexFloat": "complex64",
}
_BY_DTYPE = {kind: name for name, kind in _NAMES.items()}
STORAGES = tuple(f"{name}Storage" for name in _NAMES)
"""The names of the classes of storages with an element type."""


def flat_memory(owner: np.ndarray[Any, Any], kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return the whole memory of `owner` as a one-dimensional array of dtype `kind`."""
    if not owner.size:
        return owner.reshape(0).view(kind)
    low, high = np.lib.array_utils.byte_bounds(owner)
    strided = np.lib.stride_tricks.as_strided
    ends = [slice(0, 1) if step >= 0 else slice(-1, None) for step in owner.strides]
    lowest = owner[(*ends, ...)]  # an array also where there are no dimensions
    memory = strided(strided(lowest, (1,), (owner.itemsize,)).view(np.uint8), (high - low,), (1,))
    return memory[: len(memory) // kind.itemsize * kind.itemsize].view(kind)


class Storage:
    """The base class of storages with and without an element type."""

    _kind: np.dtype[Any]
    _values: np.ndarray[Any, Any]
    _cell: list[Any]
    is_cuda = False
    is_sparse = False

    @property
    def filename(self) -> str | None:
        """The path of the file that writes to the memory change, or None."""
        owner: Any = self._values
        while owner is not None and not isinstance(owner, np.memmap):
            owner = getattr(owner, "base", None)
        return None if owner is None or owner.mode == "c" else str(owner.filename)

    def _lie_over(self, values: np.ndarray[Any, Any], cell: list[Any]) -> None:
        self._values, self._kind, self._cell = values, values.dtype, cell

    def _filled(self, content: Any, kind: np.dtype[Any]) -> None:
        if isinstance(content, Sequence) and not isinstance(content, str):
            values = np.array(content, kind).reshape(len(content))
        else:
            values = np.zeros(operator.index(content), kind)
        self._lie_over(values, [0, None])

    @property
    def device(self) -> device:
        """The CPU."""
        return CPU

    def get_device(self) -> int:
        """Return -1, for the CPU."""
        return -1

    def data_ptr(self) -> int:
        """Return the address of the first byte; 0 if there are none."""
        return int(self._values.ctypes.data) if self._values.nbytes else 0

    _cdata = property(data_ptr, doc="A number that is the same for storages of the same memory.")

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return int(self._values.nbytes)

    def size(self) -> int:
        """Return the number of elements."""
        return len(self._values)

    def element_size(self) -> int:
        """Return the number of bytes per element."""
        return int(self._kind.itemsize)

    def tolist(self) -> list[Any]:
        """Return the elements as Python numbers."""
        return self._values.tolist()

    def cpu(self) -> Self:
        """Return the storage itself."""
        return self

    def is_pinned(self) -> bool:
        """Return False: there is no GPU."""
        return False

    def is_shared(self) -> bool:
        """Return whether other processes may see the memory: see `Tensor.share_memory_`."""
        return shared_memory_of(self._values) is not None

    def resizable(self) -> bool:
        """Return False: tensors over the memory could not follow a change of size."""
        return False

    def resize_(self, size: int, /) -> Self:
        """Do nothing if the storage has that size; otherwise raise.

        Raises
        ------
        RuntimeError: If the size differs: tensors over the memory could not follow.
        """
        if operator.index(size) != len(self):
            raise RuntimeError(
                "Trying to resize storage that is not resizable: tensors over its memory could not "
                "follow. Use resize_() of a tensor that has its memory for itself"
            )
        return self

    def fill_(self, value: Any, /) -> Self:
        """Write a number to every element."""
        self[:] = value
        return self

    def copy_(self, source: Storage, non_blocking: bool | None = None) -> Self:
        """Copy the elements of a storage of the same length into this one, converted."""
        if not isinstance(source, Storage):
            raise TypeError(f"copy_() takes a storage, not {type(source).__name__}")
        if len(source) != len(self):
            raise RuntimeError(
                f"size mismatch: cannot copy {len(source)} elements to a storage of {len(self)}"
            )
        self[:] = source._values
        return self

    def clone(self) -> Self:
        """Return a copy that owns its memory."""
        made: Self = object.__new__(type(self))
        made._lie_over(self._values.copy(), [0, None])
        return made

    __copy__ = clone

    def untyped(self) -> UntypedStorage:
        """Return the memory as bytes."""
        return storage_over(self._values, None, self._cell)

    def __len__(self) -> int:
        return len(self._values)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def _place(self, index: int) -> int:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} out of range for storage of size {len(self)}")
        return index

    def __getitem__(self, index: Any) -> Any:
        return self._values[self._place(operator.index(index))].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        where = index if isinstance(index, slice) else self._place(operator.index(index))
        count(self._cell, "storage")
        self._values[where] = value

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a copy that tensors of this memory share, if they are copied together with it."""
        made: Self = object.__new__(type(self))
        made._lie_over(copied_together(self._values, memo), copy.deepcopy(self._cell, memo))
        memo[id(self)] = made
        return made

    def _heading(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n ".join(["", *map(str, self.tolist())])[1:] + f"\n[{self._heading()}]"


def _element_type(name: str) -> dtype:
    return extras.bfloat16() if name == "bfloat16" else as_dtype(name)


def _conversion(name: str) -> Any:
    def convert(self: Storage) -> TypedStorage:
        kind = _element_type(name).dtype
        return storage_over(self._values.astype(kind), kind, [0, None])

    convert.__doc__ = f"Return the elements as {name}, in new memory."
    return convert


for _name, _kind in _NAMES.items():
    setattr(Storage, _name.lower().replace("complex", "complex_"), _conversion(_kind))


class UntypedStorage(Storage):
    """The bytes under a tensor.

    Parameters
    ----------
    content : int or sequence of int. The number of bytes, all zero, or the bytes.
    device : device, optional. The CPU.

    Examples
    --------
    >>> x = wg.ones(2, 3)
    >>> x.untyped_storage().nbytes()
    24
    >>> x[1].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    True
    >>> wg.UntypedStorage([1, 2]).tolist()
    [1, 2]
    """

    def __init__(self, content: Any = 0, *, device: Any = None) -> None:
        check_device(device)
        for item in content if isinstance(content, Sequence) else ():
            if not isinstance(item, int):
                raise RuntimeError(
                    "torch.UntypedStorage(): tried to construct a storage from a sequence "
                    f"({type(content).__name__}), but one of the items was of type "
                    f"{type(item).__name__} instead of int"
                )
        self._filled(content, np.dtype(np.uint8))

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> Self:
        """Map the first bytes of a file into memory.

        Parameters
        ----------
        filename : str. The path; if `shared`, a missing file is created.
        shared : bool. Whether writes to the storage change the file.
        nbytes : int. The number of bytes.
        """
        made = cls()
        made._lie_over(map_file(filename, shared, nbytes), [0, None])
        return made

    def elements_as(self, kind: np.dtype[Any] | None) -> np.ndarray[Any, Any]:
        """Return the memory as elements of a dtype, int64 by default."""
        return flat_memory(self._values, np.dtype(np.int64) if kind is None else kind)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return super().__getitem__(index)
        if index.step not in (None, 1):
            raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1")
        return storage_over(self._values[index], None, self._cell)

    def byteswap(self, dtype: Any, /) -> None:
        """Reverse the bytes of each element of a dtype."""
        kind = as_dtype(dtype).dtype
        part = kind.itemsize // 2 if kind.kind == "c" else kind.itemsize
        self[:] = self._values.view(f"u{part}").byteswap().view(np.uint8)

    def type(self) -> str:
        """Return the name of the class."""
        return "torch.storage.UntypedStorage"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        return self.data_ptr() == other.data_ptr() and self.nbytes() == other.nbytes()

    def __hash__(self) -> int:
        return hash((self.data_ptr(), self.nbytes()))

    def _heading(self) -> str:
        return f"torch.storage.UntypedStorage(device={CPU}) of size {len(self)}"


class TypedStorage(Storage):
    """The elements under a tensor, in the order of memory.

    Parameters
    ----------
    content : int or sequence. The number of elements, all zero, or the elements.
    wrap_storage : UntypedStorage, optional. The memory to use instead of `content`.
    dtype : dtype, optional. The element type; default: the default floating type.
    device : device, optional. The CPU.

    Examples
    --------
    >>> x = wg.arange(6).reshape(2, 3)
    >>> x.T.storage().tolist()
    [0, 1, 2, 3, 4, 5]
    >>> wg.TypedStorage([1, 2], dtype=wg.float64).tolist()
    [1.0, 2.0]
    """

    _untyped_storage = property(Storage.untyped)

    def __init__(
        self,
        content: Any = 0,
        *,
        wrap_storage: UntypedStorage | None = None,
        dtype: Any = None,
        device: Any = None,
    ) -> None:
        check_device(device)
        kind = (get_default_dtype() if dtype is None else as_dtype(dtype)).dtype
        if wrap_storage is not None:
            if type(wrap_storage) is not UntypedStorage:
                raise TypeError(
                    "Argument 'wrap_storage' must be UntypedStorage, but got "
                    f"{type(wrap_storage).__name__}"
                )
            self._lie_over(flat_memory(wrap_storage._values, kind), wrap_storage._cell)
            return
        if not isinstance(content, int | np.integer | Sequence):
            raise TypeError(
                "a storage is made of a size or of a sequence of numbers, not of "
                f"{type(content).__name__}"
            )
        self._filled(content, kind)

    @property
    def dtype(self) -> dtype:
        """The element type."""
        return from_numpy_dtype(self._kind)

    def elements_as(self, kind: np.dtype[Any] | None) -> np.ndarray[Any, Any]:
        """Return the elements, whose dtype must be `kind` unless that is None."""
        if kind is not None and kind != self._kind:
            raise RuntimeError(
                f"Expected a Storage of type {long_name(kind)} or an UntypedStorage, but got "
                f"{long_name(self._kind)}"
            )
        return self._values

    def pickle_storage_type(self) -> str:
        """Return the name of the storage class of this element type."""
        if self.dtype.name not in _BY_DTYPE:
            raise KeyError(f"no class of storages is of {self.dtype!r}")
        return f"{_BY_DTYPE[self.dtype.name]}Storage"

    def type(self) -> str:
        """Return the qualified name of the storage class of this element type."""
        return f"torch.{self.pickle_storage_type()}"

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise NotImplementedError(
                "slices are only supported in UntypedStorage.__getitem__: use untyped()[...]"
            )
        return super().__getitem__(index)

    def _heading(self) -> str:
        return f"torch.storage.TypedStorage(dtype={self.dtype!r}, device={CPU}) of size {len(self)}"


class _TypedClass(type):
    """The class of `FloatStorage` and the others, which make a `TypedStorage`."""

    _name: str
    is_cuda = False

    @property
    def dtype(cls) -> dtype:
        """The element type of its storages."""
        return _element_type(cls._name)

    def __call__(cls, content: Any = 0, **more: Any) -> Any:
        return TypedStorage(content, **more, dtype=cls.dtype)

    def from_buffer(cls, buffer: Any, byte_order: str = "native") -> TypedStorage:
        """Return a storage with a copy of bytes; `byte_order` is "native", "little" or "big"."""
        order: Any = byte_order
        kind = cls.dtype.dtype
        if kind.kind == "b":
            values: Any = np.frombuffer(buffer, np.uint8) != 0
        else:
            values = np.frombuffer(buffer, kind.newbyteorder(order)).astype(kind)
        return storage_over(values, values.dtype, [0, None])

    def from_file(cls, filename: str, shared: bool = False, size: int = 0) -> TypedStorage:
        """Map the first elements of a file into memory; see `UntypedStorage.from_file`."""
        count = size * cls.dtype.itemsize
        memory = UntypedStorage.from_file(filename, shared, count)
        return TypedStorage(wrap_storage=memory, dtype=cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype.name == cls._name

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def _dtype_to_storage_type_map() -> dict[dtype, str]:
    """Return the names of the classes of storages by their element types."""
    return {storage_class(name).dtype: name for name in STORAGES}


_made: dict[str, Any] = {}


def storage_class(name: str) -> Any:
    """Return the storage class of this name, one of `STORAGES`."""
    if name not in _made:
        kind = _NAMES[name.removesuffix("Storage")]
        documented = f"An old name of `TypedStorage` with elements of {kind}."
        contents = {"_name": kind, "__doc__": documented, "__module__": "wengert"}
        _made[name] = _TypedClass(name, (), contents)
    return _made[name]


def storage_over(owner: np.ndarray[Any, Any], kind: np.dtype[Any] | None, cell: list[Any]) -> Any:
    """Return the storage of the whole memory of `owner`, as elements of `kind` or as bytes.

    Parameters
    ----------
    cell: The version cell of the tensors there.
    """
    made: Any = object.__new__(UntypedStorage if kind is None else TypedStorage)
    made._lie_over(flat_memory(owner, np.dtype(np.uint8) if kind is None else kind), cell)
    return made


def is_storage(obj: Any, /) -> bool:
    """Return whether `obj` is a storage.

    Examples
    --------
    >>> wg.is_storage(wg.ones(1).untyped_storage())
    True
    """
    return isinstance(obj, Storage)


class StorageMethods:
    """The methods of tensors that return their storage."""

    __slots__ = ()
    _payload: Any

    def untyped_storage(self) -> UntypedStorage:
        """Return the bytes under the tensor, shared with all views."""
        return _storage_of(self, None)

    def storage(self) -> TypedStorage:
        """Return the elements under the tensor in memory order, shared with all views."""
        return _storage_of(self, _memory(self).dtype)

    def storage_type(self) -> Any:
        """Return the storage class of the tensor's element type."""
        return storage_class(self.storage().pickle_storage_type())


def _storage_of(tensor: Any, kind: Any) -> Any:
    untraced("it asks for the memory of a tensor")
    memory = _memory(tensor)
    return storage_over(owner_of(memory), kind, tensor._share_version())


def _memory(tensor: Any) -> np.ndarray[Any, Any]:
    payload = tensor._array()
    if is_elsewhere(payload):
        raise NotImplementedError(f"the memory of a tensor on '{payload.device}' has no storage")
    memory = memory_of(payload)
    while isinstance(memory, Dual):
        # the tangent has its own memory
        memory = memory.primal
    if not isinstance(memory, np.ndarray):
        raise RuntimeError(
            "Cannot access data pointer of Tensor that doesn't have storage: under a transform a "
            "tensor stands for many values"
        )
    return memory
