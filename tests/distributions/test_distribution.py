"""Test what all distributions share: modules, copies, `expand`, checks, registries, arguments."""

import copy
import importlib
import pickle

import numpy as np
import pytest

import wengert as wg
from support.alone import said
from support.distributions import CASES, made, parameters

D = wg.distributions


def test_they_are_imported_when_they_are_named():
    code = (
        "import sys, wengert as wg; found = [m for m in sys.modules if 'distributions' in m]; "
        "assert not found, found; assert 'Wishart' in vars(wg.distributions)"
    )
    said(code)


def test_modules_under_pytorchs_names():
    module = importlib.import_module("wengert.distributions.normal")
    assert module.Normal is D.Normal is D.normal.Normal
    with pytest.raises(AttributeError, match="no attribute 'Cauchy'"):
        _ = module.Cauchy
    with pytest.raises(AttributeError, match="no attribute 'Norman'"):
        _ = D.Norman


@pytest.mark.parametrize("name", CASES)
def test_copies_draw_the_same(name):
    values = parameters(name)
    leaves = {k: wg.tensor(v) for k, v in values.items()}
    d = getattr(D, CASES[name][0])(**leaves, **CASES[name][2])
    x = d.sample()
    for other in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        np.testing.assert_array_equal(other.log_prob(x).numpy(), d.log_prob(x).numpy())


@pytest.mark.parametrize("name", CASES)
def test_expand_repeats_the_batch(name):
    d, _ = made(wg, name, parameters(name))
    x = d.sample()
    d.log_prob(x)
    wide = d.expand((5, *d.batch_shape))
    assert wide.sample((2,)).shape == (2, 5, *d.batch_shape, *d.event_shape)
    density = d.log_prob(x).detach().numpy()
    np.testing.assert_allclose(
        wide.log_prob(x).detach().numpy(), np.stack([density] * 5), rtol=1e-12
    )
    assert wide.expand((2, 5, *d.batch_shape)).batch_shape == (2, 5, *d.batch_shape)


def test_a_subclass_with_a_constructor_of_its_own_expands():
    class Unit(D.Normal):
        def __init__(self):
            self.note = "kept"
            super().__init__(0.0, 1.0)

    wide = Unit().expand((3,))
    assert type(wide) is Unit and wide.note == "kept" and wide.sample().shape == (3,)
    assert wg.equal(wide.log_prob(wg.ones(3)), D.Normal(wg.zeros(3), 1.0).log_prob(wg.ones(3)))


def test_a_distribution_of_ones_own():
    class Triangle(D.Distribution):
        arg_constraints = {"width": D.constraints.positive}  # noqa: RUF012
        support = D.constraints.unit_interval

        def __init__(self, width, validate_args=None):
            self._given(validate_args, width=width)

        def log_prob(self, value):
            return wg.log(2 * self._checked(value))

    d = Triangle(wg.ones(2))
    assert repr(d) == "Triangle(width: torch.Size([2]))"
    assert d.expand((4, 2)).width.shape == (4, 2)
    with pytest.raises(ValueError, match="within the support"):
        d.log_prob(wg.tensor(2.0))
    with pytest.raises(ValueError, match="Expected parameter width"):
        Triangle(-1.0)
    with pytest.raises(NotImplementedError):
        _ = d.mean
    silent = type("Silent", (D.Distribution,), {})
    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        silent()


def test_checks_hold_for_every_element_of_a_batch():
    def density(scale):
        return D.Normal(0.0, scale).log_prob(wg.tensor(0.5))

    wg.func.vmap(density)(wg.ones(3))
    with pytest.raises(ValueError, match="Expected parameter scale"):
        wg.func.vmap(density)(wg.tensor([1.0, -1.0, 2.0]))


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_empty_batches(shape):
    for d in (
        D.Normal(wg.zeros(shape), 1.0),
        D.Gamma(wg.ones(shape), 1.0),
        D.Poisson(wg.ones(shape)),
        D.Bernoulli(wg.full(shape, 0.5)),
        D.Beta(wg.ones(shape), 1.0),
        D.Binomial(3, wg.full(shape, 0.5)),
    ):
        x = d.sample((2,))
        assert x.shape == (2, *shape)
        assert d.log_prob(x).shape == (2, *shape)
        assert d.sample((0,)).shape == (0, *shape)


def test_rates_that_are_no_rates():
    for bad in (float("nan"), float("inf"), -1.0):
        with pytest.raises(RuntimeError, match="invalid Poisson rate"):
            wg.poisson(wg.tensor([1.0, bad]))
    with pytest.raises(RuntimeError, match="finite"):
        wg.binomial(wg.tensor([float("inf")]), wg.tensor([0.5]))
    found = wg.binomial(wg.tensor([5.0, 5.0, 5.0, -1.0]), wg.tensor([float("nan"), 1.5, -1.0, 0.5]))
    assert np.isnan(found[0].item()) and found[1:].tolist() == [5.0, 0.0, 0.0]
    tiny = wg.finfo(wg.float32).tiny
    assert wg._standard_gamma(wg.tensor([0.0, -1.0])).tolist() == [tiny, tiny]


