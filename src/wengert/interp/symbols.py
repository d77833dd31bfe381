"""Layer 3 · interp: symbols: values that only record how they were computed.

A kernel or a derivative rule that consists of arithmetic runs on symbols as on arrays, and its
result is its formula. `simplified` brings formulas into the form in which people write them: ``1 /
(2 * y)`` for ``1 / (y + y)``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

_BINDING = {"==": 1, "!=": 1, "<": 1, "<=": 1, ">": 1, ">=": 1, "|": 2, "^": 3, "&": 4}
_BINDING |= {"+": 6, "-": 6, "*": 7, "/": 7, "@": 7, "%": 7, "neg": 8, "~": 8, "**": 9}
"""The precedence of operators, as in Python."""
_ATOM = 10
_PLAIN = re.compile(r"[\w.₀-₉]+(\[[^\[\]]*\])*")


def _digits(value: Any) -> str:
    """Format a number with enough digits to tell it from any other number."""
    if isinstance(value, complex) and value.real == 0:
        return f"{_digits(value.imag)}j"
    return f"{value:.12g}"


def _binary(sign: str) -> Any:
    def operator(self: Symbol, other: Any) -> Symbol:
        return Symbol(sign, self, _operand(other))

    return operator


def _reflected(sign: str) -> Any:
    def operator(self: Symbol, other: Any) -> Symbol:
        return Symbol(sign, _operand(other), self)

    return operator


class Symbol:
    """A formula: an operation with its operands.

    Attributes
    ----------
    head: An operator of Python (``"neg"`` and ``"T"`` among them), ``"call"`` of the function that
        the first part names, ``"="`` of a keyword, ``"tuple"``, ``"number"`` or ``"name"``.
    parts: The operands; a number's value; a name's text and what it stands for (see `named`).

    Examples
    --------
    >>> from wengert.interp.symbols import named, simplified
    >>> x = named("x")
    >>> str((x + 1) * (x * x)), str(simplified((x + 1) * (x * x)))
    ('(x + 1) * (x * x)', 'x ** 2 * (x + 1)')
    """

    __slots__ = ("head", "parts")
    # NumPy's functions do not compute with symbols
    __array_ufunc__ = None
    __iter__ = None

    def __init__(self, head: str, *parts: Any) -> None:
        self.head = head
        self.parts = parts

    __add__, __radd__ = _binary("+"), _reflected("+")
    __sub__, __rsub__ = _binary("-"), _reflected("-")
    __mul__, __rmul__ = _binary("*"), _reflected("*")
    __truediv__, __rtruediv__ = _binary("/"), _reflected("/")
    __pow__, __rpow__ = _binary("**"), _reflected("**")
    __mod__, __rmod__ = _binary("%"), _reflected("%")
    __matmul__ = _binary("@")
    __and__, __or__, __xor__ = _binary("&"), _binary("|"), _binary("^")
    __eq__, __ne__ = _binary("=="), _binary("!=")
    __lt__, __le__, __gt__, __ge__ = _binary("<"), _binary("<="), _binary(">"), _binary(">=")

    def __neg__(self) -> Symbol:
        return Symbol("neg", self)

    def __invert__(self) -> Symbol:
        return Symbol("~", self)

    @property
    def T(self) -> Symbol:
        """The transpose."""
        return Symbol("T", self)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        # a rule may take a shortcut for 1, with the same result
        if self.head in ("==", "!=") and [p.head for p in self.parts] == ["name", "number"]:
            (_, stands_for), (value,) = self.parts[0].parts, self.parts[1].parts
            if stands_for == "parameter" and math.isfinite(value):
                return self.head == "!="
        raise TypeError(f"whether {self} holds is not known of symbols")

    def is_cotangent(self) -> bool:
        """Return whether this is the name of a cotangent."""
        return self.head == "name" and self.parts[1] == "cotangent"

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that is equal for equal formulas."""
        return self.head, *(p.key if isinstance(p, Symbol) else p for p in self.parts)

    def walk(self) -> Iterator[Symbol]:
        """Iterate over this formula and every subformula."""
        yield self
        for part in self.parts:
            if isinstance(part, Symbol):
                yield from part.walk()

    def replaced(self, change: Callable[[Symbol], Symbol | None]) -> Symbol:
        """Return the formula with `change` applied to subformulas, where that is not None."""
        made = change(self)
        if made is not None:
            return made
        return Symbol(
            self.head,
            *(part.replaced(change) if isinstance(part, Symbol) else part for part in self.parts),
        )

    def text(self, number: Callable[[Any], str] = _digits) -> str:
        """Return the formula as Python; `number` writes numbers."""
        return number(self.parts[0]) if self.head == "number" else self._written(number)[0]

    def __repr__(self) -> str:
        return self.text()

    def _written(self, number: Callable[[Any], str]) -> tuple[str, int]:
        """Return the text, and the precedence of the outermost operator."""
        head, parts = self.head, self.parts
        if head == "name":
            text, stands_for = parts
            return text, _ATOM if stands_for == "cotangent" or _PLAIN.fullmatch(text) else 0
        if head == "number":
            text = number(parts[0])
            inner = text.removeprefix("-")
            if re.search(r"[+-](?!\d+$)|[+-].*j", inner):
                return f"({text})", _ATOM
            return text, _ATOM if inner == text else _BINDING["neg"]
        if head == "T":
            text = _bracketed(parts[0], number, _ATOM)
            return f"({text}).T" if " " in text and parts[0].is_cotangent() else f"{text}.T", _ATOM
        if head == "=":
            return f"{parts[0]}={parts[1].text(number)}", 0
        if head in ("call", "tuple"):
            name, args = (parts[0], parts[1:]) if head == "call" else ("", parts)
            inner = ", ".join(part.text(number) for part in args)
            return f"{name}({inner}{',' if head == 'tuple' and len(args) == 1 else ''})", _ATOM
        binding = _BINDING[head]
        if len(parts) == 1:
            return f"{'-' if head == 'neg' else head}{_bracketed(*parts, number, binding)}", binding
        # powers associate to the right, comparisons not at all
        left = binding + (binding in (1, 9))
        right = 8 if head == "**" else binding + 1
        first, second = _bracketed(parts[0], number, left), _bracketed(parts[1], number, right)
        return f"{first} {head} {second}", binding


