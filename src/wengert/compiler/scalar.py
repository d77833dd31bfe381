"""Layer 8 · compiler: Python numbers that were read off tensors while a function is traced."""

from __future__ import annotations

import numbers
import operator
import weakref
from typing import Any

import numpy as np

__all__ = ["Scalar", "ended"]

_NAMES = {"div": "truediv"}


class Scalar:
    """A number that ``tensor.item()`` gave, which goes on being computed with in the program.

    It passes for a float (or for an int, as the checks of indices need it): arithmetic of floats
    gives further ones, a comparison is a decision, and whatever needs the number itself
    (``math.sin``, ``f"{x}"``) makes its exact value one.

    Attributes
    ----------
    trace: The trace that it belongs to.
    symbol: The value, without dimensions, as float64 or int64.
    number: What it is in this run.
    """

    __slots__ = ("__weakref__", "number", "symbol", "trace")

    def __init__(self, trace: Any, symbol: Any) -> None:
        self.trace = trace
        self.symbol = symbol
        self.number = symbol.array.item()
        trace.scalars.append(weakref.ref(self))

    @property  # type: ignore[misc]  # what isinstance asks for
    def __class__(self) -> type:
        return type(self.number)

    def exact(self) -> Any:
        """The number, which the rest of the trace depends on."""
        return self.trace.decide("item", self.symbol)

    def __float__(self) -> float:
        # an object of its own, to be known again
        made = float(repr(float(self.number)))
        if self.trace.handed_back(self.symbol, made):
            return made
        return float(self.exact())

    def __index__(self) -> int:
        return operator.index(self.exact())

    def __int__(self) -> int:
        return int(self.exact())

    def __bool__(self) -> bool:
        return bool(self.trace.decide("bool", self.symbol))

    def __repr__(self) -> str:
        text = None if self.trace is None else self.trace.number_written(self.symbol, None)
        return repr(self.exact()) if text is None else str(text)

    def __format__(self, spec: str) -> str:
        text = None if self.trace is None else self.trace.number_written(self.symbol, spec)
        return format(self.exact(), spec) if text is None else str(text)

    def __hash__(self) -> int:
        return hash(self.exact())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.exact(), digits)

    def __reduce__(self) -> Any:
        return type(self.number), (self.exact(),)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.exact(), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        # where the trace has ended, or never saw the array: a number like others
        plain = [arg.exact() if type(arg) is Scalar else arg for arg in args]
        return getattr(ufunc, method)(*plain, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if not hasattr(self.number, name):
            raise AttributeError(f"{type(self.number).__name__!r} object has no attribute {name!r}")
        # what else a float has: hex, is_integer, as_integer_ratio
        return getattr(self.exact(), name)

    @property
    def real(self) -> Scalar:
        """The number itself."""
        return self

    @property
    def imag(self) -> float:
        """Nothing."""
        return 0.0

    def _with(self, name: str, other: Any, swapped: bool) -> Any:
        kind = type(other)
        if type(self.number) is int or (kind is Scalar and type(other.number) is int):
            known = other.exact() if kind is Scalar else other
            left, right = (known, self.exact()) if swapped else (self.exact(), known)
            return getattr(operator, _NAMES.get(name, name))(left, right)
        if kind is Scalar:
            other = other.symbol
        elif kind is int or kind is bool:
            other = float(other)
        elif kind is not float:
            if isinstance(other, numbers.Number):
                left, right = (other, self.exact()) if swapped else (self.exact(), other)
                return getattr(operator, _NAMES.get(name, name))(left, right)
            return NotImplemented
        left, right = (other, self.symbol) if swapped else (self.symbol, other)
        if name == "div" and not self._divisible(right):
            raise ZeroDivisionError("float division by zero")
        return self.trace.number_of(name, left, right)

    def _divisible(self, divisor: Any) -> bool:
        """Whether Python would divide by it."""
        if isinstance(divisor, float):
            return divisor != 0
        return bool(self.trace.decide("bool", divisor))

    def __add__(self, other: Any) -> Any:
        return self._with("add", other, False)

    def __radd__(self, other: Any) -> Any:
        return self._with("add", other, True)

    def __sub__(self, other: Any) -> Any:
        return self._with("sub", other, False)

    def __rsub__(self, other: Any) -> Any:
        return self._with("sub", other, True)

    def __mul__(self, other: Any) -> Any:
        return self._with("mul", other, False)

    def __rmul__(self, other: Any) -> Any:
        return self._with("mul", other, True)

    def __truediv__(self, other: Any) -> Any:
        return self._with("div", other, False)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("div", other, True)

    def __pow__(self, other: Any) -> Any:
        return self.exact() ** _exact(other)

    def __rpow__(self, other: Any) -> Any:
        return other ** self.exact()

    def __mod__(self, other: Any) -> Any:
        return self.exact() % _exact(other)

    def __rmod__(self, other: Any) -> Any:
        return other % self.exact()

    def __floordiv__(self, other: Any) -> Any:
        return self.exact() // _exact(other)

    def __rfloordiv__(self, other: Any) -> Any:
        return other // self.exact()

    def __divmod__(self, other: Any) -> Any:
        return divmod(self.exact(), _exact(other))

    def __rdivmod__(self, other: Any) -> Any:
        return divmod(other, self.exact())

    def __trunc__(self) -> int:
        return int(self.exact())

    def __neg__(self) -> Any:
        if type(self.number) is int:
            return -self.exact()
        return self.trace.number_of("neg", self.symbol)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        if type(self.number) is int:
            return abs(self.exact())
        return self.trace.number_of("abs", self.symbol)

    def _compared(self, name: str, other: Any) -> Any:
        kind: Any = type(other)
        if kind is not Scalar and not isinstance(other, int | float):
            return NotImplemented
        if kind is not Scalar and kind is not type(self.number):
            return bool(getattr(operator, name)(self.exact(), other))
        right = other.symbol if kind is Scalar else other
        return bool(self.trace.decide("bool", self.trace.compared(name, self.symbol, right)))

    def __lt__(self, other: Any) -> Any:
        return self._compared("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("le", other)

    def __gt__(self, other: Any) -> Any:
        return self._compared("gt", other)

    def __ge__(self, other: Any) -> Any:
        return self._compared("ge", other)

    def __eq__(self, other: Any) -> Any:
        return self._compared("eq", other)

    def __ne__(self, other: Any) -> Any:
        return self._compared("ne", other)


def _exact(value: Any) -> Any:
    """A number itself, which the rest of the trace depends on."""
    return value.exact() if issubclass(type(value), Scalar) else value


class _Ended(Scalar):
    """A number of a trace that has ended: one like others."""

    __slots__ = ()

    def exact(self) -> Any:
        """The number."""
        return self.number

    def __float__(self) -> float:
        return float(self.number)

    def __bool__(self) -> bool:
        return bool(self.number)

    def _with(self, name: str, other: Any, swapped: bool) -> Any:
        other = _exact(other)
        left, right = (other, self.number) if swapped else (self.number, other)
        return getattr(operator, _NAMES.get(name, name))(left, right)

    def _compared(self, name: str, other: Any) -> Any:
        return getattr(operator, name)(self.number, _exact(other))

    def __neg__(self) -> Any:
        return -self.number

    def __abs__(self) -> Any:
        return abs(self.number)

    __hash__ = Scalar.__hash__


def ended(scalar: Scalar) -> None:
    """Let a scalar be a number like others, and know nothing of its trace."""
    scalar.trace = scalar.symbol = None
    _CLASS.__set__(scalar, _Ended)


_CLASS: Any = object.__dict__["__class__"]
