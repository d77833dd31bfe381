"""Test densities against SciPy and their sums, and moments against quadrature."""

import math

import numpy as np
import pytest

import wengert as wg
from support.distributions import CASES, made, parameters

stats = pytest.importorskip("scipy.stats")
integrate = pytest.importorskip("scipy.integrate")
D = wg.distributions

# of each: SciPy's distribution for the parameters
SCIPY = {
    "Bernoulli": lambda probs: stats.bernoulli(probs),
    "Beta": lambda concentration1, concentration0: stats.beta(concentration1, concentration0),
    "Binomial": lambda probs: stats.binom(7, probs),
    "Cauchy": lambda loc, scale: stats.cauchy(loc, scale),
    "Chi2": lambda df: stats.chi2(df),
    "Exponential": lambda rate: stats.expon(scale=1 / rate),
    "FisherSnedecor": lambda df1, df2: stats.f(df1, df2),
    "Gamma": lambda concentration, rate: stats.gamma(concentration, scale=1 / rate),
    "GeneralizedPareto": lambda loc, scale, concentration: stats.genpareto(
        concentration, loc, scale
    ),
    "Geometric": lambda probs: stats.geom(probs, loc=-1),
    "Gumbel": lambda loc, scale: stats.gumbel_r(loc, scale),
    "HalfCauchy": lambda scale: stats.halfcauchy(scale=scale),
    "HalfNormal": lambda scale: stats.halfnorm(scale=scale),
    "InverseGamma": lambda concentration, rate: stats.invgamma(concentration, scale=rate),
    "Laplace": lambda loc, scale: stats.laplace(loc, scale),
    "LogNormal": lambda loc, scale: stats.lognorm(scale, scale=np.exp(loc)),
    "NegativeBinomial": lambda probs: stats.nbinom(4, 1 - probs),
    "Normal": lambda loc, scale: stats.norm(loc, scale),
    "Pareto": lambda scale, alpha: stats.pareto(alpha, scale=scale),
    "Poisson": lambda rate: stats.poisson(rate),
    "StudentT": lambda df, loc, scale: stats.t(df, loc, scale),
    "Uniform": lambda low, high: stats.uniform(low, high - low),
    "VonMises": lambda loc, concentration: stats.vonmises(concentration, loc),
    "Weibull": lambda scale, concentration: stats.weibull_min(concentration, scale=scale),
}
COUNTS = {"Bernoulli", "Binomial", "Geometric", "NegativeBinomial", "Poisson"}


def case(name):
    values = parameters(name)
    d, leaves = made(wg, name, values)
    return d, leaves, SCIPY[name](**values)


