"""Layer 2 · prims: transposes of matrices in the last two dimensions, for rules."""

from __future__ import annotations

from typing import Any


def mT(F: Any, x: Any) -> Any:
    """Swap the rows and columns of matrices."""
    n = len(x.shape)
    return F.transpose(x, dim0=n - 2, dim1=n - 1)


def mH(F: Any, x: Any, dtype: Any) -> Any:
    """Return the adjoints of matrices of `dtype`."""
    turned = mT(F, x)
    return F.conj(turned) if dtype.kind == "c" else turned
