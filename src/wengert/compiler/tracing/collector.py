"""Layer 8 · compiler: make the garbage collector run seldom during tracing and compilation.

A trace is many small objects that all stay alive. Searching them for garbage again and again costs
a fifth of the time, so meanwhile the collector looks only at new objects, and seldom.
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
    """Make the collector run seldom until the last such context, in any thread, has ended."""
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
