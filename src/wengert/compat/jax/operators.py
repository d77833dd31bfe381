"""Layer 9 · compat: the operators of JAX's arrays. Importing this module puts them on the class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.error_states import errstate, quietly
from wengert.compat.jax.array import (
    Array,
    asarray,
    made,
    of_kind,
    promote,
    promote_inexact,
)
from wengert.compat.jax.checks import (
    all_ones,
    broadcast,
    by_zero,
    check_contracted,
    check_dtype,
    check_shapes,
    quiet,
)
from wengert.compat.jax.classes import OPERATORS
from wengert.compat.jax.settings import WATCHED, check_finite
from wengert.compat.jax.values import is_lifted
from wengert.compat.jax.words import refusal
from wengert.ops.matmul import matmul as _matmul
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T
from wengert.tensor.numpy.ufuncs import call as call_ufunc
from wengert.tensor.tensor import Tensor


def _is_operand(value) -> bool:
    """Return whether an operator takes `value`: arrays and numbers, but not lists."""
    plain = TensorBase | np.ndarray | np.generic | bool | int | float | complex
    return isinstance(value, plain) or hasattr(value, "__jax_array__")


def operands(name: str, a, b, kinds: str = "biufc", inexact: bool = False) -> Any:
    """Return both operands in one dtype, after checking the dtype kinds and the shapes."""
    x, y = promote_inexact(a, b) if inexact else promote(a, b)
    check_dtype(name, x, kinds, 0)
    check_shapes(name, x, y)
    return x, y


def numbers(name: str, a, b, kinds: str = "iufc") -> Any:
    """Like `operands`, but booleans count as integers."""
    x, y = promote(a, b)
    if x._payload.dtype.kind == "b":
        x, y = asarray(x, int), asarray(y, int)
    check_dtype(name, x, kinds, 0)
    check_shapes(name, x, y)
    return x, y


# -- rules that are more than one primitive --------------------------------------------------------


def _known_integer(x) -> int | None:
    """Return the value of an integer that no transform follows, or None."""
    if isinstance(x, TensorBase):
        payload = x._payload
        if isinstance(payload, np.ndarray | np.generic) and not payload.ndim:
            return payload.item() if payload.dtype.kind in "iu" else None
    return x if isinstance(x, int) else int(x) if isinstance(x, np.integer) else None


def power(a, b) -> Any:
    """Return ``a ** b``; integers to integer powers stay integers."""
    known = _known_integer(b)
    if known is not None:
        x, _ = numbers("pow", a, a)
        if x._payload.dtype.kind in "iu" and known < 0:
            raise refusal(TypeError, "Integers cannot be raised", x, known, float(known))
        return made(quiet("pow_scalar")(x, exponent=known), x.weak_type)
    x, y = numbers("pow", a, b)
    if x._payload.dtype.kind in "iu":
        return _whole_power(x, y)
    # a Python float to the powers of an array of integers has the dtype of an array
    weak = x.weak_type and not (isinstance(b, TensorBase) and b._payload.dtype.kind in "iu")
    return made(quiet("pow")(x, y), weak)


@errstate(all="ignore")
def _whole_power(a, b) -> Any:
    negatives = T.lt(b, 0)
    raised = T.pow(a, T.where(negatives, T.sub(b, b), b))
    # 1 and -1 have integer inverses
    small = T.where(T.eq(a, 1), a, T.where(T.eq(a, -1), T.pow(a, T.remainder(b, 2)), T.sub(a, a)))
    return made(T.where(negatives, small, raised))


def _quotient_by_zero(x, dtype: np.dtype[Any]) -> Any:
    ones = all_ones(x, dtype)
    # the quotient -1 is rounded down if there is a remainder
    return ones if dtype.kind == "u" else T.where(T.eq(x, 0), new_tensor(ones), dtype.type(-2))


def floor_quotient(a, b) -> Any:
    """Return ``a // b``, rounded down."""
    x, y = numbers("floor_divide", a, b, "iuf")
    return made(by_zero("floor_divide", x, y, _quotient_by_zero), x.weak_type)


