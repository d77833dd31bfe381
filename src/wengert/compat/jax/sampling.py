"""Layer 9 · compat: the distributions of `jax.random` built from uniform numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.base.sections import named
from wengert.compat.jax import samplers
from wengert.compat.jax.array import asarray, made, promote_inexact
from wengert.compat.jax.dtypes import default_dtype, finfo, requested_dtype
from wengert.compat.jax.keys import drawn, sampler, split, words_of
from wengert.compat.jax.numpy.calling import check_arrays, plain, shape_of, sizes_of, static
from wengert.compat.jax.words import refusal
from wengert.ops import special
from wengert.tape.base import TensorBase

_WANTED = {"f": "a float", "fc": "a float or complex", "iu": "an int", "u": "an unsigned int"}


def kind_of(name: str, dtype, kinds="f", default="f") -> np.dtype[Any]:
    """Return the dtype to draw in.

    Raises
    ------
    ValueError: If the distribution does not support its kind.
    """
    kind = default_dtype(default) if dtype is None else requested_dtype(dtype, name)
    if kind.kind not in kinds and not (kind.kind == "V" and "f" in kinds):
        wanted = _WANTED[kinds]
        raise ValueError(f"dtype argument to `{name}` must be {wanted} dtype, got {kind.name}")
    return kind


def shape_for(name: str, shape, *parameters) -> tuple[int, ...]:
    """Return the shape to draw: by default the broadcast shape of the parameters.

    Raises
    ------
    ValueError: If the parameters do not broadcast to it.
    """
    own = [sizes_of(p) for p in parameters]
    if shape is None:
        return jnp.broadcast_shapes(*own)
    wanted = shape_of(shape)
    together = jnp.broadcast_shapes(wanted, *own)
    if together != wanted:
        raise refusal(ValueError, "{} parameter shapes must", name, together, wanted)
    return wanted


def sample(name: str, words, shape, kind: np.dtype[Any], *parameters, **more) -> Any:
    """Draw from the sampler called `name`, with its parameters broadcast to the shape."""
    wide = [jnp.broadcast_to(p, shape) for p in parameters]
    return drawn(sampler(getattr(samplers, name), shape=shape, kind=kind, **more), words, *wide)


# -- numbers of one kind ---------------------------------------------------------------------------


def bits(key, shape=(), dtype=None, *, out_sharding=None) -> Any:
    """Draw integers of random bits.

    Parameters
    ----------
    key : Array
    shape : tuple of int
    dtype : dtype. An unsigned integer type; default: uint32.
    """
    words = words_of("bits", key)
    return sample("bits", words, shape_of(shape), kind_of("bits", dtype, "u", "u"))


def uniform(key, shape=(), dtype=None, minval=0.0, maxval=1.0, *, out_sharding=None) -> Any:
    """Draw uniform numbers in [minval, maxval).

    Parameters
    ----------
    key : Array. A key from `PRNGKey`, `key` or `split`.
    shape : tuple of int
    dtype : dtype. A floating dtype; default: float32.
    minval, maxval : array_like. The bounds; the result is differentiable in them.

    Examples
    --------
    >>> jax.random.uniform(jax.random.PRNGKey(0), (2,))
    Array([0.947667 , 0.9785799], dtype=float32)
    """
    words = words_of("uniform", key)
    kind, sizes = kind_of("uniform", dtype), shape_of(shape)
    if not any(isinstance(end, TensorBase) or sizes_of(end) for end in (minval, maxval)):
        return sample("between", words, sizes, kind, low=minval, high=maxval)
    low, high = asarray(minval, kind), asarray(maxval, kind)
    shape_for("uniform", sizes, low, high)
    spread = sample("between", words, sizes, kind)
    return jnp.maximum(low, spread * (high - low) + low)


def randint(key, shape, minval, maxval, dtype=None, *, out_sharding=None) -> Any:
    """Draw uniform integers in [minval, maxval).

    Examples
    --------
    >>> jax.random.randint(jax.random.PRNGKey(0), (3,), 0, 10)
    Array([9, 0, 2], dtype=int32)
    """
    words = words_of("randint", key)
    kind = default_dtype("i") if dtype is None else requested_dtype(dtype, "randint")
    if kind.kind not in "iu":
        raise TypeError(f"randint only accepts integer dtypes, got {kind.name}")
    check_arrays("randint", minval, maxval)
    wide = kind if kind.itemsize >= 4 else np.dtype(np.int32)
    limits = np.iinfo(kind)
    most = limits.max + (wide != kind)
    beyond = wide == kind and isinstance(maxval, int) and maxval > limits.max
    low, high = _whole(minval, limits, limits.max), _whole(maxval, limits, most)
    sizes = shape_for("randint", shape, low, high)
    return asarray(sample("integers", words, sizes, wide, low, high, whole=beyond), kind)


def _whole(value, limits, most: int) -> Any:
    """Return a bound as an array of integers, clamped to the dtype's range."""
    if isinstance(value, int):
        return asarray(min(max(value, int(limits.min)), int(most)))
    bound = asarray(value)
    bound = bound if bound.dtype.kind in "iu" else bound.astype(int)
    own = np.iinfo(bound.dtype)
    return bound.clip(max(own.min, limits.min), min(own.max, most))


