"""Layer 9 · testing: more steps of random programs: layouts, dtypes, forward mode, transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.testing.pool import Picker, Writer

__all__ = ["forward", "layout", "promotion"]

SHAPED = (
    *("{}.flip({d})", "{}.sort({d}).values", "{}.cumsum({d})", "{}.softmax({d})", "{}.erf()"),
    *("{}.roll(1, {d})", "{0}.masked_fill({0} > 0.1, 0.5)", "t.zeros_like({0}) + {0}", "{} * 1"),
    *("{0}.transpose(0, -1).contiguous().transpose(0, -1)", "{}.clone()", "{}.log_softmax({d})"),
    *(
        "t.where({0} > 0, {0}, {0} * 2)",
        "{0}.lerp({0} * 2, 0.3)",
        "{}.cumsum({d}).transpose(0, -1)",
    ),
    *("{}.transpose(0, -1).sin()", "t.stack([{0}, {0}]).sum(0)", "{}.logcumsumexp({d})"),
    *("t.cat([{0}, {0}], {d}).narrow({d}, 0, 1)", "{}.clamp(-0.5, 0.5)", "{}.gelu()"),
)
"""Operations on one tensor, whose results lie in memory in one order or another."""
STRIDES = "t.tensor([s for s, n in zip({0}.stride(), {0}.shape) if n > 1] * ({0}.numel() > 0))"

PROMOTED = (
    *("{i} + 1", "{i} * 0.5", "{i} / 2", "{i} // 2", "{i} ** 2", "{i}.sum()", "{i}.cumsum(0)"),
    *("{f} * {i}", "{f} + {b}", "{i} + {b}", "{b} + {b}", "{b} & {b}", "{f} > {i}", "{f}.long()"),
    *(
        "{f} * t.tensor(2)",
        "{f} + True",
        "{i} - t.tensor(0.5)",
        "t.where({b}, {f}, 2)",
        "{f}.bool()",
    ),
    *("t.where({b}, 1, 2)", "t.add({f}, {i}, alpha=2)", "{i}.float()", "{f} % 2", "{i} % 2"),
    *("t.atan2({i}, {f})", "{i}.exp()", "{i}.mean(dtype=t.float64)", "{b}.sum()", "{i} == {f}"),
    *("t.maximum({i}, {i})", "{f}.half().double()", "{f} * (1 + 2j)", "{i}.prod()", "-{i}", "~{b}"),
    *("{f}.copysign({i})", "{f}.sum(dtype=t.float32)", "{i} * t.tensor(1.5)", "{i}.div({i} + 2)"),
)
"""Operations on floating-point numbers, whole numbers and truth values."""

CURVES = (
    "u.sin() * u",
    "(u * u + 1).log()",
    "u * {y}",
    "({y} * u).tanh() + {y}",
    "u / ({y} ** 2 + 1)",
)
DUAL = "t.autograd.forward_ad.make_dual({x}, t.ones_like({x}))"
LEVEL = "with t.autograd.forward_ad.dual_level(): "
FORWARD = (
    "t.func.jvp(lambda u: {c}, ({x}.detach(),), (t.ones_like({x}),))[1]",
    "t.func.jvp(lambda u: {c}, ({x},), (t.ones_like({x}),))[1]",
    "t.func.grad(lambda u: ({c}).sum())({x})",
    "t.func.jacfwd(lambda u: ({c}).sum())({x})",
    "t.func.jacrev(lambda u: ({c}).sum())({x})",
    "t.func.vjp(lambda u: {c}, {x})[1](t.ones_like({x}))[0]",
    # whether what is zero everywhere has a history is a matter of the rules
    "t.func.jvp(t.func.grad(lambda u: ({c}).sum()), ({x},), (t.ones_like({x}),))[1].detach()",
    "t.func.grad(lambda u: t.func.jvp(lambda v: v * u, (u,), (u,))[1].sum())({x})",
    "t.func.vmap(lambda u: {c}, in_dims=None, out_dims=0, randomness='error')({x})",
    "t.autograd.functional.jvp(lambda u: {c}, {x}, t.ones_like({x}))[1]",
    "t.autograd.functional.vjp(lambda u: ({c}).sum(), {x})[1]",
)
LEVELS = (
    "{n} = t.autograd.forward_ad.unpack_dual(({d} * {y}).sin()).tangent * 1",
    "({d} * {y}).sum().backward(retain_graph=True)",
    "{n} = t.autograd.grad(({d} * {y}).sin().sum(), {x})[0] * 1",
    "{n} = ({d} * {y}).sin()",
)


def layout(w: Writer, pick: Picker) -> None:
    """Something whose order in memory matters, and the strides of its result."""
    a = pick.one([v for v in w.values if v.like.dtype.kind == "f" and v.like.ndim > 1] or w.values)
    if not a.like.ndim or a.like.dtype.kind != "f" or a.repeats:
        return
    d = pick.below(a.like.ndim)
    form = pick.one(SHAPED)
    shape = list(a.like.shape)
    if "cat" in form and not a.like.shape[d]:
        return
    if "narrow" in form:
        shape[d] = 1
    if "transpose(0, -1)" in form and "contiguous" not in form:
        shape[0], shape[-1] = shape[-1], shape[0]
    name = form.replace("{}.gelu()", "t.nn.functional.gelu({})").format(a.name, d=d)
    w.new(name, np.empty(shape), None, a.needs)
    result = w.values[0]
    w.new(STRIDES.format(result.name), np.empty(0, "i"), None, False)
    # nothing is to be computed with strides
    w.values = [result, *w.values[2:]]


def promotion(w: Writer, pick: Picker) -> None:
    """Something of two dtypes."""
    a = w.number(pick)
    shape = a.like.shape
    text = pick.one(PROMOTED)
    names = {"f": a.name}
    for letter, kind in (("i", "i"), ("b", "?")):
        found = [v.name for v in w.values if v.like.dtype.kind == kind and v.like.shape == shape]
        made = f"({a.name}.detach() * 3).long()" if kind == "i" else f"({a.name} > 0)"
        names[letter] = pick.one([made, *found])
    name = w.fresh("p")
    w.lines.append(f"{name} = {text.format(**names)}")


def forward(w: Writer, pick: Picker) -> None:
    """Forward mode, or a transform, over what is there and by it."""
    x = w.recorded(pick)
    if x.repeats:
        # PyTorch refuses tangents of memory that is shown several times
        return
    found: list[Any] = [v for v in w.values if v.like.shape == x.like.shape]
    y = pick.one([v for v in found if v.like.dtype.kind == "f"] or [x])
    curve = pick.one(CURVES).format(y=y.name)
    if pick.below(3):
        text = pick.one(FORWARD).format(c=curve, x=x.name)
        if "vmap" in text:
            text = f"t.func.vmap(lambda u: u.sin() * u.sum())({x.name})"
        # how a transform computes it is its own affair: the node on top is that of a product
        w.lines.append(f"{w.fresh('p')} = ({text}) * 1")
        return
    dual = DUAL.format(x=x.name)
    line = pick.one(LEVELS).format(n=w.fresh("p"), d=dual, x=x.name, y=y.name)
    w.lines.append(LEVEL + line)
