"""Layer 9 · compat: linear algebra, of NumPy's own arrays and of boxes.

>>> grad(np.linalg.norm)(np.array([3.0, 4.0]))
array([0.6, 0.8])
"""

from __future__ import annotations

from typing import Any

import numpy as _np

import wengert.numpy as _wnp
from wengert.compat.autograd.boxes import isbox
from wengert.compat.autograd.numpy.dispatch import function_of as _function_of
from wengert.compat.autograd.numpy.dispatch import of_numpy as _of_numpy
from wengert.compat.kit.namespaces import lazy as _lazy


def _symmetric(a, UPLO: str) -> Any:
    """Return the matrix that NumPy computes with: it reads only one triangle.

    Gradients are with respect to the elements of that triangle, as in HIPS autograd.
    """
    if not isbox(a):
        return a
    lower = UPLO.upper() == "L"
    a = _wnp.asarray(a)
    strictly = _wnp.tril(a, -1) if lower else _wnp.triu(a, 1)
    diagonal = a * _np.eye(a.shape[-1])
    return diagonal + strictly + _wnp.conj(_wnp.swapaxes(strictly, -1, -2))


def eigh(a, UPLO="L") -> Any:
    """Like `numpy.linalg.eigh`, differentiable in the triangle that it reads."""
    return _function_of("linalg.eigh", _np.linalg.eigh)(_symmetric(a, UPLO), UPLO)


def eigvalsh(a, UPLO="L") -> Any:
    """Like `numpy.linalg.eigvalsh`, differentiable in the triangle that it reads."""
    return _function_of("linalg.eigvalsh", _np.linalg.eigvalsh)(_symmetric(a, UPLO), UPLO)


__getattr__, __dir__ = _lazy(
    globals(), _of_numpy(__name__, _np.linalg, "linalg.", _function_of), lambda: dir(_np.linalg)
)
