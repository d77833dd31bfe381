"""Layer 10 · distributed: shared checks of arguments."""

from __future__ import annotations

from typing import Any


def check_count(value: Any, least: int, name: str) -> None:
    """Raise ValueError unless `value` is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be an integer from {least} on, but got {value!r}")


def check_function(function: Any, owner: str) -> None:
    """Raise TypeError unless `function` is callable."""
    if not callable(function):
        raise TypeError(f"{owner}: expected a function, but got {type(function).__name__}")
