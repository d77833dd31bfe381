"""Layer 2 · prims: rarer ufuncs of ``scipy.special``, as rows of one table.

One record for each number of arguments computes them all; its parameter `name` selects the row. The
slopes are those of the Digital Library of Mathematical Functions (https://dlmf.nist.gov): 9.2 and
12.2 (Airy and parabolic cylinder functions), 10.61 (Kelvin), 11.4 (Struve), 18.9 (polynomials),
19.4, 19.18 and 22.13 (elliptic integrals and functions), 28.2 and 28.20 (Mathieu), 30.2 and 30.11
(spheroidal functions), 7.19 (Voigt).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from wengert.kernels.scipy import distribution, ufunc
from wengert.prims import bessel as bessel
from wengert.prims import scipy_special as scipy_special
from wengert.prims.families import elementwise
from wengert.prims.record import case, no_derivative

Slope = Callable[..., Any]
_ROOT_PI = math.sqrt(math.pi)


class Row(NamedTuple):
    """One function of real numbers.

    Attributes
    ----------
    kernel: The kernel that computes it.
    slopes: ``slope(F, *args)`` for each argument, its derivative; None if that is not known.
    """

    kernel: Callable[..., Any]
    slopes: tuple[Slope | None, ...]


def _square(x: Any) -> Any:
    return x * x


ROWS: dict[str, Row] = {}
"""The functions, by SciPy's names; one of several results has its number after a dot."""


def _row(name: str, *slopes: Slope | None, kernel: Any = None) -> None:
    own, _, output = name.partition(".")
    place = int(output) if output else None
    ROWS[name] = Row(kernel or ufunc(own, f"scipy.special.{own}", place), slopes)


def of(F: Any, name: str, *args: Any) -> Any:
    """Call a function of the table in a namespace."""
    return getattr(F, f"scipy_of_{len(args)}")(*args, name=name)


# -- pairs of a function and its derivative, of second-order equations -----------------------------


def _pair(first: str, second: str, orders: int, curvature: Slope, unit: float = 1.0) -> None:
    """Register `first`, its derivative `second`, and that one's, `curvature` times `first`."""
    unknown = (None,) * orders
    _row(first, *unknown, lambda F, *args: of(F, second, *args) * unit)
    _row(second, *unknown, lambda F, *args: curvature(F, *args) * of(F, first, *args) * unit)


def _cylinder(F: Any, v: Any, x: Any) -> Any:
    return 0.25 * x * x - v - 0.5


_pair("pbdv.0", "pbdv.1", 1, _cylinder)
_pair("pbvv.0", "pbvv.1", 1, _cylinder)
_pair("pbwa.0", "pbwa.1", 1, lambda F, a, x: a - 0.25 * x * x)
for _name, _value in (("cem", "mathieu_a"), ("sem", "mathieu_b")):
    _row(_value, None, None)
    _pair(
        f"mathieu_{_name}.0",
        f"mathieu_{_name}.1",
        2,
        lambda F, m, q, x, value=_value: 2.0 * q * F.cos(x * (math.pi / 90)) - of(F, value, m, q),
        math.pi / 180,  # the argument is in degrees, the derivative in radians
    )
    for _kind in "12":
        _pair(
            f"mathieu_mod{_name}{_kind}.0",
            f"mathieu_mod{_name}{_kind}.1",
            2,
            lambda F, m, q, x, value=_value: of(F, value, m, q) - 2.0 * q * F.cosh(2.0 * x),
        )


def _spheroidal(name: str, value: str, sign: float, turn: float) -> None:
    """Register a solution of ``(w S')' - sign (value - turn c² x² - m² / w) S = 0``.

    Here w is ``1 + sign x²``.
    """

    def bend(F: Any, m: Any, n: Any, c: Any, x: Any) -> Any:
        w = 1 + sign * x * x
        rest = of(F, value, m, n, c) - turn * _square(c * x) - _square(m) / w
        first, second = (of(F, f"{name}.{i}", m, n, c, x) for i in (0, 1))
        return sign * (rest * first - 2 * x * second) / w

    _row(f"{name}.0", None, None, None, lambda F, *args: of(F, f"{name}.1", *args))
    _row(f"{name}.1", None, None, None, bend)


