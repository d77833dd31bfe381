"""Layer 9 · compat: special functions under the names of ``jax.scipy.special``.

>>> jax.scipy.special.expit(0.0)
Array(0.5, dtype=float32, weak_type=True)
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.base.error_states import errstate
from wengert.base.extras import scipy_module
from wengert.compat.jax.array import asarray, made
from wengert.compat.jax.nn import log_softmax as _log_softmax
from wengert.compat.jax.nn import logsumexp as logsumexp
from wengert.compat.jax.nn import softmax as _softmax
from wengert.compat.jax.numpy.calling import (
    as_operands,
    check_arrays,
    finished,
    of_row,
    plain,
    static,
    value_of,
)
from wengert.compat.jax.typing import Array
from wengert.compat.kit.namespaces import closed, rows_of
from wengert.ops import special
from wengert.tensor.numpy.special import rule_of

__all__ = ["factorial", "logsumexp", "polygamma"]


@errstate(all="ignore")
def _computed(name: str, *given: Array, weak: bool = False) -> Any:
    """Build the counterpart of SciPy's function of this name."""
    rule = rule_of(name)
    assert rule is not None
    if rule.__name__ == "rule":
        _check_installed(name)
    return finished(rule(*map(plain, given)), given[0].weak_type)


_OWN = (
    "entr erf erfc erfcx erfinv expit gammainc gammaincc gammaln i0 i0e i1 i1e log_ndtr logit ndtr "
    "ndtri psi xlog1py xlogy"
)


def _check_installed(name: str) -> None:
    if name not in _OWN.split():
        scipy_module("special", f"jax.scipy.special.{name}")


_ROWS = """
    x: dawsn entr erf erfc erfcx erfinv exp1 expi expit fresnel gamma gammaln i0 i0e i1 i1e logit
        ndtr sici spence
    p: ndtri
    x, y: xlog1py xlogy
    p, q: kl_div rel_entr
    a, b: beta betaln
    a, x: gammainc gammaincc
    x, lmbda: boxcox boxcox1p
    h, a: owens_t
    z, m: poch
    a, b, x: betainc hyp1f1
    a, b, c, x: hyp2f1
    """
"""SciPy's functions: their parameters, and SciPy's names."""
for _parameters, _names in rows_of(_ROWS):
    for _name, _, _scipys in (one.partition("=") for one in _names):
        globals()[_name] = of_row(
            _name,
            _parameters,
            "inexact",
            f"Compute `scipy.special.{_name}` on JAX arrays.",
            functools.partial(_computed, _scipys or _name),
            "scipy.special",
        )
        __all__ += [_name]


def softmax(x, /, *, axis=None) -> Array:
    """Return exp(x) / sum(exp(x)), over all elements unless `axis` is given."""
    return _softmax(x, axis)


def log_softmax(x, /, *, axis=None) -> Array:
    """Return the logarithm of `softmax`."""
    return _log_softmax(x, axis)


def log_ndtr(x, series_order: int = 3) -> Array:
    """Return the logarithm of `ndtr`, accurate in the lower tail for any `series_order`."""
    (x,) = as_operands("log_ndtr", x, inexact=True)
    return _computed("log_ndtr", x)


def loggamma(x) -> Array:
    """Return the logarithm of the gamma function: NaN where that is not positive."""
    (x,) = as_operands("loggamma", x, inexact=True)
    return jnp.where(x > 0, _computed("gammaln", x), jnp.nan)


def digamma(x) -> Array:
    """Return the derivative of `gammaln`, which is NaN at 0; differentiable."""
    (x,) = as_operands("digamma", x, inexact=True)
    return _computed("psi", x) + jnp.where(x == 0, math.nan, 0.0)


def polygamma(n, x) -> Array:
    """Return the derivative of order `n` of `digamma`; differentiable in `x`.

    Examples
    --------
    >>> jax.numpy.round(jax.scipy.special.polygamma(1, 1.0), 3)
    Array(1.645, dtype=float32, weak_type=True)
    """
    check_arrays("polygamma", n, x)
    (y,) = as_operands("polygamma", x, inexact=True)
    orders = value_of(n, "the order of polygamma")
    if orders.ndim:
        parts = [polygamma(int(k), y) for k in np.unique(orders)]
        found = parts[0]
        for k, part in zip(np.unique(orders)[1:], parts[1:], strict=True):
            found = jnp.where(asarray(orders == k), part, found)
        return jnp.broadcast_to(found, np.broadcast_shapes(orders.shape, tuple(y.shape)))
    order = int(orders)
    if order != orders or order < 0:
        raise ValueError(f"polygamma takes whole orders that are not negative, not {n}")
    if order == 0:
        return digamma(y)
    return made(special.polygamma(order, plain(y)), y.weak_type)


def multigammaln(a, d) -> Array:
    """Return the logarithm of the multivariate gamma function."""
    (x,) = as_operands("multigammaln", a, inexact=True)
    size = static(d, "d of multigammaln")
    return made(special.multigammaln(plain(x), size))


def gammasgn(x) -> Array:
    """Return the sign of the gamma function."""
    (x,) = as_operands("gammasgn", x, inexact=True)
    whole = jnp.floor(x)
    found = jnp.where((x > 0) | (whole % 2 == 0), 1.0, -1.0)
    return jnp.where(jnp.isnan(x) | (x < 0) & (x == whole), jnp.nan, found).astype(x.dtype)


def factorial(n, exact: bool = False) -> Array:
    """Return n!, or 0 for n below 0."""
    if exact:
        raise NotImplementedError("factorial with exact=True: write math.factorial(n)")
    (x,) = as_operands("factorial", n, inexact=True)
    return jnp.where(x < 0, 0, jnp.exp(_computed("gammaln", x + 1)))


def comb(N, k, *, repetition: bool = False) -> Array:
    """Return the number of ways to choose k of N."""
    n, k = as_operands("comb", N, k, inexact=True)
    n = n + k - 1 if repetition else n
    logs = (_computed("gammaln", part + 1) for part in (n, k, n - k))
    first, second, third = logs
    return jnp.where((k < 0) | (k > n), 0, jnp.exp(first - second - third))


def zeta(x, q=None) -> Array:
    """Return the Hurwitz zeta function, or the Riemann zeta function without `q`."""
    if q is None:
        (x,) = as_operands("zeta", x, inexact=True)
        q = 1.0
    a, b = as_operands("zeta", x, q, inexact=True)
    return _computed("_zeta", a, b)


def expn(n, x) -> Array:
    """Return the exponential integral of order `n`; differentiable in `x`."""
    check_arrays("expn", n, x)
    (y,) = as_operands("expn", x, inexact=True)
    return _computed("expn", asarray(n, y.dtype), y)


def bernoulli(n: int) -> Array:
    """Return the Bernoulli numbers B(0) to B(n)."""
    if n < 0:
        raise ValueError("n must be a non-negative integer.")
    numbers = [1.0, -0.5][: n + 1]
    for m in range(2, n + 1):
        total = sum(math.comb(m + 1, k) * numbers[k] for k in range(m))
        numbers.append(0.0 if m % 2 else -total / (m + 1))
    return asarray(numbers, float)


__getattr__ = closed(globals())
