"""Layer 9 · distributions: the gamma distribution and its relatives."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg
from wengert.distributions import constraints
from wengert.distributions.distribution import Distribution, ExponentialFamily
from wengert.distributions.utils import broadcast_all
from wengert.ops.rejection import _sample_dirichlet, _standard_gamma


class Gamma(ExponentialFamily):
    """The gamma distribution with shape `concentration` and scale 1 / `rate`.

    Parameters
    ----------
    concentration : Tensor or number. The shape, positive.
    rate : Tensor or number. The inverse scale, positive.

    Examples
    --------
    >>> wg.distributions.Gamma(4.1, 4.0).mean
    tensor(1.0250)
    """

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.nonnegative
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._given(validate_args, concentration=concentration, rate=rate)

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        found = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        # a sample that was rounded to 0 has no density
        return _at_least_tiny(found)

    def log_prob(self, value: Any) -> Any:
        value = wg.as_tensor(value, dtype=self.rate.dtype)
        value, shape = self._checked(value), self.concentration
        found = wg.xlogy(shape, self.rate) + wg.xlogy(shape - 1, value)
        return found - self.rate * value - wg.lgamma(shape)

    def cdf(self, value: Any) -> Any:
        value = self._checked(value)
        return wg.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        shape = self.concentration
        found = shape - wg.log(self.rate) + wg.lgamma(shape)
        return found + (1.0 - shape) * wg.digamma(shape)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration - 1, -self.rate)

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return wg.lgamma(x + 1) + (x + 1) * wg.log(-y.reciprocal())


def _at_least_tiny(found: Any) -> Any:
    tiny, value = wg.finfo(found.dtype).tiny, found.detach()
    # the gradient is that of the exact sample, even if it was rounded to 0
    return wg.where(value < tiny, found - value + tiny, found)


class Chi2(Gamma):
    """The chi-squared distribution with `df` degrees of freedom.

    Parameters
    ----------
    df : Tensor or number. The degrees of freedom, positive.

    Examples
    --------
    >>> wg.distributions.Chi2(2.2).mean
    tensor(2.2000)
    """

    arg_constraints: ClassVar[Any] = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    df = property(lambda self: self.concentration * 2)

    def _constraints(self) -> dict[str, Any]:
        # only the parameters of the gamma distribution are stored
        return {**self.arg_constraints, **Gamma.arg_constraints}


class Exponential(ExponentialFamily):
    """The exponential distribution with mean 1 / `rate`.

    Parameters
    ----------
    rate : Tensor or number. The inverse of the mean, positive.

    Examples
    --------
    >>> wg.distributions.Exponential(2.0).cdf(wg.tensor(0.5))
    tensor(0.6321)
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support = constraints.nonnegative
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._given(validate_args, rate=rate)

    mean = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: wg.zeros_like(self.rate))
    stddev = property(lambda self: self.rate.reciprocal())
    variance = property(lambda self: self.rate.pow(-2))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return wg.empty(shape, dtype=self.rate.dtype).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        return self.rate.log() - self.rate * self._checked(value)

    def cdf(self, value: Any) -> Any:
        return 1 - wg.exp(-self.rate * self._checked(value))

    def icdf(self, value: Any) -> Any:
        return -wg.log1p(-value) / self.rate

    def entropy(self) -> Any:
        return 1.0 - wg.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:
        return -wg.log(-x)


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution on the simplex, with concentrations along the last dimension.

    Parameters
    ----------
    concentration : Tensor. Of shape (..., k), positive; the last dimension is that of the event.

    Examples
    --------
    >>> wg.distributions.Dirichlet(wg.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.independent(constraints.positive, 1)
    }
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corner = wg.nn.functional.one_hot(mode.argmax(-1), self.concentration.shape[-1]).to(mode)
        return wg.where((self.concentration < 1).all(-1, True), corner, mode)

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return _sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        value, c = self._checked(value), self.concentration
        found = wg.xlogy(c - 1.0, value).sum(-1) + wg.lgamma(c.sum(-1))
        return found - wg.lgamma(c).sum(-1)

    def entropy(self) -> Any:
        c, count = self.concentration, self.concentration.shape[-1]
        total = c.sum(-1)
        found = wg.lgamma(c).sum(-1) - wg.lgamma(total)
        found = found - (count - total) * wg.digamma(total)
        return found - ((c - 1.0) * wg.digamma(c)).sum(-1)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return x.lgamma().sum(-1) - wg.lgamma(x.sum(-1))


class Beta(ExponentialFamily):
    """The beta distribution, of density ∝ x^(concentration1 - 1) (1 - x)^(concentration0 - 1).

    Parameters
    ----------
    concentration1 : Tensor or number. The exponent of x, plus 1; positive.
    concentration0 : Tensor or number. The exponent of 1 - x, plus 1; positive.

    Examples
    --------
    >>> wg.distributions.Beta(1.7, 3.0).mean
    tensor(0.3617)
    """

    arg_constraints: ClassVar[Any] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        both = wg.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    concentration1 = property(lambda self: self._dirichlet.concentration[..., 0])
    concentration0 = property(lambda self: self._dirichlet.concentration[..., 1])
    mean = property(lambda self: self._dirichlet.mean[..., 0])
    mode = property(lambda self: self._dirichlet.mode[..., 0])
    variance = property(lambda self: self._dirichlet.variance[..., 0])

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        return self._dirichlet.log_prob(wg.stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration1, self.concentration0)

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return wg.lgamma(x) + wg.lgamma(y) - wg.lgamma(x + y)


class FisherSnedecor(Distribution):
    """The F-distribution: the ratio of two chi-squared variables, each over its degrees of freedom.

    Parameters
    ----------
    df1 : Tensor or number. The degrees of freedom of the numerator, positive.
    df2 : Tensor or number. Those of the denominator.

    Examples
    --------
    >>> wg.distributions.FisherSnedecor(2.0, 10.0).mean
    tensor(1.2500)
    """

    arg_constraints: ClassVar[Any] = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        df1, df2 = broadcast_all(df1, df2)
        self._gamma1, self._gamma2 = (Gamma(df * 0.5, df, validate_args) for df in (df1, df2))
        self._given(validate_args, df1=df1, df2=df2)

    @property
    def mean(self) -> Any:
        df2 = wg.where(self.df2 <= 2, math.nan, self.df2)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return wg.where(self.df1 <= 2, math.nan, mode)

    @property
    def variance(self) -> Any:
        df1, df2 = self.df1, wg.where(self.df2 <= 4, math.nan, self.df2)
        return 2 * df2**2 * (df1 + df2 - 2) / (df1 * (df2 - 2) ** 2 * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        x1 = self._gamma1.rsample(sample_shape).view(shape)
        x2 = self._gamma2.rsample(sample_shape).view(shape)
        return _at_least_tiny(x1 / _at_least_tiny(x2))

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        found = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        found = found + half1 * ratio.log() + (half1 - 1) * wg.log(value)
        return found - (half1 + half2) * wg.log1p(ratio * value)
