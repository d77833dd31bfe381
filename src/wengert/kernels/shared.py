"""Layer 1 · kernels: arrays in memory that processes share."""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np

from wengert.kernels.strided import owner_of


class SharedMemory(mmap.mmap):
    """Memory shared with forked processes, and with those that receive its descriptor."""

    descriptor: int | None = None
    """Names the memory, where the system has memory that is named by one."""

    def __del__(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)

    @classmethod
    def made(cls, size: int) -> SharedMemory:
        """Allocate at least `size` bytes."""
        size = max(size, 1)
        if not hasattr(os, "memfd_create"):
            return cls(-1, size)
        descriptor = os.memfd_create("wengert")
        os.ftruncate(descriptor, size)
        return cls.opened(descriptor, size)

    @classmethod
    def opened(cls, descriptor: int, size: int) -> SharedMemory:
        """Return the memory of a descriptor, and take ownership of the descriptor."""
        made = cls(descriptor, size)
        made.descriptor = descriptor
        return made


def in_shared_memory(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a copy of `array`, in the same memory order, in new shared memory."""
    order: Any = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    memory = SharedMemory.made(array.nbytes)
    made: Any = np.ndarray(array.shape, array.dtype, memory, order=order)
    made[...] = array
    return made


def shared_memory_of(array: np.ndarray[Any, Any]) -> SharedMemory | None:
    """Return the shared memory of an array; None if its memory belongs to this process."""
    base = owner_of(array).base
    return base if isinstance(base, SharedMemory) else None


def map_file(filename: Any, shared: bool | None, size: int) -> np.ndarray[Any, Any]:
    """Map the first `size` bytes of a file into memory; see `UntypedStorage.from_file`."""
    if not size:
        return np.empty(0, np.uint8)
    if shared:
        mode: Any = "r+" if os.path.exists(filename) else "w+"
    else:
        mode, found = "c", os.path.getsize(filename)
        if found < size:
            raise RuntimeError(
                f"file <{filename}> size <{found}> is smaller than the required mapping size "
                f"<{size}>: ask for fewer elements, or map it with shared=True, which extends it"
            )
    return np.memmap(filename, np.uint8, mode, shape=(size,)).view(np.ndarray)
