"""Layer 6 · tensor: what NumPy's own functions do with tensors.

Ufuncs and functions that have a counterpart in the table are recorded; they reach the tensor
through ``__array_ufunc__`` and ``__array_function__``. What reaches only ``__array__`` would copy
the values and lose the gradient: it raises for a tensor that requires one, unless recording is off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.cuts import note
from wengert.tape.modes import is_grad_enabled
from wengert.tape.record import record

__all__ = ["FUNCTIONS", "NumpyProtocol", "implements"]

_UFUNCS: dict[Any, str] = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.true_divide: "div",
    np.power: "pow",
    np.float_power: "pow",
    np.negative: "neg",
    np.absolute: "abs",
    np.fabs: "abs",
    np.exp: "exp",
    np.exp2: "exp2",
    np.expm1: "expm1",
    np.log: "log",
    np.log2: "log2",
    np.log10: "log10",
    np.log1p: "log1p",
    np.sqrt: "sqrt",
    np.reciprocal: "reciprocal",
    np.sin: "sin",
    np.cos: "cos",
    np.tan: "tan",
    np.arcsin: "asin",
    np.arccos: "acos",
    np.arctan: "atan",
    np.arctan2: "atan2",
    np.hypot: "hypot",
    np.sinh: "sinh",
    np.cosh: "cosh",
    np.tanh: "tanh",
    np.arcsinh: "asinh",
    np.arccosh: "acosh",
    np.arctanh: "atanh",
    np.sign: "sign",
    np.floor: "floor",
    np.ceil: "ceil",
    np.trunc: "trunc",
    np.rint: "round",
    np.maximum: "maximum",
    np.minimum: "minimum",
    np.fmod: "fmod",
    np.remainder: "remainder",
    np.floor_divide: "floor_divide",
    np.conjugate: "conj",
    np.equal: "eq",
    np.not_equal: "ne",
    np.less: "lt",
    np.less_equal: "le",
    np.greater: "gt",
    np.greater_equal: "ge",
    np.isnan: "isnan",
    np.isinf: "isinf",
    np.isfinite: "isfinite",
    np.logical_and: "logical_and",
    np.logical_or: "logical_or",
    np.logical_xor: "logical_xor",
    np.logical_not: "logical_not",
    np.bitwise_and: "bitwise_and",
    np.bitwise_or: "bitwise_or",
    np.bitwise_xor: "bitwise_xor",
    np.invert: "bitwise_not",
}

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy's functions and what stands for them, filled by `implements`."""

_REDUCTIONS = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}


def implements(function: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what stands for a function of NumPy's when it is called on tensors."""

    def register(ours: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS[function] = ours
        return ours

    return register


class NumpyProtocol:
    """The protocols by which NumPy hands its own functions to tensors."""

    __slots__ = ()
    __array_priority__ = 1000

    payload: Any
    edge: Any
    array: Callable[[], Any]

    def numpy(self, *, force: bool = False) -> Any:
        """The values as a NumPy array that shares the memory.

        Parameters
        ----------
        force : bool
            Detach first, where that is needed.

        Raises
        ------
        RuntimeError
            If the tensor requires a gradient, which the array could not carry.
        """
        if self.edge is not None and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                "instead."
            )
        if self.edge is not None:
            note(".numpy()", self)
        return self.array()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.edge is not None and is_grad_enabled():
            raise TypeError(
                "a tensor that needs a gradient was about to be copied into a plain NumPy array, "
                "losing its gradient\n  NumPy's array methods and np.asarray cannot be traced. "
                "Write A @ x or np.dot(A, x) for A.dot(x), np.stack([...]) for np.array([...]), a "
                "tensor for the array that is assigned to; or x.detach() if no gradient is wanted."
            )
        if self.edge is not None:
            note("np.asarray()", self)
        array = self.array()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError("a copy is needed to convert the dtype, and copy=False was given")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = _UFUNCS.get(ufunc)
        out = kwargs.pop("out", None)
        if out is not None:
            if any(isinstance(target, np.ndarray) for target in out):
                return _into_array(ufunc, method, inputs, out, kwargs)
            if name is not None and method == "__call__" and out[0] is inputs[0] and not kwargs:
                return getattr(inputs[0], f"{name}_")(*inputs[1:])
        elif name is not None and method == "__call__" and not kwargs:
            return record(TABLE[name], inputs, {})
        elif ufunc in FUNCTIONS and method == "__call__" and not kwargs:
            return FUNCTIONS[ufunc](*inputs)
        elif method == "reduce" and ufunc in _REDUCTIONS:
            kwargs.setdefault("axis", 0)
            return FUNCTIONS[_REDUCTIONS[ufunc]](*inputs, **kwargs)
        label = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        if out is not None:
            kwargs["out"] = tuple(plain(target, label) for target in out)
        result = getattr(ufunc, method)(*[plain(value, label) for value in inputs], **kwargs)
        return _wrapped(result)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        ours = FUNCTIONS.get(function)
        if ours is not None:
            return ours(*args, **kwargs)
        label = f"{function.__module__}.{function.__name__}"
        return function(*plain(list(args), label), **plain(kwargs, label))


def plain(value: Any, label: str) -> Any:
    """`value` with arrays in place of tensors, for a function that is not recorded.

    Raises
    ------
    NotImplementedError
        If a tensor requires a gradient, which the function would lose.
    """
    if isinstance(value, TensorBase):
        if value.edge is not None and is_grad_enabled():
            raise NotImplementedError(
                f"there is no derivative rule for {label}: called on a tensor that requires a "
                "gradient, it would lose it. Use operations of wengert, write an "
                "autograd.Function, or pass x.detach() if no gradient is wanted."
            )
        return value.array()
    if isinstance(value, list | tuple):
        return type(value)([plain(item, label) for item in value])
    if isinstance(value, dict):
        return {key: plain(item, label) for key, item in value.items()}
    return value


def _wrapped(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(_wrapped(item) for item in result)
    return new_tensor(result) if isinstance(result, np.ndarray | np.generic) else result


def _into_array(
    ufunc: Any, method: str, inputs: tuple[Any, ...], out: tuple[Any, ...], kwargs: Any
) -> Any:
    label = f"numpy.{ufunc.__name__}(..., out=array)"
    targets = tuple(plain(target, label) for target in out)
    values = [plain(value, label) for value in inputs]
    return getattr(ufunc, method)(*values, out=targets, **kwargs)
