"""Layer 9 · distributions: continuous relaxations of bits and categories.

References
----------
C. J. Maddison, A. Mnih, Y. W. Teh, "The concrete distribution", 2017.
E. Jang, S. Gu, B. Poole, "Categorical reparameterization with Gumbel-softmax", 2017.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import wengert as wg
from wengert.distributions import constraints
from wengert.distributions.composed import TransformedDistribution
from wengert.distributions.discrete import _BITS, _OfBits, _OfCategories
from wengert.distributions.distribution import Distribution
from wengert.distributions.transforms import ExpTransform, SigmoidTransform
from wengert.distributions.utils import broadcast_all, clamp_probs


class LogitRelaxedBernoulli(_OfBits, Distribution):
    """The distribution of the log-odds of a `RelaxedBernoulli` variable.

    Parameters
    ----------
    %(temperature, bits)s

    Examples
    --------
    >>> d = wg.distributions.relaxed_bernoulli.LogitRelaxedBernoulli(wg.tensor(1.0), 0.5)
    >>> d.log_prob(wg.tensor(0.0))
    tensor(-1.3863)
    """

    arg_constraints: ClassVar[Any] = _BITS
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._given_bits(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(wg.rand(shape, dtype=probs.dtype, device=probs.device))
        noise = u.log() - (-u).log1p() + probs.log() - (-probs).log1p()
        return noise / self.temperature

    def log_prob(self, value: Any) -> Any:
        value = self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        away = logits - value.mul(self.temperature)
        return self.temperature.log() + away - 2 * away.exp().log1p()


class _Relaxed(TransformedDistribution):
    """A distribution with the temperature and probabilities of its base distribution."""

    has_rsample = True

    temperature = property(lambda self: self.base_dist.temperature)
    logits = property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)


class RelaxedBernoulli(_Relaxed):
    """The relaxed Bernoulli distribution: between 0 and 1, with samples that are differentiable.

    Parameters
    ----------
    %(temperature, bits)s

    Examples
    --------
    >>> d = wg.distributions.RelaxedBernoulli(wg.tensor(0.5), wg.tensor([0.1, 0.9]))
    >>> d.rsample().shape
    torch.Size([2])
    """

    arg_constraints: ClassVar[Any] = _BITS
    support = constraints.unit_interval

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(_OfCategories):
    """The distribution of logarithms of `RelaxedOneHotCategorical` vectors.

    Parameters
    ----------
    temperature : Tensor. The lower it is, the closer samples are to one-hot vectors.
    %(probs_or_logits)s

    Examples
    --------
    >>> module = wg.distributions.relaxed_categorical
    >>> module.ExpRelaxedCategorical(wg.tensor(1.0), wg.ones(3)).rsample().shape
    torch.Size([3])
    """

    # a vector of logarithms of numbers that sum to 1
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._of(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(wg.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits + -((-(u.log())).log())) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        count = self._categorical._num_events
        value = self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        scale = math.lgamma(count) + (count - 1) * self.temperature.log()
        score = logits - value.mul(self.temperature)
        score = (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1)
        return score + scale


class RelaxedOneHotCategorical(_Relaxed):
    """The relaxed one-hot distribution on the simplex, with samples that are differentiable.

    Parameters
    ----------
    %(temperature, probs_or_logits)s

    Examples
    --------
    >>> near = wg.distributions.RelaxedOneHotCategorical(wg.tensor(0.5), wg.ones(3))
    >>> near.rsample((2,)).sum(-1).round(decimals=3)
    tensor([1., 1.])
    """

    arg_constraints: ClassVar[Any] = _OfCategories.arg_constraints
    support = constraints.simplex

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
