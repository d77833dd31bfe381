"""Layer 9 · distributions: distributions of vectors and matrices, given by a covariance."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg
from wengert.distributions import constraints
from wengert.distributions.composed import TransformedDistribution
from wengert.distributions.distribution import Distribution, ExponentialFamily
from wengert.distributions.gammas import Beta, Gamma
from wengert.distributions.location import Normal
from wengert.distributions.shaped_transforms import StickBreakingTransform
from wengert.distributions.utils import lazy_property, vec_to_tril_matrix
from wengert.ops.whole_batches import holds
from wengert.tape.sites import warn


def batch_mv(matrices: Any, vectors: Any) -> Any:
    """Multiply matrices with vectors, whose batches broadcast.

    Examples
    --------
    >>> wg.distributions.multivariate.batch_mv(wg.eye(2), wg.ones(3, 2)).shape
    torch.Size([3, 2])
    """
    return (matrices @ vectors.unsqueeze(-1)).squeeze(-1)


def batch_mahalanobis(factor: Any, vectors: Any) -> Any:
    """Compute \\|L⁻¹ x\\|², for Cholesky factors L and vectors x whose batches broadcast.

    Examples
    --------
    >>> wg.distributions.multivariate.batch_mahalanobis(4 * wg.eye(2), wg.ones(2))
    tensor(0.1250)
    """
    solved = wg.linalg.solve_triangular(factor, vectors.unsqueeze(-1), upper=False)
    return solved.pow(2).sum((-2, -1))


def log_diagonal(factor: Any) -> Any:
    """Sum the logarithms of the diagonals: half a log-determinant.

    Examples
    --------
    >>> wg.distributions.multivariate.log_diagonal(8 * wg.eye(2))
    tensor(4.1589)
    """
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def precision_to_scale_tril(precision: Any) -> Any:
    """Compute the Cholesky factors of the inverses of matrices.

    Examples
    --------
    >>> wg.distributions.multivariate.precision_to_scale_tril(16 * wg.eye(1))
    tensor([[0.2500]])
    """
    # with both dimensions flipped, the inverse's factor is the inverse of a factor
    turned = wg.linalg.cholesky(wg.flip(precision, (-2, -1)))
    upper = wg.flip(turned, (-2, -1)).mT
    eye = wg.eye(precision.shape[-1], dtype=precision.dtype)
    return wg.linalg.solve_triangular(upper, eye, upper=False)


class _OfCovariance:
    """A covariance matrix, its inverse or its factor: one is given, the others are computed."""

    _unbroadcasted_scale_tril: Any
    _batch_shape: Any
    _event: Any

    def _factor(self, name: str, given: Any) -> None:
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = given
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = wg.linalg.cholesky(given)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(given)

    def _whole(self, matrix: Any) -> Any:
        return matrix.expand((*self._batch_shape, *matrix.shape[-2:]))

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance, from its factor."""
        factor = self._unbroadcasted_scale_tril
        return self._whole(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return self._whole(wg.cholesky_inverse(self._unbroadcasted_scale_tril))


_MATRICES = {
    "covariance_matrix": constraints.positive_definite,
    "precision_matrix": constraints.positive_definite,
    "scale_tril": constraints.lower_cholesky,
}


def _only_one(error: type[Exception], matrices: dict[str, Any]) -> tuple[str, Any]:
    given = [(name, value) for name, value in matrices.items() if value is not None]
    if len(given) != 1:
        raise error(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        )
    return given[0]


class MultivariateNormal(_OfCovariance, Distribution):
    """The normal distribution of vectors.

    Parameters
    ----------
    loc : Tensor. The mean, of shape (..., n).
    covariance_matrix, precision_matrix, scale_tril : Tensor. One of the covariance, its inverse and
        its Cholesky factor, of shape (..., n, n). The factor is used as it is.

    Raises
    ------
    ValueError: If none or several matrices are given, or they have too few dimensions.

    Examples
    --------
    >>> d = wg.distributions.MultivariateNormal(wg.zeros(2), wg.eye(2))
    >>> d.log_prob(wg.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real_vector, **_MATRICES}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = (covariance_matrix, precision_matrix, scale_tril)
        name, given = _only_one(ValueError, dict(zip(_MATRICES, matrices, strict=True)))
        if given.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = wg.broadcast_shapes(tuple(given.shape[:-2]), tuple(loc.shape[:-1]))
        setattr(self, name, given.expand((*batch, *given.shape[-2:])))
        self.loc = loc.expand((*batch, loc.shape[-1]))
        super().__init__(wg.Size(batch), self.loc.shape[-1:], validate_args=validate_args)
        self._factor(name, given)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)

    @property
    def variance(self) -> Any:
        return (
            self._unbroadcasted_scale_tril.pow(2)
            .sum(-1)
            .expand(self._batch_shape + self._event_shape)
        )

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = wg.randn(
            self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device
        )
        return self.loc + batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Any) -> Any:
        away, factor = self._checked(value) - self.loc, self._unbroadcasted_scale_tril
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + batch_mahalanobis(factor, away)) - log_diagonal(factor)

    def entropy(self) -> Any:
        half = log_diagonal(self._unbroadcasted_scale_tril)
        found = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + half
        return found.expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with covariance ``W Wᵀ + diag(D)``.

    Parameters
    ----------
    loc : Tensor. The mean, a vector of n elements.
    cov_factor : Tensor. W, of shape (..., n, m), with m much smaller than n.
    cov_diag : Tensor. D, of shape (..., n).

    Raises
    ------
    ValueError: If shapes do not match.

    Examples
    --------
    >>> rest = wg.full((2,), 1.5)
    >>> wg.distributions.LowRankMultivariateNormal(wg.zeros(2), wg.ones(2, 1), rest).variance
    tensor([2.5000, 2.5000])
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        batch = wg.broadcast_shapes(
            tuple(loc.shape[:-1]), tuple(cov_factor.shape[:-2]), tuple(cov_diag.shape[:-1])
        )
        self.loc, self.cov_diag = (v.expand((*batch, *event)) for v in (loc, cov_diag))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        super().__init__(wg.Size(batch), event, validate_args=validate_args)
        # by Woodbury's identity, I + Wᵀ D⁻¹ W, a small matrix, suffices
        scaled = cov_factor.mT / cov_diag.unsqueeze(-2)
        self._capacitance_tril = wg.linalg.cholesky(
            scaled @ cov_factor + wg.eye(cov_factor.shape[-1], dtype=cov_factor.dtype)
        )

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self) -> Any:
        found = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return found.expand(self._batch_shape + self._event_shape)

    def _whole(self, matrix: Any) -> Any:
        return matrix.expand((*self._batch_shape, *self._event_shape, *self._event_shape))

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        return self._whole(wg.linalg.cholesky(self.covariance_matrix))

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        return self._whole(factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed())

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        diagonal = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
        a = wg.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._whole(diagonal.reciprocal().diag_embed() - a.mT @ a)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        of_factor = wg.randn(
            (*shape[:-1], self.cov_factor.shape[-1]), dtype=self.loc.dtype, device=self.loc.device
        )
        of_diagonal = wg.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        found = self.loc + batch_mv(self._unbroadcasted_cov_factor, of_factor)
        return found + self._unbroadcasted_cov_diag.sqrt() * of_diagonal

    def _log_determinant(self) -> Any:
        diagonal = self._unbroadcasted_cov_diag.log().sum(-1)
        return 2 * log_diagonal(self._capacitance_tril) + diagonal

    def _mahalanobis(self, away: Any) -> Any:
        diagonal = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
        inner = batch_mahalanobis(self._capacitance_tril, batch_mv(scaled, away))
        return (away.pow(2) / diagonal).sum(-1) - inner

    def log_prob(self, value: Any) -> Any:
        away = self._checked(value) - self.loc
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self._log_determinant() + self._mahalanobis(away))

    def entropy(self) -> Any:
        constant = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (0.5 * (constant + self._log_determinant())).expand(self._batch_shape)


class LogisticNormal(TransformedDistribution):
    """The logistic-normal distribution: normal vectors mapped to the simplex.

    Parameters
    ----------
    loc : Tensor. Of shape (..., k): the means; events have k + 1 elements.
    scale : Tensor. The standard deviations, positive, of a shape that broadcasts to that of `loc`.

    Examples
    --------
    >>> wg.distributions.LogisticNormal(wg.zeros(2), wg.ones(2)).sample((7,)).shape
    torch.Size([7, 3])
    """

    arg_constraints: ClassVar[Any] = Normal.arg_constraints
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    loc = property(lambda self: self.base_dist.base_dist.loc)
    scale = property(lambda self: self.base_dist.base_dist.scale)


class Wishart(_OfCovariance, ExponentialFamily):
    """The Wishart distribution: sums of products x xᵀ of normal vectors x.

    Parameters
    ----------
    df : Tensor or number. The degrees of freedom, more than n - 1.
    covariance_matrix, precision_matrix, scale_tril : Tensor. As for `MultivariateNormal`.

    Raises
    ------
    ValueError: If there are too few degrees of freedom.

    Notes
    -----
    Samples follow Bartlett's decomposition: a triangle of chi and normal numbers.

    Examples
    --------
    >>> wg.distributions.Wishart(wg.tensor(3.0), wg.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    _mean_carrier_measure = 0
    has_rsample = True

    @property
    def arg_constraints(self) -> Any:
        """The constraints; that of `df` depends on the size of the matrices."""
        return {**_MATRICES, "df": constraints.greater_than(self._event_shape[-1] - 1)}

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = (covariance_matrix, precision_matrix, scale_tril)
        name, given = _only_one(AssertionError, dict(zip(_MATRICES, matrices, strict=True)))
        if given.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        df = wg.as_tensor(df, dtype=given.dtype)
        event = given.shape[-2:]
        if not holds(df > event[-1] - 1):
            raise ValueError(
                f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}."
            )
        batch = wg.Size(wg.broadcast_shapes(tuple(given.shape[:-2]), tuple(df.shape)))
        self.df = df.expand(batch)
        self._batch_shape, self._event_shape = batch, event
        setattr(self, name, given.expand((*batch, *event)))
        super().__init__(batch, event, validate_args=validate_args)
        if not holds(self.df > event[-1]):
            warn(
                "Low df values detected. Singular samples are highly likely to occur for "
                "ndim - 1 < df < ndim.",
                UserWarning,
            )
        self._factor(name, given)
        # half the degrees of freedom of the k-th chi number of the diagonal
        halves = 0.5 * (self.df.unsqueeze(-1) - wg.arange(event[-1], dtype=given.dtype))
        self._gamma = Gamma(halves, wg.full_like(halves, 0.5), validate_args=False)

    mean = property(lambda self: self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix)

    @property
    def mode(self) -> Any:
        factor = self.df - self._event_shape[-1] - 1
        factor = wg.where(factor <= 0, math.nan, factor)
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view((*self._batch_shape, 1, 1)) * (v.pow(2) + outer)

    def _bartlett(self, sample_shape: Any) -> Any:
        count, kind = self._event_shape[-1], self.df.dtype
        chi = self._gamma.rsample(sample_shape).clamp(min=wg.finfo(kind).tiny).sqrt()
        shape = (*sample_shape, *self._batch_shape, count * (count - 1) // 2)
        below = vec_to_tril_matrix(wg.randn(shape, dtype=kind), diag=-1)
        product = self._unbroadcasted_scale_tril @ (chi.diag_embed(dim1=-2, dim2=-1) + below)
        return product @ product.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: Any = None) -> Any:
        tries = 10 if max_try_correction is None else max_try_correction
        shape = wg.Size(sample_shape)
        if tries:
            self._bartlett(shape)  # PyTorch takes every first sample for singular
        sample = self._bartlett(shape)
        # rounding may make a sample singular: draw that one again
        singular = ~self.support.check(sample)
        for _ in range(tries):
            if holds(~singular):
                break
            warn("Singular sample detected.", UserWarning)
            fresh = self._bartlett(shape)
            sample = wg.where(singular[..., None, None], fresh, sample)
            singular = singular & ~self.support.check(fresh)
        return sample

    def log_prob(self, value: Any) -> Any:
        value, nu, p = self._checked(value), self.df, self._event_shape[-1]
        factor = self._unbroadcasted_scale_tril
        found = -nu * (p * math.log(2) / 2 + log_diagonal(factor)) - _mvlgamma(nu / 2, p)
        found = found + (nu - p - 1) / 2 * wg.linalg.slogdet(value).logabsdet
        solved = wg.cholesky_solve(value, factor)
        return found - solved.diagonal(dim1=-2, dim2=-1).sum(-1) / 2

    def entropy(self) -> Any:
        nu, p = self.df, self._event_shape[-1]
        found = (p + 1) * (p * math.log(2) / 2 + log_diagonal(self._unbroadcasted_scale_tril))
        found = found + _mvlgamma(nu / 2, p)
        return found - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p) + nu * p / 2

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        p = self._event_shape[-1]
        log_determinant = -wg.linalg.slogdet(-2 * x).logabsdet
        return (y + (p + 1) / 2) * (log_determinant + math.log(2) * p) + _mvlgamma(
            y + (p + 1) / 2, p
        )


