"""Layer 9 · distributions: mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any, ClassVar

import wengert as wg
from wengert.distributions import constraints
from wengert.distributions.discrete import Categorical
from wengert.distributions.distribution import Distribution


class MixtureSameFamily(Distribution):
    """A mixture of the distributions along the last batch dimension.

    Parameters
    ----------
    mixture_distribution : Categorical. The probability of each component.
    component_distribution : Distribution. The components, along the last batch dimension.

    Raises
    ------
    ValueError: If they have other types, or their numbers of components differ.

    Examples
    --------
    >>> halves = wg.distributions.Categorical(wg.ones(2))
    >>> numbers = wg.distributions.Normal(wg.tensor([-1.0, 1.7]), 1.0)
    >>> wg.distributions.MixtureSameFamily(halves, numbers).mean
    tensor(0.3500)
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of "
                "torch.distributions.Distribution"
            )
        own, theirs = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for i, j in zip(reversed(own), reversed(theirs), strict=False):
            if 1 not in (i, j) and i != j:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({own}) is not compatible with "
                    f"`component_distribution.batch_shape`({theirs})"
                )
        count = mixture_distribution.logits.shape[-1]
        last = component_distribution.batch_shape[-1]
        if count != last:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({last})"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = count
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(
            wg.Size(wg.broadcast_shapes(tuple(own), tuple(theirs))),
            component_distribution.event_shape,
            validate_args=validate_args,
        )

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    def _weighted(self, values: Any) -> Any:
        """Sum values of shape (batch, component, event) over the components."""
        probs = self._mixture_distribution.probs
        probs = probs.reshape(probs.shape + (1,) * self._event_ndims)
        return (probs * values).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        return self._weighted(self._component_distribution.mean)

    @property
    def variance(self) -> Any:
        means = self._component_distribution.mean
        away = means - self.mean.unsqueeze(-1 - self._event_ndims)
        return self._weighted(self._component_distribution.variance + away.pow(2.0))

    def cdf(self, x: Any) -> Any:
        found = self._component_distribution.cdf(self._spread(x))
        return wg.sum(found * self._mixture_distribution.probs, dim=-1)

    def _spread(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def log_prob(self, x: Any) -> Any:
        x = self._checked(x)
        found = self._component_distribution.log_prob(self._spread(x))
        weights = wg.log_softmax(self._mixture_distribution.logits, dim=-1)
        return wg.logsumexp(found + weights, dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            which = self._mixture_distribution.sample(sample_shape)
            found = self._component_distribution.sample(sample_shape)
            dim = len(wg.Size(sample_shape)) + len(self.batch_shape)
            event = tuple(self.event_shape)
            places = which.reshape((*which.shape, 1) + (1,) * len(event))
            # a mixture's batch may be smaller than that of the components
            shape = (*found.shape[:dim], 1, *event)
            return found.gather(dim, places.expand(shape)).squeeze(dim)

    def __repr__(self) -> str:
        parts = (self._mixture_distribution, self._component_distribution)
        inside = ",\n  ".join(map(repr, parts))
        return f"{type(self).__name__}(\n  {inside})"
