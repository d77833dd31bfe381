"""Layer 6 · tensor: the ufuncs of ``scipy.special`` on tensors.

Some are functions of `wengert.special`; others are records, rows of a record, or composed of these.
Some arguments have no known derivative: a tensor that requires a gradient is refused there before
anything is computed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops import special
from wengert.prims import scipy_rows as scipy_rows
from wengert.prims import scipy_special as scipy_special
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tensor.numpy import boundary
from wengert.tensor.numpy.counterparts import late, tensor, values, wrapped
from wengert.tensor.numpy.kinds import CURES

__all__ = ["CONSTANT", "RULES", "rule_of"]


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
    "zeta": lambda x, q=None: special.zeta(x, 1.0 if q is None else q),
    "round": T.round,
    "multigammaln": lambda a, d: special.multigammaln(a, int(d) if int(d) == d else d),
    "log_expit": T.log_sigmoid,
}
_RECORDS = (
    "beta betaincc betainccinv betaincinv betainc betaln binom cosdg cosm1 cotdg dawsn ellipe "
    "ellipk erfcinv erfi exp1 exp10 expi expn exprel gamma gammainccinv gammaincinv huber hyp0f1 "
    "hyp1f1 hyp2f1 iv ive jv kl_div kv kve ndtri_exp owens_t poch powm1 pseudo_huber rel_entr "
    "rgamma sindg spence tandg wrightomega yv"
)
_SECOND = "iv ive jv kv kve yv expn hyp0f1 _zeta"
_UNKNOWN: dict[str, tuple[int, ...]] = {
    **{
        name.partition(".")[0]: tuple(i for i, slope in enumerate(row.slopes) if slope is None)
        for name, row in scipy_rows.ROWS.items()
    },
    **dict.fromkeys(_SECOND.split(), (0,)),
    "hyp1f1": (0, 1),
    "hyp2f1": (0, 1, 2),
}
"""The positions of arguments without a known derivative."""


def _airy(x: Any) -> tuple[Any, ...]:
    return T.special_airy_ai(x), T.airy_ai_slope(x), T.scipy_airy_bi(x), T.scipy_airy_bi_slope(x)


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
    return late("complex")(x, late("zeros_like")(x))


RULES: dict[str, Callable[..., Any]] = {
    **{name: getattr(special, name) for name in special.__all__},
    **_ROWS,
    **_OTHERWISE,
    **{name: getattr(T, f"scipy_{name}") for name in _RECORDS.split()},
    **{name: lambda v, x, of=_ROWS[name]: of(v, _as_complex(x)) for name in _HANKEL},
    "airy": _airy,
    "kelvin": _kelvin,
    "wofz": lambda x: T.scipy_wofz(_as_complex(cast(x, np.dtype(np.float64)))),
    "_lambertw": T.scipy__lambertw,
    "cbrt": T.cbrt,
    "fresnel": lambda x: (T.scipy_fresnel_s(x), T.scipy_fresnel_c(x)),
    "radian": lambda d, m, s: late("deg2rad")(d + m / 60.0 + s / 3600.0),
    "shichi": lambda x: (T.scipy_shi(x), T.scipy_chi(x)),
    "sici": lambda x: (T.scipy_si(x), T.scipy_ci(x)),
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
                f"No derivative is known with respect to argument{'s' * (len(unknown) > 1)} "
                f"{places}: detach() what needs no derivative. {CURES.get(name, '')}".rstrip(),
            )
        return ours(*args)

    return rule
