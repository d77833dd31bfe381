"""The functions whose accuracy is measured, in mpmath, and the arguments they are measured at."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import mpmath
import numpy as np
from mpmath import mp

mp.dps = 40
COUNT = 40
"""The number of arguments that are drawn in each region."""

Region = Callable[[np.random.Generator, Any], np.ndarray]
"""The arguments of a region, drawn for a dtype of which `numpy.finfo` is given."""


class Case(NamedTuple):
    """A function, its name in the table, and how it is computed exactly."""

    name: str
    call: Callable[..., Any]
    exact: Callable[..., Any]
    slopes: tuple[Callable[..., Any] | None, ...]
    regions: dict[str, tuple[Region, ...]]
    is_complex: bool = False


CASES: list[Case] = []

# -- regions --------------------------------------------------------------------------------------


def uniform(low: float, high: float) -> Region:
    return lambda rng, info: rng.uniform(low, high, COUNT)


def logarithmic(low: float, high: float, sign: float = 1.0) -> Region:
    def drawn(rng: np.random.Generator, info: Any) -> np.ndarray:
        ends = math.log(max(low, float(info.smallest_normal))), math.log(min(high, info.max / 4))
        return sign * np.exp(rng.uniform(*ends, COUNT))

    return drawn


def near(*points: float, below: bool = True, above: bool = True) -> Region:
    """Numbers at all distances from a point, down to the nearest ones."""

    def drawn(rng: np.random.Generator, info: Any) -> np.ndarray:
        sides = [-1.0] * below + [1.0] * above
        count = max(1, COUNT // (len(points) * len(sides)))
        size = np.exp(rng.uniform(math.log(float(info.eps)), math.log(0.1), count))
        found = [p + side * size * max(abs(p), 1.0) for p in points for side in sides]
        return np.concatenate(found)

    return drawn


def subnormal(rng: np.random.Generator, info: Any) -> np.ndarray:
    """Numbers below the normal ones, and some above."""
    steps = np.exp(rng.uniform(0, math.log(100 / float(info.eps)), COUNT))
    return np.floor(steps) * float(info.smallest_subnormal)


def given(*values: float) -> Region:
    return lambda rng, info: np.resize(np.array(values), COUNT)


def whole(low: int, high: int) -> Region:
    return lambda rng, info: rng.integers(low, high + 1, COUNT).astype(float)


def mixed(*regions: Region) -> Region:
    def drawn(rng: np.random.Generator, info: Any) -> np.ndarray:
        return np.concatenate([region(rng, info) for region in regions])

    return drawn


def negative(region: Region) -> Region:
    return lambda rng, info: -region(rng, info)


tiny = logarithmic(1e-300, 1e-3)
near_zero = mixed(tiny, negative(tiny), subnormal)
huge = logarithmic(1e3, 1e300)
overflow: Region = lambda rng, info: math.log(info.max) * rng.uniform(0.9, 0.9999, COUNT)  # noqa: E731
underflow: Region = lambda rng, info: (  # noqa: E731
    math.log(float(info.smallest_subnormal)) * rng.uniform(0.8, 0.999, COUNT)
)

# -- the cases ------------------------------------------------------------------------------------


def one(
    name: str,
    exact: Callable[[Any], Any],
    slope: Callable[[Any], Any] | None = None,
    /,
    call: Callable[[Any, Any], Any] | None = None,
    **regions: Region,
) -> None:
    """A function of one argument. Without `slope` its derivative is taken by mpmath."""
    CASES.append(
        Case(name, call or _named(name), exact, (slope,), {k: (v,) for k, v in regions.items()})
    )


def two(
    name: str,
    exact: Callable[..., Any],
    slopes: tuple[Callable[..., Any] | None, ...] = (),
    /,
    call: Callable[..., Any] | None = None,
    **regions: tuple[Region, Region],
) -> None:
    """A function of two arguments; the last have derivatives, one for each slope."""
    CASES.append(Case(name, call or _named(name), exact, slopes, regions))


def _named(name: str) -> Callable[..., Any]:
    def call(m: Any, *args: Any) -> Any:
        for part in name.split("."):
            m = getattr(m, part)
        return m(*args)

    return call


def derivative(exact: Callable[..., Any], at: int, args: tuple[Any, ...]) -> Any:
    """The derivative of a function by one of its arguments, to twice the digits."""

    def along(t: Any) -> Any:
        return exact(*args[:at], t, *args[at + 1 :])

    with mp.workdps(70):
        return mpmath.diff(along, args[at], relative=bool(args[at]))


# -- powers, exponentials, logarithms -------------------------------------------------------------

inv = lambda x: 1 / x  # noqa: E731
half = mpmath.mpf(1) / 2
real = uniform(-5, 5)
positive = uniform(0.1, 10)
POWERS = {"positive": logarithmic(1e-3, 1e3), "tiny": mixed(tiny, subnormal), "huge": huge}

one("sqrt", mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x)), **POWERS)
one("rsqrt", lambda x: 1 / mp.sqrt(x), lambda x: -1 / (2 * x * mp.sqrt(x)), **POWERS)
one("reciprocal", inv, lambda x: -1 / x**2, **POWERS)
one("square", lambda x: x * x, lambda x: 2 * x, **POWERS)
one("exp", mp.exp, mp.exp, real=real, tiny=near_zero, overflow=overflow, underflow=underflow)
one("exp2", lambda x: mp.mpf(2) ** x, lambda x: mp.ln2 * mp.mpf(2) ** x, real=real, tiny=near_zero)
one("expm1", mp.expm1, mp.exp, real=real, tiny=near_zero, overflow=overflow, underflow=underflow)
LOGS = {"positive": positive, "near 1": near(1.0), "tiny": mixed(tiny, subnormal), "huge": huge}
one("log", mp.log, inv, **LOGS)
one("log2", lambda x: mp.log(x) / mp.ln2, lambda x: 1 / (x * mp.ln2), **LOGS)
one("log10", lambda x: mp.log(x) / mp.ln10, lambda x: 1 / (x * mp.ln10), **LOGS)
one(
    "log1p",
    lambda x: mp.log1p(x),
    lambda x: 1 / (1 + x),
    positive=positive,
    tiny=near_zero,
    huge=huge,
    **{"near -1": near(-1.0, below=False)},
)
two(
    "pow",
    lambda x, y: x**y,
    (lambda x, y: y * x ** (y - 1), lambda x, y: x**y * mp.log(x)),
    real=(positive, real),
    near_1=(near(1.0), uniform(-1e4, 1e4)),
    tiny=(tiny, uniform(0.1, 1)),
)
two(
    "hypot",
    lambda x, y: mp.sqrt(x * x + y * y),
    (lambda x, y: x / mp.sqrt(x * x + y * y), lambda x, y: y / mp.sqrt(x * x + y * y)),
    real=(real, real),
    tiny=(tiny, tiny),
    huge=(huge, huge),
)

# -- angles ---------------------------------------------------------------------------------------

ANGLES = {"real": real, "large": uniform(-1e4, 1e4), "tiny": near_zero, "huge": huge}
quarters = near(*[k * math.pi / 2 for k in (1, 2, 3, 4, 7)])
one("sin", mp.sin, mp.cos, **ANGLES, zeros=quarters)
one("cos", mp.cos, lambda x: -mp.sin(x), **ANGLES, zeros=quarters)
one("tan", mp.tan, lambda x: mp.sec(x) ** 2, **ANGLES, poles=quarters)
UNIT = {
    "inside": uniform(-0.99, 0.99),
    "tiny": near_zero,
    "ends": mixed(near(1.0, above=False), near(-1.0, below=False)),
}
one("asin", mp.asin, lambda x: 1 / mp.sqrt((1 - x) * (1 + x)), **UNIT)
one("acos", mp.acos, lambda x: -1 / mp.sqrt((1 - x) * (1 + x)), **UNIT)
EVERYWHERE = {"real": real, "tiny": near_zero, "huge": mixed(huge, negative(huge))}
one("atan", mp.atan, lambda x: 1 / (1 + x * x), **EVERYWHERE)
two(
    "atan2",
    mp.atan2,
    (lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)),
    real=(real, real),
    tiny=(tiny, tiny),
    huge=(huge, huge),
)
GROWING = {"real": real, "tiny": near_zero, "overflow": overflow}
one("sinh", mp.sinh, mp.cosh, **GROWING)
one("cosh", mp.cosh, mp.sinh, **GROWING)
one("tanh", mp.tanh, lambda x: mp.sech(x) ** 2, real=real, tiny=near_zero, large=uniform(5, 100))
one("asinh", mp.asinh, lambda x: 1 / mp.sqrt(1 + x * x), **EVERYWHERE)
one(
    "acosh",
    mp.acosh,
    lambda x: 1 / mp.sqrt((x - 1) * (x + 1)),
    above=uniform(1.1, 10),
    huge=huge,
    **{"near 1": near(1.0, below=False)},
)
one("atanh", mp.atanh, lambda x: 1 / ((1 - x) * (1 + x)), **UNIT)
one(
    "sinc",
    lambda x: mp.sin(mp.pi * x) / (mp.pi * x),
    lambda x: (mp.pi * x * mp.cos(mp.pi * x) - mp.sin(mp.pi * x)) / (mp.pi * x * x),
    real=real,
    small=logarithmic(1e-4, 0.5),
    large=uniform(10, 1000),
)

# -- sigmoids -------------------------------------------------------------------------------------


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def sigmoid_slope(x: Any) -> Any:
    return sigmoid(x) * sigmoid(-x)


def functional(name: str, **params: Any) -> Callable[[Any, Any], Any]:
    return lambda m, x: getattr(m.nn.functional, name)(x, **params)


LOGISTIC = {
    "real": real,
    "tiny": near_zero,
    "left": uniform(-80, -5),
    "right": uniform(5, 80),
    "far left": lambda rng, info: math.log(info.max) * rng.uniform(-0.99, -0.5, COUNT),
}
one("sigmoid", sigmoid, sigmoid_slope, **LOGISTIC)
one(
    "logit",
    lambda x: mp.log(x / (1 - x)),
    lambda x: 1 / (x * (1 - x)),
    inside=uniform(0.01, 0.99),
    tiny=mixed(tiny, subnormal),
    **{"near 1/2": near(0.5), "near 1": near(1.0, above=False)},
)
one(
    "softplus",
    lambda x: mp.log1p(mp.exp(x)),
    sigmoid,
    call=functional("softplus"),
    **(LOGISTIC | {"right": uniform(21, 80)}),
)
one(
    "logsigmoid",
    lambda x: -mp.log1p(mp.exp(-x)),
    lambda x: sigmoid(-x),
    call=functional("logsigmoid"),
    **LOGISTIC,
)
one(
    "silu",
    lambda x: x * sigmoid(x),
    lambda x: sigmoid(x) * (1 + x * sigmoid(-x)),
    call=functional("silu"),
    **LOGISTIC,
    least=near(-1.2784645427610738),
)
one("mish", lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), call=functional("mish"), **LOGISTIC)
one(
    "gelu",
    lambda x: x * ncdf(x),
    lambda x: ncdf(x) + x * density(x),
    call=functional("gelu"),
    real=real,
    tiny=near_zero,
    left=uniform(-13, -5),
)
one(
    "gelu (tanh)",
    lambda x: x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3))),
    call=functional("gelu", approximate="tanh"),
    real=real,
    tiny=near_zero,
)
one(
    "elu",
    lambda x: x if x > 0 else mp.expm1(x),
    lambda x: mp.mpf(1) if x > 0 else mp.exp(x),
    call=functional("elu"),
    real=real,
    tiny=near_zero,
    left=uniform(-80, -5),
)
one(
    "softsign",
    lambda x: x / (1 + abs(x)),
    lambda x: 1 / (1 + abs(x)) ** 2,
    call=functional("softsign"),
    **EVERYWHERE,
)
one(
    "tanhshrink",
    lambda x: x - mp.tanh(x),
    lambda x: mp.tanh(x) ** 2,
    call=functional("tanhshrink"),
    real=real,
)

# -- products and sums with logarithms ------------------------------------------------------------


def of_sum(scale: Any) -> tuple[Any, tuple[Any, Any]]:
    def exact(x: Any, y: Any) -> Any:
        high, low = max(x, y), min(x, y)
        return high + mp.log1p(mp.exp((low - high) * scale)) / scale

    return exact, (
        lambda x, y: sigmoid((x - y) * scale),
        lambda x, y: sigmoid((y - x) * scale),
    )


SUMS = {
    "real": (real, real),
    "large": (uniform(50, 1e4), uniform(50, 1e4)),
    "apart": (uniform(-50, 0), uniform(0, 30)),
}
two("logaddexp", *of_sum(mp.mpf(1)), **SUMS)
two("logaddexp2", *of_sum(mp.ln2), **SUMS)
two(
    "xlogy",
    lambda x, y: x * mp.log(y),
    (lambda x, y: mp.log(y), lambda x, y: x / y),
    real=(real, positive),
    near_1=(real, near(1.0)),
    tiny=(tiny, tiny),
)
two(
    "special.xlog1py",
    lambda x, y: x * mp.log1p(y),
    (lambda x, y: mp.log1p(y), lambda x, y: x / (1 + y)),
    real=(real, positive),
    near_minus_1=(real, near(-1.0, below=False)),
    tiny=(tiny, tiny),
)
one(
    "special.entr",
    lambda x: -x * mp.log(x),
    lambda x: -mp.log(x) - 1,
    **LOGS,
    zero=near(math.exp(-1)),
)

# -- the error function and the normal distribution -----------------------------------------------

root_half = mp.sqrt(half)


def ncdf(x: Any) -> Any:
    return mp.erfc(-x * mp.sqrt(half)) / 2


def density(x: Any) -> Any:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def erfcx(x: Any) -> Any:
    if x > 1e6:
        return (1 - 1 / (2 * x * x) + 3 / (4 * x**4)) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def erfcx_slope(x: Any) -> Any:
    if x > 1e6:
        return (-1 / x**2 + 3 / (2 * x**4) - 15 / (4 * x**6)) / mp.sqrt(mp.pi)
    with mp.workdps(80):
        return 2 * x * erfcx(x) - 2 / mp.sqrt(mp.pi)


def bell(x: Any) -> Any:
    return 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)


def quantile(p: Any) -> Any:
    """The inverse of `ncdf`, by Newton's steps on its logarithm."""
    if p > half:
        with mp.workdps(60):
            return -quantile_of_tail(1 - p)
    return quantile_of_tail(p)


