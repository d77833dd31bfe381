"""Layer 9 · compat: ``tf.dtypes``: the dtypes and what converts to them."""

from __future__ import annotations

from typing import Any

from wengert.compat.tensorflow.dtypes import (
    DTYPES,
    DType,
    as_dtype,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from wengert.compat.tensorflow.functions.casting import cast, complex, saturate_cast

__all__ = [
    "DType",
    "as_dtype",
    "cast",
    "complex",
    "complex64",
    "complex128",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "saturate_cast",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

double, half = float64, float16


def __getattr__(name: str) -> Any:
    found = DTYPES.get(name)
    if found is None:
        raise AttributeError(
            f"module 'tensorflow.dtypes' has no attribute {name!r}: the dtypes are "
            f"{', '.join(DTYPES)}"
        )
    return found
