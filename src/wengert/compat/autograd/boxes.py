"""Layer 9 · compat: `ArrayBox`, the array that a differentiated function sees.

NOTE [boxes]
As in HIPS autograd, values are NumPy's own arrays and numbers outside of differentiation, and boxes
inside. A box is an array of `wengert.numpy`, so it has that class's operations and can be written
to. A function of a box returns a box, unless its result carries no gradient (a comparison, an
index, a rounded number): then it returns NumPy's own value. `boxed` turns results into boxes by
changing their class in place, which the tape does not see.

NOTE [sums in place]
In HIPS autograd, ``y += x`` inside a differentiated function is ``y = y + x``, even if `y` has
other references. It is the same here, except for arrays that are meant to be written to: results of
`zeros` and similar functions, and arrays that have been written to. These, and views of them, are
changed in place.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from sys import _getframe
from typing import Any, ClassVar

import numpy as np

from wengert.base.arrays import COUNTED, unmasked
from wengert.base.dtypes import is_differentiable
from wengert.compat.autograd.words import refusal
from wengert.interp.dual import Dual
from wengert.interp.levels import Lifted
from wengert.numpy import methods as methods
from wengert.numpy.arrays import ndarray
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tensor.numpy.boundary import check_number
from wengert.tensor.tensor import Tensor

TRACING: ContextVar[tuple[Any, list[Any]] | None] = ContextVar("TRACING", default=None)
"""The functions being differentiated: the outer ones, and the boxes of the innermost one."""

WALKING: ContextVar[bool] = ContextVar("WALKING", default=False)
"""Whether rules of the tape may be running on boxes, which need comparisons that are tensors."""


def _to_number(kind: type, what: str) -> Callable[[Any], Any]:
    def convert(self) -> Any:
        if carries(self):
            check_number(self, _getframe(1))
            raise TypeError(
                f"{kind.__name__}() argument must be {what}, not 'ArrayBox': the derivative would "
                f"be lost. If none is wanted, write {kind.__name__}(x._value)"
            )
        return kind(self._number())

    return convert


class ArrayBox(ndarray):
    """An array inside a differentiated function.

    Examples
    --------
    >>> def f(x):
    ...     print(x, x._value)
    ...     return x**2
    >>> grad(f)(3.0)
    Autograd ArrayBox with value 3.0 3.0
    np.float64(6.0)
    """

    __slots__ = ()
    __array_priority__ = 100.0  # type: ignore[assignment]  # as in HIPS autograd
    __hash__ = TensorBase.__hash__

    @property
    def _value(self) -> Any:
        """The value as NumPy's own array or number; no gradient flows from it."""
        return getval(self)

    @property
    def _node(self) -> Any:
        """The edge that the gradient flows to, or None."""
        return self._edge

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]  # NumPy's
        """The number of elements in each dimension."""
        return tuple(self._payload.shape)

    def __array__(self, dtype=None, copy: bool | None = None) -> Any:
        """Return the values as integers or booleans; floats would lose their derivative."""
        if dtype is not None and np.dtype(dtype).kind in "biu":
            return np.array(getval(self), dtype)
        return ndarray.__array__(self, dtype, copy)

    __float__ = _to_number(float, "a string or a real number")
    __int__ = _to_number(int, "a string, a bytes-like object or a real number")
    __complex__ = _to_number(complex, "a string or a number")

    def __str__(self) -> str:
        return f"Autograd ArrayBox with value {getval(self)}"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(getval(self), spec) if spec else str(self)

    def __setitem__(self, index, value) -> None:
        """Write to the elements that an index selects, recorded on the tape."""
        if self._of_argument():
            raise refusal(TypeError, "'ArrayBox' object does")
        ndarray.__setitem__(self, index, value)

    def _of_argument(self) -> bool:
        base = None if self._ext is None else self._ext.base
        return self._edge is LEAF or (base is not None and base._edge is LEAF)

    def _may_be_written(self) -> bool:
        """Return whether an in-place sum writes to memory (NOTE [sums in place])."""
        cell = self._vc
        return bool(cell.__class__ is list and cell[0] and self._payload.ndim)


def boxed(result) -> Any:
    """Return the result of an operation with boxes in place of arrays, in tuples and lists too.

    Integers and booleans, which have no derivative, become NumPy's own, except within rules.
    """
    cls = result.__class__
    if cls is ndarray or cls is Tensor:
        payload = result._payload
        if payload.dtype.kind in "biu" and not WALKING.get() and not isinstance(payload, Lifted):
            return payload if payload.ndim else payload[()]
        result.__class__ = ArrayBox
        return result
    if cls is tuple or cls is list:
        return cls([boxed(part) for part in result])
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return cls(*[boxed(part) for part in result])
    return result


def carries(box) -> bool:
    """Return whether a derivative follows a box."""
    payload = box._payload
    return box._edge is not None or (isinstance(payload, Lifted) and not payload.traced)


def isbox(x) -> bool:
    """Return whether `x` is an array inside a differentiated function."""
    return isinstance(x, TensorBase)


def holds_box(value) -> bool:
    """Return whether `value` is a box or a container that holds one."""
    if isinstance(value, TensorBase | Opaque):
        return True
    if isinstance(value, list | tuple):
        return any(map(holds_box, value))
    return isinstance(value, dict) and any(map(holds_box, value.values()))


def getval(x) -> Any:
    """Return the value of a box as NumPy's own array or number; return anything else unchanged."""
    if not isinstance(x, TensorBase):
        return x._value if isinstance(x, Opaque) else x
    payload: Any = x._payload
    while isinstance(payload, Dual):
        payload = payload.primal
    return _own(payload)


