"""Layer 9 · compat: other libraries' idioms over the same operations and the same tape.

`wengert.compat.jax`, `wengert.compat.tensorflow`, `wengert.compat.mxnet` and
`wengert.compat.autograd` let programs that were written for those libraries run after a change of
the import line. Each keeps its original's contract: what is recorded, when gradients are replaced
or added, dtypes, the sign of complex gradients, the types of errors.
"""

import importlib
from typing import Any

_IDIOMS = frozenset({"autograd", "jax", "mxnet", "tensorflow"})


def __getattr__(name: str) -> Any:
    """The idioms are imported when they are first named."""
    if name in _IDIOMS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_IDIOMS})