def _bracketed(part: Symbol, number: Callable[[Any], str], least: int) -> str:
    text, binding = part._written(number)
    return text if binding >= least else f"({text})"


def named(text: str, stands_for: str = "value") -> Symbol:
    """Make a name.

    Parameters
    ----------
    stands_for: ``"value"`` (any number), ``"parameter"``, ``"constant"``, ``"metadata"`` of an
        argument, or ``"cotangent"`` (which is never bracketed, even if its text is several words).
    """
    return Symbol("name", text, stands_for)


def _number(value: Any) -> Symbol:
    return Symbol("number", value)


def _operand(value: Any) -> Symbol:
    if isinstance(value, Symbol):
        return value
    if isinstance(value, int | float | complex):
        return _number(value)
    raise TypeError(f"a formula computes with numbers and symbols, not with {value!r}")


def argument(value: Any) -> Symbol:
    """Convert an argument of a function to a part of a formula."""
    if isinstance(value, tuple | list):
        return Symbol("tuple", *map(argument, value))
    if isinstance(value, np.dtype):
        return named(value.name, "metadata")
    if value is None or isinstance(value, bool | str):
        return named(repr(value), "metadata")
    return _operand(value)


# -- simplification --------------------------------------------------------------------------------
#
# A product is a number and the powers of other formulas, a sum a list of products. Numbers are
# fractions as far as they are exact.

_Factors = dict[Any, tuple[Symbol, Any]]
_Product = tuple[Any, _Factors]
_PI = named("pi", "constant")


def _call(name: str, *args: Any) -> Symbol:
    return Symbol("call", name, *map(argument, args))


_CONSTANTS = (
    (math.pi, _PI),
    (math.sqrt(math.pi), _call("sqrt", _PI)),
    (math.sqrt(2 * math.pi), _call("sqrt", 2 * _PI)),
    (math.sqrt(2), _call("sqrt", 2)),
    *((math.log(n), _call("log", n)) for n in range(2, 11)),
)
_HALF = Fraction(1, 2)
_WHOLE = 2.0**53
"""The smallest size from which every float is an integer."""
_LARGEST = 360
"""The largest numerator of a multiple of a constant."""


