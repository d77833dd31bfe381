"""Layer 9 · compat: the operators of TensorFlow's tensors and variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert.base.error_states import quietly
from wengert.compat.kit.signatures import named
from wengert.compat.tensorflow.dtypes import of_numpy
from wengert.compat.tensorflow.errors import invalid
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.tensor import Tensor, entered, made, same_dtype, tensor_of
from wengert.compat.tensorflow.words import refusal
from wengert.ops.matmul import matmul
from wengert.tape.base import new_tensor
from wengert.tape.record import T
from wengert.tensor.tensor import Tensor as NativeTensor

__all__ = ["OPERATORS", "check_divisor", "floor_modulus", "floor_quotient", "install", "power"]

_WHOLE = (*V.INTEGERS, "bool")


def _computed(op_name: str, function: Callable[..., Any], a, b) -> Any:
    """Apply an operation to tensors of one dtype; raise TensorFlow's error for the shapes."""
    try:
        return made(quietly(function, a, b))
    except RuntimeError as error:
        try:
            np.broadcast_shapes(tuple(a._payload.shape), tuple(b._payload.shape))
        except ValueError:
            raise invalid(f"Incompatible shapes: {_listed(a)} vs. {_listed(b)}", op_name) from None
        raise error


def _listed(tensor) -> str:
    return V.shown(tensor._payload.shape)


def _arithmetic(op_name: str, function: Callable[..., Any], method: str) -> Callable[..., Any]:
    def operation(a, b) -> Any:
        number = b.__class__ is float or b.__class__ is int
        if number and a.__class__ is Tensor and a._payload.dtype.kind == "f":
            # fast path: the number does not become a tensor
            return made(quietly(getattr(NativeTensor, method), entered(a), b))
        a, b = same_dtype(op_name, a, b)
        if a._payload.dtype.kind == "b":
            if op_name != "Mul":
                V.check(a, V.NUMBERS, op=op_name)
            return _computed(op_name, T.bitwise_and, a, b)
        return _computed(op_name, function, a, b)

    return operation


def _divided(a, b) -> Any:
    """Divide; integers are divided as floating-point numbers."""
    kinds = [x.dtype for x in (a, b) if isinstance(x, Tensor) or hasattr(x, "_as_tensor")]
    if len(kinds) == 2 and kinds[0] is not kinds[1]:
        raise refusal(
            TypeError, "`x` and `y` must have the same dtype, got {!r} != {!r}.", kinds[0], kinds[1]
        )
    a, b = same_dtype("RealDiv", a, b)
    kind = a._payload.dtype
    if kind.kind == "b":
        raise refusal(TypeError, "Invalid dtype {!r}", of_numpy(kind))
    if kind.kind in "iu":
        wide = np.dtype(np.float32 if kind.itemsize < 4 else np.float64)
        a, b = (made(T.to_copy(x, dtype=wide)) for x in (a, b))
    return _computed("RealDiv", T.div, a, b)


def power(a, b) -> Any:
    """Return the power, whose derivative in the exponent is 0 where the logarithm is undefined."""
    if b._payload.dtype.kind == "i" and np.any(V.numbers_of(b) < 0):
        raise invalid("Integers to negative integer powers are not allowed", "Pow")
    if (b._edge is not None or V.is_mapped(b)) and V.kind_of(a) == "f":
        plain = T.pow(a, b.detach())
        known = wg.gt(a, 0) | wg.isnan(plain)
        safe = wg.where(known, a, wg.ones_like(a))
        return wg.where(known, T.pow(safe, b), plain)
    return T.pow(a, b)


def floor_quotient(a, b) -> Any:
    """Return the quotient, rounded down; it passes no gradient on."""
    check_divisor("FloorDiv", b)
    a, b = a.detach(), b.detach()
    return T.floor(T.div(a, b)) if a._payload.dtype.kind == "f" else T.floor_divide(a, b)


def floor_modulus(a, b) -> Any:
    """Return the remainder, whose derivative with respect to `b` is minus TensorFlow's `floordiv`.

    That rounds the quotient before it is cut: by 0.1 it is 60 of 6, though 59 times fit.
    """
    check_divisor("FloorMod", b)
    whole = wg.remainder(a, b)
    if b._edge is None or b._payload.dtype.kind != "f":
        return whole
    slope = wg.neg(wg.mul(floor_quotient(a, b), b))
    known = wg.isfinite(slope).detach()
    slope = wg.where(known, slope, wg.zeros_like(slope))
    return wg.where(known, wg.remainder(a, b.detach()) + (slope - slope.detach()), whole)


def check_divisor(op_name: str, b) -> None:
    """Raise an error if whole numbers are divided by 0."""
    if b._payload.dtype.kind in "iu" and not np.all(np.asarray(b._payload)):
        raise invalid("Integer division by zero", op_name)


