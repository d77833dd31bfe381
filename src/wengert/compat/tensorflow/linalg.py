"""Layer 9 · compat: ``tf.linalg``: linear algebra; all of it differentiable.

>>> print(tf.linalg.det([[1.0, 2.0], [3.0, 4.0]]).numpy().round(3))
-2.0
"""

from __future__ import annotations

from typing import Any as _Any

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.functions.creation import (
    eye as eye,
)
from wengert.compat.tensorflow.functions.decompositions import (
    cholesky as cholesky,
)
from wengert.compat.tensorflow.functions.decompositions import (
    eig as eig,
)
from wengert.compat.tensorflow.functions.decompositions import (
    eigh as eigh,
)
from wengert.compat.tensorflow.functions.decompositions import (
    eigvals as eigvals,
)
from wengert.compat.tensorflow.functions.decompositions import (
    eigvalsh as eigvalsh,
)
from wengert.compat.tensorflow.functions.decompositions import (
    lu as lu,
)
from wengert.compat.tensorflow.functions.decompositions import (
    matrix_rank as matrix_rank,
)
from wengert.compat.tensorflow.functions.decompositions import (
    pinv as pinv,
)
from wengert.compat.tensorflow.functions.decompositions import (
    qr as qr,
)
from wengert.compat.tensorflow.functions.decompositions import (
    svd as svd,
)
from wengert.compat.tensorflow.functions.diagonals import (
    band_part as band_part,
)
from wengert.compat.tensorflow.functions.diagonals import (
    diag as diag,
)
from wengert.compat.tensorflow.functions.diagonals import (
    diag_part as diag_part,
)
from wengert.compat.tensorflow.functions.diagonals import (
    set_diag as set_diag,
)
from wengert.compat.tensorflow.functions.diagonals import (
    tensor_diag as tensor_diag,
)
from wengert.compat.tensorflow.functions.diagonals import (
    tensor_diag_part as tensor_diag_part,
)
from wengert.compat.tensorflow.functions.diagonals import (
    trace as trace,
)
from wengert.compat.tensorflow.functions.matrices import (
    cholesky_solve as cholesky_solve,
)
from wengert.compat.tensorflow.functions.matrices import (
    cross as cross,
)
from wengert.compat.tensorflow.functions.matrices import (
    det as det,
)
from wengert.compat.tensorflow.functions.matrices import (
    expm as expm,
)
from wengert.compat.tensorflow.functions.matrices import (
    inv as inv,
)
from wengert.compat.tensorflow.functions.matrices import (
    logdet as logdet,
)
from wengert.compat.tensorflow.functions.matrices import (
    lstsq as lstsq,
)
from wengert.compat.tensorflow.functions.matrices import (
    slogdet as slogdet,
)
from wengert.compat.tensorflow.functions.matrices import (
    solve as solve,
)
from wengert.compat.tensorflow.functions.matrices import (
    triangular_solve as triangular_solve,
)
from wengert.compat.tensorflow.functions.norms import (
    global_norm as global_norm,
)
from wengert.compat.tensorflow.functions.norms import (
    l2_normalize as l2_normalize,
)
from wengert.compat.tensorflow.functions.norms import (
    norm as norm,
)
from wengert.compat.tensorflow.functions.norms import (
    normalize as normalize,
)
from wengert.compat.tensorflow.functions.products import (
    adjoint as adjoint,
)
from wengert.compat.tensorflow.functions.products import (
    einsum as einsum,
)
from wengert.compat.tensorflow.functions.products import (
    matmul as matmul,
)
from wengert.compat.tensorflow.functions.products import (
    matrix_transpose as matrix_transpose,
)
from wengert.compat.tensorflow.functions.products import (
    matvec as matvec,
)
from wengert.compat.tensorflow.functions.products import (
    tensordot as tensordot,
)
from wengert.compat.tensorflow.refusal import refusal as _refusal

__all__ = sorted(name for name in globals() if name[0] != "_" and name != "annotations")


def __getattr__(name: str) -> _Any:
    raise _refusal("linalg", name)


fill_sections(globals())
