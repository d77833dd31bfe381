"""Layer 8 · nn: ``reduction=`` as the numbers, and the flags, that stood for it once."""

from __future__ import annotations

from wengert.ops.losses import reduction_of

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]


def get_enum(reduction: str) -> int:
    """The number of a reduction.

    Raises
    ------
    ValueError: If there is none of that name.
    """
    return ("none", "mean", "sum").index(reduction_of(reduction))


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """The reduction that the flags of old mean."""
    if emit_warning:
        return reduction_of(None, size_average is not False, reduce)
    return "none" if reduce is False else "sum" if size_average is False else "mean"


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """The number of the reduction that the flags of old mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
