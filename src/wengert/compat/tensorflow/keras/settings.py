"""Layer 9 · compat: arguments of Keras's classes, written as text.

NOTE [settings]
The arguments of a class (see NOTE [arguments as text]) are also its configuration. Names of
activations, initializers, regularizers and constraints are looked up, and `_CHECKS` tells what an
argument of a name may be. In the text, ``{kernel bias
activity = ones zeros}`` are the initializers, the regularizers and the constraints of `kernel` and
`bias`, in this order, and for `activity` only a regularizer.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

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


def _positive(value) -> bool:
    return all(isinstance(n, Integral) and n > 0 for n in np.atleast_1d(np.asarray(value, object)))


def _of_groups(value) -> bool:
    return value == -1 or _positive(value)


def _share(value) -> bool:
    return 0 <= value <= 1


def _shares(value) -> bool:
    return all(map(_share, np.ravel(value)))


def _at_least_0(value) -> bool:
    return value >= 0


_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "units": (_positive, "Received an invalid value for `units`, expected a positive integer."),
    "filters": (_positive, "Invalid value for argument `filters`. Expected a positive value."),
    "groups": (
        _of_groups,
        "Received an invalid value for argument `groups`, expected a positive integer (or `-1` for "
        "instance normalization).",
    ),
    "rate": (
        _share,
        "Invalid value received for argument `rate`. Expected a float value between 0 and 1.",
    ),
    "stddev": (
        _share,
        "Invalid value received for argument `stddev`. Expected a float value between 0 and 1.",
    ),
    "noise_shape": (
        lambda sizes: _positive([1 if n is None else n for n in sizes]),
        "Invalid value received for argument `noise_shape`. Expected positive integers or None.",
    ),
    "n": (_positive, "Argument `n` should be a positive integer."),
    "size": (_positive, "Argument `size` should be a positive integer."),
    "max_value": (_at_least_0, "max_value of a ReLU layer cannot be a negative value."),
    "negative_slope": (_at_least_0, "The negative_slope of a layer cannot be a negative value."),
    "dims": (
        lambda dims: sorted(dims) == list(range(1, len(dims) + 1)),
        "Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` must "
        "be consecutive and start from 1.",
    ),
    "target_shape": (
        lambda sizes: all(n >= -1 for n in sizes),
        "Each dimension in `target_shape` must be a non-negative integer, or `-1` for a single "
        "unknown dimension.",
    ),
    "thresholds": (_shares, "Threshold values must be in [0, 1]."),
    "num_thresholds": (
        lambda n: isinstance(n, Integral) and n > 1,
        "Argument `num_thresholds` must be an integer > 1.",
    ),
    "specificity": (_share, "Argument `specificity` must be in the range [0, 1]."),
    "sensitivity": (_share, "Argument `sensitivity` must be in the range [0, 1]."),
    "recall": (_share, "Argument `recall` must be in the range [0, 1]."),
    "precision": (_share, "Argument `precision` must be in the range [0, 1]."),
    "curve": (
        ("ROC", "PR").__contains__,
        'Invalid AUC curve value. Expected values are ["PR", "ROC"].',
    ),
    "summation_method": (
        ("interpolation", "majoring", "minoring").__contains__,
        "Invalid AUC summation method value. Expected values are "
        '["interpolation", "majoring", "minoring"].',
    ),
    "average": (
        ("micro", "macro", "weighted").__contains__,
        "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}.",
    ),
    "beta": (
        lambda beta: isinstance(beta, float) and beta > 0,
        "Invalid `beta` argument value. It should be a float > 0.",
    ),
    "class_aggregation": (
        ("uniform_average", "variance_weighted_average").__contains__,
        "Invalid value for argument `class_aggregation`. Expected one of "
        "{None, 'uniform_average', 'variance_weighted_average'}.",
    ),
    "num_regressors": (
        _at_least_0,
        "Invalid value for argument `num_regressors`. Expected a value >= 0.",
    ),
}
"""What a value that is not None has to meet, and the first words of the error otherwise."""
for _many in ("kernel_size", "pool_size", "strides", "dilation_rate", "depth_multiplier"):
    _CHECKS[_many] = (_positive, f"The `{_many}` argument must be a tuple of positive integers.")


def _check(name: str, holds: Callable[[Any], bool], words: str) -> Callable[[Any], Any]:
    def checked(value) -> Any:
        if value is not None and not holds(value):
            raise ValueError(f"{words} Received: {name}={value}")
        return value

    return checked


_MEANT |= {name: _check(name, *row) for name, row in _CHECKS.items()}


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
