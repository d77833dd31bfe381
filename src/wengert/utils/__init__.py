"""Layer 8 · utils: tools around a graph, under torch.utils' names."""

from __future__ import annotations

import importlib
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.tape.tracebacks import set_full_tracebacks
from wengert.tensor.copying import swap_tensors
from wengert.utils import checkpoint

__all__ = [
    "benchmark",
    "checkpoint",
    "collect_env",
    "data",
    "dlpack",
    "hooks",
    "set_full_tracebacks",
    "swap_tensors",
]
__dir__ = shows(__all__)

_LATER = frozenset({"_pytree", "benchmark", "collect_env", "data", "dlpack", "hooks"})


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"wengert.utils.{name}")
    return elsewhere(__name__)(name)
