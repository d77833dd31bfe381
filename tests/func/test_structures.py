"""Two containers that belong together are matched by their keys, not by the order of these."""

import pytest

import wengert as wg
from wengert import func

ONE, TWO, THREE = wg.tensor(1.0), wg.tensor(2.0), wg.tensor(3.0)
PLACES = [
    ((ONE, (TWO, THREE)), ((ONE, TWO), THREE)),
    ({"a": ONE, "b": TWO}, {"a": ONE, "c": TWO}),
    ([ONE, TWO], [[ONE, TWO]]),
    ((ONE, TWO), {"a": ONE, "b": TWO}),
]


def weighed(d):
    return 10 * d["a"] + d["b"]


def test_tangents_belong_to_the_keys_of_the_primals():
    primals, tangents = {"a": ONE, "b": TWO}, {"b": wg.tensor(100.0), "a": wg.tensor(7.0)}
    assert func.jvp(weighed, (primals,), (tangents,))[1] == 170
    assert func.linearize(weighed, primals)[1](tangents) == 170
    _, product = func.hvp(lambda d: weighed(d) ** 2 / 2, (primals,), (tangents,))
    assert product[0] == {"a": wg.tensor(1700.0), "b": wg.tensor(170.0)}


def test_cotangents_belong_to_the_keys_of_the_output():
    _, pull = func.vjp(lambda x: {"a": 2 * x, "b": [3 * x]}, ONE)
    assert pull({"b": [ONE], "a": TWO}) == (wg.tensor(7.0),)


@pytest.mark.parametrize(("wanted", "given"), PLACES)
def test_containers_of_other_structures_are_refused(wanted, given):
    leaves, rebuild = func.inputs.flatten(wanted)
    with pytest.raises(RuntimeError, match="same python structure"):
        func.jvp(lambda tree: func.inputs.flatten(tree)[0][0], (wanted,), (given,))
    with pytest.raises(RuntimeError, match="structure of the primals"):
        func.linearize(lambda tree: func.inputs.flatten(tree)[0][0], wanted)[1](given)
    _, pull = func.vjp(lambda x: rebuild([x * leaf for leaf in leaves]), ONE)
    with pytest.raises(RuntimeError, match="Expected pytree structure of cotangents"):
        pull(given)


def test_lists_stand_for_tuples():
    _, pull = func.vjp(lambda x: (2 * x, (3 * x,)), ONE)
    assert pull([ONE, [TWO]]) == (wg.tensor(8.0),)


def test_rules_give_derivatives_by_the_keys_of_arguments_and_outputs():
    @func.custom_vjp
    def reverse(d):
        return weighed(d)

    reverse.defvjp(lambda d: (weighed(d), None), lambda _, g: ({"b": g, "a": 10 * g},))
    assert func.grad(reverse)({"a": ONE, "b": TWO}) == {"a": wg.tensor(10.0), "b": ONE}

    @func.custom_jvp
    def forward(x):
        return {"a": 2 * x, "b": 3 * x}

    forward.defjvp(lambda p, t: (forward(*p), {"b": 3 * t[0], "a": 2 * t[0]}))
    _, slopes = func.jvp(forward, (ONE,), (ONE,))
    assert slopes == {"a": TWO, "b": THREE}
    assert func.grad(lambda x: weighed(forward(x)))(ONE) == 23


def test_a_derivative_in_time_belongs_to_the_keys_of_the_state():
    def turning(y, t):
        return {"speed": -y["place"], "place": y["speed"]}

    start = {"place": wg.tensor(1.0).double(), "speed": wg.tensor(0.0).double()}
    times = wg.tensor([0.0, 1.0]).double()
    y = wg.integrate.odeint(turning, start, times, rtol=1e-8)
    assert wg.allclose(y["place"][-1], wg.tensor(1.0).double().cos())
    assert wg.allclose(y["speed"][-1], -wg.tensor(1.0).double().sin())
    with pytest.raises(ValueError, match="must return a value of the structure and shape"):
        wg.integrate.odeint(lambda y, t: tuple(y.values()), start, times)


def test_the_next_unknowns_of_an_iteration_belong_to_their_keys():
    @wg.implicit.fixed_point(lambda z, a: {"b": z["b"] * 0.25 + a, "a": z["a"] * 0.5 + a})
    def solved(z, a):
        return {"a": 2 * a, "b": a / 0.75}

    a = wg.tensor(3.0, requires_grad=True)
    found = solved({"a": ONE, "b": ONE}, a)
    found["a"].backward()
    assert a.grad == 2
