"""Layer 8 · sparse: operations on sparse tensors, computed by dense operations on their values."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import sys
from collections.abc import Callable
from numbers import Number
from types import FunctionType
from typing import Any

import numpy as np

from wengert.base.dtypes import DTYPES, category
from wengert.base.errors import cannot_cast
from wengert.base.layout import strided
from wengert.base.shapes import normal_dim, normal_dims
from wengert.ops.cast import CASTS
from wengert.ops.create import zeros
from wengert.ops.gather import index_add, index_select
from wengert.ops.index import getitem, index_put
from wengert.ops.join import cat as dense_cat
from wengert.ops.join import stack as dense_stack
from wengert.ops.neural import log_softmax as dense_log_softmax
from wengert.ops.neural import softmax as dense_softmax
from wengert.ops.out import into
from wengert.ops.pointwise import div as dense_div
from wengert.ops.scatter import index_reduce
from wengert.prims.table import TABLE
from wengert.sparse.tensors import (
    CompressedTensor,
    NotOfSparse,
    SparseBase,
    SparseTensor,
    array_of,
    check_same_shape,
    compressed,
    coordinates,
    distinct,
)
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T
from wengert.tensor.overrides import extend
from wengert.tensor.tensor import Tensor


def _coo(value: Any, name: str) -> SparseTensor:
    if not isinstance(value, SparseBase):
        raise TypeError(f"{name}() takes a sparse tensor, not {type(value).__name__}")
    return value.to_sparse_coo()


def like(made: SparseTensor, given: Any) -> Any:
    """Return `made` in the layout of `given`."""
    if not isinstance(given, CompressedTensor):
        return made
    return compressed(made, given.layout, given.blocksize)


def _places(x: SparseTensor) -> tuple[Any, ...]:
    return tuple(x._indices_)


# -- products --------------------------------------------------------------------------------------


def _matrix(x: SparseTensor, name: str) -> SparseTensor:
    if x.sparse_dim() != 2 or x.dense_dim():
        raise RuntimeError(
            f"{name}: expected a sparse matrix, but got {x.sparse_dim()} sparse and "
            f"{x.dense_dim()} dense dimensions"
        )
    return x


def _check_inner(left: Any, right: Any) -> None:
    if left[-1] != right[0]:
        a, b = ("x".join(map(str, shape)) for shape in (left, right))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a} and {b})")


def _times_dense(x: SparseTensor, other: Any) -> Any:
    """Multiply a sparse matrix with a dense matrix or vector."""
    index = x._indices_._payload
    row, column = map(new_tensor, index) if index.__class__ is np.ndarray else x._indices_
    left, right = x.shape, other._payload.shape
    _check_inner(left, right)
    values = x._values_ if len(right) == 1 else T.unsqueeze(x._values_, dim=1)
    parts = values * index_select(other, 0, column)
    made = new_tensor(np.zeros((left[0], *right[1:]), parts._payload.dtype))
    return index_add(made, 0, row, parts)


def _times_sparse(x: SparseTensor, y: SparseTensor) -> SparseTensor:
    """Multiply two sparse matrices: each entry of the first with a row of the second."""
    _check_inner(x.shape, y.shape)
    x, y = x.coalesce(), y.coalesce()
    (row, inner), (other, column) = array_of(x._indices_), array_of(y._indices_)
    begins = np.searchsorted(other, inner, "left")
    counts = np.searchsorted(other, inner, "right") - begins
    first = np.repeat(np.arange(inner.size), counts)
    ends = np.cumsum(counts)
    second = np.arange(first.size) + np.repeat(begins - ends + counts, counts)
    values = getitem(x._values_, coordinates(first)) * getitem(y._values_, coordinates(second))
    index = np.stack([row[first], column[second]])
    shape = (x.shape[0], y.shape[1])
    return SparseTensor(coordinates(index), values, shape, False).coalesce()


def _matmul(left: Any, right: Any) -> Any:
    if isinstance(left, SparseBase):
        x = _matrix(left.to_sparse_coo(), "matmul")
        if isinstance(right, SparseBase):
            product = _times_sparse(x, _matrix(right.to_sparse_coo(), "matmul"))
            return product.to_sparse_csr() if isinstance(left, CompressedTensor) else product
        if not isinstance(right, TensorBase):
            return NotImplemented
        if right._payload.ndim not in (1, 2):
            raise RuntimeError(
                f"matmul: a sparse matrix times a tensor of {right._payload.ndim} dimensions is "
                "not supported: flatten it to a matrix"
            )
        return _times_dense(x, right)
    if not isinstance(left, TensorBase):
        return NotImplemented
    x = transposed(_matrix(right.to_sparse_coo(), "matmul"), 0, 1)
    dense: Any = left
    if dense.ndim not in (1, 2):
        raise RuntimeError(
            f"matmul: a tensor of {dense.ndim} dimensions times a sparse matrix is not supported"
        )
    _check_inner(dense.shape, right.shape)
    return _times_dense(x, dense) if dense.ndim == 1 else _times_dense(x, dense.t()).t()


def _bmm(left: Any, right: Any) -> Any:
    """Multiply a batch of sparse matrices with dense ones, as one matrix of blocks."""
    x = left.to_sparse_coo()
    if x.sparse_dim() != 3 or x.dense_dim() or x.shape[::2] != right.shape[:2] or right.ndim != 3:
        raise RuntimeError(
            "bmm: expected batches of sparse and of dense matrices, of shapes (b, n, m) and "
            f"(b, m, p), but got {tuple(x.shape)} and {tuple(right.shape)}"
        )
    (count, rows, columns), (batch, row, column) = x.shape, x._indices_
    places = dense_stack([batch * rows + row, batch * columns + column], 0)
    blocks = SparseTensor(places, x._values_, (count * rows, count * columns), False)
    return _times_dense(blocks, right.flatten(0, 1)).unflatten(0, (count, rows))


def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """Multiply a sparse matrix with a dense or a sparse one, or a dense one with a sparse one.

    Parameters
    ----------
    mat1 : sparse tensor or Tensor. Of shape ``(n, m)``.
    mat2 : Tensor or sparse tensor. Of shape ``(m, k)``.
    reduce : str, optional. Only ``"sum"``.

    Returns
    -------
    Tensor or sparse tensor: Of shape ``(n, k)``; sparse if both factors are. Differentiable with
    respect to both: sparse ones by their values. An intermediate has one row per stored value.

    Raises
    ------
    RuntimeError: If the shapes do not match.
    NotImplementedError: For another `reduce`.

    Examples
    --------
    >>> x = wg.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    >>> wg.sparse.mm(x, wg.ones(3, 2))
    tensor([[3., 3.],
            [4., 4.]])
    """
    if reduce not in (None, "sum"):
        raise NotImplementedError(f"sparse.mm() sums; reduce={reduce!r} is not supported")
    shapes = [list(getattr(factor, "shape", ())) for factor in (mat1, mat2)]
    if [len(shape) for shape in shapes] != [2, 2]:
        raise RuntimeError(f"mm: expected two matrices, but got shapes {shapes[0]} and {shapes[1]}")
    if not isinstance(mat1, SparseBase) and not isinstance(mat2, SparseBase):
        return mat1 @ mat2
    return _matmul(mat1, mat2)


spmm = mm
"""Old name of `mm`."""


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """Compute ``beta * mat + alpha * (mat1 @ mat2)`` with a sparse `mat1`; `mat` may be dense.

    Differentiable with respect to all three.

    Examples
    --------
    >>> x = wg.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    >>> wg.sparse.addmm(wg.ones(2, 1), x, wg.ones(3, 1), alpha=2.0)
    tensor([[7.],
            [9.]])
    """
    product = mm(mat1, mat2) * alpha
    # as in PyTorch, nan and inf in `mat` do not count then
    return mat * beta + product if beta != 0 else product


# -- element by element ----------------------------------------------------------------------------


def _added(x: Any, other: Any, sign: int = 1) -> Any:
    if not isinstance(other, SparseBase):
        if isinstance(other, np.ndarray):
            return _added_to(x, other) if sign > 0 else NotImplemented
        if isinstance(other, TensorBase | Number):
            raise RuntimeError(
                "add(sparse, dense) is not supported. Use add(dense, sparse) instead."
            )
        return NotImplemented
    check_same_shape(x, other, "add")
    a, b = x.to_sparse_coo(), other.to_sparse_coo()
    if a.sparse_dim() != b.sparse_dim():
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same number of sparse dimensions, but got "
            f"{a.sparse_dim()} and {b.sparse_dim()}"
        )
    index = np.concatenate([array_of(a._indices_), array_of(b._indices_)], 1)
    values = dense_cat([a._values_, b._values_ if sign > 0 else -b._values_])
    made = SparseTensor(coordinates(index), values, x.shape, False)
    return like(made.coalesce() if a._coalesced and b._coalesced else made, x)


def _added_to(x: Any, dense: Any, sign: int = 1) -> Any:
    """Compute ``dense ± x``, which is dense."""
    if isinstance(dense, np.ndarray):
        # the cotangent of a walk on arrays
        return _added_to(x, new_tensor(dense), sign)._payload
    if not isinstance(dense, TensorBase):
        return _added(x, dense)
    held: Any = dense
    check_same_shape(held, x, "add")
    x = x.to_sparse_coo()
    values = x._values_ if sign > 0 else -x._values_
    kind = np.result_type(values.dtype.numpy, held.dtype.numpy)
    return index_put(held.to(kind), _places(x), values.to(kind), accumulate=True)


_DIVISORS = "div: Sparse division requires a scalar or zero-dim dense tensor divisor"


def _scaled(x: Any, other: Any, apply: Callable[[Any, Any], Any]) -> Any:
    """Return the product or quotient with a number, or with a tensor element by element."""
    if isinstance(other, SparseBase):
        if apply is not operator.mul:
            raise RuntimeError(_DIVISORS)
        if not x.ndim or not other.ndim:
            number, factor = (x, other) if not x.ndim else (other, x)
            return _scaled(factor, number.to_dense(), apply)
        return like(_multiplied(x.to_sparse_coo(), other.to_sparse_coo()), x)
    if isinstance(other, Number):
        return x._with(apply(x._values_, other))
    if not isinstance(other, TensorBase):
        return NotImplemented
    dense: Any = other
    if not dense.ndim:
        return x._with(apply(x._values_, dense))
    if apply is not operator.mul:
        raise RuntimeError(_DIVISORS)
    a = x.to_sparse_coo()
    part = getitem(dense.expand(tuple(a.shape)), _places(a))
    return like(a._with(a._values_ * part), x)


def _multiplied(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    check_same_shape(a, b, "mul")
    a, b = a.coalesce(), b.coalesce()
    if a.sparse_dim() != b.sparse_dim():
        raise RuntimeError(
            "mul: both sparse tensors must have the same number of sparse dimensions, but got "
            f"{a.sparse_dim()} and {b.sparse_dim()}"
        )
    sizes = tuple(a.shape[: a.sparse_dim()])
    flat = [np.ravel_multi_index(tuple(array_of(one._indices_)), sizes) for one in (a, b)]
    first, second = np.asarray(flat[0]), np.asarray(flat[1])
    _, left, right = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    values = getitem(a._values_, coordinates(left)) * getitem(b._values_, coordinates(right))
    return SparseTensor(coordinates(array_of(a._indices_)[:, left]), values, a.shape, True)


# -- sums ------------------------------------------------------------------------------------------


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """Sum the elements of a sparse tensor, along some dimensions or all.

    Parameters
    ----------
    input : sparse tensor.
    dim : int or tuple of int, optional. The dimensions to sum over; default: all.
    dtype : dtype, optional. The dtype of the result.

    Returns
    -------
    Tensor or sparse tensor: Dense if all sparse dimensions are summed over, otherwise sparse.
        Differentiable with respect to the values.

    Examples
    --------
    >>> x = wg.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
    >>> wg.sparse.sum(x), wg.sparse.sum(x, 0).to_dense()
    (tensor(12.), tensor([4., 0., 8.]))
    """
    x = _coo(input, "sparse.sum")
    values = x._values_ if dtype is None else x._values_.to(dtype)
    if dim is None:
        return values.sum()
    given = dim if isinstance(dim, tuple | list) else (dim,)
    dims = {normal_dim(one, x.ndim) for one in given}
    if len(dims) < len(given):
        raise RuntimeError("dim appears multiple times in the list of dims")
    kept = [i for i in range(x.sparse_dim()) if i not in dims]
    inner = tuple(1 + d - x.sparse_dim() for d in sorted(dims) if d >= x.sparse_dim())
    if inner:
        values = values.sum(inner)
    if not kept:
        return values.sum(0)
    shape = [size for i, size in enumerate(x.shape) if i not in dims]
    index = coordinates(array_of(x._indices_)[kept])
    return SparseTensor(index, values, shape, False).coalesce()


def _softmax(input: Any, dim: int, dtype: Any, name: str, logarithm: bool) -> Any:
    x = _coo(input, name).coalesce()
    dim = normal_dim(dim, x.ndim)
    values = x._values_ if dtype is None else x._values_.to(dtype)
    if dim >= x.sparse_dim():
        along = dense_log_softmax if logarithm else dense_softmax
        return x._with(along(values, dim - x.sparse_dim() + 1))
    others = [i for i in range(x.sparse_dim()) if i != dim]
    index = array_of(x._indices_)[others]
    groups, which, _ = distinct(index, tuple(x.shape[i] for i in others))
    group = coordinates(which)
    none = zeros((groups.shape[1], *values.shape[1:]), dtype=values.dtype)
    # the shift is the same within a group, so it does not affect derivatives
    top = index_reduce(none - math.inf, 0, group, values.detach(), "amax")
    shifted = values - getitem(top, group)
    powers = shifted.exp()
    total = index_add(none, 0, group, powers)
    part = getitem(total, group)
    return x._with(shifted - part.log() if logarithm else powers / part)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Compute `softmax` along a dimension over the stored elements; others count as -inf.

    Differentiable with respect to the values.

    Parameters
    ----------
    input : Tensor. Sparse, of floating dtype.
    dim : int. The dimension along which stored elements add up to 1.
    dtype : dtype, optional. The dtype to convert the values to first.

    Examples
    --------
    >>> x = wg.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 4.0], (2, 3))
    >>> wg.sparse.softmax(x, 1).values()
    tensor([1.0000, 0.5000, 0.5000])
    """
    return _softmax(input, dim, dtype, "sparse.softmax", False)


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Compute the logarithm of `softmax`; arguments as for `softmax`.

    Examples
    --------
    >>> x = wg.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 4.0], (2, 3))
    >>> wg.sparse.log_softmax(x, 1).values()
    tensor([ 0.0000, -0.6931, -0.6931])
    """
    return _softmax(input, dim, dtype, "sparse.log_softmax", True)


# -- shapes ----------------------------------------------------------------------------------------


def transposed(self: Any, dim0: int, dim1: int) -> Any:
    """Swap two sparse dimensions."""
    if isinstance(self, CompressedTensor):
        return self if normal_dim(dim0, 2) == normal_dim(dim1, 2) else self.transposed()
    first, second = normal_dim(dim0, self.ndim), normal_dim(dim1, self.ndim)
    if max(first, second) >= self.sparse_dim():
        raise NotImplementedError(
            "transpose(): dense dimensions of a sparse tensor stay in place, but got "
            f"{dim0} and {dim1} for {self.sparse_dim()} sparse dimensions: use to_dense()"
        )
    order = list(range(self.sparse_dim()))
    order[first], order[second] = second, first
    shape = [self.shape[i] for i in order] + list(self.shape[self.sparse_dim() :])
    index = coordinates(array_of(self._indices_)[order])
    return SparseTensor(index, self._values_, shape, self._coalesced and first == second)


def _permuted(self: SparseTensor, *given: Any, dims: Any = None) -> SparseTensor:
    """Permute the sparse dimensions."""
    self = self.to_sparse_coo()
    if dims is None:
        dims = given[0] if len(given) == 1 and not isinstance(given[0], int) else given
    order = [normal_dim(dim, self.ndim) for dim in dims]
    count = self.sparse_dim()
    if sorted(order) != list(range(self.ndim)) or order[count:] != list(range(count, self.ndim)):
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of the desired ordering of dimensions, there are duplicate dims, or dense "
            f"dimensions move, which stay where they are: {list(dims)} of {self.ndim}"
        )
    index = coordinates(array_of(self._indices_)[order[:count]])
    shape = [self.shape[dim] for dim in order]
    return SparseTensor(index, self._values_, shape, self._coalesced and order == sorted(order))


def _power(self: Any, exponent: Any) -> Any:
    """Raise the elements to a positive power, which keeps zeros."""
    if not isinstance(exponent, Number) or not exponent > 0:  # type: ignore[operator]
        raise RuntimeError(
            "pow(): the exponent of a sparse tensor must be a positive number, but got "
            f"{exponent!r}: use to_dense()"
        )
    held = self.coalesce() if isinstance(self, SparseTensor) else self
    return held._with(held._values_**exponent)


def _nothing_like(self: Any, *, layout: Any = None, memory_format: Any = None, **new: Any) -> Any:
    """Return a tensor of the same shape and dtype without elements."""
    if layout not in (None, self.layout):
        made = zeros(tuple(self.shape), **{"dtype": self.dtype, **new})
        return made if layout is strided else made.to_sparse(layout=layout)
    wanted = new.pop("requires_grad", False)
    return _emptied(self.detach().to(**new).clone()).requires_grad_(wanted)


def _t(self: Any) -> Any:
    if self.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {self.ndim}"
        )
    return self if self.ndim < 2 else transposed(self, 0, 1)


def _unsqueezed(self: SparseTensor, dim: int) -> SparseTensor:
    place = normal_dim(dim, self.ndim + 1)
    index, values = array_of(self._indices_), self._values_
    if place > self.sparse_dim():
        values = values.unsqueeze(place - self.sparse_dim() + 1)
    else:
        index = np.insert(index, place, 0, axis=0)
    shape = (*self.shape[:place], 1, *self.shape[place:])
    return SparseTensor(coordinates(index), values, shape, self._coalesced)


def _selected(self: SparseTensor, dim: int, index: Any) -> SparseTensor:
    self = self.to_sparse_coo()
    place = normal_dim(dim, self.ndim)
    wanted = array_of(index)
    if wanted.ndim > 1 or (
        wanted.size and not -self.shape[place] <= wanted.min() <= wanted.max() < self.shape[place]
    ):
        raise IndexError(
            f"index_select(): index out of range: from {-self.shape[place]} to "
            f"{self.shape[place] - 1} along dimension {place}, in a vector"
        )
    shape = (*self.shape[:place], wanted.size, *self.shape[place + 1 :])
    if place >= self.sparse_dim():
        values = self._values_.index_select(place - self.sparse_dim() + 1, index)
        return SparseTensor(self._indices_, values, shape, self._coalesced)
    held = array_of(self._indices_)
    wanted = np.where(wanted < 0, wanted + self.shape[place], wanted)
    position, entry = np.nonzero(wanted.reshape(-1, 1) == held[place])
    made = held[:, entry]
    made[place] = position
    values = getitem(self._values_, coordinates(entry))
    return SparseTensor(coordinates(made), values, shape, False)


def cat(tensors: Any, dim: int = 0) -> SparseTensor:
    """Concatenate sparse tensors along a sparse dimension.

    Examples
    --------
    >>> x = wg.sparse_coo_tensor([[0], [1]], [3.0], (1, 2))
    >>> wg.sparse.cat([x, x]).shape
    torch.Size([2, 2])
    """
    parts = [_coo(one, "sparse.cat") for one in tensors]
    first = parts[0]
    place = normal_dim(dim, first.ndim)
    if place >= first.sparse_dim():
        raise NotImplementedError(
            f"cat(): dim must be one of the {first.sparse_dim()} sparse dimensions, but got {dim}: "
            "use to_dense()"
        )
    indices, before = [], 0
    for part in parts:
        others = [*part.shape[:place], *part.shape[place + 1 :]]
        if others != [*first.shape[:place], *first.shape[place + 1 :]]:
            raise RuntimeError(
                f"cat: sizes must match except in dimension {place}, but got {list(first.shape)} "
                f"and {list(part.shape)}"
            )
        index = array_of(part._indices_).copy()
        index[place] += before
        before += part.shape[place]
        indices.append(index)
    shape = (*first.shape[:place], before, *first.shape[place + 1 :])
    values = dense_cat([part._values_ for part in parts])
    return SparseTensor(coordinates(np.concatenate(indices, 1)), values, shape, False)


def stack(tensors: Any, dim: int = 0) -> SparseTensor:
    """Stack sparse tensors along a new sparse dimension.

    Examples
    --------
    >>> x = wg.sparse_coo_tensor([[0], [1]], [3.0], (1, 2))
    >>> wg.sparse.stack([x, x]).shape
    torch.Size([2, 1, 2])
    """
    return cat([_unsqueezed(_coo(one, "sparse.stack"), dim) for one in tensors], dim)


# -- methods ---------------------------------------------------------------------------------------


def _set(self: Any, made: Any, *, moves: bool = False) -> Any:
    """Give `self` the contents of `made`, which has its shape unless dimensions move."""
    if self._values_.requires_grad:
        raise RuntimeError(
            "a sparse tensor whose values are recorded cannot be written to in place: use the "
            "method without an underscore"
        )
    if not moves:
        check_same_shape(self, made, "an operation in place")
    result, have = made.dtype.numpy, self.dtype.numpy
    if category(result) > category(have):
        raise cannot_cast(result, have)
    vars(self).update(vars(made.to(self.dtype)))
    return self


def _in_place(name: str) -> Callable[..., Any]:
    """Return the method that does another in place."""
    return lambda self, *args, **kwargs: _set(self, getattr(self, name)(*args, **kwargs))


def _emptied(self: Any) -> Any:
    """Remove all elements."""
    coo = self.to_sparse_coo()
    none = coordinates(np.zeros((coo.sparse_dim(), 0), np.int64))
    return _set(self, like(SparseTensor(none, coo._values_[:0].detach(), coo.shape, True), self))


def _negated(self: Any) -> Any:
    """Negate the tensor."""
    return self._with(-self._values_)


def _total(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum the elements, like `sparse.sum`; integers as int64."""
    if dtype is None and self.dtype.numpy.kind in "biu":
        dtype = DTYPES["int64"]
    total = sum(self, dim, dtype)
    for one in sorted(normal_dims(dim, self.ndim)) if keepdim else ():
        total = total.unsqueeze(one)
    return total


