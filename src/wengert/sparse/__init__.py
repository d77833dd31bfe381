"""Layer 8 · sparse: sparse Jacobians and Hessians, in as many passes as their pattern needs.

`pattern` finds where a Jacobian may be nonzero, from the graph that a function records; `color`
says what can be computed together; `jacobian` and `hessian` compute it, as matrices of
`scipy.sparse`. `matmul` and `solve` differentiate through constant sparse matrices.
"""

from __future__ import annotations

from wengert.base.names import shows
from wengert.sparse.coloring import Coloring as Coloring
from wengert.sparse.coloring import color as color
from wengert.sparse.functions import hessian as hessian
from wengert.sparse.functions import hessian_pattern as hessian_pattern
from wengert.sparse.functions import jacobian as jacobian
from wengert.sparse.functions import pattern as pattern
from wengert.sparse.matrices import matmul as matmul
from wengert.sparse.matrices import solve as solve

__all__ = [
    "Coloring",
    "color",
    "hessian",
    "hessian_pattern",
    "jacobian",
    "matmul",
    "pattern",
    "solve",
]
__dir__ = shows(__all__)
