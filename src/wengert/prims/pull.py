"""Layer 2 · prims: the reverse rule of a composition of primitives, from their own rules.

NOTE [rules of compositions]
A fused kernel computes what a composition of primitives says. Its reverse rule on raw arrays is a
kernel, too. For any other namespace the rule follows from the composition: `pull` runs it in `F`,
keeps what each primitive was given and what it returned, and goes back through their rules. What it
does is made of primitives of `F` again, so that it can be differentiated, batched or traced as
these can; and no derivative of second order is written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.prims.record import TABLE, Primitive


def are_raw(*values: Any) -> bool:
    """Return whether all `values` are raw arrays: any other kind carries its namespace."""
    return all(getattr(value, "_namespace", None) is None for value in values)


class _Value:
    """A value of a composition that is being followed."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)


_Step = tuple[Primitive, tuple[_Value, ...], dict[str, Any], tuple[_Value, ...]]


class _Followed:
    """The namespace `F`, and a list of what was computed in it."""

    def __init__(self, F: Any) -> None:
        self.inner = F
        self.steps: list[_Step] = []

    def __getattr__(self, name: str) -> Any:
        prim, compute, steps = TABLE[name], getattr(self.inner, name), self.steps

        def call(*args: _Value, **params: Any) -> Any:
            made = compute(*[arg.value for arg in args], **params)
            outs = tuple(map(_Value, made)) if prim.outputs != 1 else (_Value(made),)
            steps.append((prim, args, params, outs))
            return outs if prim.outputs != 1 else outs[0]

        setattr(self, name, call)
        return call


def pull(
    F: Any, compose: Callable[..., Sequence[Any]], inputs: Sequence[Any], cotangents: Sequence[Any]
) -> list[Any]:
    """Return the cotangents of `inputs` from those of ``compose(F, *inputs)``.

    `compose` calls functions of `F` only: no operators, no numbers among the arrays.
    """
    followed = _Followed(F)
    leaves = [_Value(value) for value in inputs]
    slopes: dict[_Value, Any] = {}

    def add(value: _Value, slope: Any) -> None:
        slopes[value] = slopes[value] + slope if value in slopes else slope

    for out, cotangent in zip(compose(followed, *leaves), cotangents, strict=True):
        add(out, cotangent)
    for prim, args, params, outs in reversed(followed.steps):
        if not any(out in slopes for out in outs):
            continue
        given = [slopes.pop(out, None) for out in outs]
        full = [
            F.zeros_like(out.value) if g is None else g for g, out in zip(given, outs, strict=True)
        ]
        for arg, slope in zip(args, _back(F, prim, full, args, params, outs), strict=True):
            if slope is not None:
                add(arg, F.sum_to(slope, shape=arg.shape) if prim.broadcasts else slope)
    return [slopes[leaf] if leaf in slopes else F.zeros_like(leaf.value) for leaf in leaves]


def _back(
    F: Any,
    prim: Primitive,
    given: list[Any],
    args: tuple[_Value, ...],
    params: dict[str, Any],
    outs: tuple[_Value, ...],
) -> Sequence[Any]:
    """Return the results of one primitive's rules for the cotangents of its results."""
    g = tuple(given) if prim.outputs != 1 else given[0]
    known: dict[str, Any] = {**params, "result": outs[0].value}
    if prim.variadic:
        name = prim.args[0]
        known[name] = tuple([arg.value for arg in args])
        known[f"{name}_shape"] = tuple([arg.shape for arg in args])
        rule = prim.rules[0]
        assert rule is not None
        made: Sequence[Any] = rule.call(F, g, *[known[n] for n in rule.names])
        return made
    for name, arg in zip(prim.args, args, strict=True):
        known[name], known[f"{name}_shape"] = arg.value, arg.shape
        known[f"{name}_ordered"] = True
    return [
        None if rule is None else rule.call(F, g, *[known[n] for n in rule.names])
        for rule in prim.rules
    ]
