"""Layer 8 · scipy: bounds on nested parameters, converted to SciPy's on a vector."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from wengert.scipy.nesting import Nesting, Place


def flat_bounds(bounds: Any, nesting: Nesting, make: Any) -> Any:
    """Return `bounds` unchanged if they are SciPy's, else bounds made from nested ones.

    Parameters
    ----------
    bounds: The user's argument; not None.
    make: `scipy.optimize.Bounds`.
    """
    if isinstance(bounds, make):
        return bounds
    if isinstance(nesting.root, Place) or _is_flat(bounds, nesting):
        if _is_pair(bounds) and nesting.size != 2:
            bounds = [bounds] * nesting.size
        return bounds
    return make(
        nesting.spread(bounds, -np.inf, "bounds", 0), nesting.spread(bounds, np.inf, "bounds", 1)
    )


def _is_flat(bounds: Any, nesting: Nesting) -> bool:
    """Return whether there is a pair of numbers for each element of several arrays."""
    return (
        isinstance(bounds, list | tuple)
        and len(bounds) == nesting.size
        and len(bounds) != len(nesting.root.parts)
        and all(map(_is_pair, bounds))
    )


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(limit is None or isinstance(limit, Number) for limit in value)
    )


def flat_limits(bounds: Any, nesting: Nesting, make: Any) -> Any:
    """Return the bounds of `least_squares` and `curve_fit`: all lower and all upper ones.

    Parameters
    ----------
    bounds: ``(low, high)``, each a number, or nested like the parameters; or
        `scipy.optimize.Bounds`.
    make: `scipy.optimize.Bounds`.
    """
    if isinstance(bounds, make):
        return bounds
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise ValueError(
            "bounds must be a pair of lower and upper bounds, each a number or nested as the "
            f"parameters are, or scipy.optimize.Bounds; got {bounds!r}"
        )
    low = nesting.spread(bounds[0], -np.inf, "bounds[0]")
    return low, nesting.spread(bounds[1], np.inf, "bounds[1]")
