"""Test nested transforms of many programs against finite differences."""

import pytest

import wengert as wg
from support.transforms import compare, programs, transforms
from wengert import func

PROGRAMS = programs(wg)
TRANSFORMS = transforms(wg)
TRIPLES = """
grad(grad(grad)) vmap(grad(vmap)) grad(vmap(grad)) jvp(grad(vmap)) grad(jvp(grad)) jvp(jvp(jvp))
vmap(vmap(vmap)) jacfwd(jacrev(jvp)) jacrev(jacfwd(vmap)) vmap(jacfwd(jacrev)) jvp(vmap(jacrev))
linearize(vmap(grad)) vmap(linearize(jvp)) hessian(vjp(vmap)) vmap(hessian(jvp)) grad(hvp(grad))
vjp(jvp(vjp)) chunks(hvp(chunks)) jacrev(vmap(linearize))
"""


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_one(outer, program):
    compare(wg, outer, PROGRAMS[program])


PAIRS = [(outer, inner) for outer in TRANSFORMS for inner in TRANSFORMS]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_two(number):
    # every pair with two of the programs, every program with many of the pairs
    outer, inner = PAIRS[number]
    names = list(PROGRAMS)
    for name in (names[number % len(names)], names[(5 * number + 3) % len(names)]):
        compare(wg, outer, TRANSFORMS[inner](PROGRAMS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_two_with_every_program(outer, inner, program):
    compare(wg, outer, TRANSFORMS[inner](PROGRAMS[program]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", ["written", "closed_over", "functions"])
@pytest.mark.parametrize("triple", TRIPLES.split())
def test_three(triple, program):
    outer, second, third = triple.rstrip(")").split("(")
    compare(wg, outer, TRANSFORMS[second](TRANSFORMS[third](PROGRAMS[program])))


def test_five_levels():
    x = wg.tensor([[0.3, -0.7], [1.1, 0.4]], dtype=wg.float64)
    f, g = wg.func.vmap, wg.func.grad

    def deep(u):
        def middle(v):
            return wg.func.jvp(lambda z: (z * u * v).sin().sum(), (v,), (u,))[1]

        return f(g(middle))(x).sum()

    found = f(g(deep))(x)
    step = 1e-5
    for i in range(2):
        for j in range(2):
            unit = wg.zeros(2, dtype=wg.float64)
            unit[j] = step
            slope = (deep(x[i] + unit) - deep(x[i] - unit)) / (2 * step)
            assert abs(float(found[i, j] - slope)) < 1e-7


def test_the_inputs_of_ended_transforms_keep_no_graph_of_the_result():
    def root(a):
        def f(x):
            return x**2 - a

        x = wg.tensor(1.0)
        for _ in range(3):
            x = x - f(x) / func.grad(f)(x)
        return x

    slope = func.grad(root)(wg.tensor(2.0))
    assert slope.grad_fn is None and not slope.requires_grad
    assert abs(slope.item() - 0.5 / 2**0.5) < 1e-3

    # what is really outside is followed as ever
    x = wg.tensor(2.0, requires_grad=True)
    y = func.grad(lambda a: a * x + func.grad(lambda y: y * a * x)(wg.tensor(1.0)))(wg.tensor(3.0))
    y.backward()
    assert x.grad == 2.0


def test_a_gradient_that_does_not_depend_on_the_outside_has_no_history():
    def outer(x):
        def f(y):
            return (x * x).sum() - (y * y).sum()

        y = wg.tensor([3.0])
        slope = func.grad(f)(y)
        pulled = func.vjp(f, y)[1](wg.tensor(1.0))[0]
        assert slope.grad_fn is None and pulled.grad_fn is None
        assert func.grad(lambda y: (x * y).sum())(y).requires_grad
        return (x * slope).sum()

    assert func.grad(outer)(wg.tensor([2.0])) == -6.0


def test_one_direction_decides_as_it_would_without_derivatives():
    def root(t):
        x = wg.ones_like(t)
        gap = func.grad(lambda x, t: (x**3 / 3 - t * x).sum())
        while (step := gap(x, t)).abs() > 1e-12:
            x = x - step / (2 * x)
        return x

    t = wg.tensor(4.0, dtype=wg.float64)
    assert abs(func.jacfwd(root)(t) - 0.25) < 1e-6
    assert func.jacfwd(root)(t[None]).shape == (1, 1)
    slope, value = func.jacfwd(lambda t: (t * t, root(t)), has_aux=True)(t)
    assert slope == 8.0 and abs(value - 2.0) < 1e-9


@pytest.mark.parametrize("after", [lambda x: x, lambda x: x * 2, wg.sin])
def test_a_view_made_without_recording_is_an_input_as_any_other(after):
    base = wg.tensor([0.35], requires_grad=True)
    with wg.no_grad():
        view = base.view(1, 1)
    x = after(view)
    inner = wg.func.grad(lambda u: u.sin().sum())
    assert wg.func.grad(lambda u: inner(u).sum())(x).item() == pytest.approx(-x.sin().item())
    (second,) = wg.func.vjp(inner, x)[1](wg.ones(1, 1))
    assert second.item() == pytest.approx(-x.sin().item())


FLAT = {
    "threshold": lambda x: wg.nn.functional.threshold(x, 0.1, 5),
    "hardtanh": wg.nn.functional.hardtanh,
    "leaky_relu": wg.nn.functional.leaky_relu,
    "prelu": lambda x: wg.nn.functional.prelu(x, x[:1]),
    "softshrink": wg.nn.functional.softshrink,
    "max_pool1d": lambda x: wg.nn.functional.max_pool1d(x[None], 2, 1)[0],
}


@pytest.mark.parametrize("name", FLAT)
def test_second_derivatives_of_what_is_flat_between_kinks(name):
    x = wg.tensor([0.3, -0.7, 1.1, 0.8], dtype=wg.float64)
    for loss in (lambda x: FLAT[name](x).sum(), lambda x: (FLAT[name](x) ** 2).sum()):
        expected = func.jacfwd(func.grad(loss))(x)
        for outer in (func.jacrev, func.jacfwd):
            for inner in (func.jacrev, func.jacfwd, func.grad):
                wg.testing.assert_close(outer(inner(loss))(x), expected)
