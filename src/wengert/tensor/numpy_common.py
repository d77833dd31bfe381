"""Layer 6 · tensor: what the counterparts of NumPy's functions have in common.

NOTE [counterparts]
A counterpart takes the arguments of a function of NumPy's and computes with operations of ours, so
that it differentiates. The protocols find it by the name of NumPy's function (``"linalg.solve"``),
and `wengert.numpy` shows it under that name. dtypes are promoted as NumPy does it: a number adapts
to the arrays, arrays of any dimension meet in a common dtype, and numbers alone are float64.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.base.dtypes import from_numpy_dtype
from wengert.ops.cast import to
from wengert.ops.join import stack
from wengert.ops.later import FUNCTIONS as LATER
from wengert.ops.shape import reshape
from wengert.tape.base import TensorBase, new_tensor

__all__ = [
    "RULES",
    "all_axes",
    "as_dtype",
    "common",
    "counterpart",
    "floating",
    "late",
    "normal_axis",
    "one_axis",
    "tensor",
    "tensors",
]

RULES: dict[str, Callable[..., Any]] = {}
"""The counterparts by the name of NumPy's function, with its module within NumPy."""


def counterpart(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as that which stands for NumPy's functions of these names."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            RULES[name] = function
        function.__name__ = function.__qualname__ = names[0].rpartition(".")[2]
        return function

    return register


def late(name: str) -> Callable[..., Any]:
    """A function of the package whose module is imported when it is needed."""
    function: Callable[..., Any] = getattr(
        importlib.import_module(f"wengert.ops.{LATER[name]}"), name
    )
    return function


def tensor(value: Any) -> Any:
    """An array, number, tensor or nested list of these as a tensor."""
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, list | tuple) and _holds_tensor(value):
        parts = common(*[tensor(part) for part in value])
        return stack(parts, 0)
    return new_tensor(np.asarray(value))


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_tensor(part) for part in value)
    return isinstance(value, TensorBase)


def tensors(values: Any) -> list[Any]:
    """Each of several values, or of the rows of a tensor, as a tensor."""
    return [tensor(value) for value in values]


def _weak(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic)


def common(*values: Any) -> list[Any]:
    """Tensors of the dtype that NumPy would compute in with `values`."""
    kinds = [
        value.payload.dtype
        if isinstance(value, TensorBase)
        else value
        if _weak(value)
        else np.asarray(value).dtype
        for value in values
    ]
    kind = np.result_type(*kinds)
    return [as_dtype(value, kind) for value in values]


def floating(*values: Any) -> list[Any]:
    """`common`, of a floating or complex dtype: float64 for integers."""
    made = common(*values)
    if made[0].payload.dtype.kind in "fc":
        return made
    return [as_dtype(value, np.dtype(np.float64)) for value in made]


def as_dtype(value: Any, kind: Any) -> Any:
    """`value` as a tensor of the NumPy dtype `kind`; as it is, for None."""
    if kind is None:
        return tensor(value)
    kind = np.dtype(kind)
    if not isinstance(value, TensorBase):
        if not _holds_tensor(value):
            return new_tensor(np.asarray(value, kind))
        value = tensor(value)
    return value if value.payload.dtype == kind else to(value, from_numpy_dtype(kind))


def one_axis(a: Any, axis: int | None) -> tuple[Any, int]:
    """`a` and an axis of it; flattened if `axis` is None."""
    a = tensor(a)
    if axis is None:
        return reshape(a, (-1,)), 0
    return a, normal_axis(axis, a.ndim)


def normal_axis(axis: int, ndim: int) -> int:
    """An axis from the front.

    Raises
    ------
    numpy.exceptions.AxisError
        If it is out of bounds.
    """
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def all_axes(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Axes from the front; all for None."""
    if axis is None:
        return tuple(range(ndim))
    several = (axis,) if not isinstance(axis, tuple | list) else axis
    return tuple(normal_axis(a, ndim) for a in several)
