"""Test transforms: inverses, and log-determinants against those of Jacobians."""

import numpy as np
import pytest

import wengert as wg

T = wg.distributions.transforms

NUMBERS = {
    "exp": T.ExpTransform(),
    "affine": T.AffineTransform(1.0, -2.5),
    "power": T.ComposeTransform(
        [T.ExpTransform(), T.PowerTransform(wg.tensor(2.5, dtype=wg.float64))]
    ),
    "sigmoid": T.SigmoidTransform(),
    "softplus": T.SoftplusTransform(),
    "tanh": T.TanhTransform(),
    "cdf": T.CumulativeDistributionTransform(wg.distributions.Normal(0.0, 1.0)),
    "inverse": T.ComposeTransform([T.SigmoidTransform(), T.TanhTransform().inv]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_of_numbers(name):
    transform = NUMBERS[name]
    x = wg.tensor([-1.2, 0.3, 1.7], dtype=wg.float64)
    y = transform(x)
    np.testing.assert_allclose(transform.inv(y).numpy(), x.numpy(), rtol=1e-9)
    slopes = wg.func.jacrev(transform)(x).diagonal()
    found = transform.log_abs_det_jacobian(x, y)
    np.testing.assert_allclose(found.numpy(), slopes.abs().log().numpy(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        transform.inv.log_abs_det_jacobian(y, x).numpy(), -found.numpy(), rtol=1e-9, atol=1e-12
    )
    assert (wg.sign(slopes) == transform.sign).all()
    assert transform.codomain.check(y).all()


def below(y):
    """The elements of a triangle that are free."""
    return wg.distributions.utils.tril_matrix_to_vec(y, -1)


VECTORS = {
    "stick": (T.StickBreakingTransform(), 3, lambda y: y[..., :-1]),
    "correlation": (T.CorrCholeskyTransform(), 3, below),
    "independent": (T.IndependentTransform(T.TanhTransform(), 1), 3, lambda y: y),
    "reshape": (T.ReshapeTransform((4,), (2, 2)), 4, lambda y: y.reshape(4)),
    "affine": (T.AffineTransform(1.0, -2.5, event_dim=1), 3, lambda y: y),
    "composed": (
        T.ComposeTransform([T.AffineTransform(0.0, 2.0), T.StickBreakingTransform()]),
        3,
        lambda y: y[..., :-1],
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_of_vectors(name):
    transform, n, free = VECTORS[name]
    x = wg.tensor(np.random.default_rng(0).normal(size=n))
    y = transform(x)
    np.testing.assert_allclose(transform.inv(y).numpy(), x.numpy(), rtol=1e-8, atol=1e-10)
    jacobian = wg.func.jacrev(lambda x: free(transform(x)))(x)
    found = transform.log_abs_det_jacobian(x, y).item()
    assert found == pytest.approx(wg.linalg.slogdet(jacobian).logabsdet.item(), abs=1e-9)
    assert transform.codomain.check(y).all()
    assert transform.forward_shape(wg.Size((5, n))) == (5, *y.shape)
    assert transform.inverse_shape(wg.Size((5, *y.shape))) == (5, n)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_cache_makes_inverses_exact():
    x = wg.tensor([30.0], dtype=wg.float64)
    assert T.TanhTransform().inv(T.TanhTransform()(x)).isinf().all()
    cached = T.TanhTransform(cache_size=1)
    y = cached(x)
    assert cached.inv(y) is x
    assert cached.inv.inv is cached


def test_densities_of_transformed_samples_integrate_to_one():
    D = wg.distributions
    d = D.TransformedDistribution(
        D.Normal(0.0, 1.0), [D.AffineTransform(1.0, -0.5), D.SigmoidTransform()]
    )
    x = wg.linspace(0.0005, 0.9995, 20001, dtype=wg.float64)
    density = d.log_prob(x).exp().numpy()
    assert np.trapezoid(density, x.numpy()) == pytest.approx(1, abs=1e-4)
    # the distribution function grows although the transform falls
    level = d.cdf(wg.tensor([0.3, 0.6, 0.9])).tolist()
    assert level == sorted(level)
    assert np.trapezoid(density[x.numpy() < 0.6], x.numpy()[x.numpy() < 0.6]) == pytest.approx(
        level[1], abs=1e-3
    )
