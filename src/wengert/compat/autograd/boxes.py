"""Layer 9 · compat: `ArrayBox`, the array that a differentiated function sees.

NOTE [boxes]
As in HIPS autograd, values are NumPy's own arrays and numbers outside of differentiation, and boxes
inside. A box is an array of `wengert.numpy`, so it has that class's operations and can be written
to; what a function of a box gives is a box, unless it depends on no gradient (a comparison, a
position, a rounded number): then it is NumPy's, as there. `boxed` makes results into boxes by
changing their class, and the tape never knows.

NOTE [sums in place]
For HIPS autograd ``y += x`` inside of a differentiated function is ``y = y + x``, whoever else
holds `y`. So it is here, but for arrays that are there to be written to: those of `zeros` and its
like, and those that have been written to. They, and views of them, are changed in place.
"""

from __future__ import annotations

from contextvars import ContextVar
from sys import _getframe
from typing import Any

import numpy as np

from wengert.base.arrays import unmasked
from wengert.base.dtypes import is_differentiable
from wengert.base.sections import fill_sections
from wengert.compat.autograd.opaque import Box, Opaque, opaque_tensor
from wengert.interp.dual import Dual
from wengert.interp.levels import Lifted
from wengert.numpy import methods
from wengert.numpy.arrays import ndarray
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tensor.numpy.boundary import check_number
from wengert.tensor.tensor import Tensor

REQUIRES = (methods,)

TRACING: ContextVar[tuple[Any, list[Any]] | None] = ContextVar("TRACING", default=None)
"""The functions that are being differentiated: those further out, and the innermost one's boxes."""

WALKING: ContextVar[bool] = ContextVar("WALKING", default=False)
"""Whether rules of the tape may be running on boxes: they need comparisons that are tensors."""


class ArrayBox(ndarray):
    """An array inside of a differentiated function.

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
    __array_priority__ = 100.0  # type: ignore[assignment]  # as there
    __hash__ = TensorBase.__hash__

    @property
    def _value(self) -> Any:
        """The value as NumPy's own array or number; no gradient flows from it."""
        return getval(self)

    @property
    def _node(self) -> Any:
        """Where the gradient goes, or None."""
        return self.edge

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]  # NumPy's
        """The number of elements in each dimension."""
        return tuple(self.payload.shape)

    def __array__(self, dtype=None, copy: bool | None = None) -> Any:
        """The values as whole numbers, or as booleans; fractions would lose their derivative."""
        if dtype is not None and np.dtype(dtype).kind in "biu":
            return np.array(getval(self), dtype)
        return ndarray.__array__(self, dtype, copy)

    def __float__(self) -> float:
        if carries(self):
            check_number(self, _getframe(1))
            raise self._no_number("float", "a string or a real number")
        return float(self._number())

    def __int__(self) -> int:
        if carries(self):
            check_number(self, _getframe(1))
            raise self._no_number("int", "a string, a bytes-like object or a real number")
        return int(self._number())

    def __complex__(self) -> complex:
        if carries(self):
            check_number(self, _getframe(1))
            raise self._no_number("complex", "a string or a number")
        return complex(self._number())

    def _no_number(self, kind: str, what: str) -> TypeError:
        return TypeError(
            f"{kind}() argument must be {what}, not 'ArrayBox': the derivative would be lost. If "
            f"none is wanted, write {kind}(x._value)"
        )

    def __str__(self) -> str:
        return f"Autograd ArrayBox with value {getval(self)}"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(getval(self), spec) if spec else str(self)

    def __setitem__(self, index, value) -> None:
        """Write the elements that an index names; recorded."""
        if self._of_argument():
            raise TypeError(
                "'ArrayBox' object does not support item assignment where it is an argument of "
                "the function that is differentiated, or a view of one: write x = np.array(x) "
                "first, and assign to that"
            )
        ndarray.__setitem__(self, index, value)

    def _of_argument(self) -> bool:
        base = None if self.ext is None else self.ext.base
        return self.edge is LEAF or (base is not None and base.edge is LEAF)

    def _may_be_written(self) -> bool:
        """Whether a sum in place writes (NOTE [sums in place])."""
        cell = self.vc
        return bool(cell.__class__ is list and cell[0] and self.payload.ndim)


def boxed(result) -> Any:
    """What an operation gave, with boxes in place of arrays, in tuples and lists too.

    Whole numbers and booleans, which have no derivative, are NumPy's own, but for rules.
    """
    cls = result.__class__
    if cls is ndarray or cls is Tensor:
        payload = result.payload
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
    """Whether a derivative follows a box."""
    return box.edge is not None or isinstance(box.payload, Lifted)


def isbox(x) -> bool:
    """Whether `x` is an array inside of a differentiated function."""
    return isinstance(x, TensorBase)


def holds_box(value) -> bool:
    """Whether a box is `value`, or in a nested container."""
    if isinstance(value, TensorBase | Opaque):
        return True
    if isinstance(value, list | tuple):
        return any(map(holds_box, value))
    return isinstance(value, dict) and any(map(holds_box, value.values()))


def getval(x) -> Any:
    """The value of a box as NumPy's own array or number; anything else as it is."""
    if not isinstance(x, TensorBase):
        return x._value if isinstance(x, Opaque) else x
    payload: Any = x.payload
    while isinstance(payload, Dual):
        payload = payload.primal
    return payload if payload.ndim else payload[()]


def plain(value) -> Any:
    """`getval` of a value and of all that is in nested containers."""
    if isinstance(value, TensorBase):
        return getval(value)
    if isinstance(value, list | tuple) and holds_box(value):
        parts = [plain(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return value


def unboxed(value) -> Any:
    """A result for the outside: a box if an outer derivative follows it, else NumPy's own."""
    if not isinstance(value, TensorBase):
        return value
    payload: Any = value.payload
    if carries(value):
        return boxed(value)
    return payload if payload.ndim else payload[()]


def released(value) -> Any:
    """As `unboxed`, in memory of its own: arrays that may be written to."""
    result = unboxed(value)
    if result.__class__ is np.ndarray:
        owned = result.flags.owndata and result.flags.writeable
        return result if owned else np.array(result)
    return result


def leaf_of(value) -> Any:
    """A box of one's own over a number or an array that is to be differentiated by.

    Raises
    ------
    TypeError: If it is neither: for a Python int, say, as in HIPS autograd.
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
        # a class of arrays that a package registers is an array, too
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
    """The error about an argument that cannot be differentiated by."""
    return TypeError(f"Can't differentiate w.r.t. type {type(value)}{more}")


fill_sections(globals())
