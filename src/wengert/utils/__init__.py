"""Layer 8 · utils: tools around a graph, under torch.utils' names."""

from __future__ import annotations

import importlib
from typing import Any

from wengert.base.names import shows
from wengert.utils import checkpoint

__all__ = ["benchmark", "checkpoint", "data", "dlpack"]
__dir__ = shows(__all__)

_LATER = frozenset({"benchmark", "data", "dlpack"})


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"wengert.utils.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
