"""Layer 9 · compat: the ``scatter`` methods of variables, which write to rows and elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.tensorflow.tensor import converted

__all__ = ["install_scatters", "put"]


def put(array, places, values) -> None:
    """Write to some places of an array."""
    array[places] = values


_WAYS = (
    ("add", np.add.at, "Add to"),
    ("sub", np.subtract.at, "Subtract from"),
    ("mul", np.multiply.at, "Multiply"),
    ("div", np.divide.at, "Divide"),
    ("max", np.maximum.at, "Take the maximum with"),
    ("min", np.minimum.at, "Take the minimum with"),
    ("update", put, "Assign to"),
)


def _scatter(cls: type, name: str, function: Callable[..., Any], what: str) -> None:
    def scatter(self, sparse_delta, use_locking: bool = False, name=None) -> Any:
        places, values = self._rows(sparse_delta)
        return self._scattered(function, places, values)

    scatter.__name__ = scatter.__qualname__ = f"scatter_{name}"
    scatter.__doc__ = f"{what} the rows that an `IndexedSlices` names."
    setattr(cls, scatter.__name__, scatter)

    def scatter_nd(self, indices, updates, name=None) -> Any:
        places = np.asarray(converted(indices).payload)
        return self._scattered(function, tuple(np.moveaxis(places, -1, 0)), updates)

    scatter_nd.__name__ = scatter_nd.__qualname__ = f"scatter_nd_{name}"
    scatter_nd.__doc__ = f"{what} the elements or parts that the rows of `indices` name."
    setattr(cls, scatter_nd.__name__, scatter_nd)


def install_scatters(cls: type) -> None:
    """Put the methods on the class of variables."""
    for name, function, what in _WAYS:
        _scatter(cls, name, function, what)
