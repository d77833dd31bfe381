"""Layer 0 · base: keeps the memory of large freed arrays in the process, for later arrays.

NOTE [kept memory]
The system clears each page that it hands out, which takes longer than the arithmetic on it. The
allocator of glibc gives a block of 128 kB and more back as soon as it is freed, so each step of a
program would ask for the same pages again. It learns, though: once a program has freed a block of
up to 32 MB, blocks of that size come from the heap, and twice as much may stay free at its end.
Import frees one such block, untouched. So the process keeps at most 64 MB more than it uses at the
end of a heap, as any program does that has freed an array of 32 MB. This is only a hint: glibc does
not adapt if the host program has set its thresholds, by ``mallopt`` or the environment
(``MALLOC_TRIM_THRESHOLD_``), and other allocators do not look at it. A program can keep more, or
nothing, by setting the thresholds of the process.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

import numpy as np

from wengert.base.sections import fill_sections

_TRIM, _MMAP = -1, -3
"""M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h."""
_UNSET = 128 << 10
"""Both thresholds, as glibc sets them at first."""
_LARGEST = (32 << 20) - 8192
"""The size of the largest block that glibc adapts to and takes from the heap."""
_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS.split()]


def hint() -> None:
    """Hint to the allocator that large blocks will be freed and requested again."""
    if sys.platform == "linux" and os.environ.get("WENGERT_KEEP_MEMORY") != "0":
        # without room for it, as under `ulimit -v`, nothing is lost
        with suppress(MemoryError):
            np.empty(_LARGEST, np.uint8)


def _glibc() -> ctypes.CDLL | None:
    """Return the C library if its allocator can be configured, else None."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        return None
    library.mallinfo2.restype = _Info
    return library


def keep_memory(limit: int) -> bool:
    """Set how much freed memory the process keeps for the next arrays.

    Without it, up to 64 MB stay at the end of the heap, in blocks of at most 32 MB; the environment
    variable ``WENGERT_KEEP_MEMORY=0`` leaves that to the allocator. This sets the thresholds of the
    whole process's allocator (``mallopt``), so it is for programs to call, not for libraries.

    Parameters
    ----------
    limit : int. Bytes at the end of the heap, at most 2 GB. 0 gives back what is free, and all that
        is freed from now on.

    Returns
    -------
    bool: Whether it has an effect, which it has with glibc's allocator from 2.33 on.

    Raises
    ------
    ValueError: If `limit` is negative.

    Examples
    --------
    >>> kept = wg.cpu.keep_memory(256 << 20)
    """
    if limit < 0:
        raise ValueError(f"keep_memory() expects a number of bytes, but got {limit}")
    library = _glibc()
    if library is None:
        return False
    # the threshold for blocks first: the last call also decides about the end of the heap
    library.mallopt(_MMAP, _LARGEST if limit else _UNSET)
    library.mallopt(_TRIM, min(limit, 2**31 - 1) or _UNSET)
    if not limit:
        library.malloc_trim(0)
    return True


def empty_cache() -> None:
    """Return the free memory of the process's allocator to the system.

    Examples
    --------
    >>> wg.cpu.empty_cache()
    """
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


def memory_kept() -> int:
    """Return the number of bytes that are free and stay with the process for the next arrays.

    Returns
    -------
    int: By the allocator's own count, an upper bound: it includes pages between used blocks that
        `empty_cache` has returned. 0 if the allocator does not report it.

    Examples
    --------
    >>> wg.cpu.memory_kept() >= 0
    True
    """
    library = _glibc()
    return int(library.mallinfo2().fordblks) if library is not None else 0


fill_sections(globals())
