"""Layer 9 · compat: TensorFlow's random numbers, which a counter and a key determine.

NOTE [Philox in TensorFlow]
The generator maps a counter of 128 bits and a key of 64 bits to four numbers of 32 bits (Salmon and
others, "Parallel random numbers: as easy as 1, 2, 3", 2011). A draw takes the numbers of successive
counters; a truncated normal draw has those of 64 counters for each result, of which it takes the
first that fit. A generator with a state then goes on behind 256 counters for each result.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["Philox", "mixed"]

_LOW = np.uint64(0xFFFFFFFF)
_FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_TAIL = 1.0e-7
"""The least number whose logarithm is taken."""


def _blocks(key: int, counter: int, places) -> Any:
    """Return four numbers of 32 bits for each place after a counter, as rows."""
    low = np.uint64(counter & 0xFFFFFFFFFFFFFFFF) + np.asarray(places, np.uint64)
    high = np.uint64(counter >> 64) + (low < np.asarray(places, np.uint64))
    x = [low & _LOW, low >> np.uint64(32), high & _LOW, high >> np.uint64(32)]
    k = [np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32 & 0xFFFFFFFF)]
    for _ in range(10):
        one, two = x[0] * _FACTORS[0], x[2] * _FACTORS[1]
        x = [
            (two >> np.uint64(32)) ^ x[1] ^ k[0],
            two & _LOW,
            (one >> np.uint64(32)) ^ x[3] ^ k[1],
            one & _LOW,
        ]
        k = [(part + step) & _LOW for part, step in zip(k, _STEPS, strict=True)]
    return np.stack(x, -1).astype(np.uint32)


def mixed(first: int, second: int) -> Philox:
    """Return the generator of a pair of seeds, as stateless functions scramble them."""
    words = _blocks(0x02461E293EC8F720, second << 64 | first, [0])[0]
    a, b, c, d = (int(word) for word in words)
    return Philox(b << 32 | a, (d << 32 | c) << 64, False)


class Philox(np.random.Generator):
    """A generator of TensorFlow's numbers; what is not defined here is drawn by NumPy.

    Parameters
    ----------
    key, counter : int. Its state, of 64 and 128 bits.
    lasting : bool. Whether a draw goes on behind the last one.
    """

    def __init__(self, key: int, counter: int, lasting=True) -> None:
        super().__init__(np.random.PCG64([key, counter]))
        self.key, self.counter, self.lasting = key, counter, lasting

    def __reduce__(self) -> Any:
        return Philox, (self.key, self.counter, self.lasting)

    def words(self, count: int, wide=1) -> Any:
        """Return `wide` numbers of 32 bits for each of `count` results.

        A generator that advances goes on behind them.
        """
        blocks = np.arange(-(-count * wide // 4))
        drawn = _blocks(self.key, self.counter, blocks).ravel()[: count * wide]
        self.skip(count)
        return drawn

    def singles(self) -> Iterator[int]:
        """Yield numbers of 32 bits one by one, from its counter on, which stays."""
        for place in itertools.count(0, 64):
            yield from (
                _blocks(self.key, self.counter, np.arange(place, place + 64)).ravel().tolist()
            )

    def words_of(self, sizes: tuple[int, ...], kind) -> Any:
        """Draw numbers of 32 or 64 bits."""
        count = int(np.prod(sizes))
        if kind.itemsize < 8:
            return self.words(count).reshape(sizes)
        pairs = self.words(count, 2).reshape(-1, 2).astype(np.uint64)
        return (pairs[:, 0] | pairs[:, 1] << np.uint64(32)).reshape(sizes)

    def skip(self, count: int) -> None:
        """Go on behind `count` results, if this generator advances."""
        if self.lasting:
            self.counter = (self.counter + count * 256) & ((1 << 128) - 1)

    def uniform_of(self, sizes: tuple[int, ...], kind) -> Any:
        """Draw numbers in [0, 1)."""
        words = self.words(int(np.prod(sizes)), 2 if kind == np.float64 else 1)
        return _unit(words, kind).reshape(sizes)

    def normal_of(self, sizes: tuple[int, ...], kind) -> Any:
        """Draw normal numbers, in pairs."""
        count = int(np.prod(sizes))
        wide = 2 if kind == np.float64 else 1
        words = _blocks(self.key, self.counter, np.arange(-(-count * wide // 4)))
        pairs = _pairs(words.reshape(-1, 2 * wide), kind)
        self.skip(count)
        return pairs.ravel()[:count].astype(kind).reshape(sizes)

    def truncated_of(self, sizes: tuple[int, ...], kind) -> Any:
        """Draw normal numbers between -2 and 2."""
        count, wide = int(np.prod(sizes)), 2 if kind == np.float64 else 1
        group = 4 // wide  # results that share one stretch of numbers
        stretches, taken = -(-count // group), 8
        while True:
            places = np.arange(stretches)[:, None] * (group * 64) + np.arange(taken)
            words = _blocks(self.key, self.counter, places).reshape(stretches, -1, 2 * wide)
            found = _pairs(words, kind).reshape(stretches, -1)
            near = np.abs(found) < 2
            if (near.sum(1) >= group).all():
                break
            taken *= 2
        order = np.argsort(~near, 1, kind="stable")[:, :group]
        self.skip(count)
        drawn = np.take_along_axis(found, order, 1).ravel()[:count]
        return drawn.astype(kind).reshape(sizes)

    def order_of(self, count: int) -> Any:
        """Draw a permutation: each place is exchanged with one from it on."""
        order, start = np.arange(count), self.counter
        words = self.words(max(count - 1, 0)).tolist()
        self.counter = start + self.lasting * -(-len(words) // 4)
        for i, word in enumerate(words):
            other = i + word % (count - i)
            order[i], order[other] = order[other], order[i]
        return order

    def below(self, low, high, sizes: tuple[int, ...], kind) -> Any:
        """Draw integers from ``[low, high)``."""
        drawn = self.words_of(sizes, kind)
        span = (np.asarray(high).astype(kind) - np.asarray(low).astype(kind)).astype(drawn.dtype)
        return np.asarray(low).astype(kind) + (drawn % span).astype(kind)


def _unit(words, kind) -> Any:
    """Return numbers in [0, 1) from the low bits of words."""
    if kind == np.float64:
        high, low = words[0::2].astype(np.uint64), words[1::2].astype(np.uint64)
        bits = (high & np.uint64(0xFFFFF)) << np.uint64(32) | low | np.uint64(1023 << 52)
        return bits.view(np.float64) - 1.0
    if kind == np.float16:
        bits = (words.astype(np.uint16) & np.uint16(0x3FF)) | np.uint16(15 << 10)
        return bits.view(np.float16) - np.float16(1)
    bits = (words & np.uint32(0x7FFFFF)) | np.uint32(127 << 23)
    return (bits.view(np.float32) - np.float32(1)).astype(kind)


def _pairs(words, kind) -> Any:
    """Return pairs of normal numbers, by the polar form of two uniform ones."""
    wide = words.shape[-1] // 2
    number = np.dtype(np.float64 if kind == np.float64 else np.float32)
    one, two = (
        _unit(part.ravel(), number).reshape(words.shape[:-1])
        for part in (words[..., :wide], words[..., wide:])
    )
    angle = number.type(2 * np.pi) * two
    size = np.sqrt(number.type(-2) * np.log(np.maximum(one, number.type(_TAIL))))
    return np.stack([np.sin(angle) * size, np.cos(angle) * size], -1)
