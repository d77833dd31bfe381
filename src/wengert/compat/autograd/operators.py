"""Layer 9 · compat: the operators and methods of `ArrayBox`, and NumPy's functions of boxes."""

from __future__ import annotations

import operator as infix
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.compat.autograd.boxes import WALKING, ArrayBox, boxed, getval, plain
from wengert.compat.kit.operators import ARITHMETIC, COMPARISONS
from wengert.interp.levels import batch_of
from wengert.numpy.arrays import lasting, ndarray
from wengert.ops.index import getitem
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T
from wengert.tensor.numpy import ufuncs as numpy_ufuncs
from wengert.tensor.tensor import Tensor

_FLOATING = ("add", "sub", "mul", "truediv", "pow")
_OTHERS = [symbol for symbol in ARITHMETIC if symbol not in (*_FLOATING, "matmul")]
_COMPARISONS = {name: getattr(infix, name) for name in COMPARISONS}
ROUNDING = frozenset(("ceil", "fix", "floor", "rint", "sign", "trunc"))
"""Functions with derivative 0 almost everywhere: for boxes they return NumPy's own values."""
_VALUES = frozenset(("all", "any", "argmax", "argmin", "argpartition", "argsort", "nonzero"))
_VALUES |= {"searchsorted", "round", "item", "tolist", "tobytes"}
"""Methods whose results carry no gradient and are NumPy's own."""
_OWN = frozenset(("size", "dtype", "strides", "flags", "base", "backward", "grad", "data"))


def unwritten(x) -> bool:
    """Return whether nothing was ever written to a box, so that it may be kept as it is."""
    cell = x._vc
    return cell is None or (cell.__class__ is list and not cell[0])


def _quick(x) -> bool:
    """Return whether the tape's own operations accept `x`: floats that were never written to."""
    return x._payload.dtype.kind == "f" and unwritten(x)


def _operand(kind, other) -> Any:
    """Return `other` as the tensors' operators take it with floats of dtype `kind`, or None."""
    cls = other.__class__
    if cls is ArrayBox:
        return other if other._payload.dtype is kind and unwritten(other) else None
    if cls is float or cls is int:
        return other
    if cls is np.ndarray:
        return new_tensor(other) if other.dtype is kind else None
    if cls is np.float64 and kind.itemsize == 8:
        return float(other)
    return None


def binary(symbol: str) -> Callable[[Any, Any], Any]:
    """Build an infix operator of a box and another operand; None from it means NotImplemented."""
    name = f"__{symbol}__"
    general = getattr(ndarray, name)

    def operator(self, other) -> Any:
        cell = self._vc
        if cell is None or (cell.__class__ is list and not cell[0]):
            kind = self._payload.dtype
            if kind.kind == "f":
                same = _operand(kind, other)
                if same is not None:
                    try:
                        result = getattr(Tensor, name)(self, same)
                    except RuntimeError:
                        # call again, to raise NumPy's own error
                        return boxed(general(self, other))
                    result.__class__ = ArrayBox
                    return result
        return boxed(general(self, other))

    return _named(operator, name)


def _through(name: str) -> Callable[..., Any]:
    """Wrap a method of arrays to return boxes."""
    theirs = getattr(ndarray, name) if name.startswith("__") else None

    def method(self, *args, **kwargs) -> Any:
        if theirs is not None:
            return boxed(theirs(self, *args, **kwargs))
        return boxed(getattr(super(ArrayBox, self), name)(*args, **kwargs))

    return _named(method, name)


def _of_values(name: str) -> Callable[..., Any]:
    def method(self, *args, **kwargs) -> Any:
        return getattr(np.asarray(getval(self)), name)(*plain(args), **plain(kwargs))

    return _named(method, name)


def _in_batch(value) -> bool:
    """Return whether a value differs among the elements of a batch."""
    return isinstance(value, TensorBase) and batch_of(value._payload) is not None


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    compare, general = _COMPARISONS[name], getattr(ndarray, f"__{name}__")

    def operator(self, other) -> Any:
        if WALKING.get() or _in_batch(self) or _in_batch(other):
            return boxed(general(self, other))
        return compare(getval(self), plain(other))

    return _named(operator, f"__{name}__")


def _in_place(symbol: str) -> Callable[[Any, Any], Any]:
    """Build ``x += y``, in place for memory that may be written to (NOTE [sums in place])."""
    name = f"__i{symbol}__"
    write, compute = getattr(ndarray, name), f"__{symbol}__"

    def operator(self, other) -> Any:
        if not self._may_be_written() or self._of_argument():
            return getattr(self, compute)(other)
        return write(self, other)

    return _named(operator, name)


