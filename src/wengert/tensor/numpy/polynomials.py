"""Layer 6 · tensor: counterparts of NumPy's functions on polynomials (see NOTE [counterparts]).

A polynomial is the array of its coefficients, highest power first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.interp.levels import is_plain
from wengert.ops import join, permute, pointwise, shape
from wengert.ops.matmul import matmul
from wengert.tensor.numpy.counterparts import (
    as_dtype,
    common,
    counterpart,
    counterparts,
    floating,
    known,
    rule,
    tensor,
    values,
)
from wengert.tensor.numpy.products import convolve


def _linalg(name: str) -> Any:
    return rule(f"linalg.{name}")


@counterpart("vander")
def _vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    x = tensor(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    x = as_dtype(x, np.promote_types(x._payload.dtype, int))
    count = len(x) if N is None else N
    powers = [x**n for n in range(count)]
    return join.stack(powers if increasing else powers[::-1], 1) if powers else x[:, None][:, :0]


@counterpart("polyval")
def _polyval(p: Any, x: Any) -> Any:
    p, x = common(p, x)
    made = x * 0
    for coefficient in p:
        made = made * x + coefficient
    return made


def _one(*polynomials: Any) -> list[Any]:
    """Return each polynomial as a tensor of one dimension."""
    if any(np.ndim(values(a)) > 1 for a in polynomials):
        raise ValueError("Polynomial must be 1d only.")
    return [shape.reshape(a, (-1,)) for a in common(*polynomials)]


def _polymul(a1: Any, a2: Any) -> Any:
    trimmed = []
    for a in _one(a1, a2):
        own = known(a)
        # under `vmap` leading zeros stay, since each element has its own
        places = np.flatnonzero(own) if is_plain(own) else [0]
        trimmed.append(a[int(places[0]) if len(places) else -1 :])
    return convolve(*trimmed)


def _polysum(a1: Any, a2: Any, sign: int) -> Any:
    parts = _one(a1, a2)
    count = max(len(part) for part in parts)
    wide = [
        join.cat([tensor(np.zeros(count - len(part), part._payload.dtype)), part], 0)
        for part in parts
    ]
    return wide[0] + sign * wide[1]


@counterpart("polyder")
def _polyder(p: Any, m: int = 1) -> Any:
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    p = tensor(p)
    for _ in range(m):
        p = p[:-1] * tensor(np.arange(len(p) - 1, 0, -1))
    return p


@counterpart("polyint")
def _polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    (p,) = floating(p)
    constants = np.broadcast_to(np.atleast_1d(0.0 if k is None else k), (m,))
    for i in range(m):
        p = join.cat([p / tensor(np.arange(len(p), 0, -1)), tensor(constants[i : i + 1])], 0)
    return p


def divided(u: Any, v: Any) -> tuple[Any, Any]:
    """Return the quotient and the remainder, which is as long as `u`."""
    n, m = len(v) - 1, len(u) - 1
    steps = max(m - n + 1, 1)
    quotient = []
    rest = u
    for k in range(m - n + 1):
        factor = rest[k] / v[0]
        quotient.append(factor)
        parts = [rest[:k], rest[k : k + n + 1] - factor * v, rest[k + n + 1 :]]
        rest = join.cat([part for part in parts if part.shape[0]], 0)
    made = join.stack(quotient, 0) if quotient else tensor(np.zeros(steps, u._payload.dtype))
    return made, rest


@counterpart("polydiv")
def _polydiv(u: Any, v: Any) -> Any:
    made, rest = divided(*floating(*_one(u, v)))
    # drop leading coefficients that cancelled, by NumPy's tolerance
    while rest.shape[0] > 1 and np.allclose(rest._payload[0], 0, rtol=1e-14):
        rest = rest[1:]
    return made, rest


@counterpart("polyfit")
def _polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any:
    if full or cov:
        raise NotImplementedError(
            "numpy.polyfit of tensors with full= or cov=: the coefficients are there; for these "
            "use np.linalg.lstsq on np.vander(x, deg + 1)"
        )
    x, y = floating(x, y)
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if y.shape[0] != x.shape[0]:
        raise TypeError("expected x and y to have same length")
    left = _vander(x, deg + 1)
    dtype = left._payload.dtype  # wider than that of x, as in NumPy
    right = as_dtype(y if y.ndim > 1 else shape.unsqueeze(y, 1), dtype)
    if w is not None:
        weights = shape.unsqueeze(as_dtype(w, dtype), 1)
        left, right = left * weights, right * weights
    # columns of equal norm make the system better conditioned
    scale = pointwise.sqrt((left * left).sum(0))
    basis, triangle = _linalg("qr")(left / scale)
    inverse = _linalg("solve")(triangle, matmul(permute.transpose(basis, 0, 1), right))
    made = inverse / shape.unsqueeze(scale, 1)
    return made if y.ndim > 1 else shape.squeeze(made, 1)


@counterpart("poly")
def _poly(seq_of_zeros: Any) -> Any:
    zeros = tensor(seq_of_zeros)
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] and zeros.shape[0]:
        zeros = _linalg("eigvals")(zeros)
    if zeros.ndim != 1:
        if not zeros.ndim:
            return tensor(1.0)
        raise ValueError("input must be 1d or non-empty square 2d array.")
    (zeros,) = floating(zeros)
    made = tensor(np.ones(1, zeros._payload.dtype))
    for zero in zeros:
        longer = join.cat([made, made[:1] * 0], 0)
        made = longer - join.cat([made[:1] * 0, made * zero], 0)
    if made._payload.dtype.kind == "c":
        own = zeros._payload
        if np.all(np.sort(own) == np.sort(own.conjugate())):
            made = pointwise.real(made)
    return made


@counterpart("roots")
def _roots(p: Any) -> Any:
    (p,) = floating(*_one(p))
    places = np.flatnonzero(known(p))
    if not places.size:
        return tensor(np.zeros(0))
    trailing = len(p) - int(places[-1]) - 1
    p = p[int(places[0]) : int(places[-1]) + 1]
    count = len(p)
    if count < 2:
        return tensor(np.zeros(trailing, p._payload.dtype))
    below = tensor(np.eye(count - 2, count - 1, dtype=p._payload.dtype))
    companion = join.cat([shape.unsqueeze(-p[1:] / p[0], 0), below], 0)
    made = _linalg("eigvals")(companion)
    if p._payload.dtype.kind != "c" and made._payload.dtype.kind == "c":
        # from NumPy 2.5 on, eigenvalues are complex throughout, but roots are not
        made = made if np.any(np.imag(known(made))) else pointwise.real(made)
    if trailing:
        made = join.cat([made, tensor(np.zeros(trailing, made._payload.dtype))], 0)
    return made


# -- what one call computes ------------------------------------------------------------------------

counterparts(
    {
        "polyadd": lambda a1, a2: _polysum(a1, a2, 1),
        "polysub": lambda a1, a2: _polysum(a1, a2, -1),
        "polymul": _polymul,
    }
)
