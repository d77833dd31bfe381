"""Layer 1 · kernels: roots of which the digits do not depend on the processor.

NOTE [cube root]
C libraries differ in the last digit of ``cbrt``, and some give no whole root of a cube of a whole
number. For float32 the root is computed in float64 and rounded once. For float64 it is tried with
17 digits (split off as in T. J. Dekker, "A floating-point technique for extending the available
precision", Numerische Mathematik 18 (1971), 224-242): their cube is exact, and if it is the
argument, they are the root.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_SPLIT = 2.0**36 + 1.0


def cbrt(self: Any) -> Any:
    """Return the real cube root, exact where it has up to 17 digits (see NOTE [cube root])."""
    if self.dtype.itemsize < 8:
        return np.cbrt(self.astype(np.float64)).astype(self.dtype)
    root = np.cbrt(self)
    # invalid: infinities
    with np.errstate(invalid="ignore"):
        shifted = root * _SPLIT
        short = shifted - (shifted - root)
        return np.where(short * short * short == self, short, root)[()]
