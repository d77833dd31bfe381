"""Layer 4 · tape: adding to ``.grad``."""

from __future__ import annotations

import sys
from _thread import allocate_lock  # not `threading`, which takes long to import
from typing import Any

import numpy as np

from wengert.tape.base import new_tensor
from wengert.tape.record import T

__all__ = ["add_gradients", "add_retained", "private"]

_accumulating = allocate_lock()


def add_gradients(leaves: list[tuple[Any, Any]], graph: bool) -> None:
    """Add to ``.grad`` of each leaf its gradient, a raw array or with `graph` a tensor.

    `leaves` is used up, and the caller keeps no other reference to a gradient: one that nobody else
    holds becomes ``.grad`` itself, any other is copied.
    """
    leaf = g = None
    with _accumulating:
        while leaves:
            leaf, g = leaves.pop()
            # nobody else may come to hold the memory of a gradient
            if (
                not graph
                and g.__class__ is np.ndarray
                and (sys.getrefcount(g) > _ALONE or g.base is not None or not g.flags.writeable)
            ):
                g = private(g)
            _add(leaf, g, graph)


def add_retained(tensor: Any, g: Any, graph: bool) -> None:
    """Add to ``.grad`` of a tensor that is not a leaf and that retains its gradient."""
    with _accumulating:
        _add(tensor, g if graph else private(g), graph)


def _references(pairs: list[tuple[Any, Any]]) -> int:
    _, g = pairs.pop()
    return sys.getrefcount(g)


# counted as `add_gradients` counts, since interpreters differ in what they count
_ALONE = _references([(None, np.empty(1))])


def private(g: Any) -> Any:
    """A copy of a raw array, for a tensor of its own."""
    return np.array(g, copy=True, order="K")


def _add(tensor: Any, g: Any, graph: bool) -> None:
    ext = tensor.extra()
    have = ext.grad
    if graph:
        # a copy, under the name that PyTorch's graph gives it
        ext.grad = T.assign(new_tensor(tensor.payload), g) if have is None else T.add(have, g)
    elif have is None:
        ext.grad = new_tensor(g)
    elif have.edge is None and have.payload.__class__ is np.ndarray and have.payload.ndim:
        np.add(have.payload, g, have.payload)
        if have.vc is not None:
            have.vc[0] += 1
            have.vc[1] = "accumulation of gradients"
        else:
            have.vc = [1, "accumulation of gradients"]
    else:
        ext.grad = new_tensor(have.payload + g)
