"""Layer 8 · compiler: the garbage collector, while a function is traced and compiled.

A trace is many small objects that all stay. Looking again and again for garbage among them costs a
fifth of the time, so meanwhile only what is new is looked through, and that seldom.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

__all__ = ["seldom"]

_SELDOM = (1_000_000, 1_000, 1_000)
_lock = threading.Lock()
_depth = 0
_before: tuple[int, int, int] = (0, 0, 0)


@contextlib.contextmanager
def seldom() -> Iterator[None]:
    """Let the collector run seldom, until all that asked for it, in all threads, have ended."""
    global _depth, _before
    with _lock:
        if not _depth:
            _before = gc.get_threshold()
            # 0: it does not run by itself
            if _before[0]:
                gc.set_threshold(*_SELDOM)
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if not _depth and gc.get_threshold() == _SELDOM:
                gc.set_threshold(*_before)