def simplified(formula: Symbol) -> Symbol:
    """Return `formula` as people write it; equal wherever it is defined."""
    if formula.head in ("+", "-", "*", "/", "neg", "**", "number"):
        return _sum_of(_terms(formula))
    if formula.head == "call" and formula.parts[0] == "sqrt":
        return _product_of(_product(formula))
    parts = [simplified(p) if isinstance(p, Symbol) else p for p in formula.parts]
    if formula.head == "<=" and _is_condition(parts[0]) and parts[1].key == ("number", 0):
        # a condition with a value of at most 0 is False
        return simplified(~parts[0])
    if formula.head in ("~", "T") and parts[0].head == formula.head:
        return parts[0].parts[0]
    if formula.head == "T" and parts[0].head == "@":
        left, right = parts[0].parts
        return simplified(right.T) @ simplified(left.T)
    return Symbol(formula.head, *parts)


def _is_condition(formula: Symbol) -> bool:
    if formula.head in ("~", "&", "|", "^"):
        return all(map(_is_condition, formula.parts))
    return _BINDING.get(formula.head) == _BINDING["=="]


def factor_of(formula: Symbol, name: Symbol) -> Symbol | None:
    """Return the factor of `name` in `formula`, if the formula is a product with it."""
    number, factors = _product(formula)
    rest = {key: power for key, power in factors.items() if key != name.key}
    if number == 0:
        return _number(0)
    if factors.get(name.key, (None, 0))[1] != 1:
        return None
    within = (part.key for base, _ in rest.values() for part in base.walk())
    return None if name.key in within else _product_of((number, rest))


def _exact(value: Any) -> Any:
    if isinstance(value, complex) and value.imag == 0:
        value = value.real
    if isinstance(value, float) and abs(value) < _WHOLE:
        near = Fraction(value).limit_denominator(64)
        return near if float(near) == value else value
    return Fraction(value) if isinstance(value, int) else value


def _power(product: _Product, exponent: Any) -> _Product:
    """Raise to an integer power."""
    made: _Product = product[0] ** exponent, {}
    for base, own in product[1].values():
        power = own * exponent
        if power.denominator == 1 and own.denominator != 1:
            # the radicand of a root may itself be a product
            made = _times(made, _power(_product(base), int(power)))
        else:
            made = _times(made, (Fraction(1), {base.key: (base, power)}))
    return made


def _times(first: _Product, second: _Product) -> _Product:
    number = _exact(first[0] * second[0])
    factors = dict(first[1])
    for key, (base, exponent) in second[1].items():
        exponent += factors.get(key, (None, 0))[1]
        factors[key] = base, exponent
    factors = {key: power for key, power in factors.items() if power[1] != 0}
    for (a, (left, e)), (b, (right, f)) in permutations(factors.items(), 2):
        if (
            e == f
            and e.denominator == 1
            and (squares := _difference_of_squares(left, right)) is not None
        ):
            kept = {key: power for key, power in factors.items() if key not in (a, b)}
            return _times((number, kept), _power(_product(squares), int(e)))
    return number, factors


def _difference_of_squares(left: Symbol, right: Symbol) -> Symbol | None:
    """Return (a + b) * (a - b) as a difference of squares, if two formulas have that form."""
    if left.head != "+" or right.head != "-":
        return None
    (one, two), (three, four) = left.parts, right.parts
    if one.key == four.key and two.key == three.key:
        one, two = two, one
    return one * one - two * two if (one.key, two.key) == (three.key, four.key) else None


def _atom(formula: Symbol) -> _Product:
    return _root(formula, Fraction(1))


def _root(formula: Symbol, exponent: Fraction) -> _Product:
    return Fraction(1), {formula.key: (formula, exponent)}


def _product(formula: Symbol) -> _Product:
    """Return a formula as a product."""
    head, parts = formula.head, formula.parts
    if head == "number":
        return _exact(parts[0]), {}
    if head == "neg":
        number, factors = _product(parts[0])
        return -number, factors
    if head == "*":
        return _times(_product(parts[0]), _product(parts[1]))
    if head in ("/", "**"):
        try:
            return _quotient(*parts) if head == "/" else _raised(*parts)
        except (OverflowError, ZeroDivisionError):
            return _atom(Symbol(head, *map(simplified, parts)))
    if head == "call" and parts[0] in ("zeros_like", "zero_tangent"):
        return Fraction(0), {}
    if head == "call" and parts[0] == "sqrt":
        return _root(simplified(parts[1]), _HALF)
    if head in ("+", "-"):
        terms = _terms(formula)
        return terms[0] if len(terms) == 1 else _atom(_sum_of(terms))
    return _atom(simplified(formula) if head != "name" else formula)


def _quotient(above: Symbol, below: Symbol) -> _Product:
    return _times(_product(above), _power(_product(below), -1))


