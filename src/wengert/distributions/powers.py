"""Layer 9 · distributions: distributions of powers of exponential, uniform and gamma variables."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg
from wengert.distributions import constraints
from wengert.distributions.composed import TransformedDistribution
from wengert.distributions.distribution import Distribution
from wengert.distributions.gammas import Exponential, Gamma
from wengert.distributions.location import Uniform
from wengert.distributions.transforms import AffineTransform, ExpTransform, PowerTransform
from wengert.distributions.utils import broadcast_all, euler_constant, number_like


class InverseGamma(TransformedDistribution):
    """The inverse gamma distribution: 1 / x for x from `Gamma`.

    Parameters
    ----------
    concentration : Tensor or number. The shape of the gamma distribution, positive.
    rate : Tensor or number. Its inverse scale, positive; the scale of this distribution.

    Examples
    --------
    >>> wg.distributions.InverseGamma(1.9, 4.0).mean
    tensor(4.4444)
    """

    arg_constraints: ClassVar[Any] = Gamma.arg_constraints
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        turned = PowerTransform(-wg.ones((), dtype=base.rate.dtype))
        super().__init__(base, turned, validate_args=validate_args)

    concentration = property(lambda self: self.base_dist.concentration)
    rate = property(lambda self: self.base_dist.rate)
    mode = property(lambda self: self.rate / (self.concentration + 1))

    @property
    def mean(self) -> Any:
        shape = self.concentration
        return wg.where(shape > 1, self.rate / (shape - 1), math.inf)

    @property
    def variance(self) -> Any:
        shape = self.concentration
        found = self.rate.square() / ((shape - 1).square() * (shape - 2))
        return wg.where(shape > 2, found, math.inf)

    def entropy(self) -> Any:
        shape = self.concentration
        return shape + self.rate.log() + shape.lgamma() - (1 + shape) * shape.digamma()


class Pareto(TransformedDistribution):
    """The Pareto distribution on [scale, ∞), with exponent `alpha`.

    Parameters
    ----------
    scale : Tensor or number. The smallest value, positive.
    alpha : Tensor or number. The exponent, positive.

    Examples
    --------
    >>> wg.distributions.Pareto(3.2, 2.0).mean
    tensor(6.4000)
    """

    arg_constraints: ClassVar[Any] = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        steps = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, steps, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    mode = property(lambda self: self.scale)

    @property
    def mean(self) -> Any:
        a = wg.where(self.alpha > 1, self.alpha, 2.0)
        return wg.where(self.alpha > 1, a * self.scale / (a - 1), math.inf)

    @property
    def variance(self) -> Any:
        a = wg.where(self.alpha > 2, self.alpha, 3.0)
        found = self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))
        return wg.where(self.alpha > 2, found, math.inf)

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """The Weibull distribution: `scale` times a power of an exponential variable.

    Parameters
    ----------
    scale : Tensor or number. What the power is multiplied by, positive.
    concentration : Tensor or number. The inverse of the exponent of that power, positive.

    Examples
    --------
    >>> wg.distributions.Weibull(0.35, 1.0).mean
    tensor(0.3500)
    """

    arg_constraints: ClassVar[Any] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        steps = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        base = Exponential(wg.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, steps, validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        return wg.exp(wg.lgamma(1 + n * self.concentration_reciprocal))

    mean = property(lambda self: self.scale * self._moment(1))
    variance = property(
        lambda self: self.scale.pow(2) * (self._moment(2) - self._moment(1).square())
    )

    @property
    def mode(self) -> Any:
        share = ((self.concentration - 1) / self.concentration).clamp(min=0)
        return self.scale * share**self.concentration_reciprocal

    def entropy(self) -> Any:
        reciprocal = self.concentration_reciprocal
        return euler_constant * (1 - reciprocal) + wg.log(self.scale * reciprocal) + 1


class Kumaraswamy(TransformedDistribution):
    """The Kumaraswamy distribution on the unit interval, similar to the beta distribution.

    Parameters
    ----------
    concentration1 : Tensor or number. The exponent of x in 1 - (1 - x^a)^b, positive.
    concentration0 : Tensor or number. The outer exponent, b, positive.

    Examples
    --------
    >>> wg.distributions.Kumaraswamy(4.1, 1.0).mean
    tensor(0.8039)
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
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        steps = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        low, high = (number_like(self.concentration0, value) for value in (0.0, 1.0))
        base = Uniform(low, high, validate_args=validate_args)
        super().__init__(base, steps, validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        share = 1 + n / self.concentration1
        log_beta = wg.lgamma(share) + wg.lgamma(self.concentration0)
        return self.concentration0 * wg.exp(log_beta - wg.lgamma(share + self.concentration0))

    mean = property(lambda self: self._moment(1))
    variance = property(lambda self: self._moment(2) - self._moment(1).pow(2))

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        inner = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        return wg.where((a < 1) | (b < 1), math.nan, inner)

    def entropy(self) -> Any:
        a, b = 1 - self.concentration1.reciprocal(), 1 - self.concentration0.reciprocal()
        harmonic = wg.digamma(self.concentration0 + 1) + euler_constant
        return b + a * harmonic - wg.log(self.concentration1) - wg.log(self.concentration0)


class GeneralizedPareto(Distribution):
    """The generalised Pareto distribution of excesses over a high threshold `loc`.

    Parameters
    ----------
    loc : Tensor or number. The threshold.
    scale : Tensor or number. The width, positive.
    concentration : Tensor or number. The shape: positive for heavy tails, negative for bounded
        support.

    Examples
    --------
    >>> wg.distributions.GeneralizedPareto(2.2, 1.0, 0.0).mean
    tensor(3.2000)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self._given(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, wg.where(self.concentration < 0, end, math.inf))

    @property
    def _is_exponential(self) -> Any:
        return wg.isclose(self.concentration, wg.zeros_like(self.concentration))

    @property
    def _safe(self) -> Any:
        """The concentration, made safe to divide by."""
        return wg.where(self._is_exponential, 1.0, self.concentration)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(
            wg.rand(
                self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device
            )
        )

    def _log_survival(self, value: Any) -> Any:
        z = (value - self.loc) / self.scale
        return wg.where(self._is_exponential, -z, -wg.log1p(self._safe * z) / self._safe)

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        concentration = wg.where(self._is_exponential, 0.0, self.concentration)
        return (1 + concentration) * self._log_survival(value) - wg.log(self.scale)

    def log_survival_function(self, value: Any) -> Any:
        """Compute the logarithm of the probability of values above `value`."""
        return self._log_survival(self._checked(value))

    def log_cdf(self, value: Any) -> Any:
        """Compute the logarithm of `cdf`."""
        return wg.log1p(-wg.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        return wg.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Any:
        log_rest = wg.log1p(-value)
        power = wg.expm1(-self._safe * log_rest) / self._safe
        return self.loc + self.scale * wg.where(self._is_exponential, -log_rest, power)

    @property
    def mean(self) -> Any:
        found = self.loc + self.scale / (1 - self.concentration)
        return wg.where(self.concentration < 1, found, math.nan)

    @property
    def variance(self) -> Any:
        found = self.scale**2 / ((1 - self.concentration) ** 2 * (1 - 2 * self.concentration))
        return wg.where(self.concentration < 0.5, found, math.nan)

    mode = property(lambda self: self.loc)

    def entropy(self) -> Any:
        return wg.log(self.scale) + self.concentration + 1
