"""Layer 9 · numpy: `ndarray`, the tensor that behaves like NumPy's array.

NOTE [arrays of wengert.numpy]
An `ndarray` is a `Tensor` in everything that concerns gradients. It differs where NumPy differs
from PyTorch: dtypes are promoted by NumPy's rules (integers become float64 in floating functions),
slices may have negative steps, `size` is a number, and methods have NumPy's arguments and defaults.
Operations are shared with tensors: their results are plain tensors whose class is changed in place,
which the tape does not see. An operation on an array and a tensor returns an array.

NOTE [written arrays]
NumPy programs fill arrays part by part and read earlier parts: ``y[i] = f(y[i - 1])``. The tape
saves tensors by reference, and refuses to use them after a write to their memory, which these
programs always do. So an array that has been written to is copied before an operation uses it, if a
gradient is recorded: always for a view, whose copy costs no more than the operation itself, and for
a whole array if it has a history. The results of `zeros` and similar functions count as written
from the start, and so do copies. Leaves are not copied, since nothing writes to them while the tape
records. An operation whose derivative needs its result (``y = np.exp(x)``) gets a copy of it when
the result is first written to. A single element, ``y[i]``, and a result without dimensions are
numbers to NumPy: elements never share memory, and ``y += 1`` makes another number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import GenericAlias
from typing import Any

import numpy as np

from wengert.base.arrays import column
from wengert.numpy.indexing import read, released, write
from wengert.ops.index import getitem
from wengert.ops.matmul import matmul
from wengert.ops.permute import reversed_dims
from wengert.prims.facet import NUMPY, OPERATOR, Facet
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.modes import is_recording
from wengert.tape.record import T
from wengert.tape.views import ONE_OF_SEVERAL
from wengert.tensor.copying import of_class
from wengert.tensor.numpy import ufuncs as numpy_ufuncs
from wengert.tensor.numpy.counterparts import is_weak, tensor, values
from wengert.tensor.overrides import disabled_torch_function, give_way
from wengert.tensor.printing import tensor_repr
from wengert.tensor.tensor import Tensor

__all__ = [
    "VIEWS",
    "WRITERS",
    "array_of",
    "copied",
    "fillable",
    "lasting",
    "made",
    "ndarray",
    "numpys_error",
]

_RECORDS = {symbol: prim for prim, symbol in OPERATOR.items() if symbol and len(prim.args) == 2}
_UFUNCS = {symbol: getattr(np, NUMPY[prim].split()[0]) for symbol, prim in _RECORDS.items()}
_COMPARISONS = [symbol for symbol in _UFUNCS if not hasattr(int, f"__r{symbol}__")]
_UFUNCS |= {"divmod": np.divmod, "lshift": np.left_shift, "rshift": np.right_shift}
_QUICK = {
    symbol: prim.name
    for symbol, prim in _RECORDS.items()
    if "f" not in prim.refuses and symbol not in ("mod", "floordiv")
}
"""The operators that use the tensors' own on floats of one dtype, and their primitives."""