def remainder(a, b) -> Any:
    """Return ``a % b``, with the sign of `b`."""
    x, y = numbers("rem", a, b, "iuf")
    return made(by_zero("remainder", x, y, lambda x, dtype: dtype.type(0)), x.weak_type)


_product = errstate(all="ignore")(_matmul)


def matmul(a, b) -> Any:
    """Return ``a @ b``."""
    x, y = promote(a, b)
    for place, operand in enumerate((x, y)):
        if not operand._payload.ndim:
            raise refusal(TypeError, "matmul input operand {}", place)
    left, right = x._payload.shape, y._payload.shape
    check_contracted(left, right)
    if len(left) > 2 or len(right) > 2:
        broadcast(left[:-2], right[:-2], of=f" of the operands of matmul, {left} and {right}")
    if x._payload.dtype.kind == "b":
        whole = _matmul(
            T.to_copy(x, dtype=np.dtype("int32")), T.to_copy(y, dtype=np.dtype("int32"))
        )
        return made(T.gt(whole, 0))
    return made(_product(x, y), x.weak_type)


def negative(x) -> Any:
    """Return ``-x``."""
    check_dtype("neg", x, "iufc")
    if x._payload.dtype.kind == "u":
        return made(T.sub(new_tensor(x._payload.dtype.type(0)), x), x.weak_type)
    return made(T.neg(x), x.weak_type)


def absolute(x) -> Any:
    """Return ``abs(x)``; its derivative at 0 is 1, as in JAX."""
    kind = x._payload.dtype.kind
    if kind == "b" or kind == "u":
        return of_kind(x, x.__class__)
    followed = x._edge is not None or is_lifted(x._payload)
    if followed and kind == "f":
        sign = T.copysign(new_tensor(x._payload.dtype.type(1)), Tensor.detach(x))
        return made(T.mul(x, sign), x.weak_type)
    return made(T.abs(x), x.weak_type)


def _invert(x) -> Any:
    check_dtype("not", x, "biu")
    return made(T.bitwise_not(x), x.weak_type)


# -- the class -------------------------------------------------------------------------------------

_ARITHMETIC: dict[str, tuple[str, str, Any]] = {
    "add": ("add", "biufc", np.add),
    "sub": ("sub", "iufc", np.subtract),
    "mul": ("mul", "biufc", np.multiply),
    "truediv": ("div", "biufc", np.true_divide),
    "and": ("bitwise_and", "biu", np.bitwise_and),
    "or": ("bitwise_or", "biu", np.bitwise_or),
    "xor": ("bitwise_xor", "biu", np.bitwise_xor),
    "lshift": ("bitwise_left_shift", "iu", np.left_shift),
    "rshift": ("bitwise_right_shift", "iu", np.right_shift),
}
_COMPARISONS: dict[str, tuple[str, Any]] = {
    "eq": ("eq", np.equal),
    "ne": ("ne", np.not_equal),
    "lt": ("lt", np.less),
    "le": ("le", np.less_equal),
    "gt": ("gt", np.greater),
    "ge": ("ge", np.greater_equal),
}
_OTHERS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "pow": (power, np.power),
    "floordiv": (floor_quotient, np.floor_divide),
    "mod": (remainder, np.remainder),
    "divmod": (lambda a, b: (floor_quotient(a, b), remainder(a, b)), np.divmod),
    "matmul": (matmul, np.matmul),
}
_OF_NUMBER = {"add": "add_scalar", "mul": "mul_scalar", "sub": "rsub_scalar"}
"""The primitives for operators whose left operand is a Python number."""
_LABELS = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}


def _named(function: Callable[..., Any], name: str) -> None:
    function.__name__ = name
    function.__qualname__ = f"Array.{name}"
    setattr(Array, name, function)


