"""Layer 9 · compat: `jax.scipy.stats.gaussian_kde`: kernel density estimates."""

from __future__ import annotations

from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.distributions import choice
from wengert.compat.jax.keys import split
from wengert.compat.jax.sampling import multivariate_normal
from wengert.compat.jax.scipy import special
from wengert.compat.jax.scipy.linalg import solve_triangular
from wengert.compat.jax.tree_util import register_pytree_node_class
from wengert.compat.kit.namespaces import defined


@register_pytree_node_class
class gaussian_kde:
    """A kernel density estimate: a normal density around each point.

    Parameters
    ----------
    dataset : Array. The points: of shape (n,) or (d, n).
    bw_method : {"scott", "silverman"}, float or callable. The width of the densities.
    weights : Array, optional. The weights of the points.

    Examples
    --------
    >>> density = jax.scipy.stats.gaussian_kde(jax.numpy.array([0.0, 1.0, 2.0]))
    >>> density(jax.numpy.array([1.0]))
    Array([0.31815627], dtype=float32)
    """

    def __init__(self, dataset, bw_method=None, weights=None) -> None:
        self.dataset = jnp.atleast_2d(dataset)
        if jnp.issubdtype(self.dataset.dtype, jnp.complexfloating):
            raise NotImplementedError("gaussian_kde does not support complex data")
        if not self.dataset.size > 1:
            raise ValueError("`dataset` input should have multiple elements.")
        count = self.dataset.shape[1]
        if weights is None:
            self.weights = jnp.full(count, 1.0 / count, self.dataset.dtype)
        else:
            weights = jnp.atleast_1d(weights)
            if weights.ndim != 1 or len(weights) != count:
                raise ValueError("`weights` input should be of length n")
            self.weights = weights / jnp.sum(weights)
        self.neff = 1 / jnp.sum(self.weights**2)
        factor: Any = bw_method
        if bw_method is None or bw_method == "scott":
            factor = jnp.power(self.neff, -1.0 / (self.d + 4))
        elif bw_method == "silverman":
            factor = jnp.power(self.neff * (self.d + 2) / 4.0, -1.0 / (self.d + 4))
        elif callable(bw_method):
            factor = bw_method(self)
        elif isinstance(bw_method, str):
            raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar, or a callable.")
        data = jnp.atleast_2d(jnp.cov(self.dataset, rowvar=True, bias=False, aweights=self.weights))
        self.covariance, self.inv_cov = data * factor**2, jnp.linalg.inv(data) / factor**2

    @property
    def d(self) -> int:
        """The number of dimensions."""
        return int(self.dataset.shape[0])

    @property
    def n(self) -> int:
        """The number of points."""
        return int(self.dataset.shape[1])

    def tree_flatten(self) -> Any:
        """Return the arrays."""
        parts = self.neff, self.dataset, self.weights, self.covariance, self.inv_cov
        return parts, None

    @classmethod
    def tree_unflatten(cls, aux, parts) -> Any:
        """Rebuild an estimate from its arrays."""
        made = object.__new__(cls)
        made.neff, made.dataset, made.weights, made.covariance, made.inv_cov = parts
        return made

    def _points(self, points) -> Any:
        found = jnp.atleast_2d(points)
        d, m = found.shape
        if d != self.d and d == 1 and m == self.d:
            return found.reshape((self.d, 1))
        if d != self.d:
            raise ValueError(f"points have dimension {d}, dataset has dimension {self.d}")
        return found

    def logpdf(self, x) -> Any:
        """Return the logarithm of the density at points."""
        return _density(self._points(x), self.dataset, self.weights, self.covariance)

    def evaluate(self, points) -> Any:
        """Return the density at points."""
        return jnp.exp(self.logpdf(points))

    __call__ = pdf = evaluate

    def integrate_gaussian(self, mean, cov) -> Any:
        """Return the integral of the product with a normal density."""
        mean = jnp.atleast_1d(jnp.squeeze(mean))
        cov = jnp.atleast_2d(cov)
        if mean.shape != (self.d,) or cov.shape != (self.d, self.d):
            raise ValueError("mean and covariance must have the dimension of the dataset")
        return jnp.exp(_density(mean[:, None], self.dataset, self.weights, self.covariance + cov))[
            0
        ]

    def integrate_box_1d(self, low, high) -> Any:
        """Return the integral between two numbers."""
        if self.d != 1:
            raise ValueError("integrate_box_1d() only handles 1D pdfs")
        sigma = jnp.squeeze(jnp.sqrt(self.covariance))
        upper, lower = ((jnp.squeeze(x) - self.dataset[0]) / sigma for x in (high, low))
        return jnp.sum(self.weights * (special.ndtr(upper) - special.ndtr(lower)))

    def integrate_kde(self, other: gaussian_kde) -> Any:
        """Return the integral of the product with another estimate."""
        if other.d != self.d:
            raise ValueError("KDEs are not the same dimensionality")
        covariance = self.covariance + other.covariance
        logs = _density(self.dataset, other.dataset, other.weights, covariance)
        return jnp.sum(self.weights * jnp.exp(logs))

    def resample(self, key, shape=()) -> Any:
        """Draw points from this density, of shape (d, *shape)."""
        one, two = split(key)
        at = choice(one, self.n, shape=shape, replace=True, p=self.weights)
        noise = multivariate_normal(
            two, jnp.zeros(self.d, self.covariance.dtype), self.covariance, shape
        )
        return self.dataset[:, at] + jnp.moveaxis(noise, -1, 0)


def _density(points, dataset, weights, covariance) -> Any:
    factor = jnp.linalg.cholesky(covariance)
    apart = points[:, :, None] - dataset[:, None, :]
    flat = solve_triangular(factor, apart.reshape((dataset.shape[0], -1)), lower=True)
    square = jnp.sum(flat**2, axis=0).reshape(apart.shape[1:])
    d = dataset.shape[0]
    scale = d / 2 * jnp.log(2 * jnp.pi) + jnp.sum(jnp.log(jnp.diag(factor)))
    return special.logsumexp(-0.5 * square, axis=1, b=weights) - scale


__all__ = defined(globals())