def _norm(self: Any, p: Any = "fro", dim: Any = None) -> Any:
    """Return the norm of all elements."""
    if dim is not None:
        raise NotImplementedError(
            f"norm(): a sparse tensor has a norm of all elements only, but got dim={dim}: "
            "use to_dense()"
        )
    return self.to_sparse_coo().coalesce()._values_.flatten().norm(2 if p == "fro" else p)


_MOVING = ("t_", "transpose_", "unsqueeze_")
_INFINITE = ("isneginf", "isposinf")
_OTHERS = (*_INFINITE, "conj_physical", "positive", "signbit")
"""Functions of each element whose records do not say so, or that have none."""


def _of_elements(name: str) -> bool:
    """Return whether a function computes something of each element of one tensor."""
    prim = TABLE.get(name)
    if prim is None or name in _OTHERS:
        return name in _OTHERS
    return len(prim.args) == 1 and (prim.family == "elementwise" or prim.predicate)


def _of_values(self: Any, name: str) -> Any:
    """Make the method that computes a function of each element that maps zero to zero."""
    if name[-1] == "_" != name[-2:-1]:
        compute, moves = getattr(self, name[:-1]), name in _MOVING
        return lambda *args, **kwargs: _set(self, compute(*args, **kwargs), moves=moves)
    method: Any = getattr(Tensor, name, None)  # registers the primitive of that name
    if name in CASTS:
        return lambda: self._with(method(self._values_))
    if method is None or not _of_elements(name) or bool(method(zeros(1, dtype=self.dtype))):
        raise NotOfSparse(
            f"{type(self).__name__} has no {name!r}, or it is not supported of sparse tensors: use "
            "to_dense(), or values() of a coalesced tensor"
        )
    held = self.coalesce() if isinstance(self, SparseTensor) else self

    def of_values(inplace: bool = False) -> Any:
        made = held._with(method(held._values_))
        return _set(self, made) if inplace else made

    return of_values


