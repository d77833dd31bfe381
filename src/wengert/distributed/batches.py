"""Layer 10 · distributed: one partition's data, as a function sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.containers import flatten
from wengert.base.sections import fill_sections
from wengert.tape.base import TensorBase, new_tensor


class Held:
    """A value that no scheduler may look into for names of tasks, or take apart.

    Attributes
    ----------
    value: Anything.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return Held, (self.value,)

    def __sizeof__(self) -> int:
        # what Dask weighs where it decides which worker is to compute
        return sum(int(getattr(leaf, "nbytes", 64)) for leaf in flatten(self.value)[0])


def read_only(array: Any) -> Any:
    """A view of an array that cannot be written through.

    Its dtype is NumPy's own object: an array that was pickled has another one, which is equal, but
    compiled functions tell the two apart.
    """
    view = array.view(np.dtype(array.dtype.type))
    view.flags.writeable = False
    return view


def rows_of(batch: Any) -> int:
    """How many rows a batch has: the length of the first array or table in it that has one.

    A batch of numbers only counts as one row.
    """
    for leaf in flatten(batch)[0]:
        shape = getattr(leaf, "shape", None)
        if shape:
            return int(shape[0])
    return 1


def seen(batch: Any) -> Any:
    """A batch with tensors in place of its arrays, over the same memory, not to be written to.

    Tables, texts and whatever else is not an array of numbers stay as they are.
    """
    leaves, rebuild = flatten(batch)
    return rebuild([_seen(leaf) for leaf in leaves])


def _seen(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biufc" and leaf.dtype.isnative:
        return new_tensor(read_only(leaf.view(np.ndarray)))
    if isinstance(leaf, TensorBase):
        return new_tensor(read_only(leaf._array()))
    return leaf


fill_sections(globals())
