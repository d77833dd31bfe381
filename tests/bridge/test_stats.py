"""Test SciPy's distributions: values against SciPy, derivatives by finite differences."""

import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.compat.autograd import grad
from wengert.compat.autograd.scipy import stats as hips
from wengert.scipy import stats

scipys = pytest.importorskip("scipy.stats")

SHAPES = {
    "alpha bradford chi dgamma dweibull exponnorm fisk foldcauchy foldnorm genlogistic gompertz "
    "halfgennorm invgauss invweibull kappa3 laplace_asymmetric loggamma loglaplace lomax nakagami "
    "powernorm rice skewnorm truncexpon weibull_max dlaplace planck yulesimon argus exponpow "
    "fatiguelife recipinvgauss rel_breitwigner pearson3 vonmises_line vonmises powerlaw "
    "weibull_min": (1.7,),
    "burr burr12 exponweib gengamma johnsonsb johnsonsu mielke jf_skew_t dgamma": (1.7, 1.2),
    "crystalball ncx2 nct skellam": (2.5, 1.5),
    "dgamma gennorm": (1.5,),
    "chi2 gamma invgamma pareto t poisson": (2.5,),
    "genhalflogistic genpareto triang tukeylambda skewcauchy logser bernoulli geom wrapcauchy": (
        0.3,
    ),
    "betanbinom betabinom": (5.0, 2.0, 3.0),
    "beta betaprime f": (2.0, 3.0),
    "binom": (5.0, 0.3),
    "boltzmann": (0.7, 5.0),
    "dpareto_lognorm": (0.2, 0.7, 1.5, 2.5),
    "erlang": (2.0,),
    "gausshyper": (1.7, 2.2, 0.7, 1.3),
    "genexpon": (1.2, 0.7, 1.5),
    "genextreme": (0.2,),
    "genhyperbolic": (0.6, 1.7, 0.4),
    "geninvgauss": (0.6, 1.7),
    "hypergeom": (20.0, 7.0, 12.0),
    "irwinhall": (4.0,),
    "kappa4": (0.2, 0.3),
    "ksone kstwo": (10.0,),
    "loguniform reciprocal": (0.1, 2.0),
    "lognorm": (0.7,),
    "nbinom": (3.0, 0.4),
    "ncf": (3.0, 5.0, 0.4),
    "nchypergeom_fisher nchypergeom_wallenius": (20.0, 7.0, 12.0, 0.8),
    "nhypergeom": (20.0, 7.0, 12.0),
    "norminvgauss": (1.7, 0.6),
    "powerlognorm": (1.7, 0.6),
    "randint": (-1.0, 6.0),
    "rdist": (3.5,),
    "trapezoid": (0.2, 0.7),
    "truncnorm": (-1.0, 2.0),
    "truncpareto": (1.7, 2.2),
    "truncweibull_min": (1.7, 0.2, 1.1),
    "zipf": (2.5,),
    "zipfian": (1.5, 9.0),
}
OWN = {name: given for names, given in SHAPES.items() for name in names.split()}
WHOLE = {"n", "N", "M", "low", "high", "r"}
"""Shape parameters that are integers."""
SLOW = {"levy_stable", "studentized_range"}
NAMES = sorted(set(dir(stats)) - SLOW)
QUANTILES = ("ppf", "isf")


def functions(name):
    return sorted(vars(getattr(stats, name)).keys() - {"name"})


def called(module, name, key, *args):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(getattr(module, name), key)(*args)


def whole(name):
    return hasattr(getattr(scipys, name), "logpmf")