def quantile_of_tail(p: Any) -> Any:
    if p > 0.3:
        # no digits are lost near the middle
        with mp.workdps(80):
            return mp.sqrt(2) * mp.erfinv(2 * p - 1)
    x = -mp.sqrt(-2 * mp.log(p)) if p < 0.1 else mp.mpf(-0.8)
    for _ in range(60):
        step = (mp.log(ncdf(x)) - mp.log(p)) * ncdf(x) / density(x)
        x -= step
        if abs(step) < mp.mpf(10) ** -30 * (1 + abs(x)):
            break
    return x


one("erf", mp.erf, bell, real=uniform(-3, 3), tiny=near_zero, tail=uniform(3, 6))
one(
    "erfc",
    mp.erfc,
    lambda x: -bell(x),
    real=uniform(-3, 3),
    tiny=near_zero,
    left=uniform(-6, -3),
    tail=lambda rng, info: (
        math.sqrt(-math.log(info.smallest_normal)) * rng.uniform(0.3, 0.99, COUNT)
    ),
)
one(
    "special.erfcx",
    erfcx,
    erfcx_slope,
    real=uniform(-3, 3),
    tiny=near_zero,
    large=uniform(3, 1e3),
    huge=logarithmic(1e3, 1e30),
)
one(
    "erfinv",
    mp.erfinv,
    lambda x: 1 / bell(mp.erfinv(x)),
    inside=uniform(-0.99, 0.99),
    tiny=mixed(tiny, negative(tiny)),
    ends=near(1.0, above=False),
)
one(
    "special.ndtr",
    ncdf,
    density,
    real=real,
    tiny=near_zero,
    right=uniform(3, 8),
    left=lambda rng, info: (
        -math.sqrt(-2 * math.log(info.smallest_normal)) * rng.uniform(0.3, 0.99, COUNT)
    ),
)
one(
    "special.ndtri",
    quantile,
    lambda p: 1 / density(quantile(p)),
    inside=uniform(0.01, 0.99),
    tiny=logarithmic(1e-300, 1e-2),
    **{"near 1/2": near(0.5), "near 1": near(1.0, above=False)},
)
one(
    "special.log_ndtr",
    lambda x: mp.log(ncdf(x)),
    lambda x: density(x) / ncdf(x),
    real=real,
    right=uniform(3, 8),
    left=uniform(-100, -5),
)

