"""Layer 9 · compat: ``tf.random``: random numbers, reproducible from seeds.

Uniform and normal numbers are those that TensorFlow draws (NOTE [seeds of TensorFlow]).

>>> tf.random.set_seed(5)
>>> tf.random.uniform([2, 3]).shape
TensorShape([2, 3])
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from wengert.compat.tensorflow.functions import drawing
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.drawing import set_seed as set_seed
from wengert.compat.tensorflow.functions.drawing import stateless, stream_of
from wengert.compat.tensorflow.functions.philox import Philox
from wengert.compat.tensorflow.functions.values import constant_of
from wengert.compat.tensorflow.words import public


def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None, name=None) -> Any:
    """Draw normal numbers.

    Parameters
    ----------
    shape : sequence of int, or Tensor. The shape of the result.
    mean, stddev : Tensor. The mean and the standard deviation, which broadcast.
    dtype : DType, optional. A floating dtype; float32 by default.
    seed : int, optional. See `set_seed`.

    Returns
    -------
    Tensor: Differentiable in `mean` and `stddev`.

    Raises
    ------
    TypeError: If `dtype` is an integer dtype.

    Examples
    --------
    >>> tf.random.normal([2, 3], seed=1).shape
    TensorShape([2, 3])
    """
    return drawing.normals(seed, shape, mean, stddev, dtype)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None, name=None) -> Any:
    """Draw normal numbers at most two standard deviations from the mean (see `normal`).

    Examples
    --------
    >>> bool(tf.reduce_max(tf.abs(tf.random.truncated_normal([100]))) <= 2)
    True
    """
    return drawing.truncated_normals(seed, shape, mean, stddev, dtype)


def uniform(shape, minval=0, maxval=None, dtype=None, seed=None, name=None) -> Any:
    """Draw uniform numbers from ``[minval, maxval)``.

    Parameters
    ----------
    shape : sequence of int, or Tensor. The shape of the result.
    minval, maxval : Tensor. The bounds, which broadcast; `maxval` defaults to 1, and is required
        for integers.
    dtype : DType, optional. float32 by default.
    seed : int, optional. See `set_seed`.

    Returns
    -------
    Tensor: Differentiable in the bounds, unless its dtype is an integer dtype.

    Raises
    ------
    ValueError: If `dtype` is an integer dtype and `maxval` is missing.

    Examples
    --------
    >>> tf.random.uniform([4], maxval=10, dtype=tf.int32).dtype
    tf.int32
    """
    return drawing.uniforms(seed, shape, minval, maxval, dtype)


def gamma(shape, alpha, beta=None, dtype=None, seed=None, name=None) -> Any:
    """Draw gamma numbers, `shape` of them for each `alpha`; differentiable.

    Examples
    --------
    >>> tf.random.gamma([3], [1.0, 2.0]).shape
    TensorShape([3, 2])
    """
    return drawing.gammas(stream_of(seed), shape, alpha, beta, dtype, True)


def poisson(shape, lam, dtype=None, seed=None, name=None) -> Any:
    """Draw Poisson numbers, `shape` of them for each `lam`.

    Examples
    --------
    >>> tf.random.poisson([3], [1.0, 2.0]).shape
    TensorShape([3, 2])
    """
    return drawing.poissons(stream_of(seed), shape, lam, dtype, True)


def categorical(logits, num_samples, dtype=None, seed=None, name=None) -> Any:
    """Draw `num_samples` classes for each row of log-probabilities, as int64.

    Examples
    --------
    >>> tf.random.categorical([[0.0, 0.0]], 5).shape
    TensorShape([1, 5])
    """
    return drawing.categories(stream_of(seed), logits, num_samples, dtype)


def shuffle(value, seed=None, name=None) -> Any:
    """Return the rows of a tensor in random order; differentiable.

    Examples
    --------
    >>> print(tf.sort(tf.random.shuffle([3, 1, 2])).numpy())
    [1 2 3]
    """
    return drawing.permuted(stream_of(seed, "RandomShuffle"), value)


# -- from two numbers ------------------------------------------------------------------------------


def stateless_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=None, name=None, alg="auto_select"
) -> Any:
    """Draw normal numbers determined by `seed`, a pair of integers.

    Raises
    ------
    InvalidArgumentError: If `seed` is not a pair of integers.

    Examples
    --------
    >>> a, b = (tf.random.stateless_normal([2], seed=[1, 2]) for _ in range(2))
    >>> bool(tf.reduce_all(a == b))
    True
    """
    return drawing.normals(stateless(seed), shape, mean, stddev, dtype)


def stateless_truncated_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=None, name=None, alg="auto_select"
) -> Any:
    """Draw normal numbers at most two standard deviations from the mean (see `stateless_normal`).

    Examples
    --------
    >>> tf.random.stateless_truncated_normal([2], seed=[1, 2]).shape
    TensorShape([2])
    """
    return drawing.truncated_normals(stateless(seed), shape, mean, stddev, dtype)


def stateless_uniform(
    shape, seed, minval=0, maxval=None, dtype=None, name=None, alg="auto_select"
) -> Any:
    """Draw uniform numbers (see `uniform`) determined by `seed`, a pair of integers.

    Examples
    --------
    >>> tf.random.stateless_uniform([2], seed=[1, 2]).shape
    TensorShape([2])
    """
    return drawing.uniforms(stateless(seed), shape, minval, maxval, dtype)


def stateless_gamma(shape, seed, alpha, beta=None, dtype=None, name=None) -> Any:
    """Draw gamma numbers determined by `seed`; `shape` is the shape of the result.

    Examples
    --------
    >>> tf.random.stateless_gamma([3, 2], [1, 2], alpha=[1.0, 2.0]).shape
    TensorShape([3, 2])
    """
    return drawing.gammas(stateless(seed), shape, alpha, beta, dtype, False)


def stateless_poisson(shape, seed, lam, dtype="int32", name=None) -> Any:
    """Draw Poisson numbers determined by `seed`; `shape` is the shape of the result.

    Examples
    --------
    >>> tf.random.stateless_poisson([3], [1, 2], lam=4.0).dtype
    tf.int32
    """
    return drawing.poissons(stateless(seed), shape, lam, dtype, False)


def stateless_binomial(shape, seed, counts, probs, output_dtype=None, name=None) -> Any:
    """Draw binomial numbers determined by `seed`.

    Examples
    --------
    >>> tf.random.stateless_binomial([3], [1, 2], counts=10, probs=0.5).shape
    TensorShape([3])
    """
    return drawing.binomials(stateless(seed), shape, counts, probs, output_dtype)


def stateless_categorical(logits, num_samples, seed, dtype=None, name=None) -> Any:
    """Draw classes (see `categorical`) determined by `seed`.

    Examples
    --------
    >>> tf.random.stateless_categorical([[0.0, 0.0]], 5, seed=[1, 2]).shape
    TensorShape([1, 5])
    """
    return drawing.categories(stateless(seed), logits, num_samples, dtype)


# -- generators ------------------------------------------------------------------------------------


class Generator:
    """A stream of random numbers with its own state.

    Created by `from_seed`, `from_non_deterministic_state` or `split`.

    Examples
    --------
    >>> g = tf.random.Generator.from_seed(1)
    >>> g.normal([2]).shape
    TensorShape([2])
    """

    def __init__(self, copy_from=None, state=None, alg=None) -> None:
        if copy_from is not None:
            state = copy_from._state()
        if state is None:
            raise ValueError("a Generator takes copy_from or state: see Generator.from_seed(seed)")
        low, high, key = (int(number) & _WORD for number in V.numbers_of(state)[:3])
        self._rng = Philox(key, high << 64 | low)

    def _state(self) -> Any:
        words = self._rng.counter & _WORD, self._rng.counter >> 64, self._rng.key
        return np.array(words, np.uint64).view(np.int64)

    @property
    def state(self) -> Any:
        """The counter, in two numbers, and the key."""
        return constant_of(self._state())

    @classmethod
    def from_seed(cls, seed, alg=None) -> Generator:
        """Build a generator from a seed."""
        return cls(state=_start(seed))

    @classmethod
    def from_state(cls, state, alg=None) -> Generator:
        """Build a generator from the `state` of another one."""
        return cls(state=state)

    @classmethod
    def from_key_counter(cls, key, counter, alg=None) -> Generator:
        """Build a generator from a key and two numbers of a counter."""
        return cls(state=np.append(V.numbers_of(counter), V.numbers_of(key)))

    @classmethod
    def from_non_deterministic_state(cls, alg=None) -> Generator:
        """Build a generator with an unpredictable seed."""
        return cls(state=_start([secrets.randbits(63) for _ in range(3)]))

    def reset_from_seed(self, seed) -> None:
        """Restart from a seed."""
        self.__init__(state=_start(seed))  # type: ignore[misc]  # no subclass has another one

    def split(self, count=1) -> list[Generator]:
        """Return generators independent of this one and each other."""
        keys = self._full((int(count),), np.dtype(np.int64))
        return [Generator(state=np.array([0, 0, key])) for key in keys]

    def skip(self, delta: int) -> None:
        """Go on as if `delta` numbers had been drawn."""
        self._rng.skip(int(delta))

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=None, name=None) -> Any:
        """Draw normal numbers (see `wengert.compat.tensorflow.random.normal`)."""
        return drawing.normals(self._rng, shape, mean, stddev, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=None, name=None) -> Any:
        """Draw normal numbers at most two standard deviations from the mean."""
        return drawing.truncated_normals(self._rng, shape, mean, stddev, dtype)

    def uniform(self, shape, minval=0, maxval=None, dtype=None, name=None) -> Any:
        """Draw uniform numbers (see `wengert.compat.tensorflow.random.uniform`)."""
        return drawing.uniforms(self._rng, shape, minval, maxval, dtype)

    def uniform_full_int(self, shape, dtype="uint64", name=None) -> Any:
        """Draw integers over the whole range of a dtype."""
        kind = np.dtype(dtype if isinstance(dtype, str) else dtype.as_numpy_dtype)
        return constant_of(self._full(tuple(shape), kind))

    def _full(self, sizes: tuple[int, ...], kind) -> Any:
        wide = np.dtype(f"u{max(kind.itemsize, 4)}")
        return self._rng.words_of(sizes, wide).astype(kind)

    def binomial(self, shape, counts, probs, dtype=None, name=None) -> Any:
        """Draw binomial numbers."""
        return drawing.binomials(self._rng, shape, counts, probs, dtype)


_WORD = (1 << 64) - 1


def _start(seed) -> Any:
    """Return the state of a seed of up to three numbers."""
    numbers = [int(number) & _WORD for number in np.ravel(V.numbers_of(seed))][:3]
    return np.array([*numbers, 0, 0][:3], np.uint64)


_GLOBAL: list[Generator] = []


def get_global_generator() -> Generator:
    """Return the program's global generator, created on first use.

    Examples
    --------
    >>> tf.random.get_global_generator() is tf.random.get_global_generator()
    True
    """
    if not _GLOBAL:
        _GLOBAL.append(Generator.from_non_deterministic_state())
    return _GLOBAL[0]


def set_global_generator(generator: Generator) -> None:
    """Make a generator the program's global one.

    Examples
    --------
    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(3))
    """
    _GLOBAL[:] = [generator]


__all__ = public(globals(), "set_seed")
