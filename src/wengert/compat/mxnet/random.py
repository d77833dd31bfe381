"""Layer 9 · compat: ``mxnet.random``: `seed`, and the legacy distributions.

>>> mx.random.seed(42)
"""

from __future__ import annotations

from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.mxnet.ndarray import random as _legacy
from wengert.compat.mxnet.sampling import seed as seed


def __getattr__(name: str) -> Any:
    return getattr(_legacy, name)


def __dir__() -> list[str]:
    return sorted(["seed", *dir(_legacy)])


fill_sections(globals())
