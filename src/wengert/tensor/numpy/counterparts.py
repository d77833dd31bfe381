"""Layer 6 · tensor: shared code of the counterparts of NumPy's functions.

NOTE [counterparts]
A counterpart takes the arguments of a NumPy function and computes with our operations, so it is
differentiable. The protocols find it by the name of NumPy's function (``"linalg.solve"``), and
`wengert.numpy` exports it under that name. Dtypes are promoted as in NumPy: a number adapts to the
arrays, arrays of any dimension are promoted to a common dtype, and numbers alone are float64.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.base.arrays import plain_array
from wengert.base.device import as_device
from wengert.base.device import device as _Device
from wengert.base.dtypes import as_dtype as _our_dtype
from wengert.base.dtypes import dtype as _OurDtype
from wengert.interp.levels import Lifted
from wengert.ops.exports import EXPORTS
from wengert.ops.join import stack
from wengert.ops.shape import reshape
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.operands import cast

RULES: dict[str, Callable[..., Any]] = {}
"""The counterparts by the name of NumPy's function, with its module within NumPy."""


def counterpart(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the counterpart of NumPy's functions of these names."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            RULES[name] = function
        function.__name__ = function.__qualname__ = names[0].rpartition(".")[2]
        return function

    return register


def counterparts(functions: dict[str, Callable[..., Any]]) -> None:
    """Register short functions, each by the names of NumPy's functions, with spaces between."""
    for names, function in functions.items():
        counterpart(*names.split())(function)


_ON_DEMAND = {"linalg": "linalg", "fft": "fourier"}
"""The modules of the counterparts of NumPy's own modules, imported when they are needed."""


def rule(name: str) -> Callable[..., Any] | None:
    """Return the counterpart of the function of this name (``linalg.solve``), or None."""
    module = _ON_DEMAND.get(name.partition(".")[0]) if "." in name else None
    if module is not None:
        importlib.import_module(f"wengert.tensor.numpy.{module}")
    return RULES.get(name)


def late(name: str) -> Callable[..., Any]:
    """Return a function of the package whose module is imported on first use."""
    return getattr(importlib.import_module(f"wengert.ops.{EXPORTS['wengert'][name]}"), name)


def tensor(value: Any) -> Any:
    """Return an array, number, tensor or nested list of these as a tensor."""
    if isinstance(value, TensorBase):
        return value
    if holds_tensor(value):
        return stack(common(*value), 0)
    array = plain_array(value) if isinstance(value, np.ndarray) else np.asarray(value)
    _our_dtype(array.dtype)  # a dtype that no tensor can have is refused
    return new_tensor(array)


def holds_tensor(value: Any) -> bool:
    """Return whether a nested list contains a tensor."""
    if isinstance(value, list | tuple):
        return any(holds_tensor(part) for part in value)
    return isinstance(value, TensorBase)


def is_weak(value: Any) -> bool:
    """Return whether `value` is a Python number, whose dtype adapts to those of arrays."""
    return isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic)


def values(value: Any) -> Any:
    """Return `value` with tensors, dtypes and devices converted to NumPy's, also within lists."""
    if isinstance(value, TensorBase):
        return value._array()
    if isinstance(value, list | tuple) and holds_tensor(value):
        parts = [values(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: values(part) for key, part in value.items()}
    if isinstance(value, _Device):
        return as_device(value).type
    return value.dtype if isinstance(value, _OurDtype) else value


def known(x: Any) -> Any:
    """Return the values of a tensor for decisions, without tangents."""
    payload = x._payload
    return payload.constant() if isinstance(payload, Lifted) else payload


def wrapped(result: Any) -> Any:
    """Return the result of a NumPy function with tensors in place of arrays."""
    if isinstance(result, np.ndarray | np.generic):
        return new_tensor(plain_array(result)) if result.dtype.kind in "biufc" else result
    if isinstance(result, list | tuple):
        parts = [wrapped(part) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def common(*values: Any) -> list[Any]:
    """Return `values` as tensors of the dtype that NumPy would compute in."""
    kind = None
    made = []
    for value in values:
        if value.__class__ is np.ndarray:
            value = new_tensor(plain_array(value))
        elif not isinstance(value, TensorBase):
            break
        if kind is not None and value._payload.dtype is not kind:
            break
        kind = value._payload.dtype
        made.append(value)
    if kind is not None and len(made) == len(values) and kind.kind in "biufc":
        return made
    made = [value if is_weak(value) else tensor(value) for value in values]
    kind = np.result_type(*[v._payload.dtype if isinstance(v, TensorBase) else v for v in made])
    return [as_dtype(value, kind) for value in made]


def floating(*values: Any) -> list[Any]:
    """Return `values` like `common`, in a floating or complex dtype: float64 for integers."""
    made = common(*values)
    if made[0]._payload.dtype.kind not in "biu":
        return made
    return [as_dtype(value, np.float64) for value in made]


def dtype_of(kind: Any) -> Any:
    """Return the NumPy dtype for `kind`: a NumPy dtype or ours, a type or a string."""
    return _our_dtype(kind).dtype if isinstance(kind, _OurDtype) else np.dtype(kind)


def as_dtype(value: Any, kind: Any) -> Any:
    """Return `value` as a tensor of the dtype `kind`; None keeps its dtype."""
    if kind is None:
        return tensor(value)
    kind = dtype_of(kind)
    if isinstance(value, TensorBase) or holds_tensor(value):
        return cast(tensor(value), kind)
    return tensor(np.asarray(value, kind))


def check_cast(what: str, given: Any, kind: Any, casting: str) -> None:
    """Raise a TypeError if a rule of NumPy's does not allow a dtype to become another."""
    allowed: Any = np.can_cast
    if not allowed(given, kind, casting):
        raise TypeError(
            f"Cannot cast {what} from {given!r} to {kind!r} according to the rule '{casting}': ask "
            "for another dtype, or give casting='unsafe'"
        )


def one_axis(a: Any, axis: int | None) -> tuple[Any, int]:
    """Return `a` and an axis of it; flattened if `axis` is None or `a` has no dimensions."""
    a = tensor(a)
    if axis is None or not a.ndim:
        return reshape(a, (-1,)), normal_axis(axis or 0, 1)
    return a, normal_axis(axis, a.ndim)


def normal_axis(axis: int, ndim: int) -> int:
    """Return an axis as a nonnegative number.

    Raises
    ------
    numpy.exceptions.AxisError: If it is out of bounds.
    """
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def all_axes(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Return axes as nonnegative numbers; all for None.

    Raises
    ------
    numpy.exceptions.AxisError: If one is out of bounds.
    ValueError: If one is given twice.
    """
    if axis is None:
        return tuple(range(ndim))
    several = (axis,) if not isinstance(axis, tuple | list) else axis
    found = tuple(normal_axis(a, ndim) for a in several)
    if len(set(found)) < len(found):
        raise ValueError(f"repeated axis: axes must be different, got {tuple(several)}")
    return found
