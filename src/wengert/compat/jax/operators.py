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
from wengert.compat.kit.operators import ARITHMETIC, COMPARISONS, PRIMITIVES
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

_KINDS = {
    **dict.fromkeys(("add", "mul", "truediv"), "biufc"),
    "sub": "iufc",
    **dict.fromkeys(("and", "or", "xor"), "biu"),
    **dict.fromkeys(("lshift", "rshift"), "iu"),
}
"""The kinds of dtypes that arithmetic operators take."""
_OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "pow": power,
    "floordiv": floor_quotient,
    "mod": remainder,
    "divmod": lambda a, b: (floor_quotient(a, b), remainder(a, b)),
    "matmul": matmul,
}
_OF_NUMBER = {"add": "add_scalar", "mul": "mul_scalar", "sub": "rsub_scalar"}
"""The primitives for operators whose left operand is a Python number."""
_LABELS = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}


def _named(function: Callable[..., Any], name: str) -> None:
    function.__name__ = name
    function.__qualname__ = f"Array.{name}"
    setattr(Array, name, function)


def _install(symbol: str, operator, reflected=None) -> None:
    """Install an operator and its reflected form; ``x += y`` makes a new array, too."""
    _named(operator, f"__{symbol}__")
    ufunc = getattr(np, COMPARISONS.get(symbol) or ARITHMETIC[symbol])
    OPERATORS[ufunc] = lambda a, b: operator(asarray(a), b)
    if reflected is None:
        return
    _named(reflected, f"__r{symbol}__")

    def rebinds(self, other) -> Any:
        return operator(self, other)

    if symbol != "divmod":
        _named(rebinds, f"__i{symbol}__")


def _install_arithmetic(symbol: str, kinds: str) -> None:
    """Install an arithmetic operator on the class; for floats of one dtype it is the primitive."""
    prim = PRIMITIVES.get(symbol) or f"bitwise_{ARITHMETIC[symbol]}"
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

    _install(symbol, operator, reflected)


def _install_comparison(symbol: str, ufunc) -> None:
    def operator(self, other) -> Any:
        if not _is_operand(other):
            return NotImplemented
        a, b = operands(symbol, self, other)
        if a._payload.dtype.kind == "c":
            return made(quietly(call_ufunc, ufunc, a, b))
        return made(quiet(symbol)(a, b))

    _install(symbol, operator)


def _install_other(symbol: str, rule: Callable[[Any, Any], Any]) -> None:
    def operator(self, other) -> Any:
        return rule(self, other) if _is_operand(other) else NotImplemented

    def reflected(self, other) -> Any:
        return rule(other, self) if _is_operand(other) else NotImplemented

    _install(symbol, operator, reflected)


for _symbol, _kinds in _KINDS.items():
    _install_arithmetic(_symbol, _kinds)
for _symbol, _numpys in COMPARISONS.items():
    _install_comparison(_symbol, getattr(np, _numpys))
for _symbol, _rule in _OTHERS.items():
    _install_other(_symbol, _rule)


def _unary(name: str, rule: Callable[[Any], Any]) -> None:
    def operator(self) -> Any:
        return rule(self)

    _named(operator, name)


_unary("__neg__", negative)
_unary("__abs__", absolute)
_unary("__invert__", _invert)
_unary("__pos__", lambda x: x)
