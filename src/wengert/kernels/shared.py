"""Layer 1 · kernels: arrays in memory that several processes see."""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np

from wengert.kernels.strided import owner_of


class SharedMemory(mmap.mmap):
    """Memory that processes share: those that are forked, and those that get its descriptor."""

    descriptor: int | None = None
    """Names the memory, where the system has memory that is named by one."""

    def __del__(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)

    @classmethod
    def made(cls, size: int) -> SharedMemory:
        """New memory of at least `size` bytes."""
        size = max(size, 1)
        if not hasattr(os, "memfd_create"):
            return cls(-1, size)
        descriptor = os.memfd_create("wengert")
        os.ftruncate(descriptor, size)
        return cls.opened(descriptor, size)

    @classmethod
    def opened(cls, descriptor: int, size: int) -> SharedMemory:
        """Return the memory that a descriptor names, which is the memory's own from then on."""
        made = cls(descriptor, size)
        made.descriptor = descriptor
        return made


def in_shared_memory(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of `array`, with its elements in the same order, in shared memory of its own."""
    order: Any = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    memory = SharedMemory.made(array.nbytes)
    made: Any = np.ndarray(array.shape, array.dtype, memory, order=order)
    made[...] = array
    return made


def shared_memory_of(array: np.ndarray[Any, Any]) -> SharedMemory | None:
    """Return the shared memory that an array lies in; None if it lies in memory of this process."""
    base = owner_of(array).base
    return base if isinstance(base, SharedMemory) else None
