"""Sample arguments of NumPy's and SciPy's ufuncs for tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.numpy_calls import Call, cx, ints, pos, rising, unit, x

__all__ = ["ONCE", "SPECIAL", "UFUNCS"]

_ONE = (Call(x(2, 3)), Call(x()))
_POSITIVE = (Call(pos(2, 3)), Call(pos()))
_UNIT = (Call(unit(2, 3)), Call(unit()))
_TWO = (Call(x(2, 3), x(3)), Call(x(3), x(3)), Call(x(3), 2.0), Call(2.0, x(3)))
_TWO_POSITIVE = (Call(pos(2, 3), pos(3)), Call(pos(3), 2), Call(2.0, pos(3)))
_COMPLEX = (Call(cx(3)),)


def _above_one(function: Any, a: Any) -> Any:
    return function(a + 1.0)


def _fraction(function: Any, *args: Any) -> Any:
    """The last argument within 0 and 1."""
    return function(*args[:-1], 0.1 + 0.4 * args[-1])


def _turned(function: Any, a: Any, m: Any) -> Any:
    """Beyond a quarter of a turn."""
    return function(4.0 * a, m)


def _share_first(function: Any, a: Any, *args: Any) -> Any:
    return function(0.1 + 0.4 * a, *args)


def _share_second(function: Any, a: Any, b: Any, *args: Any) -> Any:
    return function(a, 0.1 + 0.1 * b, *args)


def _negated(function: Any, a: Any) -> Any:
    return function(-a)


UFUNCS: dict[str, tuple[Call, ...]] = {
    **dict.fromkeys(
        ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "arcsinh"),
        (*_ONE, *_COMPLEX),
    ),
    **dict.fromkeys(("arctan", "square", "negative", "positive", "conjugate"), (*_ONE, *_COMPLEX)),
    **dict.fromkeys(("absolute", "sign", "reciprocal"), (*_ONE, *_COMPLEX)),
    **dict.fromkeys(("fabs", "floor", "ceil", "trunc", "rint"), _ONE),
    **dict.fromkeys(("deg2rad", "radians", "rad2deg", "degrees"), _ONE),
    **dict.fromkeys(("log", "log2", "log10", "log1p", "sqrt"), (*_POSITIVE, *_COMPLEX)),
    "cbrt": (*_POSITIVE, *_ONE),
    **dict.fromkeys(("arcsin", "arccos", "arctanh"), (*_UNIT, *_COMPLEX)),
    "arccosh": (
        Call(
            1.1 + 0.0,
        ),
        Call(rising(3), via=lambda f, a: f(a + 1.0)),
    ),
    **dict.fromkeys(("modf", "frexp"), _ONE),
    **dict.fromkeys(("add", "subtract", "multiply", "divide"), (*_TWO, Call(cx(3), cx(3)))),
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin", "copysign", "nextafter"), _TWO),
    **dict.fromkeys(("hypot", "arctan2", "logaddexp", "logaddexp2", "heaviside"), _TWO),
    **dict.fromkeys(("remainder", "fmod", "divmod"), _TWO_POSITIVE),
    **dict.fromkeys(("power", "float_power"), _TWO_POSITIVE),
    "ldexp": (Call(x(3), ints(3)), Call(x(3), 2)),
    "matmul": (Call(x(2, 3), x(3)), Call(x(2, 2, 3), x(3, 2)), Call(x(3), x(3))),
    "vecdot": (Call(x(2, 3), x(3)), Call(cx(3), cx(3)), Call(x(3, 2), x(3, 2), axis=0)),
    "matvec": (Call(x(2, 3), x(3)), Call(x(4, 2, 3), x(4, 3))),
    "vecmat": (Call(x(3), x(3, 2)), Call(cx(3), cx(3, 2))),
}
"""Those that differentiate, by their names."""

_ORDERED = (Call(1.5, pos(2, 3)), Call(np.array([1.0, 2.0, 3.5]), pos(3)))
_WHOLE = (Call(2, pos(2, 3)), Call(np.array([1, 2, 3]), pos(3)))
_SHARE = (Call(1.5, pos(3), via=_fraction),)
_KNOWN_SHARE = (Call(3, 4.0, pos(3), via=_fraction),)
_SHARES = (Call(1.5, 2.0, pos(3), via=_fraction),)
_BOTH = (Call(pos(2, 3), pos(3)), Call(pos(3), 1.5), Call(1.5, pos(3)))
_DEGREE = (Call(3, unit(2, 3)), Call(np.array([0, 1, 4]), unit(3)))

SPECIAL: dict[str, tuple[Call, ...]] = {
    **dict.fromkeys(
        ("erf", "erfc", "erfcx", "erfi", "expit", "expm1", "exp2", "exp10", "exprel", "cosm1"), _ONE
    ),
    **dict.fromkeys(("dawsn", "i0", "i0e", "i1", "i1e", "j0", "j1", "log_expit", "ndtr"), _ONE),
    **dict.fromkeys(("log_ndtr", "round", "sindg", "cosdg", "tandg", "wrightomega", "airy"), _ONE),
    **dict.fromkeys(("sici", "shichi", "fresnel"), _POSITIVE),
    **dict.fromkeys(("cbrt", "cotdg", "entr", "exp1", "expi", "gamma", "gammaln"), _POSITIVE),
    **dict.fromkeys(("loggamma", "log1p", "psi", "rgamma", "spence", "erfcinv"), _POSITIVE),
    **dict.fromkeys(("k0", "k0e", "k1", "k1e", "y0", "y1"), _POSITIVE),
    **dict.fromkeys(("erfinv", "ellipk", "ellipe"), _UNIT),
    **dict.fromkeys(("logit", "ndtri"), (Call(pos(3), via=_fraction),)),
    "ndtri_exp": (Call(pos(3), via=_negated),),
    **dict.fromkeys(("iv", "ive", "jv", "kv", "kve", "yv", "hyp0f1", "stdtr"), _ORDERED),
    **dict.fromkeys(("gammainc", "gammaincc", "chdtr", "chdtrc", "pdtr", "pdtrc"), _ORDERED),
    **dict.fromkeys(("kn", "yn", "expn"), _WHOLE),
    **dict.fromkeys(("gammaincinv", "gammainccinv"), _SHARE),
    **dict.fromkeys(("betainc", "betaincc", "betaincinv", "betainccinv"), _SHARES),
    **dict.fromkeys(("fdtr", "fdtrc"), (Call(2.0, 3.0, pos(3)),)),
    **dict.fromkeys(("gdtr", "gdtrc"), (Call(pos(3), 2.0, pos(3)),)),
    **dict.fromkeys(
        ("bdtr", "bdtrc"), (Call(np.array([1.0, 2.0, 4.0]), 4, pos(3), via=_fraction),)
    ),
    "hyp1f1": (Call(1.5, 2.5, x(3)),),
    "hyp2f1": (Call(1.5, 2.0, 2.5, unit(3)),),
    **dict.fromkeys(("beta", "betaln", "poch", "powm1", "kl_div", "rel_entr", "xlogy"), _BOTH),
    **dict.fromkeys(("xlog1py", "boxcox", "boxcox1p", "inv_boxcox", "inv_boxcox1p"), _BOTH),
    **dict.fromkeys(("huber", "pseudo_huber"), (Call(pos(3), x(3)),)),
    "binom": (Call(rising(3), 0.7), Call(5, pos(3))),
    "owens_t": (Call(x(3), x(3)),),
    "radian": (Call(x(3), x(3), x(3)),),
    **dict.fromkeys(("wofz", "kelvin", "ber", "bei", "ker", "kei", "berp", "beip"), _POSITIVE[:1]),
    **dict.fromkeys(("kerp", "keip", "airye", "itstruve0", "itmodstruve0"), _POSITIVE[:1]),
    **dict.fromkeys(("it2struve0", "itj0y0", "it2j0y0", "iti0k0", "it2i0k0"), _POSITIVE[:1]),
    "itairy": _ONE[:1],
    "ellipkm1": (Call(pos(3), via=_fraction),),
    **dict.fromkeys(("struve", "modstruve", "pbdv", "pbvv", "pbwa", "jve", "yve"), _ORDERED[:1]),
    **dict.fromkeys(("hankel1", "hankel1e", "hankel2", "hankel2e"), _ORDERED[:1]),
    "ellipkinc": (Call(x(3), unit(3)), Call(x(3), unit(), via=_turned)),
    "ellipeinc": (Call(x(3), unit(3)), Call(x(3), unit(), via=_turned)),
    "ellipj": (Call(x(3), pos(3), via=_fraction), Call(pos(3), pos(3), via=_fraction)),
    "agm": _BOTH,
    "tklmbda": (Call(x(3), pos(3)),),
    "voigt_profile": (Call(x(3), pos(3), pos(3)),),
    "chndtr": (Call(pos(3), 3.0, pos(3)),),
    "chndtrix": (Call(pos(3), 3.0, pos(3), via=_share_first),),
    **dict.fromkeys(("chdtri", "stdtrit"), _SHARE),
    "pdtri": (Call(1, pos(3), via=_fraction),),
    **dict.fromkeys(("bdtri", "fdtri", "nbdtr", "nbdtrc", "nbdtri"), _KNOWN_SHARE),
    "gdtrix": (Call(pos(3), 2.0, pos(3), via=_fraction),),
    "nrdtrimn": (Call(pos(3), pos(3), x(3), via=_share_first),),
    "nrdtrisd": (Call(x(3), pos(), x(3), via=_share_second),),
    "lpmv": (Call(1, 3.0, unit(3)),),
    **dict.fromkeys(("hyperu", "wright_bessel", "log_wright_bessel"), (Call(1.5, 2.5, pos(3)),)),
    "eval_gegenbauer": (Call(3, 1.5, unit(3)), Call(np.array([0, 1, 40]), 0.5, unit(3))),
    "eval_genlaguerre": (Call(3, 1.5, pos(3)), Call(np.array([0, 1, 40]), 0.5, pos(3))),
    "eval_jacobi": (Call(3, 1.5, 0.5, unit(3)), Call(np.array([0, 1, 40]), 0.5, 1.0, unit(3))),
    "eval_sh_jacobi": (Call(3, 2.5, 1.5, pos(3), via=_fraction),),
    **dict.fromkeys(("mathieu_a", "mathieu_b"), (Call(2, 1.5),)),
    **dict.fromkeys(("mathieu_cem", "mathieu_sem"), (Call(2, 1.5, x(3)),)),
    **dict.fromkeys(("mathieu_modcem1", "mathieu_modcem2"), (Call(2, 1.5, pos(3)),)),
    **dict.fromkeys(("mathieu_modsem1", "mathieu_modsem2"), (Call(2, 1.5, pos(3)),)),
    **dict.fromkeys(
        (
            *(
                "eval_chebyc",
                "eval_chebys",
                "eval_sh_legendre",
                "eval_chebyt",
                "eval_chebyu",
                "eval_hermite",
                "eval_hermitenorm",
                "eval_laguerre",
            ),
            *("eval_legendre", "eval_sh_chebyt", "eval_sh_chebyu"),
        ),
        _DEGREE,
    ),
}
"""Those of ``scipy.special`` that differentiate, by their names."""

_QUANTILES = (Call(1.5, pos(3), via=_fraction),)
ONCE: dict[str, tuple[Call, ...]] = {
    "elliprf": (Call(pos(3), pos(3), pos(3)),),
    "elliprg": (Call(pos(3), pos(3), pos(3)),),
    "elliprc": (Call(pos(3), rising(3), via=lambda f, a, b: f(a, a + b)),),
    "bdtrik": (Call(pos(3), 9.0, 0.4, via=_share_first),),
    "bdtrin": (Call(3.0, pos(3), 0.4, via=_share_second),),
    "nbdtrik": (Call(pos(3), 9.0, 0.4, via=_share_first),),
    "nbdtrin": (Call(3.0, pos(3), 0.4, via=_share_second),),
    **dict.fromkeys(("btdtria", "gdtria"), (Call(pos(3), 2.0, 0.4, via=_share_first),)),
    **dict.fromkeys(("btdtrib", "gdtrib"), (Call(2.0, pos(3), 0.4, via=_share_second),)),
    "chdtriv": (Call(pos(3), 2.0, via=_share_first),),
    "fdtridfd": (Call(2.0, pos(3), 2.0, via=_share_second),),
    "pdtrik": (Call(pos(3), 3.0, via=_share_first),),
    "stdtridf": (Call(pos(3), 2.0, via=lambda f, p, t: f(0.85 + 0.02 * p, t)),),
    **dict.fromkeys(("kolmogorov",), (Call(pos(3)),)),
    "kolmogi": (Call(pos(3), via=_fraction),),
    **dict.fromkeys(("smirnov", "smirnovi"), (Call(4, pos(3), via=_fraction),)),
    "ncfdtr": (Call(2.0, 3.0, 0.5, pos(3)),),
    "ncfdtri": (Call(2.0, 3.0, 0.5, pos(3), via=_fraction),),
    "nctdtr": (Call(3.0, 0.5, pos(3)),),
    "nctdtrit": (Call(3.0, 0.5, pos(3), via=_fraction),),
    **dict.fromkeys(("pro_ang1", "obl_ang1"), (Call(1, 2, 1.5, unit(3)),)),
    "pro_rad1": (Call(1, 2, 1.5, pos(3), via=lambda f, *a: f(*a[:-1], 1.5 + a[-1])),),
    "obl_rad1": (Call(1, 2, 1.5, pos(3)),),
}
"""Those of `scipy.special` with first derivatives only, by some or all of their arguments."""
