"""Layer 1 · kernels: exponential integrals of orders that SciPy has not."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.scipy import ufunc

_expn = ufunc("expn", "scipy.special.expn")


def expn(n: Any, x: Any) -> Any:
    """Return the exponential integral E_n(x), for whole `n`, negative ones too.

    For these, which derivatives lead to, DLMF 8.19.12 goes down from E_0 without cancellation.
    """
    if not np.any(np.less(n, 0)):
        return _expn(n, x)
    low = np.minimum(n, 0)
    with np.errstate(all="ignore"):
        made = _expn(np.maximum(n, 0), x)
        tail = np.exp(-x)
        for k in range(int(-low.min()) if low.size else 0):
            made = np.where(k < -low, (tail + (k + 1) * made) / x, made)
    return np.asarray(made, x.dtype)[()]
