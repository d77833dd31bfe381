"""Layer 9 · compat: drawing TensorFlow's random numbers from streams.

Draws are scaled by recorded operations, so that they are differentiable in the mean, the standard
deviation and the bounds.

NOTE [seeds of TensorFlow]
A program may have a global seed, and each call an operation seed. Calls with the same two seeds
continue one stream; `set_seed` restarts all streams. Without an operation seed, the global seed
gives each call a seed of its own. Datasets with a seed restart their stream at each use, so that
two with equal seeds agree (`own_stream`). Without a seed the numbers are not reproducible. Uniform
and normal numbers and permutations are TensorFlow's (NOTE [Philox in TensorFlow]); the others are
drawn by NumPy.
"""

from __future__ import annotations

import functools
import random
import secrets
import threading
from typing import Any

import numpy as np

import wengert as wg
from wengert.base.dtypes import limits
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.philox import Philox, mixed
from wengert.compat.tensorflow.functions.values import integer, invalid, numbers_of, shown
from wengert.tape.record import T

_MASK = (1 << 64) - 1
_MOST = (1 << 31) - 1
_GRAPH = 87654321
"""The global seed of operations that have a seed while the program has none."""


class Streams:
    """The streams of a program, by the seeds of calls."""

    def __init__(self) -> None:
        self.seed: int | None = None
        self._streams: dict[Any, Philox] = {}
        self._lock = threading.Lock()
        self._seeds = random.Random()

    def start(self, seed: int) -> None:
        """Restart all streams from a global seed."""
        with self._lock:
            self.seed = seed
            self._streams = {}
            self._seeds = random.Random(seed)

    def of(self, seed: int | None, op: str, kind) -> Philox:
        """Return the stream for an operation and its seed, or for none."""
        with self._lock:
            if seed is not None:
                return self._streams.setdefault((op, seed, kind), self.begun(seed))
            if self.seed is None:
                return Philox(secrets.randbits(64), 0)
            own = self._seeds.randint(0, _MOST) % _MOST
            return Philox(self.seed % _MOST, own << 64)

    def begun(self, seed: int) -> Philox:
        """Return a new stream for an operation seed."""
        every = (_GRAPH if self.seed is None else self.seed) % _MOST
        return Philox(every, (seed % _MOST or (0 if every else _MOST)) << 64)


_STREAMS = Streams()


def stream_of(seed, op="", kind=None) -> Philox:
    """Return the stream that a call of an operation with `seed` draws from."""
    if isinstance(seed, Philox):
        return seed
    return _STREAMS.of(None if seed is None else integer(seed, "seed"), op, kind)


def own_stream(seed) -> Philox:
    """Return a new stream for `seed`, or for none."""
    return stream_of(None) if seed is None else _STREAMS.begun(integer(seed, "seed"))


class SeedGenerator:
    """Keras's seeds: one number, and the number of draws so far.

    Without a seed it takes one from Python's module `random`.
    """

    def __init__(self, seed=None, name: str | None = None) -> None:
        self.seed = seed
        self._state = [default_seed() if seed is None else int(seed), 0]

    def next(self, ordered=True) -> Any:
        """Return the pair of seeds of the next draw."""
        pair = V.constant_of(np.array(self._state, np.uint32))
        if ordered:
            self._state[1] += 1
        else:
            self._state = [(number + 1) * 5387 % 933199 for number in self._state]
        return pair

    def stream(self) -> Philox:
        """Return the stream of the next draw."""
        return stateless(self.next())


@functools.cache
def shared() -> SeedGenerator:
    """Return the generator of calls without a seed."""
    return SeedGenerator()


def default_seed() -> int:
    """Return a seed from Python's module `random`, as Keras does for want of one."""
    return random.randint(1, 10**9)


def set_seed(seed) -> None:
    """Set the global seed, and restart all streams.

    Parameters
    ----------
    seed : int. The global seed.

    Examples
    --------
    >>> tf.random.set_seed(3)
    >>> a = tf.random.normal([2])
    >>> tf.random.set_seed(3)
    >>> bool(tf.reduce_all(a == tf.random.normal([2])))
    True
    """
    _STREAMS.start(integer(seed, "seed"))


def stateless(seed) -> Philox:
    """Return a new stream for a pair of seeds.

    Raises
    ------
    InvalidArgumentError: If `seed` is not a pair.
    """
    numbers = numbers_of(seed)
    if numbers.shape != (2,):
        raise invalid(
            f"seed must have shape [2], not {shown(numbers.shape)}", "StatelessRandomGetKeyCounter"
        )
    first, second = (int(number) & _MASK for number in numbers)
    return mixed(first, second)


_FLOAT32 = np.dtype(np.float32)


def _scaled(op: str, drawn, mean, stddev, kind: np.dtype[Any]) -> Any:
    base = V.tensor_of(np.asarray(drawn).astype(kind))
    low, wide = V.tensor_of(mean, kind), V.tensor_of(stddev, kind)
    for value, given in ((low, mean), (wide, stddev)):
        if value._payload.dtype != kind:
            raise TypeError(f"Cannot convert {given!r} to EagerTensor of dtype {kind}")
    return V.computed(op, lambda: wg.add(wg.mul(base, wide), low))


