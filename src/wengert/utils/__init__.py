"""Layer 8 · utils: tools around a graph, under torch.utils' names."""

from __future__ import annotations

import importlib
from typing import Any

from wengert.utils import checkpoint

__all__ = ["checkpoint", "data"]


def __getattr__(name: str) -> Any:
    if name == "data":
        return importlib.import_module("wengert.utils.data")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
