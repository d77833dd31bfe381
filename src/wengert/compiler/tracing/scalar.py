"""Layer 8 · compiler: stand-ins for Python numbers that a traced function reads off tensors."""

from __future__ import annotations

import numbers
import operator
import weakref
from typing import Any

import numpy as np

from wengert.prims.facet import OPERATOR

SMALL = 1 << 31
"""Integers of at most this magnitude, in open places, are inputs of programs."""
_MOST = 1 << 62
_EXACT = 1 << 53
"""Integers of at most this magnitude are exact as floats."""
_HEAP = 1 << 9
"""The type flag of classes defined in Python."""
_REMAINDERS = frozenset({"floor_divide", "remainder"})


class Scalar:
    """A number read with ``tensor.item()``, which stays a value of the program.

    It passes for a float (or for an int, as checks of indices require). Arithmetic on it returns
    more scalars. A comparison is a decision, as is any use of its exact value (``math.sin``,
    ``f"{x}"``).

    Attributes
    ----------
    trace: The trace that it belongs to.
    symbol: The symbol of its value, zero-dimensional, float64 or int64.
    number: The number in this run.
    size: A bound on the magnitude of an integer in any run, or None if unknown.
    """

    __slots__ = ("__weakref__", "number", "size", "symbol", "trace")

    def __init__(self, trace: Any, symbol: Any, size: int | None = None) -> None:
        self.trace = trace
        self.symbol = symbol
        self.number = symbol.array.item()
        self.size = size
        trace.scalars.append(weakref.ref(self))

    @property  # type: ignore[misc]  # isinstance() reads it
    def __class__(self) -> type:
        return type(self.number)

    def exact(self) -> Any:
        """Return the number itself and guard it: the rest of the trace depends on it."""
        return self.trace.decide("item", self.symbol)

    def __float__(self) -> float:
        # a distinct object, recognised later by identity
        made = float(repr(float(self.number)))
        if type(self.number) is float and self.trace.handed_back(self.symbol, made):
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
        # a plain number: the trace has ended, or never saw the array
        plain = [arg.exact() if issubclass(type(arg), Scalar) else arg for arg in args]
        return getattr(ufunc, method)(*plain, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if not hasattr(self.number, name):
            raise AttributeError(f"{type(self.number).__name__!r} object has no attribute {name!r}")
        # other methods of float: hex, is_integer, as_integer_ratio
        return getattr(self.exact(), name)

    @property
    def real(self) -> Scalar:
        """The number itself."""
        return self

    @property
    def imag(self) -> Any:
        """The imaginary part, 0."""
        return type(self.number)(0)

    def _with(self, name: str, other: Any, swapped: bool) -> Any:
        if name.startswith("bitwise"):
            return self._exactly(name, other, swapped)
        if type(other) is bool:
            other = int(other)
        if type(other) not in (Scalar, int, float):
            # types defined in C may accept real numbers only
            known = isinstance(other, numbers.Number) or not type(other).__flags__ & _HEAP
            return self._exactly(name, other, swapped) if known else NotImplemented
        left, right = (other, self) if swapped else (self, other)
        size = None
        if name == "div" or not (_is_whole(left) and _is_whole(right)):
            operands = [_as_float(left), _as_float(right)]
            known = name not in _REMAINDERS
        else:
            operands = [part.symbol if type(part) is Scalar else part for part in (left, right)]
            size = _size_of(name, _size(left), _size(right))
            known = size is not None and size <= _MOST
        if not known or any(part is None for part in operands):
            return self._exactly(name, other, swapped)
        if (name == "div" or name in _REMAINDERS) and not self._divisible(operands[1]):
            return self._exactly(name, other, swapped)
        return self.trace.number_of(name, *operands, size=size)

    def is_small(self) -> bool:
        """Return whether the magnitude is at most `SMALL`, which is a decision."""
        ends = (("le", SMALL), ("ge", -SMALL))
        compared = self.trace.compared
        return all(
            bool(self.trace.decide("bool", compared(name, self.symbol, end))) for name, end in ends
        )

    def _exactly(self, name: str, other: Any, swapped: bool) -> Any:
        """Compute with the exact numbers, which are guarded."""
        left, right = (_exact(other), self.exact()) if swapped else (self.exact(), _exact(other))
        return getattr(operator, f"__{_NAMES[name]}__")(left, right)

    def _divisible(self, divisor: Any) -> bool:
        """Return whether `divisor` is not zero, which is a decision."""
        if isinstance(divisor, int | float):
            return divisor != 0
        return bool(self.trace.decide("bool", divisor))

    def __pow__(self, other: Any, *modulo: Any) -> Any:
        return pow(self.exact(), _exact(other), *map(_exact, modulo))

    def __rpow__(self, other: Any, *modulo: Any) -> Any:
        return pow(other, self.exact(), *map(_exact, modulo))

    def __invert__(self) -> Any:
        return ~self.exact()

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
        if type(other) is bool:
            other = int(other)
        if type(other) not in (Scalar, int, float):
            if not isinstance(other, int | float):
                return NotImplemented
            return bool(getattr(operator, name)(self.exact(), other))
        pair = [self, other]
        if not (_is_whole(self) and _is_whole(other)):
            pair = [_as_float(part) for part in pair]
        elif type(other) is Scalar or abs(other) <= _MOST:
            pair = [part.symbol if type(part) is Scalar else part for part in pair]
        if type(pair[0]) is Scalar or any(part is None for part in pair):
            return bool(getattr(operator, name)(self.exact(), _exact(other)))
        return bool(self.trace.decide("bool", self.trace.compared(name, *pair)))


def _arithmetic(name: str, swapped: bool) -> Any:
    return lambda self, other: self._with(name, other, swapped)


def _comparison(name: str) -> Any:
    return lambda self, other: self._compared(name, other)


_OF_TWO = [(prim, name) for prim, name in OPERATOR.items() if name and len(prim.args) == 2]
_NAMES = {prim.name: name for prim, name in _OF_TWO}
"""The names of Python's operators, by primitive, and of other operators on integers."""
for _name in ("lshift", "rshift"):
    _NAMES[f"bitwise {_name}"] = _name
    setattr(Scalar, f"__{_name}__", _arithmetic(f"bitwise {_name}", False))
    setattr(Scalar, f"__r{_name}__", _arithmetic(f"bitwise {_name}", True))
for _prim, _name in _OF_TWO:
    if _name == "pow":
        continue
    if _prim.predicate:
        setattr(Scalar, f"__{_name}__", _comparison(_prim.name))
    else:
        setattr(Scalar, f"__{_name}__", _arithmetic(_prim.name, False))
        setattr(Scalar, f"__r{_name}__", _arithmetic(_prim.name, True))


def _exact(value: Any) -> Any:
    """Return a number itself and guard it."""
    return value.exact() if issubclass(type(value), Scalar) else value


def _is_whole(value: Any) -> bool:
    return type(value.number if type(value) is Scalar else value) is int


def _size_of(name: str, left: int | None, right: int | None) -> int | None:
    """Return a bound on the magnitude of an integer result, or None."""
    if left is None or right is None:
        return None
    return left * right if name == "mul" else left + right


def _size(value: Any) -> int | None:
    if type(value) is not Scalar:
        return abs(value)
    if value.size is None and value.is_small():
        value.size = SMALL
    return value.size


def _as_float(value: Any) -> Any:
    """Return a number as a float or a symbol of one, or None unless known to be exact."""
    if type(value) is float:
        return value
    if not _is_whole(value):
        return value.symbol
    size = _size(value)
    if size is None or size > _EXACT:
        return None
    return value.trace.as_float(value.symbol) if type(value) is Scalar else float(value)


class _Ended(Scalar):
    """A scalar whose trace has ended: a plain number."""

    __slots__ = ()

    def exact(self) -> Any:
        """Return the number, without a guard."""
        return self.number

    def __float__(self) -> float:
        return float(self.number)

    def __bool__(self) -> bool:
        return bool(self.number)

    def _with(self, name: str, other: Any, swapped: bool) -> Any:
        other = _exact(other)
        left, right = (other, self.number) if swapped else (self.number, other)
        return getattr(operator, f"__{_NAMES[name]}__")(left, right)

    def _compared(self, name: str, other: Any) -> Any:
        return getattr(operator, name)(self.number, _exact(other))

    def __neg__(self) -> Any:
        return -self.number

    def __abs__(self) -> Any:
        return abs(self.number)


def ended(scalar: Scalar) -> None:
    """Detach a scalar from its trace, so that it acts as a plain number."""
    scalar.trace = scalar.symbol = None
    _CLASS.__set__(scalar, _Ended)


_CLASS: Any = object.__dict__["__class__"]
