"""Layer 8 · sparse: sparse tensors; sparse Jacobians and Hessians in few passes.

`pattern` finds where a Jacobian may be nonzero, from the graph that a function records; `color`
groups rows or columns that can be computed together; `jacobian` and `hessian` compute it, as
matrices of `scipy.sparse`. `matmul` and `solve` differentiate through constant sparse matrices of
that library. Sparse tensors, with PyTorch's functions of them, are differentiable with respect to
their values.
"""

from __future__ import annotations

from typing import Any

from wengert.base.names import imported, shows
from wengert.ops.typed import TYPED as _TYPED
from wengert.sparse.coloring import Coloring as Coloring
from wengert.sparse.coloring import color as color
from wengert.sparse.creation import (
    check_sparse_tensor_invariants as check_sparse_tensor_invariants,
)
from wengert.sparse.creation import spdiags as spdiags
from wengert.sparse.creation import typed as _typed
from wengert.sparse.functions import hessian as hessian
from wengert.sparse.functions import hessian_pattern as hessian_pattern
from wengert.sparse.functions import jacobian as jacobian
from wengert.sparse.functions import pattern as pattern
from wengert.sparse.matrices import matmul as matmul
from wengert.sparse.matrices import solve as solve
from wengert.sparse.operations import addmm as addmm
from wengert.sparse.operations import cat as cat
from wengert.sparse.operations import log_softmax as log_softmax
from wengert.sparse.operations import mm as mm
from wengert.sparse.operations import softmax as softmax
from wengert.sparse.operations import stack as stack
from wengert.sparse.operations import sum as sum
from wengert.sparse.tensors import CompressedTensor as CompressedTensor
from wengert.sparse.tensors import SparseTensor as SparseTensor

__all__ = imported(globals())
__dir__ = shows(__all__)


def __getattr__(name: str) -> Any:
    if name in _TYPED:
        return _typed(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
