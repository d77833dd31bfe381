"""Layer 2 · prims: the gamma function's logarithm, its derivatives, incomplete forms, and zeta."""

from __future__ import annotations

from typing import Any

from wengert.kernels import gamma as kernels
from wengert.kernels.samplers import gamma_slope
from wengert.prims import logarithms as logarithms
from wengert.prims.families import elementwise, general
from wengert.prims.record import case, no_derivative, not_implemented

"""Modules whose records the rules use."""


elementwise(
    "lgamma",
    kernels.lgamma,
    lin=lambda F, g, self: g * F.digamma(self),
    domain="positive",
    refuses=not_implemented("lgamma_vml_cpu"),
    doc="logarithm of the absolute value of the gamma function",
    cycles=80,
    fused="elements",
)
elementwise(
    "digamma",
    kernels.digamma,
    lin=lambda F, g, self: g * F.polygamma(self, n=1),
    domain="positive",
    refuses=not_implemented("digamma"),
    doc="derivative of lgamma",
)
elementwise(
    "polygamma",
    kernels.polygamma,
    lin=lambda F, g, self, n: g * F.polygamma(self, n=n + 1),
    domain="positive",
    cases=tuple(case(shape, n=n) for n in range(4) for shape in ((), (2, 3), (0,))),
    refuses=not_implemented("polygamma"),
    doc="derivative of order n of digamma",
)


def _slope_of_mvlgamma(F: Any, g: Any, self: Any, p: int) -> Any:
    total = F.digamma(self)
    for i in range(1, p):
        total = total + F.digamma(self - 0.5 * i)
    return g * total


elementwise(
    "mvlgamma",
    kernels.mvlgamma,
    lin=_slope_of_mvlgamma,
    cases=tuple(
        case(lambda rng, shape=shape: rng.uniform(1.5, 4.0, shape), p=p)
        for p in (1, 3)
        for shape in ((), (2, 3), (0,))
    ),
    refuses=not_implemented("mvlgamma"),
    layout="same",
    doc="logarithm of the multivariate gamma function of dimension p",
)


def _like(F: Any, self: Any, self_dtype: Any, other_dtype: Any) -> Any:
    """Return `self` in the dtype of the other argument; samples are integers here (see below)."""
    return self if self_dtype == other_dtype else F.to_copy(self, dtype=other_dtype)


def _density(F: Any, shape: Any, x: Any) -> Any:
    return F.exp(F.xlogy(shape - 1, x) - x - F.lgamma(shape))


def no_second(name: str) -> Any:
    """Return the rule of a derivative of samples, which has no derivative itself."""

    def rule(F: Any, g: Any) -> Any:
        raise NotImplementedError(
            f"the derivative for '{name}' is not implemented: samples are differentiable once"
        )

    return rule


def _slope_by_sample(F: Any, g: Any, self: Any, output: Any, result: Any) -> Any:
    # the derivative of the log-density by the shape, as the sample moves with it
    slope = F.log(output) - F.digamma(self) + ((self - 1) / output - 1) * result
    return -g * slope


general(
    "_standard_gamma_grad",
    gamma_slope,
    args=("self", "output"),
    vjp=(no_second("_standard_gamma_grad"), _slope_by_sample),
    broadcasts=True,
    promote="float",
    refuses=not_implemented("_standard_gamma_grad_cpu", "bic"),
    doc="derivative of gamma samples by their shape parameter",
    batching="pointwise",
)


def _slopes_of_igamma(sign: float) -> tuple[Any, Any]:
    """Return the rules of a share of the gamma distribution, below or (for -1) above."""

    def by_value(F: Any, g: Any, self: Any, other: Any, self_dtype: Any, other_dtype: Any) -> Any:
        return sign * g * _density(F, _like(F, self, self_dtype, other_dtype), other)

    def by_shape(F: Any, g: Any, self: Any, other: Any) -> Any:
        density = _density(F, self, other)
        slope = -sign * density * F._standard_gamma_grad(self, other)
        # at the ends all shapes agree
        slope = F.where(density == 0, 0 * density, slope)
        return g * F.where(other == 0, 0 * other, slope)

    return by_shape, by_value


def _slope_of_zeta(F: Any, g: Any, self: Any, other: Any, self_dtype: Any, other_dtype: Any) -> Any:
    power = _like(F, self, self_dtype, other_dtype)
    return -g * power * F.special_zeta(power + 1, other)


# there is no derivative with respect to the first argument, so its samples are integers
_ORDERS = tuple(
    case(lambda rng, shape=shape: rng.integers(2, 5, shape), shape)
    for shape in ((), (3,), (2, 3), (0,))
)
_NO_SHAPE = "It is known for the second argument only: detach() the first."
elementwise(
    "igamma",
    kernels.igamma,
    lin=_slopes_of_igamma(1.0),
    domain="positive",
    cases=_ORDERS,
    doc="regularised lower incomplete gamma function P(self, other)",
    lacks="complex",
)
elementwise(
    "igammac",
    kernels.igammac,
    lin=_slopes_of_igamma(-1.0),
    domain="positive",
    cases=_ORDERS,
    doc="regularised upper incomplete gamma function Q(self, other)",
    lacks="complex",
)
elementwise(
    "special_zeta",
    kernels.zeta,
    lin=(
        no_derivative("zeta", _NO_SHAPE),
        _slope_of_zeta,
    ),
    domain="positive",
    cases=_ORDERS,
    refuses=not_implemented("zeta_cpu"),
    doc="Hurwitz's zeta function, the sum over k >= 0 of (k + other) ** -self",
)
