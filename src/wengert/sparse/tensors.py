"""Layer 8 · sparse: tensors that store only some of their elements.

NOTE [sparse tensors]
A sparse tensor is made of dense ones: the indices of its elements, and their values. Operations on
it are recorded operations on its values, so its derivatives are those of the values. To programs it
is a `Tensor`, as ``isinstance`` says, but to the tape it is not: functions that do not support it
refuse it, rather than misread elements that are not stored.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from wengert.autograd.api import backward
from wengert.base.device import CPU, device
from wengert.base.dtypes import dtype
from wengert.base.layout import (
    layout,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
)
from wengert.base.shapes import normal_dim
from wengert.base.size import Size
from wengert.ops.cast import to
from wengert.ops.create import zeros
from wengert.ops.gather import index_add
from wengert.ops.index import getitem, index_put
from wengert.ops.typed import TYPED, typed
from wengert.ops.windows import each
from wengert.sparse.printed import shown
from wengert.tape.base import SparseValue, TensorBase, new_tensor
from wengert.tape.modes import untraced


def array_of(index: Any) -> Any:
    """Return the indices in a tensor as an array."""
    untraced("it reads where the elements of a sparse tensor are")
    return np.asarray(index.detach().numpy())


def coordinates(array: Any) -> Any:
    """Return indices as a tensor."""
    return new_tensor(np.ascontiguousarray(array, np.int64))


def distinct(index: Any, sizes: tuple[int, ...]) -> tuple[Any, Any, bool]:
    """Return the sorted distinct indices, each entry's position in them, and whether all were."""
    if not sizes:
        count = index.shape[1]
        return index[:, : min(count, 1)], np.zeros(count, np.int64), count <= 1
    flat = np.ravel_multi_index(tuple(index), sizes) if index.shape[1] else np.zeros(0, np.int64)
    if flat.size < 2 or bool((flat[1:] > flat[:-1]).all()):
        return index, np.arange(flat.size), True
    found, which = np.unique(flat, return_inverse=True)
    return np.stack(np.unravel_index(found, sizes)), which.reshape(-1), False


def check_same_shape(x: Any, y: Any, name: str) -> None:
    """Refuse an operation `name` on two shapes, since sparse tensors do not broadcast."""
    if tuple(x.shape) != tuple(y.shape):
        raise RuntimeError(
            f"{name}: expected 'self' and 'other' to have same size, but self has size "
            f"{list(x.shape)} while other has size {list(y.shape)} (sparse tensors do not "
            "broadcast)"
        )


class NotOfSparse(AttributeError, NotImplementedError):
    """The method does not exist for sparse tensors."""


def check_layout(layout: Any, blocksize: Any = None) -> None:
    """Refuse a layout that is not offered, and blocks where there are none."""
    if layout not in (None, sparse_coo, *COMPRESSED):
        raise NotImplementedError(f"to_sparse(): layout {layout!r} is not supported")
    if (layout in BLOCKED) != (blocksize is not None):
        raise RuntimeError(
            f"dense_to_sparse: conversion from Strided to {named(layout or sparse_coo)} with"
            f"{'' if blocksize else 'out'} blocksize argument given is not supported"
        )


def named(layout: layout) -> str:
    """Return the name of a sparse layout in messages."""
    return "Sparse" + str(layout).rpartition("_")[2].title().replace("Coo", "")


