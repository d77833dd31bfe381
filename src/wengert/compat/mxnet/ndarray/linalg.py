"""Layer 9 · compat: ``mxnet.nd.linalg``.

>>> from wengert.compat.mxnet import nd
>>> nd.linalg.det(nd.array([[2, 0], [0, 3]])).asnumpy()
array([6.], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import numpy as wnp
from wengert.compat.kit.signatures import named
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import public
from wengert.compat.mxnet.ndarray.functions import gemm2 as _gemm2
from wengert.compat.mxnet.results import computed
from wengert.ops.arrange import diag_embed


def _turned(a, transposed: bool) -> Any:
    return wnp.swapaxes(a, -1, -2) if transposed else a


def _gemm(A, B, C, transpose_a=False, transpose_b=False, alpha=1.0, beta=1.0) -> Any:
    """Return ``alpha * A @ B + beta * C``."""
    return _gemm2(A, B, transpose_a, transpose_b, alpha) + beta * C


def _trmm(A, B, transpose=False, rightside=False, lower=True, alpha=1.0) -> Any:
    """Return the product of a triangular matrix and another one."""
    a = _turned(wnp.tril(A) if lower else wnp.triu(A), transpose)
    return alpha * (wnp.matmul(B, a) if rightside else wnp.matmul(a, B))


def _trsm(A, B, transpose=False, rightside=False, lower=True, alpha=1.0) -> Any:
    """Solve an equation whose matrix is triangular, with the right side ``alpha * B``."""
    a = _turned(wnp.tril(A) if lower else wnp.triu(A), transpose)
    if rightside:
        return _turned(wnp.linalg.solve(_turned(a, True), _turned(alpha * B, True)), True)
    return wnp.linalg.solve(a, alpha * B)


def _syrk(A, transpose=False, alpha=1.0) -> Any:
    """Return the product of a matrix and its transpose, or of the transpose and the matrix."""
    return alpha * wnp.matmul(_turned(A, transpose), _turned(A, not transpose))


def _potri(A) -> Any:
    """Return the inverse of the matrix whose Cholesky factor is `A`."""
    return wnp.linalg.inv(_syrk(wnp.tril(A)))


def _sumlogdiag(A) -> Any:
    """Return the sum of the logarithms of the diagonal."""
    return wnp.sum(wnp.log(_extractdiag(A)), -1)


def _extractdiag(A, offset=0) -> Any:
    """Return a diagonal of matrices."""
    return wnp.diagonal(A, offset, -2, -1)


def _makediag(A, offset=0) -> Any:
    """Return matrices with a diagonal `A`."""
    return diag_embed(A, offset)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "extractdiag": _extractdiag,
    "gemm": _gemm,
    "makediag": _makediag,
    "potri": _potri,
    "sumlogdiag": _sumlogdiag,
    "syrk": _syrk,
    "trmm": _trmm,
    "trsm": _trsm,
    "det": wnp.linalg.det,
    "gemm2": _gemm2,
    "inverse": wnp.linalg.inv,
    "potrf": wnp.linalg.cholesky,
    "slogdet": wnp.linalg.slogdet,
}


def _shown(name: str) -> Callable[..., Any]:
    def function(*args, **kwargs) -> Any:
        return computed(NDArray, _FUNCTIONS[name], args, kwargs)

    return named(function, name, f"MXNet's ``linalg.{name}``; differentiable.")


globals().update({name: _shown(name) for name in _FUNCTIONS})
__all__ = public(globals())
