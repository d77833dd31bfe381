"""Layer 9 · compat: arguments of Keras's classes, written as text.

NOTE [settings]
The arguments of a class (see NOTE [arguments as text]) are also its configuration. Names of
activations, initializers, regularizers and constraints are looked up, and `_CHECKS` tells what an
argument of a name may be. In the text, ``{kernel bias
activity = ones zeros}`` are the initializers, the regularizers and the constraints of `kernel` and
`bias`, in this order, and for `activity` only a regularizer.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.kit.arguments import arguments
from wengert.compat.kit.rows import cells_of
from wengert.compat.tensorflow import initializers
from wengert.compat.tensorflow.keras import activations, constraints, regularizers

__all__ = ["settings"]

_MEANT: dict[str, Callable[[Any], Any]] = {
    "activation": activations.get,
    "constraint": constraints.get,
    "initializer": initializers.get,
    "learning_rate": lambda rate: rate,
    "regularizer": regularizers.get,
}
"""The lookup for an argument, by the last word of its name."""


def _positive(value) -> bool:
    return all(
        isinstance(n, int | np.integer) and n > 0 for n in np.atleast_1d(np.asarray(value, object))
    )


_HOLDS: dict[str, Callable[[Any], bool]] = {
    "positive": _positive,
    "positive or -1": lambda value: value == -1 or _positive(value),
    "positive or None": lambda sizes: _positive([1 if n is None else n for n in sizes]),
    "at least 0": lambda value: value >= 0,
    "at least -1": lambda sizes: min(sizes, default=0) >= -1,
    "integer above 1": lambda value: isinstance(value, int | np.integer) and bool(value > 1),
    "in [0, 1]": lambda value: all(0 <= share <= 1 for share in np.ravel(value)),
    "a permutation": lambda dims: sorted(dims) == list(range(1, len(dims) + 1)),
}
_AS: dict[str, Callable[[Any], Any]] = {
    "units": int,
    "filters": int,
    "dims": tuple,
    "target_shape": tuple,
}
"""Conversions of arguments that hold."""
_CHECKS = """
    units | positive | Received an invalid value for `units`, expected a positive integer.
    filters | positive | Invalid value for argument `filters`. Expected a positive value.
    kernel_size pool_size strides dilation_rate depth_multiplier | positive
        | The `{}` argument must be a tuple of positive integers.
    groups | positive or -1 | Received an invalid value for argument `groups`, expected a positive
        integer (or `-1` for instance normalization).
    n size | positive | Argument `{}` should be a positive integer.
    rate stddev | in [0, 1]
        | Invalid value received for argument `{}`. Expected a float value between 0 and 1.
    noise_shape | positive or None
        | Invalid value received for argument `noise_shape`. Expected positive integers or None.
    max_value negative_slope | at least 0 | {} of a layer cannot be a negative value.
    dims | a permutation | Invalid permutation argument `dims` for Permute Layer. The set of indices
        in `dims` must be consecutive and start from 1.
    target_shape | at least -1 | Each dimension in `target_shape` must be a non-negative integer, or
        `-1` for a single unknown dimension.
    thresholds | in [0, 1] | Threshold values must be in [0, 1].
    num_thresholds | integer above 1 | Argument `num_thresholds` must be an integer > 1.
    specificity sensitivity recall precision | in [0, 1]
        | Argument `{}` must be in the range [0, 1].
    curve | ROC PR | Invalid AUC curve value. Expected values are ["PR", "ROC"].
    summation_method | interpolation majoring minoring | Invalid AUC summation method value.
        Expected values are ["interpolation", "majoring", "minoring"].
    average | micro macro weighted | Invalid `average` argument value. Expected one of:
        {{None, 'micro', 'macro', 'weighted'}}.
    data_format | channels_last
        | data_format is 'channels_last' here: move the channels to the last dimension.
    ema_momentum | in [0, 1] | `ema_momentum` must be in the range [0, 1].
    ema_overwrite_frequency | positive | `{}` must be an integer >= 1.
    gradient_accumulation_steps | integer above 1 | `{}` must be an integer >= 2.
    """
"""What arguments that are not None have to be, or one of what, and the error's first words."""


def _check(names: str, condition: str, words: str) -> None:
    holds = _HOLDS.get(condition) or condition.split().__contains__

    def checked(name: str, value) -> Any:
        if value is not None and not holds(value):
            raise ValueError(f"{words.format(name)} Received: {name}={value}")
        return value if value is None or name not in _AS else _AS[name](value)

    _MEANT.update({name: functools.partial(checked, name) for name in names.split()})


for _row in cells_of(_CHECKS):
    _check(*_row)


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
