"""Layer 8 · sparse: sparse tensors from indices and values, and from dense tensors."""

from __future__ import annotations

from contextlib import ContextDecorator
from functools import cache
from typing import Any

import numpy as np

from wengert.base.device import check_device
from wengert.base.layout import sparse_bsc, sparse_bsr, sparse_csc, sparse_csr
from wengert.base.ports import provides
from wengert.ops.cast import to
from wengert.ops.create import as_tensor, zeros
from wengert.ops.index import getitem
from wengert.ops.out import into
from wengert.ops.typed import typed as dense_typed
from wengert.sparse.operations import install, like
from wengert.sparse.tensors import (
    BLOCKED,
    BY_COLUMNS,
    COMPRESSED,
    CompressedTensor,
    SparseBase,
    SparseTensor,
    array_of,
    check_layout,
    coordinates,
    distinct,
    named,
)
from wengert.tape.base import TensorBase

install()


class check_sparse_tensor_invariants(ContextDecorator):
    """A setting, context or decorator of PyTorch's: indices are always checked here.

    Parameters
    ----------
    enable : bool. What `is_enabled` returns inside.

    Examples
    --------
    >>> with wg.sparse.check_sparse_tensor_invariants():
    ...     wg.sparse.check_sparse_tensor_invariants.is_enabled()
    True
    """

    _state = False

    def __init__(self, enable: bool = True) -> None:
        self._enable, self._before = enable, list[bool]()

    @staticmethod
    def is_enabled() -> bool:
        """Return the last setting."""
        return check_sparse_tensor_invariants._state

    @staticmethod
    def enable() -> None:
        """Set it to True."""
        check_sparse_tensor_invariants._state = True

    @staticmethod
    def disable() -> None:
        """Set it to False."""
        check_sparse_tensor_invariants._state = False

    def __enter__(self) -> None:
        self._before.append(self.is_enabled())
        check_sparse_tensor_invariants._state = self._enable

    def __exit__(self, *_: object) -> None:
        check_sparse_tensor_invariants._state = self._before.pop()


def _whole(value: Any, name: str, kinds: str = "iu") -> Any:
    """Return indices as an array of integers."""
    array = array_of(value) if isinstance(value, TensorBase) else np.asarray(value)
    if not array.size and not isinstance(value, TensorBase | np.ndarray):
        array = array.astype(np.int64)  # of an empty list
    if array.dtype.kind not in kinds:
        raise TypeError(f"{name} must be integers, not {array.dtype}")
    return np.asarray(array, np.int64)


def _values(values: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    check_device(device)
    held = as_tensor(values)
    held = held if held.ndim else held.reshape(1)
    held = held if dtype is None else to(held, dtype)
    # as in PyTorch, a requested leaf has no history
    return held.detach().requires_grad_() if requires_grad else held


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Any:
    """Make a sparse tensor from the indices of its elements and their values.

    Parameters
    ----------
    indices : Tensor or sequence of int. Of shape ``(sparse dimensions, n)``.
    values : Tensor or sequence. Of shape ``(n, *sizes of dense dimensions)``.
    size : sequence of int, optional. The shape; default: the smallest that fits. Given alone, it
        makes a tensor without elements.
    dtype : dtype, optional. The element type; default: that of `values`.
    device : device, optional. Only the CPU.
    requires_grad : bool. Whether the values are a leaf that requires a gradient.
    check_invariants : bool, optional. Accepted for compatibility with PyTorch; indices are always
        checked.
    is_coalesced : bool, optional. Whether each element occurs once, in order; this is verified.

    Returns
    -------
    SparseTensor: Duplicate elements are summed. Differentiable with respect to the values.

    Raises
    ------
    RuntimeError: If the shapes do not match, or an index is out of range.

    Examples
    --------
    >>> wg.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
    tensor(indices=tensor([[0, 1, 1],
                           [2, 0, 2]]),
           values=tensor([3., 4., 5.]),
           size=(2, 3), nnz=3, layout=torch.sparse_coo)
    """
    if values is None and size is None:
        indices, size = None, indices
    if indices is None:
        shape = tuple(size or ())
        held = zeros(0, dtype=dtype)
        index = np.zeros((len(shape), 0), np.int64)
        return SparseTensor(
            coordinates(index), _values(held, dtype, device, requires_grad), shape, True
        )
    index = _whole(indices, "indices", "iuf")  # PyTorch truncates numbers to integers here
    held = _values(values, dtype, device, requires_grad)
    if index.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(index.shape)}")
    if index.shape[1] != held.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {index.shape[1]}, "
            f"nnz from values: {held.shape[0]}"
        )
    least = index.max(1, initial=-1) + 1
    if size is None:
        size = (*map(int, least), *held.shape[1:])
    shape = tuple(map(int, size))
    if len(shape) != index.shape[0] + held.ndim - 1:
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({index.shape[0]}) + dense_dim "
            f"({held.ndim - 1}), but got {len(shape)}"
        )
    if tuple(held.shape[1:]) != shape[index.shape[0] :]:
        raise RuntimeError(
            f"values has incorrect size, expected {[index.shape[1], *shape[index.shape[0] :]]}, "
            f"got {list(held.shape)}"
        )
    if index.size and index.min() < 0:
        dim = int(np.flatnonzero(index.min(1) < 0)[0])
        raise RuntimeError(f"found negative index {index.min()} for dim {dim}")
    for dim, (need, have) in enumerate(zip(least, shape, strict=False)):
        if need > have:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {have} but found "
                f"index {need - 1}"
            )
    if is_coalesced and not distinct(index, shape[: index.shape[0]])[2]:
        raise RuntimeError(
            "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor: the "
            "elements do not occur once, in order"
        )
    return SparseTensor(coordinates(index), held, shape, bool(is_coalesced))


