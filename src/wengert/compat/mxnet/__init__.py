"""Layer 9 · compat: MXNet's autograd over this library: ``from wengert.compat import mxnet as mx``.

>>> from wengert.compat.mxnet import autograd, np, npx
>>> npx.set_np()
>>> x = np.arange(4.0)
>>> x.attach_grad()
>>> with autograd.record():
...     y = 2 * np.dot(x, x)
>>> y.backward()
>>> x.grad
array([ 0.,  4.,  8., 12.])

`np`, `npx`, `nd`, `autograd`, `gluon`, `init`, `random` and `metric` provide the parts of MXNet 1.9
that programs with automatic differentiation use, under its contract: only operations inside
``record()`` are recorded, gradients are written to the arrays of ``attach_grad()``, and a graph
supports one backward pass.
"""

from __future__ import annotations

import importlib
from typing import Any

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.mxnet.base import absent as _absent

_SHARED = _gathered(
    globals(),
    "wengert.compat.mxnet",
    "base: MXNetError\ncontext: Context cpu cpu_pinned current_context gpu",
)
__version__ = "1.9.1"
"""The version of MXNet that the interface follows."""

_NAMES = """
    autograd base context gluon image initializer lr_scheduler metric ndarray numpy numpy_extension
    operator optimizer random test_utils util
    """
_MODULES = {
    **{name: name for name in _NAMES.split()},
    **{"img": "image", "init": "initializer"},
    **{"nd": "ndarray", "np": "numpy", "npx": "numpy_extension"},
}
_UTILITIES = ("is_np_array", "is_np_shape", "np_array", "np_shape", "use_np")


def __getattr__(name: str) -> Any:
    """Import a module on first use."""
    if name in _MODULES:
        module = importlib.import_module(f"wengert.compat.mxnet.{_MODULES[name]}")
        return globals().setdefault(name, module)
    if name in _UTILITIES:
        return getattr(importlib.import_module("wengert.compat.mxnet.util"), name)
    raise _absent("wengert.compat.mxnet", name)


def __dir__() -> list[str]:
    return sorted({*_MODULES, *_UTILITIES, *_SHARED})
