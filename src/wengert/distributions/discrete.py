"""Layer 9 · distributions: distributions of counts and categories, by probability or log-odds."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg
from wengert.distributions import constraints
from wengert.distributions.distribution import Distribution, ExponentialFamily
from wengert.distributions.gammas import Gamma
from wengert.distributions.utils import (
    broadcast_all,
    clamp_probs,
    entropy_of_bits,
    exactly_one,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from wengert.nn.functional import binary_cross_entropy_with_logits, logsigmoid
from wengert.ops.whole_batches import holds

_BITS = {"probs": constraints.unit_interval, "logits": constraints.real}
_CHOICES = {"probs": constraints.simplex, "logits": constraints.real_vector}


class _OfBits:
    """Probabilities and log-odds: one is given, the other is computed on first use."""

    _param = property(lambda self: self.__dict__.get("probs", self.__dict__.get("logits")))

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    def _given_bits(self, probs: Any, logits: Any, *others: Any) -> Any:
        """Set the given one, and return the other parameters, broadcast with it."""
        name = exactly_one(probs=probs, logits=logits)
        value = probs if name == "probs" else logits
        *rest, value = broadcast_all(*others, value)
        setattr(self, name, value)
        return rest

    @lazy_property
    def logits(self) -> Any:
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities of 1."""
        return logits_to_probs(self.logits, is_binary=True)


