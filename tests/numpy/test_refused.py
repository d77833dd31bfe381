"""Test that functions without a derivative refuse tensors that need one, with a reason."""

import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.tensor.numpy.dispatch import kind_of
from wengert.tensor.numpy.kinds import REFUSED

special = pytest.importorskip("scipy.special")
VALUES = np.array([0.3, 0.5])

CALLS = {
    "busday_count": lambda f, t: f(t, t),
    "busday_offset": lambda f, t: f(t, t),
    "datetime_as_string": lambda f, t: f(t),
    "histogram2d": lambda f, t: f(t, t),
    "histogramdd": lambda f, t: f(t),
    "is_busday": lambda f, t: f(t),
    "save": lambda f, t: f("x.npy", t),
    "savetxt": lambda f, t: f("x.txt", t),
    "savez": lambda f, t: f("x.npz", t),
    "savez_compressed": lambda f, t: f("x.npz", t),
}
"""Calls of those that are not ufuncs; a ufunc is called on as many tensors as it takes."""


def function_of(name):
    home, _, own = name.rpartition(".")
    return getattr(special if home == "special" else np, own, None)


def call(name, t):
    function = function_of(name)
    if function is None:
        pytest.skip("it is not in this version")
    if name in CALLS:
        return CALLS[name](function, t)
    return function(*[t] * function.nin)


@pytest.mark.parametrize("name", REFUSED)
def test_it_says_what_to_write_instead(name, tmp_path, monkeypatch):
    assert kind_of(name) == "refused"
    monkeypatch.chdir(tmp_path)
    t = wg.tensor(VALUES, requires_grad=True)
    with pytest.raises(NotImplementedError) as caught:
        call(name, t)
    text = str(caught.value)
    label = f"scipy.{name}" if name.startswith("special.") else f"numpy.{name}"
    assert text.startswith(f"there is no derivative rule for {label}: ")
    assert f"{REFUSED[name]} If no gradient is wanted: x.detach()." in text
    assert not list(tmp_path.iterdir())


def leaves(result):
    return [v for part in result for v in leaves(part)] if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", [n for n in REFUSED if n.startswith("special.")])
def test_without_a_gradient_it_computes_on_the_values(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of orders that are cut to whole numbers
        try:
            expected = call(name, VALUES)
        except TypeError:
            with pytest.raises(TypeError):
                call(name, wg.tensor(VALUES))
            return
        results = call(name, wg.tensor(VALUES, requires_grad=True).detach())
    for result, value in zip(leaves(results), leaves(expected), strict=True):
        assert isinstance(result, wg.Tensor) and not result.requires_grad
        np.testing.assert_array_equal(result.numpy(), value)
        assert result.numpy().dtype == value.dtype


WRITES = {
    "copyto": lambda np, x, t: np.copyto(x, t),
    "copyto where": lambda np, x, t: np.copyto(x, t, where=[True, False]),
    "fill_diagonal": lambda np, x, t: np.fill_diagonal(np.reshape(x, (1, 2)), t[0]),
    "place": lambda np, x, t: np.place(x, [False, True], t),
    "put": lambda np, x, t: np.put(x, [1, 0], t),
    "put_along_axis": lambda np, x, t: np.put_along_axis(x, np.argsort(t), t[::1], 0),
    "putmask": lambda np, x, t: np.putmask(x, [False, True], t),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_rule_that_writes_into_tensors_is_recorded(name):
    assert kind_of(name.partition(" ")[0]) == "rule"

    def program(t):
        x = t * 2
        WRITES[name](np, x, t * t)
        return x

    expected = program(VALUES)
    t = wg.tensor(VALUES, requires_grad=True)
    np.testing.assert_allclose(program(t).detach().numpy(), expected)
    assert wg.autograd.gradcheck(program, t)
    assert wg.autograd.gradgradcheck(program, t)


def test_orders_without_a_derivative_are_refused_in_forward_mode_too():
    v, x = wg.tensor([1.0, 2.0]), wg.tensor([0.5, 0.7])
    calls = [lambda v: special.jv(v, x), lambda v: special.hyp1f1(v, v, x)]
    for call in [*calls, lambda v: special.struve(v, x)]:
        with pytest.raises(NotImplementedError, match=r"is not implemented.*detach\(\)"):
            wg.func.jvp(call, (v,), (v,))
    # each of the sums in it is written in place
    t = wg.tensor([0.5, 0.7], dtype=wg.float64, requires_grad=True)
    assert wg.autograd.gradcheck(lambda t: special.jvp(2, t, 2), t)


FORMULAS = {
    "diric": lambda f, x, n: f(x, n),
    "sph_harm_y": lambda f, x, n: f(n, 1, x, 0.7),
    "sph_legendre_p": lambda f, x, n: f(n, 1, x),
    **{f"spherical_{kind}n": lambda f, x, n: f(n, x) for kind in "ijky"},
}
"""Functions of SciPy's whose error spells out what to write: how to call them."""


@pytest.mark.parametrize("name", FORMULAS)
def test_the_formula_of_an_error_is_the_function_with_its_gradient(name):
    function = getattr(special, name, None)
    if function is None:
        pytest.skip("it is not in this version")
    t = wg.tensor(VALUES, requires_grad=True)
    with pytest.raises(TypeError, match=f" for scipy's {name}") as raised:
        FORMULAS[name](function, t, 2)
    formula = str(raised.value).partition("Write ")[2].rpartition(f" for scipy's {name}")[0]

    def written(x):
        names = {"x": x, "theta": x, "n": 2, "m": 1, "phi": 0.7}
        return eval(formula, {"np": np, "scipy": __import__("scipy")}, names)

    # some of SciPy's results have an axis for derivatives in front
    expected = np.squeeze(FORMULAS[name](function, VALUES, 2))
    np.testing.assert_allclose(written(VALUES), expected, rtol=1e-13)
    assert wg.autograd.gradcheck(written, (t,))


def test_the_derivatives_that_errors_name_are_those_of_elliptic_integrals():
    x, y, z, p, h = 1.3, 2.1, 0.7, 3.2, 1e-6
    t = wg.tensor(x, dtype=wg.float64, requires_grad=True)
    for name, rest in (("elliprd", (y, z)), ("elliprj", (y, z, p))):
        function = getattr(special, name)
        with pytest.raises(NotImplementedError, match=f"by x is .*{name}") as raised:
            function(t, *rest)
        formula = str(raised.value).partition("by x is ")[2].partition(" where")[0]
        slope = eval(formula, vars(special), {"x": x, "y": y, "z": z, "p": p})
        near = (function(x + h, *rest) - function(x - h, *rest)) / (2 * h)
        assert slope == pytest.approx(near, rel=1e-8)


def test_sums_of_powers_name_who_computes_their_derivative():
    mpmath = pytest.importorskip("mpmath")
    h = 1e-6
    for name, rest, shown in (("zeta", (1.5,), "x, q, 1"), ("zetac", (), "x, 1, 1")):
        function = getattr(special, name)
        with pytest.raises(NotImplementedError, match=rf"mpmath\.zeta\({shown}\)"):
            function(wg.tensor(2.5, dtype=wg.float64, requires_grad=True), *rest)
        near = (function(2.5 + h, *rest) - function(2.5 - h, *rest)) / (2 * h)
        slope = eval(f"zeta({shown})", {"zeta": mpmath.zeta, "x": 2.5, "q": 1.5})
        assert float(slope) == pytest.approx(near, rel=1e-7)
