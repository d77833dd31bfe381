"""Test SciPy's distributions: values against SciPy, derivatives by finite differences."""

import numpy as np
import pytest

import wengert as wg
from wengert.compat.autograd import grad
from wengert.compat.autograd.scipy import stats as hips
from wengert.scipy import stats
from wengert.scipy.stats import ROWS as TABLE

scipys = pytest.importorskip("scipy.stats")

OWN = {
    **dict.fromkeys(
        (
            *("alpha", "bradford", "chi", "dgamma", "dweibull", "exponnorm", "fisk", "foldcauchy"),
            *("foldnorm", "genlogistic", "gompertz", "halfgennorm", "invgauss", "invweibull"),
            *("kappa3", "laplace_asymmetric", "loggamma", "loglaplace", "lomax", "nakagami"),
            *("powernorm", "rice", "skewnorm", "truncexpon", "weibull_max", "dlaplace", "planck"),
            *("yulesimon",),
        ),
        (1.7,),
    ),
    **dict.fromkeys(
        ("burr", "burr12", "exponweib", "gengamma", "johnsonsb", "johnsonsu", "mielke"),
        (1.7, 1.2),
    ),
    "argus": (1.7,),
    "erlang": (2.0,),
    "exponpow": (1.7,),
    "fatiguelife": (1.7,),
    "genexpon": (1.2, 0.7, 1.5),
    "genhalflogistic": (0.4,),
    "norminvgauss": (1.7, 0.6),
    "randint": (-1.0, 6.0),
    "recipinvgauss": (1.7,),
    "reciprocal": (0.1, 2.0),
    "rel_breitwigner": (1.7,),
    "skellam": (2.5, 1.5),
    "truncpareto": (1.7, 2.2),
    "truncweibull_min": (1.7, 0.2, 1.1),
    "betanbinom": (5.0, 2.0, 3.0),
    "betaprime": (2.0, 3.0),
    "boltzmann": (0.7, 5.0),
    "genextreme": (0.2,),
    "genpareto": (0.3,),
    "loguniform": (0.1, 2.0),
    "logser": (0.4,),
    "powerlognorm": (1.7, 0.6),
    "rdist": (3.5,),
    "skewcauchy": (0.4,),
    "triang": (0.3,),
    "tukeylambda": (0.3,),
    "bernoulli": (0.3,),
    "beta": (2.0, 3.0),
    "betabinom": (5.0, 2.0, 3.0),
    "binom": (5.0, 0.3),
    "chi2": (3.5,),
    "f": (3.0, 5.0),
    "gamma": (2.5,),
    "gennorm": (1.5,),
    "geom": (0.3,),
    "invgamma": (2.5,),
    "lognorm": (0.7,),
    "nbinom": (3.5, 0.4),
    "pareto": (2.5,),
    "poisson": (2.5,),
    "powerlaw": (1.7,),
    "t": (4.5,),
    "truncnorm": (-1.0, 2.0),
    "vonmises": (1.5,),
    "weibull_min": (1.7,),
    "wrapcauchy": (0.4,),
}


def arguments(name):
    """The distribution's own parameters, and a location and a scale."""
    place = (0.0,) if TABLE[name].whole else (0.1, 1.3)
    return (*OWN.get(name, ()), *place)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted(TABLE))
def test_values_are_scipys(name):
    whole = [0.0, 1.0, 2.0, -1.0, 7.0, 1.5]
    for function in sorted(vars(getattr(stats, name)).keys() - {"name"}):
        points = whole if TABLE[name].whole else [0.3, 0.7, 1.2, -0.5, 3.2]
        x = np.array([0.1, 0.4, 0.9] if function in ("ppf", "isf") else points)
        found = getattr(getattr(stats, name), function)(wg.tensor(x), *arguments(name))
        known = getattr(getattr(scipys, name), function)(x, *arguments(name))
        np.testing.assert_allclose(found.numpy(), known, rtol=1e-7, atol=1e-12, err_msg=function)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted(TABLE))
def test_derivatives_of_densities(name):
    row = TABLE[name]
    points = {"bernoulli": [0.0, 1.0], "pareto": [1.9, 2.4], "truncpareto": [1.9, 2.4]}
    points |= {key: [-1.0, -0.4] for key in ("levy_l", "weibull_max")}
    x = points.get(name, [1.0, 2.0] if row.whole else [0.4, 0.9])
    x = wg.tensor(x, dtype=wg.float64)
    fixed = {"binom": 1, "betabinom": 1}.get(name, 0)  # the number of trials is whole
    own = arguments(name)
    given = [wg.tensor(a, dtype=wg.float64, requires_grad=True) for a in own[fixed:]]
    count = len(given) - row.whole
    density = "logpmf" if row.whole else "logpdf"

    def f(*values):
        rest = own[fixed:][count:]
        return getattr(getattr(stats, name), density)(x, *own[:fixed], *values, *rest)

    # where the support ends at `loc`, or at a parameter, it is no matter of slopes
    assert wg.autograd.gradcheck(f, tuple(given[:count]))
    if not row.whole and "cdf" in row.rules:
        points = x.clone().requires_grad_()
        for function in ("cdf", "sf", "logcdf"):
            call = getattr(getattr(stats, name), function)
            assert wg.autograd.gradcheck(lambda x, call=call: call(x, *own), (points,))


@pytest.mark.parametrize("name", ["cauchy", "exponnorm", "genpareto", "invgauss", "planck"])
def test_hips_idiom_has_the_same_table(name):
    x, *own = 2.0, *arguments(name)
    density = "logpmf" if TABLE[name].whole else "logpdf"
    call, known = (getattr(getattr(at, name), density) for at in (hips, scipys))
    place = 1 if TABLE[name].own else 2
    low, high = ([x, *own] for _ in range(2))
    low[place] -= 1e-6
    high[place] += 1e-6
    slope = (known(*high) - known(*low)) / 2e-6
    np.testing.assert_allclose(grad(call, place)(x, *own), slope, rtol=1e-5)


@pytest.mark.parametrize("name", ["genpareto", "genextreme"])
def test_shapes_of_0_are_no_corner(name):
    x = wg.tensor([0.4, 0.9], dtype=wg.float64, requires_grad=True)
    shape = wg.zeros((), dtype=wg.float64, requires_grad=True)
    for function in ("logpdf", "cdf"):
        call = getattr(getattr(stats, name), function)
        known = getattr(getattr(scipys, name), function)(x.tolist(), 0.0)
        np.testing.assert_allclose(call(x, shape).detach().numpy(), known)
        assert wg.autograd.gradcheck(call, (x, shape))


def test_what_is_not_there_says_what_is():
    with pytest.raises(AttributeError, match=r"wengert\.distributions has more"):
        stats.levy_stable  # noqa: B018
    with pytest.raises(AttributeError, match="it has cdf, "):
        stats.norm.expect  # noqa: B018
    with pytest.raises(TypeError, match="takes 1 parameters"):
        stats.gamma.pdf(1.0)
