"""Layer 6 · tensor: types for annotations, under ``torch.types``' names."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from os import PathLike
from types import EllipsisType
from typing import IO, Any, SupportsIndex, TypeAlias

import numpy as np

from wengert.base.device import device
from wengert.base.dtypes import dtype
from wengert.base.size import Size
from wengert.tensor.tensor import Tensor

__all__ = [
    "Array",
    "Device",
    "FileLike",
    "Index",
    "Number",
    "Operand",
    "Size",
    "Tensor",
    "device",
    "dtype",
]

Number: TypeAlias = int | float | bool
"""A real Python number."""
FileLike: TypeAlias = str | PathLike[str] | IO[bytes]
"""A file or its name."""
Device: TypeAlias = device | str | int | None
"""A device or its name."""
Array: TypeAlias = np.ndarray[Any, Any]
"""A NumPy array of any shape and dtype."""
Operand: TypeAlias = Tensor | Number | complex | Array | np.generic
"""The other operand in arithmetic with a tensor."""
_Index: TypeAlias = SupportsIndex | slice | Tensor | Array | list[Any] | range | EllipsisType | None
Index: TypeAlias = _Index | tuple[_Index | Sequence[int], ...]
"""The index in square brackets after a tensor."""
_int = builtins.int
_float = builtins.float
_bool = builtins.bool
_complex = builtins.complex
_dtype = dtype
_device = device
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
