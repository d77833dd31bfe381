"""Layer 1 · kernels: orthogonal polynomials and their derivatives, by their recurrences.

NOTE [orthogonal polynomials]
A family is p_0 = 1, p_1 = s x + t and p_{k+1} = (a_k x + b_k) p_k - c_k p_{k-1} (DLMF 18.9.1 with
table 18.9.1). Differentiated m times it is a recurrence of the m-th derivatives,
p_{k+1}^(m) = (a_k x + b_k) p_k^(m) + m a_k p_k^(m-1) - c_k p_{k-1}^(m), which holds at the ends of
the interval, too, where the usual formulas divide by 0.

References
----------
NIST Digital Library of Mathematical Functions, https://dlmf.nist.gov, section 18.9.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np

from wengert.kernels.protocols import largest, zeros

Step = Callable[[int], tuple[float, float, float]]


def _chebyshev(k: int) -> tuple[float, float, float]:
    return 2.0, 0.0, 1.0


FAMILIES: dict[str, tuple[tuple[float, float], Step]] = {
    "chebyshev_polynomial_t": ((1.0, 0.0), _chebyshev),
    "chebyshev_polynomial_u": ((2.0, 0.0), _chebyshev),
    "chebyshev_polynomial_v": ((2.0, -1.0), _chebyshev),
    "chebyshev_polynomial_w": ((2.0, 1.0), _chebyshev),
    "hermite_polynomial_h": ((2.0, 0.0), lambda k: (2.0, 0.0, 2.0 * k)),
    "hermite_polynomial_he": ((1.0, 0.0), lambda k: (1.0, 0.0, float(k))),
    "laguerre_polynomial_l": (
        (-1.0, 1.0),
        lambda k: (-1.0 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1)),
    ),
    "legendre_polynomial_p": ((1.0, 0.0), lambda k: ((2 * k + 1) / (k + 1), 0.0, k / (k + 1))),
}
"""For each family the coefficients of p_1, and those of the recurrence at k >= 1."""


def _terms(y: Any, family: tuple[tuple[float, float], Step], order: int) -> Iterator[Any]:
    """Iterate over derivatives of p_1, p_2, ... of an order: arrays, or numbers if constant."""
    (slope, offset), step = family
    # p_0 and p_1 with their derivatives
    last: list[Any] = [1.0, *[0.0] * order]
    now: list[Any] = [slope * y if slope != 1.0 else y, *[slope, *[0.0] * order][:order]]
    if offset:
        now[0] = now[0] + offset
    factor: Any = None
    previous = 0.0
    for k in count(1):
        yield now[order]
        a, b, c = step(k)
        if a != previous:
            factor, previous = a * y if a != 1.0 else y, a
        here = factor + b if b else factor
        nearer = [here * now[0] - (last[0] if c == 1.0 else c * last[0])]
        for m in range(1, order + 1):
            part = here * now[m] + m * a * now[m - 1]
            nearer.append(part - (last[m] if c == 1.0 else c * last[m]))
        last, now = now, nearer
        if k % 1024 == 0 and np.isnan(now[order]).all():
            return  # as are all others


_FAR = 4096
"""Higher degrees of Chebyshev's polynomials are found by doubling."""