@pytest.mark.parametrize("name", SCIPY)
def test_densities_are_scipys(name):
    d, _, reference = case(name)
    wg.manual_seed(0)
    x = d.sample((20,)).numpy()
    density = reference.logpmf if name in COUNTS else reference.logpdf
    found = d.log_prob(wg.tensor(x)).detach().numpy()
    np.testing.assert_allclose(found, density(x), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", sorted(SCIPY.keys() - {"VonMises"}))
def test_moments_are_scipys(name):
    d, _, reference = case(name)
    for ours, theirs in ((d.mean, reference.mean()), (d.variance, reference.var())):
        ours = ours.detach().numpy()
        known = np.isfinite(theirs) & np.isfinite(ours)
        # SciPy calls NaN what we call infinite, or the other way around
        assert (np.isfinite(theirs) == np.isfinite(ours)).all()
        np.testing.assert_allclose(ours[known], theirs[known], rtol=1e-9)


@pytest.mark.parametrize("name", sorted(SCIPY.keys() - COUNTS - {"VonMises"}))
def test_distribution_functions_and_quantiles_are_scipys(name):
    d, _, reference = case(name)
    wg.manual_seed(1)
    x = d.sample((10,)).numpy()
    levels = np.linspace(0.1, 0.9, 5).reshape(-1, 1)
    for method, at, expected in (
        (d.cdf, x, reference.cdf),
        (d.icdf, levels, reference.ppf),
    ):
        try:
            found = method(wg.tensor(at)).detach().numpy()
        except NotImplementedError:
            continue
        np.testing.assert_allclose(found, expected(at), rtol=1e-8, atol=1e-12)


ENTROPIES = sorted(SCIPY.keys() - {"FisherSnedecor", "NegativeBinomial", "Poisson", "VonMises"})


@pytest.mark.parametrize("name", ENTROPIES)
def test_entropies_are_scipys(name):
    d, _, reference = case(name)
    np.testing.assert_allclose(d.entropy().detach().numpy(), reference.entropy(), rtol=1e-6)


def test_vectors_and_matrices_are_scipys():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 3))
    covariance, loc = a @ a.T + np.eye(3), rng.normal(size=3)
    x = rng.normal(size=3)
    t = wg.tensor
    expected = stats.multivariate_normal(loc, covariance)
    for matrices in (
        {"covariance_matrix": t(covariance)},
        {"precision_matrix": t(np.linalg.inv(covariance))},
        {"scale_tril": t(np.linalg.cholesky(covariance))},
    ):
        d = D.MultivariateNormal(t(loc), **matrices)
        assert d.log_prob(t(x)).item() == pytest.approx(expected.logpdf(x))
        assert d.entropy().item() == pytest.approx(expected.entropy())
        np.testing.assert_allclose(d.covariance_matrix.numpy(), covariance)
        np.testing.assert_allclose(d.precision_matrix.numpy(), np.linalg.inv(covariance))
    factor, diagonal = rng.normal(size=(3, 1)), rng.uniform(1, 2, 3)
    low = D.LowRankMultivariateNormal(t(loc), t(factor), t(diagonal))
    expected = stats.multivariate_normal(loc, factor @ factor.T + np.diag(diagonal))
    assert low.log_prob(t(x)).item() == pytest.approx(expected.logpdf(x))
    assert low.entropy().item() == pytest.approx(expected.entropy())
    np.testing.assert_allclose(low.precision_matrix.numpy(), np.linalg.inv(expected.cov))
    np.testing.assert_allclose((low.scale_tril @ low.scale_tril.mT).numpy(), expected.cov)
    wishart = D.Wishart(t(4.5), covariance_matrix=t(covariance))
    found = wishart.log_prob(t(covariance)).item()
    assert found == pytest.approx(stats.wishart(4.5, covariance).logpdf(covariance))
    assert wishart.entropy().item() == pytest.approx(stats.wishart(4.5, covariance).entropy())
    alpha = np.array([0.5, 1.5, 3.0])
    dirichlet = D.Dirichlet(t(alpha))
    point = np.array([0.2, 0.3, 0.5])
    assert dirichlet.log_prob(t(point)).item() == pytest.approx(
        stats.dirichlet(alpha).logpdf(point)
    )
    assert dirichlet.entropy().item() == pytest.approx(stats.dirichlet(alpha).entropy())
    multinomial = D.Multinomial(5, t(point))
    expected = stats.multinomial(5, point)
    assert multinomial.log_prob(t([1.0, 2.0, 2.0])).item() == pytest.approx(
        expected.logpmf([1, 2, 2]), rel=1e-6
    )
    assert multinomial.entropy().item() == pytest.approx(expected.entropy(), rel=1e-6)


@pytest.mark.parametrize("name", ["ContinuousBernoulli", "Kumaraswamy", "RelaxedBernoulli"])
def test_densities_on_the_unit_interval_integrate_to_one(name):
    d, _ = made(wg, name, parameters(name))
    for i in range(3):

        def moment(n, i=i):
            def f(x):
                return x**n * d.log_prob(wg.tensor([x] * 3, dtype=wg.float64))[i].exp().item()

            return integrate.quad(f, 0, 1, epsabs=1e-9)[0]

        assert moment(0) == pytest.approx(1, abs=1e-6)
        if name != "RelaxedBernoulli":
            assert moment(1) == pytest.approx(d.mean[i].item(), abs=1e-6)
            spread = moment(2) - moment(1) ** 2
            assert spread == pytest.approx(d.variance[i].item(), abs=1e-6)


@pytest.mark.parametrize("middle", [0.4985, 0.4995, 0.5, 0.5005, 0.5015])
def test_a_continuous_bernoulli_near_the_middle(middle):
    d = D.ContinuousBernoulli(wg.tensor(middle, dtype=wg.float64))
    x = np.linspace(0, 1, 20001)
    density = d.log_prob(wg.tensor(x)).exp().numpy()
    assert integrate.simpson(density, x=x) == pytest.approx(1, abs=1e-9)
    assert integrate.simpson(x * density, x=x) == pytest.approx(d.mean.item(), abs=1e-8)
    half = d.cdf(wg.tensor(0.5, dtype=wg.float64)).item()
    assert integrate.simpson(density[:10001], x=x[:10001]) == pytest.approx(half, abs=1e-3)