class ndarray(Tensor):
    """An array whose operations are recorded: a `wengert.Tensor` that follows NumPy's rules.

    Make arrays with `array`, `zeros`, ... or by operations on arrays.

    Examples
    --------
    >>> x = np.arange(3.0).requires_grad_()
    >>> y = (x[::-1] * [1, 10, 100]).sum()
    %(backward_pass)s
    tensor([100.,  10.,   1.], dtype=torch.float64)
    >>> np.arange(3) / 2
    tensor([0.0000, 0.5000, 1.0000], dtype=torch.float64)
    """

    __slots__ = ()
    _stays = True
    __torch_function__ = disabled_torch_function  # type: ignore[assignment]
    __hash__ = TensorBase.__hash__
    T = property(reversed_dims)
    __class_getitem__: Any = classmethod(GenericAlias)

    def __new__(cls, *data: Any, **kwargs: Any) -> Any:
        """Refuse NumPy's constructor, which is not how arrays are made."""
        raise TypeError("arrays are made by wengert.numpy.array, zeros, empty, ...")

    def __repr__(self) -> str:
        return tensor_repr(self, "tensor")

    def __format__(self, spec: str) -> str:
        if not self._payload.ndim:
            return format(self._payload.item(), spec)
        return object.__format__(self, spec)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs:
            result = _quickly(ufunc, inputs)
            if result is not None:
                return result
        result = numpy_ufuncs.apply(ufunc, method, lasting(inputs), kwargs)
        return result if "out" in kwargs else made(result, inputs)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if function.__name__ not in VIEWS:
            args = lasting(args)
        result = super().__array_function__(function, types, args, kwargs)
        return result if result is kwargs.get("out", args) else made(result, args)

    def __getitem__(self, index: Any) -> Any:
        """Return the elements at a NumPy index."""
        if index.__class__ is int:
            result = getitem(self, index)
            return made(result) if result._payload.ndim else _element(result)
        result = read(self, index)
        if not result._payload.ndim and not _keeps_dimensions(index):
            return _element(result)
        return made(result, (self,))

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write the elements at a NumPy index; recorded."""
        write(self, index, value)

    def __iter__(self) -> Iterator[Any]:
        if not self._payload.ndim:
            raise TypeError("iteration over a 0-d array")
        # when the first one is asked for: libraries call iter() to see whether they could iterate
        parts = itertools.chain.from_iterable(map(_parts, (self,)))
        return map(_element if self._payload.ndim == 1 else _row, parts)

    def __bool__(self) -> bool:
        if self._payload.size != 1:
            raise ValueError(
                f"The truth value of an array of {self._payload.size} elements is ambiguous. "
                "Use a.any() or a.all(); array.size > 0 to check that an array is not empty."
            )
        return super().__bool__()

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is None:
            return round(self.item())
        return np.round(self, ndigits)

    def __neg__(self) -> Any:
        (x,) = lasting((self,))
        if x._payload.dtype.kind == "f":
            return made(T.neg(x))
        return made(numpy_ufuncs.call(np.negative, x))

    def __abs__(self) -> Any:
        return made(numpy_ufuncs.call(np.absolute, *lasting((self,))))

    def __pos__(self) -> Any:
        return made(T.clone(self))

    def __invert__(self) -> Any:
        return made(numpy_ufuncs.call(np.invert, self))

    @property
    def data(self) -> Any:
        """An array over the same memory, outside the graph (see `wengert.Tensor.data`)."""
        return made(Tensor.data.__get__(self))

    @data.setter
    def data(self, value: Any) -> None:
        Tensor.data.__set__(self, value)  # type: ignore[attr-defined]

    @property
    def grad(self) -> Any:
        found = Tensor.grad.__get__(self)
        return found if found is None else made(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        Tensor.grad.__set__(self, value)  # type: ignore[attr-defined]

    @grad.deleter
    def grad(self) -> None:
        Tensor.grad.__delete__(self)  # type: ignore[attr-defined]


WRITERS = frozenset(("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"))
"""Functions that write to their first argument."""
NUMPY_VIEWS: Facet[str] = Facet("numpy_views", lambda prim: "")
"""NumPy's functions that return such views, separated by spaces."""
VIEWS = WRITERS.union(*[names.split() for _, names in NUMPY_VIEWS.items()])
"""These, and functions that return views of their arguments: they must not get copies."""


# -- arrays that have been written to ------------------------------------------------------------


def _written(value: Any) -> bool:
    """Return whether `value` must be copied before it is saved (NOTE [written arrays])."""
    if not isinstance(value, ndarray) or value._vc.__class__ is not list or not value._vc[0]:
        return False
    base = None if value._ext is None else value._ext.base
    if base is None:
        return value._edge is not None and value._edge is not LEAF
    return base._edge is not LEAF


def _follows(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_follows, value))
    return isinstance(value, TensorBase) and value._edge is not None


