"""Layer 1 · kernels: PyTorch's random number generator on the CPU, reproduced exactly.

NOTE [random streams]
A seed gives the numbers that it gives in PyTorch on a CPU: the same generator (the 32-bit Mersenne
Twister of Matsumoto and Nishimura, ACM TOMACS 8, 1998), drawn from in the same order, mapped by the
same formulas. Uniform numbers, integers and permutations agree bit for bit. Normal numbers go
through a logarithm, a square root and a cosine, whose last bit depends on the mathematical library:
fewer than 16 of them use the C library's as PyTorch does, more of them NumPy's.

Functions named after a distribution return ``count`` numbers in a flat array of ``dtype``.
"""

from __future__ import annotations

import ctypes
import functools
import math
from _thread import RLock  # importing `threading` takes as long as importing a kernel
from math import cos, log1p, sin, sqrt
from typing import Any

import numpy as np

from wengert.base.error_states import errstate
from wengert.base.ports import PORTS, filled
from wengert.kernels.fused import fused

_WORD = 0xFFFFFFFF
_SIZE = 624
# arrays, since NumPy takes longer to convert a Python number than to process a few elements
_LOW_24 = {size: np.array((1 << 24) - 1, f"u{size}") for size in (4, 8)}
_STEP_24 = np.array(2.0**-24, np.float32)
_MASK_53 = (1 << 53) - 1
_HALF = np.array(32, np.uint64)
_LOW_53, _STEP_53 = np.array(_MASK_53, np.uint64), np.array(2.0**-53)
_SINGLE, _DOUBLE, _LONG = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)
_BLOCK = 16
_TURN = 2.0 * math.pi
_CONSTANTS: dict[Any, tuple[Any, ...]] = {
    kind: (
        *[np.array(value, kind) for value in (1.0, -2.0, _TURN)],
        np.dtype((np.void, kind.itemsize * _BLOCK // 2)),
    )
    for kind in (_SINGLE, _DOUBLE)
}
"""The constants of Box and Muller's formula, and half a block as a single item."""
_WIDE_RANGE = 1 << 28
"""The range from which PyTorch draws 64 bits for an integer, to avoid a skewed remainder."""
_MANY = 4096
"""The number of draws from which native code is used, if loaded."""
_CHUNK = 1 << 15
"""The number of elements per block, which stays in the cache."""

STATE = np.dtype(
    {
        "names": ["seed", "left", "seeded", "next", "key", "x", "y", "rho", "has", "f", "has_f"],
        "formats": ["u8", "i4", "i4", "u8", (np.uint64, _SIZE), "f8", "f8", "f8", "i4", "f4", "i1"],
        "offsets": [0, 8, 12, 16, 24, 5016, 5024, 5032, 5040, 5048, 5052],
        "itemsize": 5056,
    }
)
"""The bytes of PyTorch's generator state, so that states can be exchanged: `y` is a normal number
drawn ahead, valid if `has`; `f`, `has_f` the same in single precision."""


class _Zeros:
    """A constant seed sequence: hashing a real one takes longer than seeding again."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        # NumPy requests the words one by one, which is fastest for a sequence of this class
        return bytes(n_words)


@functools.cache
def _unseeded() -> Any:
    np.random.bit_generator.ISeedSequence.register(_Zeros)
    return _Zeros()


_SPARE: list[tuple[Any, Any]] = []
"""Twisters of dead streams, for reuse: NumPy takes long to make one."""
_MOST_SPARE = 8


class Stream:
    """The state of one generator: the twister, and a normal number drawn ahead.

    Parameters
    ----------
    seed: An integer of 64 bits, of which the generator takes the lower 32, as PyTorch's does.
    """

    __slots__ = ("_bits", "_legacy", "ahead", "lock", "raw", "seed")
    _bits: Any
    _legacy: Any

    def __init__(self, seed: int) -> None:
        self.lock = RLock()
        try:
            self._bits, self._legacy = _SPARE.pop()
        except IndexError:
            self._bits = np.random.MT19937(_unseeded())
            self._legacy = np.random.RandomState(self._bits)
        self.raw = self._bits.random_raw
        self.ahead: float | None = None
        self.reseed(seed)

    def __del__(self, spare: list[Any] = _SPARE, most: int = _MOST_SPARE) -> None:
        # the next stream is reseeded; defaults, since module globals may vanish before the last one
        if len(spare) < most and hasattr(self, "_legacy"):
            spare.append((self._bits, self._legacy))

    def reseed(self, seed: int) -> None:
        """Restart from `seed`."""
        with self.lock:
            self.seed = seed
            self.ahead = None
            # RandomState seeds with the twister's original rule; the newer classes hash the seed
            self._legacy.seed(seed & _WORD)

    def state(self) -> Any:
        """Return the state of the twister, for `restore`."""
        return self._bits.state

    def restore(self, state: Any) -> None:
        """Continue from a saved state."""
        self._bits.state = state

    def source(self) -> tuple[int, int]:
        """Return the addresses of the C function that draws a 32-bit number and of its argument."""
        interface = self._bits.ctypes
        return ctypes.cast(
            interface.next_uint32, ctypes.c_void_p
        ).value or 0, interface.state_address

    def bits(self, count: int) -> Any:
        """Draw `count` 32-bit numbers, as an unsigned dtype of 32 or 64 bits.

        NumPy draws one number per call. Native code is four times as fast for many, but takes
        longer to load than to draw millions, so it is used only if it has been loaded for another
        purpose.
        """
        if count >= _MANY and filled("fused"):
            with self._bits.lock:
                made = PORTS.twisted(self._bits, count)
            if made is not None:
                return made
        return self.raw(count)

    def words(self, count: int) -> Any:
        """Draw `count` 32-bit numbers."""
        # only the lower half of each 64-bit number is set; casting is independent of the byte order
        return self.bits(count).astype(np.uint32, copy=False)

    def wide(self, count: int) -> Any:
        """Draw `count` 64-bit numbers, each with its first word as the high one."""
        bits = self.bits(2 * count)
        high = np.left_shift(bits[0::2], _HALF, dtype=np.uint64)
        high |= bits[1::2]
        return high

    def pack(self) -> Any:
        """Return the state as the 5056 bytes of PyTorch's generator state."""
        record = np.zeros((), STATE)
        with self.lock:
            inner = self._bits.state["state"]
            key, position = inner["key"], int(inner["pos"])
            record["seed"], record["seeded"], record["key"] = self.seed, 1, key
            # in PyTorch a generator that was seeded but not drawn from is full at position 0
            fresh = position == _SIZE and int(key[0]) == self.seed & _WORD
            record["left"] = 1 if position == _SIZE else _SIZE + 1 - position
            record["next"] = 0 if fresh else position
            if self.ahead is not None:
                record["y"], record["has"] = self.ahead, 1
        return np.frombuffer(record.tobytes(), np.uint8).copy()

    def unpack(self, packed: Any) -> None:
        """Set the state from the bytes that `pack` returns.

        Raises
        ------
        ValueError: If the bytes are not a state.
        """
        record = np.frombuffer(np.ascontiguousarray(packed).tobytes(), STATE)[0]
        left, position = int(record["left"]), int(record["next"])
        if not (record["seeded"] and 0 < left <= _SIZE and position <= _SIZE):
            raise ValueError("Invalid mt19937 state")
        key = record["key"].astype(np.uint32)
        position = _SIZE if left == 1 else position
        with self.lock:
            self._bits.state = {
                "bit_generator": "MT19937",
                "state": {"key": key, "pos": position},
            }
            self.seed = int(record["seed"])
            self.ahead = float(record["y"]) if record["has"] else None


def units(stream: Stream, count: int, dtype: Any) -> Any:
    """Draw uniform numbers in [0, 1): doubles for a double dtype, else single precision."""
    if dtype == _DOUBLE:
        bits = stream.wide(count)
        np.bitwise_and(bits, _LOW_53, bits)
        unit = bits.astype(_DOUBLE)
        return np.multiply(unit, _STEP_53, unit)
    bits = stream.bits(count)
    np.bitwise_and(bits, _LOW_24[bits.itemsize], bits)
    unit = bits.astype(_SINGLE)
    return np.multiply(unit, _STEP_24, unit)


def _shifted(x: Any, factor: Any, term: Any) -> Any:
    """Compute ``x * factor + term``, or return `x` if that is the identity."""
    if factor == 1.0:
        return x if term == 0.0 else x + x.dtype.type(term)
    return fused(x, factor, term) if term != 0.0 else x * x.dtype.type(factor)


def uniform(stream: Stream, count: int, dtype: Any, low: float = 0.0, high: float = 1.0) -> Any:
    """Draw uniform numbers in [low, high)."""
    unit = units(stream, count, dtype)
    if low != 0.0 or high != 1.0:
        # round the bounds first, as PyTorch does
        bottom = unit.dtype.type(low)
        unit = _shifted(unit, unit.dtype.type(high) - bottom, bottom)
    if unit.dtype == dtype:
        return unit
    # rounding to fewer bits can reach the open end
    short = unit.astype(dtype)
    short[short == dtype.type(high)] = low
    return short


def normal(stream: Stream, count: int, dtype: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Draw normal numbers as for contiguous memory: in blocks of 16, unless they are fewer."""
    if count < _BLOCK:
        return normal_serial(stream, count, dtype, mean, std)
    kind = dtype if dtype.itemsize >= 4 else _SINGLE
    rest = count % _BLOCK
    whole = count - rest
    out = np.empty(count, dtype)
    with stream.lock:
        for start in range(0, whole, _CHUNK):
            stop = min(start + _CHUNK, whole)
            size = stop - start
            if stop == whole and rest:
                # the remainder is drawn, dropped, and drawn again as a block that ends with the
                # array and overlaps the one before; half precision does not draw it the first time
                drawn = units(stream, size + _BLOCK + (rest if kind is dtype else 0), kind)
                unit = np.concatenate((drawn[:size], drawn[-_BLOCK:]))
            else:
                unit = units(stream, size, kind)
            numbers = _box_muller(unit)
            if std != 1.0 or mean != 0.0:
                numbers = _shifted(numbers, kind.type(std), kind.type(mean))
            if size == count and kind is dtype:
                return numbers
            out[start:stop] = numbers[:size]
        if rest:
            out[-_BLOCK:] = numbers[-_BLOCK:]
    return out


def _box_muller(unit: Any) -> Any:
    """Turn uniform numbers into normal ones: the first half of each block with the second."""
    one, minus_two, turn, half = _CONSTANTS[unit.dtype]
    # move each half block as a single item
    halves = unit.view(half)
    radius, angle = halves[0::2].copy().view(unit.dtype), halves[1::2].copy().view(unit.dtype)
    np.subtract(one, radius, radius)
    np.log(radius, radius)
    np.multiply(radius, minus_two, radius)
    np.sqrt(radius, radius)
    np.multiply(angle, turn, angle)
    across = np.cos(angle)
    np.multiply(across, radius, across)
    np.sin(angle, angle)
    np.multiply(angle, radius, angle)
    halves[0::2], halves[1::2] = across.view(half), angle.view(half)
    return unit


def normal_serial(
    stream: Stream, count: int, dtype: Any, mean: float = 0.0, std: float = 1.0
) -> Any:
    """Draw normal numbers as for strided memory: in pairs, an odd one kept for later."""
    with stream.lock:
        numbers = _pairs(stream, count)
    if std == 1.0 and mean == 0.0 and dtype == _SINGLE:
        return numbers.astype(dtype)
    return _narrow(_shifted(numbers, float(std), float(mean)), dtype)


def polar(first: float, second: float) -> tuple[float, float]:
    """Return two standard normal numbers for two uniform ones."""
    angle, radius = _TURN * first, sqrt(-2.0 * log1p(-second))
    return radius * cos(angle), radius * sin(angle)


def _pairs(stream: Stream, count: int) -> Any:
    """Return standard normal numbers in double precision, by the polar form of Box and Muller."""
    values: Any = []
    if count and stream.ahead is not None:
        values, stream.ahead = [stream.ahead], None
    pairs = (count - len(values) + 1) // 2
    if pairs < _BLOCK:
        words = iter(stream.raw(4 * pairs).tolist())
        # four words at a time, which make two doubles
        for a, b, c, d in zip(words, words, words, words, strict=True):
            first, second = (a << 32 | b) & _MASK_53, (c << 32 | d) & _MASK_53
            values += polar(first * 2.0**-53, second * 2.0**-53)
    else:
        unit = units(stream, 2 * pairs, _DOUBLE)
        radius = np.sqrt(-2.0 * np.log1p(-unit[1::2]))
        angle = 2.0 * math.pi * unit[0::2]
        both = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        values = np.concatenate([values, both.reshape(-1)])
    if len(values) > count:
        stream.ahead = float(values[-1])
    return np.array(values[:count], _DOUBLE)


def _narrow(doubles: Any, dtype: Any) -> Any:
    """Convert doubles to another dtype: to half precision via single, as PyTorch does."""
    return doubles if dtype == _DOUBLE else _rounded(doubles, dtype)


@errstate(over="ignore")
def _rounded(doubles: Any, dtype: Any) -> Any:
    if dtype.itemsize == 2:
        doubles = doubles.astype(np.float32)
    return doubles.astype(dtype)


def integers(stream: Stream, count: int, dtype: Any, low: int, span: int) -> Any:
    """Draw integers in [low, low + span), `span` at most 2**64."""
    if span == 1 << 64:
        return stream.wide(count).view(np.int64).astype(dtype)
    if span >= _WIDE_RANGE:
        numbers = stream.wide(count)
        numbers %= np.uint64(span)
    elif count < _FEW:
        numbers = np.remainder(stream.raw(count), np.uint64(span))
    else:
        words = stream.words(count)
        # NumPy vectorises division, but not the remainder
        parts = words // np.uint32(span)
        parts *= np.uint32(span)
        words -= parts
        numbers = words.astype(np.uint64)
    if low:
        # the sum wraps around, in two's complement, as in PyTorch
        numbers += np.uint64(low & 0xFFFFFFFFFFFFFFFF)
    return numbers.view(np.int64).astype(dtype, copy=False)


def largest_of(dtype: Any) -> int:
    """Return the maximum of an integer dtype, or the largest exact integer of a floating one."""
    if dtype.kind in "biu":
        return 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)
    return 1 << digits_of(dtype)


def digits_of(dtype: Any) -> int:
    """Return the number of bits of a floating dtype's significand."""
    return {"d": 53, "f": 24, "e": 11}.get(dtype.char, 8)


def full_range(stream: Stream, count: int, dtype: Any) -> Any:
    """Draw integers from 0 to the largest that a dtype holds exactly."""
    if dtype.kind == "b":
        return (stream.words(count) & np.uint32(1)).astype(bool)
    largest = largest_of(dtype)
    wide = dtype == _LONG if dtype.kind in "iu" else dtype.itemsize == 8
    numbers = stream.wide(count) if wide else stream.words(count).astype(np.uint64)
    numbers %= np.uint64(largest + 1) if largest < (1 << 64) - 1 else np.uint64(largest)
    return numbers.astype(dtype)


def permutation(stream: Stream, n: int) -> Any:
    """Return the integers below `n` in a random order, by the Fisher-Yates shuffle."""
    if n < 2:
        return np.arange(n)
    if (_SHORT_ORDER if filled("fused") else _LONG_ORDER) <= n < 1 << 32:
        with stream.lock:
            made = PORTS.permuted(stream, n)
        if made is not None:
            return made
    if n <= _FEW:
        order = [*range(n)]
        for i, word in enumerate(stream.raw(n - 1).tolist()):
            pick = i + word % (n - i)
            order[i], order[pick] = order[pick], order[i]
        return np.array(order)
    index = np.arange(n)
    picks = np.zeros(n, np.int64)
    picks[:-1] = stream.bits(n - 1)
    picks %= index[::-1] + 1
    picks += index
    # what an exchange moves away from its own place came there in the last exchange that picked it,
    # from the place of that one, and so on
    moved = np.flatnonzero(picks != index)
    root, up = index.copy(), index
    root[picks[moved]] = moved
    while (root != up).any():
        up, root = root, root[root]
    # what it takes from the place that it picks, the one before it that picked the same left there
    keys = picks.astype(np.uint16) if n <= 1 << 16 else picks
    turns = keys.argsort(kind="stable")
    places = picks[turns]
    places[1:] = np.where(places[1:] == places[:-1], root[turns[:-1]], places[1:])
    picks[turns] = places
    return picks


_LONG_ORDER, _SHORT_ORDER = 65536, 256
"""The number of elements from which native code, if available, permutes them."""
_FEW = 128
"""The number of elements up to which they are exchanged one by one."""


def bernoulli(stream: Stream, count: int, dtype: Any, p: Any) -> Any:
    """Draw ones with probability `p`, a number or a flat array of `count`; zeros otherwise."""
    kind = p.dtype if isinstance(p, np.ndarray) else _DOUBLE
    return (units(stream, count, kind) < p).astype(dtype)


def exponential(stream: Stream, count: int, dtype: Any, rate: float = 1.0) -> Any:
    """Draw exponential numbers of a given rate."""
    unit = units(stream, count, _DOUBLE)
    return _narrow(-1.0 / rate * np.log1p(-unit), dtype)


def cauchy(stream: Stream, count: int, dtype: Any, median: float = 0.0, sigma: float = 1.0) -> Any:
    """Draw Cauchy numbers around a median."""
    unit = units(stream, count, _DOUBLE)
    return _narrow(_shifted(np.tan(math.pi * (unit - 0.5)), sigma, median), dtype)


def log_normal(stream: Stream, count: int, dtype: Any, mean: float = 1.0, std: float = 2.0) -> Any:
    """Draw numbers whose logarithm is normal."""
    double = _DOUBLE
    return _narrow(np.exp(normal_serial(stream, count, double, mean, std)), dtype)


@errstate(divide="ignore")
def geometric(stream: Stream, count: int, dtype: Any, p: float) -> Any:
    """Draw the number of trials up to the first success, each of probability `p`."""
    unit = units(stream, count, _DOUBLE)
    return np.ceil(np.log(unit) / math.log1p(-p)).astype(dtype)