def _mvlgamma(x: Any, p: int) -> Any:
    return wg.special.multigammaln(x, p)


def _mvdigamma(x: Any, p: int) -> Any:
    steps = wg.arange(p, dtype=x.dtype) / 2
    return wg.digamma(x.unsqueeze(-1) - steps).sum(-1)


class LKJCholesky(Distribution):
    """The LKJ distribution of Cholesky factors of correlation matrices.

    Parameters
    ----------
    dim : int. The number of rows, at least 2.
    concentration : Tensor or number. 1 is uniform over correlation matrices; larger values make
        correlations smaller.

    References
    ----------
    D. Lewandowski, D. Kurowicka, H. Joe, "Generating random correlation matrices based on vines and
    extended onion method", Journal of Multivariate Analysis 100, 2009.

    Raises
    ------
    ValueError: If `dim` is less than 2.

    Examples
    --------
    >>> wg.distributions.LKJCholesky(3).sample().shape
    torch.Size([3, 3])
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        self.concentration = wg.as_tensor(concentration)
        shape = self.concentration.shape
        super().__init__(shape, wg.Size((dim, dim)), validate_args=validate_args)
        # the lengths of rows without their last element, by the onion method
        kind = self.concentration.dtype
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = wg.arange(dim - 1, dtype=kind)
        offset = wg.cat([wg.zeros(1, dtype=kind), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            lengths = self._beta.sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            normal = wg.randn(shape, dtype=lengths.dtype, device=lengths.device).tril(-1)
            # the first row has no direction
            norms = normal.norm(dim=-1, keepdim=True)
            w = wg.sqrt(lengths) * (normal / wg.where(norms > 0, norms, 1.0))
            tiny = wg.finfo(w.dtype).tiny
            diagonal = wg.clamp(1 - (w**2).sum(-1), min=tiny).sqrt()
            return w + wg.diag_embed(diagonal)

    def log_prob(self, value: Any) -> Any:
        diagonal = self._checked(value).diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = wg.arange(2, self.dim + 1, dtype=diagonal.dtype)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        found = (order * diagonal.log()).sum(-1)
        # the constant, from page 1999 of the article
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        log_constant = 0.5 * n * math.log(math.pi) + wg.mvlgamma(alpha - 0.5, n)
        return found - (log_constant - wg.lgamma(alpha) * n)