_row("pro_cv", None, None, None)
_row("obl_cv", None, None, None)
_spheroidal("pro_ang1", "pro_cv", -1.0, 1.0)
_spheroidal("pro_rad1", "pro_cv", -1.0, 1.0)
_spheroidal("obl_ang1", "obl_cv", -1.0, -1.0)
_spheroidal("obl_rad1", "obl_cv", 1.0, 1.0)

# -- Kelvin's, Struve's and Airy's functions, and their integrals ----------------------------------

for _real, _imag in (("ber", "bei"), ("ker", "kei")):
    _row(_real, lambda F, x, p=_real: of(F, f"{p}p", x))
    _row(_imag, lambda F, x, p=_imag: of(F, f"{p}p", x))
    _row(f"{_real}p", lambda F, x, a=_real, b=_imag: -of(F, b, x) - of(F, f"{a}p", x) / x)
    _row(f"{_imag}p", lambda F, x, a=_imag, b=_real: of(F, b, x) - of(F, f"{a}p", x) / x)

_row("airye.0", lambda F, x: of(F, "airye.1", x) + F.sqrt(x) * of(F, "airye.0", x))
_row("airye.1", lambda F, x: x * of(F, "airye.0", x) + F.sqrt(x) * of(F, "airye.1", x))
_row("airye.2", lambda F, x: of(F, "airye.3", x) - F.sqrt(F.relu(x)) * of(F, "airye.2", x))
_row("airye.3", lambda F, x: x * of(F, "airye.2", x) - F.sqrt(F.relu(x)) * of(F, "airye.3", x))


def _struves(name: str, sign: float) -> None:
    def slope(F: Any, v: Any, x: Any) -> Any:
        more = F.pow(0.5 * x, v) * F.scipy_rgamma(v + 1.5) / _ROOT_PI
        return 0.5 * (of(F, name, v - 1, x) + sign * of(F, name, v + 1, x) + more)

    _row(name, None, slope)


_struves("struve", -1.0)
_struves("modstruve", 1.0)


def _h0(F: Any, x: Any, name: str = "struve") -> Any:
    return of(F, name, F.zeros_like(x), x)


_row("itstruve0", _h0)
_row("itmodstruve0", lambda F, x: _h0(F, x, "modstruve"))
_row("it2struve0", lambda F, x: -_h0(F, x) / x)
_row("itj0y0.0", lambda F, x: F.special_bessel_j0(x))
_row("itj0y0.1", lambda F, x: F.special_bessel_y0(x))
_row("iti0k0.0", lambda F, x: F.i0(x))
_row("iti0k0.1", lambda F, x: F.special_modified_bessel_k0(x))
_row("it2j0y0.0", lambda F, x: (1.0 - F.special_bessel_j0(x)) / x)
_row("it2j0y0.1", lambda F, x: -F.special_bessel_y0(x) / x)
_row("it2i0k0.0", lambda F, x: (F.i0(x) - 1.0) / x)
_row("it2i0k0.1", lambda F, x: -F.special_modified_bessel_k0(x) / x)
_row("itairy.0", lambda F, x: F.special_airy_ai(x))
_row("itairy.1", lambda F, x: F.scipy_airy_bi(x))
_row("itairy.2", lambda F, x: F.special_airy_ai(-x))
_row("itairy.3", lambda F, x: F.scipy_airy_bi(-x))


def _hankel(name: str, scale: complex) -> None:
    """Register a Hankel function of complex numbers; the order is real, but has their dtype."""
    known = ufunc(name, f"scipy.special.{name}")

    def slope(F: Any, v: Any, z: Any) -> Any:
        return 0.5 * (of(F, name, v - 1, z) - of(F, name, v + 1, z)) + scale * of(F, name, v, z)

    _row(name, None, slope, kernel=lambda v, z: known(np.real(v), z))


_hankel("hankel1", 0)
_hankel("hankel1e", -1j)
_hankel("hankel2", 0)
_hankel("hankel2e", 1j)

