"""Layer 2 · prims: the whole table, with the families that are imported only when first used.

Importing `wengert` brings in the records of `wengert.prims.table`. The families listed here follow
when the first of their functions is named, each with the module of `ops` that uses it. What must
see every record (tests, lists of operations) imports this module.
"""

from __future__ import annotations

from wengert.prims import (
    bessel,
    complex_parts,
    contraction,
    convolution,
    ctc,
    distances,
    embedding,
    factors,
    fold,
    fourier,
    gamma,
    grids,
    linear_systems,
    logarithms,
    normal,
    normalisation,
    numbers,
    padding,
    polynomials,
    pooling,
    products,
    resample,
    scan,
    scatter,
    search,
    sorting,
    spectral,
    statistics,
    structure,
    table,
    thresholds,
)
from wengert.prims.record import TABLE

__all__ = [
    "TABLE",
    "bessel",
    "complex_parts",
    "contraction",
    "convolution",
    "ctc",
    "distances",
    "embedding",
    "factors",
    "fold",
    "fourier",
    "gamma",
    "grids",
    "linear_systems",
    "logarithms",
    "normal",
    "normalisation",
    "numbers",
    "padding",
    "polynomials",
    "pooling",
    "products",
    "resample",
    "scan",
    "scatter",
    "search",
    "sorting",
    "spectral",
    "statistics",
    "structure",
    "table",
    "thresholds",
]