class _Typed(type):
    """The class of legacy constructors, such as ``torch.sparse.FloatTensor``."""

    dtype: Any

    def __call__(cls, *data: Any, device: Any = None) -> Any:
        """Make a tensor from indices, values and an optional size; or zeros from a size."""
        if all(isinstance(one, int) for one in data):
            data = (data or (0,),)
        return sparse_coo_tensor(*data, dtype=cls.dtype, device=device)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, SparseTensor) and instance.dtype is cls.dtype


@cache
def typed(name: str) -> Any:
    """Return the constructor of that name, one of `wengert.ops.typed.TYPED`."""
    return _Typed(name, (), {"dtype": dense_typed(name).dtype, "__module__": "wengert.sparse"})


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """Make a sparse matrix in a compressed layout: by rows or columns, of elements or blocks.

    Parameters
    ----------
    compressed_indices : Tensor or sequence of int. Where each row, or column, begins among the
        values, and where the last one ends.
    plain_indices : Tensor or sequence of int. For each value its column, or row; in order within
        each row, or column. For layouts of blocks, both count blocks.
    values : Tensor or sequence. Of shape ``(n,)``, or for blocks ``(n, rows, columns)``.
    size : sequence of int, optional. The shape; default: the smallest that fits.
    layout : layout. ``wengert.sparse_csr``, ``sparse_csc``, ``sparse_bsr`` or ``sparse_bsc``.
    dtype, device, requires_grad, check_invariants : As for `sparse_coo_tensor`.

    Returns
    -------
    CompressedTensor: Differentiable with respect to the values.

    Raises
    ------
    RuntimeError: If these do not describe a matrix.

    Examples
    --------
    >>> x = wg.sparse_compressed_tensor([0, 1, 2], [1, 0], [3.0, 4.0], layout=wg.sparse_csc)
    >>> x.to_dense()
    tensor([[0., 4.],
            [3., 0.]])
    """
    if layout not in COMPRESSED:
        raise RuntimeError(
            "sparse_compressed_tensor expected sparse compressed tensor layout but got "
            f"{'none' if layout is None else named(layout)}"
        )
    (outer, inner), by_rows = COMPRESSED[layout], layout not in BY_COLUMNS
    starts, places = _whole(compressed_indices, outer), _whole(plain_indices, inner)
    held = _values(values, dtype, device, requires_grad)
    if held.ndim != (3 if layout in BLOCKED else 1):
        raise RuntimeError(
            f"values must have {3 if layout in BLOCKED else 1} dimensions in layout {layout!r}, "
            f"but got {held.ndim}: batches of matrices are not supported"
        )
    if starts.ndim != 1 or places.ndim != 1 or not starts.size:
        raise RuntimeError(
            f"{outer} and {inner} have one dimension here: batches of matrices are not supported"
        )
    block = tuple(held.shape[1:]) or (1, 1)
    order = (0, 1) if by_rows else (1, 0)
    if size is None:
        counts = (starts.size - 1, int(places.max(initial=-1)) + 1)
        size = [counts[order[i]] * block[i] for i in (0, 1)]
    shape = tuple(map(int, size))
    lines, width = [shape[i] // block[i] for i in order]
    if starts.size != lines + 1:
        many = "nrows" if by_rows else "ncols"
        raise RuntimeError(
            f"{outer}.shape[-1] must be equal to {many} + 1 = {lines + 1}, but got {starts.size}"
        )
    if starts[0] != 0 or starts[-1] != places.size or (np.diff(starts) < 0).any():
        raise RuntimeError(
            f"{outer} must begin with 0, grow, and end with the number of values, {places.size}"
        )
    if places.size != held.shape[0]:
        raise RuntimeError(
            f"number of elements of {inner} ({places.size}) and values ({held.shape[0]}) "
            "must be equal"
        )
    if places.size and not 0 <= places.min() <= places.max() < width:
        raise RuntimeError(f"{inner} must lie between 0 and {width - 1}")
    begins = np.zeros(places.size + 1, bool)
    begins[starts[:-1]] = True
    if places.size > 1 and not (begins[1:-1] | (np.diff(places) > 0)).all():
        line = "row" if by_rows else "column"
        raise RuntimeError(f"{inner} must be distinct and in order within each {line}")
    return CompressedTensor(coordinates(starts), coordinates(places), held, shape, layout)


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """Make a matrix stored row by row: `sparse_compressed_tensor` with ``layout=sparse_csr``.

    Examples
    --------
    >>> wg.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0]).to_dense()
    tensor([[1., 0.],
            [0., 2.]])
    """
    held = _values(values, dtype, device, requires_grad)
    return sparse_compressed_tensor(crow_indices, col_indices, held, size, layout=sparse_csr)


def sparse_csc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """Make a matrix stored column by column: `sparse_compressed_tensor` of ``sparse_csc``.

    Examples
    --------
    >>> wg.sparse_csc_tensor([0, 1, 2], [1, 0], [1.0, 2.0]).to_dense()
    tensor([[0., 2.],
            [1., 0.]])
    """
    held = _values(values, dtype, device, requires_grad)
    return sparse_compressed_tensor(ccol_indices, row_indices, held, size, layout=sparse_csc)


def sparse_bsr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """Make a matrix stored by rows of blocks: `sparse_compressed_tensor` of ``sparse_bsr``.

    Examples
    --------
    >>> wg.sparse_bsr_tensor([0, 1], [1], [[[1.0, 2.0]]]).to_dense()
    tensor([[0., 0., 1., 2.]])
    """
    held = _values(values, dtype, device, requires_grad)
    return sparse_compressed_tensor(crow_indices, col_indices, held, size, layout=sparse_bsr)


def sparse_bsc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """Make a matrix stored by columns of blocks: `sparse_compressed_tensor` of ``sparse_bsc``.

    Examples
    --------
    >>> wg.sparse_bsc_tensor([0, 1], [1], [[[1.0, 2.0]]]).to_dense()
    tensor([[0., 0.],
            [1., 2.]])
    """
    held = _values(values, dtype, device, requires_grad)
    return sparse_compressed_tensor(ccol_indices, row_indices, held, size, layout=sparse_bsc)


@provides("sparse")
def from_dense(x: Any, layout: Any, sparse_dim: int | None = None, blocksize: Any = None) -> Any:
    """Return the nonzero elements of a dense tensor, recorded, in a sparse layout."""
    check_layout(layout, blocksize)
    count = x.ndim if sparse_dim is None else sparse_dim
    if not 0 <= count <= x.ndim:
        raise IndexError(
            f"to_sparse(): sparse_dim must lie between 0 and {x.ndim}, but got {count}"
        )
    held = array_of(x) != 0
    index = np.stack(np.nonzero(held.any(tuple(range(count, x.ndim))))) if count else None
    if index is None:
        index = np.zeros((0, int(held.any())), np.int64)
        values = x[None][: index.shape[1]]
    else:
        values = getitem(x, tuple(map(coordinates, index)))
    made = SparseTensor(coordinates(index), values, x.shape, True)
    return made.to_sparse(layout=layout, blocksize=blocksize)


def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Any = None) -> Any:
    """Return a sparse matrix with given diagonals.

    Parameters
    ----------
    diagonals : Tensor. A row for each diagonal, with an element for each column of the matrix.
    offsets : Tensor. Of each diagonal, how far it is above the main one.
    shape : tuple of int. The shape of the matrix.
    layout : layout, optional. ``wengert.sparse_coo``, also by default, ``wengert.sparse_csr`` or
        ``wengert.sparse_csc``.

    Returns
    -------
    Tensor: The matrix, differentiable with respect to `diagonals`.

    Raises
    ------
    RuntimeError: If two diagonals have one offset, or their number is not that of the offsets.

    Examples
    --------
    >>> from wengert.sparse import spdiags
    >>> spdiags(wg.tensor([[1.0, 2.0, 3.0]]), wg.tensor([1]), (2, 3)).to_dense()
    tensor([[0., 2., 0.],
            [0., 0., 3.]])
    """
    rows = diagonals if diagonals.ndim == 2 else diagonals[None]
    above = _whole(offsets, "offsets").reshape(-1)
    if len(above) != len(rows) or len(shape) != 2:
        raise RuntimeError(
            f"Number of diagonals ({len(rows)}) does not match the number of offsets "
            f"({len(above)}), or shape {tuple(shape)} is not that of a matrix"
        )
    if len(np.unique(above)) < len(above):
        raise RuntimeError("Offset tensor contains duplicate values")
    columns = np.arange(min(shape[1], rows.shape[1]))
    places = columns - above[:, None]
    held = np.nonzero((places >= 0) & (places < shape[0]))
    index = np.stack([places[held], columns[held[1]]])
    made = of_places(index, getitem(rows, tuple(map(coordinates, held))), tuple(shape))
    return made.to_sparse(layout=layout)


