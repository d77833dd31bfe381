"""Layer 3 · interp: E, the namespace of formulas, and the formulas that records have in it.

NOTE [formulas]
A rule run on symbols *is* its formula: what pictures and lists of operations show of a derivative
is what is computed. A rule that needs more than arithmetic (how many elements there are, what a
parameter says) has none: the symbols refuse, and None is returned. The formulas hold for most
values. Rules keep off single points (``where(x == 0, 1, x)``, by which they then divide), and so do
formulas: they leave that out. Where the derivative itself is another at a point, as at the tie of
two maxima, it is part of the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wengert.base.sections import fill_sections
from wengert.interp.symbols import Symbol, argument, factor_of, named, simplified
from wengert.prims.facet import FORMULA, OPERATOR
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE

G = named("g", "cotangent")
"""The cotangent, where it is only there to be divided by."""
_REFUSED = (AttributeError, NotImplementedError, TypeError, ValueError)
"""What comes of a kernel or a rule that asks of symbols what they do not know."""
_UNKNOWN = frozenset({"isinf", "isnan"})


def _is_point(condition: Symbol) -> bool:
    """Whether a condition on arguments holds at most at single points."""
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
    """What is left of a choice that is made to keep off single points."""
    carried = any(part.is_cotangent() for value in (self, other) for part in value.walk())
    return other if _is_point(condition) and not carried else None


def computed(prim: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Symbol | None:
    """What `prim` makes of symbols by operators, where that is how it is made.

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
    except Exception:  # whatever a kernel that is not made of operators does with symbols
        return None
    return made if isinstance(made, Symbol) else None


class _Symbols:
    """The primitives by name: as operators where these compute them, as calls otherwise."""

    def __getattr__(self, name: str) -> Callable[..., Symbol]:
        prim = TABLE.get(name)
        if prim is None:
            raise AttributeError(f"there is no primitive {name!r}")

        def call(*args: Any, **params: Any) -> Symbol:
            values = tuple(map(argument, args))
            made = computed(prim, values, params)
            if made is not None:
                return made
            keywords = [Symbol("=", key, argument(value)) for key, value in params.items()]
            return Symbol("call", name, *values, *keywords)

        return call


E: Any = _Symbols()
"""Every primitive on symbols by name."""


def pulled(prim: Primitive, place: int, g: Any, values: Mapping[str, Any]) -> Symbol | None:
    """What the rule of the argument at `place` makes of a cotangent; None if that has no formula.

    Parameters
    ----------
    g: The cotangent: a symbol, or one for each output.
    values: What the rule needs, by name: symbols, numbers and metadata.

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
    """What the rule of the argument at `place` multiplies a cotangent with.

    None if it has no formula, or does something else.

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
    """A dtype of which its kind is known."""

    __slots__ = ("kind",)

    def __init__(self, name: str, kind: str) -> None:
        super().__init__("name", name, "metadata")
        self.kind = kind

    def __eq__(self, other: object) -> Any:
        return isinstance(other, _Dtype) and other.kind == self.kind

    __hash__ = None


def generic(prim: Primitive, kind: str = "f") -> dict[str, Any]:
    """What rules of `prim` may need, under the names that they have in its record.

    The arguments have one dtype, and lie in memory in order. A parameter that may be None is not
    among the names, since rules ask for that.

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
    # equal numbers are a matter of chance, equal indices are not
    return "metadata" if is_index else "value"


def cotangent(prim: Primitive) -> Any:
    """The cotangent of the results of `prim`, as its rules get it."""
    if prim.differentiable in (1, None):
        return G
    return tuple(named(f"g[{i}]", "cotangent") for i in range(prim.differentiable))


fill_sections(globals())
