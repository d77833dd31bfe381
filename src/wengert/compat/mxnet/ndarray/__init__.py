"""Layer 9 · compat: ``mxnet.nd``: legacy arrays and their functions.

>>> from wengert.compat.mxnet import autograd, nd
>>> x = nd.array([[1, 2], [3, 4]])
>>> x.attach_grad()
>>> with autograd.record():
...     y = (x * x).sum()
>>> y.backward()
>>> x.grad.asnumpy()
array([[2., 4.],
       [6., 8.]], dtype=float32)

Arrays have at least one dimension, and comparisons return 1 and 0. Functions that ``mxnet.np`` also
has share its implementation.
"""

from __future__ import annotations

import importlib
from typing import Any

from wengert.compat.mxnet.arrays import NDArray as NDArray
from wengert.compat.mxnet.base import absent
from wengert.compat.mxnet.ndarray import creation as _creation
from wengert.compat.mxnet.ndarray import functions as _functions
from wengert.compat.mxnet.numpy_extension import waitall as waitall

_MODULES = frozenset({"contrib", "linalg", "random"})
_INSTALLED = _functions.INSTALLED  # importing it installs the methods of arrays


def __getattr__(name: str) -> Any:
    beside = {"image": "image", "np": "numpy", "npx": "numpy_extension"}
    if name in beside:  # attributes of the argument F of hybrid blocks
        return importlib.import_module(f"wengert.compat.mxnet.{beside[name]}")
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "Custom":
        return importlib.import_module("wengert.compat.mxnet.operator").Custom
    if name in _creation.CREATORS:
        return globals().setdefault(name, _creation.CREATORS[name])
    if name in ("normal", "shuffle", "uniform") or name.startswith("random_"):
        random = importlib.import_module(f"{__name__}.random")
        return getattr(random, name.removeprefix("random_"))
    found = _functions.function_of(name)
    if found is None:
        raise absent("wengert.compat.mxnet.nd", name)
    return globals().setdefault(name, found)


def __dir__() -> list[str]:
    return sorted(
        {"Custom", "NDArray", "waitall", *_MODULES, *_creation.CREATORS, *_functions.names()}
    )
