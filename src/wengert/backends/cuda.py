"""Layer 9 · backends: settings of products on a GPU, of which there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wengert.backends.settings import switch
from wengert.base.elsewhere import elsewhere

__all__ = [
    "cudnn_sdp_enabled",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "is_built",
    "is_flash_attention_available",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "preferred_blas_library",
    "preferred_linalg_library",
    "sdp_kernel",
]

enable_cudnn_sdp, cudnn_sdp_enabled = switch(True, "cudnn_sdp")
enable_flash_sdp, flash_sdp_enabled = switch(True, "flash_sdp")
enable_math_sdp, math_sdp_enabled = switch(True, "math_sdp")
enable_mem_efficient_sdp, mem_efficient_sdp_enabled = switch(True, "mem_efficient_sdp")

__getattr__ = elsewhere(__name__)  # PyTorch has more here


class _Products:
    """The precision of products on a GPU; stored, without effect."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Products()


def is_built() -> bool:
    """Return False: there is no support for GPUs."""
    return False


def is_flash_attention_available() -> bool:
    """Return False: attention is computed by NumPy's products."""
    return False


def preferred_linalg_library(backend: Any = None) -> str:
    """Return ``"default"``: matrices are decomposed by NumPy's library."""
    return "default"


def preferred_blas_library(backend: Any = None) -> str:
    """Return ``"default"``: products are computed by NumPy's library."""
    return "default"


@contextmanager
def sdp_kernel(**enabled: bool) -> Iterator[None]:
    """Return a context for attention kernels, without effect: there is only one."""
    yield