@provides("sparse_gradient")
def of_places(index: Any, values: Any, shape: tuple[int, ...]) -> Any:
    """Make a sparse tensor from an index array and a tensor of values."""
    return SparseTensor(coordinates(index), values, shape, False)


@provides("masked")
def masked_by(x: Any, mask: Any) -> Any:
    """Return the elements of a dense tensor at the positions of a sparse one's elements."""
    if not isinstance(mask, SparseBase):
        raise TypeError(
            f"sparse_mask(): the mask must be a sparse tensor, but got {type(mask).__name__}"
        )
    if tuple(mask.shape) != tuple(x.shape):
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(x.shape)} but "
            f"mask has size {list(mask.shape)}"
        )
    places = mask.to_sparse_coo()
    made = places._with(getitem(x, tuple(places._indices_)))
    return like(made, mask)


def _convert_indices_from_coo_to_csr(
    input: Any, size: int, *, out_int32: bool = False, out: Any = None
) -> Any:
    """Return the row offsets of sorted row indices of a matrix with `size` rows."""
    rows = array_of(input)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))])
    return into(out, as_tensor(starts.astype("i4" if out_int32 else "i8")), "csr")


def _convert_indices_from_csr_to_coo(
    crow_indices: Any, col_indices: Any, *, out_int32: bool = False, transpose: bool = False
) -> Any:
    """Return the row and column indices, or the columns first, of a matrix in CSR form."""
    counts = np.diff(array_of(crow_indices))
    pair = [np.repeat(np.arange(counts.size), counts), array_of(col_indices)]
    kind = "i4" if out_int32 else "i8"
    return as_tensor(np.stack(pair[::-1] if transpose else pair).astype(kind))


def _new(self: Any, *data: Any, device: Any = None) -> Any:
    """Return a sparse tensor of this one's dtype: of sizes, or of indices, values and a size."""
    if data and isinstance(data[0], TensorBase):
        return sparse_coo_tensor(*data, device=device)
    return sparse_coo_tensor(size=data or (0,), dtype=self.dtype, device=device)


SparseTensor.new = _new  # type: ignore[attr-defined]
