"""Layer 9 · compat: ``mxnet.np``: NumPy's names over arrays that `autograd` records.

>>> from wengert.compat.mxnet import autograd, np, npx
>>> npx.set_np()
>>> x = np.array([1.0, 2.0])
>>> x.attach_grad()
>>> with autograd.record():
...     y = np.sqrt(x) * x
>>> y.backward()
>>> x.grad
array([1.5      , 2.1213202])

Every function of `wengert.numpy` is available, with MXNet's dtypes: float32 by default, and float64
only for float64 arguments.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as _np

from wengert import numpy as _wnp
from wengert.compat.mxnet.base import absent as _absent
from wengert.compat.mxnet.numpy.arrays import ndarray as ndarray
from wengert.compat.mxnet.numpy.creation import CREATORS as _CREATORS
from wengert.compat.mxnet.numpy.functions import _SPELLED
from wengert.compat.mxnet.numpy.functions import function_of as _function_of

_MODULES = frozenset({"linalg", "random"})
_SAME_NAMES = "dtype e euler_gamma finfo iinfo inf nan newaxis pi promote_types set_printoptions"
_SAME = frozenset(_SAME_NAMES.split()) | {
    name
    for name, kind in vars(_np).items()
    if isinstance(kind, type) and issubclass(kind, _np.generic)
}
"""Names that are NumPy's own: constants and element types."""
_CONSTANTS: dict[str, Any] = {
    "NAN": _np.nan,
    "NINF": -_np.inf,
    "NZERO": -0.0,
    "NaN": _np.nan,
    "PINF": _np.inf,
    "PZERO": 0.0,
    "bool": bool,
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    found: Any
    if name in _CREATORS:
        found = _CREATORS[name]
    elif name in _CONSTANTS:
        found = _CONSTANTS[name]
    elif name in _SAME:
        found = getattr(_np, name)
    elif name.startswith("__") or not _is_function(name):
        raise _absent("wengert.compat.mxnet.np", name)
    else:
        found = _function_of(name)
    return globals().setdefault(name, found)


def _is_function(name: str) -> bool:
    try:
        return callable(getattr(_wnp, _SPELLED.get(name, name))) and name != "ufunc"
    except AttributeError:
        return False


def __dir__() -> list[str]:
    functions = {name for name in (*dir(_wnp), *_SPELLED) if _is_function(name)}
    return sorted({"ndarray", *functions, *_MODULES, *_CREATORS, *_CONSTANTS, *_SAME})
