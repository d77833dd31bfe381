"""Layer 8 · implicit: derivatives of solutions of equations, for any solver."""

from wengert.base.names import shows
from wengert.implicit.decorators import argmin, fixed_point, root
from wengert.implicit.linear import LinearMap

__all__ = ["LinearMap", "argmin", "fixed_point", "root"]
__dir__ = shows(__all__)
