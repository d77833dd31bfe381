"""Layer 9 · compat: what an index of TensorFlow's means: numbers, slices, ``...``, newaxis."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.tensorflow.errors import invalid
from wengert.numpy.indexing import read as numpys_read
from wengert.tape.base import TensorBase

__all__ = ["read"]

_EXPECTED = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/"
    "tf.int64 tensors are valid indices"
)


def _number(part) -> Any:
    """One index as a Python number; None and the like as they are."""
    if isinstance(part, TensorBase) or hasattr(part, "_as_tensor"):
        tensor = part if isinstance(part, TensorBase) else part._as_tensor()
        payload = tensor.payload
        if payload.ndim or payload.dtype.kind not in "iu":
            raise TypeError(
                f"{_EXPECTED}, got {part!r}: use tf.gather(x, indices) or tf.boolean_mask(x, mask)"
            )
        return int(payload.item())
    if isinstance(part, np.ndarray) and not part.ndim:
        part = part[()]
    if isinstance(part, np.integer):
        return int(part)
    return part


def _checked(part) -> Any:
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, slice):
        return slice(_bound(part.start), _bound(part.stop), _bound(part.step))
    number = _number(part)
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(
            f"{_EXPECTED}, got {part!r}: use tf.gather(x, indices) or tf.boolean_mask(x, mask)"
        )
    return number


def _bound(part) -> Any:
    number = None if part is None else _number(part)
    if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
        raise TypeError(f"{_EXPECTED}, got {part!r}")
    return number


def read(tensor, index) -> Any:
    """The elements of `tensor` that `index` names, recorded."""
    if isinstance(index, TensorBase) and index.payload.dtype.kind == "b" and index.payload.ndim:
        return numpys_read(tensor, np.asarray(index.payload))
    parts = [_checked(part) for part in (index if isinstance(index, tuple | list) else (index,))]
    if parts.count(Ellipsis) > 1:
        raise ValueError("Multiple ellipses are not allowed")
    shape = tensor.payload.shape
    taken = [part for part in parts if part is not None and part is not Ellipsis]
    if len(taken) > len(shape):
        raise invalid(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims",
            "StridedSlice",
        )
    dim = 0
    for i, part in enumerate(parts):
        if part is Ellipsis:
            dim = len(shape) - sum(p is not None for p in parts[i + 1 :])
        elif part is not None:
            if isinstance(part, int) and not -shape[dim] <= part < shape[dim]:
                raise invalid(
                    f"slice index {part} of dimension {dim} out of bounds.", "StridedSlice"
                )
            if isinstance(part, slice) and part.step == 0:
                raise invalid(f"strides[{dim}] must be non-zero", "StridedSlice")
            dim += 1
    return numpys_read(tensor, tuple(parts))