for _name, _sign, _both in (("jve", 0.5, -1), ("yve", 0.5, -1), ("yn", 0.5, -1), ("kn", -0.5, 1)):
    _row(
        _name,
        None,
        lambda F, v, x, own=_name, sign=_sign, both=_both: (
            sign * (of(F, own, v - 1, x) + both * of(F, own, v + 1, x))
        ),
    )

# -- polynomials and hypergeometric functions ------------------------------------------------------


def _lower(F: Any, name: str, n: Any, *others: Any) -> Any:
    """Return the polynomial of the degree below; 0 if there is none."""
    none = n == 0
    return F.where(none, 0.0 * others[-1], of(F, name, F.where(none, n, n - 1), *others))


_row(
    "eval_gegenbauer",
    None,
    None,
    lambda F, n, a, x: 2.0 * a * _lower(F, "eval_gegenbauer", n, a + 1, x),
)
_row(
    "eval_genlaguerre",
    None,
    None,
    lambda F, n, a, x: -_lower(F, "eval_genlaguerre", n, a + 1, x),
)
_row(
    "eval_jacobi",
    None,
    None,
    None,
    lambda F, n, a, b, x: 0.5 * (n + a + b + 1) * _lower(F, "eval_jacobi", n, a + 1, b + 1, x),
)
_row(
    "eval_sh_jacobi",
    None,
    None,
    None,
    lambda F, n, p, q, x: n * _lower(F, "eval_sh_jacobi", n, p + 2, q + 1, x),
)


def _ultraspherical(F: Any, n: Any, order: float, x: Any) -> Any:
    return _lower(F, "eval_gegenbauer", n, F.zeros_like(x) + order, x)


_row("eval_chebyc", None, lambda F, n, x: n * _lower(F, "eval_chebys", n, x))
_row("eval_chebys", None, lambda F, n, x: _ultraspherical(F, n, 2.0, 0.5 * x))
_row("eval_chebyt", None, lambda F, n, x: n * _lower(F, "eval_chebyu", n, x))
_row("eval_chebyu", None, lambda F, n, x: 2.0 * _ultraspherical(F, n, 2.0, x))
_row("eval_hermite", None, lambda F, n, x: 2.0 * n * _lower(F, "eval_hermite", n, x))
_row("eval_hermitenorm", None, lambda F, n, x: n * _lower(F, "eval_hermitenorm", n, x))
_row(
    "eval_laguerre",
    None,
    lambda F, n, x: -_lower(F, "eval_genlaguerre", n, F.zeros_like(x) + 1.0, x),
)
_row("eval_legendre", None, lambda F, n, x: _ultraspherical(F, n, 1.5, x))
_row("eval_sh_chebyt", None, lambda F, n, x: 2.0 * n * _lower(F, "eval_sh_chebyu", n, x))
_row("eval_sh_chebyu", None, lambda F, n, x: 4.0 * _ultraspherical(F, n, 2.0, 2.0 * x - 1.0))
_row("eval_sh_legendre", None, lambda F, n, x: 2.0 * _ultraspherical(F, n, 1.5, 2.0 * x - 1.0))
_row(
    "lpmv",
    None,
    None,
    lambda F, m, v, x: (
        (v * x * of(F, "lpmv", m, v, x) - (v + m) * of(F, "lpmv", m, v - 1, x)) / (x * x - 1)
    ),
)
_row("hyperu", None, None, lambda F, a, b, x: -a * of(F, "hyperu", a + 1, b + 1, x))
_row("wright_bessel", None, None, lambda F, a, b, x: of(F, "wright_bessel", a, a + b, x))
_row(
    "log_wright_bessel",
    None,
    None,
    lambda F, a, b, x: F.exp(
        of(F, "log_wright_bessel", a, a + b, x) - of(F, "log_wright_bessel", a, b, x)
    ),
)

_row("gammaln", lambda F, x: F.digamma(x))
_row("loggamma", lambda F, x: F.digamma(x))
_row("polygamma", None, lambda F, n, x: of(F, "polygamma", n + 1, x))

