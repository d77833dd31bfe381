"""Layer 9 · distributions: `Distribution`, the base of all distributions.

NOTE [distributions]
A distribution consists of its parameters, attributes with the names in `arg_constraints`, and of
inner distributions. They determine its text, the checks of its arguments, and `expand`: parameters
are expanded before the event dimensions that their constraints define, and inner distributions
before any batch dimensions that the outer one does not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import wengert as wg
from wengert.distributions import constraints
from wengert.distributions.utils import broadcast_all, lazy_property
from wengert.interp.levels import Lifted
from wengert.ops.whole_batches import holds
from wengert.tape.sites import warn

__all__ = ["Distribution", "ExponentialFamily"]


def _shown(value: Any) -> str:
    """Format a tensor: a single number as such, unless it is one of a batch under `vmap`."""
    payload = value._payload
    return repr(value) if isinstance(payload, Lifted) and not payload.traced else f"{value}"


def _not_there(self: Any) -> Any:
    raise NotImplementedError(f"{type(self).__name__} has no arg_constraints")


class Distribution:
    """A distribution of numbers or arrays, or a batch of distributions.

    Parameters
    ----------
    batch_shape : Size. The shape of the batch.
    event_shape : Size. The shape of one sample of one of them.
    validate_args : bool, optional. Whether to check parameters and values; True unless changed by
        `set_default_validate_args`.

    Attributes
    ----------
    arg_constraints : dict. The constraint of each parameter.
    support : Constraint. The region of samples.
    has_rsample : bool. Whether samples are differentiable with respect to the parameters.
    has_enumerate_support : bool. Whether all values can be listed.

    Raises
    ------
    ValueError: If a parameter does not satisfy its constraint.

    Examples
    --------
    >>> d = wg.distributions.Normal(wg.zeros(3), 1.0)
    >>> d.batch_shape, d.event_shape
    (torch.Size([3]), torch.Size([]))
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a parameter, one of the names in `arg_constraints`."""

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions check parameters and values by default.

        Raises
        ------
        ValueError: If `value` is not a bool.

        Examples
        --------
        >>> wg.distributions.Distribution.set_default_validate_args(False)
        >>> wg.distributions.Normal(0.0, -1.0)  # not checked
        Normal(loc: 0.0, scale: -1.0)
        >>> wg.distributions.Distribution.set_default_validate_args(True)
        """
        if value not in (True, False):
            raise ValueError(f"validate_args is True or False, not {value!r}")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = (),
        event_shape: Any = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = wg.Size(batch_shape), wg.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_arguments()
        super().__init__()

    def _given(self, validate_args: bool | None, **parameters: Any) -> None:
        """Set scalar parameters, which broadcast: the constructor of most distributions."""
        values = broadcast_all(*parameters.values())
        self.__dict__.update(zip(parameters, values, strict=True))
        Distribution.__init__(self, values[0].shape, validate_args=validate_args)

    def _constraints(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self.arg_constraints
        except NotImplementedError:
            warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = "
                "{}` or initialize the distribution with `validate_args=False` to turn off "
                "validation.",
                UserWarning,
            )
            return {}
        return found

    def _check_arguments(self) -> None:
        for name, constraint in self._constraints().items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(
                getattr(type(self), name, None), lazy_property
            ):
                continue
            value = getattr(self, name)
            if not holds(constraint.check(value)):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{_shown(value)}"
                )

    arg_constraints: ClassVar[Any] = property(_not_there)

    @property
    def batch_shape(self) -> Any:
        """The shape of the batch.

        Examples
        --------
        >>> wg.distributions.Normal(wg.zeros(3), 1.0).batch_shape
        torch.Size([3])
        """
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one sample of one distribution of the batch.

        Examples
        --------
        >>> wg.distributions.Dirichlet(wg.ones(5, 3)).event_shape
        torch.Size([3])
        """
        return self._event_shape

    @property
    def support(self) -> Any:
        """The constraint that samples satisfy.

        Examples
        --------
        >>> wg.distributions.Exponential(1.0).support, wg.distributions.Poisson(2.0).support
        (GreaterThanEq(lower_bound=0.0), IntegerGreaterThan(lower_bound=0))
        """
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The mean.

        Examples
        --------
        >>> wg.distributions.Gamma(2.0, 4.0).mean
        tensor(0.5000)
        """
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The value with the highest density.

        Examples
        --------
        >>> wg.distributions.Gamma(2.0, 4.0).mode
        tensor(0.2500)
        """
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance.

        Examples
        --------
        >>> wg.distributions.Uniform(0.0, 6.0).variance
        tensor(3.)
        """
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The standard deviation.

        Examples
        --------
        >>> wg.distributions.Poisson(4.0).stddev
        tensor(2.)
        """
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw samples without history, of shape ``sample_shape + batch_shape + event_shape``.

        Examples
        --------
        >>> d = wg.distributions.Normal(wg.zeros(3, requires_grad=True), 1.0)
        >>> d.sample((2,)).shape, d.sample().requires_grad
        (torch.Size([2, 3]), False)
        """
        with wg.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw samples that are differentiable with respect to the parameters.

        Examples
        --------
        >>> loc = wg.zeros(3, requires_grad=True)
        >>> wg.distributions.Normal(loc, 1.0).rsample((5,)).sum().backward()
        >>> loc.grad
        tensor([5., 5., 5.])
        """
        raise NotImplementedError

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """Return a new instance without state, for users' own `expand`."""
        if _instance is not None:
            return _instance
        if type(self).__init__ is not cls.__init__:  # type: ignore[misc]  # of the two classes
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return self.__new__(type(self))

    def sample_n(self, n: int) -> Any:
        """Draw `n` samples: the old name of ``sample((n,))``."""
        warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning)
        return self.sample(wg.Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """Compute the log-density, or log-probability, at `value`.

        Examples
        --------
        >>> wg.distributions.Normal(0.0, 1.0).log_prob(wg.tensor([0.0, 1.0]))
        tensor([-0.9189, -1.4189])
        """
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """Compute the cumulative distribution function at `value`.

        Examples
        --------
        >>> wg.distributions.Normal(0.0, 1.0).cdf(wg.tensor([0.0, 1.96]))
        tensor([0.5000, 0.9750])
        """
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """Compute the quantile: the inverse of `cdf`.

        Examples
        --------
        >>> wg.distributions.Normal(0.0, 1.0).icdf(wg.tensor([0.5, 0.975]))
        tensor([0.0000, 1.9600])
        """
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """Return all values, along a new first dimension, each for the whole batch.

        Parameters
        ----------
        expand : bool. Whether to expand them over the batch, whose dimensions are 1 otherwise.

        Examples
        --------
        >>> wg.distributions.Categorical(probs=wg.ones(3)).enumerate_support()
        tensor([0, 1, 2])
        """
        raise NotImplementedError

    def _listed(self, values: Any, expand: bool) -> Any:
        """Return the numbers in a vector in the form of `enumerate_support`."""
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def entropy(self) -> Any:
        """Compute the entropy of each distribution of the batch, in nats.

        Examples
        --------
        >>> wg.distributions.Bernoulli(wg.tensor([0.5, 0.9])).entropy()
        tensor([0.6931, 0.3251])
        """
        raise NotImplementedError

    def perplexity(self) -> Any:
        """Compute the exponential of the entropy.

        Examples
        --------
        >>> wg.distributions.Categorical(probs=wg.ones(4)).perplexity()
        tensor(4.)
        """
        return wg.exp(self.entropy())

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Expand the distribution to a larger batch, without copies (NOTE [distributions]).

        Parameters
        ----------
        batch_shape : sequence of int. A shape to which the batch's shape broadcasts.

        Examples
        --------
        >>> wg.distributions.Normal(0.0, 1.0).expand((2, 3)).batch_shape
        torch.Size([2, 3])
        """
        new = object.__new__(type(self)) if _instance is None else _instance
        shape, own = wg.Size(batch_shape), len(self._batch_shape)
        known = self._constraints()
        for name, value in self.__dict__.items():
            if name in known and isinstance(value, wg.Tensor):
                event = value.shape[value.dim() - known[name].event_dim :]
                value = value.expand(shape + event)
            elif isinstance(value, Distribution):
                value = value.expand(shape + value.batch_shape[own:])
            new.__dict__[name] = value
        new._batch_shape = shape
        return new

    def _extended_shape(self, sample_shape: Any = ()) -> Any:
        """Return the shape of samples."""
        return wg.Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _expanded(self, sample_shape: Any, *parameters: Any) -> list[Any]:
        """Return parameters in the shape of samples: those that have it as they are."""
        shape = self._extended_shape(sample_shape)
        return [one if one.shape == shape else one.expand(shape) for one in parameters]

    def _validate_sample(self, value: Any) -> None:
        """Check the argument of `log_prob` and its like.

        Raises
        ------
        ValueError: If it is not a tensor, its shape does not fit, or it lies outside of the
            support.
        """
        if not isinstance(value, wg.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if value.shape[value.dim() - events :] != self._event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.shape), reversed(expected), strict=False):
            if 1 not in (i, j) and i != j:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.shape} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warn(
                f"{type(self)} does not define `support` to enable sample validation. Please "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                UserWarning,
            )
            return
        if not holds(support.check(value)):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{_shown(value)}"
            )

    def _checked(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return value

    def __repr__(self) -> str:
        known = {name: self.__dict__[name] for name in self.arg_constraints if name in vars(self)}
        texts = [f"{n}: {_shown(v) if v.numel() == 1 else v.size()}" for n, v in known.items()]
        return f"{type(self).__name__}({', '.join(texts)})"


class ExponentialFamily(Distribution):
    """A distribution whose density is exp(t(x) · θ - F(θ) + k(x)).

    A class gives the natural parameters θ as `_natural_params`, and the log-normaliser F as
    `_log_normalizer`; entropies and divergences follow from them.

    Examples
    --------
    >>> [kind.__name__ for kind in wg.distributions.Poisson.__mro__[1:3]]
    ['ExponentialFamily', 'Distribution']
    """

    @property
    def _mean_carrier_measure(self) -> Any:
        """The mean of k(x)."""
        raise NotImplementedError

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    def _at_natural(self) -> tuple[Any, Any, Any]:
        """Return natural parameters, the log-normaliser there, and its gradients."""
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*natural)
        slopes = wg.autograd.grad(normalizer.sum(), natural, create_graph=True)
        return natural, normalizer, slopes

    def entropy(self) -> Any:
        """Compute the entropy by the derivative of the log-normaliser."""
        natural, normalizer, slopes = self._at_natural()
        result = normalizer - self._mean_carrier_measure
        for parameter, slope in zip(natural, slopes, strict=True):
            events = parameter.dim() - len(self.batch_shape)
            product = parameter * slope
            result = result - (product.flatten(-events).sum(-1) if events else product)
        return result
