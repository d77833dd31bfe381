"""Layer 9 · compat: ``import wengert.compat.autograd.numpy as np``, in place of autograd's.

Every name of NumPy's is here. On NumPy's own arrays the functions are NumPy's; inside a function
that is being differentiated they are recorded, to any order.

>>> np.tanh(np.array([0.0, 1.0]))
array([0.        , 0.76159416])
>>> grad(lambda x: np.sum(np.tanh(x)))(np.array([0.0, 1.0]))
array([1.        , 0.41997434])
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as _np

from wengert.compat.autograd.boxes import ArrayBox as _ArrayBox
from wengert.compat.autograd.numpy import rows as _rows
from wengert.compat.autograd.numpy.dispatch import function_of as _function_of
from wengert.compat.autograd.numpy.dispatch import of_numpy as _of_numpy
from wengert.compat.kit.namespaces import lazy as _lazy

__version__ = _np.__version__
_MODULES = frozenset(("fft", "linalg", "numpy_boxes", "numpy_vjps", "numpy_vspaces"))
_MODULES |= {"numpy_wrapper", "random"}


def _find(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _rows.__all__:
        return getattr(_rows, name)
    return _of_numpy(__name__, _np, "", _function_of)(name)


def _listed() -> set[str]:
    theirs = (name for name in dir(_np) if not isinstance(vars(_np).get(name), ModuleType))
    return {*theirs, *_rows.__all__, *_MODULES}


__getattr__, __dir__ = _lazy(globals(), _find, _listed)


def _method(name: str) -> Any:
    function = _function_of(name, getattr(_np, name))

    def method(self, *args, **kwargs) -> Any:
        if name == "reshape" and len(args) > 1:
            args = (args,)
        return function(self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"ArrayBox.{name}"
    method.__doc__ = f"Call NumPy's method `{name}`."
    return method


for _name in ("dot", "max", "mean", "min", "reshape", "sum"):
    setattr(_ArrayBox, _name, _method(_name))
