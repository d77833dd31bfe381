"""Layer 2 · prims: the table: importing this module registers the records of everyday operations.

The others are registered with the module whose function is named first, or all with
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
