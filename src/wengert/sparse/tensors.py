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

from wengert.base.device import CPU, device
from wengert.base.dtypes import dtype
from wengert.base.layout import layout, sparse_coo, sparse_csr
from wengert.base.sections import fill_sections
from wengert.base.shapes import normal_dim
from wengert.base.size import Size
from wengert.ops.cast import to
from wengert.ops.create import zeros
from wengert.ops.gather import index_add
from wengert.ops.index import getitem, index_put
from wengert.ops.typed import TYPED, typed
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


def check_layout(layout: Any) -> None:
    """Refuse a layout that is not offered."""
    if layout not in (None, sparse_coo, sparse_csr):
        raise NotImplementedError(f"to_sparse(): layout {layout!r} is not supported")


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

    def to_sparse(self, *args: Any, layout: Any = None, **kwargs: Any) -> Any:
        """Return the tensor in a sparse layout, by default in COO form."""
        check_layout(layout)
        return self.to_sparse_csr() if layout is sparse_csr else self.to_sparse_coo()

    def to_sparse_csr(self, dense_dim: int | None = None) -> SparseRows:
        """Return the matrix in CSR form."""
        raise NotImplementedError

    def _with(self, values: Any) -> Self:
        raise NotImplementedError

    @property
    def dtype(self) -> dtype:
        """The element type."""
        kind: dtype = self._values_.dtype
        return kind

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
        return None if found is None else self._gradient(found)

    @grad.setter
    def grad(self, value: Self | None) -> None:
        self._values_.grad = None if value is None else value.sparse_mask(self)._values_

    def _gradient(self, found: Any) -> Self:
        """Return the gradient of the elements from that of the values."""
        return self._with(found)

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
        """Return the number of sparse dimensions, the first ones."""
        return int(self._indices_.shape[0])

    def dense_dim(self) -> int:
        """Return the number of dense dimensions, the last ones."""
        return self.ndim - self.sparse_dim()

    def is_coalesced(self) -> bool:
        """Return whether each element is stored once, in order."""
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
        """Return the indices of the values: of shape (sparse_dim, nnz), int64."""
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

    def _gradient(self, found: Any) -> Self:
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

    def to_sparse_csr(self, dense_dim: int | None = None) -> SparseRows:
        """Return the matrix in CSR form."""
        if self.ndim != 2 or self.dense_dim():
            raise RuntimeError(
                f"to_sparse_csr(): a matrix is stored by rows, not a tensor of {self.ndim} "
                f"dimensions, {self.sparse_dim()} of them sparse"
            )
        self = self.coalesce()
        row, column = array_of(self._indices_)
        counts = np.bincount(row, minlength=self.shape[0])
        start = np.concatenate([[0], np.cumsum(counts)])
        return SparseRows(coordinates(start), coordinates(column), self._values_, self.shape)

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


class SparseRows(SparseBase):
    """A matrix that is stored by rows: ``layout=torch.sparse_csr``.

    Made by `sparse_csr_tensor` and `to_sparse_csr`.
    """

    layout = sparse_csr
    is_sparse_csr = True

    def __init__(self, starts: Any, columns: Any, values: Any, shape: Any) -> None:
        self._starts = starts
        self._columns = columns
        self._values_ = values
        self.shape = Size(shape)

    def _with(self, values: Any) -> Self:
        return type(self)(self._starts, self._columns, values, self.shape)

    def crow_indices(self) -> Any:
        """Return the start of each row in `col_indices` and `values`, and the end of the last."""
        return self._starts

    def col_indices(self) -> Any:
        """Return the columns of the values."""
        return self._columns

    def to_sparse_coo(self) -> SparseTensor:
        """Return the matrix in COO form."""
        counts = np.diff(array_of(self._starts))
        row = np.repeat(np.arange(self.shape[0]), counts)
        index = np.stack([row, array_of(self._columns)])
        places, _, new = distinct(index, tuple(self.shape))
        return SparseTensor(coordinates(index), self._values_, self.shape, new and places is index)

    def to_sparse_csr(self, dense_dim: int | None = None) -> SparseRows:
        """Return the matrix itself."""
        return self

    def __getitem__(self, index: Any) -> Any:
        return self.to_sparse_coo()[index]

    def __repr__(self) -> str:
        parts = {
            "crow_indices": self._starts,
            "col_indices": self._columns,
            "values": self._values_,
        }
        return shown(parts, self, apart=False)


fill_sections(globals())
