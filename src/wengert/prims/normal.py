"""Layer 2 · prims: the normal distribution, and relatives of the error function."""

import math

from wengert.kernels import normal as kernels
from wengert.kernels.scipy import ufunc
from wengert.prims.families import elementwise
from wengert.prims.record import case, not_implemented

_SQRT_TAU = math.sqrt(2.0 * math.pi)


elementwise(
    "erfinv",
    kernels.erfinv,
    lin=lambda F, g, result: g * (F.exp(result * result) * (0.5 * math.sqrt(math.pi))),
    domain="unit",
    refuses=not_implemented("erfinv_vml_cpu"),
    doc="inverse of the error function",
    fused="elements",
)
elementwise(
    "special_erfcx",
    ufunc("erfcx", "erfcx"),
    lin=lambda F, g, self: g * F.erfcx_slope(self),
    refuses=not_implemented("erfcx_cpu"),
    doc="exp(self * self) erfc(self)",
)
elementwise(
    "erfcx_slope",
    kernels.erfcx_slope,
    lin=lambda F, g, self, result: g * (2 * (F.special_erfcx(self) + self * result)),
    refuses=not_implemented("erfcx_cpu"),
    doc="the derivative of erfcx",
)
elementwise(
    "special_ndtr",
    kernels.ndtr,
    lin=lambda F, g, self: g * (F.exp(self * self * -0.5) * (1 / _SQRT_TAU)),
    refuses=not_implemented("ndtr_cpu"),
    doc="distribution function of the normal distribution",
    fused="elements",
)
elementwise(
    "special_ndtri",
    kernels.ndtri,
    lin=lambda F, g, result: g * (F.exp(result * result * 0.5) * _SQRT_TAU),
    cases=tuple(
        case(lambda rng, shape=shape: rng.uniform(0.1, 0.9, shape))
        for shape in ((), (3,), (2, 3), (0,))
    ),
    refuses=not_implemented("ndtri_cpu"),
    doc="quantile of the normal distribution, the inverse of ndtr",
)
elementwise(
    "special_log_ndtr",
    ufunc("log_ndtr", "log_ndtr"),
    lin=lambda F, g, self: g * F.normal_hazard(self),
    refuses=not_implemented("log_ndtr_cpu"),
    doc="logarithm of ndtr",
    fused="elements",
)
elementwise(
    "normal_hazard",
    kernels.normal_hazard,
    lin=lambda F, g, self, result: -g * (result * (self + result)),
    refuses=not_implemented("log_ndtr_cpu"),
    doc="the density of the normal distribution over ndtr, the derivative of log_ndtr",
    fused="elements",
)
