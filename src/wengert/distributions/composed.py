"""Layer 9 · distributions: distributions built from others: transformed and independent ones."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

import wengert as wg
from wengert.distributions import constraints
from wengert.distributions.distribution import Distribution
from wengert.distributions.number_transforms import ComposeTransform, Transform, sum_rightmost

D = TypeVar("D", bound=Distribution)


class Independent(Distribution, Generic[D]):
    """A distribution whose last batch dimensions count as dimensions of its events.

    Parameters
    ----------
    base_distribution : Distribution.
    reinterpreted_batch_ndims : int. The number of last batch dimensions that become event
        dimensions.

    Raises
    ------
    ValueError: If the batch has fewer dimensions.

    Examples
    --------
    >>> numbers = wg.distributions.Normal(wg.zeros(3), 1.0)
    >>> wg.distributions.Independent(numbers, 1).log_prob(wg.zeros(3))
    tensor(-2.7568)
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self,
        base_distribution: D,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        self.base_dist, self.reinterpreted_batch_ndims = (
            base_distribution,
            reinterpreted_batch_ndims,
        )
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch)}"
            )
        cut = len(batch) - reinterpreted_batch_ndims
        event = batch[cut:] + base_distribution.event_shape
        super().__init__(batch[:cut], event, validate_args=validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    @property
    def has_enumerate_support(self) -> Any:
        """Whether all values can be listed: not for events of several elements."""
        return not self.reinterpreted_batch_ndims and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        ndims, found = self.reinterpreted_batch_ndims, self.base_dist.support
        return constraints.independent(found, ndims) if ndims else found

    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The distribution of transformed samples of another distribution.

    Parameters
    ----------
    base_distribution : Distribution. The distribution whose samples are transformed.
    transforms : Transform or list of Transform. The first is applied first.

    Raises
    ------
    ValueError: If `transforms` are not transforms, or the base has too few dimensions for them.

    Examples
    --------
    >>> noise = wg.distributions.Normal(0.0, 1.0)
    >>> doubled = wg.distributions.AffineTransform(0.0, 2.0)
    >>> wg.distributions.TransformedDistribution(noise, [doubled]).log_prob(wg.tensor(0.0))
    tensor(-1.6121)
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self, base_distribution: Any, transforms: Any, validate_args: bool | None = None
    ) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        if not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = transforms
        shape = base_distribution.batch_shape + base_distribution.event_shape
        base_events = len(base_distribution.event_shape)
        transform = ComposeTransform(transforms)
        if len(shape) < transform.domain.event_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{transform.domain.event_dim}, but got {shape}."
            )
        forward = transform.forward_shape(shape)
        base_shape = transform.inverse_shape(forward)
        if base_shape != shape:
            batch = base_shape[: len(base_shape) - base_events]
            base_distribution = base_distribution.expand(batch)
        # dimensions that transforms take as events are events in the base, too
        more = transform.domain.event_dim - base_events
        if more > 0:
            base_distribution = Independent(base_distribution, more)
        self.base_dist = base_distribution
        change = transform.codomain.event_dim - transform.domain.event_dim
        events = max(transform.codomain.event_dim, base_events + change)
        cut = len(forward) - events
        super().__init__(forward[:cut], forward[cut:], validate_args=validate_args)

    has_rsample: Any = property(lambda self: self.base_dist.has_rsample)

    @constraints.dependent_property
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        more = len(self.event_shape) - found.event_dim
        return constraints.independent(found, more) if more else found

    def sample(self, sample_shape: Any = ()) -> Any:
        with wg.no_grad():
            return self._pushed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._pushed(self.base_dist.rsample(sample_shape))

    def _pushed(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Any) -> Any:
        y = self._checked(value)
        events, found = len(self.event_shape), 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            events += transform.domain.event_dim - transform.codomain.event_dim
            slope = transform.log_abs_det_jacobian(x, y)
            found = found - sum_rightmost(slope, events - transform.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return found + sum_rightmost(base, events - len(self.base_dist.event_shape))

    def _monotonic(self, value: Any) -> Any:
        """Return `value`, or its complement if the transforms reverse the order."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonic(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._pushed(self.base_dist.icdf(self._monotonic(value)))
