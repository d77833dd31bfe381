"""Layer 2 · prims: the whole table: importing this module registers every record."""

from __future__ import annotations

from wengert.prims import (
    binary,
    blend,
    complex,
    create,
    index,
    join,
    matmul,
    moments,
    neural,
    parts,
    place,
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
    "blend",
    "complex",
    "create",
    "index",
    "join",
    "matmul",
    "moments",
    "neural",
    "parts",
    "place",
    "reduce",
    "select",
    "shape",
    "strided",
    "unary",
]
