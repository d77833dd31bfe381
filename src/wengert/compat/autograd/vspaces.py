"""Layer 9 · compat: vector spaces: zeros, ones, sums and inner products of values.

A `vspace` describes the shape and dtype of a value (a number, an array or a nested container), and
makes other values like it. It computes with `wengert.compat.autograd.numpy`, so its operations on
boxes are recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, ClassVar

import numpy as _np

import wengert.compat.autograd.numpy as np
from wengert.compat.autograd.boxes import Opaque, getval, isbox
from wengert.compat.autograd.util import subvals
from wengert.compat.autograd.words import refusal
from wengert.compat.kit.namespaces import defined


class VSpace:
    """Base class for all vector spaces."""

    mappings: ClassVar[dict[type, Callable[[Any], Any]]] = {}
    iscomplex = False

    def __init__(self, value) -> None:
        """Describe the space of a value; `vspace` calls this."""

    def zeros(self) -> Any:
        """Return the zero of the space."""
        raise NotImplementedError(f"{type(self).__name__} defines no zeros()")

    def ones(self) -> Any:
        """Return the value that is 1 everywhere."""
        raise NotImplementedError(f"{type(self).__name__} defines no ones()")

    def standard_basis(self) -> Iterator[Any]:
        """Yield the unit vectors in order."""
        raise NotImplementedError(f"{type(self).__name__} defines no standard_basis()")

    def randn(self) -> Any:
        """Return a value of independent standard normal numbers, from NumPy's global state."""
        raise NotImplementedError(f"{type(self).__name__} defines no randn()")

    def add(self, x_prev, x_new) -> Any:
        """Return the sum of two values."""
        return self._add(x_prev, x_new)

    def mut_add(self, x_prev, x_new) -> Any:
        """Return the sum of two values; the first may be None, for zero."""
        return x_new if x_prev is None else self._add(x_prev, x_new)

    def scalar_mul(self, x, a) -> Any:
        """Return a value times a number."""
        return self._scalar_mul(x, a)

    def inner_prod(self, x, y) -> Any:
        """Return the real inner product of two values."""
        return self._inner_prod(x, y)

    def covector(self, x) -> Any:
        """Convert a value to a cotangent, or back: the complex conjugate."""
        return self._covector(x)

    def _add(self, x, y) -> Any:
        return x + y

    def _scalar_mul(self, x, a) -> Any:
        return x * a

    def _inner_prod(self, x, y) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no _inner_prod()")

    def _covector(self, x) -> Any:
        return x

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}_{self.__dict__}"

    @classmethod
    def register(cls, value_type: type, vspace_maker: Callable[[Any], Any] | None = None) -> None:
        """Register the space of a type's values: this class, or the one that a function makes."""
        VSpace.mappings[value_type] = vspace_maker or cls


def vspace(value) -> Any:
    """Return the vector space of a number, an array, or a nested container of them.

    Raises
    ------
    TypeError: For anything else.

    Examples
    --------
    >>> import numpy as np
    >>> from wengert.compat.autograd.extend import vspace
    >>> space = vspace((1.0, np.ones(2)))
    >>> space.size
    3
    >>> space.zeros()
    (array(0.), array([0., 0.]))
    """
    if isbox(value) or isinstance(value, Opaque):
        return vspace(getval(value))
    maker = VSpace.mappings.get(type(value))
    if maker is None and hasattr(value, "_fields"):
        maker = NamedTupleVSpace
    if maker is None:
        known = ", ".join(kind.__name__ for kind in VSpace.mappings)
        raise refusal(TypeError, "Can't find vector", value, type(value), known)
    return maker(value)


class ArrayVSpace(VSpace):
    """The space of real arrays of a shape."""

    def __init__(self, value) -> None:
        value = _np.asarray(value)
        self.shape = value.shape
        self.dtype = value.dtype

    @property
    def size(self) -> int:
        """The dimension of the space over the real numbers."""
        return int(_np.prod(self.shape))

    @property
    def ndim(self) -> int:
        """The number of dimensions of the arrays."""
        return len(self.shape)

    def zeros(self) -> Any:
        return _np.zeros(self.shape, dtype=self.dtype)

    def ones(self) -> Any:
        return _np.ones(self.shape, dtype=self.dtype)

    def _units(self) -> tuple[complex, ...]:
        return (1.0,)

    def standard_basis(self) -> Iterator[Any]:
        for place in _np.ndindex(*self.shape):
            for unit in self._units():
                vector = _np.zeros(self.shape, dtype=self.dtype)
                vector[place] = unit
                yield vector

    def randn(self) -> Any:
        return _np.array(_np.random.randn(*self.shape)).astype(self.dtype)

    def _inner_prod(self, x, y) -> Any:
        return np.dot(np.ravel(x), np.ravel(y))