@pytest.mark.parametrize("logit", [40.0, -40.0, 1e5, -math.inf])
def test_a_continuous_bernoulli_of_extreme_log_odds(logit):
    logits = wg.tensor(logit, dtype=wg.float64, requires_grad=True)
    d = D.ContinuousBernoulli(logits=logits)
    same = D.ContinuousBernoulli(probs=wg.tensor(float(logit > 0), dtype=wg.float64))
    assert (d.mean.item(), d.entropy().item()) == (same.mean.item(), same.entropy().item())
    if math.isfinite(logit):
        likely = wg.tensor(float(logit > 0), dtype=wg.float64)
        assert d.log_prob(likely).item() == pytest.approx(3.5847307979997, abs=1e-9)
        d.log_prob(1 - likely).backward()
        assert logits.grad.item() == -math.copysign(1, logit)


def test_a_wishart_distribution_of_numbers_draws_gamma_numbers():
    d = D.Wishart(wg.tensor(2.5), wg.tensor([[[4.0]], [[1.0]]]))
    wg.manual_seed(0)
    drawn = d.sample((20_000,)).squeeze((-2, -1))
    # W is a gamma number of shape df / 2 and rate 1 / (2 V)
    scale = wg.tensor([4.0, 1.0])
    assert drawn.shape == (20_000, 2) and bool((drawn > 0).all())
    assert wg.allclose(drawn.mean(0), 2.5 * scale, rtol=0.05)
    assert wg.allclose(drawn.var(0), 5 * scale**2, rtol=0.1)


def test_a_half_cauchy_distribution_checks_what_it_is_asked():
    with pytest.raises(ValueError, match="must be a Tensor"):
        D.HalfCauchy(1.0).log_prob(1)


def test_a_von_mises_density_integrates_to_one():
    d, _ = made(wg, "VonMises", parameters("VonMises"))
    x = np.linspace(-math.pi, math.pi, 4001).reshape(-1, 1)
    density = d.log_prob(wg.tensor(x)).exp().detach().numpy()
    np.testing.assert_allclose(integrate.simpson(density, x=x[:, 0], axis=0), 1, atol=1e-10)
    lengths = integrate.simpson(density * np.cos(x - d.loc.detach().numpy()), x=x[:, 0], axis=0)
    np.testing.assert_allclose(1 - lengths, d.variance.detach().numpy(), atol=1e-10)


@pytest.mark.parametrize("name", ["Bernoulli", "Binomial", "Categorical", "OneHotCategorical"])
def test_probabilities_of_all_values_sum_to_one(name):
    d, _ = made(wg, name, parameters(name))
    values = d.enumerate_support()
    probs = d.log_prob(values).exp()
    np.testing.assert_allclose(probs.sum(0).detach().numpy(), 1, rtol=1e-12)
    entropy = -(probs * probs.log()).sum(0)
    np.testing.assert_allclose(d.entropy().detach().numpy(), entropy.detach().numpy())


def test_modes_are_where_densities_are_highest():
    names = "Beta Gamma Gumbel InverseGamma Kumaraswamy Laplace LogNormal Normal StudentT Weibull"
    for name in names.split():
        values = {k: np.abs(v) + 1.5 for k, v in parameters(name).items()}
        d, _ = made(wg, name, values)
        mode = d.mode.detach()
        top = d.log_prob(mode)
        for step in (0.999, 1.001):
            assert (d.log_prob(mode * step) <= top).all(), name
    assert D.Weibull(1.0, 0.5).mode == 0


@pytest.mark.parametrize("name", CASES)
def test_samples_have_the_moments(name):
    d, _ = made(wg, name, parameters(name))
    try:
        mean, spread = d.mean.detach().numpy(), d.stddev.detach().numpy()
    except NotImplementedError:
        return
    if not (np.isfinite(mean).all() and np.isfinite(spread).all()) or name == "VonMises":
        return
    count = 2000
    wg.manual_seed(4)
    found = d.sample((count,)).numpy().mean(0)
    # six standard errors
    assert (np.abs(found - mean) <= 6 * spread / math.sqrt(count) + 1e-12).all()
