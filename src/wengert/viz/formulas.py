"""Layer 9 · viz: operations and their local derivatives as formulas: ``a * b`` and ``b``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.interp.levels import Lifted
from wengert.tape.base import FREED, TensorBase
from wengert.viz.reading import operation_of
from wengert.viz.wording import brief, number, shape_text

__all__ = ["atom", "constant_text", "expression", "number_of", "partial", "product"]

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pow": "**",
    "remainder": "%",
    "mm": "@",
    "mv": "@",
    "bmm": "@",
    "dot": "@",
    "eq": "==",
    "lt": "<",
    "gt": ">",
}
_REVERSED = {"rsub_scalar": "-", "rpow_scalar": "**"}
_LONGEST = 24


def atom(text: str) -> str:
    """`text` in brackets, unless it is a name, a number, a call or in brackets already."""
    plain = re.fullmatch(r"[\w.₀-₉]+(\(.*\)|\[.*\])?", text)
    return text if plain else f"({text})"


def constant_text(value: Any) -> str:
    """How a formula shows what has no name: a number as itself, an array by its shape."""
    payload: Any = value.payload if isinstance(value, TensorBase) else value
    if isinstance(payload, np.ndarray | np.generic):
        if payload.ndim == 0:
            return brief(payload)
        return f"constant {shape_text(payload.shape)}"
    if isinstance(payload, Lifted):
        return "constant"
    text = re.sub(r"\s+", " ", brief(payload) if isinstance(payload, float) else repr(payload))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def number_of(node: Any, name: str) -> Any:
    """The number that a node kept under `name`; None if it did not, or has let go of it."""
    value = getattr(node, f"p_{name}", None)
    return None if value is FREED else value


def expression(
    node: Any, names: Sequence[str], params: dict[str, Any] | None = None, short: bool = False
) -> str:
    """What `node` computes, as a Python programmer writes it.

    Parameters
    ----------
    names
        For each edge what its argument is called.
    params
        The operation's parameters, where they are known beside those that the node keeps.
    short
        Whether to leave out parameters.
    """
    prim = getattr(type(node), "prim", None)
    if prim is None or params is None:
        params = {}
    name = operation_of(node)
    if prim is not None and prim.of_number:
        given = params.get(prim.params[0], number_of(node, prim.params[0]))
        other = "number" if given is None else constant_text(given)
        if prim.name in _REVERSED:
            return f"{atom(other)} {_REVERSED[prim.name]} {atom(names[0])}"
        return f"{atom(names[0])} {_INFIX.get(name, name)} {other}"
    if name in _INFIX and len(names) == 2:
        return f"{atom(names[0])} {_INFIX[name]} {atom(names[1])}"
    if name == "neg":
        return f"-{atom(names[0])}"
    more = [] if short else [f"{key}={constant_text(value)}" for key, value in params.items()]
    return f"{name}({', '.join([*names, *more])})"


def _power(names: Sequence[str], exponent: Any) -> str:
    x = atom(names[0])
    if exponent == 1:
        return "1"
    if exponent == 2:
        return f"2 * {x}"
    if isinstance(exponent, int | float):
        less = number(exponent - 1)
        return f"{number(exponent)} * {x} ** {less}"
    shown = atom(constant_text(exponent))
    return f"{shown} * {x} ** ({shown} - 1)"


_UNARY: dict[str, Callable[[str, str], str]] = {
    "neg": lambda x, r: "-1",
    "exp": lambda x, r: r,
    "log": lambda x, r: f"1 / {x}",
    "sin": lambda x, r: f"cos({x})",
    "cos": lambda x, r: f"-sin({x})",
    "tan": lambda x, r: f"1 + {r} ** 2",
    "sinh": lambda x, r: f"cosh({x})",
    "cosh": lambda x, r: f"sinh({x})",
    "tanh": lambda x, r: f"1 - {r} ** 2",
    "sigmoid": lambda x, r: f"{r} * (1 - {r})",
    "sqrt": lambda x, r: f"1 / (2 * {r})",
    "rsqrt": lambda x, r: f"-{r} ** 3 / 2",
    "reciprocal": lambda x, r: f"-1 / {x} ** 2",
    "log1p": lambda x, r: f"1 / (1 + {x})",
    "log2": lambda x, r: f"1 / ({x} * log(2))",
    "log10": lambda x, r: f"1 / ({x} * log(10))",
    "exp2": lambda x, r: f"{r} * log(2)",
    "expm1": lambda x, r: f"{r} + 1",
    "asin": lambda x, r: f"1 / sqrt(1 - {x} ** 2)",
    "acos": lambda x, r: f"-1 / sqrt(1 - {x} ** 2)",
    "atan": lambda x, r: f"1 / (1 + {x} ** 2)",
    "abs": lambda x, r: f"sign({x})",
    "relu": lambda x, r: f"({x} > 0)",
    "clone": lambda x, r: "1",
}
_BINARY: dict[str, tuple[Callable[[str, str, str], str], ...]] = {
    "add": (lambda x, y, r: "1", lambda x, y, r: "1"),
    "sub": (lambda x, y, r: "1", lambda x, y, r: "-1"),
    "mul": (lambda x, y, r: y, lambda x, y, r: x),
    "div": (lambda x, y, r: f"1 / {y}", lambda x, y, r: f"-{x} / {y} ** 2"),
    "pow": (lambda x, y, r: f"{y} * {x} ** ({y} - 1)", lambda x, y, r: f"{r} * log({x})"),
    "dot": (lambda x, y, r: y, lambda x, y, r: x),
}
_WITH_NUMBER: dict[str, Callable[[str, str, str], str]] = {
    "add_scalar": lambda x, c, r: "1",
    "sub_scalar": lambda x, c, r: "1",
    "rsub_scalar": lambda x, c, r: "-1",
    "mul_scalar": lambda x, c, r: c,
    "div_scalar": lambda x, c, r: f"1 / {c}",
    "rpow_scalar": lambda x, c, r: f"{r} * log({c})",
}


def partial(
    node: Any,
    names: Sequence[str],
    result: str,
    place: int,
    params: dict[str, Any] | None = None,
) -> str | None:
    """The derivative of what `node` computes by the argument at `place`, if it has a short formula.

    Parameters
    ----------
    names, params
        As for `expression`.
    result
        What the result is called.
    """
    prim = getattr(type(node), "prim", None)
    if prim is None:
        return None
    x = [atom(name) for name in names]
    if prim.of_number:
        given = (params or {}).get(prim.params[0], number_of(node, prim.params[0]))
        if given is None:
            return None
        if prim.name == "pow_scalar":
            return _power(names, given)
        rule = _WITH_NUMBER.get(prim.name)
        return None if rule is None else rule(x[0], atom(constant_text(given)), atom(result))
    if prim.name in _UNARY and len(x) == 1:
        return _UNARY[prim.name](x[0], atom(result))
    if prim.name in _BINARY and len(x) == 2:
        return _BINARY[prim.name][place](x[0], x[1], atom(result))
    return None


def product(
    word: str, node: Any, names: Sequence[str], result: str, place: int, factor: str | None
) -> str:
    """What an operation makes of an adjoint or a tangent, for one of its arguments, as a formula.

    Parameters
    ----------
    word
        ``"adjoint"`` (of the result, for the argument's) or ``"tangent"`` (of the argument).
    names, result
        What the arguments and the result are called.
    factor
        The local derivative's formula, if it has one.
    """
    name = names[place]
    several = ", " in result
    carried = f"{word} of {name}"
    if word == "adjoint":
        carried = f"adjoint{'s' if several else ''} of {result}"
    if factor == "1":
        return carried
    if factor is not None and word == "adjoint" and getattr(node, "complexes", None) is not None:
        return f"{carried} * conj({factor})"
    if factor is not None:
        return f"{carried} * {atom(factor)}"
    if operation_of(node) in ("mm", "mv") and len(names) == 2:
        left, right = atom(names[0]), atom(names[1])
        if word == "tangent":
            return f"{carried} @ {right}" if place == 0 else f"{left} @ {carried}"
        if operation_of(node) == "mm":
            return f"{carried} @ {right}.T" if place == 0 else f"{left}.T @ {carried}"
    over = f"({result})" if several else result
    return f"{carried} * \u2202{over}/\u2202{name}"
