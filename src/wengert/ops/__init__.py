"""Layer 5 · ops: the public functions: normalise arguments, then call T."""

import importlib as _importlib
from typing import Any as _Any


def __getattr__(name: str) -> _Any:
    """What PyTorch has under this name is imported when it is first named."""
    if name != "aten":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _importlib.import_module(f"{__name__}.{name}")
