"""Layer 9 · compat: ``tf.keras.random``: random numbers from seeds that are passed on.

A seed is a number, which always gives the same numbers, a `SeedGenerator`, which gives others at
each call, or None, for a generator that all calls share.

>>> tf.keras.random.uniform((2, 3), seed=1).shape
TensorShape([2, 3])
"""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.tensorflow import operations
from wengert.compat.tensorflow.functions import drawing, normalisation
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.drawing import SeedGenerator, shared
from wengert.compat.tensorflow.functions.philox import Philox
from wengert.compat.tensorflow.keras.globals import float_type
from wengert.compat.tensorflow.words import public


def _stream(seed) -> Philox:
    if seed is None:
        return drawing.stateless(shared().next(ordered=False))
    if isinstance(seed, SeedGenerator):
        return seed.stream()
    return drawing.stateless([V.integer(seed, "seed") % (2**31 - 2), 0])


def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None) -> Any:
    """Draw normal numbers."""
    return drawing.normals(_stream(seed), shape, mean, stddev, float_type(dtype))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None) -> Any:
    """Draw normal numbers at most two standard deviations from the mean."""
    return drawing.truncated_normals(_stream(seed), shape, mean, stddev, float_type(dtype))


def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None) -> Any:
    """Draw numbers between `minval` and `maxval`."""
    return drawing.uniforms(_stream(seed), shape, minval, maxval, float_type(dtype))


def randint(shape, minval, maxval, dtype="int32", seed=None) -> Any:
    """Draw whole numbers from `minval` up to, without, `maxval`."""
    kind = V.dtype_of(dtype)
    wide = kind if kind in (np.int32, np.int64) else np.dtype(np.int64)
    return operations.cast(drawing.uniforms(_stream(seed), shape, minval, maxval, wide), kind)


def categorical(logits, num_samples, dtype="int64", seed=None) -> Any:
    """Draw classes for each row of log-probabilities."""
    return drawing.categories(_stream(seed), logits, num_samples, dtype)


def dropout(inputs, rate, noise_shape=None, seed=None) -> Any:
    """Set a fraction `rate` of the elements to 0, and divide the others by ``1 - rate``."""
    if rate == 1:
        return operations.zeros_like(inputs)
    return normalisation.dropout(inputs, rate, noise_shape, _stream(seed)) if rate else inputs


def shuffle(x, axis=0, seed=None) -> Any:
    """Put the parts of a tensor along a dimension into random order."""
    x = V.tensor_of(x)
    place = V.axis_of(axis, x._payload.ndim)
    keys = _stream(seed).uniform_of((x._payload.shape[place],), np.dtype(np.float32))
    order = np.argsort(keys, kind="stable")
    return V.computed("GatherV2", wg.index_select, x, place, wg.as_tensor(order))


def gamma(shape, alpha, dtype=None, seed=None) -> Any:
    """Draw gamma numbers of shape parameter `alpha`."""
    return drawing.gammas(_stream(seed), shape, alpha, None, float_type(dtype), False)


def beta(shape, alpha, beta, dtype=None, seed=None) -> Any:
    """Draw beta numbers, from two gamma numbers each."""
    stream, kind = _stream(seed), float_type(dtype)
    one, two = (
        drawing.gammas(stream, shape, operations.broadcast_to(value, shape), None, kind, False)
        for value in (V.made(V.tensor_of(alpha, kind)), V.made(V.tensor_of(beta, kind)))
    )
    return one / (one + two)


__all__ = public(globals(), "SeedGenerator", without="shared Philox")