# -- gamma ----------------------------------------------------------------------------------------


def lgamma(x: Any) -> Any:
    with mp.workdps(60):
        return mp.re(mp.loggamma(x))


GAMMA = {
    "positive": uniform(0.1, 30),
    "tiny": mixed(tiny, negative(tiny)),
    "near 1 and 2": near(1.0, 2.0),
    "large": logarithmic(30, 1e10),
    "negative": uniform(-30, 0),
    "poles": near(-1.0, -2.0, -5.0),
}
one(
    "lgamma",
    lgamma,
    mp.digamma,
    **GAMMA,
    huge=logarithmic(1e10, 1e30),
    zeros=near(-2.4570247382208006, -2.7476826467274127, -3.1435808883499798),
)
one(
    "digamma",
    mp.digamma,
    lambda x: mp.psi(1, x),
    **GAMMA,
    huge=huge,
    zeros=near(1.4616321449683623, -0.504083008264455409, -1.57349847316239045878),
)
for order in (1, 2, 3):
    one(
        f"polygamma, {order}",
        functools.partial(mp.psi, order),
        functools.partial(mp.psi, order + 1),
        call=lambda m, x, n=order: m.polygamma(n, x),
        positive=uniform(0.1, 30),
        tiny=logarithmic(1e-6, 0.1),
        large=logarithmic(30, 1e6),
        negative=uniform(-5, 0),
    )
