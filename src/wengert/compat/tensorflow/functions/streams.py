"""Layer 9 · compat: the streams of random numbers that TensorFlow's functions draw from.

NOTE [seeds of TensorFlow]
A program has a global seed, or none, and each call may have one of its own. Calls with the same two
seeds go on with one stream; `set_seed` lets all of them begin again. Without any seed nobody can
foretell the numbers. They are NumPy's, and not those that TensorFlow draws.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.functions.values import integers, invalid, numbers_of, shown

__all__ = ["Streams", "set_seed", "stateless", "stream_of"]

_MASK = (1 << 64) - 1


class Streams:
    """The streams of a program, by the seeds of calls."""

    def __init__(self) -> None:
        self.seed: int | None = None
        self._streams: dict[int | None, np.random.Generator] = {}
        self._lock = threading.Lock()

    def start(self, seed: int) -> None:
        """Let all streams begin again, from a global seed."""
        with self._lock:
            self.seed = seed
            self._streams = {}

    def of(self, seed: int | None) -> np.random.Generator:
        """The stream of calls with a seed of their own, or with none."""
        with self._lock:
            stream = self._streams.get(seed)
            if stream is None:
                stream = self._streams[seed] = np.random.default_rng(self._start_of(seed))
        return stream

    def _start_of(self, seed: int | None) -> Any:
        if self.seed is None and seed is None:
            return None
        own = (0, 0) if seed is None else (1, seed & _MASK)
        every = (0, 0) if self.seed is None else (1, self.seed & _MASK)
        return [*every, *own]


_STREAMS = Streams()


def stream_of(seed) -> np.random.Generator:
    """The stream that a call with `seed` draws from."""
    return _STREAMS.of(None if seed is None else integers(seed, "seed")[0])


def set_seed(seed) -> None:
    """Set the global seed; all streams begin again.

    Parameters
    ----------
    seed : int. Any one.

    Examples
    --------
    >>> tf.random.set_seed(3)
    >>> a = tf.random.normal([2])
    >>> tf.random.set_seed(3)
    >>> bool(tf.reduce_all(a == tf.random.normal([2])))
    True
    """
    _STREAMS.start(integers(seed, "seed")[0])


def stateless(seed) -> np.random.Generator:
    """The stream that two numbers begin, the same each time.

    Raises
    ------
    InvalidArgumentError: If there are not two.
    """
    numbers = numbers_of(seed)
    if numbers.shape != (2,):
        raise invalid(
            "StatelessRandomGetKeyCounter", f"seed must have shape [2], not {shown(numbers.shape)}"
        )
    return np.random.default_rng([int(number) & _MASK for number in numbers])


fill_sections(globals())