class _Methods:
    """The methods that compute on sparse tensors."""

    __getattr__ = _of_values
    __add__ = _added
    __radd__ = _added_to
    __matmul__ = _matmul
    __neg__ = neg = _negated
    matmul = mv = _matmul
    bmm = _bmm
    mm = mm
    sum = _total
    norm = _norm
    t = _t
    T = property(_t)
    mT = property(lambda self: transposed(self, -2, -1))
    H = mH = property(lambda self: transposed(self.conj(), -2, -1))
    transpose = transposed
    unsqueeze = _unsqueezed
    index_select = _selected
    permute = _permuted
    __pow__ = pow = _power
    zeros_like = _nothing_like

    empty_like = _nothing_like

    def linear(self, weight: Any, bias: Any = None) -> Any:
        """Compute ``self @ weight.T + bias``."""
        product = _matmul(self, weight.t())
        return product if bias is None else product + bias

    def square(self) -> Any:
        """Return the squares of all elements."""
        return self * self

    def select(self: Any, dim: int, index: int) -> Any:
        """Return the slice at one index of a sparse dimension."""
        place = normal_dim(dim, self.ndim)
        others = [other for other in range(self.ndim) if other != place]
        return _permuted(self, place, *others)[index]

    def sparse_mask(self: Any, mask: Any) -> Any:
        """Return the elements at the positions of those of `mask`; 0 where there are none."""
        return self.to_dense().sparse_mask(mask)

    def new_zeros(self: Any, *size: Any, **options: Any) -> Any:
        """Return a sparse tensor of zeros with this one's dtype."""
        return self._values_.new_zeros(*size, **options).to_sparse()

    def __sub__(self, other: Any) -> Any:
        return _added(self, other, -1)

    def __rsub__(self, other: Any) -> Any:
        return _added_to(self, other, -1)

    def __mul__(self, other: Any) -> Any:
        return _scaled(self, other, operator.mul)

    __rmul__ = mul = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _scaled(self, other, operator.truediv)

    def div(self: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
        """Divide by a number, and round the quotient if asked for."""
        if rounding_mode is None:
            return self / other
        whole = self.coalesce() if isinstance(self, SparseTensor) else self
        return _scaled(whole, other, functools.partial(dense_div, rounding_mode=rounding_mode))

    def narrow_copy(self: Any, dim: int, start: int, length: int) -> Any:
        """Return the `length` slices of a dimension from `start` on."""
        size = self.shape[normal_dim(dim, self.ndim)]
        if not 0 <= start <= start + length <= size:
            raise RuntimeError(
                "Invalid range to narrow. range(start, start+length) must be a subset of range(0, "
                f"{size}), not range({start}, {start + length})."
            )
        return _selected(self, dim, coordinates(np.arange(start, start + length)))

    def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
        """Replace all elements by those of another sparse tensor."""
        if not isinstance(src, type(self)):
            raise RuntimeError("copy() between dense and sparse Tensors is not implemented!")
        return _set(self, src.to(self.dtype))

    def __floordiv__(self: Any, other: Any) -> Any:
        return self.div(other, rounding_mode="floor")

    floor_divide = __floordiv__

    zero_ = _emptied

    __iadd__, __isub__ = _in_place("add"), _in_place("sub")
    __imul__, __itruediv__ = _in_place("mul"), _in_place("div")

    def __rmatmul__(self, other: Any) -> Any:
        return _matmul(other, self)

    def add(self, other: Any, *, alpha: float = 1) -> Any:
        """Add another sparse tensor, times `alpha`."""
        return _added(self, other if alpha == 1 else other * alpha)

    def sub(self, other: Any, *, alpha: float = 1) -> Any:
        """Subtract another sparse tensor, times `alpha`."""
        return _added(self, other if alpha == 1 else other * alpha, -1)


_OF_SEVERAL = {function.__name__: function for function in (addmm, cat, operator.mul, stack)}


def _either(name: str, dense: Callable[..., Any]) -> Callable[..., Any]:
    """Return `dense` with dispatch of sparse tensors to their own methods and functions."""
    of_several = _OF_SEVERAL.get(name)

    @functools.wraps(dense)
    def either(*args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else None
        if of_several is None:
            own = getattr(first, name) if isinstance(first, SparseBase) else None
            given = args[1:]
        else:
            given = args
            values = first if isinstance(first, list | tuple) else args
            own = of_several if any(isinstance(v, SparseBase) for v in values) else None
        if own is None:
            return dense(*args, **kwargs)
        out = kwargs.pop("out", None)
        result = own(*given, **kwargs)
        return _set(out, result) if isinstance(out, SparseBase) else into(out, result, name)

    return either


def install() -> None:
    """Give the classes these methods, and make the package's functions dispatch to them."""
    package: Any = sys.modules["wengert"]
    of_one = filter(_of_elements, (*TABLE, *_OTHERS))
    names = sorted({*of_one, *vars(_Methods), *_OF_SEVERAL})
    public = (
        getattr(module, name, None)
        for module in (package, package.nn.functional)
        for name in names
        if name[0] != "_" and name[-1] != "_"
    )
    methods = ["to_dense", *(f"{name}_" for name in names if name[-1] != "_")]
    both = itertools.chain(public, (getattr(Tensor, name, None) for name in methods))
    # once under all of its names: `absolute` is `abs`
    for dense in {function for function in both if isinstance(function, FunctionType)}:
        extend(dense, functools.partial(_either, dense.__name__))
    for kind in (SparseTensor, CompressedTensor):
        for name, method in vars(_Methods).items():
            if name not in ("__module__", "__doc__", "__dict__", "__weakref__", "__qualname__"):
                setattr(kind, name, method)