one(
    "mvlgamma, 3",
    lambda x: sum(lgamma(x - half * i) for i in range(3)) + mp.log(mp.pi) * 3 / 2,
    lambda x: sum(mp.digamma(x - half * i) for i in range(3)),
    call=lambda m, x: m.mvlgamma(x, 3),
    positive=uniform(3, 30),
    large=logarithmic(30, 1e5),
)


def gamma_density(a: Any, x: Any) -> Any:
    return mp.exp((a - 1) * mp.log(x) - x - lgamma(a))


SHAPES = {
    "real": (uniform(0.1, 10), uniform(0.1, 10)),
    "small": (uniform(0.1, 3), tiny),
    "large": (uniform(20, 200), uniform(20, 200)),
}
two(
    "special.gammainc",
    lambda a, x: mp.gammainc(a, 0, x, regularized=True),
    (gamma_density,),
    **SHAPES,
)
two(
    "special.gammaincc",
    lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
    (lambda a, x: -gamma_density(a, x),),
    **SHAPES,
)
two(
    "special.zeta",
    mp.zeta,
    (lambda s, q: -s * mp.zeta(s + 1, q),),
    real=(uniform(1.1, 10), uniform(0.1, 10)),
    large=(uniform(10, 50), uniform(0.5, 3)),
)

