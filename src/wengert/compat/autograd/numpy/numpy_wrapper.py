"""Layer 9 · compat: the module that programs import NumPy's functions from."""

from __future__ import annotations

import importlib
from typing import Any

from wengert.compat.kit.namespaces import gathered as _gathered

__all__ = _gathered(
    globals(),
    "wengert.compat.autograd.numpy",
    "rows: array_from_args concatenate_args make_diagonal metadata wrap_if_boxes_inside",
)


def __getattr__(name: str) -> Any:
    """Return one of NumPy's functions, as ``autograd.numpy`` offers it."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("wengert.compat.autograd.numpy"), name)
