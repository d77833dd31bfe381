"""Layer 1 · kernels: products of matrices and vectors.

``array.dot`` reaches BLAS in half the time of ``np.matmul`` for small matrices, and hands
transposed views to it as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.protocols import contiguous

_WIDE, _SMALL = 1 << 16, 1200
"""The size of matrices that BLAS packs slowly, and of products for which it packs none."""


def _is_short_float(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is float16 or bfloat16: no BLAS, and too coarse to sum in."""
    return dtype.itemsize == 2 and dtype.kind not in "iub"


def _dot(self: Any, other: Any) -> Any:
    if self.dtype.itemsize == 2 and _is_short_float(self.dtype):
        return self.astype(np.float32).dot(other.astype(np.float32)).astype(self.dtype)
    if other.size >= _WIDE and _is_row_by_row(self, other):
        return contiguous(other.T.dot(self.T).T)
    return self.dot(other)


def _is_row_by_row(few: Any, turned: Any) -> bool:
    if few.__class__ is not np.ndarray or {few.ndim, turned.ndim} != {2}:
        return False
    lie = few.flags.c_contiguous and turned.flags.f_contiguous
    return lie and packs_slowly(few.dtype, len(few), *turned.shape)


def packs_slowly(dtype: np.dtype[Any], count: int, inner: int, wide: int) -> bool:
    """Return whether few rows times the transpose of a large matrix are slow, in float32.

    OpenBLAS packs it in up to three times the time that it takes for the transposed product.
    """
    few = dtype.char == "f" and 1 < count <= min(inner // 8, wide // 4)
    return few and count * wide > _SMALL and inner * wide >= _WIDE


mm = mv = dot = _dot


def vdot(self: Any, other: Any) -> Any:
    """Return the dot product, with the first vector conjugated."""
    return _dot(np.conjugate(self), other)


def bmm(self: Any, mat2: Any) -> Any:
    """Multiply two batches of matrices."""
    dtype = self.dtype
    if _is_short_float(dtype):
        return np.matmul(self, mat2, dtype=np.float32).astype(dtype)
    if self.shape[-1] == 1 == mat2.shape[-2]:
        # outer products, which BLAS computes one at a time
        return self * mat2
    return np.matmul(_blasable(self), _blasable(mat2))


def _blasable(self: Any) -> Any:
    # before NumPy 2.3, broadcast arrays would take a loop without BLAS
    return contiguous(self) if 0 in self.strides[-2:] else self


def addmm(self: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    """Compute beta * self + alpha * (mat1 @ mat2), without reading self if beta is 0."""
    return _plus(self, _dot(mat1, mat2), beta, alpha)


addmv = addmm


def baddbmm(self: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    """Compute beta * self + alpha * (batch1 @ batch2), without reading self if beta is 0."""
    return _plus(self, bmm(batch1, batch2), beta, alpha)


def _plus(self: Any, product: Any, beta: Any, alpha: Any) -> Any:
    if alpha != 1:
        product *= alpha
    if beta == 1:
        product += self
    elif beta != 0:
        product += self * beta
    return product
