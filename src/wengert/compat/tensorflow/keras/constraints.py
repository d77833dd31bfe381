"""Layer 9 · compat: ``tf.keras.constraints``: functions applied to weights after each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.kit.arguments import arguments
from wengert.compat.kit.namespaces import functions_of
from wengert.compat.tensorflow.configs import Configured, getter, snake_case
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of
from wengert.compat.tensorflow.words import public


class Constraint(Configured):
    """Base class for constraints, which project the value of a weight."""

    def __call__(self, w) -> Any:
        """Return the constrained value."""
        raise NotImplementedError

    def _norm(self, w) -> Any:
        """Return the norms along `axis`, with that dimension kept."""
        axes = tuple(self.axis) if isinstance(self.axis, list | tuple) else self.axis
        return np.sqrt(np.sum(np.square(numbers_of(w)), axis=axes, keepdims=True))


class NonNeg(Constraint):
    """Sets negative elements to 0.

    Examples
    --------
    >>> print(tf.keras.constraints.NonNeg()(tf.constant([-1.0, 2.0])).numpy())
    [-0.  2.]
    """

    def __call__(self, w) -> Any:
        value = numbers_of(w)
        return constant_of(value * (value >= 0).astype(value.dtype))


@arguments("max_value=2, axis=0")
class MaxNorm(Constraint):
    """Scales vectors down to a norm of at most `max_value`."""

    def __call__(self, w) -> Any:
        length = self._norm(w)
        wanted = np.clip(length, 0, self.max_value)
        return constant_of(numbers_of(w) * (wanted / (1e-7 + length)).astype(length.dtype))


@arguments("min_value=0.0, max_value=1.0, rate=1.0, axis=0")
class MinMaxNorm(Constraint):
    """Moves the norms of vectors into an interval, at some `rate`."""

    def __call__(self, w) -> Any:
        length = self._norm(w)
        inside = np.clip(length, self.min_value, self.max_value)
        wanted = self.rate * inside + (1 - self.rate) * length
        return constant_of(numbers_of(w) * (wanted / (1e-7 + length)).astype(length.dtype))


@arguments("axis=0")
class UnitNorm(Constraint):
    """Scales vectors to norm 1."""

    def __call__(self, w) -> Any:
        value, length = numbers_of(w), self._norm(w)
        return constant_of(value / (np.asarray(1e-7, value.dtype) + length))


for _name, _kind in functions_of(globals(), "Constraint").items():  # lower-case aliases
    if isinstance(_kind, type):
        globals()[snake_case(_name)] = _kind

get = getter("constraint", globals(), Constraint)


__all__ = public(globals())
