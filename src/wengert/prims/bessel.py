"""Layer 2 · prims: Bessel and Airy functions, and sinc, which is one of them.

The rules are DLMF 10.6.1, 10.29.1, 10.51.2 and 9.2.1, in the forms that hold at 0 as well: the
derivative of a function of order n is a combination of orders n - 1 and n + 1.
"""

from __future__ import annotations

import math
from typing import Any

from wengert.kernels import bessel as kernels
from wengert.kernels.scipy import ufunc
from wengert.prims.families import elementwise
from wengert.prims.record import case, not_implemented


def _orders(*orders: int) -> tuple[Any, ...]:
    return tuple(case(shape, n=n) for n in orders for shape in ((), (2, 3), (0,)))


# -- modified, of the first kind ------------------------------------------------------------------

elementwise(
    "i0",
    kernels.i0,
    lin=lambda F, g, self: g * F.special_i1(self),
    refuses=not_implemented("i0_vml_cpu"),
    doc="modified Bessel function of the first kind, of order 0",
)
elementwise(
    "special_i1",
    kernels.i1,
    lin=lambda F, g, self: g * (0.5 * (F.i0(self) + F.bessel_i(self, n=2))),
    refuses=not_implemented("i1_cpu"),
    doc="modified Bessel function of the first kind, of order 1",
)
elementwise(
    "bessel_i",
    kernels.bessel_i,
    lin=lambda F, g, self, n: (
        g * (0.5 * (F.bessel_i(self, n=abs(n - 1)) + F.bessel_i(self, n=n + 1)))
    ),
    cases=_orders(0, 1, 2, 3),
    refuses=not_implemented("i1_cpu"),
    doc="modified Bessel function of the first kind, of order n",
)
elementwise(
    "special_i0e",
    kernels.i0e,
    lin=lambda F, g, self, result: g * (F.special_i1e(self) - F.sign(self) * result),
    refuses=not_implemented("i0e_cpu"),
    doc="exp(-|self|) i0(self)",
)
elementwise(
    "special_i1e",
    kernels.i1e,
    lin=lambda F, g, self, result: (
        g * (0.5 * (F.special_i0e(self) + F.bessel_ie(self, n=2)) - F.sign(self) * result)
    ),
    refuses=not_implemented("i1e_cpu"),
    doc="exp(-|self|) i1(self)",
)
elementwise(
    "bessel_ie",
    kernels.bessel_ie,
    lin=lambda F, g, self, result, n: (
        g
        * (
            0.5 * (F.bessel_ie(self, n=abs(n - 1)) + F.bessel_ie(self, n=n + 1))
            - F.sign(self) * result
        )
    ),
    cases=_orders(0, 1, 2, 3),
    refuses=not_implemented("i1e_cpu"),
    doc="exp(-|self|) bessel_i(self, n)",
)

# -- of the first and second kind -----------------------------------------------------------------


def _slope_of_j(F: Any, g: Any, self: Any, n: int) -> Any:
    if n == 0:
        return -g * F.bessel_j(self, n=1)
    return g * (0.5 * (F.bessel_j(self, n=n - 1) - F.bessel_j(self, n=n + 1)))


elementwise(
    "special_bessel_j0",
    ufunc("j0", "bessel_j0"),
    lin=lambda F, g, self: -g * F.special_bessel_j1(self),
    refuses=not_implemented("bessel_j0_cpu"),
    doc="Bessel function of the first kind, of order 0",
)
elementwise(
    "special_bessel_j1",
    ufunc("j1", "bessel_j1"),
    lin=lambda F, g, self: g * (0.5 * (F.special_bessel_j0(self) - F.bessel_j(self, n=2))),
    refuses=not_implemented("bessel_j1_cpu"),
    doc="Bessel function of the first kind, of order 1",
)
elementwise(
    "bessel_j",
    kernels.bessel_j,
    lin=_slope_of_j,
    cases=_orders(0, 1, 2, 3),
    refuses=not_implemented("bessel_j1_cpu"),
    doc="Bessel function of the first kind, of order n",
)
elementwise(
    "special_bessel_y0",
    ufunc("y0", "bessel_y0"),
    lin=lambda F, g, self: -g * F.special_bessel_y1(self),
    domain="positive",
    refuses=not_implemented("bessel_y0_cpu"),
    doc="Bessel function of the second kind, of order 0",
)
elementwise(
    "special_bessel_y1",
    ufunc("y1", "bessel_y1"),
    lin=lambda F, g, self, result: g * (F.special_bessel_y0(self) - result / self),
    domain="positive",
    refuses=not_implemented("bessel_y1_cpu"),
    doc="Bessel function of the second kind, of order 1",
)