# -- elliptic integrals and functions --------------------------------------------------------------

_carlson = ufunc("elliprd", "scipy.special.elliprd")


def _incomplete(phi: Any, m: Any) -> Any:
    """Return (F - E) / m of the incomplete integrals, which is also valid at 0."""
    turns = np.round(phi / math.pi)
    sine = np.sin(phi - turns * math.pi)
    cosine = np.cos(phi)
    one = np.ones_like(phi * m)
    within = sine**3 * _carlson(cosine * cosine * one, 1 - m * sine * sine, one)
    return (within + 2 * turns * _carlson(0 * one, (1 - m) * one, one)) / 3


def _delta(F: Any, phi: Any, m: Any) -> Any:
    return F.sqrt(1 - m * _square(F.sin(phi)))


def _by_parameter(F: Any, phi: Any, m: Any, whole: Any) -> Any:
    """Return the derivative of F(phi, m), whose value is `whole`, with respect to `m`."""
    edge = F.sin(phi) * F.cos(phi) / _delta(F, phi, m)
    return 0.5 * (whole - of(F, "ellipdinc", phi, m) - edge) / (1 - m)


_row(
    "ellipdinc",
    lambda F, phi, m: _square(F.sin(phi)) / _delta(F, phi, m),
    lambda F, phi, m: (
        (_by_parameter(F, phi, m, of(F, "ellipkinc", phi, m)) - 0.5 * of(F, "ellipdinc", phi, m))
        / m
    ),
    kernel=_incomplete,
)
_row(
    "ellipkinc",
    lambda F, phi, m: 1 / _delta(F, phi, m),
    lambda F, phi, m: _by_parameter(F, phi, m, of(F, "ellipkinc", phi, m)),
)
_row("ellipeinc", _delta, lambda F, phi, m: -0.5 * of(F, "ellipdinc", phi, m))


def _amplitude(F: Any, u: Any, m: Any) -> Any:
    """Return the derivative of Jacobi's amplitude with respect to `m`, for constant `u`."""
    return -_by_parameter(F, of(F, "ellipj.3", u, m), m, u) * of(F, "ellipj.2", u, m)


def _turned(F: Any, u: Any, m: Any) -> Any:
    return of(F, "ellipj.0", u, m) * of(F, "ellipj.1", u, m)


_row(
    "ellipj.0",
    lambda F, u, m: of(F, "ellipj.1", u, m) * of(F, "ellipj.2", u, m),
    lambda F, u, m: of(F, "ellipj.1", u, m) * _amplitude(F, u, m),
)
_row(
    "ellipj.1",
    lambda F, u, m: -of(F, "ellipj.0", u, m) * of(F, "ellipj.2", u, m),
    lambda F, u, m: -of(F, "ellipj.0", u, m) * _amplitude(F, u, m),
)
_row(
    "ellipj.2",
    lambda F, u, m: -m * _turned(F, u, m),
    lambda F, u, m: (
        -(0.5 * _square(of(F, "ellipj.0", u, m)) + m * _turned(F, u, m) * _amplitude(F, u, m))
        / of(F, "ellipj.2", u, m)
    ),
)
_row("ellipj.3", lambda F, u, m: of(F, "ellipj.2", u, m), _amplitude)


def _complement(p: Any) -> Any:
    return _carlson(0 * p, p, np.ones_like(p)) / 3


def _symmetric(F: Any, x: Any, y: Any, z: Any) -> Any:
    """Return the derivative of Carlson's R_F with respect to `x`."""
    return of(F, "elliprd", y, z, x) / -6


_row("elliprd", None, None, None)
_row(
    "elliprf",
    _symmetric,
    lambda F, x, y, z: _symmetric(F, y, z, x),
    lambda F, x, y, z: _symmetric(F, z, x, y),
)
_row(
    "elliprc",
    lambda F, x, y: _symmetric(F, x, y, y),
    lambda F, x, y: 2 * _symmetric(F, y, y, x),
)