# -- Bessel functions -----------------------------------------------------------------------------

BESSEL = {"real": uniform(0, 8), "tiny": tiny, "large": uniform(8, 100)}
EVEN = {"real": uniform(-10, 10), "tiny": near_zero, "large": uniform(10, 80)}
I0, I1 = functools.partial(mp.besseli, 0), functools.partial(mp.besseli, 1)
K0, K1 = functools.partial(mp.besselk, 0), functools.partial(mp.besselk, 1)


def scaled(function: Any) -> Any:
    return lambda x: mp.exp(-abs(x)) * function(x)


one("i0", I0, I1, **EVEN)
one("special.i1", I1, lambda x: (I0(x) + mp.besseli(2, x)) / 2, **EVEN)
one(
    "special.i0e",
    scaled(I0),
    lambda x: scaled(I1)(x) - mp.sign(x) * scaled(I0)(x),
    **EVEN,
    huge=uniform(80, 1e4),
)
one(
    "special.i1e",
    scaled(I1),
    lambda x: mp.exp(-abs(x)) * ((I0(x) + mp.besseli(2, x)) / 2 - mp.sign(x) * I1(x)),
    **EVEN,
    huge=uniform(80, 1e4),
)
for kind, exact in (("j", mp.besselj), ("y", mp.bessely)):
    one(
        f"special.bessel_{kind}0", lambda x, f=exact: f(0, x), lambda x, f=exact: -f(1, x), **BESSEL
    )
    one(
        f"special.bessel_{kind}1",
        lambda x, f=exact: f(1, x),
        lambda x, f=exact: (f(0, x) - f(2, x)) / 2,
        **BESSEL,
    )
