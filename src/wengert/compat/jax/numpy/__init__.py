"""Layer 9 · compat: JAX's NumPy over recorded operations: `wengert.compat.jax.numpy`.

The functions have JAX's signatures, defaults, dtypes (32 bits unless x64 is enabled) and errors;
the arrays are immutable. Functions that are differentiable in `wengert.numpy` are differentiable
here.

>>> x = jnp.linspace(0, 1, 3)
>>> jnp.sum(x**2), jnp.where(x > 0.2, x, 0.0)
(Array(1.25, dtype=float32), Array([0. , 0.5, 1. ], dtype=float32))

`linalg` and `fft` are included. A name of JAX's that is missing here raises an AttributeError that
says what to write instead.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as _np

from wengert.compat.jax import methods as _methods
from wengert.compat.jax import operators as _operators
from wengert.compat.jax import updates as _updates
from wengert.compat.jax.classes import AnyArray as ndarray  # noqa: F401
from wengert.compat.jax.dtypes import finfo as _finfo
from wengert.compat.jax.numpy.about import EIGHTS as _EIGHTS
from wengert.compat.jax.numpy.about import extended as _extended
from wengert.compat.jax.numpy.keyed import NUMPY as _MOVING
from wengert.compat.jax.numpy.keyed import with_keys as _with_keys
from wengert.compat.jax.numpy.ufunc_class import ufunc as ufunc
from wengert.compat.kit.namespaces import tables as _tables
from wengert.compat.kit.words import absence as _absence

_INSTALLED = (_methods, _operators, _updates)
"""Importing these adds methods and operators to arrays."""


_MODULES = frozenset({"fft", "linalg"})
_MAPPINGS = frozenset({"apply_along_axis", "fromfunction", "frompyfunc", "vectorize"})
_NUMPYS = (
    "ComplexWarning bool_ character complexfloating dtype e euler_gamma flexible floating "
    "generic get_printoptions iinfo index_exp inexact inf integer nan newaxis number object_ pi "
    "printoptions s_ set_printoptions signedinteger unsignedinteger"
)
_SAME = {name: getattr(_np, name) for name in _NUMPYS.split() if hasattr(_np, name)}
_SAME["ComplexWarning"] = _np.exceptions.ComplexWarning
"""Names that are NumPy's own: constants, dtype kinds, settings."""
_HOMES = "about choosing creation moving ordering products reductions shapes ufuncs"
_OWN = {**_SAME, **_with_keys(_tables(__name__, _HOMES), _MOVING), "finfo": _finfo}


def __getattr__(name: str) -> Any:
    """Import `linalg`, `fft`, and the mapping functions on first use."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _MAPPINGS:
        found = _tables(__name__, "mapping")[name]
        return globals().setdefault(name, found)
    if name in ("bfloat16", *_EIGHTS):
        return globals().setdefault(name, _extended(name))
    text = _absence(__name__, name)
    if text.endswith("'") and not name.startswith("_") and hasattr(_np, name):
        text += f": NumPy has it, JAX does not; write numpy.{name}, and np.asarray(x) for an array"
    raise AttributeError(text)


def __dir__() -> list[str]:
    return sorted({*_OWN, *_MODULES, *_MAPPINGS, "ndarray", "ufunc"})


globals().update(_OWN)
