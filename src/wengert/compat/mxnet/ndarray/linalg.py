"""Layer 9 · compat: ``mxnet.nd.linalg``.

>>> from wengert.compat.mxnet import nd
>>> nd.linalg.det(nd.array([[2, 0], [0, 3]])).asnumpy()
array([6.], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import numpy as wnp
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import absent
from wengert.compat.mxnet.ndarray.functions import gemm2 as _gemm2
from wengert.compat.mxnet.results import computed

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "det": wnp.linalg.det,
    "gemm2": _gemm2,
    "inverse": wnp.linalg.inv,
    "potrf": wnp.linalg.cholesky,
    "slogdet": wnp.linalg.slogdet,
}


def _shown(name: str) -> Callable[..., Any]:
    def function(*args, **kwargs) -> Any:
        return computed(NDArray, _FUNCTIONS[name], args, kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"MXNet's ``linalg.{name}``; differentiable."
    return function


def __getattr__(name: str) -> Any:
    if name not in _FUNCTIONS:
        cures = {"gelqf": "use mx.np.linalg.qr", "syevd": "use mx.np.linalg.eigh"}
        raise absent("wengert.compat.mxnet.nd.linalg", name, cures)
    return globals().setdefault(name, _shown(name))


def __dir__() -> list[str]:
    return sorted(_FUNCTIONS)