def _own(payload) -> Any:
    """Return a payload as NumPy's own array or number."""
    if isinstance(payload, Lifted) and payload.traced:
        payload = np.asarray(payload)
    return payload if payload.ndim else payload[()]


def plain(value) -> Any:
    """Apply `getval` to a value and to everything in its nested containers."""
    if isinstance(value, TensorBase):
        return getval(value)
    if isinstance(value, list | tuple) and holds_box(value):
        parts = [plain(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return value


def unboxed(value) -> Any:
    """Return a result for the caller: a box if an outer derivative follows it, else NumPy's own."""
    if not isinstance(value, TensorBase):
        return value
    return boxed(value) if carries(value) else _own(value._payload)


def released(value) -> Any:
    """Like `unboxed`, but return arrays that own their memory and can be written to."""
    result = unboxed(value)
    if result.__class__ is np.ndarray:
        owned = result.flags.owndata and result.flags.writeable
        return result if owned else np.array(result)
    return result


def leaf_of(value) -> Any:
    """Return a new box for a number or an array to differentiate with respect to.

    Raises
    ------
    TypeError: If it is neither; a Python int is refused too, as in HIPS autograd.
    """
    cls = value.__class__
    if cls is np.ndarray:
        kind = value.dtype.kind
        if kind not in "fc":
            if kind not in "biu":
                raise cannot(value, f" of dtype {value.dtype}: convert it to floats")
            value = value.astype(np.float64)
        elif not is_differentiable(value.dtype):
            value = value.astype(np.float64 if kind == "f" else np.complex128)
        box = new_tensor(value, LEAF)
    elif cls is float:
        box = new_tensor(np.float64(value), LEAF)
    elif cls is complex:
        box = new_tensor(np.complex128(value), LEAF)
    elif isinstance(value, np.floating | np.complexfloating):
        wide = value if is_differentiable(value.dtype) else complex(value)
        box = new_tensor(value if wide is value else _narrowed(value), LEAF)
    elif isinstance(value, np.ndarray):
        # a registered class of arrays counts as an array
        return leaf_of(np.asarray(unmasked(value)))
    elif cls in Box.type_mappings:
        return opaque_tensor(value, LEAF)
    elif isinstance(value, bool | int | np.bool_ | np.integer):
        raise cannot(value, f": a whole number has no derivative; write {float(value)}")
    else:
        raise cannot(
            value, ": arrays, floats, complex numbers, and lists, tuples and dicts of them"
        )
    box.__class__ = ArrayBox
    return box


def _narrowed(value) -> Any:
    return np.complex128(value) if value.dtype.kind == "c" else np.float64(value)


def cannot(value, more: str) -> TypeError:
    """Return the error for an argument that cannot be differentiated with respect to."""
    return TypeError(f"Can't differentiate w.r.t. type {type(value)}{more}")


# -- `Box`, for values of user-defined types -------------------------------------------------------

# NOTE [values of user-defined types]
# A program may define a type that is not an array, a vector space of its values (`VSpace`), a box
# for them (a subclass of `Box`), and primitives that take and return them. On the tape, the value
# is a tensor whose payload is an array of one object, and the box has the value's interface.
# Cotangents are passed as `Held`, so that the engine adds them by the vector space's addition. Only
# reverse mode of first order is supported.


class Opaque:
    """Base class for boxes of values of the user's own types, as opposed to boxes of arrays."""

    __slots__ = ()
    _node: Any
    _value: Any


def is_any_box(x) -> bool:
    """Return whether a value belongs to a function being differentiated."""
    return isinstance(x, TensorBase | Opaque)


class _BoxType(type):
    def __instancecheck__(cls, instance) -> bool:
        # the boxes of arrays are tensors, whose class has another layout
        return type.__instancecheck__(cls, instance) or (
            cls is Box and isinstance(instance, TensorBase)
        )


class Box(Opaque, metaclass=_BoxType):
    """A value inside a differentiated function; subclass it for your own types.

    ``class PointBox(Box, Point)`` and ``PointBox.register(Point)`` let functions be differentiated
    with respect to values of `Point`, for which a `VSpace` must be registered, too. Derivatives
    come from primitives, by `defvjp`. Only reverse mode of first order is supported.
    """

    __slots__ = ("_node", "_trace", "_value")
    _node: Any
    _value: Any
    type_mappings: ClassVar[dict[type, Any]] = {}

    def __init__(self, value, trace, node) -> None:
        self._value = value
        self._trace = trace
        self._node = node

    def __bool__(self) -> bool:
        return bool(self._value)

    def __str__(self) -> str:
        return f"Autograd {type(self).__name__} with value {self._value}"

    @classmethod
    def register(cls, value_type: type) -> None:
        """Register this class as the box for values of a type."""
        Box.type_mappings[value_type] = cls


COUNTED.append(Box.type_mappings)


def opaque_tensor(value, edge, cell=None) -> Any:
    """Return the tensor that represents a value of one of the user's own types on the tape."""
    payload = np.empty((), object)
    payload[()] = value
    return new_tensor(payload, edge, cell)


def is_opaque(tensor) -> bool:
    """Return whether a tensor represents a value of one of the user's own types."""
    return bool(tensor._payload.dtype.kind == "O")


def boxed_value(tensor) -> Any:
    """Return the box of the value that a tensor represents."""
    value = tensor._payload[()]
    return Box.type_mappings[type(value)](value, None, tensor)
