"""Layer 8 · compiler: decomposition of composite primitives into a small core, while tracing.

NOTE [decompositions]
The facet `DECOMPOSED` holds rules that compute a primitive by simpler ones. A rule is called as
``rule(F, *arrays, **params)`` and written like a derivative rule: against a namespace `F`, with
infix operators and Python numbers as constants. So it serves every namespace: traces, batches and
duals (the word ``parts`` of a record's `batching` and `tangents`), and devices without the kernel.
It may read shapes and dtypes, never values. It returns what the kernel returns: a tuple where the
primitive has several outputs, and a new buffer unless the primitive is a view. It returns
``NotImplemented`` for dtypes and shapes that the kernel handles better; the primitive then stays
one step. A rule may call primitives that have rules themselves: the namespace decomposes those in
turn.

Results agree with the kernels up to rounding, for infinite, NaN and large elements too. Rules leave
out what a kernel does for NumPy only: in-place passes, blocking, and suppressed overflow warnings,
which a backend suppresses for a whole program.
"""

from __future__ import annotations

from wengert.base.ports import provides
from wengert.compiler.decompose import (  # noqa: F401
    grids,
    layers,
    places,
    pointwise,
    products,
    sums,
)
from wengert.compiler.decompose.rules import DECOMPOSED, Rule
from wengert.prims.record import Primitive


@provides("parts")
def parts(prim: Primitive) -> Rule | None:
    """Return the decomposition of a primitive, for devices without its kernel and transforms."""
    return DECOMPOSED[prim]
