"""Layer 9 · distributions: transforms of numbers, and compositions of transforms."""

from __future__ import annotations

import math
import weakref
from typing import Any, ClassVar

import wengert as wg
from wengert.distributions import constraints
from wengert.nn.functional import logsigmoid, softplus

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ComposeTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
    "sum_rightmost",
]


def sum_rightmost(value: Any, dim: int) -> Any:
    """Sum over the last `dim` dimensions.

    Examples
    --------
    >>> wg.distributions.transforms.sum_rightmost(wg.ones(2, 3), 1)
    tensor([3., 3.])
    """
    return value.flatten(value.dim() - dim).sum(-1) if dim else value


class Transform:
    """A differentiable function with a computable Jacobian determinant.

    A transform defines `_call`, `_inverse` where it is bijective, and `log_abs_det_jacobian`.

    Parameters
    ----------
    %(cache_size)s

    Attributes
    ----------
    domain, codomain : Constraint. The regions of arguments and of values.
    bijective : bool. Whether it has an inverse.
    sign : int or Tensor. The sign of the derivative, for monotonic functions of a number.

    Examples
    --------
    >>> t = wg.distributions.transforms.ExpTransform()
    >>> t(wg.zeros(2)), t.inv(wg.ones(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """

    bijective: Any = False
    domain: Any = constraints.real
    codomain: Any = constraints.real
    _arguments: ClassVar[tuple[str, ...]] = ()
    """The names of the constructor's arguments, which are attributes of the transform."""
    _inv: Any = None

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached_x_y: tuple[Any, Any] = (None, None)
        super().__init__()  # a transform may be a module, too

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None, "_cached_x_y": (None, None)}

    @property
    def event_dim(self) -> int:
        """The number of dimensions of one argument and of one value, if they are equal.

        Examples
        --------
        >>> wg.distributions.transforms.SoftmaxTransform().event_dim
        1
        """
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return self.domain.event_dim

    @property
    def inv(self) -> Any:
        """The inverse transform; its own inverse is this transform.

        Examples
        --------
        >>> t = wg.distributions.transforms.AffineTransform(1.0, 2.0)
        >>> t.inv(wg.tensor([3.0])), t.inv.inv is t
        (tensor([1.]), True)
        """
        found = self._inv() if self._inv is not None else None
        if found is None:
            found = _InverseTransform(self)
            self._inv = weakref.ref(found)
        return found

    @property
    def sign(self) -> Any:
        """The sign of the derivative.

        Examples
        --------
        >>> wg.distributions.transforms.ExpTransform().sign
        1
        """
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the same transform with a cache of this size.

        Examples
        --------
        >>> t = wg.distributions.transforms.TanhTransform().with_cache()
        >>> x = wg.tensor([20.0])
        >>> t.inv(t(x)) is x  # not the infinity that atanh(1) is
        True
        """
        if self._cache_size == cache_size:
            return self
        given = {name: getattr(self, name) for name in self._arguments}
        return type(self)(**given, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not self._compared:
            return self is other
        return all(_same(getattr(self, n), getattr(other, n)) for n in self._arguments)

    _compared = True
    """Whether transforms with the same arguments are equal."""

    __hash__ = None  # type: ignore[assignment]  # as in PyTorch: they are equal by value

    def __call__(self, x: Any) -> Any:
        """Compute the value at `x`."""
        if not self._cache_size:
            return self._call(x)
        known, y = self._cached_x_y
        if x is not known:
            y = self._call(x)
            self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        if not self._cache_size:
            return self._inverse(y)
        x, known = self._cached_x_y
        if y is not known:
            x = self._inverse(y)
            self._cached_x_y = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute ln \\|dy/dx\\| from an argument and its value.

        Examples
        --------
        >>> t, x = wg.distributions.transforms.ExpTransform(), wg.tensor([0.0, 2.0])
        >>> t.log_abs_det_jacobian(x, t(x))
        tensor([0., 2.])
        """
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the value for an argument of this shape.

        Examples
        --------
        >>> wg.distributions.transforms.StickBreakingTransform().forward_shape((3,))
        torch.Size([4])
        """
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of the argument for a value of this shape.

        Examples
        --------
        >>> wg.distributions.transforms.StickBreakingTransform().inverse_shape((4,))
        torch.Size([3])
        """
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, wg.Tensor) or isinstance(b, wg.Tensor):
        return a is b or bool((wg.as_tensor(a) == wg.as_tensor(b)).all())
    return bool(a == b)


