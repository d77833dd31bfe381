"""Layer 1 · kernels: exponential integrals of orders that SciPy lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.scipy import ufunc

_expn = ufunc("expn", "scipy.special.expn")


def expn(n: Any, x: Any) -> Any:
    """Compute the exponential integral E_n(x) for an integer `n`, which may be negative.

    Derivatives lead to negative orders, for which the recurrence DLMF 8.19.12 descends from E_0
    without cancellation.
    """
    n = np.where(np.isneginf(n), np.nan, n)
    if not np.any(np.less(n, 0)):
        return _expn(n, x)
    low = np.fmin(n, 0)
    with np.errstate(all="ignore"):
        made = _expn(np.maximum(n, 0), x)
        tail = np.exp(-x)
        for k in range(int(-low.min()) if low.size else 0):
            made = np.where(k < -low, (tail + (k + 1) * made) / x, made)
    return np.asarray(made, x.dtype)[()]
