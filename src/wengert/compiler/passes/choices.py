"""Layer 8 · compiler: identities of choices, truth values and copies, element by element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wengert.compiler.ir.programs import Value
from wengert.compiler.passes.builder import Book, Builder
from wengert.prims import records

__all__ = ["CHOICES"]

Values = tuple[Value, ...]
Params = Mapping[str, Any]

CHOICES = Book()
_rule = CHOICES.rule

# -- choices --------------------------------------------------------------------------------------


@_rule(records.maximum, records.minimum)
def _of_equals(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    return args[0] if args[0] is args[1] and args[0].dtype == out.dtype else None


@_rule(records.where)
def _choice(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    condition, first, second = args
    if not first.dtype == second.dtype == out.dtype:
        return None
    known = b.uniform(condition)
    if known is not None:
        return b.expanded(first if known else second, out.shape)
    if first is second:
        return b.expanded(first, out.shape)
    negated = b.maker(condition, "logical_not")
    if negated is not None:
        return b.emit("where", (negated.args[0], second, first), {}, out)
    # what is chosen twice by one condition
    chosen = [first, second]
    for i, value in enumerate(chosen):
        inner = b.maker(value, "where")
        if inner is not None and inner.args[0] is condition:
            chosen[i] = b.expanded(inner.args[1 + i], value.shape)
    if chosen == [first, second]:
        return None
    return b.emit("where", (condition, *chosen), {}, out)


@_rule(records.logical_not, on=(records.logical_not,))
def _negation(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    inner = b.maker(args[0], "logical_not")
    return inner.args[0] if inner is not None and inner.args[0].dtype.kind == "b" else None


@_rule(records.logical_and, records.logical_or)
def _truth(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    for one, other in (args, args[::-1]):
        if one.dtype.kind != "b":
            continue
        if one is other:
            return one
        known = b.uniform(other)
        if known is None:
            continue
        if bool(known) == (name == "logical_and"):
            return b.expanded(one, out.shape)
        return b.filled(name == "logical_or", out.dtype, out.shape)
    return None


# -- copies ---------------------------------------------------------------------------------------


@_rule(records.clone, records.alias, records.contiguous)
def _copy(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    return args[0]


@_rule(records.real, records.conj)
def _real(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    return args[0] if args[0].dtype.kind != "c" else None


def _is_exact(source: np.dtype[Any], wider: np.dtype[Any]) -> bool:
    """Whether every number of one dtype is one of another."""
    if source.kind == "b":
        return True
    if source.kind in "iu" and wider.kind in "fc":
        digits = np.finfo(wider).nmant + 1
        return source.itemsize * 8 <= digits
    return bool(np.can_cast(source, wider, "safe"))


@_rule(records.to_copy)
def _cast(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    (x,) = args
    if x.dtype == out.dtype:
        return x
    inner = b.maker(x, "to_copy")
    if inner is None:
        return None
    source = inner.args[0].dtype
    kept = source.kind == out.dtype.kind or out.dtype.kind in "fc"
    if kept and out.dtype.kind in "biufc" and _is_exact(source, x.dtype):
        return b.cast(inner.args[0], out.dtype)
    return None
