"""Layer 9 · compat: initial weights under the names of ``jax.nn.initializers``.

Each function returns a function of a key, a shape and a dtype.

>>> init = jax.nn.initializers.glorot_normal()
>>> init(jax.random.PRNGKey(0), (2, 3)).shape
(2, 3)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import wengert.compat.jax.numpy as jnp
from wengert.base.sections import named
from wengert.compat.jax import sampling
from wengert.compat.jax.dtypes import default_dtype, requested_dtype
from wengert.compat.jax.numpy.calling import shape_of
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import closed, defined


class Initializer(Protocol):
    """A function that creates weights from a key, a shape and a dtype."""

    def __call__(self, key, shape, dtype=None, out_sharding=None) -> Any:
        """Return the weights."""


def _initializer(draw: Callable[..., Any], own=None) -> Initializer:
    """Build an initializer of ``draw(key, shape, kind)``, by default of the dtype `own`."""

    def init(key, shape, dtype=None, out_sharding=None) -> Any:
        chosen = own if dtype is None else dtype
        kind = default_dtype("f") if chosen is None else requested_dtype(chosen, "initializers")
        return draw(key, shape, kind)

    return init


zeros = _initializer(lambda key, shape, kind: jnp.zeros(shape, kind))
ones = _initializer(lambda key, shape, kind: jnp.ones(shape, kind))
for _name, _function in (("zeros", zeros), ("ones", ones)):
    _function.__doc__ = "Return {name}; this function is itself an initializer."
    named(_function, _name)


def constant(value, dtype=None) -> Initializer:
    """Build an initializer of constant weights."""
    return _initializer(lambda key, shape, kind: jnp.full(shape, value, kind), dtype)


def uniform(scale=1e-2, dtype=None) -> Initializer:
    """Build an initializer of uniform weights in [0, scale)."""
    return _initializer(
        lambda key, shape, kind: sampling.uniform(key, shape, kind) * kind.type(scale), dtype
    )


def normal(stddev=1e-2, dtype=None) -> Initializer:
    """Build an initializer of normal weights with a standard deviation."""
    return _initializer(
        lambda key, shape, kind: sampling.normal(key, shape, kind) * kind.type(stddev), dtype
    )


def truncated_normal(stddev=1e-2, dtype=None, lower=-2.0, upper=2.0) -> Initializer:
    """Build an initializer of normal weights truncated to two bounds, before scaling."""

    def draw(key, shape, kind) -> Any:
        return sampling.truncated_normal(key, lower, upper, shape, kind) * kind.type(stddev)

    return _initializer(draw, dtype)


def _fans(shape, in_axis, out_axis, batch_axis) -> tuple[float, float]:
    """Return the fan-in and fan-out of a weight."""
    if len(shape) <= 1:
        raise refusal(ValueError, "Can't compute input and", len(shape))

    def size(axes) -> int:
        several = axes if isinstance(axes, Sequence) else (axes,)
        return math.prod(shape[axis] for axis in several)

    of_in, of_out, of_batch = size(in_axis), size(out_axis), size(batch_axis)
    field = math.prod(shape) / of_in / of_out / of_batch
    return of_in * field, of_out * field


def variance_scaling(
    scale, mode: str, distribution: str, in_axis=-2, out_axis=-1, batch_axis=(), dtype=None
) -> Initializer:
    """Build an initializer whose variance is `scale` over fan-in, fan-out, or their mean.

    Parameters
    ----------
    mode : str. ``"fan_in"``, ``"fan_out"``, ``"fan_avg"`` or ``"fan_geo_avg"``.
    distribution : str. ``"truncated_normal"``, ``"normal"`` or ``"uniform"``.
    in_axis, out_axis, batch_axis : int or sequence of int. The axes of inputs, of outputs, and
        those to ignore.
    """

    def draw(key, shape, kind) -> Any:
        sizes = shape_of(shape)
        fan_in, fan_out = _fans(sizes, in_axis, out_axis, batch_axis)
        fans = {
            "fan_in": fan_in,
            "fan_out": fan_out,
            "fan_avg": (fan_in + fan_out) / 2,
            "fan_geo_avg": math.sqrt(fan_in * fan_out),
        }
        if mode not in fans:
            raise ValueError(f"invalid mode for variance scaling initializer: {mode}")
        variance = scale / fans[mode]
        if distribution == "truncated_normal":
            # the deviation of the standard normal distribution between -2 and 2
            deviation = kind.type(math.sqrt(variance) / 0.87962566103423978)
            return sampling.truncated_normal(key, -2, 2, sizes, kind) * deviation
        if distribution == "normal":
            return sampling.normal(key, sizes, kind) * kind.type(math.sqrt(variance))
        if distribution == "uniform":
            return sampling.uniform(key, sizes, kind, -1) * kind.type(math.sqrt(3 * variance))
        raise ValueError(f"invalid distribution for variance scaling initializer: {distribution}")

    return _initializer(draw, dtype)


def _scaled(name: str, scale: float, mode: str, distribution: str) -> Callable[..., Initializer]:
    def function(in_axis=-2, out_axis=-1, batch_axis=(), dtype=None) -> Initializer:
        """Build an initializer of {text} weights, scaled by {by} (see `variance_scaling`)."""
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    by = "fan-in" if mode == "fan_in" else "fan-in and fan-out"
    return named(function, name, text=distribution.replace("_", " "), by=by)


glorot_normal = xavier_normal = _scaled("glorot_normal", 1.0, "fan_avg", "truncated_normal")
glorot_uniform = xavier_uniform = _scaled("glorot_uniform", 1.0, "fan_avg", "uniform")
he_normal = kaiming_normal = _scaled("he_normal", 2.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = _scaled("he_uniform", 2.0, "fan_in", "uniform")
lecun_normal = _scaled("lecun_normal", 1.0, "fan_in", "truncated_normal")
lecun_uniform = _scaled("lecun_uniform", 1.0, "fan_in", "uniform")


def orthogonal(scale=1.0, column_axis=-1, dtype=None) -> Initializer:
    """Build an initializer of matrices with orthogonal rows or columns."""

    def draw(key, shape, kind) -> Any:
        if len(shape) < 2:
            raise ValueError("orthogonal initializer requires at least a 2D shape")
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        q = sampling.orthogonal(key, rows, (), kind, columns)
        others = [n for i, n in enumerate(shape) if i != column_axis % len(shape)]
        return kind.type(scale) * jnp.moveaxis(q.reshape((*others, columns)), -1, column_axis)

    return _initializer(draw, dtype)


def delta_orthogonal(scale=1.0, column_axis=-1, dtype=None) -> Initializer:
    """Build an initializer of convolution kernels: an orthogonal matrix at the center, else 0."""

    def draw(key, shape, kind) -> Any:
        if len(shape) not in (3, 4, 5):
            raise ValueError("Delta orthogonal initializer requires a 3D, 4D or 5D shape.")
        if shape[-1] < shape[-2]:
            raise ValueError("`fan_in` must be less or equal than `fan_out`.")
        matrix = orthogonal(scale, column_axis, kind)(key, tuple(shape[-2:]), kind)
        middle = tuple((n - 1) // 2 for n in shape[:-2])
        return jnp.zeros(shape, kind).at[middle].set(matrix)

    return _initializer(draw, dtype)


__getattr__ = closed(globals())

__all__ = defined(globals())
