"""Layer 9 · compat: what TensorFlow's variables are told of replicas: there is one here."""

from __future__ import annotations

import enum

__all__ = ["VariableAggregation", "VariableSynchronization"]


class VariableSynchronization(enum.Enum):
    """How replicas agree on a variable: accepted, and without a meaning on one device."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How replicas join their updates: accepted, and without a meaning on one device."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
