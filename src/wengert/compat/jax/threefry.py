"""Layer 9 · compat: Threefry-2x32, the counter-based generator behind JAX's keys.

NOTE [streams of JAX]
A key is two words of 32 bits. Each drawn number is a hash of the key and a counter, so keys can be
split without any state. The numbers are JAX's own, bit for bit: those of
``jax_threefry_partitionable=True``, its default, where the counter of an element is its position in
the result. All functions here take keys as NumPy arrays of uint32, of shape ``(..., 2)``; the
leading dimensions of the result are those of the keys.

References
----------
J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
SC '11, 2011.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.jax.dtypes import finfo

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
_BLOCK = 16384
"""The number of elements hashed at once, whose words fit in the processor's cache."""
_UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}

Words = tuple[Any, Any]


def hashed(key, high, low) -> Words:
    """Return two words for each counter.

    Parameters
    ----------
    key : ndarray of uint32, shape (..., 2)
    high, low : ndarray of uint32. The counters' words, which broadcast against the keys' shape.
    """
    k0, k1 = np.broadcast_arrays(key[..., 0], key[..., 1])
    shape = np.broadcast_shapes(k0.shape, high.shape)
    size = math.prod(shape)
    first, second = (np.empty(size, np.uint32) for _ in range(2))
    given = [np.broadcast_to(word, shape) for word in (k0, k1, high, low)]
    if size <= _BLOCK:
        _block([word.reshape(-1) for word in given], first, second)
    else:
        for start in range(0, size, _BLOCK):
            part = slice(start, start + _BLOCK)
            _block([word.flat[part] for word in given], first[part], second[part])
    return first.reshape(shape), second.reshape(shape)


def _block(words: list[Any], x, y) -> None:
    """Hash a counter's two words with a key's two words into `x` and `y`."""
    k0, k1, high, low = words
    keys = (k0, k1, k0 ^ k1 ^ _PARITY)
    np.add(high, keys[0], out=x)
    np.add(low, keys[1], out=y)
    left = np.empty_like(y)
    for step in range(5):
        for rotation in _ROTATIONS[step % 2]:
            np.add(x, y, out=x)
            np.left_shift(y, np.uint32(rotation), out=left)
            np.right_shift(y, np.uint32(32 - rotation), out=y)
            np.bitwise_or(y, left, out=y)
            np.bitwise_xor(y, x, out=y)
        np.add(x, keys[(step + 1) % 3], out=x)
        np.add(y, keys[(step + 2) % 3], out=y)
        np.add(y, np.uint32(step + 1), out=y)


def _counters(key, shape: tuple[int, ...]) -> Words:
    """Return the words of the hash for each position in `shape`, for each key."""
    size = math.prod(shape)
    low = np.arange(size, dtype=np.uint64)
    high = (low >> np.uint64(32)).astype(np.uint32)
    given = key.shape[:-1]
    first, second = hashed(key[..., None, :], high, low.astype(np.uint32))
    return first.reshape(given + shape), second.reshape(given + shape)


def seeded(seed) -> Any:
    """Return the keys of integer seeds: their two words, the high one first."""
    seed = np.asarray(seed)
    wide = seed.dtype.itemsize == 8
    bits = seed.astype(np.int64 if seed.dtype.kind == "i" else np.uint64).view(np.uint64)
    high = bits >> np.uint64(32) if wide else np.zeros_like(bits)
    return np.stack([high, bits & np.uint64(0xFFFFFFFF)], -1).astype(np.uint32)


def split(key, shape: tuple[int, ...]) -> Any:
    """Return keys of shape ``(..., *shape, 2)``."""
    return np.stack(_counters(key, shape), -1)


def fold_in(key, data) -> Any:
    """Return the key derived from `key` and a word of data."""
    low = np.asarray(data, np.uint32)
    return np.stack(hashed(key, np.zeros_like(low), low), -1)


def random_bits(key, shape: tuple[int, ...], width: int) -> Any:
    """Return integers of `width` random bits each: 8, 16, 32 or 64."""
    first, second = _counters(key, shape)
    if width == 64:
        return (first.astype(np.uint64) << np.uint64(32)) | second
    return (first ^ second).astype(_UNSIGNED[width])


def uniforms(key, shape: tuple[int, ...], kind) -> Any:
    """Return numbers in [0, 1) of the floating dtype `kind`, from random mantissa bits."""
    kind = np.dtype(kind)
    digits = finfo(kind).nmant
    unsigned = _UNSIGNED[8 * kind.itemsize]
    width = 8 if digits < 8 else 8 * kind.itemsize
    bits = random_bits(key, shape, width).astype(unsigned) >> unsigned(width - digits)
    bits |= np.ones((), kind).view(unsigned)
    return bits.view(kind) - kind.type(1)


fill_sections(globals())
