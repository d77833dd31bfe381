"""Layer 8 · compiler: throttle the garbage collector during tracing and compilation.

A trace consists of many small objects, which all stay alive. Repeated collections cost a fifth of
the time, so the thresholds are raised: the collector seldom runs, and then visits young objects.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_SELDOM = (1_000_000, 1_000, 1_000)
_lock = threading.Lock()
_depth = 0
_before: tuple[int, int, int] = (0, 0, 0)


@contextlib.contextmanager
def seldom() -> Iterator[None]:
    """Raise the collector's thresholds until all of these contexts, in any thread, have exited."""
    global _depth, _before
    with _lock:
        if not _depth:
            _before = gc.get_threshold()
            # 0: automatic collection is disabled
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
