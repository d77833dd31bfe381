"""Layer 9 · compat: ``mxnet.nd.sparse``: sparse matrices as values and indices, computed densely.

>>> from wengert.compat.mxnet import nd
>>> a = nd.sparse.csr_matrix(([5.0], [1], [0, 1, 1]), shape=(2, 2))
>>> a.asnumpy()
array([[0., 5.],
       [0., 0.]], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import completed, refusal
from wengert.compat.mxnet.numpy.creation import made, numbers
from wengert.compat.mxnet.results import CLASSES, array_of


class _Sparse:
    """Base class for sparse arrays: values and indices, with dense operations."""

    stype = ""

    def __init__(self, dense) -> None:
        self._dense = np.asarray(dense)

    @property
    def shape(self) -> tuple[int, ...]:
        """The dense shape."""
        return tuple(self._dense.shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._dense.dtype.type

    def asnumpy(self) -> Any:
        """Return the dense array as a NumPy array."""
        return self._dense.copy()

    def tostype(self, stype: str) -> Any:
        """Convert to another storage type: ``"default"``, ``"csr"`` or ``"row_sparse"``."""
        return _made(self._dense, stype)

    def __getitem__(self, key) -> Any:
        part = self._dense[key]
        return type(self)(part) if part.ndim == self._dense.ndim else _made(part, "default")

    def __len__(self) -> int:
        return len(self._dense)

    def __repr__(self) -> str:
        sizes = "x".join(map(str, self.shape))
        return f"\n<{type(self).__name__} {sizes} @cpu(0)>"


class CSRNDArray(_Sparse):
    """A sparse matrix in compressed row format."""

    stype = "csr"

    @property
    def data(self) -> Any:
        """The nonzero elements."""
        return _made(self._dense[self._dense != 0], "default")

    @property
    def indices(self) -> Any:
        """The column indices of the elements."""
        return made(np.nonzero(self._dense)[1].astype(np.int64), CLASSES["nd"])

    @property
    def indptr(self) -> Any:
        """The offsets of the rows in `data`."""
        counts = (self._dense != 0).sum(1)
        return made(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), CLASSES["nd"])


class RowSparseNDArray(_Sparse):
    """An array that stores only its nonzero rows."""

    stype = "row_sparse"

    @property
    def indices(self) -> Any:
        """The indices of the stored rows."""
        return made(self._rows(), CLASSES["nd"])

    @property
    def data(self) -> Any:
        """The stored rows."""
        return _made(self._dense[self._rows()], "default")

    def _rows(self) -> Any:
        axes = tuple(range(1, self._dense.ndim))
        return np.nonzero((self._dense != 0).any(axes))[0].astype(np.int64)

    def retain(self, indices) -> RowSparseNDArray:
        """Return an array with only the given rows."""
        kept = np.zeros_like(self._dense)
        rows = array_of(indices).astype(np.int64)
        kept[rows] = self._dense[rows]
        return RowSparseNDArray(kept)


_KINDS = {"csr": CSRNDArray, "row_sparse": RowSparseNDArray}


def _made(dense, stype: str) -> Any:
    if stype == "default":
        return made(np.array(dense), CLASSES["nd"])
    if stype not in _KINDS or (stype == "csr" and np.ndim(dense) != 2):
        raise refusal(ValueError, "there are no", stype, np.ndim(dense))
    return _KINDS[stype](dense)


def _dense_of(arg, dtype) -> Any:
    """Convert numbers or an array to a dense array; a shape gives zeros."""
    if isinstance(arg, tuple) and all(isinstance(n, int) for n in arg):
        return np.zeros(arg, dtype or np.float32)
    if isinstance(arg, _Sparse | NDArray) or hasattr(arg, "toarray"):
        dense = arg.toarray() if hasattr(arg, "toarray") else arg.asnumpy()
        return dense if dtype is None else dense.astype(dtype)
    return numbers(arg, dtype)


def csr_matrix(arg1, shape=None, ctx=None, dtype=None) -> Any:
    """Build a matrix from ``(data, indices, indptr)``, a shape, or an array.

    Raises
    ------
    ValueError: If the indices do not match the shape.
    """
    if not (isinstance(arg1, tuple) and len(arg1) == 3):
        return CSRNDArray(_dense_of(arg1, dtype))
    data = numbers(array_of(arg1[0]) if hasattr(arg1[0], "asnumpy") else arg1[0], dtype)
    columns, starts = (array_of(part).astype(np.int64) for part in arg1[1:])
    if shape is None:
        shape = (len(starts) - 1, int(columns.max()) + 1 if columns.size else 0)
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if len(starts) != shape[0] + 1 or len(rows) != len(data) or len(columns) != len(data):
        raise ValueError("data, indices, indptr and shape do not fit together")
    dense = np.zeros(shape, data.dtype)
    dense[rows, columns] = data
    return CSRNDArray(dense)


def row_sparse_array(arg1, shape=None, ctx=None, dtype=None) -> Any:
    """Build an array from ``(data, indices)``, a shape, or an array."""
    if not (isinstance(arg1, tuple) and len(arg1) == 2 and not isinstance(arg1[0], int)):
        return RowSparseNDArray(_dense_of(arg1, dtype))
    data = numbers(array_of(arg1[0]) if hasattr(arg1[0], "asnumpy") else arg1[0], dtype)
    rows = array_of(arg1[1]).astype(np.int64)
    sizes = shape or (int(rows.max()) + 1, *data.shape[1:])
    dense = np.zeros(sizes, data.dtype)
    dense[rows] = data
    return RowSparseNDArray(dense)


def zeros(stype: str, shape, ctx=None, dtype=None, **options) -> Any:
    """Return zeros."""
    return _made(np.zeros(shape, dtype or np.float32), stype)


def array(source_array, ctx=None, dtype=None) -> Any:
    """Convert an array or a SciPy matrix to a sparse array."""
    dense = _dense_of(source_array, dtype)
    return _made(dense, getattr(source_array, "stype", "csr"))


def dot(lhs, rhs, transpose_a=False, transpose_b=False, **options) -> Any:
    """Multiply a sparse matrix and an array; the dense result is differentiable in the array."""
    left, right = (
        made(x.asnumpy(), CLASSES["nd"]) if isinstance(x, _Sparse) else x for x in (lhs, rhs)
    )
    left = left.T if transpose_a else left
    return left.dot(right.T if transpose_b else right)


__all__ = completed(globals())