class Bernoulli(_OfBits, ExponentialFamily):
    """The Bernoulli distribution: 1 with probability `probs`, which has log-odds `logits`, else 0.

    Parameters
    ----------
    %(chance)s

    Examples
    --------
    >>> wg.distributions.Bernoulli(0.25).log_prob(wg.tensor([0.0, 1.0]))
    tensor([-0.2877, -1.3863])
    """

    arg_constraints: ClassVar[Any] = _BITS
    support = constraints.boolean
    _mean_carrier_measure = 0
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._given_bits(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self) -> Any:
        return wg.where(self.probs == 0.5, math.nan, (self.probs >= 0.5).to(self.probs))

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            return wg.bernoulli(*self._expanded(sample_shape, self.probs))

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return entropy_of_bits(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._listed(wg.arange(2, dtype=self._param.dtype), expand)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        return wg.log1p(wg.exp(x))


class Geometric(_OfBits, Distribution):
    """The geometric distribution: failures before a success that has probability `probs`.

    Parameters
    ----------
    %(chance)s

    Examples
    --------
    >>> wg.distributions.Geometric(0.13).mean
    tensor(6.6923)
    """

    arg_constraints: ClassVar[Any] = _BITS
    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._given_bits(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not holds(self.probs > 0):
            bad = self.probs.detach()[self.probs.detach() <= 0]
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape "
                f"{tuple(self.probs.shape)}) of distribution {self!r} to be positive but found "
                f"invalid values:\n{bad}"
            )

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: wg.zeros_like(self.probs))
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            tiny = wg.finfo(self.probs.dtype).tiny
            u = wg.empty(self._extended_shape(sample_shape), dtype=self.probs.dtype)
            return (u.uniform_(tiny, 1).log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        value, probs = broadcast_all(self._checked(value), self.probs)
        # 0 failures before a certain success
        probs = wg.where((probs == 1) & (value == 0), 0.0, probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return entropy_of_bits(self.logits, self.probs) / self.probs


class Binomial(_OfBits, Distribution):
    """The binomial distribution: successes, of probability `probs`, in `total_count` trials.

    Parameters
    ----------
    total_count : int or Tensor. The number of trials, not negative.
    %(chance)s

    Examples
    --------
    >>> wg.distributions.Binomial(4, wg.tensor(0.27)).mean
    tensor(1.0800)
    """

    arg_constraints: ClassVar[Any] = {"total_count": constraints.nonnegative_integer, **_BITS}
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (total_count,) = self._given_bits(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    @property
    def mode(self) -> Any:
        found = ((self.total_count + 1) * self.probs).floor()
        return found.clamp(max=self.total_count)

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            return wg.binomial(*self._expanded(sample_shape, self.total_count, self.probs))

    def log_prob(self, value: Any) -> Any:
        value, n = self._checked(value), self.total_count
        log_ways = wg.lgamma(n + 1) - wg.lgamma(value + 1) - wg.lgamma(n - value + 1)
        return value * self.logits + log_ways + n * logsigmoid(-self.logits)

    def entropy(self) -> Any:
        counts = self.enumerate_support(False)
        found = self.log_prob(counts)
        return -(wg.exp(found) * found).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        most = int(self.total_count.max())
        if not self.total_count.min() == most:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`."
            )
        return self._listed(wg.arange(1 + most, dtype=self._param.dtype), expand)


class NegativeBinomial(_OfBits, Distribution):
    """The negative binomial distribution: successes, of probability `probs`, before
    `total_count` failures.

    Parameters
    ----------
    total_count : Tensor or number. The number of failures, not negative.
    %(chance)s

    Examples
    --------
    >>> wg.distributions.NegativeBinomial(0.6, wg.tensor(0.5)).mean
    tensor(0.6000)
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (total_count,) = self._given_bits(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    mean = property(lambda self: self.total_count * wg.exp(self.logits))
    variance = property(lambda self: self.mean / wg.sigmoid(-self.logits))

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @lazy_property
    def _gamma(self) -> Any:
        # not validated, since total_count may be 0
        return Gamma(self.total_count, wg.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            return wg.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        value, n = self._checked(value), self.total_count
        found = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        log_ways = wg.lgamma(n + value) - wg.lgamma(1.0 + value) - wg.lgamma(n)
        return found + wg.where(n + value == 0.0, 0.0, log_ways)


class Poisson(ExponentialFamily):
    """The Poisson distribution with mean `rate`.

    Parameters
    ----------
    rate : Tensor or number. The mean, not negative.

    Examples
    --------
    >>> wg.distributions.Poisson(4.0).log_prob(wg.tensor(0.0))
    tensor(-4.)
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._given(validate_args, rate=rate)

    mean = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())
    variance = property(lambda self: self.rate)

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            return wg.poisson(*self._expanded(sample_shape, self.rate))

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (wg.log(self.rate),)

    def _log_normalizer(self, x: Any) -> Any:
        return wg.exp(x)


class ContinuousBernoulli(_OfBits, ExponentialFamily):
    """The continuous Bernoulli distribution: a Bernoulli likelihood on the unit interval.

    Parameters
    ----------
    %(bits)s
    lims : (float, float). Between these, series replace formulas that divide by 1 - 2 probs.

    References
    ----------
    G. Loaiza-Ganem and J. P. Cunningham, "The continuous Bernoulli: fixing a pervasive error in
    variational autoencoders", 2019.

    Examples
    --------
    >>> wg.distributions.ContinuousBernoulli(0.19).mean
    tensor(0.3832)
    """

    arg_constraints: ClassVar[Any] = _BITS
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._given_bits(probs, logits)
        if probs is not None:
            checks = self._validate_args if validate_args is None else validate_args
            if checks and not holds(constraints.unit_interval.check(self.probs)):
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.shape, validate_args=validate_args)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities of 1, kept inside (0, 1) like those that are given."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    @property
    def _unstable(self) -> Any:
        return (self.probs > self._lims[0]) & (self.probs <= self._lims[1])

    @property
    def _cut_probs(self) -> Any:
        """The probabilities, clamped outside the limits."""
        return wg.where(self._unstable, self._lims[0], self.probs)

    def _log_constant(self) -> Any:
        cut = self._cut_probs
        # separately on each side of 1/2, so that no gradient is NaN
        below = wg.where(cut <= 0.5, cut, 0.0)
        above = wg.where(cut > 0.5, cut, 1.0)
        width = wg.where(cut <= 0.5, wg.log1p(-2.0 * below), wg.log(2.0 * above - 1.0))
        found = wg.log(wg.abs(wg.log1p(-cut) - wg.log(cut))) - width
        x = (self.probs - 0.5).pow(2)
        return wg.where(self._unstable, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x, found)

    @property
    def mean(self) -> Any:
        cut, x = self._cut_probs, self.probs - 0.5
        found = cut / (2.0 * cut - 1.0) + 1.0 / (wg.log1p(-cut) - wg.log(cut))
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x
        return wg.where(self._unstable, series, found)

    stddev = property(lambda self: wg.sqrt(self.variance))

    @property
    def variance(self) -> Any:
        cut, x = self._cut_probs, (self.probs - 0.5).pow(2)
        found = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2)
        found = found + 1.0 / (wg.log1p(-cut) - wg.log(cut)).pow(2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return wg.where(self._unstable, series, found)

    def rsample(self, sample_shape: Any = ()) -> Any:
        u = wg.rand(
            self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device
        )
        return self.icdf(u)

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        found = -binary_cross_entropy_with_logits(logits, value, reduction="none")
        return found + self._log_constant()

    def cdf(self, value: Any) -> Any:
        value, cut = self._checked(value), self._cut_probs
        powers = cut.pow(value) * (1.0 - cut).pow(1.0 - value)
        found = wg.where(self._unstable, value, (powers + cut - 1.0) / (2.0 * cut - 1.0))
        return wg.where(value <= 0.0, 0.0, wg.where(value >= 1.0, 1.0, found))

    def icdf(self, value: Any) -> Any:
        cut = self._cut_probs
        found = wg.log1p(-cut + value * (2.0 * cut - 1.0)) - wg.log1p(-cut)
        return wg.where(self._unstable, value, found / (wg.log(cut) - wg.log1p(-cut)))

    def entropy(self) -> Any:
        log0, log1 = wg.log1p(-self.probs), wg.log(self.probs)
        return self.mean * (log0 - log1) - self._log_constant() - log0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = wg.where(outside, x, (self._lims[0] - 0.5))
        found = wg.log(wg.abs(wg.special.expm1(cut))) - wg.log(wg.abs(cut))
        series = 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0
        return wg.where(outside, found, series)


# -- categories ------------------------------------------------------------------------------------


class Categorical(Distribution):
    """The categorical distribution: integers from 0, with probabilities along the last dimension.

    Parameters
    ----------
    probs : Tensor. Non-negative weights, which are normalised to sum to 1.
    logits : Tensor. Their logarithms, up to a constant, instead.

    Examples
    --------
    >>> wg.distributions.Categorical(wg.tensor([1.0, 3.0])).log_prob(wg.tensor(1))
    tensor(-0.2877)
    """

    arg_constraints: ClassVar[Any] = _CHOICES
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name = exactly_one(probs=probs, logits=logits)
        value = probs if name == "probs" else logits
        if value.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if name == "probs":
            self.probs = value / value.sum(-1, keepdim=True)
        else:
            self.logits = value - value.logsumexp(dim=-1, keepdim=True)
        self._num_events = value.shape[-1]
        super().__init__(value.shape[:-1], validate_args=validate_args)

    _param, param_shape = _OfBits._param, _OfBits.param_shape

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def mean(self) -> Any:
        return wg.full(self._extended_shape(), math.nan, dtype=self.probs.dtype)

    variance = property(lambda self: self.mean)
    mode = property(lambda self: self.probs.argmax(dim=-1))

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = wg.Size(sample_shape)
        with wg.no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            found = wg.multinomial(rows, shape.numel(), True)
            return (found.T if found.shape[1] > 1 else found).reshape(self._extended_shape(shape))

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value).long().unsqueeze(-1)
        value, logits = wg.broadcast_tensors(value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        least = wg.finfo(self.logits.dtype).min
        return -(wg.clamp(self.logits, min=least) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._listed(wg.arange(self._num_events), expand)


class _OfCategories(Distribution):
    """A distribution of vectors based on a categorical one."""

    arg_constraints: ClassVar[Any] = _CHOICES
    _categorical: Any

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    param_shape = property(lambda self: self._categorical.param_shape)
    _param = property(lambda self: self._categorical._param)

    def _of(self, probs: Any, logits: Any, validate_args: bool | None) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        Distribution.__init__(self, shape[:-1], shape[-1:], validate_args=validate_args)


class OneHotCategorical(_OfCategories):
    """The distribution of one-hot vectors whose 1 is at a category drawn by `Categorical`.

    Its parameters are those of `Categorical`.

    Parameters
    ----------
    %(weights)s

    Examples
    --------
    >>> wg.distributions.OneHotCategorical(wg.tensor([3.2, 3.0])).mean
    tensor([0.5161, 0.4839])
    """

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._of(probs, logits, validate_args)

    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self._categorical.probs * (1 - self._categorical.probs))

    def _one_hot(self, places: Any) -> Any:
        found = wg.nn.functional.one_hot(places, self._categorical._num_events)
        return found.to(self.probs.dtype)

    mode = property(lambda self: self._one_hot(self._categorical.mode))

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            return self._one_hot(self._categorical.sample(wg.Size(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        return self._categorical.log_prob(self._checked(value).max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n = self.event_shape[0]
        values = wg.eye(n, dtype=self._param.dtype)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """Like `OneHotCategorical`, but samples have the gradient of the probabilities.

    Parameters
    ----------
    %(weights)s

    Examples
    --------
    >>> p = wg.tensor([0.25, 0.75], requires_grad=True)
    >>> d = wg.distributions.OneHotCategoricalStraightThrough(p)
    >>> d.rsample().requires_grad, d.sample().requires_grad
    (True, False)
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        probs = self._categorical.probs
        return self.sample(sample_shape) + (probs - probs.detach())


class Multinomial(_OfCategories):
    """The multinomial distribution: how often each category comes up in `total_count` draws.

    Parameters
    ----------
    total_count : int.
    %(probs_or_logits)s

    Examples
    --------
    >>> wg.distributions.Multinomial(4, wg.tensor([0.35, 3.0])).mean
    tensor([0.4179, 3.5821])
    """

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._of(probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = wg.Size(sample_shape)
        with wg.no_grad():
            draws = self._categorical.sample(wg.Size((self.total_count,)) + shape)
            draws = draws.movedim(0, -1)
            counts = wg.zeros(self._extended_shape(shape), dtype=self.probs.dtype)
            return counts.scatter_add(-1, draws, wg.ones_like(draws).type_as(counts))

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        log_ways = wg.lgamma(value.sum(-1) + 1) - wg.lgamma(value + 1).sum(-1)
        # an impossible category without draws has probability 1
        logits = wg.where((value == 0) & (logits == -math.inf), 0.0, logits)
        return log_ways + (logits * value).sum(-1)

    def entropy(self) -> Any:
        n = wg.tensor(self.total_count)
        single = self._categorical.entropy()
        counts = wg.arange(1.0, self.total_count + 1.0, dtype=self.probs.dtype)
        counts = counts.view((-1,) + (1,) * len(self.batch_shape + self.event_shape))
        marginal = Binomial(self.total_count, probs=self.probs, validate_args=False)
        expected = (wg.exp(marginal.log_prob(counts)) * (counts + 1).lgamma()).sum((0, -1))
        return n * single - wg.lgamma((n + 1).to(single.dtype)) + expected
