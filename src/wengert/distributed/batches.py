"""Layer 10 · distributed: the data of one partition, as functions see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.containers import flatten
from wengert.tape.base import TensorBase, new_tensor


class Held:
    """A value that schedulers must neither search for task names nor split.

    Attributes
    ----------
    value: Any object.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return Held, (self.value,)

    def __sizeof__(self) -> int:
        # Dask weighs this when it decides which worker computes
        return sum(int(getattr(leaf, "nbytes", 64)) for leaf in flatten(self.value)[0])


def read_only(array: Any) -> Any:
    """Return a read-only view of an array.

    Its dtype is NumPy's own object: an unpickled array has an equal but different one, which
    compiled functions would treat as another.
    """
    view = array.view(np.dtype(array.dtype.type))
    view.flags.writeable = False
    return view


def rows_of(batch: Any) -> int:
    """Return the number of rows in a batch: the length of its first array or table with any.

    A batch of numbers alone counts as one row.
    """
    for leaf in flatten(batch)[0]:
        shape = getattr(leaf, "shape", None)
        if shape:
            return int(shape[0])
    return 1


def seen(batch: Any) -> Any:
    """Return a batch with read-only tensors in place of its arrays, over the same memory.

    Tables, texts and other values that are not numeric arrays are unchanged.
    """
    leaves, rebuild = flatten(batch)
    return rebuild([_seen(leaf) for leaf in leaves])


def _seen(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biufc" and leaf.dtype.isnative:
        return new_tensor(read_only(leaf.view(np.ndarray)))
    if isinstance(leaf, TensorBase):
        return new_tensor(read_only(leaf._array()))
    return leaf