def _of_kinds(op_name: str, kinds: tuple[str, ...], function: Callable[..., Any]) -> Any:
    def operation(a, b) -> Any:
        a, b = same_dtype(op_name, a, b)
        V.check(a, kinds, op=op_name)
        return _computed(op_name, function, a, b)

    return operation


def _equality(op_name: str, prim: str, otherwise: bool) -> Callable[..., Any]:
    def operation(a, b) -> Any:
        if a is None or b is None:
            return otherwise
        a, b = same_dtype(op_name, a, b)
        try:
            return made(getattr(T, prim)(a, b))
        except RuntimeError:
            # the shapes do not broadcast: no element is equal
            return made(new_tensor(np.bool_(otherwise)))

    return operation


def _product(a, b) -> Any:
    a, b = same_dtype("MatMul", a, b)
    n, m = a._payload.ndim, b._payload.ndim
    V.check(a, V.NUMBERS, op="MatMul")
    sizes = _listed(a), _listed(b)
    if n < 2 or m < 2:
        if n != m:
            raise invalid(f"In[0] and In[1] has different ndims: {' vs. '.join(sizes)}", "MatMul")
        raise invalid(f"In[0] and In[1] ndims must be == 2: {n}", "MatMul")
    if a._payload.shape[-1] != b._payload.shape[-2]:
        raise invalid(
            f"Matrix size-incompatible: In[0]: {sizes[0]}, In[1]: {sizes[1]}",
            "MatMul" if n == m == 2 else "BatchMatMulV2",
        )
    return _computed("BatchMatMulV2", matmul, a, b)


def _alone(op_name: str, kinds: tuple[str, ...], function: Callable[..., Any]) -> Any:
    def operation(a) -> Any:
        a = tensor_of(a)
        V.check(a, kinds, op=op_name)
        return made(function(a))

    return operation


OPERATORS: dict[str, Callable[..., Any]] = {
    "add": _arithmetic("AddV2", T.add, "__add__"),
    "sub": _arithmetic("Sub", T.sub, "__sub__"),
    "mul": _arithmetic("Mul", T.mul, "__mul__"),
    "pow": _arithmetic("Pow", power, "__pow__"),
    "truediv": _divided,
    "floordiv": _of_kinds("FloorDiv", V.REAL, floor_quotient),
    "mod": _of_kinds("FloorMod", V.REAL, floor_modulus),
    "matmul": _product,
    "and": _of_kinds("BitwiseAnd", _WHOLE, T.bitwise_and),
    "or": _of_kinds("BitwiseOr", _WHOLE, T.bitwise_or),
    "xor": _of_kinds("BitwiseXor", _WHOLE, T.bitwise_xor),
    "lt": _of_kinds("Less", V.REAL, T.lt),
    "le": _of_kinds("LessEqual", V.REAL, T.le),
    "gt": _of_kinds("Greater", V.REAL, T.gt),
    "ge": _of_kinds("GreaterEqual", V.REAL, T.ge),
    "eq": _equality("Equal", "eq", False),
    "ne": _equality("NotEqual", "ne", True),
    "neg": _alone("Neg", V.NUMBERS, T.neg),
    "invert": _alone("Invert", _WHOLE, T.bitwise_not),
    "abs": _alone("Abs", V.NUMBERS, T.abs),
}
_ALONE = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "neg", "invert", "abs"})
"""Operators that have no other form, for a tensor on the right or in place."""


def _unsupported(symbol: str) -> Callable[..., Any]:
    def operator(*_) -> Any:
        return NotImplemented

    return named(operator, symbol)


def install(cls: type, in_place=True) -> None:
    """Install the operators on the class of tensors or of variables."""
    for name, operation in OPERATORS.items():
        setattr(cls, f"__{name}__", _method(f"__{name}__", operation))
        if name not in _ALONE:
            setattr(cls, f"__r{name}__", _reflected(f"__r{name}__", operation))
            if in_place:
                setattr(cls, f"__i{name}__", _method(f"__i{name}__", operation))


def _method(symbol: str, operation: Callable[..., Any]) -> Callable[..., Any]:
    def operator(self, *other) -> Any:
        return operation(self, *other)

    return named(operator, symbol)


def _reflected(symbol: str, operation: Callable[..., Any]) -> Callable[..., Any]:
    def operator(self, other) -> Any:
        # NumPy scalars and lists are converted to the tensor's dtype, not the reverse
        return operation(other, self)

    return named(operator, symbol)


install(Tensor)
for _symbol in ("lshift", "rshift", "divmod"):
    for _form in (f"__{_symbol}__", f"__r{_symbol}__", f"__i{_symbol}__"):
        setattr(Tensor, _form, _unsupported(_form))
