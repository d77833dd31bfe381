"""Layer 8 · nn: the modules, a file for each kind."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


def __getattr__(name: str) -> Any:
    if name[:1] != "_":
        if any(found.name == name for found in pkgutil.iter_modules(__path__)):
            return importlib.import_module(f"{__name__}.{name}")
        classes = importlib.import_module("wengert.nn")
        if name in classes.CLASSES:
            return getattr(classes, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