class ComplexArrayVSpace(ArrayVSpace):
    """The space of complex arrays of a shape, over the real numbers."""

    iscomplex = True

    @property
    def size(self) -> int:
        return 2 * int(_np.prod(self.shape))

    def ones(self) -> Any:
        """Return the value that is 1 + i everywhere."""
        return _np.full(self.shape, 1.0 + 1.0j, dtype=self.dtype)

    def _units(self) -> tuple[complex, ...]:
        return (1.0, 1.0j)

    def randn(self) -> Any:
        real, imaginary = _np.random.randn(*self.shape), _np.random.randn(*self.shape)
        return _np.array(real + 1.0j * imaginary).astype(self.dtype)

    def _inner_prod(self, x, y) -> Any:
        return np.real(np.dot(np.conj(np.ravel(x)), np.ravel(y)))

    def _covector(self, x) -> Any:
        return np.conj(x)


class ContainerVSpace(VSpace):
    """The space of containers of a structure; ``shape`` holds the spaces of the parts."""

    def __init__(self, value) -> None:
        self.shape = value
        self.shape = self._map(vspace)

    @property
    def size(self) -> int:
        """The dimension of the space over the real numbers."""
        return sum(space.size for space in self._values(self.shape))

    def zeros(self) -> Any:
        return self._map(lambda space: space.zeros())

    def ones(self) -> Any:
        return self._map(lambda space: space.ones())

    def randn(self) -> Any:
        return self._map(lambda space: space.randn())

    def standard_basis(self) -> Iterator[Any]:
        zero = self.zeros()
        for place, space in self._kv_pairs(self.shape):
            for vector in space.standard_basis():
                yield self._subval(zero, place, vector)

    def _add(self, x, y) -> Any:
        return self._map(lambda space, a, b: space._add(a, b), x, y)

    def _scalar_mul(self, x, a) -> Any:
        return self._map(lambda space, part: space._scalar_mul(part, a), x)

    def _inner_prod(self, x, y) -> Any:
        products = self._map(lambda space, a, b: space._inner_prod(a, b), x, y)
        return reduce(lambda a, b: a + b, self._values(products), 0.0)

    def _covector(self, x) -> Any:
        return self._map(lambda space, part: space._covector(part), x)

    def _values(self, x) -> Any:
        raise NotImplementedError

    def _kv_pairs(self, x) -> Any:
        raise NotImplementedError

    def _map(self, f: Callable[..., Any], *args) -> Any:
        raise NotImplementedError

    def _subval(self, xs, place, x) -> Any:
        raise NotImplementedError


class SequenceVSpace(ContainerVSpace):
    """The space of lists or tuples."""

    seq_type: Any = tuple

    def _values(self, x) -> Any:
        return x

    def _kv_pairs(self, x) -> Any:
        return enumerate(x)

    def _map(self, f: Callable[..., Any], *args) -> Any:
        return self.seq_type(map(f, self.shape, *args))

    def _subval(self, xs, place, x) -> Any:
        return self.seq_type(subvals(xs, [(place, x)]))


class ListVSpace(SequenceVSpace):
    """The space of lists."""

    seq_type = list


class TupleVSpace(SequenceVSpace):
    """The space of tuples."""

    seq_type = tuple


class NamedTupleVSpace(SequenceVSpace):
    """The space of named tuples."""

    def __init__(self, value) -> None:
        self.seq_type = type(value)
        super().__init__(value)

    def _map(self, f: Callable[..., Any], *args) -> Any:
        return self.seq_type(*map(f, self.shape, *args))

    def _subval(self, xs, place, x) -> Any:
        return self.seq_type(*subvals(xs, [(place, x)]))


class DictVSpace(ContainerVSpace):
    """The space of dicts with certain keys."""

    def _values(self, x) -> Any:
        return x.values()

    def _kv_pairs(self, x) -> Any:
        return x.items()

    def _map(self, f: Callable[..., Any], *args) -> Any:
        return {key: f(space, *[x[key] for x in args]) for key, space in self.shape.items()}

    def _subval(self, xs, place, x) -> Any:
        return {**xs, place: x}


def _of_array(value) -> Any:
    return ComplexArrayVSpace(value) if _np.iscomplexobj(value) else ArrayVSpace(value)


VSpace.register(_np.ndarray, _of_array)
for _real in (float, _np.longdouble, _np.float64, _np.float32, _np.float16):
    ArrayVSpace.register(_real)
for _complex in (complex, _np.clongdouble, _np.complex64, _np.complex128):
    ComplexArrayVSpace.register(_complex)
ListVSpace.register(list)
TupleVSpace.register(tuple)
DictVSpace.register(dict)

__all__ = defined(globals())
