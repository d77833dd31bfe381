"""Layer 0 · base: how the elements of a tensor lie in memory."""

from __future__ import annotations

from wengert.base.sections import fill_sections


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
sparse_coo = layout("sparse_coo")
"""Those that are stored, with their indices."""
sparse_csr = layout("sparse_csr")
"""Those that are stored, row by row."""

fill_sections(globals())
