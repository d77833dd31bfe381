"""Layer 6 · tensor: the memory under tensors, for ``x.untyped_storage()`` and ``x.storage()``.

A storage is the whole array that owns a tensor's memory, so tensors that are views of one another
have the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.base.device import CPU, device
from wengert.base.dtypes import dtype, from_numpy_dtype
from wengert.base.sections import fill_sections
from wengert.interp.dual import Dual
from wengert.kernels.strided import owner_of

__all__ = ["StorageMethods", "TypedStorage", "UntypedStorage", "is_storage"]


def flat_memory(owner: np.ndarray[Any, Any], kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The memory of `owner` from end to end, as one dimension of `kind`."""
    if not owner.size:
        return owner.reshape(0).view(kind)
    low, high = np.lib.array_utils.byte_bounds(owner)
    strided = np.lib.stride_tricks.as_strided
    ends = [slice(0, 1) if step >= 0 else slice(-1, None) for step in owner.strides]
    lowest = owner[(*ends, ...)]  # an array also where there are no dimensions
    memory = strided(strided(lowest, (1,), (owner.itemsize,)).view(np.uint8), (high - low,), (1,))
    return memory[: len(memory) // kind.itemsize * kind.itemsize].view(kind)


class UntypedStorage:
    """The bytes under a tensor.

    Examples
    --------
    >>> x = wg.ones(2, 3)
    >>> x.untyped_storage().nbytes()
    24
    >>> x[1].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    True
    """

    _kind = np.dtype(np.uint8)

    def __init__(self, owner: np.ndarray[Any, Any], kind: np.dtype[Any] | None = None) -> None:
        self._kind = type(self)._kind if kind is None else kind
        self._values = flat_memory(owner, self._kind)

    @property
    def device(self) -> device:
        """Where the memory is: the CPU."""
        return CPU

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return int(self._values.ctypes.data)

    def nbytes(self) -> int:
        """How many bytes there are."""
        return int(self._values.nbytes)

    def size(self) -> int:
        """How many elements there are."""
        return len(self._values)

    def element_size(self) -> int:
        """Bytes per element."""
        return int(self._kind.itemsize)

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        values: list[Any] = self._values.tolist()
        return values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        found = self._values[index]
        return found.item() if found.ndim == 0 else found.tolist()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._values[index] = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        return self.data_ptr() == other.data_ptr() and self.nbytes() == other.nbytes()

    def __hash__(self) -> int:
        return hash((self.data_ptr(), self.nbytes()))

    def _heading(self) -> str:
        return f"torch.storage.UntypedStorage(device={CPU}) of size {len(self)}"

    def __repr__(self) -> str:
        return "\n ".join(["", *map(str, self.tolist())])[1:] + f"\n[{self._heading()}]"


class TypedStorage(UntypedStorage):
    """The elements under a tensor, in the order of memory.

    Examples
    --------
    >>> x = wg.arange(6).reshape(2, 3)
    >>> x.T.storage().tolist()
    [0, 1, 2, 3, 4, 5]
    """

    @property
    def dtype(self) -> dtype:
        """The element type."""
        return from_numpy_dtype(self._kind)

    def _heading(self) -> str:
        return f"torch.storage.TypedStorage(dtype={self.dtype!r}, device={CPU}) of size {len(self)}"


def is_storage(obj: Any, /) -> bool:
    """Whether `obj` is the memory under a tensor.

    Examples
    --------
    >>> wg.is_storage(wg.ones(1).untyped_storage())
    True
    """
    return isinstance(obj, UntypedStorage)


class StorageMethods:
    """The methods of tensors that ask for their memory."""

    __slots__ = ()
    payload: Any

    def untyped_storage(self) -> UntypedStorage:
        """The bytes under the tensor, shared with all views."""
        return UntypedStorage(owner_of(_memory(self)))

    def storage(self) -> TypedStorage:
        """The elements under the tensor, shared with all views, in the order of memory."""
        memory = _memory(self)
        return TypedStorage(owner_of(memory), memory.dtype)


def _memory(tensor: Any) -> np.ndarray[Any, Any]:
    memory = tensor.array()
    while isinstance(memory, Dual):
        # the tangent has memory of its own
        memory = memory.primal
    if not isinstance(memory, np.ndarray):
        raise RuntimeError(
            "Cannot access data pointer of Tensor that doesn't have storage: under a transform a "
            "tensor stands for many values"
        )
    return memory


fill_sections(globals())
