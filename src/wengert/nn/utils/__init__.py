"""Layer 8 · nn: utilities for modules and their parameters (`wengert.nn.utils`).

A function's module is imported on first access.
"""

from __future__ import annotations

import importlib
from typing import Any

from wengert.base.elsewhere import elsewhere

# the modules of the functions
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "clip_grad": (
        "clip_grad_norm",
        "clip_grad_norm_",
        "clip_grad_value_",
        "clip_grads_with_norm_",
        "get_total_norm",
    ),
    "convert_parameters": ("parameters_to_vector", "vector_to_parameters"),
    "fusion": (
        "fuse_conv_bn_eval",
        "fuse_conv_bn_weights",
        "fuse_linear_bn_eval",
        "fuse_linear_bn_weights",
    ),
    "skipped_init": ("skip_init",),
    "spectral_norms": ("remove_spectral_norm", "spectral_norm"),
    "weight_norms": ("remove_weight_norm", "weight_norm"),
}
_WHERE = {name: file for file, names in _FUNCTIONS.items() for name in names}

# modules of this package that are imported on first access
_MODULES = (
    "clip_grad",
    "convert_parameters",
    "fusion",
    "parametrizations",
    "parametrize",
    "prune",
    "rnn",
    "stateless",
)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        module = importlib.import_module(f"wengert.nn.utils.{_WHERE[name]}")
        return globals().setdefault(name, getattr(module, name))
    if name in _MODULES:
        return importlib.import_module(f"wengert.nn.utils.{name}")
    return elsewhere(__name__)(name)


def __dir__() -> list[str]:
    return sorted({*_WHERE, *_MODULES})
