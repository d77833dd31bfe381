"""Layer 2 · prims: matrices in the last two dimensions, as rules turn them."""

from __future__ import annotations

from typing import Any


def mT(F: Any, x: Any) -> Any:
    """Matrices with rows and columns swapped."""
    n = len(x.shape)
    return F.transpose(x, dim0=n - 2, dim1=n - 1)


def mH(F: Any, x: Any, dtype: Any) -> Any:
    """Return the adjoints of matrices of `dtype`."""
    turned = mT(F, x)
    return F.conj(turned) if dtype.kind == "c" else turned
