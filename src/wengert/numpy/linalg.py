"""Layer 9 · numpy: linear algebra under the names of ``numpy.linalg``.

>>> x = np.array([3.0, 4.0]).requires_grad_()
>>> np.linalg.norm(x).backward()
>>> x.grad
tensor([0.6000, 0.8000], dtype=torch.float64)
"""

from __future__ import annotations

from typing import Any

import numpy as _np
from numpy.linalg import LinAlgError as LinAlgError

from wengert.numpy.functions import function_of
from wengert.tensor.numpy.dispatch import kind_of


def __getattr__(name: str) -> Any:
    if hasattr(_np.linalg, name) and kind_of(f"linalg.{name}") in ("rule", "constant"):
        return globals().setdefault(name, function_of(f"linalg.{name}"))
    why = ": NumPy has it, but it is NumPy's own" if name in dir(_np.linalg) else ""
    raise AttributeError(f"module 'wengert.numpy.linalg' has no attribute {name!r}{why}")


def __dir__() -> list[str]:
    names = [n for n in dir(_np.linalg) if kind_of(f"linalg.{n}") in ("rule", "constant")]
    return sorted([*names, "LinAlgError"])
