"""Layer 0 · base: keep the memory of large freed arrays in the process, for reuse.

NOTE [kept memory]
The system zeroes each page that it hands out, which takes longer than the arithmetic on it. glibc's
allocator returns a block of 128 kB or more to the system as soon as it is freed, so each step of a
program would request the same pages again. But it adapts: once a program has freed a block of up to
32 MB, blocks of that size come from the heap, and twice as much may stay free at its end. Importing
the library frees one such block, untouched. So the process keeps at most 64 MB more than it uses at
the end of a heap, like any program that has freed an array of 32 MB. This is only a hint: glibc
does not adapt if the host program has set its thresholds, by ``mallopt`` or the environment
(``MALLOC_TRIM_THRESHOLD_``), and other allocators ignore it. A program can keep more, or nothing,
by setting the thresholds of the process.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

import numpy as np

_TRIM, _MMAP = -1, -3
"""M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h."""
_UNSET = 128 << 10
"""glibc's initial value of both thresholds."""
_LARGEST = (32 << 20) - 8192
"""The size of the largest block that glibc adapts to and takes from the heap."""
_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS.split()]


def hint() -> None:
    """Hint to the allocator that large blocks will be freed and requested again."""
    if sys.platform == "linux" and os.environ.get("WENGERT_KEEP_MEMORY") != "0":
        # the hint is optional: ignore a memory limit such as that of `ulimit -v`
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
    limit : int. Bytes at the end of the heap, at most 2 GB. 0 returns all free memory to the
        system, at once and from now on.

    Returns
    -------
    bool: Whether it has an effect: it does with glibc 2.33 or later.

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
    # the block threshold first: to set it also changes the trim threshold
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
