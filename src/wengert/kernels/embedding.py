"""Layer 1 · kernels: rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.protocols import asarray, zeros
from wengert.kernels.scatter import add_rows


def embedding(weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """Return the rows of `weight` that `indices` name."""
    return weight.take(asarray(indices), axis=0)


def embedding_factors(indices: Any, dtype: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """Return the factor of the gradient of each row, with a trailing dimension of size 1."""
    factors = np.ones(indices.shape)
    if scale_grad_by_freq and indices.size:
        factors = 1 / np.bincount(indices.reshape(-1))[indices]
    return np.where(indices == padding_idx, 0, factors)[..., None].astype(dtype)


def embedding_backward(
    g: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """Return a table with each row of `g` added to the row that it came from."""
    if padding_idx >= 0 or scale_grad_by_freq:
        g = g * embedding_factors(indices, g.dtype, padding_idx, scale_grad_by_freq)
    width = g.shape[-1]
    rows, places = g.reshape(indices.size, width), indices.reshape(-1)
    result = zeros(g, (num_weights, width), g.dtype)
    add_rows(result, places, rows)
    return result
