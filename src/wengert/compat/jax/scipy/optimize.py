"""Layer 9 · compat: ``jax.scipy.optimize``: `minimize` by BFGS, with derivatives from `grad`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from wengert.base.extras import scipy_module
from wengert.compat.jax.array import asarray
from wengert.compat.jax.reverse import value_and_grad
from wengert.compat.jax.words import refusal
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
        raise refusal(ValueError, "Method {} not recognized", method)
    first = asarray(x0)
    if first.ndim != 1:
        raise ValueError(f"x0 must be a vector, but has shape {tuple(first.shape)}")
    if first.dtype.kind != "f":
        first = first.astype(float)
    chosen = dict(options or {})
    # smaller gradients are lost in the rounding of float32 values
    least = chosen.get("gtol", 1e-5 if tol is None else tol)
    known = {key: chosen[key] for key in ("maxiter", "norm") if chosen.get(key) is not None}
    both = value_and_grad(lambda x: fun(x, *args))

    def evaluated(x) -> tuple[float, Any]:
        value, slope = both(asarray(x.astype(first.dtype)))
        return float(value), np.asarray(slope, np.float64)

    start, more = np.asarray(first, np.float64), {"gtol": least, **known}
    scipys = scipy_module("optimize", "jax.scipy.optimize.minimize").minimize
    found = scipys(evaluated, start, method="BFGS", jac=True, options=more)
    status = {0: 0, 1: 1}.get(found.status, 3)
    return OptimizeResults(
        *(asarray(found.x, first.dtype), asarray(status == 0), asarray(np.int32(status))),
        *(asarray(found[name], first.dtype) for name in ("fun", "jac", "hess_inv")),
        *(asarray(np.int32(found[name])) for name in ("nfev", "njev", "nit")),
    )


__getattr__ = closed(globals())
