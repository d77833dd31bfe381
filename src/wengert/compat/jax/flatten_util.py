"""Layer 9 · compat: `jax.flatten_util`: a pytree as one vector."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.array import asarray, convert, made, result_type
from wengert.compat.jax.tracing import argument
from wengert.compat.jax.trees import tree_flatten
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined


def ravel_pytree(pytree) -> tuple[Any, Callable[[Any], Any]]:
    """Flatten a pytree into one vector, and return the inverse function too.

    Parameters
    ----------
    pytree: Of arrays and numbers.

    Returns
    -------
    flat : Array. A vector of the promoted dtype of the leaves.
    unravel : callable. Converts a vector of this length to a pytree of the same structure, shapes
        and dtypes.

    Examples
    --------
    >>> from wengert.compat.jax.flatten_util import ravel_pytree
    >>> flat, unravel = ravel_pytree({"a": [1.0, 2.0], "b": 3.0})
    >>> flat
    Array([1., 2., 3.], dtype=float32, weak_type=True)
    >>> unravel(2 * flat)["a"][1]
    Array(4., dtype=float32, weak_type=True)
    """
    leaves, structure = tree_flatten(pytree)
    arrays = [argument(leaf) for leaf in leaves]
    if not arrays:
        return asarray([]), lambda flat: structure.unflatten([])
    dtype, weak = result_type(*arrays)
    weak = weak and all(x.dtype == dtype for x in arrays)
    flat = made(jnp.concatenate([made(convert(x, dtype)).ravel() for x in arrays]), weak)
    shapes, dtypes = (tuple(getattr(x, name) for x in arrays) for name in ("shape", "dtype"))
    return flat, _Unravel(structure, dtype, flat.shape[0], shapes, dtypes)


@dataclasses.dataclass(frozen=True)
class _Unravel:
    """The function that `ravel_pytree` returns; equal to that of a tree of the same structure."""

    structure: Any
    dtype: Any
    size: int
    shapes: tuple[Any, ...]
    dtypes: tuple[Any, ...]

    def __call__(self, vector) -> Any:
        given = argument(vector)
        if given.shape != (self.size,):
            raise refusal(ValueError, "The function returned by `ravel_pytree`", self, given)
        several = any(kind != self.dtype for kind in self.dtypes)
        if several and given.dtype != self.dtype:
            raise refusal(TypeError, "unravel function given", given, self)
        parts, start = [], 0
        for shape, kind in zip(self.shapes, self.dtypes, strict=True):
            end = start + math.prod(shape)
            part = given[start:end].reshape(shape)
            parts.append(part.astype(kind) if several else part)
            start = end
        return self.structure.unflatten(parts)


__all__ = defined(globals())
