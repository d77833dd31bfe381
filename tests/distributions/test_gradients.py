"""Test gradients of samples and densities, also of second order, transformed and compiled."""

import math

import numpy as np
import pytest

import wengert as wg
from support.distributions import CASES, made, parameters
from wengert.autograd import gradcheck, gradgradcheck

D = wg.distributions
# samples of these are found by rejection, so that differences of a fixed seed may jump
REJECTED = {"Beta", "Chi2", "Dirichlet", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT"}
REJECTED |= {"Wishart", "Wishart of a factor"}
DIFFERENTIABLE = [name for name in CASES if made(wg, name, parameters(name))[0].has_rsample]
# straight through: the sample itself does not move
SMOOTH = [n for n in DIFFERENTIABLE if n not in REJECTED | {"OneHotCategoricalStraightThrough"}]
MATRICES = {"covariance_matrix", "precision_matrix"}


def function_of(name, use):
    """`use` of the distribution, as a function of its parameters."""
    names = list(parameters(name))

    def f(*values):
        # a matrix that is disturbed in one place stays symmetric
        given = {
            k: (v + v.mT) / 2 if k in MATRICES else v.tril() if k == "scale_tril" else v
            for k, v in zip(names, values, strict=True)
        }
        return use(getattr(D, CASES[name][0])(**given, **CASES[name][2], validate_args=False))

    inputs = [wg.tensor(v, requires_grad=True) for v in parameters(name).values()]
    return f, inputs


def sampled(d):
    wg.manual_seed(6)
    return d.rsample((2,))


@pytest.mark.parametrize("name", SMOOTH)
def test_samples_of_fixed_noise_against_differences(name):
    f, inputs = function_of(name, sampled)
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


@pytest.mark.parametrize("name", CASES)
def test_densities_against_differences(name):
    wg.manual_seed(2)
    value = made(wg, name, parameters(name))[0].sample().detach()
    f, inputs = function_of(name, lambda d: d.log_prob(value))
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


def test_slopes_of_gamma_samples_against_quantiles():
    special = pytest.importorskip("scipy.special")
    rng = np.random.default_rng(0)
    a = 10 ** rng.uniform(-1.5, 4.9, 400)
    z = rng.standard_gamma(a)
    slope = wg._standard_gamma_grad(wg.tensor(a), wg.tensor(z)).numpy()
    step = 1e-4 * a
    low = z < a
    expected = np.where(
        low,
        special.gammaincinv(a + step, special.gammainc(a, z))
        - special.gammaincinv(a - step, special.gammainc(a, z)),
        special.gammainccinv(a + step, special.gammaincc(a, z))
        - special.gammainccinv(a - step, special.gammaincc(a, z)),
    ) / (2 * step)
    known = z > 1e-100
    np.testing.assert_allclose(slope[known], expected[known], rtol=2e-4)


def test_slopes_of_gamma_samples_at_the_seams():
    # from the series to the fraction, and to the expansion for large shapes
    for a, z in ((3.0, 4.0), (0.5, 1.5), (9999.9, 10000.0), (9999.9, 10200.0), (9999.9, 9800.0)):
        near = [(a, z * (1 - 1e-9)), (a, z * (1 + 1e-9)), (a + 0.2, z)]
        found = [wg._standard_gamma_grad(*map(wg.tensor, pair)).item() for pair in near]
        assert found[0] == pytest.approx(found[1], rel=1e-6)
        if a > 9000:
            assert found[2] == pytest.approx(found[0], rel=1e-4)
    edge = wg._standard_gamma_grad(wg.tensor([0.0, -1.0, math.nan]), wg.ones(3))
    assert wg.isnan(edge).all()


def test_slopes_of_dirichlet_samples_against_quantiles_of_the_beta_distribution():
    special = pytest.importorskip("scipy.special")
    rng = np.random.default_rng(1)
    alpha = 10 ** rng.uniform(-1, 2.5, (150, 3))
    x = np.array([rng.dirichlet(a) for a in alpha])
    total = alpha.sum(-1, keepdims=True)
    given = [wg.tensor(np.broadcast_to(v, x.shape).copy()) for v in (x, alpha, total)]
    found = wg._dirichlet_grad(*given).numpy()
    rest, step = total - alpha, 1e-4 * alpha
    level = special.betainc(alpha, rest, x)
    ends = [special.betaincinv(alpha + s, rest, level) for s in (step, -step)]
    expected = (ends[0] - ends[1]) / (2 * step) / (1 - x)
    known = (x > 1e-60) & (x < 0.9999) & (level < 1 - 1e-5) & (level > 1e-60)
    assert known.sum() > 300
    np.testing.assert_allclose(found[known], expected[known], rtol=2e-4)


@pytest.mark.parametrize("name", sorted(REJECTED))
def test_the_mean_of_gradients_is_the_gradient_of_the_mean(name):
    # such that there are moments
    more = 5.0 if name in ("FisherSnedecor", "InverseGamma") else 0.0
    d, leaves = made(wg, name, {k: v + more for k, v in parameters(name).items()})
    inputs = list(leaves.values())
    wg.manual_seed(8)
    samples = d.rsample((1500,))
    found = wg.autograd.grad(samples.mean(0).sum(), inputs, retain_graph=True, allow_unused=True)
    expected = wg.autograd.grad(d.mean.sum(), inputs, allow_unused=True)
    for f, e in zip(found, expected, strict=True):
        if e is not None:
            scale = 1 + e.abs().max().item()
            assert (f - e).abs().max() < 0.25 * scale, name


def test_samples_by_rejection_refuse_second_derivatives():
    alpha = wg.tensor([2.0], requires_grad=True)
    for d in (D.Gamma(alpha, 1.0), D.Dirichlet(alpha.expand(3))):
        (slope,) = wg.autograd.grad(d.rsample().sum(-1)[..., None][0], alpha, create_graph=True)
        with pytest.raises(NotImplementedError, match="the derivative for '_"):
            slope.sum().backward()


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_forward_mode_is_reverse_mode(name):
    f, inputs = function_of(name, sampled)
    tangents = [wg.ones_like(v) for v in inputs]
    plain = [v.detach() for v in inputs]
    _, forward = wg.func.jvp(f, tuple(plain), tuple(tangents))
    out = f(*inputs)
    weights = wg.linspace(0.5, 1.5, out.numel(), dtype=out.dtype).reshape(out.shape)
    grads = wg.autograd.grad((out * weights).sum(), inputs, allow_unused=True)
    total = sum(g.sum() for g in grads if g is not None)
    assert (forward * weights).sum().item() == pytest.approx(total.item(), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_vmap_over_parameters(name):
    names = list(parameters(name))
    batches = [parameters(name, seed) for seed in range(3)]
    stacked = [wg.tensor(np.stack([b[k] for b in batches])) for k in names]
    wg.manual_seed(2)
    value = made(wg, name, batches[0])[0].sample().detach()

    def density(*values):
        d = getattr(D, CASES[name][0])(**dict(zip(names, values, strict=True)), **CASES[name][2])
        return d.log_prob(value) if "Uniform" not in name else d.entropy()

    if CASES[name][0] in ("Pareto", "GeneralizedPareto"):
        value = value + 10
    found = wg.func.vmap(density)(*stacked)
    rows = [density(*[s[i] for s in stacked]) for i in range(3)]
    np.testing.assert_allclose(found.numpy(), wg.stack(rows).numpy(), rtol=1e-10)


@pytest.mark.parametrize("name", [n for n in CASES if n != "VonMises" and "Wishart" not in n])
def test_vmap_over_samples(name):
    names = list(parameters(name))
    stacked = [wg.tensor(np.stack([v] * 4)) for v in parameters(name).values()]

    def draw(*values):
        d = getattr(D, CASES[name][0])(**dict(zip(names, values, strict=True)), **CASES[name][2])
        return d.sample()

    found = wg.func.vmap(draw, randomness="different")(*stacked)
    d, _ = made(wg, name, parameters(name))
    assert found.shape == (4, *d.sample().shape)
    # every element lies in the support, and not all of them are one
    assert bool(d.support.check(found).all())
    if not d.support.is_discrete:
        assert not bool((found[0] == found[1]).all())
    with pytest.raises(RuntimeError, match="randomness"):
        wg.func.vmap(draw)(*stacked)


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:.*is not compiled:UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_compiled_densities(name):
    wg.manual_seed(2)
    value = made(wg, name, parameters(name))[0].sample().detach()
    f, inputs = function_of(name, lambda d: d.log_prob(value))

    def both(*values):
        out = f(*values)
        return out, wg.autograd.grad(out.sum(), values)

    compiled = wg.compile(both)
    expected, slopes = both(*inputs)
    for _ in range(3):
        found, grads = compiled(*inputs)
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-9)
        for g, s in zip(grads, slopes, strict=True):
            np.testing.assert_allclose(g.numpy(), s.numpy(), rtol=1e-8, atol=1e-10)


@pytest.mark.filterwarnings("ignore:.*is not compiled:UserWarning")
@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if "Wishart" not in n])
def test_compiled_samples_are_those_that_are_not_compiled(name):
    f, inputs = function_of(name, lambda d: d.rsample((3,)))
    compiled = wg.compile(f)
    wg.manual_seed(1)
    expected = [f(*inputs) for _ in range(4)]
    wg.manual_seed(1)
    found = [compiled(*inputs) for _ in range(4)]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-12)


def test_binomial_at_even_odds():
    logits = wg.zeros(2, requires_grad=True)
    D.Binomial(1, logits=logits).log_prob(wg.tensor([0.0, 1.0])).sum().backward()
    assert logits.grad.tolist() == [-0.5, 0.5]
