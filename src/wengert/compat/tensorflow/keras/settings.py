"""Layer 9 · compat: arguments of Keras's classes as lines of the class.

NOTE [settings]
The lines of a class are its arguments (see NOTE [arguments as lines]), and make its configuration.
Names of activations, initializers, regularizers and constraints become what they stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.compat.kit.arguments import arguments
from wengert.compat.tensorflow import initializers
from wengert.compat.tensorflow.keras import activations, constraints, regularizers

__all__ = ["settings"]

_MEANT: dict[str, Callable[[Any], Any]] = {
    "activation": activations.get,
    "constraint": constraints.get,
    "initializer": initializers.get,
    "regularizer": regularizers.get,
}
"""The lookup for an argument, by the last word of its name."""


def settings(kind) -> Any:
    """Decorate a class whose arguments are its annotated lines (see NOTE [settings])."""
    return arguments(kind, _MEANT)
