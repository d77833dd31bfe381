"""Layer 8 · compiler: the facet of native forms from memory to memory, all of it said."""

from __future__ import annotations

from wengert.compiler.codegen.native import convolution as native_convolution
from wengert.compiler.codegen.native import factors as native_factors
from wengert.compiler.codegen.native import grids as native_grids
from wengert.compiler.codegen.native import places as native_places
from wengert.compiler.codegen.native import pooling as native_pooling
from wengert.compiler.codegen.native import products as native_products
from wengert.compiler.codegen.native import scans as native_scans
from wengert.compiler.codegen.native.forms import NATIVE

__all__ = [
    "NATIVE",
    "native_convolution",
    "native_factors",
    "native_grids",
    "native_places",
    "native_pooling",
    "native_products",
    "native_scans",
]
