"""Layer 1 · kernels: rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.protocols import asarray, is_numpys, zeros
from wengert.kernels.sums import sums

# the number of positions up to which adding them one by one is faster
_FEW = 8


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
    """Return a table with each row of `g` added to the row that it came from.

    Rows are added in rounds: the first for each position, then the second, and so on, so that no
    position repeats within a round. The last few positions, which may have many rows, are each
    given the sum of the rest.
    """
    if padding_idx >= 0 or scale_grad_by_freq:
        g = g * embedding_factors(indices, g.dtype, padding_idx, scale_grad_by_freq)
    width = g.shape[-1]
    rows, places = g.reshape(indices.size, width), indices.reshape(-1)
    result = zeros(g, (num_weights, width), g.dtype)
    if not is_numpys(g):
        np.add.at(result, places, rows)
        return result
    if not places.size:
        return result
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    targets, counts = ordered[starts], np.diff(np.append(starts, len(ordered)))
    done = 0
    while len(starts) > _FEW:
        result[targets] += rows[order[starts + done]]
        done += 1
        more = counts > done
        targets, starts, counts = targets[more], starts[more], counts[more]
    for target, start, count in zip(targets, starts, counts, strict=True):
        result[target] += sums(rows[order[start + done : start + count]], (0,))
    return result
