"""Layer 1 · kernels: NumPy's reductions; the compiled build has loops for small arrays here."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.extremes import largest as largest
from wengert.kernels.extremes import smallest as smallest

# NumPy's annotations of `reduce` lack an overload for a `keepdims` that is not a literal
add: Any = np.add.reduce