# -- modified, of the second kind -----------------------------------------------------------------

elementwise(
    "special_modified_bessel_k0",
    ufunc("k0", "modified_bessel_k0"),
    lin=lambda F, g, self: -g * F.special_modified_bessel_k1(self),
    domain="positive",
    refuses=not_implemented("modified_bessel_k0_cpu"),
    doc="modified Bessel function of the second kind, of order 0",
)
elementwise(
    "special_modified_bessel_k1",
    ufunc("k1", "modified_bessel_k1"),
    lin=lambda F, g, self, result: -g * (F.special_modified_bessel_k0(self) + result / self),
    domain="positive",
    refuses=not_implemented("modified_bessel_k1_cpu"),
    doc="modified Bessel function of the second kind, of order 1",
)
elementwise(
    "special_scaled_modified_bessel_k0",
    ufunc("k0e", "scaled_modified_bessel_k0"),
    lin=lambda F, g, self, result: g * (result - F.special_scaled_modified_bessel_k1(self)),
    domain="positive",
    refuses=not_implemented("scaled_modified_bessel_k0_cpu"),
    doc="exp(self) modified_bessel_k0(self)",
)
elementwise(
    "special_scaled_modified_bessel_k1",
    ufunc("k1e", "scaled_modified_bessel_k1"),
    lin=lambda F, g, self, result: (
        g * (result - F.special_scaled_modified_bessel_k0(self) - result / self)
    ),
    domain="positive",
    refuses=not_implemented("scaled_modified_bessel_k1_cpu"),
    doc="exp(self) modified_bessel_k1(self)",
)

# -- Airy -----------------------------------------------------------------------------------------

elementwise(
    "special_airy_ai",
    ufunc("airy", "airy_ai", 0),
    lin=lambda F, g, self: g * F.airy_ai_slope(self),
    refuses=not_implemented("airy_ai_cpu"),
    doc="Airy function Ai",
)
elementwise(
    "airy_ai_slope",
    ufunc("airy", "airy_ai", 1),
    lin=lambda F, g, self: g * (self * F.special_airy_ai(self)),
    refuses=not_implemented("airy_ai_cpu"),
    doc="the derivative of the Airy function Ai",
)

# -- spherical ------------------------------------------------------------------------------------


def _slope(F: Any, g: Any, self: Any, n: int) -> Any:
    if n == 0:
        return -g * F.spherical_bessel(self, n=1)
    below, above = F.spherical_bessel(self, n=n - 1), F.spherical_bessel(self, n=n + 1)
    return g * (below * (n / (2 * n + 1)) - above * ((n + 1) / (2 * n + 1)))


elementwise(
    "spherical_bessel",
    kernels.spherical_bessel,
    lin=_slope,
    cases=_orders(0, 1, 2, 3),
    doc="spherical Bessel function of the first kind, of order n",
)
elementwise(
    "sinc",
    kernels.sinc,
    lin=lambda F, g, self: g * (-math.pi * F.spherical_bessel(self * math.pi, n=1)),
    doc="sin(pi self) / (pi self), which is 1 at 0",
)
elementwise(
    "special_spherical_bessel_j0",
    lambda self: kernels.spherical_bessel(self, 0),
    lin=lambda F, g, self: -g * F.spherical_bessel(self, n=1),
    refuses=not_implemented("spherical_bessel_j0_cpu"),
    doc="spherical Bessel function of the first kind, of order 0: sin(self) / self",
)
