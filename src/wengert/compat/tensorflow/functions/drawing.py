"""Layer 9 · compat: TensorFlow's random numbers: how they are drawn from a stream.

What is drawn is scaled by recorded operations, so that it can be differentiated in the mean, the
standard deviation and the bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V

_FLOAT32 = np.dtype(np.float32)


def _scaled(op: str, drawn, mean, stddev, kind: np.dtype[Any]) -> Any:
    base = V.tensor_of(np.asarray(drawn).astype(kind))
    low, wide = V.tensor_of(mean, kind), V.tensor_of(stddev, kind)
    for value, given in ((low, mean), (wide, stddev)):
        if value.payload.dtype != kind:
            raise TypeError(f"Cannot convert {given!r} to EagerTensor of dtype {kind}")
    return V.computed(op, lambda: wg.add(wg.mul(base, wide), low))


def normals(rng, shape, mean, stddev, dtype) -> Any:
    """Normal numbers."""
    kind = V.dtype_of(dtype, _FLOAT32)
    drawn = rng.standard_normal(V.shape_of("RandomStandardNormal", shape))
    return _scaled("RandomStandardNormal", drawn, mean, stddev, kind)


def truncated_normals(rng, shape, mean, stddev, dtype) -> Any:
    """Normal numbers, at most two standard deviations from the mean."""
    kind = V.dtype_of(dtype, _FLOAT32)
    drawn = rng.standard_normal(V.shape_of("TruncatedNormal", shape))
    far = np.abs(drawn) > 2
    while far.any():
        drawn[far] = rng.standard_normal(int(far.sum()))
        far = np.abs(drawn) > 2
    return _scaled("TruncatedNormal", drawn, mean, stddev, kind)


def uniforms(rng, shape, minval, maxval, dtype) -> Any:
    """Uniform numbers from `minval` on, below `maxval`; whole ones, if the dtype says so."""
    kind = V.dtype_of(dtype, _FLOAT32)
    sizes = V.shape_of("RandomUniform", shape)
    if kind.kind in "iu":
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype tf.{kind}")
        low, high = V.numbers_of(minval), V.numbers_of(maxval)
        if (low >= high).any():
            raise V.invalid("RandomUniformInt", f"Need minval < maxval, got {low} >= {high}")
        return V.constant_of(rng.integers(low, high, sizes, dtype=np.int64).astype(kind))
    top = 1 if maxval is None else maxval
    drawn = V.tensor_of(rng.random(sizes).astype(kind))
    # of float64 rounded to float32 some are 1, which is left out
    below = V.tensor_of(np.nextafter(kind.type(1), kind.type(0)))
    drawn = V.computed("RandomUniform", wg.minimum, drawn, below)
    low, high = V.tensor_of(minval, kind), V.tensor_of(top, kind)
    return V.computed("RandomUniform", lambda: wg.add(wg.mul(drawn, wg.sub(high, low)), low))


def gammas(rng, shape, alpha, beta, dtype, after: bool) -> Any:
    """Gamma numbers, of a shape followed by that of the parameters, if `after`."""
    kind = V.dtype_of(dtype, _FLOAT32)
    a = V.tensor_of(alpha, kind)
    V.check("RandomGamma", a, V.FLOATING)
    b = V.tensor_of(1.0 if beta is None else beta, kind)
    concentration = np.broadcast_to(
        V.numbers_of(a), np.broadcast_shapes(a.payload.shape, b.payload.shape)
    )
    sizes = V.shape_of("RandomGamma", shape)
    if after:
        sizes = (*sizes, *concentration.shape)
    drawn = np.maximum(rng.standard_gamma(concentration, sizes), np.finfo(kind).tiny)
    return V.computed("RandomGamma", wg.div, V.tensor_of(drawn.astype(kind)), b)


def poissons(rng, shape, lam, dtype, after: bool) -> Any:
    """Poisson numbers, of a shape followed by that of the parameter, if `after`."""
    rate = V.numbers_of(lam)
    sizes = V.shape_of("RandomPoissonV2", shape)
    if after:
        sizes = (*sizes, *rate.shape)
    return V.constant_of(np.asarray(rng.poisson(rate, sizes)).astype(V.dtype_of(dtype, _FLOAT32)))


def binomials(rng, shape, counts, probs, dtype) -> Any:
    """Binomial numbers."""
    drawn = rng.binomial(
        V.numbers_of(counts).astype(np.int64), V.numbers_of(probs), V.shape_of("Binomial", shape)
    )
    return V.constant_of(np.asarray(drawn).astype(V.dtype_of(dtype, np.dtype(np.int32))))


def categories(rng, logits, num_samples, dtype) -> Any:
    """Classes, for each row of logarithms of probabilities."""
    scores = V.numbers_of(logits)
    if scores.ndim != 2:
        raise V.invalid("Multinomial", f"logits should be a matrix, got shape {list(scores.shape)}")
    (count,) = V.integers(num_samples, "num_samples")
    # the greatest of the scores with noise of Gumbel's distribution
    noise = rng.gumbel(size=(scores.shape[0], count, scores.shape[1]))
    found = np.argmax(scores[:, None, :] + noise, -1)
    return V.constant_of(found.astype(V.dtype_of(dtype, np.dtype(np.int64))))


def permuted(rng, value) -> Any:
    """The rows in another order."""
    x = V.tensor_of(value)
    if not x.payload.ndim:
        return V.made(x)
    order = rng.permutation(x.payload.shape[0])
    return V.computed("RandomShuffle", wg.index_select, x, 0, wg.as_tensor(order))


__all__ = defined(globals())
