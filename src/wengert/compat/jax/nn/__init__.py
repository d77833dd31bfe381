"""Layer 9 · compat: ``jax.nn``: activations, softmax, normalisation, attention.

Their derivatives at kinks are JAX's: `relu` has 0 at 0, `hard_tanh` 0 at its corners.

>>> jax.nn.softmax(jax.numpy.array([0.0, 0.0]))
Array([0.5, 0.5], dtype=float32)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.array import asarray, made, promote, promote_inexact
from wengert.compat.jax.checks import axis_in, check_dtype
from wengert.compat.jax.numpy.calling import check_arrays, checked_dtype, plain, static
from wengert.compat.jax.typing import Array
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import closed, defined
from wengert.ops import activations, special
from wengert.tape.record import T


def _floating(name: str, x) -> Array:
    check_arrays(name, x)
    return promote_inexact(x)[0]


def _activation(function: Callable[..., Array]) -> Callable[..., Array]:
    """Make a function of an array accept array-likes, but no lists."""

    @functools.wraps(function)
    def called(x, *args, **kwargs) -> Array:
        check_arrays(function.__name__, x)
        return function(asarray(x), *args, **kwargs)

    return called


def _of(function: Callable[..., Any], x: Array) -> Array:
    """Apply an operation of the package to an array."""
    return made(function(plain(x)), x.weak_type)


@_activation
def identity(x) -> Array:
    """Return `x` as an array."""
    return jnp.asarray(x)


@_activation
def relu(x) -> Array:
    """Return max(x, 0); its derivative at 0 is 0.

    Examples
    --------
    >>> jax.nn.relu(jax.numpy.array([-1.0, 0.0, 2.0]))
    Array([0., 0., 2.], dtype=float32)
    """
    return _of(T.relu, promote(x, 0)[0])


@_activation
def relu6(x) -> Array:
    """Return min(max(x, 0), 6); its derivative at 0 and 6 is 0."""
    return _of(activations.relu6, promote(x, 0.0)[0])


@_activation
def sigmoid(x) -> Array:
    """Return 1 / (1 + exp(-x))."""
    check_dtype("logistic", x, "fc")
    return _of(T.sigmoid, x)


@_activation
def softplus(x) -> Array:
    """Return ln(1 + exp(x))."""
    return jnp.logaddexp(x, 0)


@_activation
def sparse_plus(x) -> Array:
    """Return 0 below -1, x above 1, and a parabola between."""
    middle = jnp.square(x + 1) / 4
    return jnp.where(x <= -1.0, 0.0, jnp.where(x >= 1.0, x, middle))


@_activation
def sparse_sigmoid(x) -> Array:
    """Return 0 below -1, 1 above 1, and a line between."""
    return 0.5 * jnp.clip(x + 1.0, 0.0, 2.0)


@_activation
def soft_sign(x) -> Array:
    """Return x / (1 + abs(x))."""
    return x / (jnp.abs(x) + 1)


@_activation
def silu(x) -> Array:
    """Return x * sigmoid(x)."""
    return x * sigmoid(x)


swish = silu


def mish(x) -> Array:
    """Return x * tanh(softplus(x))."""
    x = _floating("mish", x)
    return x * jnp.tanh(softplus(x))


@_activation
def log_sigmoid(x) -> Array:
    """Return ln(sigmoid(x))."""
    return -softplus(-x)


@_activation
def elu(x, alpha=1.0) -> Array:
    """Return x where positive, else alpha * (exp(x) - 1)."""
    below = jnp.where(x > 0, 0.0, x)
    return jnp.where(x > 0, x, alpha * jnp.expm1(below))


@_activation
def leaky_relu(x, negative_slope=1e-2) -> Array:
    """Return x where positive, else negative_slope * x."""
    return jnp.where(x >= 0, x, negative_slope * x)


@_activation
def hard_tanh(x) -> Array:
    """Clamp x to [-1, 1]."""
    return jnp.where(x > 1, 1, jnp.where(x < -1, -1, x))


@_activation
def celu(x, alpha=1.0) -> Array:
    """Return x where positive, else alpha * (exp(x / alpha) - 1)."""
    return jnp.maximum(x, 0.0) + alpha * jnp.expm1(jnp.minimum(x, 0.0) / alpha)


def selu(x) -> Array:
    """Return a scaled `elu` whose constants preserve mean and variance."""
    alpha = 1.6732632423543772848170429916717
    scale = 1.0507009873554804934193349852946
    return scale * elu(x, alpha)


def gelu(x, approximate=True) -> Array:
    """Return x times the standard normal distribution function at x.

    Parameters
    ----------
    approximate : bool. Whether to use the `tanh` approximation instead of the error function.
    """
    x = _floating("gelu", x)
    if approximate:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * (x**3))
        return made(x * (0.5 * (1.0 + jnp.tanh(inner))))
    root = np.float32(math.sqrt(0.5)) if x.dtype == np.float32 else math.sqrt(0.5)
    return made(0.5 * x * _of(special.erfc, -x * float(root)))


def glu(x, axis=-1) -> Array:
    """Return the first half along an axis times the sigmoid of the second half."""
    x = _floating("glu", x)
    size = x.shape[axis]
    if size % 2:
        raise AssertionError(f"axis size must be divisible by 2: it is {size}")
    first, second = jnp.split(x, 2, axis)
    return first * sigmoid(second)


@_activation
def squareplus(x, b=4) -> Array:
    """Return (x + sqrt(x² + b)) / 2."""
    return (x + jnp.sqrt(jnp.square(x) + b)) / 2


@_activation
def hard_sigmoid(x) -> Array:
    """Return relu6(x + 3) / 6."""
    return relu6(x + 3.0) / 6.0


@_activation
def hard_silu(x) -> Array:
    """Return x * hard_sigmoid(x)."""
    return x * hard_sigmoid(x)


hard_swish = hard_silu


def tanh(x, /) -> Array:
    """Return the hyperbolic tangent."""
    return jnp.tanh(x)


def log1mexp(x) -> Array:
    """Return ln(1 - exp(-x)), for x > 0."""
    x = _floating("log1mexp", x)
    near = x < math.log(2)
    small, large = jnp.where(near, x, 0.5), jnp.where(near, 1.0, x)
    return jnp.where(near, jnp.log(-jnp.expm1(-small)), jnp.log1p(-jnp.exp(-large)))


# -- along axes ------------------------------------------------------------------------------------


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None) -> Any:
    """Return ln(sum(exp(a))), without overflow.

    Parameters
    ----------
    axis : int or tuple of int, optional. The axes to sum over; default: all.
    b : array_like, optional. Factors of the exponentials.
    keepdims : bool. Whether to keep the axes, with size 1.
    return_sign : bool. Whether to return the logarithm of the absolute value of the sum, and its
        sign separately.
    where : array_like of bool, optional. The elements to include.

    Examples
    --------
    >>> jax.nn.logsumexp(jax.numpy.zeros(2))
    Array(0.6931472, dtype=float32)
    """
    check_arrays("logsumexp", a, *([] if b is None else [b]))
    given = promote_inexact(a, *([] if b is None else [b]))
    x = given[0]
    factors = None if b is None else given[1]
    if factors is not None:
        x = jnp.where(factors != 0, x, -np.inf)
    real = jnp.real(x)
    if where is not None:
        real = jnp.where(where, real, -np.inf)
    # an empty sum is 0, and its logarithm -inf
    most = made(plain(jnp.max(real, axis, keepdims=True, initial=-np.inf)).detach())
    most = jnp.where(jnp.isfinite(most), most, 0)
    terms = jnp.exp(x - most) if factors is None else factors * jnp.exp(x - most)
    total = jnp.sum(terms, axis, keepdims=True, where=where)
    sign = jnp.sign(total)
    if return_sign or x.dtype.kind != "c":
        size = jnp.abs(total) if return_sign else total
        logs = jnp.log(size) + most
    else:
        logs = jnp.log(total) + most
    if not keepdims:
        logs, sign = (_without(part, axis) for part in (logs, sign))
    return (logs, sign) if return_sign else logs


def _without(x: Array, axis) -> Array:
    """Return `x` without the axes that were kept with size 1."""
    return jnp.squeeze(x, tuple(range(x.ndim)) if axis is None else axis)


def logmeanexp(a, axis=None, where=None, keepdims=False) -> Array:
    """Return ln(mean(exp(a)))."""
    total = logsumexp(a, axis, keepdims=keepdims, where=where)
    ones = jnp.ones_like(jnp.asarray(a), dtype=total.dtype)
    return total - jnp.log(jnp.sum(ones, axis, keepdims=keepdims, where=where))


def softmax(x, axis=-1, where=None) -> Array:
    """Return exp(x) / sum(exp(x)).

    Parameters
    ----------
    axis : int or tuple of int. The axes along which the results sum to 1; None for all.
    where : array_like of bool, optional. The elements to include; the results for others are 0.

    Examples
    --------
    >>> jax.nn.softmax(jax.numpy.array([1.0, 1.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    x = _floating("softmax", x)
    shifted = x - _greatest(x, axis, where)
    powers = jnp.exp(shifted)
    if where is not None:
        powers = jnp.where(where, powers, 0)
    shares = powers / powers.sum(axis, keepdims=True)
    return shares if where is None else jnp.where(where, shares, 0)


def log_softmax(x, axis=-1, where=None) -> Array:
    """Return the logarithm of `softmax`."""
    x = _floating("log_softmax", x)
    shifted = x - _greatest(x, axis, where)
    total = jnp.sum(jnp.exp(shifted), axis, keepdims=True, where=where)
    found = shifted - jnp.log(total)
    return found if where is None else jnp.where(where, found, -np.inf)


def _greatest(x: Array, axis, where) -> Array:
    """Return the largest elements along axes, without a gradient."""
    start = None if where is None and 0 not in x.shape else -np.inf
    most = jnp.max(x, axis, keepdims=True, where=where, initial=start)
    return made(plain(most).detach())


def one_hot(x, num_classes, *, dtype=None, axis=-1) -> Array:
    """Return vectors that are 1 at the given indices and 0 elsewhere.

    Parameters
    ----------
    x : array_like of int. The indices; the vector of an index that is out of bounds is all 0.
    num_classes : int
    dtype : dtype, optional. Default: the default floating dtype.
    axis : int. The position of the new axis.

    Examples
    --------
    >>> jax.nn.one_hot(jax.numpy.array([0, 2]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    check_arrays("one_hot", x) if not isinstance(x, list | tuple) else None
    places = asarray(x)
    count = static(num_classes, "num_classes of one_hot")
    kind = checked_dtype(float if dtype is None else dtype, "one_hot")
    axis = axis_in(axis, places.ndim + 1)
    wide = jnp.expand_dims(places, axis)
    classes = jnp.arange(count, dtype=places.dtype)
    sizes = [-1 if i == axis else 1 for i in range(wide.ndim)]
    return (wide == classes.reshape(sizes)).astype(kind)


def standardize(
    x, axis=-1, mean=None, variance=None, epsilon=1e-5, where=None, *, algorithm="fast"
) -> Array:
    """Shift and scale to mean 0 and variance 1 along axes."""
    x = _floating("standardize", x)
    if mean is None:
        mean = jnp.mean(x, axis, keepdims=True, where=where)
    if variance is None:
        if algorithm == "fast":
            variance = jnp.mean(jnp.square(x), axis, keepdims=True, where=where) - jnp.square(mean)
        else:
            variance = jnp.mean(jnp.square(x - mean), axis, keepdims=True, where=where)
    return (x - mean) / jnp.sqrt(variance + epsilon)


def dot_product_attention(
    query,
    key,
    value,
    bias=None,
    mask=None,
    *,
    scale=None,
    is_causal=False,
    query_seq_lengths=None,
    key_value_seq_lengths=None,
    local_window_size=None,
    implementation=None,
    return_residual=False,
) -> Any:
    """Attend with queries (B, T, N, H) to keys and values (B, S, K, H).

    Parameters
    ----------
    query, key, value : array_like. With or without a leading batch dimension; K divides N.
    bias : array_like, optional. Added to the logits; broadcasts to (B, N, T, S).
    mask : array_like of bool, optional. The positions to attend to.
    scale : float, optional. By default 1 / sqrt(H).
    is_causal : bool. Whether to mask later positions.
    """
    unbatched = query.ndim == 3
    q, k, v = (jnp.expand_dims(x, 0) if unbatched else jnp.asarray(x) for x in (query, key, value))
    if q.ndim != 4 or k.ndim != 4 or v.ndim != 4:
        raise refusal(ValueError, "query, key and value must", query)
    groups, rest = divmod(q.shape[2], k.shape[2])
    if rest:
        raise refusal(ValueError, "the heads of keys, {}", k.shape[2], q.shape[2])
    k, v = (jnp.repeat(x, groups, axis=2) if groups != 1 else x for x in (k, v))
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = jnp.einsum("btnh,bsnh->bnts", q, k) * factor
    if bias is not None:
        scores = scores + bias
    rows, columns = jnp.arange(q.shape[1])[:, None], jnp.arange(k.shape[1])[None, :]
    seen = jnp.ones((1, 1, q.shape[1], k.shape[1]), bool)
    if mask is not None:
        seen = seen & mask
    if is_causal:
        seen = seen & (columns <= rows)
    if local_window_size is not None:
        window = local_window_size
        left, right = (window, window) if isinstance(window, int) else window
        seen = seen & (columns >= rows - left) & (columns <= rows + right)
    for lengths, places in ((query_seq_lengths, rows), (key_value_seq_lengths, columns)):
        if lengths is not None:
            seen = seen & (places < jnp.asarray(lengths)[:, None, None, None])
    weights = softmax(jnp.where(seen, scores, -0.7 * float(jnp.finfo(scores.dtype).max)), -1)
    found = jnp.einsum("bnts,bsnh->btnh", weights, v)
    if query_seq_lengths is not None:
        there = jnp.arange(q.shape[1])[None, :, None, None]
        found = jnp.where(there < jnp.asarray(query_seq_lengths)[:, None, None, None], found, 0)
    found = found[0] if unbatched else found
    if not return_residual:
        return found
    residual = jnp.moveaxis(logsumexp(jnp.where(seen, scores, -np.inf), -1), 1, 2)
    return found, residual[0] if unbatched else residual


__getattr__ = closed(globals(), "initializers")
__all__ = defined(globals(), "hard_swish swish")


def __dir__() -> list[str]:
    return [*__all__, "initializers"]
