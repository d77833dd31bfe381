"""Layer 2 · prims: activations and losses of neural networks.

``reduction`` is "none", "mean" or "sum". Targets of floating dtype are differentiable arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wengert.kernels import neural as kernels
from wengert.prims.families import along_dim, elementwise, general, linear, loss
from wengert.prims.record import case, not_implemented

Dims = tuple[int, ...]

# -- over a dimension -----------------------------------------------------------------------------

_ALONG = tuple(
    case(shape, dim=dim)
    for shape, dim in (((), ()), ((3,), (0,)), ((2, 3), (1,)), ((2, 3, 4), (1,)), ((0, 3), (0,)))
)

# one dimension, or none for a 0-d tensor
_ONE_DIM = {"dim": lambda dim: sum(dim) if isinstance(dim, tuple) else dim}

along_dim(
    "softmax",
    kernels.softmax,
    overload="_softmax.default",
    vjp=(lambda F, g, result, dim: result * (g - F.sum_dim(g * result, dim=dim, keepdim=True)),),
    cases=_ALONG,
    layout="contiguous",
    shows=_ONE_DIM,
    doc="exponentials, scaled to a sum of 1 along a dimension",
    tangents="diagonal",
    lacks="complex",
    fused="rows",
)
along_dim(
    "log_softmax",
    kernels.log_softmax,
    overload="_log_softmax.default",
    vjp=(lambda F, g, result, dim: g - F.exp(result) * F.sum_dim(g, dim=dim, keepdim=True),),
    cases=_ALONG,
    layout="contiguous",
    shows=_ONE_DIM,
    doc="the logarithm of softmax",
    lacks="complex",
    fused="rows",
)

# -- activations ----------------------------------------------------------------------------------


def _activations(**params: Any) -> tuple[Any, ...]:
    return tuple(case(shape, **params) for shape in ((), (3,), (2, 3), (0,)))


def _slope_of_glu(F: Any, g: Any, self: Any, self_shape: Dims, dim: int) -> Any:
    size = self_shape[dim]
    first = F.slice(self, dim=dim, start=0, end=size // 2, step=1)
    gate = F.sigmoid(F.slice(self, dim=dim, start=size // 2, end=size, step=1))
    part = g * gate
    return F.cat(part, part * (first - first * gate), dim=dim)


def _slope_of_silu(F: Any, g: Any, self: Any) -> Any:
    gate = F.sigmoid(self)
    return g * (gate * (self * (1 - gate) + 1))


def _slope_of_mish(F: Any, g: Any, self: Any) -> Any:
    # large enough for the gate to be 1, and small enough that the square does not overflow
    grown = F.exp(F.minimum(self, 40))
    square = grown * (grown + 2)
    gate = square / (square + 2)
    return g * (gate + self * (grown / (grown + 1) * (1 - gate * gate)))


def _slope_of_gelu(F: Any, g: Any, self: Any, approximate: str) -> Any:
    if approximate == "tanh":
        slope = math.sqrt(2 / math.pi)
        square = self * self
        inner = F.tanh(slope * (self * (0.044715 * square + 1)))
        steep = slope * (3 * 0.044715 * square + 1)
        return g * (0.5 * (inner + 1) + 0.5 * self * ((1 - inner * inner) * steep))
    return g * F.gelu_slope(self)


def _slope_of_elu(F: Any, g: Any, self: Any, alpha: float, scale: float, input_scale: float) -> Any:
    # the exponential must be finite in the branch not taken; at 0 the curvature is 0
    below = F.exp(F.where(self < 0, self, 0) * input_scale) * (alpha * scale * input_scale)
    # there it is this constant, which often is the slope of the other branch
    return g * (below if alpha * input_scale == 1 else F.where(self <= 0, below, scale))


elementwise(
    "softplus",
    kernels.softplus,
    lin=lambda F, g, self, beta, threshold: F.where(
        self * beta > threshold, g, g * F.sigmoid(self * beta)
    ),
    cases=_activations(beta=2.0, threshold=20.0),
    doc="log(1 + exp(beta * self)) / beta, and self where beta * self is above the threshold",
    lacks="complex",
    fused="elements",
)
elementwise(
    "log_sigmoid",
    kernels.log_sigmoid,
    lin=lambda F, g, self: g * F.sigmoid(-self),
    doc="log(sigmoid(self))",
    lacks="complex",
    fused="elements",
)
elementwise("silu", kernels.silu, lin=_slope_of_silu, doc="self * sigmoid(self)", fused="elements")
general(
    "glu",
    kernels.glu,
    vjp=(_slope_of_glu,),
    cases=(case((4,), dim=0), case((2, 6), dim=1), case((4, 3), dim=0), case((0, 2), dim=1)),
    refuses=not_implemented("glu_cpu"),
    layout="elements",
    doc="the first half of self along dim times the sigmoid of the second",
    tangents="parts",
    lacks="complex",
    batching="dims",
    fused="whole",
)
elementwise(
    "mish",
    kernels.mish,
    lin=_slope_of_mish,
    refuses=not_implemented("mish_cpu"),
    doc="self * tanh(softplus(self))",
    fused="elements",
)
elementwise(
    "gelu",
    kernels.gelu,
    lin=_slope_of_gelu,
    cases=(*_activations(approximate="none"), *_activations(approximate="tanh")),
    layout="same",
    doc="self times the standard normal distribution function, or its approximation by tanh",
    lacks="complex",
    fused="elements",
)
elementwise(
    "gelu_slope",
    kernels.gelu_slope,
    lin=lambda F, g, self: (
        g * (F.exp(self * self * -0.5) * ((2 - self * self) * (1 / math.sqrt(2 * math.pi))))
    ),
    refuses=not_implemented("GeluKernelImpl"),
    doc="the derivative of gelu",
    fused="elements",
)
elementwise(
    "leaky_relu",
    kernels.leaky_relu,
    lin=lambda F, g, self, negative_slope: F.where(self > 0, g, g * negative_slope),
    domain="nonzero",
    cases=_activations(negative_slope=0.1),
    refuses=not_implemented("leaky_relu_cpu"),
    flat=True,
    doc="self where positive, negative_slope * self elsewhere",
    fused="elements",
)
elementwise(
    "elu",
    kernels.elu,
    lin=_slope_of_elu,
    domain="nonzero",
    cases=_activations(alpha=1.5, scale=1.25, input_scale=0.75),
    refuses=not_implemented("elu_cpu"),
    doc="scale * self where positive, alpha * scale * expm1(input_scale * self) elsewhere",
    fused="elements",
)
elementwise(
    "hardsigmoid",
    kernels.hardsigmoid,
    lin=lambda F, g, self: F.where(F.logical_and(self > -3, self < 3), g / 6, 0),
    refuses=not_implemented("hardsigmoid_cpu"),
    doc="(self + 3) / 6, kept between 0 and 1",
    fused="elements",
)
elementwise(
    "hardtanh",
    kernels.hardtanh,
    into=lambda self, min_val, max_val: kernels.hardtanh(self, min_val, max_val, self),
    lin=lambda F, g, self, min_val, max_val: F.where(
        F.logical_or(self <= min_val, self >= max_val), 0, g
    ),
    promote="same",
    cases=_activations(min_val=-0.5, max_val=0.75),
    refuses={"c": "clamp is not supported for complex types"},
    flat=True,
    doc="self, kept between two bounds",
)

# -- losses of pairs ------------------------------------------------------------------------------


def _share(g: Any, shape: Dims, reduction: str) -> Any:
    """Return the cotangent of each element's loss."""
    return g / math.prod(shape) if reduction == "mean" else g