def _doubled(y: Any, family: tuple[tuple[float, float], Step], order: int, degrees: Any) -> Any:
    """Return derivatives of Chebyshev's polynomials from their first terms in y + d, per degree.

    With t and u, those of the first and second kind of degrees n and n - 1, the pair of 2 n is
    2 t^2 - 1 and 2 t u, that of n + 1 is y t - (1 - y^2) u and y u + t, and p_n is
    t + (p_1 - y) u.
    """

    def product(a: list[Any], b: list[Any]) -> list[Any]:
        return [sum(a[i] * b[m - i] for i in range(m + 1)) for m in range(order + 1)]

    def total(a: list[Any], b: list[Any]) -> list[Any]:
        return [one + other for one, other in zip(a, b, strict=True)]

    (slope, offset), _ = family
    zero = y * 0.0
    line = [y, zero + 1.0, *[zero] * order][: order + 1]
    rest = product(line, line)
    rest[0] = rest[0] - 1.0
    t, u = [zero + 1.0, *[zero] * order], [zero] * (order + 1)
    degrees = np.minimum(degrees, 2.0**53).astype(np.int64)
    for bit in reversed(range(int(degrees.max(initial=0)).bit_length())):
        t, u = product(t, t), product(t, u)
        t, u = [2.0 * one for one in t], [2.0 * one for one in u]
        t[0] = t[0] - 1.0
        further = total(product(line, t), product(rest, u)), total(product(line, u), t)
        odd = degrees >> bit & 1 != 0
        t, u = (
            [np.where(odd, more, one) for more, one in zip(*pair, strict=True)]
            for pair in ((further[0], t), (further[1], u))
        )
    if slope != 1.0:
        t = total(t, product([line[0] + offset, *line[1:]], u))
    return t[order] * float(math.factorial(order))


def _frame(self: Any, name: str, order: int) -> tuple[Any, tuple[Any, Step], float]:
    """Return the argument, the family, and a factor of the derivative."""
    if self.dtype.kind != "f":
        raise TypeError(f"not defined for {self.dtype}")
    if name.startswith("shifted_"):
        return 2.0 * self - 1.0, FAMILIES[name.removeprefix("shifted_")], 2.0**order
    return self, FAMILIES[name], 1.0


def _in_double(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `kernel` to compute in float64: recurrences lose digits near zeros."""

    @functools.wraps(kernel)
    def wide(self: Any, *args: Any, **params: Any) -> Any:
        dtype = self.dtype
        # values that exceed the dtype are infinite, and differences of these NaN
        with np.errstate(over="ignore", invalid="ignore"):
            if dtype.kind != "f" or dtype.itemsize >= 8:
                return kernel(self, *args, **params)
            return kernel(self.astype(np.float64), *args, **params).astype(dtype)

    return wide


@_in_double
def polynomial_of_degree(self: Any, n: float, order: int, family: str) -> Any:
    """Compute `polynomial` for a degree that is a number."""
    y, kind, scale = _frame(self, family, order)
    degree = int(n) if math.isfinite(n) else -1
    if degree < max(order, 0):
        return np.zeros_like(y)
    if degree == 0:
        return np.ones_like(y)
    if degree > _FAR and kind[1] is _chebyshev:
        return _doubled(y, kind, order, np.float64(degree)) * scale
    value = next(islice(_terms(y, kind, order), degree - 1, None), y * np.nan)
    if degree == order:
        return np.full_like(y, value * scale)
    if value is self:
        return self.copy()
    return value if scale == 1.0 else value * scale


@_in_double
def polynomial(self: Any, n: Any, order: int, family: str) -> Any:
    """Return a derivative of the polynomial of degree n of a family (0 for n < 0).

    See NOTE [orthogonal polynomials]. The degree is truncated to an integer; NaN counts as
    negative.
    """
    y, kind, scale = _frame(self, family, order)
    degrees = np.where(np.isfinite(n), np.trunc(n), -1)
    result = zeros(y, np.broadcast_shapes(y.shape, degrees.shape), y.dtype)
    if order == 0:
        np.copyto(result, 1, where=degrees == 0)
    most = max(int(largest(degrees)), 0) if degrees.size else 0
    near, k = min(most, _FAR) if kind[1] is _chebyshev else most, 0
    for k, value in enumerate(islice(_terms(y, kind, order), near), 1):
        np.copyto(result, value, where=degrees == k)
    np.copyto(result, np.nan, where=(degrees > k) & (k < near))
    if near < most:
        np.copyto(result, _doubled(y, kind, order, degrees), where=degrees > near)
    return result[()] if scale == 1.0 else result * scale
