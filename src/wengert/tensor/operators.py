"""Layer 6 · tensor: the infix operators, generated on first use.

The function behind ``x * y`` is the primitive's own recorder (see NOTE [generated code]), so there
is no wrapper between an operator and the tape. To generate all of them would slow down the import,
so each is a stub until its first call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.base.arrays import column, constant
from wengert.base.patches import put
from wengert.ops.matmul import matmul
from wengert.prims.facet import OPERATOR
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase
from wengert.tape.operands import is_number
from wengert.tape.record import T, record
from wengert.tape.specialise import operator

_ARRAYS = (TensorBase, np.ndarray)


class TensorOperators:
    """The handwritten operators; `install_operators` adds the generated ones."""

    __slots__ = ()
    _payload: Any

    # defining `__eq__`, below or later, would remove it; as keys, tensors are equal by identity
    __hash__ = TensorBase.__hash__

    def __lshift__(self: Any, other: Any) -> Any:
        return self.bitwise_left_shift(other) if _operand(other) else NotImplemented

    def __rshift__(self: Any, other: Any) -> Any:
        return self.bitwise_right_shift(other) if _operand(other) else NotImplemented

    def __rlshift__(self: Any, other: Any) -> Any:
        known = _operand(other)
        return self.new_full((), other).bitwise_left_shift(self) if known else NotImplemented

    def __rrshift__(self: Any, other: Any) -> Any:
        known = _operand(other)
        return self.new_full((), other).bitwise_right_shift(self) if known else NotImplemented

    def __ilshift__(self: Any, other: Any) -> Any:
        return self.bitwise_left_shift_(other) if _operand(other) else NotImplemented

    def __irshift__(self: Any, other: Any) -> Any:
        return self.bitwise_right_shift_(other) if _operand(other) else NotImplemented

    if TYPE_CHECKING:  # the operators that `install_operators` adds, for static tools

        def _binary(self, other: Any) -> Any: ...
        def _unary(self) -> Any: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _binary
        __truediv__ = __pow__ = __rpow__ = __mod__ = __rmod__ = _binary
        __floordiv__ = __rfloordiv__ = __and__ = __rand__ = __or__ = __ror__ = _binary
        __xor__ = __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = _binary
        __neg__ = __abs__ = _unary

        def __eq__(self, other: Any) -> Any: ...
        def __ne__(self, other: Any) -> Any: ...

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        if self._payload.dtype.kind in "fc":
            raise TypeError(
                "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
            )
        return T.bitwise_not(self)

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other) if isinstance(other, _ARRAYS) else _no_matrix(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        other = column(other)
        return matmul(other, self) if isinstance(other, _ARRAYS) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        other = constant(other)
        if is_number(other):
            # the same two operations as PyTorch, for the same rounding
            return T.reciprocal(self) * other
        return record(TABLE["div"], (other, self), {}) if _operand(other) else NotImplemented

    __rdiv__ = __rtruediv__  # its name in PyTorch's tables of operations


def _no_matrix(x: Any, other: Any) -> Any:
    """Return the result of ``x @ other`` for an operand that is not an array."""
    values = column(other)
    if values is not other:
        return matmul(x, values)
    if type(other).__module__.startswith("scipy.sparse"):
        raise TypeError(
            f"unsupported operand type(s) for @: 'Tensor' and '{type(other).__name__}'\n"
            "  Write wengert.sparse.matmul(A.T, x.T).T, which differentiates, for x @ A with a "
            "sparse A; for a vector, wengert.sparse.matmul(A.T, x)."
        )
    return NotImplemented


def _operand(value: Any) -> bool:
    return isinstance(value, TensorBase | np.ndarray | np.generic) or is_number(value)


def _general(prim: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    args = tuple([value if isinstance(value, TensorBase) else constant(value) for value in args])
    return record(prim, args, params) if all(map(_operand, args)) else NotImplemented


def install_operators(cls: type) -> None:
    """Add the generated operators to the class of tensors."""
    for prim, symbol in OPERATOR.items():
        if not symbol or f"__{symbol}__" in vars(TensorOperators):
            continue
        if len(prim.args) == 1:
            _install_unary(cls, f"__{symbol}__", prim.name)
            continue
        _install_binary(cls, f"__{symbol}__", prim.name)
        # comparisons have no reflected form; `hasattr` would also find `type.__ror__`
        written = any(f"__r{symbol}__" in vars(base) for base in cls.__mro__)
        if hasattr(int, f"__r{symbol}__") and not written:
            _install_binary(cls, f"__r{symbol}__", prim.name, reflected=True)


def _install_binary(cls: type, method: str, name: str, reflected: bool = False) -> None:
    made: Any = None

    def first(self: Any, other: Any) -> Any:
        nonlocal made
        if made is None:  # later calls come from operators that wrap this one
            made = operator(TABLE[name], _general, method, reflected)
            made.__name__ = made.__qualname__ = method
            if cls.__dict__.get(method) is first:
                put(cls, method, made)
        return made(self, other)

    first.__name__ = first.__qualname__ = method
    setattr(cls, method, first)


def _install_unary(cls: type, method: str, name: str) -> None:
    def first(self: Any) -> Any:
        made = getattr(T, name)
        if cls.__dict__.get(method) is first:
            put(cls, method, made)
        return made(self)

    setattr(cls, method, first)