def _pairs(**params: Any) -> tuple[Any, ...]:
    shapes: tuple[Dims, ...] = ((), (3,), (2, 3), (0,))
    return tuple(
        case(shape, shape, reduction=reduction, **params)
        for reduction in ("none", "mean", "sum")
        for shape in shapes
        if reduction != "mean" or shape != (0,)
    )


def _probabilities(shape: Dims) -> Callable[[Any], Any]:
    return lambda rng: rng.uniform(0.1, 0.9, shape)


_REDUCTION = {"reduction": lambda reduction: ("none", "mean", "sum").index(reduction)}


def _loss(
    name: str,
    kernel: Callable[..., Any],
    vjp: tuple[Callable[..., Any], Callable[..., Any]],
    shows: Mapping[str, Any] = _REDUCTION,
    **more: Any,
) -> None:
    loss(
        name,
        kernel,
        vjp=vjp,
        promote="same",
        shows={"self_sym_sizes": None, **shows},
        autocast="float32",
        **more,
    )


def _slope_of_mse(F: Any, g: Any, self: Any, target: Any, self_shape: Dims, reduction: str) -> Any:
    return (self - target) * (2 * _share(g, self_shape, reduction))


def _slope_of_smooth(
    F: Any, g: Any, self: Any, target: Any, self_shape: Dims, reduction: str, beta: float
) -> Any:
    slope = F.hardtanh((self - target) / beta, min_val=-1.0, max_val=1.0)
    return slope * _share(g, self_shape, reduction)


def _slope_of_huber(
    F: Any, g: Any, self: Any, target: Any, self_shape: Dims, reduction: str, delta: float
) -> Any:
    slope = F.clamp(self - target, min=-delta, max=delta)
    return slope * _share(g, self_shape, reduction)


def _slope_of_bce(F: Any, g: Any, self: Any, target: Any, self_shape: Dims, reduction: str) -> Any:
    variance = F.maximum((1 - self) * self, 1e-12)
    return (self - target) / variance * _share(g, self_shape, reduction)


def _slope_of_bce_target(F: Any, g: Any, self: Any, self_shape: Dims, reduction: str) -> Any:
    odds = F.maximum(F.log1p(-self), -100) - F.maximum(F.log(self), -100)
    return odds * _share(g, self_shape, reduction)


