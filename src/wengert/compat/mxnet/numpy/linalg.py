"""Layer 9 · compat: ``mxnet.np.linalg``.

>>> from wengert.compat.mxnet import np
>>> np.linalg.norm(np.array([3.0, 4.0]))
array(5.)
"""

from __future__ import annotations

from typing import Any

from wengert.compat.mxnet.base import absent as _absent
from wengert.compat.mxnet.numpy.functions import function_of as _function_of
from wengert.numpy import linalg as _linalg


def __getattr__(name: str) -> Any:
    if name not in dir(_linalg) or name == "LinAlgError":
        raise _absent("wengert.compat.mxnet.np.linalg", name)
    return globals().setdefault(name, _function_of(f"linalg.{name}"))


def __dir__() -> list[str]:
    return sorted(name for name in dir(_linalg) if name != "LinAlgError")
