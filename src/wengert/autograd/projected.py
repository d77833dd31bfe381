"""Layer 7 · autograd: random projections of Jacobians, for `gradcheck` of large inputs.

NOTE [projections before entries]
Comparing all entries of a Jacobian takes a pass for each element of the inputs and of the outputs.
A number ``v @ J @ u`` takes two evaluations and one backward pass, and a wrong entry changes it by
its error times two weights. The weights have random signs and magnitudes between 0.5 and 1.5: no
entry is hidden by a small weight, and errors do not cancel as they would with integer weights. So
large Jacobians are first compared by several such numbers, to the accuracy of finite differences,
which is finer than the tolerance of a single entry. If one of the numbers differs, all entries are
compared, so a Jacobian that is right within the tolerances passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

times = 4
"""The number of projections to compare."""
_SHARE = 0.1
"""The fraction of the absolute tolerance for projections: less than a weight squared."""
_ROUNDING = 1e-9
"""An upper bound of the relative error of central differences in double precision."""


def signs(rng: np.random.Generator, tensor: Any) -> Any:
    """Return a random weight for each element of `tensor`; complex ones for a complex tensor."""
    size = tensor._payload.size
    weights = rng.choice((-1.0, 1.0), size) * rng.uniform(0.5, 1.5, size)
    if tensor._payload.dtype.kind == "c":
        weights = weights + 1j * rng.choice((-1.0, 1.0), size) * rng.uniform(0.5, 1.5, size)
    return weights


def differs(found: Any, expected: Any, terms: Any, atol: float) -> bool:
    """Return whether sums differ by more than finite differences explain.

    Parameters
    ----------
    found, expected: Numbers or arrays.
    terms: The absolute values of the terms of the sum `expected`.
    """
    with np.errstate(invalid="ignore"):
        return not np.all(np.abs(found - expected) <= _SHARE * atol + _ROUNDING * terms)


def bisect(difference: Callable[[Any], float], size: int) -> int:
    """Return the index that contributes most to a difference, by bisection."""
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        left = abs(difference(slice(low, middle)))
        right = abs(difference(slice(middle, high)))
        # comparisons with NaN are false: follow NaN to its origin
        if left != left or left >= right:
            high = middle
        else:
            low = middle
    return low