def _raised(below: Symbol, exponent: Symbol) -> _Product:
    base, exponent = _product(below), simplified(exponent)
    power = _exact(exponent.parts[0]) if exponent.head == "number" else None
    if not isinstance(power, Fraction):
        return _atom(Symbol("**", _product_of(base), exponent))
    whole = power.denominator == 1
    return _power(base, int(power)) if whole else _root(_product_of(base), power)


def _terms(formula: Symbol) -> list[_Product]:
    """Return a formula as a sum."""
    found: dict[Any, _Product] = {}
    for number, factors in _addends(formula):
        key = frozenset((key, exponent) for key, (_, exponent) in factors.items())
        found[key] = number + found.get(key, (0,))[0], factors
    return [term for term in found.values() if term[0] != 0] or [(Fraction(0), {})]


def _addends(formula: Symbol) -> Iterator[_Product]:
    if formula.head in ("+", "-"):
        first, second = formula.parts
        yield from _addends(first)
        for number, factors in _addends(second):
            yield (-number if formula.head == "-" else number), factors
    else:
        yield _product(formula)


def _is_negative(number: Any) -> bool:
    if isinstance(number, complex):
        return number.real == 0 and number.imag < 0
    return bool(number < 0)


def _is_name(factors: _Factors) -> bool:
    return [(base.head, exponent) for base, exponent in factors.values()] == [("name", 1)]


def _sum_of(terms: list[_Product]) -> Symbol:
    # 1 - x and 1 + x ** 2, but 2 * n + 1
    names = all(not factors or _is_name(factors) for _, factors in terms)
    terms = sorted(terms, key=lambda term: (_is_negative(term[0]), bool(term[1]) and not names))
    made = _product_of(terms[0])
    for number, factors in terms[1:]:
        if _is_negative(number):
            made = made - _product_of((-number, factors))
        else:
            made = made + _product_of((number, factors))
    return made


def _product_of(product: _Product) -> Symbol:
    number, factors = product
    above, below, constants = _fraction(-number if _is_negative(number) else number, factors)
    for base, exponent in sorted([*constants, *factors.values()], key=_rank):
        size = abs(exponent)
        root = _call("sqrt", base) if size == _HALF else base ** _value(size)
        (below if exponent < 0 else above).append(base if size == 1 else root)
    made = _chain(above, negative=_is_negative(number))
    return made / _chain(below) if below else made


def _rank(power: tuple[Symbol, Any]) -> int:
    """Return the sort key of a factor: the cotangent, names, constants and calls, sums."""
    base = power[0]
    if base.head == "name":
        return {"cotangent": 0, "constant": 2}.get(base.parts[1], 1)
    return 3 if base.head in ("+", "-") else 2


def _chain(factors: list[Symbol], negative: bool = False) -> Symbol:
    first, *more = factors or [_number(1)]
    if negative:
        first = _number(-first.parts[0]) if first.head == "number" else -first
    for factor in more:
        first = first * factor
    return first


def _value(number: Any) -> Any:
    """Return a number as a Python number."""
    if isinstance(number, Fraction):
        return number.numerator if number.denominator == 1 else float(number)
    return number


def _fraction(number: Any, factors: _Factors) -> tuple[list[Symbol], list[Symbol], list[Any]]:
    """Split a non-negative number into numerator, denominator and constants."""
    constants: list[tuple[Symbol, Any]] = []
    if isinstance(number, float):
        number, constants = _known(number)
    if not isinstance(number, Fraction):
        return [_number(number)], [], constants
    top: Any
    top, bottom = number.numerator, number.denominator
    decimal = bottom != 1 and Fraction(str(float(number))) == number
    if decimal and (top != 1 or not (factors or constants)):
        top, bottom = float(number), 1
    above = [] if top == 1 else [_number(top)]
    return above, [] if bottom == 1 else [_number(bottom)], constants


def _known(number: float) -> tuple[Any, list[tuple[Symbol, Any]]]:
    """Return a number as a multiple or a fraction of a known constant."""
    for value, constant in _CONSTANTS:
        for ratio, exponent in ((number / value, 1), (number * value, -1)):
            near = Fraction(ratio).limit_denominator(_LARGEST) if math.isfinite(ratio) else 0
            if 0 < near <= _LARGEST and abs(float(near) - ratio) <= 4e-16 * ratio:
                return near, [(constant, exponent)]
    return number, []
