"""Layer 8 · nn: the numbers and deprecated flags that encode ``reduction=``."""

from __future__ import annotations

from wengert.ops.losses import reduction_of

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]


def get_enum(reduction: str) -> int:
    """Return the number of a reduction.

    Raises
    ------
    ValueError: If there is no reduction of that name.
    """
    return ("none", "mean", "sum").index(reduction_of(reduction))


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """Return the reduction that the deprecated flags encode."""
    if emit_warning:
        return reduction_of(None, size_average is not False, reduce)
    return "none" if reduce is False else "sum" if size_average is False else "mean"


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """Return the number of the reduction that the deprecated flags encode."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