def _mean(F: Any, x: Any, y: Any, z: Any) -> Any:
    """Return the derivative of Carlson's R_G with respect to `x`: that of DLMF 19.21.10."""
    low, high = F.minimum(y, z), F.maximum(y, z)
    parts = low * of(F, "elliprd", low, high, x) + (low - high) * of(F, "elliprd", x, low, high)
    return 0.25 * F.sqrt(low / (x * high)) - parts / 12


_row(
    "elliprg",
    _mean,
    lambda F, x, y, z: _mean(F, y, z, x),
    lambda F, x, y, z: _mean(F, z, x, y),
)
_row("ellipkm1", lambda F, p: 0.5 * (of(F, "ellipdm1", p) - of(F, "ellipkm1", p)) / p)
_row(
    "ellipdm1",
    lambda F, p: (
        0.5 * (of(F, "ellipdm1", p) - (of(F, "ellipkm1", p) - of(F, "ellipdm1", p)) / p) / (1 - p)
    ),
    kernel=_complement,
)

# -- distributions ---------------------------------------------------------------------------------


Partials = Callable[..., tuple[Any, ...]]
"""``partials(F, *args)``, the derivatives of a share with respect to each argument."""


def _at(slope: Slope, at: int, F: Any, *args: Any) -> Any:
    return slope(F, at, *args)


def _placed(name: str, partials: Partials, unknown: int, slope: Slope) -> None:
    places = range(unknown, partials.__code__.co_argcount - 1)
    _row(name, *[None] * unknown, *[partial(_at, slope, at) for at in places])


def _share(name: str, partials: Partials, unknown: int = 0, sign: float = 1.0) -> None:
    """Register a share of a distribution; the first `unknown` arguments are whole numbers."""

    def slope(F: Any, at: int, *args: Any) -> Any:
        return sign * partials(F, *map(F.floor, args[:unknown]), *args[unknown:])[at]

    _placed(name, partials, unknown, slope)


def _solved(
    name: str,
    partials: Partials,
    place: int,
    unknown: int = 0,
    sign: float = 1.0,
    counts: bool = False,
) -> None:
    """Register the value that a share determines, which stands at its `place`.

    The share is that of `partials`, times `sign`, plus any constant. If it `counts`, it is 0 for
    all shares below that of 0.
    """

    def slope(F: Any, at: int, *args: Any) -> Any:
        known = (*map(F.floor, args[:unknown]), *args[unknown:])
        value = of(F, name, *args)
        found = partials(F, *known[:place], value, *known[place + 1 :])
        made = (sign if at == place else -found[at]) / found[place]
        return F.where(value == 0, 0 * value, made) if counts else made

    _placed(name, partials, unknown, slope)


def _gamma(F: Any, a: Any, x: Any) -> tuple[Any, ...]:
    density = scipy_special.gamma_density(F, a, x)
    return -density * F._standard_gamma_grad(a, x), density


def _chi_squared(F: Any, v: Any, x: Any) -> tuple[Any, ...]:
    by_a, by_x = _gamma(F, 0.5 * v, 0.5 * x)
    return 0.5 * by_a, 0.5 * by_x


def _gamma_of_rate(F: Any, a: Any, b: Any, x: Any) -> tuple[Any, ...]:
    by_shape, by_value = _gamma(F, b, a * x)
    return x * by_value, by_shape, a * by_value


def _poisson(F: Any, k: Any, m: Any) -> tuple[Any, ...]:
    by_shape, by_value = _gamma(F, k + 1, m)
    return -by_shape, -by_value


def _binomial(F: Any, k: Any, n: Any, p: Any) -> tuple[Any, ...]:
    # at k = n the share is 1 whatever p is
    whole = k >= n
    by_a, by_b, by_x = scipy_special.beta_partials(
        F, F.where(whole, 1 + 0 * n, n - k), k + 1, 1 - p
    )
    return by_b - by_a, by_a, F.where(whole, 0 * p, -by_x)


def _trials(F: Any, k: Any, n: Any, p: Any) -> tuple[Any, ...]:
    by_a, by_b, by_x = scipy_special.beta_partials(F, n, k + 1, p)
    return by_b, by_a, by_x


