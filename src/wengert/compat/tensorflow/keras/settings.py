"""Layer 9 · compat: arguments of Keras's classes, written as text.

NOTE [settings]
The arguments of a class (see NOTE [arguments as text]) are also its configuration. Names of
activations, initializers, regularizers and constraints are looked up. In the text, ``{kernel bias
activity = ones zeros}`` are the initializers, the regularizers and the constraints of `kernel` and
`bias`, in this order, and for `activity` only a regularizer.
"""

from __future__ import annotations

import itertools
import re
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


def _trained(match: re.Match[str]) -> str:
    """Return the arguments of trained weights, given their names and initializers."""
    names, starts = match[1].split(), match[2].split()
    of_weights = names[: len(starts)]
    found = [f"{n}_initializer={s!r}" for n, s in zip(of_weights, starts, strict=True)]
    kinds = (("regularizer", names), ("constraint", of_weights))
    rest = [f"{name}_{kind}=None" for kind, those in kinds for name in those]
    return ", ".join(itertools.chain(found, rest))


def settings(text: str) -> Callable[[Any], Any]:
    """Decorate a class to build its arguments and its configuration (see NOTE [settings])."""
    return arguments(re.sub(r"{([\w ]+)=([\w ]+)}", _trained, text), _MEANT)
