"""Typical lines of a typed program in the JAX idiom, which type checkers must accept."""

from __future__ import annotations

from itertools import pairwise

import wengert.compat.jax as jax
import wengert.compat.jax.numpy as jnp
from wengert.compat.jax import lax, random
from wengert.compat.jax.typing import ArrayLike

Layers = list[tuple[jax.Array, jax.Array]]


def layers(key: jax.Array, sizes: list[int]) -> Layers:
    made = []
    for n, m in pairwise(sizes):
        key, wkey = random.split(key)
        made.append((0.1 * random.normal(wkey, (n, m)), jnp.zeros(m)))
    return made


def predict(params: Layers, inputs: jax.Array) -> jax.Array:
    for w, b in params[:-1]:
        inputs = jnp.tanh(jnp.dot(inputs, w) + b)
    w, b = params[-1]
    logits = inputs @ w + b
    return logits - jnp.max(logits, axis=1, keepdims=True)


def reductions(x: jax.Array) -> jax.Array:
    both = jnp.sum(x * x, axis=(0, 1)) + x.mean() + x.max(axis=-1).sum()
    return jnp.where(both > 0, -both, 2.0 / (both + 1e-3)) ** 2


def pieces(x: jax.Array) -> jax.Array:
    first, second = jnp.split(x, 2)
    rows, columns = jnp.meshgrid(jnp.arange(2.0), jnp.linspace(0, 1, 2))
    joined = jnp.concatenate([first, second, rows, columns], axis=0)
    return lax.add(joined.at[0].set(1.0).T.reshape(-1)[::2], jnp.float32(1))


def plain(x: ArrayLike) -> tuple[float, int, tuple[int, ...], str]:
    array = jnp.asarray(x, dtype=jnp.float32)
    return float(array.sum()), array.size, array.shape, array.dtype.name