MODIFIED = {"real": uniform(0.1, 8), "tiny": tiny, "large": uniform(8, 80)}
one("special.modified_bessel_k0", K0, lambda x: -K1(x), **MODIFIED)
one("special.modified_bessel_k1", K1, lambda x: -(K0(x) + mp.besselk(2, x)) / 2, **MODIFIED)
one(
    "special.scaled_modified_bessel_k0",
    lambda x: mp.exp(x) * K0(x),
    lambda x: mp.exp(x) * (K0(x) - K1(x)),
    **MODIFIED,
)
one(
    "special.scaled_modified_bessel_k1",
    lambda x: mp.exp(x) * K1(x),
    lambda x: mp.exp(x) * (K1(x) - (K0(x) + mp.besselk(2, x)) / 2),
    **MODIFIED,
)
one(
    "special.spherical_bessel_j0",
    lambda x: mp.sin(x) / x if x else mp.mpf(1),
    lambda x: (x * mp.cos(x) - mp.sin(x)) / x**2,
    real=real,
    small=logarithmic(1e-4, 0.5),
    large=uniform(10, 1000),
)
one(
    "special.airy_ai",
    mp.airyai,
    lambda x: mp.airyai(x, derivative=1),
    real=uniform(-2, 5),
    tiny=near_zero,
    large=uniform(5, 15),
    left=uniform(-10, -2),
)

# -- orthogonal polynomials -----------------------------------------------------------------------

DEGREE = 7


def w(n: int, x: Any) -> Any:
    return mp.chebyu(n, x) + mp.chebyu(n - 1, x)


def v(n: int, x: Any) -> Any:
    return mp.chebyu(n, x) - mp.chebyu(n - 1, x)


def he(n: int, x: Any) -> Any:
    return mp.hermite(n, x / mp.sqrt(2)) / mp.sqrt(2) ** n


for name, exact in (
    ("chebyshev_polynomial_t", mp.chebyt),
    ("chebyshev_polynomial_u", mp.chebyu),
    ("chebyshev_polynomial_v", v),
    ("chebyshev_polynomial_w", w),
    ("hermite_polynomial_h", mp.hermite),
    ("hermite_polynomial_he", he),
    ("laguerre_polynomial_l", lambda n, x: mp.laguerre(n, 0, x)),
    ("legendre_polynomial_p", mp.legendre),
):
    # beyond the zeros
    outer = uniform(-5, -0.1) if name.startswith("lag") else uniform(4, 7)
    call = lambda m, x, name=name: getattr(m.special, name)(x, DEGREE)  # noqa: E731
    one(f"special.{name}", lambda x, f=exact: f(DEGREE, x), call=call, outside=outer)
    if name.startswith("cheb"):
        shifted = lambda m, x, name=name: getattr(m.special, f"shifted_{name}")(x, DEGREE)  # noqa: E731
        one(
            f"special.shifted_{name}",
            lambda x, f=exact: f(DEGREE, 2 * x - 1),
            call=shifted,
            outside=uniform(2, 5),
        )

