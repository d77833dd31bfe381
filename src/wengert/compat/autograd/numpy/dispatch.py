"""Layer 9 · compat: NumPy's functions, of NumPy's own arrays and of boxes.

NOTE [functions of boxes]
A call without boxes among its arguments runs NumPy's own function and returns NumPy's arrays and
numbers. With a box among the arguments, also within lists, it runs the function of `wengert.numpy`
and returns boxes. Functions whose results carry no gradient run NumPy's function on the values and
return no boxes. While a function is being differentiated, new floating arrays (`zeros`, `array`,
...) are boxes, too, so that parts of them may be assigned (see NOTE [boxes]).

A rule that `defvjp` sets for a NumPy function replaces ours when the function is called by name;
operators keep their rule.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as _np
import numpy as np

import wengert.numpy as _wnp
from wengert.base.arrays import unmasked
from wengert.compat.autograd.boxes import TRACING, ArrayBox, boxed, holds_box, isbox, plain
from wengert.compat.autograd.noted import is_noted, noted_call
from wengert.compat.autograd.operators import INFIX, ROUNDING, unary, unwritten
from wengert.numpy.functions import Ufunc
from wengert.ops import reduce as reductions
from wengert.ops.extremes import amax, amin
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T
from wengert.tensor.numpy.dispatch import kind_of
from wengert.tensor.numpy.ufuncs import one_primitive

__all__ = ["FILLED", "function_of", "no_derivative", "of_numpy"]

_FRESH = frozenset(("empty", "eye", "full", "identity", "linspace", "ones", "zeros"))
_LIKE = frozenset(("empty_like", "full_like", "ones_like", "zeros_like"))
FILLED = _FRESH | _LIKE | {"array", "copy"}
"""Functions that create arrays whose memory can be written to."""
_CONVERTING = frozenset(
    ("array", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "copy")
)
"""Functions that convert any argument to a plain array."""
_VALUES = ROUNDING | {"all", "any", "around", "round"}
_JOINING = frozenset(("column_stack", "concatenate", "dstack", "hstack", "stack", "vstack"))
"""Functions of a sequence of arrays, which may be an iterator or the values of a dict."""
_NESTED = (list, tuple, dict)
_ABSENT = object()


def no_derivative(name: str, args: tuple[Any, ...], place="numpy") -> NotImplementedError:
    """Return the error for a function that has no derivative."""
    numbers = tuple(i for i, value in enumerate(args) if holds_box(value))
    return NotImplementedError(
        f"VJP of {name} wrt argnums {numbers} not defined: {place}.{name} has no derivative here. "
        "If none is wanted, pass x._value for the box x; if one is, write a primitive with "
        "autograd.extend.primitive and defvjp"
    )


def _any_box(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    for value in args:
        if isinstance(value, TensorBase) or (isinstance(value, _NESTED) and holds_box(value)):
            return True
    return bool(kwargs) and holds_box(kwargs)


def function_of(name: str, numpys) -> Callable[..., Any]:
    """Return the counterpart of the NumPy function called `name` (``"linalg.solve"``)."""
    made: Callable[..., Any]
    if name in _CONVERTING:
        numpys = _of_unmasked(numpys)
    if name in FILLED:
        made = _filled(name, numpys)
    elif isinstance(numpys, _np.ufunc):
        return _Ufunc(numpys)
    elif name in _VALUES or kind_of(name) == "constant":
        made = _of_values(numpys)
    else:
        made = _general(name, numpys)
    if name in _JOINING:
        made = _of_any(made)
    return _dressed(made, name, numpys)


def of_numpy(
    module: str, theirs, place: str, make: Callable[[str, Any], Any]
) -> Callable[[str], Any]:
    """Return a function that looks up names of a NumPy namespace for the module that mirrors it."""

    def find(name: str) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's warnings about deprecated names
            value = getattr(theirs, name, _ABSENT)
        if value is _ABSENT:
            raise AttributeError(f"module {module!r} has no attribute {name!r}: NumPy has none")
        if callable(value) and not isinstance(value, type):
            return make(f"{place}{name}", value)
        return value

    return find


def _of_unmasked(numpys) -> Callable[..., Any]:
    """Wrap NumPy's function to refuse masked arrays, whose masks it would drop."""

    def function(*args, **kwargs) -> Any:
        unmasked(args[0] if args else tuple(kwargs.values()))
        return numpys(*args, **kwargs)

    return function


