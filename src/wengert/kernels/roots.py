"""Layer 1 · kernels: roots whose digits do not depend on the platform.

NOTE [cube root]
C libraries differ in the last digit of ``cbrt``, and some are inexact for the cubes of integers.
For float32 the root is computed in float64 and rounded once. For float64 the root is first rounded
to 17 bits (as in T. J. Dekker, "A floating-point technique for extending the available precision",
Numerische Mathematik 18 (1971), 224-242), whose cube is exact: if the cube equals the argument,
this is the root.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_SPLIT = 2.0**36 + 1.0


def cbrt(self: Any) -> Any:
    """Return the real cube root, exact if it has at most 17 bits (see NOTE [cube root])."""
    if self.dtype.itemsize < 8:
        return np.cbrt(self.astype(np.float64)).astype(self.dtype)
    root = np.cbrt(self)
    # invalid: infinities
    with np.errstate(invalid="ignore"):
        shifted = root * _SPLIT
        short = shifted - (shifted - root)
        return np.where(short * short * short == self, short, root)[()]
