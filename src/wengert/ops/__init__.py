"""Layer 5 · ops: the public functions: normalise arguments, then call T."""

import importlib as _importlib
from typing import Any as _Any


def __getattr__(name: str) -> _Any:
    """Import PyTorch's ``torch.ops`` names when they are first used."""
    if name != "aten":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _importlib.import_module(f"{__name__}.{name}")


def load_library(path: _Any) -> None:
    """Refuse to load PyTorch's compiled operations, as if there were no such file.

    Raises
    ------
    OSError: Always; packages that can do without the library then do.
    """
    raise OSError(f"{path}: compiled operations of PyTorch cannot be loaded here")