_loss(
    "mse_loss",
    kernels.mse_loss,
    (
        _slope_of_mse,
        lambda F, g, self, target, self_shape, reduction: (
            -_slope_of_mse(F, g, self, target, self_shape, reduction)
        ),
    ),
    cases=_pairs(),
    doc="the squared distance of self and target",
    fused="whole",
)
_loss(
    "smooth_l1_loss",
    kernels.smooth_l1_loss,
    (
        _slope_of_smooth,
        lambda F, g, self, target, self_shape, reduction, beta: (
            -_slope_of_smooth(F, g, self, target, self_shape, reduction, beta)
        ),
    ),
    cases=_pairs(beta=0.75),
    doc="the distance of self and target, rounded off to a parabola below beta",
    lacks="complex",
    fused="whole",
)
_loss(
    "huber_loss",
    kernels.huber_loss,
    (
        _slope_of_huber,
        lambda F, g, self, target, self_shape, reduction, delta: (
            -_slope_of_huber(F, g, self, target, self_shape, reduction, delta)
        ),
    ),
    cases=_pairs(delta=0.75),
    doc="half the squared distance of self and target, continued by its tangent above delta",
    lacks="complex",
    fused="whole",
)
_loss(
    "binary_cross_entropy",
    kernels.binary_cross_entropy,
    (_slope_of_bce, _slope_of_bce_target),
    cases=tuple(
        case(_probabilities(shape), _probabilities(shape), reduction=reduction)
        for shape in ((), (3,), (2, 3), (0,))
        for reduction in ("none", "mean", "sum")
        if reduction != "mean" or shape != (0,)
    ),
    refuses=not_implemented("binary_cross_entropy"),
    shows={**_REDUCTION, "weight": lambda: None},
    raises=True,
    doc="the cross entropy of a probability and a target probability",
)
_loss(
    "binary_cross_entropy_with_logits",
    kernels.binary_cross_entropy_with_logits,
    (
        lambda F, g, self, target, self_shape, reduction: (
            (F.sigmoid(self) - target) * _share(g, self_shape, reduction)
        ),
        lambda F, g, self, self_shape, reduction: -self * _share(g, self_shape, reduction),
    ),
    cases=_pairs(),
    shows={**_REDUCTION, "weight": lambda: None, "pos_weight": lambda: None},
    doc="the cross entropy of sigmoid(self) and a target probability",
    lacks="complex",
)

# -- losses of classes ----------------------------------------------------------------------------


def _classes(shape: Dims, count: int, ignored: bool = False) -> Callable[[Any], Any]:
    def draw(rng: Any) -> Any:
        drawn = np.asarray(rng.integers(0, count, shape))
        if ignored:
            drawn.flat[0] = -100
        return drawn

    return draw


def _class_cases(several: bool) -> tuple[Any, ...]:
    ones = np.ones(())
    weights = np.array([0.5, 1.0, 2.0])
    flat = (((2, 3), (2,)), ((3,), ()), ((0, 3), (0,)))
    deep = (((2, 3, 4), (2, 4)), ((2, 3, 1, 2), (2, 1, 2)))
    return tuple(
        case(
            shape,
            _classes(target, 3, ignored=bool(target and target[0])),
            lambda rng, weight=weight: weight,
            reduction=reduction,
            ignore_index=-100,
        )
        for shape, target in (deep if several else flat)
        for weight in (ones, weights)
        for reduction in ("none", "mean", "sum")
        if reduction != "mean" or 0 not in shape
    )


for _name, _several in (("nll_loss", False), ("nll_loss2d", True)):
    linear(
        _name,
        kernels.nll_loss,
        overload=f"{_name}_forward.default",
        vjp=(
            lambda F, g, target, weight, self_shape, reduction, ignore_index: F.nll_loss_backward(
                g,
                target,
                weight,
                shape=self_shape,
                reduction=reduction,
                ignore_index=ignore_index,
            ),
            None,
            None,
        ),
        # without weights it is given a 0-d array
        shows={
            **_REDUCTION,
            "weight": lambda weight: weight if weight.ndim else None,
            "self_sym_sizes": None,
        },
        cases=_class_cases(_several),
        flat=True,
        doc="minus the element of self for each target class, times the weight of the class",
        autocast="" if _several else "float32",
    )

linear(
    "nll_loss_backward",
    kernels.nll_loss_backward,
    vjp=(
        lambda F, g, target, weight, reduction, ignore_index: F.nll_loss(
            g, target, weight, reduction=reduction, ignore_index=ignore_index
        ),
        None,
        None,
    ),
    cases=tuple(
        case(
            (2,) if reduction == "none" else (),
            _classes((2,), 3),
            lambda rng: np.array([0.5, 1.0, 2.0]),
            shape=(2, 3),
            reduction=reduction,
            ignore_index=-100,
        )
        for reduction in ("none", "mean", "sum")
    ),
    doc="the transpose of nll_loss",
)