# -- complex --------------------------------------------------------------------------------------


def plane(real: Region, imag: Region) -> Region:
    def drawn(rng: np.random.Generator, info: Any) -> np.ndarray:
        x, y = real(rng, info), imag(rng, info)
        n = min(len(x), len(y))
        return rng.permutation(x)[:n] + 1j * rng.permutation(y)[:n]

    return drawn


def analytic(name: str, exact: Any, slope: Any, **regions: Region) -> None:
    regions = {k: (r,) for k, r in (PLANE | regions).items()}
    CASES.append(Case(name, _named(name), exact, (slope,), regions, is_complex=True))


PLANE = {"plane": plane(real, real), "tiny": plane(near_zero, near_zero)}
BRANCH = {
    "branch": plane(near(1.0, -1.0), mixed(tiny, negative(tiny))),
    "large": plane(uniform(-1e3, 1e3), uniform(-1e3, 1e3)),
    "huge": plane(huge, huge),
}
analytic("exp", mp.exp, mp.exp, strip=plane(uniform(-80, 80), uniform(-100, 100)))
analytic("log", mp.log, inv, **BRANCH)
analytic("sqrt", mp.sqrt, lambda z: 1 / (2 * mp.sqrt(z)), **BRANCH)
analytic("reciprocal", inv, lambda z: -1 / z**2, **BRANCH)
analytic("sin", mp.sin, mp.cos, strip=plane(uniform(-100, 100), uniform(-80, 80)))
analytic("cos", mp.cos, lambda z: -mp.sin(z), strip=plane(uniform(-100, 100), uniform(-80, 80)))
analytic("tan", mp.tan, lambda z: mp.sec(z) ** 2)
analytic("sinh", mp.sinh, mp.cosh, strip=plane(uniform(-80, 80), uniform(-100, 100)))
analytic("cosh", mp.cosh, mp.sinh, strip=plane(uniform(-80, 80), uniform(-100, 100)))
analytic("tanh", mp.tanh, lambda z: mp.sech(z) ** 2)
analytic("asin", mp.asin, lambda z: 1 / mp.sqrt((1 - z) * (1 + z)), **BRANCH)
analytic("acos", mp.acos, lambda z: -1 / mp.sqrt((1 - z) * (1 + z)), **BRANCH)
analytic("atan", mp.atan, lambda z: 1 / (1 + z * z), **BRANCH)
analytic("asinh", mp.asinh, lambda z: 1 / mp.sqrt(1 + z * z), **BRANCH)
analytic("acosh", mp.acosh, lambda z: 1 / (mp.sqrt(z - 1) * mp.sqrt(z + 1)), **BRANCH)
analytic("atanh", mp.atanh, lambda z: 1 / ((1 - z) * (1 + z)), **BRANCH)
analytic("sigmoid", sigmoid, sigmoid_slope, strip=plane(uniform(-80, 80), uniform(-100, 100)))
# of these, which are not analytic, PyTorch's gradient: that of the real part of the result
analytic("abs", abs, lambda z: mp.conj(z) / abs(z), **BRANCH)
analytic("angle", mp.arg, lambda z: mp.conj(mp.mpc(0, 1) * z / abs(z) ** 2), **BRANCH)
analytic("sgn", lambda z: z / abs(z), None, **BRANCH)


def found(part: str) -> Iterator[Case]:
    """The cases whose name contains a text."""
    return (case for case in CASES if part in case.name)
