"""Layer 2 · prims: rows of a table, and the accumulation of their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels import embedding as kernels
from wengert.prims.families import constant, linear
from wengert.prims.record import case


def _indices(rng: Any) -> Any:
    return np.array([[0, 2, 2], [1, 0, 2]])


linear(
    "embedding",
    kernels.embedding,
    vjp=(
        lambda F, g, indices, weight_shape, **params: F.embedding_backward(
            g, indices, num_weights=weight_shape[0], **params
        ),
        None,
    ),
    cases=(
        case((4, 2), _indices, padding_idx=-1, scale_grad_by_freq=False),
        case((3, 1), lambda rng: np.array(1), padding_idx=-1, scale_grad_by_freq=False),
    ),
    layout="contiguous",
    shows={
        "weight_sym_sizes": None,
        "weight_sym_argsize_0": lambda weight_shape: weight_shape[0],
        "sparse": lambda: False,
    },
    doc="the rows of a table that indices name",
)
linear(
    "embedding_backward",
    kernels.embedding_backward,
    args=("self", "indices"),
    vjp=(
        lambda F, g, self_dtype, indices, padding_idx, scale_grad_by_freq: (
            F.embedding(g, indices, padding_idx=-1, scale_grad_by_freq=False)
            * F.embedding_factors(
                indices,
                dtype=self_dtype,
                padding_idx=padding_idx,
                scale_grad_by_freq=scale_grad_by_freq,
            )
        ),
        None,
    ),
    node="EmbeddingDenseBackward0",
    cases=(
        case((2, 3, 2), _indices, num_weights=4, padding_idx=-1, scale_grad_by_freq=False),
        case((2, 3, 2), _indices, num_weights=4, padding_idx=2, scale_grad_by_freq=True),
    ),
    doc="a table with rows added to those that indices name",
    fused="kernel",
)
constant(
    "embedding_factors",
    kernels.embedding_factors,
    args=("indices",),
    fixed=("indices",),
    cases=(case(_indices, dtype=np.dtype(float), padding_idx=2, scale_grad_by_freq=True),),
    doc="what the gradients of rows of a table are multiplied by",
)
