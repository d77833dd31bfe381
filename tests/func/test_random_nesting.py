"""Test random nests of transforms with closures over every level, against exact derivatives.

The functions are polynomials in several variables, whose derivatives a small class computes. A
program takes one variable after the other by some transform, and asks for a derivative or the value
of what the rest of the program gives, which may use all variables that were taken.
"""

import random

import numpy as np
import pytest

import wengert as wg
import wengert.autograd.forward_ad as fwd
from wengert import func

VARIABLES = 4


class Polynomial:
    """Coefficients by exponents."""

    def __init__(self, terms):
        self.terms = terms

    @classmethod
    def drawn(cls, rng):
        return cls(
            {
                tuple(rng.randint(0, 3) for _ in range(VARIABLES)): rng.choice([-2, -1, 1, 2, 3])
                for _ in range(rng.randint(2, 5))
            }
        )

    def slope(self, i):
        return Polynomial(
            {(*p[:i], p[i] - 1, *p[i + 1 :]): c * p[i] for p, c in self.terms.items() if p[i]}
        )

    def __call__(self, values):
        total = values[0] * 0
        for powers, c in self.terms.items():
            term = c
            for value, power in zip(values, powers, strict=True):
                for _ in range(power):
                    term = value * term
            total = total + term
        return total


def number(value):
    return wg.tensor(value, dtype=wg.float64)


class Product(wg.autograd.Function):
    """``a * b``, as an operation with rules of its own."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


def ruled(f, kind, values):
    """`f` of the last of `values`, by rules that close over the others."""
    *known, last = values
    slope = f.slope(len(known))

    def at(g, x):
        return g([*known, x, *[number(1.0)] * (VARIABLES - len(known) - 1)])

    if kind == "custom_vjp":
        made = func.custom_vjp(lambda x: at(f, x))
        made.defvjp(lambda x: (at(f, x), x), lambda x, g: (g * at(slope, x),))
    else:
        made = func.custom_jvp(lambda x: at(f, x))
        made.defjvp(lambda p, t: (at(f, p[0]), at(slope, p[0]) * t[0]))
    return made(last)


def by_grad(g, x):
    return func.grad(g)(x)


def by_vjp(g, x):
    return func.vjp(g, x)[1](number(1.0))[0]


def by_jvp(g, x):
    return func.jvp(g, (x,), (number(1.0),))[1]


def by_jacfwd(g, x):
    return func.jacfwd(g)(x)


def by_jacrev(g, x):
    return func.jacrev(g)(x)


def by_linearize(g, x):
    return func.linearize(g, x)[1](number(1.0))


def by_autograd(g, x):
    with wg.enable_grad():
        inner = x * 1 if x.requires_grad else x.detach().requires_grad_()
        inner = inner if x.requires_grad else _tied(x)
        y = g(inner)
        if not y.requires_grad:
            return x * 0
        (found,) = wg.autograd.grad(y, inner, create_graph=True, allow_unused=True)
    return x * 0 if found is None else found


def _tied(x):
    """A tensor that requires a gradient with all that `x` is, at its levels."""
    return x + wg.zeros((), dtype=wg.float64, requires_grad=True)


def by_dual(g, x):
    if fwd._current_level >= 0:
        # these levels do not nest
        return by_jvp(g, x)
    with fwd.dual_level():
        tangent = fwd.unpack_dual(g(fwd.make_dual(x, number(1.0)))).tangent
    return x * 0 if tangent is None else tangent


def by_vmap(g, x):
    return func.vmap(func.grad(g))(wg.stack([x, x + 1.0]))[0]


def by_vmap_of_autograd(g, x):
    return func.vmap(lambda v: by_autograd(g, v))(wg.stack([x, x]))[1]


SLOPES = [
    by_grad,
    by_vjp,
    by_jvp,
    by_jacfwd,
    by_jacrev,
    by_linearize,
    by_autograd,
    by_dual,
    by_vmap,
    by_vmap_of_autograd,
]


def differs(seed):
    """What a random program gives and what it should, if they differ."""
    rng = random.Random(seed)
    f = Polynomial.drawn(rng)
    points = [rng.choice([-1.5, -1.0, 0.5, 2.0]) for _ in range(VARIABLES)]
    depth = rng.randint(1, VARIABLES)
    ways = [rng.choice(SLOPES) for _ in range(depth)]
    order = list(range(VARIABLES))
    last = rng.choice(["plain", "plain", "Function", "custom_vjp", "custom_jvp"])

    def below(values):
        i = len(values)
        if i < depth:
            return ways[i](lambda x: below([*values, x]), number(points[i]))
        full = [*values, *[number(p) for p in points[i:]]]
        if last == "Function":
            return Product.apply(f(full), 1.0 + 0.0 * full[0]) + 0.0
        if last.startswith("custom") and depth == VARIABLES:
            return ruled(f, last, full)
        return f(full)

    expected = f
    for i in order[:depth]:
        expected = expected.slope(i)
    want = expected(points) if expected.terms else 0.0
    names = [way.__name__ for way in ways]
    try:
        found = below([])
    except NotImplementedError as error:
        if "close over" in str(error):
            return None
        raise
    if not np.isclose(found.item(), want, 1e-9, 1e-9):
        return f"seed {seed}: {names}, {last}: {found.item()}, not {want}"
    return None


@pytest.mark.parametrize("block", range(8))
def test_random_nests_give_exact_derivatives(block):
    wrong = [differs(seed) for seed in range(25 * block, 25 * (block + 1))]
    assert not [w for w in wrong if w]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_many_random_nests_give_exact_derivatives(block):
    wrong = [differs(seed) for seed in range(1000 + 100 * block, 1000 + 100 * (block + 1))]
    assert not [w for w in wrong if w]
