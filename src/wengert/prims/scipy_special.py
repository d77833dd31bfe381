"""Layer 2 · prims: ufuncs of ``scipy.special`` that PyTorch lacks, with their derivatives.

A call of SciPy's ufunc on a tensor records them. The derivatives are those of the
Digital Library of Mathematical Functions (https://dlmf.nist.gov): 5.2 and 5.12 (gamma, beta), 6.2
(exponential and trigonometric integrals), 7.2 (error functions), 8.17 (incomplete beta), 9.2
(Airy), 10.6 and 10.29 (Bessel), 13.3 and 15.5 (hypergeometric), 19.4 (elliptic integrals).
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.extras import scipy_module
from wengert.kernels.integrals import expn
from wengert.kernels.samplers import beta_slope
from wengert.kernels.scipy import ufunc
from wengert.prims import bessel as bessel
from wengert.prims import gamma as gamma
from wengert.prims import logarithms as logarithms
from wengert.prims import normal as normal
from wengert.prims import roots as roots
from wengert.prims.families import elementwise
from wengert.prims.record import case, no_derivative, not_implemented

_DEGREE = math.pi / 180
_ROOT_PI = math.sqrt(math.pi)
_ROOT_TAU = math.sqrt(2 * math.pi)
_LAST = "It is known for the last arguments only: detach() the others."
_SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 3), (0,))


def _one(
    name: str,
    lin: Any,
    domain: str = "real",
    *,
    of: str = "",
    output: int | None = None,
) -> None:
    elementwise(
        f"scipy_{name}",
        ufunc(of or name, f"scipy.special.{of or name}", output),
        lin=lin,
        domain=domain,
        refuses=not_implemented(f"{name}"),
        doc=f"scipy.special.{of or name}" + ("" if output is None else f"()[{output}]"),
    )


def _several(
    name: str,
    args: str,
    lin: Any,
    lows: tuple[float, ...],
    highs: tuple[float, ...],
    kernel: Any = None,
    doc: str = "",
) -> None:
    """Register a function of several arguments; `lin` has the rules of all, or of the last ones.

    The derivatives with respect to the others are not known: in samples they are integers.
    """
    names = args.split()
    rules = lin if isinstance(lin, tuple) else (lin,)
    unknown = len(names) - len(rules)

    def drawn(i: int, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        if i < unknown:
            return lambda rng: rng.integers(int(lows[i]), int(highs[i]) + 1, shape).astype(float)
        return lambda rng: rng.uniform(lows[i], highs[i], shape)

    elementwise(
        f"scipy_{name}",
        kernel or ufunc(name, f"scipy.special.{name}"),
        args=names,
        lin=(*[no_derivative(f"{name}: {a}", _LAST) for a in names[:unknown]], *rules),
        cases=tuple(case(*[drawn(i, shape) for i in range(len(names))]) for shape in _SHAPES),
        refuses=not_implemented(f"{name}"),
        doc=doc or f"scipy.special.{name}",
    )


# -- gamma and beta --------------------------------------------------------------------------------

_one("gamma", lambda F, g, self, result: g * result * F.digamma(self), "positive")
_one("rgamma", lambda F, g, self, result: -g * result * F.digamma(self), "positive")
_several(
    "beta",
    "a b",
    (
        lambda F, g, a, b, result: g * result * (F.digamma(a) - F.digamma(a + b)),
        lambda F, g, a, b, result: g * result * (F.digamma(b) - F.digamma(a + b)),
    ),
    (0.5, 0.5),
    (3.0, 3.0),
)
_several(
    "betaln",
    "a b",
    (
        lambda F, g, a, b: g * (F.digamma(a) - F.digamma(a + b)),
        lambda F, g, a, b: g * (F.digamma(b) - F.digamma(a + b)),
    ),
    (0.5, 0.5),
    (3.0, 3.0),
)
_several(
    "binom",
    "n k",
    (
        lambda F, g, n, k, result: g * result * (F.digamma(n + 1) - F.digamma(n - k + 1)),
        lambda F, g, n, k, result: g * result * (F.digamma(n - k + 1) - F.digamma(k + 1)),
    ),
    (4.0, 0.5),
    (6.0, 3.0),
)
_several(
    "poch",
    "z m",
    (
        lambda F, g, z, m, result: g * result * (F.digamma(z + m) - F.digamma(z)),
        lambda F, g, z, m, result: g * result * F.digamma(z + m),
    ),
    (0.5, 0.5),
    (3.0, 3.0),
)


def beta_density(F: Any, a: Any, b: Any, x: Any) -> Any:
    """Return the density of the beta distribution."""
    return F.exp(F.xlogy(a - 1, x) + F.special_xlog1py(b - 1, -x) - F.scipy_betaln(a, b))


_UNIT = ((1.0, 1.0, 0.1), (4.0, 4.0, 0.9))


def _moved(a: Any, b: Any, x: Any, y: Any) -> Any:
    """Return dx/da of what a constant share of a beta distribution is below; 0 at the ends."""
    wide = [np.asarray(v, np.float64) for v in np.broadcast_arrays(x, y, a, b)]
    inner = (wide[0] > 0) & (wide[1] > 0) & (wide[2] > 0) & (wide[3] > 0)
    found = np.where(np.isnan(sum(wide)), math.nan, np.zeros(inner.shape))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        found[inner] = beta_slope(*[v[inner] for v in wide])
    return found.astype(x.dtype)


def _density_by_shape(F: Any, a: Any, b: Any, x: Any, y: Any, moved: Any) -> Any:
    """Return the log-density's derivative with respect to `a`, if the value `moved` with it."""
    by_a = F.log(x) - F.digamma(a) + F.digamma(a + b)
    return by_a + ((a - 1) / x - (b - 1) / y) * moved


