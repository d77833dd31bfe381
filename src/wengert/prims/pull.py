"""Layer 2 · prims: the reverse rule of a composition of primitives, from their own rules.

NOTE [rules of compositions]
A fused kernel is equivalent to a composition of primitives. Its reverse rule on raw arrays is a
kernel, too. In any other namespace the rule is derived from the composition: `pull` runs it in `F`,
records the arguments and results of each primitive, and applies their rules in reverse. All of this
consists of primitives of `F`, so it can be differentiated, batched or traced like them, and no
second derivative is written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.prims.record import TABLE, Primitive


def are_raw(*values: Any) -> bool:
    """Return whether all `values` are raw arrays, unlike values that carry a namespace."""
    return all(getattr(value, "_namespace", None) is None for value in values)


class _Value:
    """A value of a composition that is being recorded."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)


_Step = tuple[Primitive, tuple[_Value, ...], dict[str, Any], tuple[_Value, ...]]


class _Followed:
    """The namespace `F`, with a list of the calls made in it."""

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

    `compose` calls only functions of `F`: no operators, and no numbers in place of arrays.
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
        return rule.call(F, g, *[known[n] for n in rule.names])
    for name, arg in zip(prim.args, args, strict=True):
        known[name], known[f"{name}_shape"] = arg.value, arg.shape
        known[f"{name}_ordered"] = True
    return [
        None if rule is None else rule.call(F, g, *[known[n] for n in rule.names])
        for rule in prim.rules
    ]
