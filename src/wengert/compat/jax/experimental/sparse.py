"""Layer 9 · compat: `jax.experimental.sparse`: arrays of the elements that are not 0.

>>> from wengert.compat.jax.experimental import sparse
>>> m = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
>>> m, m @ jnp.ones(2)
(BCOO(float32[2, 2], nse=2), Array([2., 3.], dtype=float32))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax import reverse
from wengert.compat.jax.checks import axis_in, check_contracted
from wengert.compat.jax.numpy.calling import shape_of, value_of
from wengert.compat.jax.trees import register
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import closed, defined


class JAXSparse:
    """The class of sparse arrays."""

    todense: Callable[[], Any]


class BCOO(JAXSparse):
    """A sparse array: its elements, and their coordinates; elements at the same place add up.

    Parameters
    ----------
    args : tuple of array_like. The elements (nse,), and their coordinates (nse, dimensions). A
        coordinate beyond the shape belongs to no element.
    shape : sequence of int
    indices_sorted, unique_indices : bool. Whether the coordinates are sorted, and all
        different.
    """

    def __init__(
        self, args, *, shape, indices_sorted: bool = False, unique_indices: bool = False
    ) -> None:
        self.data, self.indices = map(jnp.asarray, args)
        self.shape = shape_of(shape)
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        if self.data.shape != self.indices.shape[:-1] or self.indices.shape[1:] != (self.ndim,):
            raise refusal(ValueError, "Invalid shapes for BCOO", self.data, self.indices, self.ndim)

    def _with(self, data) -> BCOO:
        return _of_parts((self.shape, self.indices_sorted, self.unique_indices), data, self.indices)

    n_batch = n_dense = 0

    @property
    def ndim(self) -> int:
        """The length of the shape."""
        return len(self.shape)

    n_sparse = ndim

    @property
    def size(self) -> int:
        """The number of elements, with those that are 0."""
        return math.prod(self.shape)

    @property
    def nse(self) -> int:
        """The number of elements that are specified."""
        return int(self.indices.shape[0])

    @property
    def dtype(self) -> Any:
        """That of the elements."""
        return self.data.dtype

    @property
    def T(self) -> BCOO:
        """The result of `transpose`."""
        return self.transpose()

    def __repr__(self) -> str:
        return f"BCOO({self.dtype}{list(self.shape)}, nse={self.nse})"

    @classmethod
    def fromdense(
        cls, mat, *, nse: int | None = None, index_dtype="int32", n_dense=0, n_batch=0
    ) -> BCOO:
        """Return the elements of an array that are not 0: `nse` of them, or all."""
        if n_dense or n_batch:
            raise NotImplementedError("BCOO with n_dense or n_batch: write jax.vmap")
        mat = jnp.asarray(mat)
        places = np.argwhere(value_of(mat, "the array of BCOO.fromdense"))[:nse]
        more = max((nse or 0) - len(places), 0)
        places = np.concatenate([places, np.tile(np.array(mat.shape, int), (more, 1))])
        data = mat.at[tuple(places.T)].get(mode="fill", fill_value=0)
        indices = jnp.asarray(places, index_dtype)
        return cls((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)

    @classmethod
    def from_scipy_sparse(cls, mat, *, index_dtype="int32", n_dense=0, n_batch=0) -> BCOO:
        """Return a sparse matrix of SciPy."""
        if n_dense or n_batch:
            raise NotImplementedError("BCOO with n_dense or n_batch: write jax.vmap")
        parts = mat.tocoo()
        indices = jnp.asarray(np.stack([parts.row, parts.col], 1), index_dtype)
        return cls((parts.data, indices), shape=mat.shape)

    def _added(self, values, shape, *axes: int) -> Any:
        """Add values up, by some coordinates."""
        at = tuple(self.indices[:, axis] for axis in axes)
        return jnp.zeros(shape, values.dtype).at[at].add(values, mode="drop")

    def todense(self) -> Any:
        """Return the array with its zeros."""
        return self._added(self.data, self.shape, *range(self.ndim))

    def transpose(self, axes=None) -> BCOO:
        """Return the array with its dimensions in another order."""
        axes = tuple(range(self.ndim))[::-1] if axes is None else tuple(axes)
        shape = tuple(self.shape[axis] for axis in axes)
        return BCOO(
            (self.data, self.indices[:, axes]), shape=shape, unique_indices=self.unique_indices
        )

    def astype(self, dtype) -> BCOO:
        """Return the array with elements of another dtype."""
        return self._with(self.data.astype(dtype))

    def sum(self, axis=None) -> Any:
        """Return the sum of all elements, or over axes; the latter is sparse, too."""
        if axis is None:
            return self.data.sum()
        axes = (axis,) if isinstance(axis, int) else axis
        gone = {axis_in(a, self.ndim) for a in axes}
        rest = [a for a in range(self.ndim) if a not in gone]
        shape = tuple(self.shape[a] for a in rest)
        return BCOO((self.data, self.indices[:, rest]), shape=shape)

    def sort_indices(self) -> BCOO:
        """Return the array with its elements in order of their coordinates."""
        order = jnp.lexsort(self.indices.T[::-1])
        parts = self.data[order], self.indices[order]
        return _of_parts((self.shape, True, self.unique_indices), *parts)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """Return the array with one element for each place: `nse` of them, or all."""
        places = value_of(self.indices, "the coordinates of sum_duplicates")
        inside = (places < np.array(self.shape)).all(1)
        if remove_zeros:
            inside &= value_of(self.data, "the elements of sum_duplicates") != 0
        found, which = np.unique(places[inside], axis=0, return_inverse=True)
        count = len(found) if nse is None else nse
        data = (
            jnp.zeros(count, self.dtype)
            .at[which.reshape(-1)]
            .add(self.data[np.flatnonzero(inside)], mode="drop")
        )
        ends = np.tile(np.array(self.shape, places.dtype), (max(count - len(found), 0), 1))
        return _of_parts(
            (self.shape, True, True), data, jnp.asarray(np.concatenate([found, ends])[:count])
        )

    def __matmul__(self, other) -> Any:
        if isinstance(other, JAXSparse):
            raise NotImplementedError("products of two sparse arrays: write a @ b.todense()")
        other = jnp.asarray(other)
        if self.ndim not in (1, 2) or other.ndim not in (1, 2):
            raise NotImplementedError("products with BCOO are of vectors and matrices")
        check_contracted(self.shape, other.shape[:1])
        picked = other.at[self.indices[:, -1]].get(mode="fill", fill_value=0)
        values = self.data.reshape(-1, *(1,) * (other.ndim - 1)) * picked
        if self.ndim == 1:
            return values.sum(0)
        return self._added(values, (self.shape[0], *other.shape[1:]), 0)

    def __rmatmul__(self, other) -> Any:
        return (self.T @ jnp.asarray(other).T).T

    def __neg__(self) -> BCOO:
        return self._with(-self.data)

    def __mul__(self, other) -> BCOO:
        if isinstance(other, JAXSparse):
            raise NotImplementedError("products of two sparse arrays: write a * b.todense()")
        other = jnp.asarray(other)
        if other.ndim:
            places = tuple(self.indices.T)
            other = jnp.broadcast_to(other, self.shape).at[places].get(mode="fill", fill_value=0)
        return self._with(self.data * other)

    __rmul__ = __mul__

    def __truediv__(self, other) -> BCOO:
        return self * (1 / jnp.asarray(other)) if jnp.ndim(other) else self._with(self.data / other)

    def __add__(self, other) -> BCOO:
        if not isinstance(other, BCOO) or other.shape != self.shape:
            raise NotImplementedError("sums with BCOO are of two, of one shape: write a.todense()")
        parts = [
            jnp.concatenate(p) for p in ((self.data, other.data), (self.indices, other.indices))
        ]
        return BCOO(parts, shape=self.shape)

    def __sub__(self, other) -> BCOO:
        return self + -other


def _of_parts(known: Any, data, indices) -> BCOO:
    """Build an array whose parts may be placeholders, as in a transform of trees."""
    found = object.__new__(BCOO)
    found.data, found.indices = data, indices
    found.shape, found.indices_sorted, found.unique_indices = known
    return found


register(
    BCOO,
    lambda m: ((m.data, m.indices), (m.shape, m.indices_sorted, m.unique_indices)),
    lambda known, parts: _of_parts(known, *parts),
)


def bcoo_fromdense(mat, *, nse: int | None = None, index_dtype="int32") -> BCOO:
    """Call `BCOO.fromdense`."""
    return BCOO.fromdense(mat, nse=nse, index_dtype=index_dtype)


def todense(arr) -> Any:
    """Return a sparse array with its zeros; return an array unchanged."""
    return arr.todense() if isinstance(arr, JAXSparse) else jnp.asarray(arr)


bcoo_todense = todense


def eye(N: int, M: int | None = None, k: int = 0, dtype=float, index_dtype="int32") -> BCOO:
    """Return the sparse matrix with ones on a diagonal."""
    return BCOO.fromdense(jnp.eye(N, M, k, dtype), index_dtype=index_dtype)


def empty(shape, dtype=float, index_dtype="int32") -> BCOO:
    """Return a sparse array of zeros."""
    sizes = shape_of(shape)
    return BCOO((jnp.zeros(0, dtype), jnp.zeros((0, len(sizes)), index_dtype)), shape=sizes)


def value_and_grad(fun: Callable[..., Any], argnums=0, has_aux: bool = False) -> Any:
    """Build the value and the gradient of a function; that of a sparse argument is as sparse."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def followed(*args, **kwargs) -> Any:
        def of_data(*parts) -> Any:
            given = list(args)
            for n, part in zip(numbers, parts, strict=True):
                given[n] = args[n]._with(part) if isinstance(args[n], BCOO) else part
            return fun(*given, **kwargs)

        data = [args[n].data if isinstance(args[n], BCOO) else args[n] for n in numbers]
        of_all = reverse.value_and_grad(of_data, tuple(range(len(numbers))), has_aux)
        value, grads = of_all(*data)
        found = [
            args[n]._with(g) if isinstance(args[n], BCOO) else g
            for n, g in zip(numbers, grads, strict=True)
        ]
        return value, found[0] if isinstance(argnums, int) else tuple(found)

    return followed


def grad(fun: Callable[..., Any], argnums=0, has_aux: bool = False) -> Any:
    """Build the second result of `value_and_grad`."""
    of_all = value_and_grad(fun, argnums, has_aux)

    def followed(*args, **kwargs) -> Any:
        value, found = of_all(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return followed


class COO(JAXSparse):
    """The class of other layouts, which has no instances: write `BCOO`."""


BCSR = CSR = COO
__getattr__ = closed(globals())
__all__ = defined(globals(), "BCSR CSR bcoo_todense")