def test_samples_of_small_concentrations_lie_in_the_support():
    for kind in (wg.float32, wg.float64):
        small = wg.full((20, 3), 1e-6, dtype=kind)
        for found in (D.Beta(small, small).sample(), D.Dirichlet(small).sample()):
            assert ((found > 0) & (found < 1)).all()


@pytest.mark.parametrize(("loc", "scale"), [("float32", "float64"), ("float64", "float32")])
def test_normal_samples_have_the_dtype_of_the_mean(loc, scale):
    parts = wg.zeros(2, dtype=getattr(wg, loc)), wg.ones(2, dtype=getattr(wg, scale))
    for family in (D.Normal, D.LogNormal):
        assert family(*parts).sample().dtype == parts[0].dtype
        assert family(*parts).rsample().dtype == wg.float64


def test_a_generator_is_drawn_from_and_no_other():
    wg.manual_seed(1)
    expected = wg.rand(2)
    wg.manual_seed(1)
    g = wg.Generator().manual_seed(3)
    first = [wg.poisson(wg.ones(20), g), wg._standard_gamma(wg.ones(20), g)]
    first += [wg._sample_dirichlet(wg.ones(20), g), wg.binomial(wg.ones(20) * 9, wg.rand(20), g)]
    wg.manual_seed(1)
    g.manual_seed(3)
    again = [wg.poisson(wg.ones(20), g), wg._standard_gamma(wg.ones(20), g)]
    again += [wg._sample_dirichlet(wg.ones(20), g)]
    for a, b in zip(first, again, strict=False):
        assert a.tolist() == b.tolist()
    assert wg.rand(2).tolist() == expected.tolist()


def test_an_ambiguous_divergence_warns():
    class A(D.Normal):
        pass

    class B(D.Normal):
        pass

    D.register_kl(A, D.Normal)(lambda p, q: wg.tensor(1.0))
    D.register_kl(D.Normal, B)(lambda p, q: wg.tensor(2.0))
    with pytest.warns(RuntimeWarning, match="Ambiguous kl_divergence"):
        found = D.kl_divergence(A(0.0, 1.0), B(0.0, 1.0))
    assert found == 1


def mean_of_log_ratio(p, q):
    count = 20000
    x = p.sample((count,))
    ratio = p.log_prob(x) - q.log_prob(x)
    return ratio.mean(0).detach().numpy(), ratio.std(0).detach().numpy() / count**0.5


FINITE = """
    Bernoulli Binomial Beta Categorical Cauchy ContinuousBernoulli Dirichlet Exponential Gamma
    Geometric Gumbel HalfNormal Laplace LogNormal LowRankMultivariateNormal MultivariateNormal
    Normal OneHotCategorical Poisson Wishart
"""


@pytest.mark.parametrize("name", FINITE.split())
def test_divergences_are_means_of_log_ratios(name):
    p, q = (made(wg, name, parameters(name, seed))[0] for seed in (0, 1))
    q._validate_args = False
    wg.manual_seed(11)
    mean, error = mean_of_log_ratio(p, q)
    found = D.kl_divergence(p, q).detach().numpy()
    assert (np.abs(found - mean) <= 6 * error + 1e-9).all()


CROSS = """
    Bernoulli-Poisson Beta-ContinuousBernoulli Beta-Exponential Beta-Gamma Beta-Normal
    ContinuousBernoulli-Exponential ContinuousBernoulli-Normal Exponential-Gamma Exponential-Gumbel
    Exponential-Normal Gamma-Exponential Gamma-Gumbel Gamma-Normal Gumbel-Normal Laplace-Normal
    Normal-Gumbel Normal-Laplace Uniform-Exponential Uniform-Gamma Uniform-Gumbel Uniform-Normal
"""


@pytest.mark.parametrize("pair", CROSS.split())
def test_divergences_of_two_kinds_are_means_of_log_ratios(pair):
    names = pair.split("-")
    p, q = (made(wg, name, parameters(name, i))[0] for i, name in enumerate(names))
    q._validate_args = False
    wg.manual_seed(12)
    mean, error = mean_of_log_ratio(p, q)
    found = D.kl_divergence(p, q).detach().numpy()
    assert (np.abs(found - mean) <= 6 * error + 1e-9).all()


def test_a_continuous_bernoulli_within_a_uniform_distribution():
    p = D.ContinuousBernoulli(wg.tensor(0.3))
    found = D.kl_divergence(p, D.Uniform(0.0, 1.0))
    assert found.item() == pytest.approx(-p.entropy().item(), abs=1e-6)
    assert D.kl_divergence(p, D.Uniform(0.1, 1.0)) == float("inf")
