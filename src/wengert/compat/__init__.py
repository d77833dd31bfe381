"""Layer 9 · compat: other libraries' idioms over the same operations and the same tape.

`wengert.compat.jax`, `wengert.compat.tensorflow`, `wengert.compat.mxnet` and
`wengert.compat.autograd` let programs that were written for those libraries run after a change of
the import line. Each keeps the contract of its original: which operations are recorded, when
gradients are overwritten or accumulated, dtypes, the sign of complex gradients, the types of
errors. `wengert.compat.install` makes them, and the package itself, importable under the originals'
names.
"""

import importlib
from typing import Any

_IDIOMS = frozenset({"autograd", "jax", "mxnet", "tensorflow"})
_INSTALLING = frozenset({"Installation", "install"})


def __getattr__(name: str) -> Any:
    """Import an idiom when it is first named."""
    if name in _IDIOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _INSTALLING:
        return getattr(importlib.import_module(f"{__name__}.installing"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_IDIOMS, *_INSTALLING})
