"""Layer 9 · compat: ``autograd.scipy``: `special`, `stats`, `linalg`, `signal`, `integrate`.

Their functions are SciPy's on NumPy's own arrays, and differentiable on boxes.
"""

from __future__ import annotations

import importlib
from typing import Any

from wengert.compat.autograd.words import refusal

_MODULES = frozenset(("integrate", "linalg", "misc", "signal", "special", "stats"))


def __getattr__(name: str) -> Any:
    """Import a module when it is first named, since SciPy's modules load slowly."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise refusal(AttributeError, "module {!r} has", __name__, name, ", ".join(sorted(_MODULES)))


def __dir__() -> list[str]:
    return sorted(_MODULES)