def _named(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    method.__name__ = name
    method.__qualname__ = f"ArrayBox.{name}"
    method.__doc__ = f"Compute NumPy's `{name}`."
    return method


def _property(name: str) -> property:
    theirs = getattr(ndarray, name)

    def get(self) -> Any:
        return boxed(theirs.__get__(self))

    return property(get, theirs.fset, None, theirs.__doc__)


def unary(ufunc) -> str | None:
    """Return the primitive for a ufunc of one argument on floats, or None if there is no single
    one.
    """
    if ufunc.nin != 1 or ufunc.__name__ in ROUNDING or numpy_ufuncs.is_constant(ufunc):
        return None
    return numpy_ufuncs.one_primitive(ufunc)


_PRIMITIVES: dict[Any, str | None] = {}
INFIX = {getattr(np, ARITHMETIC[symbol]): symbol for symbol in (*_FLOATING, "matmul")}


def _array_ufunc(self, ufunc, method: str, *inputs, **kwargs) -> Any:
    if method == "__call__" and not kwargs:
        if len(inputs) == 2:
            symbol = INFIX.get(ufunc)
            if symbol is not None:
                a, b = inputs
                cls = a.__class__
                if cls is ArrayBox:
                    return getattr(a, f"__{symbol}__")(b)
                if cls is np.ndarray and a.dtype.kind == "f":
                    box = new_tensor(a)
                    box.__class__ = ArrayBox
                    return getattr(box, f"__{symbol}__")(b)
                if cls is np.float64 and symbol != "matmul":
                    return getattr(b, f"__r{symbol}__")(a)
        elif len(inputs) == 1 and _quick(self):
            if ufunc not in _PRIMITIVES:
                _PRIMITIVES[ufunc] = unary(ufunc)
            prim = _PRIMITIVES[ufunc]
            if prim is not None:
                return boxed(getattr(T, prim)(inputs[0]))
        if ufunc.__name__ in ROUNDING or numpy_ufuncs.is_constant(ufunc):
            return ufunc(*plain(inputs))
    result = numpy_ufuncs.apply(ufunc, method, lasting(inputs), kwargs)
    return result if "out" in kwargs else boxed(result)


def _array_function(self, function, types, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return boxed(ndarray.__array_function__(self, function, types, args, kwargs))


def _getitem(self, index) -> Any:
    if index.__class__ is int and self._payload.ndim > 1:
        result = getitem(self, index)
    else:
        result = ndarray.__getitem__(self, index)
    if result.__class__ is not ArrayBox:
        result.__class__ = ArrayBox
    return result


def _bool(self) -> bool:
    return bool(getval(self))


def _iter(self) -> Iterator[Any]:
    return map(boxed, ndarray.__iter__(self))


def _install() -> None:
    for name, value in list(vars(ndarray).items()):
        if name.startswith("_") or name in _OWN:
            continue
        if isinstance(value, property):
            setattr(ArrayBox, name, _property(name))
        else:
            setattr(ArrayBox, name, _of_values(name) if name in _VALUES else _through(name))
    for name in ("neg", "abs", "pos", "invert", "matmul", "rmatmul"):
        setattr(ArrayBox, f"__{name}__", _through(f"__{name}__"))
    for symbol in _FLOATING:
        setattr(ArrayBox, f"__{symbol}__", binary(symbol))
        setattr(ArrayBox, f"__r{symbol}__", _through(f"__r{symbol}__"))
        setattr(ArrayBox, f"__i{symbol}__", _in_place(symbol))
    for symbol in _OTHERS:
        setattr(ArrayBox, f"__{symbol}__", _through(f"__{symbol}__"))
        setattr(ArrayBox, f"__r{symbol}__", _through(f"__r{symbol}__"))
        if symbol != "divmod":
            setattr(ArrayBox, f"__i{symbol}__", _in_place(symbol))
    setattr(ArrayBox, "__imatmul__", _in_place("matmul"))  # noqa: B010  # as the others
    for name in _COMPARISONS:
        setattr(ArrayBox, f"__{name}__", _comparison(name))
    ArrayBox.__array_ufunc__ = _array_ufunc  # type: ignore[method-assign]
    ArrayBox.__array_function__ = _array_function  # type: ignore[method-assign]
    ArrayBox.__getitem__ = _getitem  # type: ignore[method-assign]
    ArrayBox.__iter__ = _iter  # type: ignore[method-assign]
    ArrayBox.__bool__ = _bool  # type: ignore[method-assign]
    ArrayBox.__hash__ = TensorBase.__hash__  # type: ignore[method-assign]


_install()
