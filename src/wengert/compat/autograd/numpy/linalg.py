"""Layer 9 · compat: linear algebra, of NumPy's own arrays and of boxes.

>>> grad(np.linalg.norm)(np.array([3.0, 4.0]))
array([0.6, 0.8])
"""

from __future__ import annotations

from typing import Any

import numpy as _np

import wengert.numpy as _wnp
from wengert.base.sections import fill_sections
from wengert.compat.autograd.boxes import isbox
from wengert.compat.autograd.numpy.dispatch import function_of as _function_of


def _symmetric(a: Any, UPLO: str) -> Any:
    """The matrix that NumPy computes with, which looks at one triangle only.

    Gradients are by the elements of that triangle, as in HIPS autograd.
    """
    if not isbox(a):
        return a
    lower = UPLO.upper() == "L"
    a = _wnp.asarray(a)
    strictly = _wnp.tril(a, -1) if lower else _wnp.triu(a, 1)
    diagonal = a * _np.eye(a.shape[-1])
    return diagonal + strictly + _wnp.conj(_wnp.swapaxes(strictly, -1, -2))


def eigh(a: Any, UPLO: str = "L") -> Any:
    """`numpy.linalg.eigh`, differentiable by the triangle that it looks at."""
    return _function_of("linalg.eigh", _np.linalg.eigh)(_symmetric(a, UPLO), UPLO)


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """`numpy.linalg.eigvalsh`, differentiable by the triangle that it looks at."""
    return _function_of("linalg.eigvalsh", _np.linalg.eigvalsh)(_symmetric(a, UPLO), UPLO)


def __getattr__(name: str) -> Any:
    value = None if name.startswith("_") else getattr(_np.linalg, name, None)
    if value is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: NumPy has none")
    if callable(value) and not isinstance(value, type):
        value = _function_of(f"linalg.{name}", value)
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted(dir(_np.linalg))


fill_sections(globals())
