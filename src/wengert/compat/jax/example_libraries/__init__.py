"""Layer 9 · compat: ``jax.example_libraries``: the optimisers and layers of JAX's examples."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = frozenset({"optimizers", "stax"})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'jax.example_libraries' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_MODULES)
