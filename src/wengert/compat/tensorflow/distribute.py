"""Layer 9 · compat: ``tf.distribute``: strategies, for a program on one device.

>>> strategy = tf.distribute.get_strategy()
>>> with strategy.scope():
...     v = tf.Variable(1.0)
>>> strategy.num_replicas_in_sync
1
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from wengert.compat.tensorflow.words import public


class ReduceOp(enum.Enum):
    """The reduction over replicas, of which there is one."""

    SUM = "SUM"
    MEAN = "MEAN"


class Strategy:
    """A strategy with one replica, on the CPU: a program runs once."""

    num_replicas_in_sync = 1

    def __init__(self, *args, **kwargs) -> None:
        """Accept at most one device."""
        devices = kwargs.get("devices", args[0] if args else None)
        if isinstance(devices, list | tuple) and len(devices) > 1:
            raise ValueError(f"there is one device here, the CPU, and {devices} were asked for")

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Return a context for creating variables and models."""
        _CURRENT.append(self)
        try:
            yield self
        finally:
            _CURRENT.pop()

    def run(self, fn, args=(), kwargs=None, options=None) -> Any:
        """Call a function."""
        return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op, value, axis=None) -> Any:
        """Return the value of the one replica; `axis` is not offered."""
        if axis is not None:
            raise ValueError("reduce over an axis is not offered here: use tf.reduce_sum")
        return value

    def experimental_distribute_dataset(self, dataset, options=None) -> Any:
        """Return the dataset itself."""
        return dataset

    def experimental_local_results(self, value) -> tuple[Any, ...]:
        """Return the value of the one replica."""
        return (value,)

    def gather(self, value, axis: int) -> Any:
        """Return the value of the one replica."""
        return value


class MirroredStrategy(Strategy):
    """A strategy for several devices; one is available."""


class OneDeviceStrategy(Strategy):
    """The strategy for one device."""


class _Replica:
    """The one replica."""

    replica_id_in_sync_group = 0
    num_replicas_in_sync = 1

    def all_reduce(self, reduce_op, value, options=None) -> Any:
        """Return the value itself."""
        return value


_DEFAULT = Strategy()
_CURRENT: list[Strategy] = []


def get_strategy() -> Strategy:
    """Return the current strategy, or the default one."""
    return _CURRENT[-1] if _CURRENT else _DEFAULT


def has_strategy() -> bool:
    """Return whether a strategy's scope is active.

    Examples
    --------
    >>> tf.distribute.has_strategy()
    False
    """
    return bool(_CURRENT)


def get_replica_context() -> Any:
    """Return the context of the one replica."""
    return _Replica()


__all__ = public(globals())