def _install(symbol: str, prim: str, kinds: str, ufunc) -> None:
    """Install an arithmetic operator on the class; for floats of one dtype it is the primitive."""
    label, inexact = _LABELS.get(prim, prim), symbol == "truediv"
    with_number, of_number = f"{prim}_scalar", _OF_NUMBER.get(prim, "")
    floats = "f" in kinds

    def operator(self, other) -> Any:
        cls, kind = self.__class__, self._payload.dtype
        if floats and kind.kind == "f":
            same = other.__class__
            if same is float or same is int:
                result = quiet(with_number)(self, other=other)
                if WATCHED:
                    check_finite(result, label)
                result.__class__ = cls
                return result
            if same is Array and cls is Array and other._payload.dtype is kind:
                if self._payload.shape != other._payload.shape:
                    check_shapes(label, self, other)
                result = quiet(prim)(self, other)
                if WATCHED:
                    check_finite(result, label)
                result.__class__ = Array
                return result
        if not _is_operand(other):
            return NotImplemented
        a, b = operands(label, self, other, kinds, inexact)
        return made(quiet(prim)(a, b), a.weak_type)

    def reflected(self, other) -> Any:
        same = other.__class__
        number = of_number and (same is float or same is int)
        if number and self._payload.dtype.kind == "f":
            return made(quiet(of_number)(self, other=other), self.weak_type)
        if not _is_operand(other):
            return NotImplemented
        a, b = operands(label, other, self, kinds, inexact)
        return made(quiet(prim)(a, b), a.weak_type)

    _named(operator, f"__{symbol}__")
    _named(reflected, f"__r{symbol}__")
    OPERATORS[ufunc] = lambda a, b: operator(asarray(a), b)


def _install_comparison(symbol: str, prim: str, ufunc) -> None:
    def operator(self, other) -> Any:
        if not _is_operand(other):
            return NotImplemented
        a, b = operands(prim, self, other)
        if a._payload.dtype.kind == "c":
            return made(quietly(call_ufunc, ufunc, a, b))
        return made(quiet(prim)(a, b))

    _named(operator, f"__{symbol}__")
    OPERATORS[ufunc] = lambda a, b: operator(asarray(a), b)


def _install_other(symbol: str, rule: Callable[[Any, Any], Any], ufunc) -> None:
    def operator(self, other) -> Any:
        return rule(self, other) if _is_operand(other) else NotImplemented

    def reflected(self, other) -> Any:
        return rule(other, self) if _is_operand(other) else NotImplemented

    _named(operator, f"__{symbol}__")
    _named(reflected, f"__r{symbol}__")
    OPERATORS[ufunc] = lambda a, b: operator(asarray(a), b)


def _rebinds(symbol: str) -> None:
    """Build ``x += y``, which makes a new array, since the old one is immutable."""
    plain = getattr(Array, f"__{symbol}__")

    def operator(self, other) -> Any:
        return plain(self, other)

    _named(operator, f"__i{symbol}__")


for _symbol, (_prim, _kinds, _ufunc) in _ARITHMETIC.items():
    _install(_symbol, _prim, _kinds, _ufunc)
for _symbol, (_prim, _ufunc) in _COMPARISONS.items():
    _install_comparison(_symbol, _prim, _ufunc)
for _symbol, (_rule, _ufunc) in _OTHERS.items():
    _install_other(_symbol, _rule, _ufunc)
for _symbol in (*_ARITHMETIC, *_OTHERS):
    if _symbol != "divmod":
        _rebinds(_symbol)


def _unary(name: str, rule: Callable[[Any], Any]) -> None:
    def operator(self) -> Any:
        return rule(self)

    _named(operator, name)


_unary("__neg__", negative)
_unary("__abs__", absolute)
_unary("__invert__", _invert)
_unary("__pos__", lambda x: x)
