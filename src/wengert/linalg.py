"""Layer 6 · tensor: linear algebra, under PyTorch's names."""

import sys as _sys

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.ops import (
    factors,
    least_squares,
    linear_systems,
    matrix_functions,
    matrix_norms,
    pseudoinverse,
    spectral,
)
from wengert.ops.factors import *  # noqa: F403  the lists of names are these modules' own
from wengert.ops.least_squares import *  # noqa: F403
from wengert.ops.linear_systems import *  # noqa: F403
from wengert.ops.matrix_functions import *  # noqa: F403
from wengert.ops.matrix_norms import *  # noqa: F403
from wengert.ops.moments import vector_norm as vector_norm
from wengert.ops.pseudoinverse import *  # noqa: F403
from wengert.ops.spectral import *  # noqa: F403
from wengert.tensor.overrides import publish as _publish

__getattr__ = elsewhere(__name__)  # PyTorch has more here

__all__ = sorted(
    {
        "vector_norm",
        *factors.__all__,
        *least_squares.__all__,
        *linear_systems.__all__,
        *matrix_functions.__all__,
        *matrix_norms.__all__,
        *pseudoinverse.__all__,
        *spectral.__all__,
    }
)
__dir__ = shows(__all__)
_publish(_sys.modules[__name__])