def lasting(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments of an operation, with copies of arrays that have been written to.

    See NOTE [written arrays].
    """
    for value in given:
        if _written(value):
            if not is_recording() or not any(map(_follows, given)):
                return given
            return tuple(made(T.clone(v)) if _written(v) else v for v in given)
    return given


def fillable(made_: Any, name: str) -> Any:
    """Return a new array that the program will fill: it counts as written by `name`."""
    if made_.__class__ is ndarray and made_._edge is None and made_._vc is None:
        made_._vc = [1, name]
    return made_


def copied(made_: Any, name: str = "copy") -> Any:
    """Return a copy, which the program will write to: it counts as written by `name`."""
    if made_.__class__ is ndarray and made_._vc is None and made_._edge is not LEAF:
        made_._vc = [1, name]
    return made_


def _keeps_dimensions(index: Any) -> bool:
    """Return whether NumPy returns a 0-d array, not a number, for `index`."""
    parts = index if isinstance(index, tuple) else (index,)
    return not parts or any(
        part is Ellipsis or (isinstance(part, np.ndarray | Tensor) and part.ndim) for part in parts
    )


def _parts(array: Any) -> Any:
    return T.unbind(array, dim=0)


def _row(view: Any) -> Any:
    return made(_writable(view))


def _writable(part: Any) -> Any:
    """Return one of several results; a view may be written to, as NumPy's may."""
    own = getattr(part, "_ext", None)
    if own is not None and own.no_write == ONE_OF_SEVERAL:
        own.no_write = None
    return part


def _element(view: Any) -> Any:
    """Return an element that was read: the same number and history, in its own memory."""
    payload: Any = view._payload
    if not isinstance(payload, np.ndarray | np.generic):
        return made(T.clone(view))
    number: Any = payload[()]  # type: ignore[index]
    return made(new_tensor(number, view._edge))


# -- operators -------------------------------------------------------------------------------------


def _operand(value: Any) -> bool:
    return isinstance(value, TensorBase | np.ndarray | np.generic | list | tuple) or is_weak(value)


def _same(kind: Any, other: Any) -> Any:
    """Return `other` as an operand of the tensors' operators of floating dtype `kind`, or None."""
    cls = other.__class__
    if cls is float or cls is int:
        return other
    if isinstance(other, TensorBase):
        return other if other._payload.dtype is kind else None
    if cls is np.ndarray:
        return new_tensor(other) if other.dtype is kind else None
    if cls is np.float64 and kind.itemsize == 8:
        return float(other)
    return None


def numpys_error(error: Exception, function: Any, given: Any, named: Any = None) -> BaseException:
    """Return NumPy's error in place of `error`; `error` itself if NumPy raises none."""
    if not isinstance(error, np.linalg.LinAlgError | NotImplementedError | RecursionError):
        try:
            function(*values(given), **values(named or {}))
        except (ValueError, TypeError, IndexError) as numpys:
            return numpys
        except RuntimeError:  # NumPy cannot read the values that a transform follows
            pass
    return error


def _computed(ufunc: Any, *given: Any) -> Any:
    try:
        return made(numpy_ufuncs.call(ufunc, *given))
    except RuntimeError as error:
        raise numpys_error(error, ufunc, given) from None


def _install(symbol: str, ufunc: Any) -> None:
    """Install an operator: the tensor's own for floats of one dtype, else the ufunc."""
    name, prim = f"__{symbol}__", _QUICK.get(symbol)

    def operator(self: Any, other: Any) -> Any:
        if prim is not None:
            kind = self._payload.dtype
            if kind.kind == "f" and (self._vc is None or not _written(self)):
                same = _same(kind, other)
                if same is not None and not _written(same):
                    try:
                        result = getattr(Tensor, name)(self, same)
                    except RuntimeError as error:
                        raise numpys_error(error, ufunc, (self, other)) from None
                    result.__class__ = ndarray
                    return result
        if not _operand(other):
            other = column(other)
            if not _operand(other):
                return NotImplemented
        return _computed(ufunc, *lasting((self, other)))

    operator.__name__ = operator.__qualname__ = name
    setattr(ndarray, name, operator)


def _install_reflected(symbol: str, ufunc: Any) -> None:
    prim = _QUICK.get(symbol)

    def operator(self: Any, other: Any) -> Any:
        if prim is not None:
            kind = self._payload.dtype
            number = other.__class__ is float or other.__class__ is int
            if number and kind.kind == "f" and (self._vc is None or not _written(self)):
                # not PyTorch's, which multiplies by the reciprocal
                result = getattr(T, prim)(new_tensor(kind.type(other)), self)
                result.__class__ = ndarray
                return result
        if not _operand(other):
            other = column(other)
            if not _operand(other):
                return NotImplemented
        return _computed(ufunc, *lasting((other, self)))

    operator.__name__ = operator.__qualname__ = f"__r{symbol}__"
    setattr(ndarray, operator.__name__, operator)


def _is_number(array: Any) -> bool:
    """Return whether NumPy has a number, which nothing changes in place, where this array is."""
    payload = array._payload
    if isinstance(payload, np.ndarray) or payload.ndim or array._edge is LEAF:
        return False
    return array._vc is None and (array._ext is None or array._ext.base is None)


def _install_in_place(symbol: str, ufunc: Any) -> None:
    name = f"__i{symbol}__"

    def operator(self: Any, other: Any) -> Any:
        if _is_number(self):
            return getattr(self, f"__{symbol}__")(other)
        if not _operand(other):
            other = column(other)
            if not _operand(other):
                return NotImplemented
        if self._edge is not None:
            released(self)
        if _written(other) and is_recording() and not (self._edge is other._edge is None):
            other = made(T.clone(other))
        try:
            if symbol in _QUICK and self._payload.dtype.kind == "f":
                same = _same(self._payload.dtype, other)
                if same is not None:
                    return getattr(Tensor, name)(self, same)
            return numpy_ufuncs.call(ufunc, self, other, out=self)
        except RuntimeError as error:
            if symbol == "matmul":
                raise
            raise numpys_error(error, np.broadcast_to, (other, self.shape)) from None

    operator.__name__ = operator.__qualname__ = name
    setattr(ndarray, name, operator)


for _symbol, _ufunc in _UFUNCS.items():
    _install(_symbol, _ufunc)
    if _symbol in _COMPARISONS:
        continue
    _install_reflected(_symbol, _ufunc)
    if _symbol != "divmod":
        _install_in_place(_symbol, _ufunc)
_install_in_place("matmul", np.matmul)


def _product(a: Any, b: Any) -> Any:
    if not (isinstance(a, TensorBase | np.ndarray) and isinstance(b, TensorBase | np.ndarray)):
        a, b = column(a), column(b)
        return _computed(np.matmul, *lasting((a, b))) if _operand(a) and _operand(b) else None
    a, b = lasting((array_of(a), array_of(b)))
    kind = a._payload.dtype
    if kind.kind == "f" and b._payload.dtype is kind and a._payload.ndim and b._payload.ndim:
        try:
            return made(matmul(a, b))
        except RuntimeError as error:
            raise numpys_error(error, np.matmul, (a, b)) from None
    return _computed(np.matmul, a, b)


def _matmul(self: Any, other: Any) -> Any:
    result = _product(self, other)
    return NotImplemented if result is None else result


def _rmatmul(self: Any, other: Any) -> Any:
    result = _product(other, self)
    return NotImplemented if result is None else result


ndarray.__matmul__ = _matmul  # type: ignore[method-assign]
ndarray.__rmatmul__ = _rmatmul  # type: ignore[method-assign]
give_way(ndarray)

_METHOD_OF: dict[Any, str] = {_UFUNCS[symbol]: f"__{symbol}__" for symbol in _QUICK}
_PRIMITIVE_OF: dict[Any, str | None] = {}


def _quickly(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """Return the result of NumPy's ufunc for floats of one dtype, or None for other cases."""
    if len(inputs) == 2:
        name = _METHOD_OF.get(ufunc)
        a, b = inputs
        if ufunc is np.matmul:
            return _product(a, b)
        if name is not None and (a.__class__ is np.ndarray or a.__class__ is np.float64):
            if b._payload.dtype is a.dtype and a.dtype.kind == "f":
                return getattr(made(new_tensor(a)), name)(b)
        elif name is not None and a.__class__ is ndarray:
            return getattr(a, name)(b)
        return None
    if len(inputs) != 1:
        return None
    (x,) = inputs
    if x._payload.dtype.kind != "f":
        return None
    if ufunc not in _PRIMITIVE_OF:
        _PRIMITIVE_OF[ufunc] = numpy_ufuncs.one_primitive(ufunc)
    prim = _PRIMITIVE_OF[ufunc]
    return None if prim is None else made(getattr(T, prim)(*lasting(inputs)))


# -- classes ---------------------------------------------------------------------------------------


def made(result: Any, given: Any = ()) -> Any:
    """Return an operation's result with arrays in place of tensors, also in tuples and lists.

    Parameters
    ----------
    given: The operation's arguments; a result that is one of them is not converted.
    """
    cls = result.__class__
    if cls is Tensor:
        for value in given:
            if value is result or (isinstance(value, list | tuple) and _within(result, value)):
                return of_class(result, ndarray)
        result.__class__ = ndarray
        return result
    if cls is tuple or cls is list:
        return cls([made(_writable(part), given) for part in result])
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return cls(*[made(part, given) for part in result])
    return result


def _within(result: Any, values: Any) -> bool:
    return any(
        value is result or (isinstance(value, list | tuple) and _within(result, value))
        for value in values
    )


def array_of(value: Any) -> Any:
    """Return `value` as an array: itself, a view of a tensor, or an array that shares memory."""
    if isinstance(value, ndarray):
        return value
    if isinstance(value, TensorBase):
        return of_class(value, ndarray)
    return made(tensor(value))
