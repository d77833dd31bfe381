"""Layer 9 · compat: `traceback_util`: tracebacks are whole here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["api_boundary", "register_exclusion"]


def register_exclusion(path: str) -> None:
    """Do nothing: all lines of a traceback are shown."""


def api_boundary(fun: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The function itself."""
    return fun