_several(
    "beta_moved",
    "a b x",
    lambda F, g, a, b, x, result: -g * _density_by_shape(F, a, b, x, 1 - x, result),
    *_UNIT,
    kernel=lambda a, b, x: _moved(a, b, x, 1 - x),
    doc="derivative with respect to `a` of the quantile of a beta distribution",
)
_several(
    "beta_movedc",
    "b a x",
    lambda F, g, b, a, x, result: g * _density_by_shape(F, b, a, 1 - x, x, result),
    *_UNIT,
    kernel=lambda b, a, x: _moved(b, a, 1 - x, x),
    doc="the negated derivative of the quantile with respect to `b`",
)


def beta_slopes(F: Any, a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """Return the derivatives of the quantile x with respect to `a` and `b`."""
    return F.scipy_beta_moved(a, b, x), -F.scipy_beta_movedc(b, a, x)


def beta_partials(F: Any, a: Any, b: Any, x: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives of the share of the beta distribution below `x`."""
    density = beta_density(F, a, b, x)
    # at the ends nothing is moved, whatever the density is
    by_a, by_b = (F.where(m == 0, m, -density * m) for m in beta_slopes(F, a, b, x))
    return by_a, by_b, density


def _shares_of_beta(sign: float) -> tuple[Any, Any, Any]:
    return (
        lambda F, g, a, b, x: sign * g * beta_partials(F, a, b, x)[0],
        lambda F, g, a, b, x: sign * g * beta_partials(F, a, b, x)[1],
        lambda F, g, a, b, x: sign * g * beta_density(F, a, b, x),
    )


def _quantiles_of_beta(sign: float) -> tuple[Any, Any, Any]:
    return (
        lambda F, g, a, b, result: g * beta_slopes(F, a, b, result)[0],
        lambda F, g, a, b, result: g * beta_slopes(F, a, b, result)[1],
        lambda F, g, a, b, result: sign * g / beta_density(F, a, b, result),
    )


_several("betainc", "a b x", _shares_of_beta(1.0), *_UNIT)
_several("betaincc", "a b x", _shares_of_beta(-1.0), *_UNIT)
_several("betaincinv", "a b y", _quantiles_of_beta(1.0), *_UNIT)
_several("betainccinv", "a b y", _quantiles_of_beta(-1.0), *_UNIT)


def gamma_density(F: Any, a: Any, x: Any) -> Any:
    """Return the density of the gamma distribution."""
    return F.exp(F.xlogy(a - 1, x) - x - F.lgamma(a))


_several(
    "gammaincinv",
    "a y",
    (
        lambda F, g, a, result: g * F._standard_gamma_grad(a, result),
        lambda F, g, a, result: g / gamma_density(F, a, result),
    ),
    (1.0, 0.1),
    (4.0, 0.9),
)
_several(
    "gammainccinv",
    "a y",
    (
        lambda F, g, a, result: g * F._standard_gamma_grad(a, result),
        lambda F, g, a, result: -g / gamma_density(F, a, result),
    ),
    (1.0, 0.1),
    (4.0, 0.9),
)


def student_density(F: Any, df: Any, t: Any) -> Any:
    """Return the density of Student's distribution."""
    size = F.lgamma((df + 1) / 2) - F.lgamma(df / 2) - 0.5 * F.log(math.pi * df)
    return F.exp(size - 0.5 * (df + 1) * F.log1p(t * t / df))


# -- exponentials, logarithms, integrals -----------------------------------------------------------

_one("exp10", lambda F, g, result: g * result * math.log(10.0))
_one("cosm1", lambda F, g, self: -g * F.sin(self))
_one("exprel", lambda F, g, self: g * slope_of_exprel(F, self))
_several(
    "powm1",
    "x y",
    (
        lambda F, g, x, y: g * y * F.pow(x, y - 1),
        lambda F, g, x, result: g * (result + 1) * F.log(x),
    ),
    (0.5, 0.5),
    (3.0, 3.0),
)
_one("expi", lambda F, g, self: g * F.exp(self) / self, "positive")
_one("exp1", lambda F, g, self: -g * F.exp(-self) / self, "positive")
_several(
    "expn", "n x", lambda F, g, n, x: -g * F.scipy_expn(F.trunc(n) - 1, x), (0, 0.5), (3, 2.0), expn
)
_one("si", lambda F, g, self: g * F.sinc(self / math.pi), of="sici", output=0)
_one("ci", lambda F, g, self: g * F.cos(self) / self, "positive", of="sici", output=1)
_one(
    "shi",
    lambda F, g, self: g * F.exp(-self) * F.scipy_exprel(2 * self),
    of="shichi",
    output=0,
)
_one("chi", lambda F, g, self: g * F.cosh(self) / self, "positive", of="shichi", output=1)
_one("fresnel_s", lambda F, g, self: g * F.sin(self * self * (math.pi / 2)), of="fresnel", output=0)
_one("fresnel_c", lambda F, g, self: g * F.cos(self * self * (math.pi / 2)), of="fresnel", output=1)
_one("spence", lambda F, g, self: -g / F.scipy_exprel(F.log(self)), "positive")
_one("wrightomega", lambda F, g, result: g * result / (1 + result))
_one("sindg", lambda F, g, self: g * F.scipy_cosdg(self) * _DEGREE)
_one("cosdg", lambda F, g, self: -g * F.scipy_sindg(self) * _DEGREE)
_one("tandg", lambda F, g, result: g * (1 + result * result) * _DEGREE)
_one("cotdg", lambda F, g, result: -g * (1 + result * result) * _DEGREE, "positive")

# -- error functions and entropies -----------------------------------------------------------------


def _of_complex(name: str, scale: float) -> None:
    """Register an error function of complex numbers, which PyTorch's does not accept."""
    elementwise(
        f"scipy_{name}",
        ufunc(name, f"scipy.special.{name}"),
        lin=lambda F, g, self: g * (scale * F.exp(-(self * self))),
        doc=f"scipy.special.{name}, of complex numbers, too",
    )


_of_complex("erf", 2 / _ROOT_PI)
_of_complex("erfc", -2 / _ROOT_PI)


def _wofz(self: Any) -> Any:
    return scipy_module("special", "scipy.special.wofz").wofz(self)


elementwise(
    "scipy_wofz",
    _wofz,
    lin=lambda F, g, self, result: g * (2j / _ROOT_PI - 2 * self * result),
    domain="complex",
    doc="scipy.special.wofz, of complex numbers",
)


def _lambertw(z: Any, k: Any, tol: Any) -> Any:
    ufuncs = importlib.import_module("scipy.special._lambertw")
    return ufuncs._lambertw(z, np.real(k).astype(int), np.real(tol))


elementwise(
    "scipy__lambertw",
    _lambertw,
    lin=(lambda F, g, result: g / (F.exp(result) * (1 + result)), None, None),
    fixed=(),
    cases=tuple(
        case(
            shape,
            lambda rng: np.asarray(rng.integers(0, 2)),
            lambda rng: np.asarray(1e-12),
        )
        for shape in _SHAPES
    ),
    domain=("complex", "real", "real"),
    doc="scipy.special.lambertw",
)
_one("erfi", lambda F, g, self: g * F.exp(self * self) * (2 / _ROOT_PI))
_one("dawsn", lambda F, g, self, result: g * (1 - 2 * self * result))
_several(
    "ndtri_exp",
    "y",
    (lambda F, g, result: g / F.normal_hazard(result),),
    (-3.0,),
    (-0.2,),
)
_several(
    "erfcinv",
    "y",
    (lambda F, g, result: -g * F.exp(result * result) * (0.5 * _ROOT_PI),),
    (0.2,),
    (1.8,),
)
_several(
    "owens_t",
    "h a",
    (
        lambda F, g, h, a: (
            -g * F.exp(-0.5 * h * h) * F.erf(a * h * math.sqrt(0.5)) / (2 * _ROOT_TAU)
        ),
        lambda F, g, h, a: g * F.exp(-0.5 * h * h * (1 + a * a)) / (2 * math.pi * (1 + a * a)),
    ),
    (-2.0, -2.0),
    (2.0, 2.0),
)
_several(
    "kl_div",
    "x y",
    (
        lambda F, g, x, y: g * F.log(x / y),
        lambda F, g, x, y: g * (1 - x / y),
    ),
    (0.5, 0.5),
    (2.0, 2.0),
)
_several(
    "rel_entr",
    "x y",
    (
        lambda F, g, x, y: g * (F.log(x / y) + 1),
        lambda F, g, x, y: -g * (x / y),
    ),
    (0.5, 0.5),
    (2.0, 2.0),
)


def _bent(F: Any, delta: Any, r: Any) -> Any:
    return F.sqrt(1 + (r / delta) * (r / delta))


_several(
    "pseudo_huber",
    "delta r",
    (
        lambda F, g, delta, r: (
            g * (2 * delta * (_bent(F, delta, r) - 1) - r * r / (delta * _bent(F, delta, r)))
        ),
        lambda F, g, delta, r: g * r / _bent(F, delta, r),
    ),
    (0.5, -2.0),
    (2.0, 2.0),
)
_several(
    "huber",
    "delta r",
    (
        lambda F, g, delta, r: g * F.relu(F.abs(r) - delta),
        lambda F, g, delta, r: g * F.sign(r) * F.minimum(F.abs(r), delta),
    ),
    (0.5, -2.0),
    (2.0, 2.0),
)

# -- Bessel and Airy functions ---------------------------------------------------------------------


def _order(name: str, below: int, above: int, scaled: str = "") -> None:
    full = f"scipy_{name}"

    def lin(F: Any, g: Any, v: Any, z: Any) -> Any:
        f = getattr(F, full)
        slope = 0.5 * (below * f(v - 1, z) + above * f(v + 1, z))
        if scaled == "i":
            slope = slope - F.sign(z) * f(v, z)
        return g * (slope + f(v, z) if scaled == "k" else slope)

    _several(name, "v z", lin, (1, 0.5), (3, 3.0))


_order("jv", 1, -1)
_order("yv", 1, -1)
_order("iv", 1, 1)
_order("kv", -1, -1)
_order("ive", 1, 1, "i")
_order("kve", -1, -1, "k")
_one("airy_bi", lambda F, g, self: g * F.scipy_airy_bi_slope(self), of="airy", output=2)
_one("airy_bi_slope", lambda F, g, self: g * self * F.scipy_airy_bi(self), of="airy", output=3)

# -- hypergeometric and elliptic -------------------------------------------------------------------


def slope_of_exprel(F: Any, x: Any) -> Any:
    """Return the derivative of ``expm1(x) / x``."""
    # SciPy's series does not terminate at infinity
    slope = 0.5 * _confluent(F, 2.0, 3.0, F.where(F.isinf(x), 0.0, x))
    return F.where(F.isinf(x), F.exp(x), slope)


def _confluent(F: Any, a: float, b: float, x: Any) -> Any:
    zero = F.zeros_like(x)
    return F.scipy_hyp1f1(zero + a, zero + b, x)


_several(
    "hyp0f1",
    "v z",
    lambda F, g, v, z: g / v * F.scipy_hyp0f1(v + 1, z),
    (1, -1.0),
    (3, 1.0),
)
_several(
    "hyp1f1",
    "a b x",
    lambda F, g, a, b, x: g * (a / b) * F.scipy_hyp1f1(a + 1, b + 1, x),
    (1, 1, -1.0),
    (3, 3, 1.0),
)
_several(
    "hyp2f1",
    "a b c z",
    lambda F, g, a, b, c, z: g * (a * b / c) * F.scipy_hyp2f1(a + 1, b + 1, c + 1, z),
    (1, 1, 1, -0.5),
    (3, 3, 3, 0.5),
)


def _parameter(name: str, lin: Any) -> None:
    _several(name, "m", (lin,), (-1.0,), (0.8,))


def _ellipd(m: Any) -> Any:
    """Return (K - E) / m, as Carlson's integral, which is also valid at 0."""
    return _carlson(0.0 * m, 1.0 - m, 1.0 + 0.0 * m) / 3.0


_carlson = ufunc("elliprd", "scipy.special.elliprd")

_parameter(
    "ellipk",
    lambda F, g, m, result: g * (result - F.scipy_ellipd(m)) / (2 * (1 - m)),
)
_parameter("ellipe", lambda F, g, m: -0.5 * g * F.scipy_ellipd(m))
elementwise(
    "scipy_ellipd",
    _ellipd,
    lin=lambda F, g, self, result: (
        g * ((F.scipy_ellipk(self) - result) / (2 * (1 - self)) - 0.5 * result) / self
    ),
    cases=tuple(case(lambda rng, s=shape: rng.uniform(0.2, 0.8, s)) for shape in _SHAPES),
    refuses=not_implemented("ellipd"),
    doc="(K - E) / m of the complete elliptic integrals K and E",
)
