"""Layer 0 · base: how the elements of a tensor lie in memory; there is one way, `strided`."""

from __future__ import annotations

from wengert.base.sections import fill_sections

__all__ = ["layout", "strided"]


class layout:
    """A way of laying elements out in memory.

    Examples
    --------
    >>> wg.ones(2).layout
    torch.strided
    >>> isinstance(wg.strided, wg.layout)
    True
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


strided = layout("strided")
"""At regular distances, as NumPy's arrays are."""

fill_sections(globals())