def _ratio(F: Any, dfn: Any, dfd: Any, x: Any) -> tuple[Any, ...]:
    total = dfd + dfn * x
    by_a, by_b, by_x = scipy_special.beta_partials(F, 0.5 * dfn, 0.5 * dfd, dfn * x / total)
    by_x = by_x / _square(total)
    return 0.5 * by_a + by_x * x * dfd, 0.5 * by_b - by_x * x * dfn, by_x * dfn * dfd


def _student(F: Any, df: Any, t: Any) -> tuple[Any, ...]:
    total = df + t * t
    _, by_b, by_x = scipy_special.beta_partials(F, 0.5 + 0 * df, 0.5 * df, t * t / total)
    by_df = 0.5 * by_b - by_x * _square(t / total)
    by_df = F.where(t == 0, 0 * t, 0.5 * F.sgn(t) * by_df)
    return by_df, scipy_special.student_density(F, df, t)


for _name, _partials, _unknown in (
    ("chdtr", _chi_squared, 0),
    ("gdtr", _gamma_of_rate, 0),
    ("fdtr", _ratio, 0),
    ("stdtr", _student, 0),
    ("bdtr", _binomial, 2),
    ("nbdtr", _trials, 2),
    ("pdtr", _poisson, 1),
):
    _share(_name, _partials, _unknown)
    if _name != "stdtr":
        _share(f"{_name}c", _partials, _unknown, -1.0)
_solved("chdtri", _chi_squared, 1, sign=-1.0)
_solved("chdtriv", _chi_squared, 0)
_solved("gdtrix", _gamma_of_rate, 2)
_solved("gdtria", _gamma_of_rate, 0)
_solved("gdtrib", _gamma_of_rate, 1)
_solved("fdtri", _ratio, 2)
_solved("fdtridfd", _ratio, 1)
_solved("stdtrit", _student, 1)
_solved("stdtridf", _student, 0)
_solved("bdtri", _binomial, 2, 2)
_solved("bdtrik", _binomial, 0, counts=True)
_solved("bdtrin", _binomial, 1)
_solved("nbdtri", _trials, 2, 2)
_solved("nbdtrik", _trials, 0, counts=True)
_solved("nbdtrin", _trials, 1)
_solved("pdtri", _poisson, 1, 1)
_solved("pdtrik", _poisson, 0, counts=True)
_solved("btdtria", scipy_special.beta_partials, 0)
_solved("btdtrib", scipy_special.beta_partials, 1)


def _of_density(
    name: str, inverse: str, dist: str, order: tuple[int, ...], sign: float = 1.0
) -> None:
    """Register a share and its inverse by the last argument, whose density SciPy computes."""
    density, unknown = f"{dist}_pdf", (None,) * (len(order) - 1)
    _row(density, *unknown, None, kernel=distribution(dist, "pdf", order))
    _row(name, *unknown, lambda F, *args: sign * of(F, density, *args))
    _row(
        inverse,
        *unknown,
        lambda F, *args: sign / of(F, density, *args[:-1], of(F, inverse, *args)),
    )


_of_density("nctdtr", "nctdtrit", "nct", (2, 0, 1))
_of_density("ncfdtr", "ncfdtri", "ncf", (3, 0, 1, 2))
_of_density("kolmogorov", "kolmogi", "kstwobign", (0,), -1.0)
_of_density("smirnov", "smirnovi", "ksone", (1, 0), -1.0)


def _by_share(F: Any, p: Any) -> Any:
    """Return the derivative of the standard normal quantile."""
    return math.sqrt(2 * math.pi) * F.exp(0.5 * _square(F.special_ndtri(p)))


_row(
    "nrdtrimn",
    lambda F, p, std, x: -std * _by_share(F, p),
    lambda F, p, std, x: -F.special_ndtri(p),
    lambda F, p, std, x: 1 + 0 * x,
)
_row(
    "nrdtrisd",
    lambda F, mn, p, x: -1 / F.special_ndtri(p),
    lambda F, mn, p, x: (mn - x) * _by_share(F, p) / _square(F.special_ndtri(p)),
    lambda F, mn, p, x: 1 / F.special_ndtri(p),
)


