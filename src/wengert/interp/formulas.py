"""Layer 3 · interp: E, the namespace of formulas, and the formulas of primitives in it.

NOTE [formulas]
A rule run on symbols *is* its formula: the derivatives in pictures and lists of operations are
those that are computed. A rule that needs more than arithmetic (the number of elements, the value
of a parameter) does not have one: the symbols refuse, and None is returned. Formulas are valid for
almost all values. If a rule avoids single points (it divides by ``where(x == 0, 1, x)``), the
formula omits that. If the derivative itself differs at a point, as at the tie of two maxima, that
is part of the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wengert.interp.symbols import Symbol, argument, factor_of, named, simplified
from wengert.prims.facet import FORMULA, OPERATOR
from wengert.prims.namespace import Namespace
from wengert.prims.record import Primitive

G = named("g", "cotangent")
"""The cotangent, which `derivative` divides formulas by."""
_REFUSED = (AttributeError, NotImplementedError, TypeError, ValueError)
"""The errors of a kernel or rule that reads properties which symbols do not have."""
_UNKNOWN = frozenset({"isinf", "isnan"})


def _is_point(condition: Symbol) -> bool:
    """Return whether a condition on arguments holds at most at single points."""
    head, parts = condition.head, condition.parts
    if head == "==":
        first, second = parts
        return _is_variable(first) and (
            second.head == "number" or (_is_variable(second) and first.key != second.key)
        )
    if head == "call":
        return parts[0] in _UNKNOWN and _is_variable(parts[1])
    if head in ("&", "|"):
        return (any if head == "&" else all)(map(_is_point, parts))
    return False


def _is_variable(part: Symbol) -> bool:
    return part.head == "name" and part.parts[1] in ("value", "parameter")


def _where(condition: Symbol, self: Symbol, other: Symbol) -> Symbol | None:
    """Return the branch of a ``where`` that only avoids single points; None if it does more."""
    carried = any(part.is_cotangent() for value in (self, other) for part in value.walk())
    return other if _is_point(condition) and not carried else None


def computed(prim: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Symbol | None:
    """Return the result of `prim` on symbols, if it is computed by operators.

    Examples
    --------
    >>> from wengert.interp.formulas import computed
    >>> from wengert.interp.symbols import named
    >>> from wengert.prims.table import TABLE
    >>> computed(TABLE["addcmul"], [named("x"), named("y"), named("z")], {"value": 2})
    x + y * z * 2
    """
    if prim.name == "where":
        return _where(*args)
    text, operator = FORMULA[prim], OPERATOR[prim]
    try:
        if text is not None:
            names = dict(zip((f"a{i}" for i in range(len(args))), args, strict=True))
            return argument(eval(text.format(*names), {"F": E, **names, **params}))
        if operator:
            return argument(getattr(args[0], f"__{operator}__")(*args[1:]))
        made = prim.kernel(*args, **params) if prim.is_differentiable else None
    except Exception:  # any error of a kernel that does not consist of operators
        return None
    return made if isinstance(made, Symbol) else None


def _on_symbols(prim: Primitive) -> Callable[..., Symbol]:
    def call(*args: Any, **params: Any) -> Symbol:
        values = tuple(map(argument, args))
        made = computed(prim, values, params)
        if made is not None:
            return made
        keywords = [Symbol("=", key, argument(value)) for key, value in params.items()]
        return Symbol("call", prim.name, *values, *keywords)

    return call


E: Any = Namespace(_on_symbols)
"""Every primitive on symbols by name: as operators where these compute it, or as a call."""


def pulled(prim: Primitive, place: int, g: Any, values: Mapping[str, Any]) -> Symbol | None:
    """Return a cotangent after the rule of the argument at `place`; None if it has no formula.

    Parameters
    ----------
    g: The cotangent: a symbol, or one for each output.
    values: The rule's inputs by name: symbols, numbers and metadata.

    Examples
    --------
    >>> from wengert.interp.formulas import G, pulled
    >>> from wengert.interp.symbols import named
    >>> from wengert.prims.table import TABLE
    >>> pulled(TABLE["div"], 1, G, {"self": named("x"), "other": named("y")})
    -g * x / y ** 2
    """
    rule = prim.rules[0 if prim.variadic else place]
    if rule is None or any(name not in values for name in rule.names):
        return None
    try:
        made = argument(rule.call(E, g, *[values[name] for name in rule.names]))
    except _REFUSED:
        return None
    return simplified(1 * made)


def derivative(prim: Primitive, place: int, values: Mapping[str, Any]) -> Symbol | None:
    """Return the factor by which the rule of the argument at `place` multiplies a cotangent.

    None if it has no formula, or is not a multiplication.

    Examples
    --------
    >>> from wengert.interp.formulas import derivative
    >>> from wengert.interp.symbols import named
    >>> from wengert.prims.table import TABLE
    >>> derivative(TABLE["tanh"], 0, {"result": named("y")})
    1 - y ** 2
    """
    found = pulled(prim, place, G, values) if prim.outputs == 1 else None
    if found is None:
        return None
    if prim.family == "elementwise" or (prim.family == "linear" and prim.broadcasts):
        one = argument(1)
        return simplified(found.replaced(lambda part: one if part.key == G.key else None))
    return factor_of(found, G)


class _Dtype(Symbol):
    """A dtype with an unspecified width."""

    __slots__ = ("kind",)

    def __init__(self, name: str, kind: str) -> None:
        super().__init__("name", name, "metadata")
        self.kind = kind

    def __eq__(self, other: object) -> Any:
        return isinstance(other, _Dtype) and other.kind == self.kind

    __hash__ = None


def generic(prim: Primitive, kind: str = "f") -> dict[str, Any]:
    """Return the values that rules of `prim` may need, by their names in its record.

    The arguments have one dtype and are contiguous. A parameter that may be None is left out, since
    rules test it.

    Parameters
    ----------
    kind: The kind of the dtype: ``"f"`` or ``"c"``.
    """
    optional = {name for case in prim.cases for name, value in case.params.items() if value is None}
    values: dict[str, Any] = {
        name: named(name, "parameter") for name in prim.params if name not in optional
    }
    traced = prim.differentiable or 0
    outputs = [
        named("result" if prim.outputs == 1 else f"result[{i}]", _kind(i >= traced))
        for i in range(prim.outputs or 0)
    ]
    values["result"] = outputs[0] if prim.outputs == 1 else tuple(outputs)
    for name in prim.args if not prim.variadic else ():
        values[name] = named(name, _kind(name in prim.fixed))
        values[f"{name}_shape"] = named(f"{name}_shape", "metadata")
        values[f"{name}_dtype"] = _Dtype(f"{name}_dtype", kind)
        values[f"{name}_ordered"] = True
    return values


def _kind(is_index: bool) -> str:
    # equal numbers may be coincidence, equal indices are not
    return "metadata" if is_index else "value"


def cotangent(prim: Primitive) -> Any:
    """Return the cotangent of the results of `prim`, in the form that its rules get."""
    if prim.differentiable in (1, None):
        return G
    return tuple(named(f"g[{i}]", "cotangent") for i in range(prim.differentiable))
