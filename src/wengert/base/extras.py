"""Layer 0 · base: libraries that are there only if the user has installed an extra."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

__all__ = ["scipy_module"]


@cache
def _module(name: str) -> Any:
    return importlib.import_module(name)


def scipy_module(part: str, operation: str) -> Any:
    """The module ``scipy.<part>``, which `operation` needs.

    Raises
    ------
    ImportError
        If SciPy is not installed; the message names the operation and the extra.
    """
    try:
        return _module(f"scipy.{part}")
    except ImportError as error:
        raise ImportError(
            f"{operation}() needs SciPy, which is not installed: pip install 'wengert[scipy]'"
        ) from error
