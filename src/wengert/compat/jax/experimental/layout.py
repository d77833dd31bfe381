"""Layer 9 · compat: `jax.experimental.layout`: the memory layout of arrays, which NumPy decides."""

from __future__ import annotations

__all__ = ["Format", "Layout"]


class Layout:
    """The order of the dimensions in memory."""

    def __init__(self, major_to_minor: tuple[int, ...], **options) -> None:
        self.major_to_minor = tuple(major_to_minor)


class Format:
    """A layout and a sharding.

    Attributes
    ----------
    layout, sharding: As given.
    """

    def __init__(self, layout=None, sharding=None) -> None:
        self.layout, self.sharding = layout, sharding
