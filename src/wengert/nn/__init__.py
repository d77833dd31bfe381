"""Layer 8 · nn: neural networks: modules, parameters, and functions under PyTorch's names.

A class's module is imported when the class is first named: a program that uses three layers pays
for three.
"""

from __future__ import annotations

import importlib
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.nn import functional
from wengert.nn.classes import OF_FILES
from wengert.nn.parameter import Buffer, Parameter
from wengert.tensor.overrides import publish

publish(functional)

CLASSES = {
    **{name: f"wengert.nn.modules.{file}" for file, names in OF_FILES.items() for name in names},
    **dict.fromkeys(("UninitializedBuffer", "UninitializedParameter"), "wengert.nn.lazy"),
}

# modules of this package that are imported on first access
_MODULES: tuple[str, ...] = (
    "attention",
    "common_types",
    "grad",
    "init",
    "modules",
    "parallel",
    "utils",
)

__all__ = ["Buffer", "Parameter", "functional", *CLASSES, *_MODULES]
__dir__ = shows(__all__)


def __getattr__(name: str) -> Any:
    if name in CLASSES:
        return globals().setdefault(name, getattr(importlib.import_module(CLASSES[name]), name))
    if name in (*_MODULES, "_reduction"):
        return importlib.import_module(f"wengert.nn.{name}")
    return elsewhere(__name__)(name)