def _rest(F: Any, x: Any, lam: Any) -> tuple[Any, Any, Any]:
    below = of(F, "tklmbda", x, lam)
    inside = (below > 0) & (below < 1)
    below = F.where(inside, below, 0.5)
    slope = F.pow(below, lam - 1) + F.pow(1 - below, lam - 1)
    return below, 1 - below, F.where(inside, 1 / slope, 0 * x)  # beyond its ends it is constant


def _tukey(F: Any, x: Any, lam: Any) -> Any:
    return _rest(F, x, lam)[2]


def _tukey_by_shape(F: Any, x: Any, lam: Any) -> Any:
    p, q, slope = _rest(F, x, lam)
    return (x - F.pow(p, lam) * F.log(p) + F.pow(q, lam) * F.log(q)) / lam * slope


_row("tklmbda", _tukey, _tukey_by_shape)


def _noncentral(F: Any, x: Any, df: Any, nc: Any) -> Any:
    """Return the density of the noncentral chi-squared distribution."""
    root = F.sqrt(nc * x)
    logs = (0.25 * df - 0.5) * F.log(x / nc) - 0.5 * _square(F.sqrt(x) - F.sqrt(nc))
    return 0.5 * F.exp(logs) * F.scipy_ive(0.5 * df - 1, root)


_row("chndtr", _noncentral, None, lambda F, x, df, nc: -_noncentral(F, x, df + 2, nc))

_row(
    "chndtrix",
    lambda F, p, df, nc: 1 / _noncentral(F, of(F, "chndtrix", p, df, nc), df, nc),
    None,
    lambda F, p, df, nc: (
        _noncentral(F, of(F, "chndtrix", p, df, nc), df + 2, nc)
        / _noncentral(F, of(F, "chndtrix", p, df, nc), df, nc)
    ),
)


def _dispersion(x: Any, sigma: Any, gamma: Any) -> Any:
    """Return Voigt's profile and the imaginary part of the same function."""
    wofz = ufunc("wofz", "scipy.special.wofz")
    z = (x + 1j * gamma) / (sigma * math.sqrt(2))
    return wofz(z).imag / (sigma * math.sqrt(2 * math.pi))


def _voigt(F: Any, x: Any, sigma: Any, gamma: Any) -> tuple[Any, Any]:
    """Return d/dx and d/dgamma of Voigt's profile; the dispersion's derivatives follow."""
    profile = of(F, "voigt_profile", x, sigma, gamma)
    other = of(F, "voigt_dispersion", x, sigma, gamma)
    square = sigma * sigma
    return (
        (gamma * other - x * profile) / square,
        (x * other + gamma * profile - 1 / math.pi) / square,
    )


def _voigt_by_width(F: Any, x: Any, sigma: Any, gamma: Any) -> Any:
    along, down = _voigt(F, x, sigma, gamma)
    return -(of(F, "voigt_profile", x, sigma, gamma) + x * along + gamma * down) / sigma


def _dispersion_by_width(F: Any, x: Any, sigma: Any, gamma: Any) -> Any:
    along, down = _voigt(F, x, sigma, gamma)
    return -(of(F, "voigt_dispersion", x, sigma, gamma) - x * down + gamma * along) / sigma


_row(
    "voigt_profile",
    lambda F, *args: _voigt(F, *args)[0],
    _voigt_by_width,
    lambda F, *args: _voigt(F, *args)[1],
)
_row(
    "voigt_dispersion",
    lambda F, *args: -_voigt(F, *args)[1],
    _dispersion_by_width,
    lambda F, *args: _voigt(F, *args)[0],
    kernel=_dispersion,
)

# -- means and powers ------------------------------------------------------------------------------


