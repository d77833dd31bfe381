"""Layer 9 · compat: arguments of Keras's classes as lines of the class.

NOTE [settings]
The annotated lines of a class are its arguments (see NOTE [arguments as lines]) and its
configuration. Names of activations, initializers, regularizers and constraints are looked up. A
line ``kernel_bias_activity: Trained = "ones zeros"`` declares the initializers, the regularizers
and the constraints of `kernel` and `bias`, in this order, and for `activity` only a regularizer.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

from wengert.compat.kit.arguments import arguments
from wengert.compat.tensorflow import initializers
from wengert.compat.tensorflow.keras import activations, constraints, regularizers

__all__ = ["Trained", "settings"]

Trained = Any

_MEANT: dict[str, Callable[[Any], Any]] = {
    "activation": activations.get,
    "constraint": constraints.get,
    "initializer": initializers.get,
    "regularizer": regularizers.get,
}
"""The lookup for an argument, by the last word of its name."""


_KINDS = ("initializer", "regularizer", "constraint")


def settings(kind) -> Any:
    """Build the arguments and the configuration of a class (see NOTE [settings])."""
    lines: dict[str, Any] = {}
    for line, annotation in inspect.get_annotations(kind).items():
        if annotation != "Trained":
            lines[line] = annotation
            continue
        roles, starts = line.split("_"), vars(kind)[line].split()
        delattr(kind, line)
        weights = roles[: len(starts)]
        for what, those in zip(_KINDS, (weights, roles, weights), strict=True):
            for role, start in itertools.zip_longest(those, starts):
                lines[f"{role}_{what}"] = "Any"
                setattr(kind, f"{role}_{what}", start if what == "initializer" else None)
    kind.__annotations__ = lines
    return arguments(kind, _MEANT)
