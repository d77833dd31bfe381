"""Layer 9 · serialization: `save` and `load`, and what files may name, under torch's names."""

from __future__ import annotations

from typing import Any, TypeAlias

from wengert.serialization.allowed import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from wengert.serialization.files import get_unsafe_globals_in_checkpoint, load, save

MAP_LOCATION: TypeAlias = Any
"""What `load` takes as ``map_location``."""

__all__ = [
    "MAP_LOCATION",
    "SourceChangeWarning",
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "safe_globals",
    "save",
]


class SourceChangeWarning(Warning):
    """That the source of a pickled module has changed; source is not stored, so it never comes."""
