"""Layer 9 · viz: operations and their local derivatives as formulas: ``a * b`` and ``b``.

See NOTE [formulas] in `wengert.interp.formulas`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wengert.interp.formulas import E, computed, derivative, pulled
from wengert.interp.levels import Lifted
from wengert.interp.symbols import Symbol, named
from wengert.tape.base import FREED, TensorBase
from wengert.viz.collect import works_by_element
from wengert.viz.reading import operation_of
from wengert.viz.wording import brief, number, shape_text

_LONGEST = 24
_LONGEST_FORMULA = 60
_LONGEST_PRODUCT = 40
"""Longer formulas consist mainly of parameters."""


def constant_text(value: Any) -> str:
    """Return the text of an unnamed value in a formula: a number itself, an array's shape."""
    payload: Any = value._payload if isinstance(value, TensorBase) else value
    if isinstance(payload, np.ndarray | np.generic):
        if payload.ndim == 0:
            return brief(payload)
        return f"constant {shape_text(payload.shape)}"
    if isinstance(payload, Lifted):
        return "constant"
    text = re.sub(r"\s+", " ", brief(payload) if isinstance(payload, float) else repr(payload))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def text_of(formula: Symbol) -> str:
    """Return a formula as text, with numbers of five digits."""
    return formula.text(number)


def parameters(node: Any, params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the parameters of a node's operation, as far as they are known.

    Parameters
    ----------
    params: The parameters given, if known: a node keeps only those that its rules need.
    """
    prim = node.prim
    kept = {name: getattr(node, f"p_{name}", FREED) for name in prim.params}
    found = {name: value for name, value in kept.items() if value is not FREED}
    for name, value in (params or {}).items():
        found[name] = value.item() if isinstance(value, np.generic) else value
    return {name: found[name] for name in prim.params if name in found}


def expression(
    node: Any, names: Sequence[str], params: Mapping[str, Any] | None = None, short: bool = False
) -> str:
    """Return the computation of `node` as a Python expression.

    Parameters
    ----------
    names: The name of the argument of each edge.
    params: The operation's parameters, if more are known than the node keeps.
    short: Whether to leave out parameters.
    """
    made = _computed(node, [named(name) for name in names], params)
    if made is not None:
        return text_of(made)
    prim = getattr(type(node), "prim", None)
    known = {} if prim is None else parameters(node, params)
    args = list(names)
    if prim is not None and prim.of_number:
        args.append(constant_text(known.pop(prim.params[0])) if known else "number")
    more = [] if short else [f"{key}={constant_text(value)}" for key, value in known.items()]
    return f"{operation_of(node)}({', '.join([*args, *more])})"


def _computed(node: Any, args: list[Symbol], params: Mapping[str, Any] | None) -> Symbol | None:
    prim = getattr(type(node), "prim", None)
    if prim is None or prim.variadic or len(args) != len(prim.args):
        return None
    known = parameters(node, params)
    if prim.of_number:
        known.setdefault(prim.params[0], named("number"))
    made = computed(prim, args, known) if len(known) == len(prim.params) else None
    return None if made is None or made.head == "name" else made


def _values(
    node: Any, names: Sequence[str], result: Symbol, params: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the values that a node's rules need: formulas, with the facts known about them."""
    prim = node.prim
    values = {"result": result, **parameters(node, params)}
    for arg, name in zip(prim.args, names, strict=False):
        values[arg] = named(name, "metadata" if arg in prim.fixed else "value")
    for name in prim.saved:
        if name not in values and hasattr(node, name):
            values[name] = getattr(node, name)
    return values


def partial(
    node: Any,
    names: Sequence[str],
    result: str | Symbol,
    place: int,
    params: Mapping[str, Any] | None = None,
) -> Symbol | None:
    """Return an operation's derivative with respect to the argument at `place`, if it is short.

    Parameters
    ----------
    names, params: As for `expression`.
    result: The name of the result.
    """
    prim = getattr(type(node), "prim", None)
    if prim is None or not (works_by_element(prim) or prim.family == "bilinear"):
        return None
    own = named(result) if isinstance(result, str) else result
    found = derivative(prim, place, _values(node, names, own, params))
    return None if found is None or len(text_of(found)) > _LONGEST_FORMULA else found


def product(
    word: str,
    node: Any,
    names: Sequence[str],
    result: str,
    place: int,
    factor: Symbol | None,
    params: Mapping[str, Any] | None = None,
) -> str:
    """Return, as a formula, the product of an adjoint or a tangent with an operation's derivative.

    Parameters
    ----------
    word: ``"adjoint"`` (of the result, for the argument's) or ``"tangent"`` (of the argument).
    names, result, params: The names of the arguments and the result, and the parameters.
    factor: The local derivative's formula, if it has one.
    """
    name = names[place]
    several = ", " in result
    text = f"{word} of {name}"
    if word == "adjoint":
        text = f"adjoint{'s' if several else ''} of {result}"
    carried = named(text, "cotangent")
    prim = getattr(type(node), "prim", None)
    complexes = getattr(node, "complexes", None) is not None
    made: Symbol | None = None
    if prim is not None and prim.family == "bilinear" and not works_by_element(prim):
        if word == "tangent":
            args = [carried if i == place else named(name) for i, name in enumerate(names)]
            made = getattr(E, prim.name)(*args, **parameters(node, params))
        else:
            values = _values(node, names, named(result), params)
            if complexes:
                values |= {arg: _conj(values[arg]) for arg in prim.args}
            made = pulled(prim, place, carried, values)
        # without the cotangent or tangent, whose name may be long
        if made is not None and len(text_of(made)) - len(text) > _LONGEST_PRODUCT:
            made = None
    if made is None and factor is not None:
        conjugate = word == "adjoint" and complexes
        made = carried * (_conj(factor) if conjugate else factor)
        if text_of(factor) == "1":
            made = carried
    over = f"({result})" if several else result
    return f"{text} * \u2202{over}/\u2202{name}" if made is None else text_of(made)


def _conj(formula: Symbol) -> Symbol:
    return Symbol("call", "conj", formula)
