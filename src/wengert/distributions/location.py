"""Layer 9 · distributions: distributions of real numbers, given by location and scale."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg
from wengert.distributions import constraints
from wengert.distributions.composed import TransformedDistribution
from wengert.distributions.distribution import Distribution, ExponentialFamily
from wengert.distributions.gammas import Chi2
from wengert.distributions.transforms import AbsTransform, AffineTransform, ExpTransform
from wengert.distributions.utils import broadcast_all, euler_constant, lazy_property, number_like

_LOCATED = {"loc": constraints.real, "scale": constraints.positive}
_SCALED = {"scale": constraints.positive}


class Normal(ExponentialFamily):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    Parameters
    ----------
    loc : Tensor or number. The mean.
    scale : Tensor or number. The standard deviation, positive.

    Examples
    --------
    >>> wg.distributions.Normal(0.8, 1.0).log_prob(wg.tensor(0.0))
    tensor(-1.2389)
    """

    arg_constraints: ClassVar[Any] = _LOCATED
    support = constraints.real
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._given(validate_args, loc=loc, scale=scale)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale.pow(2))

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            return wg.normal(*self._expanded(sample_shape, self.loc, self.scale))

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = wg.randn(
            self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device
        )
        return self.loc + noise * self.scale

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        squares = (value - self.loc) ** 2 / (2 * self.scale**2)
        return -squares - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Any:
        value = self._checked(value)
        return 0.5 * (1 + wg.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * wg.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + wg.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal())

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return -0.25 * x.pow(2) / y + 0.5 * wg.log(-math.pi / y)