class SparseBase(SparseValue):
    """The common base of sparse tensors of all layouts."""

    # set by `wengert.sparse.operations`
    __add__: Callable[[Any], Any]
    __radd__: Callable[[Any], Any]
    __sub__: Callable[[Any], Any]
    __rsub__: Callable[[Any], Any]
    __mul__: Callable[[Any], Any]
    __rmul__: Callable[[Any], Any]
    __truediv__: Callable[[Any], Any]
    __matmul__: Callable[[Any], Any]
    __rmatmul__: Callable[[Any], Any]
    __neg__: Callable[[], Any]
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    shape: Size
    _values_: Any
    is_cpu = True
    is_sparse_tensor = True
    is_cuda = is_meta = is_quantized = is_nested = is_sparse = is_sparse_csr = False
    is_ipu = is_maia = is_mkldnn = is_mps = is_mtia = is_vulkan = is_xla = is_xpu = False
    __array_priority__ = 1000
    __array_ufunc__ = None
    layout: layout

    def to_sparse_coo(self) -> SparseTensor:
        """Return the tensor in COO form: with an index for each element."""
        raise NotImplementedError

    def to_sparse(
        self, *args: Any, layout: Any = None, blocksize: Any = None, dense_dim: Any = None
    ) -> Any:
        """Return the tensor in a sparse layout, by default in COO form."""
        check_layout(layout, blocksize)
        if layout in (None, sparse_coo):
            return self.to_sparse_coo()
        return compressed(self, layout, blocksize)

    def to_sparse_csr(self, dense_dim: int | None = None) -> CompressedTensor:
        """Return the matrix stored by rows."""
        return compressed(self, sparse_csr)

    def to_sparse_csc(self, dense_dim: int | None = None) -> CompressedTensor:
        """Return the matrix stored by columns."""
        return compressed(self, sparse_csc)

    def to_sparse_bsr(self, blocksize: Any, dense_dim: int | None = None) -> CompressedTensor:
        """Return the matrix stored by rows of blocks."""
        return compressed(self, sparse_bsr, blocksize)

    def to_sparse_bsc(self, blocksize: Any, dense_dim: int | None = None) -> CompressedTensor:
        """Return the matrix stored by columns of blocks."""
        return compressed(self, sparse_bsc, blocksize)

    def _with(self, values: Any) -> Self:
        raise NotImplementedError

    @property
    def dtype(self) -> dtype:
        """The element type."""
        return self._values_.dtype

    @property
    def device(self) -> device:
        """The device of the values: the CPU."""
        return CPU

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def requires_grad(self) -> bool:
        """Whether the values require a gradient."""
        return bool(self._values_.requires_grad)

    @property
    def is_leaf(self) -> bool:
        """Whether the values are a leaf."""
        return bool(self._values_.is_leaf)

    @property
    def grad_fn(self) -> Any:
        """The node that computed the values."""
        return self._values_.grad_fn

    @property
    def grad(self) -> Self | None:
        """The gradient of the elements, at the stored positions; None before there is one."""
        found = self._values_.grad
        return None if found is None else self.gradient(found)

    @grad.setter
    def grad(self, value: Self | None) -> None:
        self._values_.grad = None if value is None else value.sparse_mask(self)._values_

    def gradient(self, found: Any) -> Self:
        """Return the gradient of the elements from that of the values."""
        return self._with(found)

    def stored(self) -> Any:
        """Return the dense tensor that has the history."""
        return self._values_

    def at_stored(self, other: Any) -> Any:
        """Return what another tensor has where there are values, in their order."""
        found = getitem(other.to_dense(), tuple(self.to_sparse_coo()._indices_))
        return found.reshape(self._values_.shape)

    def backward(self, gradient: Any = None, *args: Any, **options: Any) -> None:
        """Add to ``.grad`` as `Tensor.backward` does; `gradient` counts at the stored places."""
        backward(self, gradient, *args, **options)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether the values require a gradient."""
        self._values_.requires_grad_(requires_grad)
        return self

    def retain_grad(self) -> None:
        """Keep the gradient of the values even if they are not a leaf."""
        self._values_.retain_grad()

    def dim(self) -> int:
        """Return the number of dimensions."""
        return self.ndim

    ndimension = dim

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Return False: the elements are not where a dense tensor has them."""
        return False

    def is_same_size(self, other: Any) -> bool:
        """Return whether `other` has the same shape."""
        return bool(self.shape == other.shape)

    def type(self, dtype: Any = None) -> Any:
        """Return the name of the constructor of such tensors, or the tensor in another dtype."""
        if dtype is not None:
            return self.to(dtype)
        name = next(name for name in TYPED if typed(name).dtype == self.dtype)
        return f"torch.sparse.{name}"

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of one dimension."""
        return self.shape if dim is None else self.shape[normal_dim(dim, self.ndim)]

    def numel(self) -> int:
        """Return the number of elements, stored or not."""
        return self.shape.numel()

    nelement = numel

    def is_floating_point(self) -> bool:
        """Return whether the dtype is a real floating-point type."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Return whether the dtype is complex."""
        return self.dtype.is_complex

    def _nnz(self) -> int:
        return int(self._values_.shape[0])

    def values(self) -> Any:
        """Return the stored values."""
        return self._values_

    def detach(self) -> Self:
        """Return the tensor with detached values."""
        return self._with(self._values_.detach())

    def detach_(self) -> Self:
        """Detach the values in place."""
        self._values_ = self._values_.detach()
        return self

    def clone(self, *, memory_format: Any = None) -> Self:
        """Return the tensor with a copy of its values."""
        return self._with(self._values_.clone())

    def write_to(self, dense: Any, name: str, alpha: Any = 1) -> Any:
        """Do ``dense += alpha * self`` in place for the `name` "add", ``-=`` for "sub"."""
        check_same_shape(dense, self, name)
        stored = self.to_sparse_coo()
        values = to(stored._values_, dense.dtype) * (alpha if name == "add" else -alpha)
        return dense.index_put_(tuple(stored._indices_), values, accumulate=True)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert the tensor to another dtype; arguments as for `Tensor.to`."""
        return self._with(to(self._values_, *args, **kwargs))

    def cpu(self) -> Self:
        """Return the tensor itself."""
        return self

    def to_dense(self, dtype: Any = None, *, masked_grad: bool = True) -> Any:
        """Return the dense tensor, with zeros elsewhere. Differentiable, as the values are."""
        self = self.to_sparse_coo()
        values = self._values_ if dtype is None else to(self._values_, dtype)
        made = zeros(tuple(self.shape), dtype=values.dtype)
        if not self.sparse_dim():
            return made + values.sum(0, dtype=made.dtype)
        return index_put(made, tuple(self._indices_), values, accumulate=True)

    def numpy(self, *, force: bool = False) -> Any:
        """Refuse conversion to NumPy, whose arrays are dense.

        Raises
        ------
        TypeError: Always.
        """
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self.numpy()

    def tolist(self) -> Any:
        """Return the elements as nested lists, zeros included."""
        return self.to_dense().tolist()

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self.to_dense())

    def item(self) -> Any:
        """Return the only element as a number."""
        return self.to_dense().item()

    def __eq__(self, other: object) -> Any:
        if isinstance(other, TensorBase | SparseBase | Number):
            raise NotOfSparse("sparse tensors are not compared: use to_dense()")
        return NotImplemented

    __hash__ = object.__hash__


class SparseTensor(SparseBase):
    """A tensor that stores indices and values: ``layout=torch.sparse_coo``.

    Made by `sparse_coo_tensor` and `Tensor.to_sparse`. Duplicate elements count as their sum;
    `coalesce` adds them up.
    """

    layout = sparse_coo
    is_sparse = True

    def __init__(self, indices: Any, values: Any, shape: Any, coalesced: bool) -> None:
        self._indices_ = indices
        self._values_ = values
        self.shape = Size(shape)
        self._coalesced = coalesced or values.shape[0] < 2

    def _with(self, values: Any) -> Self:
        return type(self)(self._indices_, values, self.shape, self._coalesced)

    def sparse_dim(self) -> int:
        """Return the number of sparse dimensions, the first ones.

        Examples
        --------
        >>> wg.eye(2).to_sparse().sparse_dim()
        2
        """
        return int(self._indices_.shape[0])

    def dense_dim(self) -> int:
        """Return the number of dense dimensions, the last ones.

        Examples
        --------
        >>> wg.sparse_coo_tensor([[0, 1]], [[1.0, 2.0], [3.0, 4.0]], (2, 2)).dense_dim()
        1
        """
        return self.ndim - self.sparse_dim()

    def is_coalesced(self) -> bool:
        """Return whether each element is stored once, in order.

        Examples
        --------
        >>> x = wg.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (2,))
        >>> x.is_coalesced(), x.coalesce().is_coalesced()
        (False, True)
        """
        return self._coalesced

    def _coalesced_(self, coalesced: bool) -> Self:
        self._coalesced = coalesced
        return self

    def _check_coalesced(self, what: str) -> None:
        if not self._coalesced:
            raise RuntimeError(
                f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first"
            )

    def indices(self) -> Any:
        """Return the indices of the values: of shape (sparse_dim, nnz), int64.

        Examples
        --------
        >>> wg.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse().indices()
        tensor([[0, 1],
                [1, 0]])
        """
        self._check_coalesced("indices")
        return self._indices_

    def values(self) -> Any:
        """Return the values: of shape (nnz, dense sizes)."""
        self._check_coalesced("values")
        return self._values_

    def _indices(self) -> Any:
        return self._indices_

    def _values(self) -> Any:
        return self._values_

    def coalesce(self) -> SparseTensor:
        """Return the tensor with each element stored once, in order.

        Examples
        --------
        >>> i = wg.tensor([[0, 1, 0], [2, 0, 2]])
        >>> wg.sparse_coo_tensor(i, wg.tensor([1.0, 2.0, 3.0]), (2, 3)).coalesce().values()
        tensor([4., 2.])
        """
        if self._coalesced:
            return self
        index = array_of(self._indices_)
        places, which, new = distinct(index, tuple(self.shape[: self.sparse_dim()]))
        if new:
            return SparseTensor(self._indices_, self._values_, self.shape, True)
        empty = zeros((places.shape[1], *self._values_.shape[1:]), dtype=self.dtype)
        values = index_add(empty, 0, coordinates(which), self._values_)
        return SparseTensor(coordinates(places), values, self.shape, True)

    def gradient(self, found: Any) -> Self:
        """Return the gradient of the elements, once where values add up to one element."""
        if self._coalesced:
            return self._with(found)
        places, which, _ = distinct(
            array_of(self._indices_), tuple(self.shape[: self.sparse_dim()])
        )
        one = np.zeros(places.shape[1], np.int64)
        one[which] = np.arange(which.size)
        values = getitem(found, coordinates(one))
        return type(self)(coordinates(places), values, self.shape, True)

    def to_sparse_coo(self) -> SparseTensor:
        """Return the tensor itself."""
        return self

    def __getitem__(self, index: Any) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        if not all(type(part) is int for part in parts) or len(parts) > self.sparse_dim():
            raise NotImplementedError(
                "sparse tensors are indexed by integers along sparse dimensions: use to_dense()"
            )
        where = array_of(self._indices_)
        kept = np.ones(where.shape[1], bool)
        for dim, part in enumerate(parts):
            size = self.shape[dim]
            if not -size <= part < size:
                raise IndexError(
                    f"index {part} is out of bounds for dimension {dim} with size {size}"
                )
            kept &= where[dim] == part % size
        values = getitem(self._values_, coordinates(np.flatnonzero(kept)))
        made = SparseTensor(
            coordinates(where[len(parts) :, kept]), values, self.shape[len(parts) :], False
        )
        return made if made.sparse_dim() else made.to_dense()

    def __repr__(self) -> str:
        parts = {"indices": self._indices_, "values": self._values_}
        return shown(parts, self, apart=True)


class CompressedTensor(SparseBase):
    """A matrix stored row by row or column by column, as elements or as blocks of one size.

    Its `layout` is ``torch.sparse_csr``, ``sparse_csc``, ``sparse_bsr`` or ``sparse_bsc``. Made by
    `sparse_compressed_tensor` and the functions named after the layouts, and by `to_sparse`.
    """

    def __init__(self, starts: Any, inner: Any, values: Any, shape: Any, layout: layout) -> None:
        self._starts = starts
        self._inner = inner
        self._values_ = values
        self.shape = Size(shape)
        self.layout = layout
        self.is_sparse_csr = layout is sparse_csr

    def _with(self, values: Any) -> Self:
        return type(self)(self._starts, self._inner, values, self.shape, self.layout)

    @property
    def blocksize(self) -> tuple[int, ...] | None:
        """The shape of the blocks; None if elements are stored one by one."""
        return tuple(self._values_.shape[1:]) or None

    def _part(self, name: str) -> Any:
        names = COMPRESSED[self.layout]
        if name not in names:
            way = "row" if name in _ROWS else "column"
            raise RuntimeError(
                f"{name} expected sparse {way} compressed tensor layout but got "
                f"{named(self.layout)}"
            )
        return (self._starts, self._inner)[names.index(name)]

    def sparse_dim(self) -> int:
        """Return the number of sparse dimensions: 2."""
        return 2

    def dense_dim(self) -> int:
        """Return the number of dense dimensions: 0."""
        return 0

    def crow_indices(self) -> Any:
        """Return where each row begins among the values, and where the last ends.

        Examples
        --------
        >>> wg.tensor([[0.0, 2.0], [3.0, 4.0]]).to_sparse_csr().crow_indices()
        tensor([0, 1, 3])
        """
        return self._part("crow_indices")

    def col_indices(self) -> Any:
        """Return the columns of the values.

        Examples
        --------
        >>> wg.tensor([[0.0, 2.0], [3.0, 4.0]]).to_sparse_csr().col_indices()
        tensor([1, 0, 1])
        """
        return self._part("col_indices")

    def ccol_indices(self) -> Any:
        """Return where each column begins among the values, and where the last ends.

        Examples
        --------
        >>> wg.tensor([[0.0, 2.0], [3.0, 4.0]]).to_sparse_csc().ccol_indices()
        tensor([0, 1, 3])
        """
        return self._part("ccol_indices")

    def row_indices(self) -> Any:
        """Return the rows of the values.

        Examples
        --------
        >>> wg.tensor([[0.0, 2.0], [3.0, 4.0]]).to_sparse_csc().row_indices()
        tensor([1, 0, 1])
        """
        return self._part("row_indices")

    def to_sparse_coo(self) -> SparseTensor:
        """Return the matrix in COO form."""
        counts = np.diff(array_of(self._starts))
        index = np.stack([np.repeat(np.arange(counts.size), counts), array_of(self._inner)])
        if self.layout in BY_COLUMNS:
            index = index[::-1]
        values = self._values_
        if self.blocksize is not None:
            within = np.indices(self.blocksize).reshape(2, 1, -1)
            blocks = np.array(self.blocksize).reshape(2, 1, 1)
            index = (index[:, :, None] * blocks + within).reshape(2, -1)
            values = values.flatten()
        places, _, new = distinct(index, tuple(self.shape))
        return SparseTensor(coordinates(index), values, self.shape, new and places is index)

    def transposed(self) -> Self:
        """Return the transpose, which has the same indices."""
        values = self._values_ if self.blocksize is None else self._values_.transpose(1, 2)
        shape = self.shape[::-1]
        return type(self)(self._starts, self._inner, values, shape, _TRANSPOSED[self.layout])

    def __getitem__(self, index: Any) -> Any:
        return self.to_sparse_coo()[index]

    def __repr__(self) -> str:
        outer, inner = COMPRESSED[self.layout]
        parts = {outer: self._starts, inner: self._inner, "values": self._values_}
        return shown(parts, self, apart=False)


_ROWS, _COLUMNS = ("crow_indices", "col_indices"), ("ccol_indices", "row_indices")
COMPRESSED = {
    sparse_csr: _ROWS,
    sparse_csc: _COLUMNS,
    sparse_bsr: _ROWS,
    sparse_bsc: _COLUMNS,
}
"""The names of the two index tensors of each compressed layout."""
BLOCKED = frozenset({sparse_bsr, sparse_bsc})
BY_COLUMNS = frozenset({sparse_csc, sparse_bsc})
_TRANSPOSED = dict(zip(COMPRESSED, [sparse_csc, sparse_csr, sparse_bsc, sparse_bsr], strict=True))


def compressed(x: SparseBase, layout: layout, blocksize: Any = None) -> CompressedTensor:
    """Return a matrix in a compressed layout; its values are recorded."""
    name = f"to_{str(layout)[6:]}"
    size = None if blocksize is None else each(blocksize, 2, name, "blocksize", 1)
    if isinstance(x, CompressedTensor) and (x.layout, x.blocksize) == (layout, size):
        return x
    if x.ndim != 2 or x.dense_dim():
        raise RuntimeError(
            f"{name}(): a matrix is stored by rows or columns, not a tensor of {x.ndim} dimensions"
        )
    block = size or (1, 1)
    if min(block) < 1:
        raise RuntimeError(f"{name}(): blocksize needs to be positive, but got {list(block)}")
    if any(n % of for n, of in zip(x.shape, block, strict=True)):
        raise RuntimeError(
            f"tensor sparse size ({x.shape[0]},{x.shape[1]}) must be divisible by given blocksize "
            f"({block[0]},{block[1]})"
        )
    coo = x.to_sparse_coo().coalesce()
    place = array_of(coo._indices_)
    order = (1, 0) if layout in BY_COLUMNS else (0, 1)
    outer, inner = [place[i] // block[i] for i in order]
    lines, width = [x.shape[i] // block[i] for i in order]
    keys, first, which = np.unique(outer * width + inner, return_index=True, return_inverse=True)
    values = coo._values_
    if size is not None:
        at = (which.reshape(-1), place[0] % size[0], place[1] % size[1])
        made = zeros((keys.size, *size), dtype=values.dtype)
        values = index_put(made, tuple(map(coordinates, at)), values)
    elif layout in BY_COLUMNS:
        values = getitem(values, coordinates(first))
    starts = np.searchsorted(keys, np.arange(lines + 1) * width)
    columns = keys % width if width else keys
    return CompressedTensor(coordinates(starts), coordinates(columns), values, x.shape, layout)