def normal(key, shape=(), dtype=None, *, out_sharding=None) -> Any:
    """Draw standard normal numbers.

    Parameters
    ----------
    key : Array. A key from `PRNGKey`, `key` or `split`.
    shape : tuple of int
    dtype : dtype. A floating or complex dtype; default: float32.

    Examples
    --------
    >>> jax.random.normal(jax.random.PRNGKey(0), (2,))
    Array([1.6226422, 2.0252647], dtype=float32)
    """
    words = words_of("normal", key)
    kind, sizes = kind_of("normal", dtype, "fc"), shape_of(shape)
    if kind.kind in "fV":
        return sample("normal", words, sizes, kind)
    of_parts = np.dtype(f"f{kind.itemsize // 2}")
    real, imag = (sample("normal", part, sizes, of_parts) for part in split(words))
    return (real.astype(kind) + 1j * imag.astype(kind)) / kind.type(math.sqrt(2))


def _standard(name: str, text: str) -> Any:
    def function(key, shape=(), dtype=None, *, out_sharding=None) -> Any:
        """Draw numbers from the {text}.

        Parameters
        ----------
        key : Array. A key from `PRNGKey`, `key` or `split`.
        shape : tuple of int
        dtype : dtype. A floating dtype; default: float32.
        """
        words = words_of(name, key)
        return sample(name, words, shape_of(shape), kind_of(name, dtype))

    return named(function, name, text=text)


cauchy = _standard("cauchy", "standard Cauchy distribution")
exponential = _standard("exponential", "exponential distribution of mean 1")
laplace = _standard("laplace", "standard Laplace distribution")
logistic = _standard("logistic", "standard logistic distribution")


def gumbel(key, shape=(), dtype=None, mode: str | None = None, *, out_sharding=None) -> Any:
    """Draw standard Gumbel numbers; ``mode="high"`` draws large ones with more resolution."""
    words = words_of("gumbel", key)
    if mode not in (None, "low", "high", "highest"):
        raise ValueError(f"Must provide valid mode for gumbel got: {mode}")
    kind, sizes = kind_of("gumbel", dtype), shape_of(shape)
    return sample("gumbel" if mode in (None, "low") else "fine_gumbel", words, sizes, kind)


def truncated_normal(key, lower, upper, shape=None, dtype=None, *, out_sharding=None) -> Any:
    """Draw standard normal numbers between two bounds; differentiable in the bounds."""
    words = words_of("truncated_normal", key)
    kind = kind_of("truncated_normal", dtype)
    low, high = asarray(lower, kind), asarray(upper, kind)
    sizes = shape_for("truncated_normal", shape, low, high)
    root = kind.type(math.sqrt(2))
    first, last = (made(special.erf(plain(end / root))) for end in (low, high))
    spread = uniform(words, sizes, kind, first, last)
    found = root * made(special.erfinv(plain(spread)))
    above, below = (
        jnp.nextafter(made(plain(end).detach()), kind.type(way))
        for end, way in ((low, np.inf), (high, -np.inf))
    )
    return jnp.clip(found, above, below)


