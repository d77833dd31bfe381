"""Layer 6 · tensor: the ufuncs of ``scipy.special`` on tensors.

Some are functions of `wengert.special`; others are records, rows of a record, or composed of these.
Some arguments have no known derivative: a tensor that requires a gradient is refused there before
anything is computed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops import pointwise, select, special
from wengert.prims import scipy_rows, scipy_special
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tensor.numpy import boundary
from wengert.tensor.numpy.counterparts import late, tensor, values, wrapped

__all__ = ["CONSTANT", "REQUIRES", "RULES", "rule_of"]

REQUIRES = (scipy_rows, scipy_special)

CONSTANT = frozenset({"gammasgn"})
"""The ufuncs whose results have no derivative."""

_HANKEL = ("hankel1", "hankel1e", "hankel2", "hankel2e")

_OTHERWISE = {
    "j0": special.bessel_j0,
    "j1": special.bessel_j1,
    "y0": special.bessel_y0,
    "y1": special.bessel_y1,
    "k0": special.modified_bessel_k0,
    "k1": special.modified_bessel_k1,
    "k0e": special.scaled_modified_bessel_k0,
    "k1e": special.scaled_modified_bessel_k1,
    "_zeta": special.zeta,
    "loggamma": special.gammaln,
    "round": T.round,
    "log_expit": T.log_sigmoid,
}
_POLYNOMIALS: dict[str, Callable[..., Any]] = {
    "eval_chebyc": lambda x, n: 2 * special.chebyshev_polynomial_t(x / 2, n),
    "eval_chebys": lambda x, n: special.chebyshev_polynomial_u(x / 2, n),
    "eval_chebyt": special.chebyshev_polynomial_t,
    "eval_chebyu": special.chebyshev_polynomial_u,
    "eval_hermite": special.hermite_polynomial_h,
    "eval_hermitenorm": special.hermite_polynomial_he,
    "eval_laguerre": special.laguerre_polynomial_l,
    "eval_legendre": special.legendre_polynomial_p,
    "eval_sh_chebyt": special.shifted_chebyshev_polynomial_t,
    "eval_sh_chebyu": special.shifted_chebyshev_polynomial_u,
    "eval_sh_legendre": lambda x, n: special.legendre_polynomial_p(2 * x - 1, n),
}
_RECORDS = (
    "beta betaincc betainccinv betaincinv betainc betaln binom cosdg cosm1 cotdg dawsn ellipe "
    "ellipk erfcinv erfi exp1 exp10 expi expn exprel gamma gammainccinv gammaincinv huber hyp0f1 "
    "hyp1f1 hyp2f1 iv ive jv kl_div kv kve ndtri_exp owens_t poch powm1 pseudo_huber rel_entr "
    "rgamma sindg spence stdtr tandg wrightomega yv"
)
_SECOND = (
    "iv ive jv jve kn kv kve yn yv yve expn hyp0f1 stdtr gammainc gammaincc gammaincinv "
    "gammainccinv _zeta chdtr chdtrc chdtri pdtr pdtrc pdtri"
)
_THIRD = (
    "betainc betaincc betaincinv betainccinv fdtr fdtrc fdtri hyp1f1 bdtr bdtrc bdtri nbdtr nbdtrc "
    "nbdtri"
)
_UNKNOWN: dict[str, tuple[int, ...]] = {
    **{
        name.partition(".")[0]: tuple(i for i, slope in enumerate(row.slopes) if slope is None)
        for name, row in scipy_rows.ROWS.items()
    },
    **dict.fromkeys(_SECOND.split(), (0,)),
    **dict.fromkeys(_POLYNOMIALS, (0,)),
    **dict.fromkeys(_THIRD.split(), (0, 1)),
    **dict.fromkeys(("gdtr", "gdtrc", "gdtrix"), (1,)),
    "hyp2f1": (0, 1, 2),
}
"""The positions of arguments without a known derivative."""


def _of_order(name: str) -> Callable[..., Any]:
    def rule(n: Any, x: Any) -> Any:
        return getattr(T, name)(cast(n, x._payload.dtype), x)

    return rule


def _of_degree(ours: Callable[..., Any], label: str) -> Callable[..., Any]:
    def rule(n: Any, x: Any) -> Any:
        degrees = np.asarray(n._payload)
        if np.any(degrees != np.floor(degrees)):
            raise NotImplementedError(
                f"scipy.special.{label} of a tensor has a derivative for whole degrees only"
            )
        return ours(x, n)

    return rule


def _airy(x: Any) -> tuple[Any, ...]:
    return T.special_airy_ai(x), T.airy_ai_slope(x), T.scipy_airy_bi(x), T.scipy_airy_bi_slope(x)


def _transformed(x: Any, power: Any, lam: Any) -> Any:
    # log(0) is infinite, and its product with 0 is NaN
    at_zero = T.where(T.eq(lam, 0), power, (T.pow(x, lam) - 1) / T.where(T.eq(lam, 0), 1, lam))
    return T.where(T.eq(x, 0), at_zero, power * T.scipy_exprel(lam * power))


def _inverse_power(y: Any, lam: Any) -> Any:
    return y / T.scipy_exprel(T.log1p(lam * y))


def _ratio(dfn: Any, dfd: Any, x: Any) -> Any:
    return dfn * x / (dfd + dfn * x)


def _bdtr(k: Any, n: Any, p: Any) -> Any:
    k = T.floor(k)
    inside = T.scipy_betainc(T.maximum(n - k, tensor(0.5)), k + 1, 1 - p)
    return select.where(pointwise.ge(k, n), 1.0, inside)


def _bdtrc(k: Any, n: Any, p: Any) -> Any:
    k = T.floor(k)
    inside = T.scipy_betainc(k + 1, T.maximum(n - k, tensor(0.5)), p)
    return select.where(pointwise.ge(k, n), 0.0, inside)


def _of(name: str) -> Callable[..., Any]:
    """Return the function of a row of `wengert.prims.scipy_rows`, or of one of its outputs."""

    def rule(*args: Any) -> Any:
        return getattr(T, f"scipy_of_{len(args)}")(*args, name=name)

    return rule


def _rows() -> dict[str, Callable[..., Any]]:
    rules: dict[str, Callable[..., Any]] = {}
    several: dict[str, list[Callable[..., Any]]] = {}
    for name in scipy_rows.ROWS:
        own, _, output = name.partition(".")
        if output:
            several.setdefault(own, []).append(_of(name))
        else:
            rules[own] = _of(name)
    for own, parts in several.items():
        rules[own] = lambda *args, parts=parts: tuple(part(*args) for part in parts)
    return rules


_ROWS = _rows()


def _kelvin(x: Any) -> tuple[Any, ...]:
    pairs = (("ber", "bei"), ("ker", "kei"), ("berp", "beip"), ("kerp", "keip"))
    return tuple(late("complex")(_ROWS[real](x), _ROWS[imag](x)) for real, imag in pairs)


def _as_complex(x: Any) -> Any:
    return late("complex")(x, 0 * x)


def _fdtri(dfn: Any, dfd: Any, p: Any) -> Any:
    share = T.scipy_betaincinv(dfn / 2, dfd / 2, p)
    return dfd * share / (dfn * (1 - share))


def _agm(a: Any, b: Any) -> Any:
    total = a + b
    return (math.pi / 4) * total / _ROWS["ellipkm1"](4 * a * b / (total * total))


RULES: dict[str, Callable[..., Any]] = {
    **_ROWS,
    **{name: getattr(special, name) for name in special.__all__},
    **_OTHERWISE,
    **{name: _of_degree(ours, name) for name, ours in _POLYNOMIALS.items()},
    **{name: getattr(T, f"scipy_{name}") for name in _RECORDS.split()},
    **{name: lambda v, x, of=_ROWS[name]: of(v, _as_complex(x)) for name in _HANKEL},
    "agm": _agm,
    "airy": _airy,
    "bdtri": lambda k, n, y: 1 - T.scipy_betaincinv(n - T.floor(k), T.floor(k) + 1, y),
    "chdtri": lambda v, p: 2 * T.scipy_gammainccinv(v / 2, p),
    "fdtri": _fdtri,
    "gdtrix": lambda a, b, p: T.scipy_gammaincinv(b, p) / a,
    "jve": T.scipy_jv,
    "kelvin": _kelvin,
    "nbdtr": lambda k, n, p: T.scipy_betainc(n, T.floor(k) + 1, p),
    "nbdtrc": lambda k, n, p: T.scipy_betaincc(n, T.floor(k) + 1, p),
    "nbdtri": lambda k, n, y: T.scipy_betaincinv(n, T.floor(k) + 1, y),
    "nrdtrimn": lambda p, std, x: x - std * T.special_ndtri(p),
    "nrdtrisd": lambda mn, p, x: (x - mn) / T.special_ndtri(p),
    "pdtri": lambda k, y: T.scipy_gammainccinv(T.floor(k) + 1, y),
    "wofz": lambda x: T.scipy_wofz(_as_complex(x)),
    "_lambertw": T.scipy__lambertw,
    "yve": T.scipy_yv,
    "boxcox": lambda x, lam: _transformed(x, T.log(x), lam),
    "boxcox1p": lambda x, lam: _transformed(x + 1, T.log1p(x), lam),
    "cbrt": T.cbrt,
    "chdtr": lambda v, x: special.gammainc(v / 2, x / 2),
    "chdtrc": lambda v, x: special.gammaincc(v / 2, x / 2),
    "bdtr": _bdtr,
    "bdtrc": _bdtrc,
    "fdtr": lambda n, d, x: T.scipy_betainc(n / 2, d / 2, _ratio(n, d, x)),
    "fdtrc": lambda n, d, x: T.scipy_betaincc(n / 2, d / 2, _ratio(n, d, x)),
    "fresnel": lambda x: (T.scipy_fresnel_s(x), T.scipy_fresnel_c(x)),
    "gdtr": lambda a, b, x: special.gammainc(b, a * x),
    "gdtrc": lambda a, b, x: special.gammaincc(b, a * x),
    "inv_boxcox": lambda y, lam: T.exp(_inverse_power(y, lam)),
    "inv_boxcox1p": lambda y, lam: T.expm1(_inverse_power(y, lam)),
    "kn": _of_order("scipy_kv"),
    "pdtr": lambda k, m: special.gammaincc(T.floor(k) + 1, m),
    "pdtrc": lambda k, m: special.gammainc(T.floor(k) + 1, m),
    "radian": lambda d, m, s: late("deg2rad")(d + m / 60.0 + s / 3600.0),
    "shichi": lambda x: (T.scipy_shi(x), T.scipy_chi(x)),
    "sici": lambda x: (T.scipy_si(x), T.scipy_ci(x)),
    "yn": _of_order("scipy_yv"),
}
"""The implementation of each ufunc, by name: our function of that name, if there is one."""

_COMPLEX: dict[str, Callable[..., Any]] = {
    **{name: _ROWS[name] for name in _HANKEL},
    **{name: getattr(T, f"scipy_{name}") for name in ("erf", "erfc", "wofz", "_lambertw")},
}
"""The implementations of ufuncs that are also differentiable for complex numbers."""


def rule_of(name: str) -> Callable[..., Any] | None:
    """Return the implementation of the ufunc of this name; None if there is none."""
    ours = RULES.get(name)
    if ours is None:
        return None
    unknown = _UNKNOWN.get(name, ())

    def rule(*args: Any) -> Any:
        args = tuple(map(tensor, args))
        if any(value._payload.dtype.kind == "c" for value in args):
            if name in _COMPLEX:
                return _COMPLEX[name](*args)
            if boundary.loses(args):
                raise boundary.function_lost(
                    f"scipy.special.{name}", "It is differentiated for real numbers only."
                )
            return wrapped(getattr(sys.modules["scipy.special"], name)(*values(args)))
        if unknown and boundary.loses([args[i] for i in unknown]):
            places = " and ".join(str(i + 1) for i in unknown)
            raise boundary.function_lost(
                f"scipy.special.{name}",
                f"No derivative is known by its argument{'s' * (len(unknown) > 1)} {places}: "
                "detach() what is not differentiated by.",
            )
        return ours(*args)

    return rule
