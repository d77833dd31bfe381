"""Layer 9 · compat: `jax.experimental.jet`: derivatives of higher order along a curve."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from wengert.compat.jax.array import asarray, made
from wengert.compat.jax.dtypes import float0
from wengert.compat.jax.reverse import jvp
from wengert.compat.jax.tracing import argument
from wengert.compat.jax.trees import tree_map, tree_structure
from wengert.compat.kit.namespaces import defined


def fact(n) -> Any:
    """Return the factorial of `n`."""
    return math.factorial(n)


def _forward(curve: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes a list of derivatives of a curve, and the next one."""

    def call(t) -> list[Any]:
        known, slopes = jvp(curve, (t,), (asarray(1.0, t.dtype),))
        return [*known, slopes[-1]]

    return call


def _as_slope(primal, slope) -> Any:
    return asarray(primal) * 0 if getattr(slope, "dtype", None) == float0 else slope


def jet(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Any],
    factorial_scaled=True,
    **options,
) -> tuple[Any, list[Any]]:
    """Return the value of `fun` and its derivatives along a curve of its arguments.

    Parameters
    ----------
    fun : callable. Of arrays, or containers of arrays.
    primals : sequence. The arguments.
    series : sequence of sequence. For each argument its derivatives along the curve, from the
        first on; equally many for each, in the structure of the argument.
    factorial_scaled : bool. Whether `series` are derivatives; otherwise they are the coefficients
        of Taylor polynomials, which are derivatives divided by factorials.

    Returns
    -------
    primals_out: The value.
    series_out : list. The derivatives of the value, or its coefficients.

    Raises
    ------
    ValueError: If the lengths of the series differ.

    Examples
    --------
    >>> from wengert.compat.jax.experimental.jet import jet
    >>> [float(term) for term in jet(jax.numpy.sin, (0.0,), ([1.0, 0.0, 0.0],))[1]]
    [1.0, 0.0, -1.0]
    """
    orders = {len(terms) for terms in series}
    if len(orders) != 1 or len(series) != len(primals):
        raise ValueError("jet: primals and series must be as many, and the series equally long")
    (order,) = orders
    for primal, terms in zip(primals, series, strict=True):
        if any(tree_structure(term) != tree_structure(primal) for term in terms):
            raise ValueError("jet: the terms of a series must have the structure of their primal")
    start = asarray(0.0)

    def moved(t) -> Callable[..., Any]:
        def one(primal, *terms) -> Any:
            x = argument(primal)
            if x.dtype.kind not in "fcV":
                return x
            away: Any = 0.0
            for k in range(order, 0, -1):
                away = t / (k if factorial_scaled else 1) * (terms[k - 1] + away)
            return x + made(away.astype(x.dtype), x.weak_type)

        return one

    def curve(t) -> list[Any]:
        places = [tree_map(moved(t), x, *terms) for x, terms in zip(primals, series, strict=True)]
        return [tree_map(argument, fun(*places))]

    for _ in range(order):
        curve = _forward(curve)
    value, *found = curve(start)
    found = [tree_map(_as_slope, value, slope) for slope in found]
    if not factorial_scaled:
        found = [
            tree_map(partial(operator.mul, 1 / fact(k)), slope) for k, slope in enumerate(found, 1)
        ]
    return value, found


__all__ = defined(globals())
