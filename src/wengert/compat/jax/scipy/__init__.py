"""Layer 9 · compat: SciPy's functions under JAX's names: ``jax.scipy``.

Its modules are imported when they are first named. Some special functions are SciPy's own, which
must be installed for them.
"""

from __future__ import annotations

import importlib
from typing import Any

_NAMES = "fft integrate interpolate linalg ndimage optimize signal sparse special stats"
_MODULES = frozenset(_NAMES.split())
_ABSENT = {
    "cluster": "write scipy.cluster on np.asarray(x)",
    "spatial": "write jax.numpy",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    why = f": {_ABSENT[name]}" if name in _ABSENT else ""
    raise AttributeError(f"module 'jax.scipy' has no attribute {name!r}{why}")


def __dir__() -> list[str]:
    return sorted(_MODULES)
