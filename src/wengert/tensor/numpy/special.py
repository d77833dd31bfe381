"""Layer 6 · tensor: the ufuncs of ``scipy.special`` on tensors.

Those that `wengert.special` has are its functions; others are records of their own, or made of
these. Some functions are differentiated by their last argument only: to the others no gradient can
flow, and tensors that ask for one are refused before anything is computed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops import pointwise, select, special
from wengert.prims import scipy_special as _records
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tensor.numpy import boundary
from wengert.tensor.numpy.counterparts import late, tensor, values, wrapped

__all__ = ["CONSTANT", "REQUIRES", "RULES", "rule_of"]

REQUIRES = (_records,)

CONSTANT = frozenset({"gammasgn"})
"""Those whose results do not depend on a gradient."""

_COMPLEX = frozenset({"erf", "erfc"})
"""Those that are differentiated for complex numbers, too."""

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
_POLYNOMIALS = {
    "eval_chebyt": special.chebyshev_polynomial_t,
    "eval_chebyu": special.chebyshev_polynomial_u,
    "eval_hermite": special.hermite_polynomial_h,
    "eval_hermitenorm": special.hermite_polynomial_he,
    "eval_laguerre": special.laguerre_polynomial_l,
    "eval_legendre": special.legendre_polynomial_p,
    "eval_sh_chebyt": special.shifted_chebyshev_polynomial_t,
    "eval_sh_chebyu": special.shifted_chebyshev_polynomial_u,
}
_RECORDS = (
    "beta betaincc betainccinv betaincinv betainc betaln binom cosdg cosm1 cotdg dawsn ellipe "
    "ellipk erfcinv erfi exp1 exp10 expi expn exprel gamma gammainccinv gammaincinv huber hyp0f1 "
    "hyp1f1 hyp2f1 iv ive jv kl_div kv kve ndtri_exp owens_t poch powm1 pseudo_huber rel_entr "
    "rgamma sindg spence stdtr tandg wrightomega yv"
)
_SECOND = (
    "iv ive jv kn kv kve yn yv expn hyp0f1 stdtr gammainc gammaincc gammaincinv gammainccinv _zeta "
    "chdtr chdtrc pdtr pdtrc"
)
_THIRD = "betainc betaincc betaincinv betainccinv fdtr fdtrc hyp1f1 bdtr bdtrc"
_BY_LAST = {
    **dict.fromkeys(_SECOND.split(), 1),
    **dict.fromkeys(_POLYNOMIALS, 1),
    **dict.fromkeys(_THIRD.split(), 2),
    "hyp2f1": 3,
}
"""How many arguments come first by which there is no derivative."""


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


def _boxcox(x: Any, lam: Any) -> Any:
    power = T.log(x)
    return power * T.scipy_exprel(lam * power)


def _boxcox1p(x: Any, lam: Any) -> Any:
    power = T.log1p(x)
    return power * T.scipy_exprel(lam * power)


def _inverse_power(y: Any, lam: Any) -> Any:
    return y / T.scipy_exprel(T.log1p(lam * y))


def _gdtr(a: Any, b: Any, x: Any) -> Any:
    _by_last("gdtr", b)
    return special.gammainc(b, a * x)


def _gdtrc(a: Any, b: Any, x: Any) -> Any:
    _by_last("gdtrc", b)
    return special.gammaincc(b, a * x)


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


RULES: dict[str, Callable[..., Any]] = {
    **{name: getattr(special, name) for name in special.__all__},
    **_OTHERWISE,
    **{name: _of_degree(ours, name) for name, ours in _POLYNOMIALS.items()},
    **{name: getattr(T, f"scipy_{name}") for name in _RECORDS.split()},
    "airy": _airy,
    "boxcox": _boxcox,
    "boxcox1p": _boxcox1p,
    "cbrt": T.cbrt,
    "chdtr": lambda v, x: special.gammainc(v / 2, x / 2),
    "chdtrc": lambda v, x: special.gammaincc(v / 2, x / 2),
    "bdtr": _bdtr,
    "bdtrc": _bdtrc,
    "fdtr": lambda n, d, x: T.scipy_betainc(n / 2, d / 2, _ratio(n, d, x)),
    "fdtrc": lambda n, d, x: T.scipy_betaincc(n / 2, d / 2, _ratio(n, d, x)),
    "fresnel": lambda x: (T.scipy_fresnel_s(x), T.scipy_fresnel_c(x)),
    "gdtr": _gdtr,
    "gdtrc": _gdtrc,
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
"""What stands for a ufunc, by its name: our function of that name, if there is one."""


def _by_last(name: str, *others: Any) -> None:
    if boundary.loses(others):
        raise boundary.function_lost(
            f"scipy.special.{name}",
            "It is differentiated by its last argument only: detach() the others.",
        )


def rule_of(name: str) -> Callable[..., Any] | None:
    """What stands for the ufunc of this name; None if nothing does."""
    ours = RULES.get(name)
    if ours is None:
        return None
    count = _BY_LAST.get(name, 0)

    def rule(*args: Any) -> Any:
        args = tuple(map(tensor, args))
        if any(value._payload.dtype.kind == "c" for value in args):
            if name in _COMPLEX:
                return getattr(T, f"scipy_{name}")(*args)
            if boundary.loses(args):
                raise boundary.function_lost(
                    f"scipy.special.{name}", "It is differentiated for real numbers only."
                )
            return wrapped(getattr(sys.modules["scipy.special"], name)(*values(args)))
        _by_last(name, *args[:count])
        return ours(*args)

    return rule
