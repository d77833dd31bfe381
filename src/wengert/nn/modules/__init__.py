"""Layer 8 · nn: the modules, one file per kind."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from wengert.base.elsewhere import elsewhere


def __getattr__(name: str) -> Any:
    if name[:1] != "_":
        if name in _modules():
            return importlib.import_module(f"{__name__}.{name}")
        classes = importlib.import_module("wengert.nn")
        if name in classes.CLASSES:
            return getattr(classes, name)
    if name == "__all__":  # star imports ask for it
        return sorted(importlib.import_module("wengert.nn").CLASSES)
    return elsewhere(__name__)(name)


def __dir__() -> list[str]:
    return sorted({*_modules(), *importlib.import_module("wengert.nn").CLASSES})


def _modules() -> set[str]:
    return {found.name for found in pkgutil.iter_modules(__path__)}
