"""Layer 9 · compat: the few names of `jax.experimental` that programs on derivatives use."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from wengert.compat.jax.callbacks import io_callback as io_callback
from wengert.compat.jax.settings import enable_x64 as enable_x64
from wengert.compat.kit.words import absence

__all__ = ["disable_x64", "enable_x64", "io_callback"]


def disable_x64() -> Any:
    """Return a context in which dtypes have at most 32 bits."""
    return enable_x64(False)


_MODULES = ("checkify", "jet", "layout", "ode", "sparse")


def __getattr__(name: str) -> Any:
    if name in _MODULES or f"{__name__}.{name}" in sys.modules:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(absence(__name__, name))