class _InverseTransform(Transform):
    """The inverse of a transform, whose cache it uses."""

    def __init__(self, transform: Any) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    @property
    def inv(self) -> Any:
        return self._inv

    domain = constraints.dependent_property(lambda self: self._inv.codomain)
    codomain = constraints.dependent_property(lambda self: self._inv.domain)
    bijective = property(lambda self: self._inv.bijective)
    sign = property(lambda self: self._inv.sign)

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and bool(self._inv == other._inv)

    __hash__ = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)


class ComposeTransform(Transform):
    """A composition of transforms.

    Parameters
    ----------
    parts : list of Transform. The first is applied first; an empty list is the identity.

    Examples
    --------
    >>> shift = wg.distributions.AffineTransform(1.25, 2.0)
    >>> wg.distributions.ComposeTransform([wg.distributions.ExpTransform(), shift])(wg.zeros(1))
    tensor([3.2500])
    """

    def __init__(self, parts: list[Any], cache_size: int = 0) -> None:
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = None

    @constraints.dependent_property
    def domain(self) -> Any:
        return self._ends(self.parts, "domain", "codomain")

    @constraints.dependent_property
    def codomain(self) -> Any:
        return self._ends(self.parts[::-1], "codomain", "domain")

    @staticmethod
    def _ends(parts: list[Any], near: str, far: str) -> Any:
        if not parts:
            return constraints.real
        found = getattr(parts[0], near)
        # the number of dimensions needed, counted from the other end
        dim = getattr(parts[-1], far).event_dim
        for part in parts[::-1]:
            change = getattr(part, near).event_dim - getattr(part, far).event_dim
            dim = max(dim + change, getattr(part, near).event_dim)
        more = dim - found.event_dim
        return constraints.independent(found, more) if more else found

    @property
    def bijective(self) -> Any:
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        return math.prod([part.sign for part in self.parts], start=1)

    @property
    def inv(self) -> Any:
        """The composition of the inverses, in reverse order."""
        found = self._inv() if self._inv is not None else None
        if found is None:
            found = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv = weakref.ref(found)
            found._inv = weakref.ref(self)
        return found

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return wg.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        total: Any = 0
        dim = self.domain.event_dim
        for part, before, after in zip(self.parts, values[:-1], values[1:], strict=True):
            slope = part.log_abs_det_jacobian(before, after)
            total = total + sum_rightmost(slope, dim - part.domain.event_dim)
            dim += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        parts = ",\n    ".join(map(repr, self.parts))
        return f"{type(self).__name__}(\n    {parts}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last batch dimensions count as dimensions of its events.

    Parameters
    ----------
    base_transform : Transform.
    reinterpreted_batch_ndims : int. The number of dimensions to add to its event.

    Examples
    --------
    >>> t = wg.distributions.IndependentTransform(wg.distributions.ExpTransform(), 1)
    >>> t.log_abs_det_jacobian(wg.ones(7), t(wg.ones(7)))
    tensor(7.)
    """

    _arguments = ("base_transform", "reinterpreted_batch_ndims")
    _compared = False

    def __init__(
        self, base_transform: Any, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        slope = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(slope, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


# -- of numbers ------------------------------------------------------------------------------------


class ExpTransform(Transform):
    """y = exp(x).

    Parameters
    ----------
    %(cache_size)s

    Examples
    --------
    >>> wg.distributions.transforms.ExpTransform()(wg.zeros(1))
    tensor([1.])
    """

    codomain = constraints.positive
    bijective = True
    sign: Any = +1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class _Broadcasts(Transform):
    """A transform of numbers that broadcasts with its parameters."""

    def forward_shape(self, shape: Any) -> Any:
        parameters = [getattr(getattr(self, n), "shape", ()) for n in self._arguments]
        return wg.broadcast_shapes(tuple(shape), *parameters)

    inverse_shape = forward_shape


class PowerTransform(_Broadcasts):
    """y = x ** exponent, of positive numbers.

    Parameters
    ----------
    exponent : Tensor or number. Not 0.

    Examples
    --------
    >>> wg.distributions.transforms.PowerTransform(2.0)(wg.tensor([3.0]))
    tensor([9.])
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True
    _arguments = ("exponent",)

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.exponent = wg.as_tensor(exponent)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()