def _of_any(function: Callable[..., Any]) -> Callable[..., Any]:
    def joined(first, /, *args, **kwargs) -> Any:
        if not isinstance(first, list | tuple | _np.ndarray | TensorBase):
            first = list(first)
        return function(first, *args, **kwargs)

    return joined


def _dressed(made, name: str, numpys) -> Any:
    made.__name__ = made.__qualname__ = name.rpartition(".")[2]
    made.__module__ = f"wengert.compat.autograd.numpy.{name}".rpartition(".")[0]
    made.__doc__ = f"Compute `numpy.{name}`; differentiable in arguments that are boxes."
    made.__wrapped__ = made.fun = numpys
    return made


def _theirs(name: str) -> Callable[..., Any] | None:
    """Return the function of `wengert.numpy`, or None."""
    place, _, own = name.rpartition(".")
    module: Any = getattr(_wnp, place) if place else _wnp
    return getattr(module, own, None)


def _of_values(numpys) -> Callable[..., Any]:
    def function(*args, **kwargs) -> Any:
        if _any_box(args, kwargs):
            return numpys(*plain(args), **plain(kwargs))
        return numpys(*args, **kwargs)

    return function


def _general(name: str, numpys) -> Callable[..., Any]:
    found: list[Any] = []
    own: list[Any] = []
    quick = QUICK.get(name)

    def function(*args, **kwargs) -> Any:
        if not _any_box(args, kwargs):
            return numpys(*args, **kwargs)
        if own:
            return own[-1](args, kwargs)
        if quick is not None and args and plain_float(args[0]):
            made = quick(*args, **kwargs)
            if made is not None:
                made.__class__ = ArrayBox
                return made
        if is_noted(args):
            return noted_call(function, args, kwargs)
        if not found:
            found.append(_theirs(name))
        if found[0] is None:
            raise no_derivative(name, args)
        return boxed(found[0](*args, **kwargs))

    function.overrule = own.append  # type: ignore[attr-defined]
    return function


def _filled(name: str, numpys) -> Callable[..., Any]:
    """Wrap a function that creates an array to return a box during differentiation."""
    ours: Any = getattr(_wnp, name)

    def function(*args, **kwargs) -> Any:
        traced = _any_box(args, kwargs)
        if not traced and TRACING.get() is None:
            return numpys(*args, **kwargs)
        if name in _LIKE:
            args = (plain(args[0]), *args[1:]) if args else args
            traced = _any_box(args, kwargs)
        if traced and is_noted(args):
            return noted_call(function, args, kwargs)
        if traced:
            box = boxed(ours(*args, **kwargs))
        else:
            made = numpys(*args, **kwargs)
            if not isinstance(made, _np.ndarray) or made.dtype.kind not in "fc" or not made.ndim:
                return made
            box = boxed(new_tensor(made))
        if isbox(box) and box._edge is None and box._vc is None:
            box._vc = [1, name]
        return box

    return function


_PAIRS = frozenset(("arctan2", "fmod", "hypot", "maximum", "minimum", "remainder"))


def _pair(ufunc) -> Any:
    """Return the primitive for a binary ufunc on floats, without an infix operator."""
    return one_primitive(ufunc) if ufunc.__name__ in _PAIRS else None


