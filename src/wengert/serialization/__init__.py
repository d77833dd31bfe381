"""Layer 9 · serialization: `save`, `load` and the globals that files may name."""

from __future__ import annotations

import pickle as pickle  # programs take it from here
from typing import Any, TypeAlias

from wengert.serialization.allowed import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from wengert.serialization.checkpoints import (
    LoadEndianness,
    get_default_load_endianness,
    set_default_load_endianness,
)
from wengert.serialization.files import (
    DEFAULT_PROTOCOL,
    get_unsafe_globals_in_checkpoint,
    load,
    save,
)
from wengert.serialization.rebuilt import _layout as _get_layout  # noqa: F401  files name it

MAP_LOCATION: TypeAlias = Any
"""The type of `load`'s argument ``map_location``."""

__all__ = [
    "DEFAULT_PROTOCOL",
    "MAP_LOCATION",
    "LoadEndianness",
    "SourceChangeWarning",
    "add_safe_globals",
    "clear_safe_globals",
    "get_default_load_endianness",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "safe_globals",
    "save",
    "set_default_load_endianness",
]


class SourceChangeWarning(Warning):
    """A warning that a pickled module's source changed; never issued, as source is not stored."""