class SoftplusTransform(Transform):
    """y = ln(1 + exp(x)).

    Parameters
    ----------
    %(cache_size)s

    Examples
    --------
    >>> wg.distributions.transforms.SoftplusTransform()(wg.zeros(1))
    tensor([0.6931])
    """

    codomain = constraints.positive
    bijective = True
    sign: Any = +1

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x)


class TanhTransform(Transform):
    """y = tanh(x).

    Parameters
    ----------
    %(cache_size)s

    Examples
    --------
    >>> wg.distributions.transforms.TanhTransform()(wg.zeros(1))
    tensor([0.])
    """

    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign: Any = +1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        # near ±1 the inverse is inexact: a cache makes it exact
        return wg.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


def _clipped_sigmoid(x: Any) -> Any:
    """Return sigmoids between the smallest number and the one below 1."""
    info = wg.finfo(x.dtype)
    return wg.clamp(wg.sigmoid(x), min=info.tiny, max=1.0 - info.eps)


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x)).

    Parameters
    ----------
    %(cache_size)s

    Examples
    --------
    >>> wg.distributions.transforms.SigmoidTransform()(wg.zeros(1))
    tensor([0.5000])
    """

    codomain = constraints.unit_interval
    bijective = True
    sign: Any = +1

    _call = staticmethod(_clipped_sigmoid)

    def _inverse(self, y: Any) -> Any:
        info = wg.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return logsigmoid(x) + logsigmoid(-x)


class AbsTransform(Transform):
    """y = \\|x\\|, which is not bijective: the inverse returns one of two solutions.

    Parameters
    ----------
    %(cache_size)s

    Examples
    --------
    >>> wg.distributions.transforms.AbsTransform()(wg.tensor([2.7]))
    tensor([2.7000])
    """

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(_Broadcasts):
    """y = loc + scale x.

    Parameters
    ----------
    loc, scale : Tensor or number.
    event_dim : int. The number of dimensions of one value.

    Examples
    --------
    >>> wg.distributions.transforms.AffineTransform(0.6, 2.0)(wg.ones(1))
    tensor([2.6000])
    """

    bijective = True
    _arguments = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        real, dim = constraints.real, self._event_dim
        return constraints.independent(real, dim) if dim else real

    codomain = domain

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self._event_dim, cache_size)

    @property
    def sign(self) -> Any:
        scale = self.scale
        return scale.sign() if isinstance(scale, wg.Tensor) else (scale > 0) - (scale < 0)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        scale = self.scale
        if not isinstance(scale, wg.Tensor):
            slope = wg.full_like(x, math.log(abs(scale)) if scale else -math.inf)
        else:
            shape = wg.broadcast_shapes(tuple(scale.shape), tuple(x.shape))
            slope = scale.abs().log().expand(shape)
        return sum_rightmost(slope, self._event_dim)


class CumulativeDistributionTransform(Transform):
    """y = cdf(x) of a distribution of numbers, whose samples become uniform.

    Parameters
    ----------
    distribution : Distribution.

    Examples
    --------
    >>> numbers = wg.distributions.Normal(0.3, 1.0)
    >>> wg.distributions.CumulativeDistributionTransform(numbers)(wg.zeros(1))
    tensor([0.3821])
    """

    codomain = constraints.unit_interval
    bijective = True
    sign: Any = +1
    _arguments = ("distribution",)
    _compared = False

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)