class Cauchy(Distribution):
    """The Cauchy distribution around `loc`, with half width at half maximum `scale`.

    Parameters
    ----------
    loc : Tensor or number. The median, which is the mode; there is no mean.
    scale : Tensor or number. The half width at half maximum, positive.

    Examples
    --------
    >>> wg.distributions.Cauchy(5.3, 1.0).cdf(wg.tensor(1.0))
    tensor(0.0727)
    """

    arg_constraints: ClassVar[Any] = _LOCATED
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._given(validate_args, loc=loc, scale=scale)

    mean = property(lambda self: number_like(self.loc, math.nan))
    mode = property(lambda self: self.loc)
    variance = property(lambda self: number_like(self.loc, math.inf))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.loc + wg.empty(shape, dtype=self.loc.dtype).cauchy_() * self.scale

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        slopes = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - self.scale.log() - slopes.log1p()

    def cdf(self, value: Any) -> Any:
        value = self._checked(value)
        return wg.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return wg.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class Laplace(Distribution):
    """The Laplace distribution around `loc`, exponential with mean `scale` on either side.

    Parameters
    ----------
    loc : Tensor or number. The mean.
    scale : Tensor or number. The mean distance from it, positive.

    Examples
    --------
    >>> wg.distributions.Laplace(0.0, 1.0).log_prob(wg.tensor(0.0))
    tensor(-0.6931)
    """

    arg_constraints: ClassVar[Any] = _LOCATED
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._given(validate_args, loc=loc, scale=scale)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)
    variance = property(lambda self: 2 * self.scale.pow(2))
    stddev = property(lambda self: 2**0.5 * self.scale)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        eps = wg.finfo(self.loc.dtype).eps
        u = wg.empty(shape, dtype=self.loc.dtype).uniform_(eps - 1, 1)
        return self.loc - self.scale * u.sign() * wg.log1p(-u.abs())

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        return -wg.log(2 * self.scale) - wg.abs(value - self.loc) / self.scale

    def cdf(self, value: Any) -> Any:
        value = self._checked(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * wg.expm1(-away.abs() / self.scale)

    def icdf(self, value: Any) -> Any:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * wg.log1p(-2 * term.abs())

    def entropy(self) -> Any:
        return 1 + wg.log(2 * self.scale)


class Uniform(Distribution):
    """The uniform distribution on [low, high).

    Parameters
    ----------
    low : Tensor or number. The lower end, which is included.
    high : Tensor or number. The upper end, above `low`, which is excluded.

    Examples
    --------
    >>> wg.distributions.Uniform(0.45, 4.0).log_prob(wg.tensor(1.0))
    tensor(-1.2669)
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self._given(validate_args, low=low, high=high)

    @property
    def arg_constraints(self) -> Any:
        """`low` is less than `high`."""
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    mean = property(lambda self: (self.high + self.low) / 2)
    mode = property(lambda self: math.nan * self.high)
    stddev = property(lambda self: (self.high - self.low) / 12**0.5)
    variance = property(lambda self: (self.high - self.low).pow(2) / 12)

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = wg.rand(
            self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device
        )
        return self.low + noise * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        within = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return wg.log(within) - wg.log(self.high - self.low)

    def cdf(self, value: Any) -> Any:
        value = self._checked(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return wg.log(self.high - self.low)


class StudentT(Distribution):
    """Student's t-distribution with `df` degrees of freedom, shifted by `loc` and scaled by
    `scale`.

    Parameters
    ----------
    df : Tensor or number. The degrees of freedom, positive.
    loc : Tensor or number. The centre.
    scale : Tensor or number. What the distance from it is multiplied by, positive.

    Examples
    --------
    >>> wg.distributions.StudentT(2.45).variance
    tensor(5.4444)
    """

    arg_constraints: ClassVar[Any] = {"df": constraints.positive, **_LOCATED}
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        df, loc, scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(df, validate_args=validate_args)
        self._given(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self) -> Any:
        return wg.where(self.df <= 1, math.nan, self.loc)

    mode = property(lambda self: self.loc)

    @property
    def variance(self) -> Any:
        finite = self.scale.pow(2) * self.df / wg.where(self.df > 2, self.df - 2, 1.0)
        return wg.where(self.df > 2, finite, wg.where(self.df > 1, math.inf, math.nan))

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = wg.randn(
            self._extended_shape(sample_shape), dtype=self.df.dtype, device=self.df.device
        )
        spread = wg.rsqrt(self._chi2.rsample(sample_shape) / self.df)
        return self.loc + self.scale * (noise * spread)

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        y, half = (value - self.loc) / self.scale, 0.5 * self.df
        constant = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        constant = constant + wg.lgamma(half) - wg.lgamma(half + 0.5)
        return -0.5 * (self.df + 1) * wg.log1p(y**2 / self.df) - constant

    def entropy(self) -> Any:
        half = 0.5 * self.df
        log_beta = wg.lgamma(half) + math.lgamma(0.5) - wg.lgamma(half + 0.5)
        slopes = (half + 0.5) * (wg.digamma(half + 0.5) - wg.digamma(half))
        return self.scale.log() + slopes + 0.5 * self.df.log() + log_beta


class _Derived(TransformedDistribution):
    """A distribution whose parameters are those of its base distribution."""

    loc = property(lambda self: self.base_dist.loc)
    scale = property(lambda self: self.base_dist.scale)


class LogNormal(_Derived):
    """The log-normal distribution: exp(x) for x from `Normal(loc, scale)`.

    Parameters
    ----------
    loc : Tensor or number. The mean of the logarithm.
    scale : Tensor or number. The standard deviation of the logarithm, positive.

    Examples
    --------
    >>> wg.distributions.LogNormal(0.0, 1.0).mean
    tensor(1.6487)
    """

    arg_constraints: ClassVar[Any] = _LOCATED
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(
            Normal(loc, scale, validate_args=validate_args),
            ExpTransform(),
            validate_args=validate_args,
        )

    mean = property(lambda self: (self.loc + self.scale.pow(2) / 2).exp())
    mode = property(lambda self: (self.loc - self.scale.square()).exp())

    @property
    def variance(self) -> Any:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class _Half(_Derived):
    """The distribution of absolute values of a symmetric distribution around 0."""

    arg_constraints: ClassVar[Any] = _SCALED
    support = constraints.nonnegative
    has_rsample = True

    mode = property(lambda self: wg.zeros_like(self.scale))

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        found = self.base_dist.log_prob(value) + math.log(2)
        return wg.where(value >= 0, found, -math.inf)

    def cdf(self, value: Any) -> Any:
        return 2 * self.base_dist.cdf(self._checked(value)) - 1

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The half-normal distribution: absolute values of `Normal(0, scale)`.

    Parameters
    ----------
    scale : Tensor or number. The standard deviation of the normal distribution, positive.

    Examples
    --------
    >>> wg.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(
            Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args
        )

    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))


class HalfCauchy(_Half):
    """The half-Cauchy distribution: absolute values of `Cauchy(0, scale)`.

    Parameters
    ----------
    scale : Tensor or number. The half width of the Cauchy distribution, positive.

    Examples
    --------
    >>> wg.distributions.HalfCauchy(1.3).cdf(wg.tensor(1.0))
    tensor(0.4174)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(
            Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args
        )

    mean = property(lambda self: number_like(self.scale, math.inf))
    variance = property(lambda self: self.base_dist.variance)

    def log_prob(self, value: Any) -> Any:
        return super().log_prob(wg.as_tensor(self._checked(value), dtype=self.scale.dtype))


class Gumbel(TransformedDistribution):
    """The Gumbel distribution of maxima, with mode `loc`.

    Parameters
    ----------
    loc : Tensor or number. The mode.
    scale : Tensor or number. The width, positive.

    Examples
    --------
    >>> wg.distributions.Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    arg_constraints: ClassVar[Any] = _LOCATED
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = wg.finfo(self.loc.dtype)
        low, high = (number_like(self.loc, v) for v in (info.tiny, 1 - info.eps))
        steps = [
            ExpTransform().inv,
            AffineTransform(0, -wg.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]
        super().__init__(
            Uniform(low, high, validate_args=validate_args), steps, validate_args=validate_args
        )

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    mean = property(lambda self: self.loc + self.scale * euler_constant)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: math.pi / math.sqrt(6) * self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def entropy(self) -> Any:
        return self.scale.log() + (1 + euler_constant)


class VonMises(Distribution):
    """The von Mises distribution of angles around `loc`, between -π and π.

    Samples are not differentiable; they are drawn by the method of Best and Fisher (Applied
    Statistics 28, 1979).

    Parameters
    ----------
    loc : Tensor or number. The mean angle, in radians.
    concentration : Tensor or number. How closely angles lie around it, positive; large ones give a
        normal distribution of variance 1 / `concentration`.

    Examples
    --------
    >>> wg.distributions.VonMises(wg.tensor(0.0), wg.tensor(2.0)).variance
    tensor(0.3022)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._given(validate_args, loc=loc, concentration=concentration)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)

    def _log_bessel(self, order: int) -> Any:
        scaled = wg.special.i1e if order else wg.special.i0e
        return scaled(self.concentration).log() + self.concentration

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        found = self.concentration * wg.cos(value - self.loc)
        return found - math.log(2 * math.pi) - self._log_bessel(0)

    @lazy_property
    def variance(self) -> Any:
        k = self.concentration
        return 1 - wg.special.i1e(k) / wg.special.i0e(k)

    @lazy_property
    def _proposal_r(self) -> Any:
        k = self.concentration.to(wg.float64)
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        exact = (1 + rho**2) / (2 * rho)
        # for small k the formula cancels: use the Taylor series about 0
        return wg.where(k < 1e-5, 1 / k + k, exact)

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            shape = self._extended_shape(sample_shape)
            loc = self.loc.to(wg.float64)
            k, r = self.concentration.to(wg.float64).expand(shape), self._proposal_r.expand(shape)
            x = wg.zeros(shape, dtype=wg.float64)
            done = wg.zeros(shape, dtype=wg.bool)
            while not done.all():
                u1, u2, u3 = wg.rand((3, *shape), dtype=wg.float64).unbind()
                z = wg.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                x = wg.where(accept, (u3 - 0.5).sign() * f.acos(), x)
                done = done | accept
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)
