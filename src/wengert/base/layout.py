"""Layer 0 · base: `layout`, how the elements of a tensor are stored."""

from __future__ import annotations


class layout:
    """A storage layout of tensors.

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
"""Elements at regular strides, as in NumPy's arrays."""
sparse_coo = layout("sparse_coo")
"""Only stored elements, with their indices."""
sparse_csr = layout("sparse_csr")
"""Only stored elements, row by row."""
sparse_csc = layout("sparse_csc")
"""Only stored elements, column by column."""
sparse_bsr = layout("sparse_bsr")
"""Only stored blocks of elements, row by row."""
sparse_bsc = layout("sparse_bsc")
"""Only stored blocks of elements, column by column."""
_mkldnn, jagged = layout("_mkldnn"), layout("jagged")
"""Layouts that can be named, and that no tensor has."""
