"""Layer 9 · optim: optimisers and learning-rate schedules under PyTorch's names.

An optimiser's module is imported on first access to the class.
"""

from __future__ import annotations

import importlib
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.optim.optimizer import Optimizer

# the modules of the classes
_CLASSES = {
    "adadelta": ("Adadelta",),
    "adafactor": ("Adafactor",),
    "adagrad": ("Adagrad",),
    "adam": ("Adam", "AdamW"),
    "adamax": ("Adamax",),
    "asgd": ("ASGD",),
    "lbfgs": ("LBFGS",),
    "muon": ("Muon",),
    "nadam": ("NAdam",),
    "radam": ("RAdam",),
    "rmsprop": ("RMSprop",),
    "rprop": ("Rprop",),
    "sgd": ("SGD",),
    "sparse_adam": ("SparseAdam",),
}
_WHERE = {name: f"wengert.optim.{file}" for file, names in _CLASSES.items() for name in names}
_MODULES = ("lbfgs", "lr_scheduler", "optimizer", "swa_utils")

__all__ = ["Optimizer", *_WHERE, *_MODULES]
__dir__ = shows(__all__)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return globals().setdefault(name, getattr(importlib.import_module(_WHERE[name]), name))
    if name in _MODULES:
        return importlib.import_module(f"wengert.optim.{name}")
    return elsewhere(__name__)(name)
