"""Layer 9 · compat: objects that are to be restored once they have the variables for it.

NOTE [restoring later]
A checkpoint may be restored before layers have made their weights. What could not be matched waits
here, by the object it belongs to, and is tried again when that object gets an attribute, or builds
itself. Nothing waits in programs without checkpoints, and then this costs one look at an empty
dictionary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["WAITING", "resume"]

WAITING: WeakKeyDictionary[Any, list[Callable[[], None]]] = WeakKeyDictionary()


def resume(owner) -> None:
    """Try again what waits for `owner`."""
    for again in WAITING.pop(owner, ()):
        again()
