"""Layer 9 · compat: Threefry-2x32, the counter-based generator behind JAX's keys.

NOTE [streams of JAX]
A key is two words of 32 bits. Each drawn number is a hash of the key and a counter, so keys can be
split without any state. The numbers are JAX's own, bit for bit: those of
``jax_threefry_partitionable=True``, its default, where the counter of an element is its position in
the result. All functions here take keys as arrays of uint32, of shape ``(..., 2)``; the leading
dimensions of the result are those of the keys.

NOTE [samplers]
A sampler is written once, like a rule: against a namespace `F`, with infix operators. It draws
arrays of NumPy with F = K, and becomes steps of a compiled program while that is traced, in which
the hash and the functions of `wengert.compat.jax.single` are instructions. Loops that go by the
numbers drawn need arrays: a sampler with such a loop is one step, which calls it (`BY_NUMBERS`).

References
----------
J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
SC '11, 2011.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.compat.jax.dtypes import finfo
from wengert.compat.jax.single import ARRAYS, in_blocks
from wengert.prims.families import constant
from wengert.prims.record import case
from wengert.prims.scalar import Scalar

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_WORD, _WIDE = np.dtype(np.uint32), np.dtype(np.uint64)


def _rounds(m, k0, k1, x, y) -> tuple[Any, Any]:
    """Hash a counter's words `x` and `y` with a key's words."""
    keys = (k0, k1, m.on_bits("xor", m.on_bits("xor", k0, k1), m.whole(_PARITY)))
    x, y = m.add(x, k0), m.add(y, k1)
    for step in range(5):
        for rotation in _ROTATIONS[step % 2]:
            x = m.add(x, y)
            left = m.on_bits("shl", y, m.whole(rotation))
            y = m.on_bits("or", left, m.on_bits("lshr", y, m.whole(32 - rotation)))
            y = m.on_bits("xor", y, x)
        x = m.add(x, keys[(step + 1) % 3])
        y = m.add(m.add(y, keys[(step + 2) % 3]), m.whole(step + 1))
    return x, y


def _hashed(k0, k1, high, low) -> Any:
    def words(*given) -> Any:
        x, y = _rounds(ARRAYS, *given)
        return x.astype(_WIDE) << np.uint64(32) | y

    return in_blocks(words, _WIDE, k0, k1, high, low)


def _emitted(m, *given: str) -> str:
    word = m.__class__(m.code, _WORD, count=m.count)
    words = [m.code.let(f"trunc {m.type} {part} to {word.type}") for part in given]
    x, y = (m.code.let(f"zext {word.type} {part} to {m.type}") for part in _rounds(word, *words))
    return m.on_bits("or", m.on_bits("shl", x, m.whole(32)), y)


constant(
    "threefry2x32",
    _hashed,
    args=("first", "second", "high", "low"),
    promote=None,
    batching="pointwise",
    cases=(case(*[lambda rng: rng.integers(0, 1 << 32, 3, np.uint32)] * 4),),
    doc="a key's two words and a counter's, hashed to 64 bits",
    raises=False,
    fused="elements",
    elements=Scalar(_emitted, cost=120, kinds="u", vectors="u"),
)


def _counters(F, key, shape: tuple[int, ...]) -> Any:
    """Return the hash of each position in `shape`, for each key."""
    size, last = math.prod(shape), len(key.shape) - 1
    position = np.arange(size, dtype=np.uint64)
    lead = key.shape[:-1]
    words = [F.unsqueeze(F.select(key, dim=last, index=i), dim=last) for i in range(2)]
    words += [(position >> np.uint64(32)).astype(_WORD), position.astype(_WORD)]
    made = F.threefry2x32(*[F.expand(word, shape=(*lead, size)) for word in words])
    return F.unsafe_view(made, shape=(*lead, *shape))


def _words(F, hashed) -> Any:
    """Return the two words of each hash, along a last dimension."""
    parts = [F.to_copy(part, dtype=_WORD) for part in (F.bitwise_right_shift(hashed, 32), hashed)]
    return F.stack(*parts, dim=len(hashed.shape))


def seeded(F, seed) -> Any:
    """Return the keys of integer seeds: their two words, the high one first."""
    wide = F.to_copy(seed, dtype=_WIDE if seed.dtype.itemsize == 8 else _WORD)
    return _words(F, F.to_copy(wide, dtype=_WIDE))


def split(F, key, shape: tuple[int, ...]) -> Any:
    """Return keys of shape ``(..., *shape, 2)``."""
    return _words(F, _counters(F, key, shape))


def fold_in(F, key, data) -> Any:
    """Return the key derived from `key` and a word of data."""
    last = len(key.shape) - 1
    words = [F.select(key, dim=last, index=i) for i in range(2)]
    return _words(F, F.threefry2x32(*words, np.zeros((), _WORD), data))


def random_bits(F, key, shape: tuple[int, ...], width: int) -> Any:
    """Return integers of `width` random bits each: 8, 16, 32 or 64."""
    hashed = _counters(F, key, shape)
    if width < 64:
        hashed = F.bitwise_xor(F.bitwise_right_shift(hashed, 32), hashed)
    return F.to_copy(hashed, dtype=np.dtype(_UNSIGNED[width]))


def uniforms(F, key, shape: tuple[int, ...], kind) -> Any:
    """Return numbers in [0, 1) of the floating dtype `kind`, from random mantissa bits."""
    kind = np.dtype(kind)
    digits = finfo(kind).nmant
    width = 8 if digits < 8 else 8 * kind.itemsize
    whole = F.bitwise_right_shift(random_bits(F, key, shape, width), width - digits)
    inside = kind if kind == np.float64 else np.dtype(np.float32)
    return F.to_copy(F.to_copy(whole, dtype=inside) * 2.0**-digits, dtype=kind)
