"""Layer 9 · compat: ``jax.scipy.optimize``: `minimize` by BFGS, with derivatives by `grad`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.jax.array import asarray
from wengert.compat.jax.reverse import value_and_grad
from wengert.compat.kit.namespaces import closed

__all__ = ["OptimizeResults", "minimize"]


class OptimizeResults(NamedTuple):
    """The results of `minimize`.

    Attributes
    ----------
    x: The minimum.
    success: Whether the gradient at `x` is small enough.
    status: 0 on success, 1 after too many iterations, 3 if the line search failed.
    fun, jac, hess_inv: The value, the gradient, and the approximation of the inverse of the
        Hessian.
    nfev, njev, nit: The numbers of function evaluations, gradients and iterations.
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


class _Counted:
    """Evaluates the function and its gradient in float64, and counts the evaluations."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...], dtype) -> None:
        self._both = value_and_grad(lambda x: fun(x, *args))
        self._dtype = dtype
        self.count = 0

    def __call__(self, x) -> tuple[float, Any]:
        self.count += 1
        value, slope = self._both(asarray(x.astype(self._dtype)))
        return float(value), np.asarray(slope, np.float64)


def _searched(f: _Counted, x, value: float, slope, step) -> Any:
    """Find a point along `step` that satisfies the strong Wolfe conditions, by bisection."""
    start = float(slope @ step)
    low, high, length = 0.0, np.inf, 1.0
    best = None
    for _ in range(40):
        point = x + length * step
        there, steep = f(point)
        if np.isfinite(there) and there <= value + 1e-4 * length * start:
            best = (point, there, steep)
            if abs(float(steep @ step)) <= -0.9 * start:
                break
            if float(steep @ step) < 0:
                low = length
            else:
                high = length
        else:
            high = length
        length = 2 * length if np.isinf(high) else (low + high) / 2
    return best


def minimize(
    fun: Callable[..., Any],
    x0,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """Minimize a function of a vector.

    Parameters
    ----------
    fun : callable. ``fun(x, *args)`` returns one number.
    x0 : Array, shape (n,). The initial guess.
    method : str. ``"BFGS"``; ``"l-bfgs-experimental-do-not-rely-on-this"`` is the same here.
    tol : float, optional. The tolerance on the gradient.
    options : dict, optional. ``maxiter``, ``gtol``, ``norm``.

    Returns
    -------
    OptimizeResults: The result is not differentiable: see `wengert.implicit`.

    Examples
    --------
    >>> found = jax.scipy.optimize.minimize(
    ...     lambda x: jax.numpy.sum((x - 1) ** 2), jax.numpy.zeros(2), method="BFGS")
    >>> found.x
    Array([1., 1.], dtype=float32)
    """
    if not isinstance(args, tuple):
        raise TypeError(f"args argument to jax.scipy.optimize.minimize must be a tuple, got {args}")
    if method.lower() not in ("bfgs", "l-bfgs-experimental-do-not-rely-on-this"):
        raise ValueError(
            f"Method {method} not recognized: 'BFGS' is there, others in wengert.scipy.minimize"
        )
    first = asarray(x0)
    if first.ndim != 1:
        raise ValueError(f"x0 must be a vector, but has shape {tuple(first.shape)}")
    if first.dtype.kind != "f":
        first = first.astype(float)
    chosen = dict(options or {})
    # smaller gradients are lost in the rounding of float32 values
    least = float(chosen.get("gtol", 1e-5 if tol is None else tol))
    order = chosen.get("norm", np.inf)
    limit = int(chosen.get("maxiter") or first.size * 200)
    f = _Counted(fun, args, first.dtype)
    x = np.asarray(first, np.float64)
    value, slope = f(x)
    inverse = np.eye(x.size)
    status, iterations = 1, 0
    while iterations < limit:
        if np.linalg.norm(slope, order) < least:
            status = 0
            break
        step = -inverse @ slope
        if not slope @ step < 0:
            inverse, step = np.eye(x.size), -slope
        found = _searched(f, x, value, slope, step)
        if found is None:
            status = 3
            break
        iterations += 1
        point, value, steep = found
        s, y = point - x, steep - slope
        x, slope = point, steep
        curvature = s @ y
        if curvature > 1e-12 * np.linalg.norm(s) * np.linalg.norm(y):
            left = np.eye(x.size) - np.outer(s, y) / curvature
            inverse = left @ inverse @ left.T + np.outer(s, s) / curvature
    else:
        status = 0 if np.linalg.norm(slope, order) < least else 1
    return OptimizeResults(
        x=asarray(x, first.dtype),
        success=asarray(status == 0),
        status=asarray(np.int32(status)),
        fun=asarray(value, first.dtype),
        jac=asarray(slope, first.dtype),
        hess_inv=asarray(inverse, first.dtype),
        nfev=asarray(np.int32(f.count)),
        njev=asarray(np.int32(f.count)),
        nit=asarray(np.int32(iterations)),
    )


_CURE = "wengert.scipy has minimize, least_squares, root and curve_fit with derivatives"
__getattr__ = closed(globals(), "jax.scipy.optimize", {"*": _CURE})

fill_sections(globals())
