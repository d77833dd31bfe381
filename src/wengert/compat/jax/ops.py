"""Layer 9 · compat: `jax.ops`: reductions of segments of an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.base.sections import named
from wengert.compat.jax.tracing import argument

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


def _end(dtype, greatest: bool) -> Any:
    """Return the greatest or the least number of a dtype."""
    if dtype.kind == "b":
        return greatest
    if dtype.kind in "fcV":
        return np.inf if greatest else -np.inf
    return np.iinfo(dtype).max if greatest else np.iinfo(dtype).min


def _segments(name: str, update: str, start: Callable[[Any], Any]) -> Callable[..., Any]:
    def reduced(
        data,
        segment_ids,
        num_segments: int | None = None,
        indices_are_sorted=False,
        unique_indices=False,
        bucket_size: int | None = None,
        mode=None,
    ) -> Any:
        """Return the {what} of each segment.

        Parameters
        ----------
        data : Array
            The array to reduce along its first axis.
        segment_ids : Array
            The segment that each element belongs to.
        num_segments : int, optional
            The number of segments; elements of other segments are dropped.

        Examples
        --------
        >>> from wengert.compat import jax
        >>> x = jax.numpy.array([1.0, 2.0, 3.0])
        >>> jax.ops.segment_sum(x, jax.numpy.array([0, 0, 1]))
        Array([3., 3.], dtype=float32)
        """
        x, ids = argument(data), argument(segment_ids)
        count = num_segments
        if count is None:
            count = int(np.asarray(ids).max()) + 1 if ids.size else 0
        if count < 0:
            raise ValueError("num_segments must be non-negative.")
        begin = jnp.full((count, *x.shape[1:]), start(x.dtype), dtype=x.dtype)
        options = {"mode": mode, "wrap_negative_indices": False}
        return getattr(begin.at[ids], update)(x, **options)

    return named(reduced, name, what=name.removeprefix("segment_"))


segment_sum = _segments("segment_sum", "add", lambda dtype: 0)
segment_prod = _segments("segment_prod", "multiply", lambda dtype: 1)
segment_max = _segments("segment_max", "max", lambda dtype: _end(dtype, False))
segment_min = _segments("segment_min", "min", lambda dtype: _end(dtype, True))
