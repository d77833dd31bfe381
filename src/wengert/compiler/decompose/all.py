"""Layer 8 · compiler: composite primitives taken apart into a small core, while tracing.

NOTE [decompositions]
The facet `DECOMPOSED` says how a primitive is computed by simpler ones. A rule, which is called as
``rule(F, *arrays, **params)``, is written as rules of derivatives are, against a namespace `F`,
with infix operators and with Python numbers as constants. It may read shapes and dtypes, never
values. It returns what the kernel returns (a tuple where the primitive has several outputs, memory
of its own unless the primitive is a view), or ``NotImplemented`` where this dtype or this shape is
better left to the kernel; then the primitive stays one step. A rule may call primitives that have
rules themselves: the namespace takes those apart in turn.

Results agree with the kernels to rounding, also where elements are infinite, not numbers, or large.
Rules leave out what a kernel does for NumPy's sake only: passes in place, blocks, and the silence
about overflow, which a backend provides for a whole program.
"""

from __future__ import annotations

from wengert.base.ports import provides
from wengert.compiler.decompose import (  # noqa: F401
    layers,
    places,
    pointwise,
    products,
    sums,
)
from wengert.compiler.decompose.rules import DECOMPOSED, Rule
from wengert.prims.record import Primitive

__all__ = ["DECOMPOSED"]


@provides("parts")
def parts(prim: Primitive) -> Rule | None:
    """The rule of a primitive, for those that have no kernel for it either."""
    return DECOMPOSED[prim]
