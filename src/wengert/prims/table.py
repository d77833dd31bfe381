"""Layer 2 · prims: the table: importing this module registers the records of everyday operations.

The others are registered when one of their public functions is first used, or all at once by
`wengert.prims.whole`.
"""

from __future__ import annotations

from wengert.prims import (
    binary,
    complex,
    create,
    index,
    join,
    matmul,
    reduce,
    select,
    shape,
    strided,
    unary,
)
from wengert.prims.record import TABLE

__all__ = [
    "TABLE",
    "binary",
    "complex",
    "create",
    "index",
    "join",
    "matmul",
    "reduce",
    "select",
    "shape",
    "strided",
    "unary",
]