def normals(seed, shape, mean, stddev, dtype) -> Any:
    """Draw normal numbers; `seed` is an operation seed, or a stream."""
    kind = V.dtype_of(dtype, _FLOAT32)
    rng = stream_of(seed, "RandomStandardNormal", kind)
    drawn = rng.normal_of(V.shape_of(shape, "RandomStandardNormal"), kind)
    return _scaled("RandomStandardNormal", drawn, mean, stddev, kind)


def truncated_normals(seed, shape, mean, stddev, dtype) -> Any:
    """Draw normal numbers at most two standard deviations from the mean (see `normals`)."""
    kind = V.dtype_of(dtype, _FLOAT32)
    rng = stream_of(seed, "TruncatedNormal", kind)
    drawn = rng.truncated_of(V.shape_of(shape, "TruncatedNormal"), kind)
    return _scaled("TruncatedNormal", drawn, mean, stddev, kind)


def uniforms(seed, shape, minval, maxval, dtype) -> Any:
    """Draw uniform numbers from ``[minval, maxval)``; integers for an integer dtype."""
    kind = V.dtype_of(dtype, _FLOAT32)
    rng = stream_of(seed, "RandomUniform", kind)
    sizes = V.shape_of(shape, "RandomUniform")
    if kind.kind in "iu":
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype tf.{kind}")
        low, high = V.numbers_of(minval), V.numbers_of(maxval)
        if (low >= high).any():
            raise V.invalid(f"Need minval < maxval, got {low} >= {high}", "RandomUniformInt")
        return V.constant_of(rng.below(low, high, sizes, kind))
    top = 1 if maxval is None else maxval
    drawn = V.tensor_of(rng.uniform_of(sizes, kind))
    low, high = V.tensor_of(minval, kind), V.tensor_of(top, kind)
    return V.computed("RandomUniform", lambda: wg.add(wg.mul(drawn, wg.sub(high, low)), low))


def gammas(rng, shape, alpha, beta, dtype, after: bool) -> Any:
    """Draw gamma numbers; if `after`, the shape of the parameters is appended to `shape`."""
    kind = V.dtype_of(dtype, _FLOAT32)
    a = V.tensor_of(alpha, kind)
    V.check(a, V.FLOATING, op="RandomGamma")
    b = V.tensor_of(1.0 if beta is None else beta, kind)
    concentration = np.broadcast_to(
        V.numbers_of(a), np.broadcast_shapes(a._payload.shape, b._payload.shape)
    )
    sizes = V.shape_of(shape, "RandomGamma")
    if after:
        sizes = (*sizes, *concentration.shape)
    drawn = np.maximum(rng.standard_gamma(concentration, sizes), limits(kind).tiny)
    sample = V.tensor_of(drawn.astype(kind))
    return V.computed("RandomGamma", lambda: wg.div(T._standard_gamma(a.expand(sizes), sample), b))


def poissons(rng, shape, lam, dtype, after: bool) -> Any:
    """Draw Poisson numbers; if `after`, the shape of the parameter is appended to `shape`."""
    rate = V.numbers_of(lam)
    sizes = V.shape_of(shape, "RandomPoissonV2")
    if after:
        sizes = (*sizes, *rate.shape)
    return V.constant_of(np.asarray(rng.poisson(rate, sizes)).astype(V.dtype_of(dtype, _FLOAT32)))


def binomials(rng, shape, counts, probs, dtype) -> Any:
    """Draw binomial numbers."""
    drawn = rng.binomial(
        V.numbers_of(counts).astype(np.int64), V.numbers_of(probs), V.shape_of(shape, "Binomial")
    )
    return V.constant_of(np.asarray(drawn).astype(V.dtype_of(dtype, np.dtype(np.int32))))


def categories(rng, logits, num_samples, dtype) -> Any:
    """Draw classes for each row of log-probabilities."""
    scores = V.numbers_of(logits)
    if scores.ndim != 2:
        raise V.invalid(f"logits should be a matrix, got shape {list(scores.shape)}", "Multinomial")
    (count,) = V.integers(num_samples, "num_samples")
    # the Gumbel-max trick: the largest score after adding Gumbel noise
    noise = rng.gumbel(size=(scores.shape[0], count, scores.shape[1]))
    found = np.argmax(scores[:, None, :] + noise, -1)
    return V.constant_of(found.astype(V.dtype_of(dtype, np.dtype(np.int64))))


def permuted(rng, value) -> Any:
    """Return the rows in random order."""
    x = V.tensor_of(value)
    if not x._payload.ndim:
        return V.made(x)
    order = rng.order_of(x._payload.shape[0])
    return V.computed("RandomShuffle", wg.index_select, x, 0, wg.as_tensor(order))


__all__ = defined(globals())
