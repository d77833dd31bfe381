"""Layer 9 · compat: ``tf.keras.constraints``: what is applied to weights after each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.configs import Configured, deserialize_keras_object
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of
from wengert.compat.tensorflow.refusal import refusal

__all__ = ["Constraint", "MaxNorm", "MinMaxNorm", "NonNeg", "UnitNorm", "get"]


class Constraint(Configured):
    """A class to derive from, whose instances map the value of a weight to another."""

    def __call__(self, w: Any) -> Any:
        """The value that the weight gets."""
        raise NotImplementedError

    def _norm(self, w: Any) -> Any:
        """The lengths along `axis`, with that dimension kept."""
        axes: Any = self.axis  # type: ignore[attr-defined]
        axes = tuple(axes) if isinstance(axes, list | tuple) else axes
        return np.sqrt(np.sum(np.square(numbers_of(w)), axis=axes, keepdims=True))


class NonNeg(Constraint):
    """Negative elements become 0.

    Examples
    --------
    >>> print(tf.keras.constraints.NonNeg()(tf.constant([-1.0, 2.0])).numpy())
    [-0.  2.]
    """

    def __call__(self, w: Any) -> Any:
        value = numbers_of(w)
        return constant_of(value * (value >= 0).astype(value.dtype))


class MaxNorm(Constraint):
    """Vectors that are longer than `max_value` are shortened to it."""

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        length = self._norm(w)
        wanted = np.clip(length, 0, self.max_value)
        return constant_of(numbers_of(w) * (wanted / (1e-7 + length)).astype(length.dtype))


class MinMaxNorm(Constraint):
    """The lengths of vectors are brought, at some `rate`, between two numbers."""

    def __init__(
        self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0
    ) -> None:
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        length = self._norm(w)
        inside = np.clip(length, self.min_value, self.max_value)
        wanted = self.rate * inside + (1 - self.rate) * length
        return constant_of(numbers_of(w) * (wanted / (1e-7 + length)).astype(length.dtype))


class UnitNorm(Constraint):
    """Vectors get the length 1."""

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        value, length = numbers_of(w), self._norm(w)
        return constant_of(value / (np.asarray(1e-7, value.dtype) + length))


_NAMES: dict[str, Any] = {
    "max_norm": MaxNorm,
    "min_max_norm": MinMaxNorm,
    "non_neg": NonNeg,
    "unit_norm": UnitNorm,
    "MaxNorm": MaxNorm,
    "MinMaxNorm": MinMaxNorm,
    "NonNeg": NonNeg,
    "UnitNorm": UnitNorm,
}


def get(identifier: Any) -> Any:
    """The constraint that a name stands for; others come back as they are.

    Raises
    ------
    ValueError: If there is none of that name.
    """
    if isinstance(identifier, dict):
        return deserialize_keras_object(identifier)
    if identifier is None or callable(identifier):
        return identifier() if isinstance(identifier, type) else identifier
    if identifier in _NAMES:
        return _NAMES[identifier]()
    raise ValueError(f"Could not interpret constraint identifier: {identifier}")


def __getattr__(name: str) -> Any:
    raise refusal("keras.constraints", name)


fill_sections(globals())
