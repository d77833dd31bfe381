"""Layer 9 · backends: settings of products on a GPU, of which there is none."""

from __future__ import annotations

__all__ = ["is_built", "matmul"]


class _Products:
    """How exact products on a GPU are; kept, and without effect."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Products()


def is_built() -> bool:
    """False: there is no support for GPUs."""
    return False