def _agm(F: Any, a: Any, b: Any) -> Any:
    """Return d/da of ``pi (a + b) / (4 K)``, the arithmetic-geometric mean."""
    total = a + b
    share = 4 * a * b / (total * total)
    whole = of(F, "ellipkm1", share)
    bend = 0.5 * (of(F, "ellipdm1", share) - whole) / share
    return 0.25 * math.pi / whole * (1 - bend / whole * 4 * b * (b - a) / (total * total))


_row("agm", _agm, lambda F, a, b: _agm(F, b, a))


def _by_power(F: Any, logarithm: Any, lam: Any) -> Any:
    """Return the derivative of ``expm1(lam logarithm) / lam`` with respect to `lam`."""
    slope = _square(logarithm) * scipy_special.slope_of_exprel(F, lam * logarithm)
    return F.where(F.isinf(logarithm), 1 / (lam * lam), slope)


def _shrunk(F: Any, y: Any, lam: Any) -> Any:
    """Return the derivative of ``log1p(lam y) / lam`` with respect to `lam`."""
    grown = F.log1p(lam * y)
    part = y / F.scipy_exprel(grown)
    return -part * part * scipy_special.slope_of_exprel(F, grown) / (1 + lam * y)


_row(
    "boxcox",
    lambda F, x, lam: F.pow(x, lam - 1),
    lambda F, x, lam: _by_power(F, F.log(x), lam),
)
_row(
    "boxcox1p",
    lambda F, x, lam: F.pow(1 + x, lam - 1),
    lambda F, x, lam: _by_power(F, F.log1p(x), lam),
)
for _name, _one in (("inv_boxcox", 0.0), ("inv_boxcox1p", 1.0)):
    _row(
        _name,
        lambda F, y, lam, own=_name, one=_one: (of(F, own, y, lam) + one) / (1 + lam * y),
        lambda F, y, lam, own=_name, one=_one: (of(F, own, y, lam) + one) * _shrunk(F, y, lam),
    )

# -- the records -----------------------------------------------------------------------------------


def _kernel(*values: Any, name: str) -> Any:
    return ROWS[name].kernel(*values)


def _slope(F: Any, place: int, name: str, *args: Any) -> Any:
    slope = ROWS[name].slopes[place]
    if slope is None:
        raise NotImplementedError(
            f"the derivative of scipy.special.{name} with respect to argument {place + 1} is not "
            "implemented: detach() it"
        )
    return slope(F, *args)


def _cases(names: str) -> tuple[Any, ...]:
    """Return samples: integers for arguments without a derivative."""

    def drawn(slope: Slope | None, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        if slope is None:
            return lambda rng: rng.integers(1, 4, shape).astype(float)
        return lambda rng: rng.uniform(0.2, 0.8, shape)

    return tuple(
        case(*[drawn(slope, shape) for slope in ROWS[name].slopes], name=name)
        for name in names.split()
        for shape in ((), (2, 3), (0,))
    )


def _record(args: str, names: str, *lin: Callable[..., Any]) -> None:
    elementwise(
        f"scipy_of_{len(lin)}",
        _kernel,
        args=args.split(),
        params=("name",),
        lin=lin,
        cases=_cases(names),
        lacks="complex",
        doc=f"functions of scipy.special of {len(lin)} argument{'s' * (len(lin) > 1)}, by name",
    )


_record("a", "berp ellipkm1", lambda F, g, a, name: g * _slope(F, 0, name, a))
_record(
    "a b",
    "tklmbda ellipkinc",
    lambda F, g, a, b, name: g * _slope(F, 0, name, a, b),
    lambda F, g, a, b, name: g * _slope(F, 1, name, a, b),
)
_record(
    "a b c",
    "voigt_profile",
    lambda F, g, a, b, c, name: g * _slope(F, 0, name, a, b, c),
    lambda F, g, a, b, c, name: g * _slope(F, 1, name, a, b, c),
    lambda F, g, a, b, c, name: g * _slope(F, 2, name, a, b, c),
)
_record(
    "a b c d",
    "eval_jacobi",
    *[no_derivative(f"scipy.special: argument {i} of 4", "detach() it.") for i in (1, 2, 3)],
    lambda F, g, a, b, c, d, name: g * _slope(F, 3, name, a, b, c, d),
)