class _Ufunc(Ufunc):
    """A ufunc on NumPy's own arrays and on boxes."""

    def __init__(self, ufunc) -> None:
        super().__init__(ufunc, unary(ufunc))
        self.fun = self.__wrapped__ = ufunc
        self._own: Any = None
        self._infix = INFIX.get(ufunc)
        self._pair = _pair(ufunc)
        self._constant = ufunc.__name__ in ROUNDING or kind_of(ufunc.__name__) == "constant"
        self.__doc__ = (
            f"Compute `numpy.{ufunc.__name__}`; differentiable in arguments that are boxes."
        )

    def __call__(self, *args, **kwargs) -> Any:
        x: Any = args[0] if args else None
        cls = x.__class__
        if len(args) == 1 and not kwargs and (cls is _np.ndarray or cls is float):
            return self._ufunc(x)
        if cls is ArrayBox:
            if not kwargs:
                if self._prim is not None:
                    if len(args) == 1 and unwritten(x) and x._payload.dtype.kind == "f":
                        result = getattr(T, self._prim)(x)
                        result.__class__ = ArrayBox
                        return result
                elif self._infix is not None and len(args) == 2:
                    return getattr(x, f"__{self._infix}__")(args[1])
        elif not _any_box(args, kwargs):
            return self._ufunc(*args, **kwargs)
        if self._pair is not None and len(args) == 2 and not kwargs:
            made = self._paired(*args)
            if made is not None:
                return made
        if self._own is not None:
            return self._own(args, kwargs)
        if self._constant:
            return self._ufunc(*plain(args), **plain(kwargs))
        if is_noted(args):
            return noted_call(self, args, kwargs)
        return boxed(super().__call__(*args, **kwargs))

    def _paired(self, a, b) -> Any:
        """Compute on floats of one dtype; return None in any other case."""
        box = a if a.__class__ is ArrayBox else b
        if not plain_float(box):
            return None
        kind = box._payload.dtype
        a, b = operand(a, kind), operand(b, kind)
        if a is None or b is None:
            return None
        try:
            return boxed(getattr(T, self._pair)(a, b))
        except RuntimeError:
            return None  # the general path raises NumPy's own error

    def overrule(self, own: Callable[..., Any]) -> None:
        """Use the user's own rule for the derivative."""
        self._own = own
        self._prim = self._infix = self._pair = None

    def _method(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not _any_box(args, kwargs):
            return getattr(self._ufunc, name)(*args, **kwargs)
        return boxed(super()._method(name, args, kwargs))

    def __repr__(self) -> str:
        return repr(self._ufunc)


# -- fast paths for the most frequent calls, on boxes of floats ------------------------------------

# Each takes a box and the other arguments of NumPy's function, and returns None outside of the
# common case. The general path then handles all of NumPy's arguments and errors.


def plain_float(x) -> bool:
    """Return whether `x` is a box of floats that was never written to."""
    return x.__class__ is ArrayBox and x._payload.dtype.kind == "f" and unwritten(x)


def operand(x, kind) -> Any:
    """Return `x` as a tensor of dtype `kind` if no conversion is needed, else None."""
    cls = x.__class__
    if cls is ArrayBox:
        return x if x._payload.dtype is kind and unwritten(x) else None
    if cls is np.ndarray:
        return new_tensor(x) if x.dtype is kind else None
    if cls is float or cls is int or (cls is np.float64 and kind.itemsize == 8):
        return new_tensor(kind.type(x))
    return None


def _dims(axis, ndim: int) -> tuple[int, ...] | None:
    """Return the reduced axes as nonnegative numbers; None unless it is one axis, or all."""
    if axis is None:
        return tuple(range(ndim))
    if axis.__class__ is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    return None


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(x, axis=None, *more, keepdims=False, **named) -> Any:
        ndim = x._payload.ndim
        if more or named or not ndim or keepdims.__class__ is not bool or not x._payload.size:
            return None
        dims = _dims(axis, ndim)
        return None if dims is None else function(x, dims, keepdim=keepdims)

    return reduced


QUICK: dict[str, Callable[..., Any]] = {
    "amax": _reduction(amax),
    "amin": _reduction(amin),
    "max": _reduction(amax),
    "mean": _reduction(reductions.mean),
    "min": _reduction(amin),
    "sum": _reduction(reductions.sum),
}
"""Fast paths by the name of NumPy's function."""