def points(name, key):
    """Return values within the support, and at and beyond its ends, or probabilities."""
    if key in QUANTILES:
        return np.array([0.1, 0.42, 0.9, 0.0, 1.0, -0.1, 1.1, np.nan])
    own = getattr(scipys, name)(*OWN.get(name, ()))
    # SciPy's kappa4 has no number at its lower end
    ends = [end for end in own.support() if np.isfinite(end) and name != "kappa4"]
    outer = [end + step for end in ends for step in (-1.0, -0.25, 0.25, 1.0)]
    return np.array([*own.ppf([0.1, 0.42, 0.9]), *ends, *outer, np.nan])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_values_are_scipys(name):
    place = (0.0,) if whole(name) else (0.3, 1.7)
    given = [OWN.get(name, ())]
    given += [(np.nan, *given[0][1:])] if given[0] else []
    for key in functions(name):
        x = points(name, key)
        x = x if key in QUANTILES else x * (1 if whole(name) else 1.7) + place[0]
        for own in given:
            for rest in (place, *([] if whole(name) else [(0.3, -1.7), (np.nan, 1.0)])):
                try:
                    # each by itself: some of SciPy's functions mix up the elements of an array
                    known = [called(scipys, name, key, value, *own, *rest) for value in x]
                    found = called(stats, name, key, wg.tensor(x), *own, *rest).numpy()
                except (ValueError, RuntimeError):  # a search of SciPy's does not take NaN
                    assert np.isnan(own).any()
                    continue
                np.testing.assert_allclose(
                    found, known, rtol=1e-7, atol=1e-12, err_msg=f"{key}{own + rest}"
                )


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *(("chi", 1.0), ("fisk", 1.0), ("loglaplace", 1.0), ("nakagami", 0.5), ("powerlaw", 0.5)),
        *(("weibull_min", 1.0), ("weibull_min", 0.5), ("weibull_max", 1.0), ("powerlaw", 1.0)),
        *(("genhalflogistic", 1.0), ("burr12", (1.0, 4.0)), ("f", (2.0, 3.0)), ("f", (1.0, 3.0))),
        ("ncx2", (2.0, 1.5)),
    ],
)
def test_densities_may_jump_at_the_ends_of_the_support(name, shape):
    own = shape if isinstance(shape, tuple) else (shape,)
    ends = [end for end in getattr(scipys, name).support(*own) if np.isfinite(end)]
    found = called(stats, name, "logpdf", wg.tensor(ends, dtype=wg.float64), *own)
    known = called(scipys, name, "logpdf", ends, *own)
    np.testing.assert_allclose(found.numpy(), known, atol=1e-12)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_by_all_arguments(name):
    own = OWN.get(name, ())
    shapes = [part.strip() for part in (getattr(scipys, name).shapes or "").split(",")][: len(own)]
    refused = set()
    for key in functions(name):
        inner = [0.13, 0.42, 0.86]
        x = np.array(inner) if key in QUANTILES else getattr(scipys, name).ppf(inner, *own)
        place = (0.0,) if whole(name) else (0.3, 1.7)
        x = x if whole(name) or key in QUANTILES else x * place[1] + place[0]
        args = [x, *own, *place]
        for i, part in enumerate(["x", *shapes, "loc", "scale"][: len(args)]):
            if part in WHOLE or (whole(name) and part in ("x", "loc") and key not in QUANTILES):
                continue
            given = [wg.tensor(np.broadcast_to(a, x.shape).copy(), dtype=wg.float64) for a in args]
            given[i].requires_grad_()
            try:
                (found,) = wg.autograd.grad(called(stats, name, key, *given).sum(), given[i])
            except NotImplementedError:
                refused.add((key, part))
                continue
            ends = []
            step = 1e-5 * np.maximum(np.abs(args[i]), 0.1)
            for factor in (1, -1, 2, -2):
                moved = [*args[:i], args[i] + factor * step, *args[i + 1 :]]
                ends.append(called(scipys, name, key, *moved))
            with np.errstate(invalid="ignore"):
                slope = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * step)
            inside = np.isfinite(slope)
            np.testing.assert_allclose(
                found.numpy()[inside],
                slope[inside],
                rtol=2e-5,
                atol=2e-6 * max(1, np.abs(slope[inside]).max(initial=0)),
                err_msg=f"{key} by {part}",
            )
    plain = {key for key, part in refused if part in ("x", "loc", "scale")}
    density = {"logpdf", "pdf"} if name not in stats.ROWS and not whole(name) else set()
    assert plain == density