def bernoulli(key, p=0.5, shape=None, mode="low", *, out_sharding=None) -> Any:
    """Draw True with probability `p`."""
    words = words_of("bernoulli", key)
    if mode not in ("high", "low"):
        raise ValueError(f"got mode={mode!r}, expected 'high' or 'low'")
    given = asarray(p)
    if given.dtype.kind not in "fV":
        raise refusal(TypeError, "bernoulli probability `p`", given)
    sizes = shape_for("bernoulli", shape, given)
    if mode == "low":
        return uniform(words, sizes, given.dtype) < given
    first, second = uniform(words, (2, *sizes), given.dtype)
    return second * 2.0 ** -finfo(given.dtype).nmant < given - first


def rademacher(key, shape=(), dtype=None, *, out_sharding=None) -> Any:
    """Draw 1 or -1 with probability 1/2 each."""
    kind = default_dtype("i") if dtype is None else requested_dtype(dtype, "rademacher")
    words = words_of("rademacher", key)
    return (2 * bernoulli(words, 0.5, shape_of(shape)).astype(kind) - 1).astype(kind)


# -- vectors and matrices --------------------------------------------------------------------------


def multivariate_normal(
    key, mean, cov, shape=None, dtype=None, method="cholesky", *, out_sharding=None
) -> Any:
    """Draw normal vectors with a mean and covariance matrix; differentiable in both.

    Parameters
    ----------
    mean : array_like, shape (..., n)
    cov : array_like, shape (..., n, n)
    shape : tuple of int, optional. The shape of the batch, without n.
    method : str. The factorization of the matrix: ``"cholesky"``, ``"eigh"`` or ``"svd"``.
    """
    words = words_of("multivariate_normal", key)
    centre, spread = promote_inexact(mean, cov)
    if method not in ("svd", "eigh", "cholesky"):
        raise ValueError("method must be one of {'svd', 'eigh', 'cholesky'}")
    kind = kind_of("multivariate_normal", centre.dtype if dtype is None else dtype)
    if centre.ndim < 1:
        raise ValueError("multivariate_normal requires mean.ndim >= 1, got mean.ndim == 0")
    if spread.ndim < 2:
        raise refusal(ValueError, "multivariate_normal requires cov.ndim", spread)
    n = centre.shape[-1]
    if tuple(spread.shape[-2:]) != (n, n):
        raise refusal(ValueError, "multivariate_normal requires cov.shape", n, spread)
    batches = [np.broadcast_to(0, centre.shape[:-1]), np.broadcast_to(0, spread.shape[:-2])]
    sizes = shape_for("normal", shape, *batches)
    if method == "cholesky":
        factor = jnp.linalg.cholesky(spread)
    elif method == "eigh":
        w, v = jnp.linalg.eigh(spread)
        factor = v * jnp.sqrt(w[..., None, :])
    else:
        u, s, _ = jnp.linalg.svd(spread)
        factor = u * jnp.sqrt(s[..., None, :])
    noise = normal(words, (*sizes, n), kind)
    return centre.astype(kind) + jnp.einsum("...ij,...j->...i", factor.astype(kind), noise)


def orthogonal(key, n, shape=(), dtype=None, m=None, *, out_sharding=None) -> Any:
    """Draw uniformly distributed orthogonal matrices."""
    words = words_of("orthogonal", key)
    rows = static(n, "n of orthogonal")
    columns = rows if m is None else static(m, "m of orthogonal")
    sizes = (*shape_of(shape), max(rows, columns), min(rows, columns))
    q, r = jnp.linalg.qr(normal(words, sizes, dtype))
    found = q * jnp.expand_dims(jnp.sign(jnp.linalg.diagonal(r)), -2)
    return found.mT if rows < columns else found