@pytest.mark.parametrize("name", ["norminvgauss", "gamma", "rice", "genpareto", "cauchy"])
@pytest.mark.parametrize("key", ["cdf", "logsf", "ppf", "isf"])
def test_second_derivatives_and_transforms(name, key):
    x = wg.tensor([0.2, 0.7], dtype=wg.float64, requires_grad=True)
    place = [wg.tensor(v, dtype=wg.float64, requires_grad=True) for v in (0.1, 1.3)]
    own = OWN.get(name, ())

    def f(x, *place):
        return getattr(getattr(stats, name), key)(x, *own, *place)

    assert wg.autograd.gradgradcheck(f, (x, *place))
    parts = wg.func.vmap(wg.func.grad(lambda x: f(x, *own[:0])))(x.detach())
    (slopes,) = wg.autograd.grad(f(x).sum(), x)
    assert wg.allclose(parts, slopes)
    assert wg.allclose(wg.func.jvp(f, (x.detach(),), (wg.ones_like(x),))[1], slopes)


def test_shapes_and_values_have_mixed_derivatives():
    x, b = (wg.tensor(v, dtype=wg.float64, requires_grad=True) for v in (0.7, 1.7))
    for key in ("cdf", "logcdf", "ppf", "isf"):
        (by_x,) = wg.autograd.grad(getattr(stats.rice, key)(x, b), x, create_graph=True)
        (mixed,) = wg.autograd.grad(by_x, b)
        ends = []
        for end in (1.7 + 1e-5, 1.7 - 1e-5):
            (slope,) = wg.autograd.grad(getattr(stats.rice, key)(x, end), x)
            ends.append(slope.item())
        assert mixed.item() == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5)


@pytest.mark.parametrize("name", ["cauchy", "exponnorm", "genpareto", "invgauss", "planck"])
def test_hips_idiom_has_the_same_functions(name):
    own = OWN.get(name, ())
    for key in ("logpmf", "cdf") if whole(name) else ("logpdf", "logsf", "ppf"):
        x = 0.7 if key == "ppf" else 2.0
        place = 1 if own else 2
        given = [x, *own, 0.0, *([] if whole(name) else [1.3])]
        ends = []
        for step in (1e-6, -1e-6):
            moved = [*given]
            moved[place] += step
            ends.append(called(scipys, name, key, *moved))
        found = grad(getattr(getattr(hips, name), key), place)(*given)
        np.testing.assert_allclose(found, (ends[0] - ends[1]) / 2e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ["genpareto", "genextreme", "kappa4", "pearson3"])
def test_shapes_of_0_are_no_corner(name):
    x = wg.tensor([0.4, 0.9], dtype=wg.float64, requires_grad=True)
    count = 2 if name == "kappa4" else 1
    own = [wg.zeros((), dtype=wg.float64, requires_grad=True) for _ in range(count)]
    for key in ("logpdf",) if name == "pearson3" else ("logpdf", "cdf"):
        call = getattr(getattr(stats, name), key)
        known = getattr(getattr(scipys, name), key)(x.tolist(), *[0.0] * count)
        np.testing.assert_allclose(call(x, *own).detach().numpy(), known)
        # SciPy's distribution functions round shapes near 0
        formula = (
            call if key == "logpdf" else lambda *a, r=stats.ROWS[name]: r.rules["cdf"](stats._F, *a)
        )
        assert wg.autograd.gradcheck(formula, (x, *own))


def test_logarithms_of_tails_keep_their_slopes():
    x = wg.tensor([50.0, 300.0, -300.0], dtype=wg.float64, requires_grad=True)
    for found in (stats.laplace.logsf(x), stats.laplace.logcdf(-x)):
        x.grad = None
        found.sum().backward()
        assert wg.allclose(x.grad, wg.tensor([-1.0, -1.0, 0.0], dtype=wg.float64))


def test_what_is_not_there_says_what_is():
    with pytest.raises(AttributeError, match=r"wengert\.distributions has more"):
        stats.multivariate_normal  # noqa: B018
    with pytest.raises(AttributeError, match="it has cdf, "):
        stats.norm.expect  # noqa: B018
    with pytest.raises(TypeError, match="lacks the parameters a"):
        stats.gamma.pdf(1.0)
    with pytest.raises(TypeError, match="takes x, a, loc, scale"):
        stats.gamma.pdf(1.0, 2.0, a=2.0)
    shape = wg.tensor(2.0, requires_grad=True)
    with pytest.raises(NotImplementedError, match="known for x, loc and scale"):
        stats.vonmises.cdf(0.3, shape).backward()
    with pytest.raises(NotImplementedError, match=r"write the density"):
        stats.landau.logpdf(shape).backward()
