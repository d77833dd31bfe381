"""Layer 8 · scipy: `root` and `root_scalar`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wengert.base.extras import scipy_module
from wengert.scipy.minimise import nested_result, refused_derivative, started
from wengert.scipy.nesting import Nesting
from wengert.scipy.objective import Scalar, Vector


def root(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    jac: Any = None,
    tol: float | None = None,
    callback: Callable[..., Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Solve ``fun(x) = 0`` by `scipy.optimize.root`, with the Jacobian.

    Parameters
    ----------
    fun : callable. ``fun(x, *args)`` gets float64 tensors in the nesting of `x0`, and returns the
        same number of elements: a tensor, or tensors in a list, tuple or dict.
    %(start)s
    args : tuple. Further arguments of `fun`.
    method : str. As in SciPy; ``"hybr"`` and ``"lm"`` use the Jacobian.
    jac : callable, {"rows", "columns"}, optional. Your own Jacobian, called with `x` as nested
        NumPy arrays, and `args`; or how to compute ours: by default, rows.
    tol, options : optional. As in SciPy.
    callback : callable, optional. ``callback(x, f)``, for the methods that call it, with `x`
        nested.

    Returns
    -------
    %(solution)s

    Examples
    --------
    >>> from wengert.scipy import root
    >>> def equations(x):
    ...     return [x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1, 0.5 * (x[1] - x[0]) ** 3 + x[1]]
    >>> sol = root(equations, [0.0, 0.0])
    >>> print(sol.x.round(6), sol.njev)
    [0.841164 0.158836] 1
    """
    given: dict[str, Any] = {"method": method, "tol": tol, "options": options}
    optimize, nesting, args = started("root", x0, args, callback, given)
    wired = str(method).lower() in ("hybr", "lm")
    function = Vector(fun, nesting, args, recorded=wired)
    if wired:
        given["jac"] = function.jacobian
        if callable(jac):
            given["jac"] = lambda x: np.asarray(jac(nesting.values(x), *args)).reshape(
                -1, nesting.size
            )
        elif jac in ("rows", "columns"):
            function.mode = jac
        elif jac is not None and jac is not True:
            raise ValueError(refused_derivative("jac", jac, "root"))
    return nested_result(optimize.root(function.value, nesting.vector, **given), nesting)


def root_scalar(
    f: Callable[..., Any],
    args: Any = (),
    method: str | None = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: float | None = None,
    x1: float | None = None,
    xtol: float | None = None,
    rtol: float | None = None,
    maxiter: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Find a root of a function of one number by `scipy.optimize.root_scalar`, with derivatives.

    Newton's method gets the first derivative, Halley's also the second; with only `x0` given,
    Newton's is used. The other methods need only values.

    Parameters
    ----------
    f : callable. ``f(x, *args)`` takes a 0-d float64 tensor and returns one number.
    args, method, bracket, x0, x1, xtol, rtol, maxiter, options: As in SciPy.
    fprime, fprime2 : callable, optional. Your own derivatives, as in SciPy.

    Returns
    -------
    scipy.optimize.RootResults: SciPy's result.

    Examples
    --------
    >>> from wengert.scipy import root_scalar
    >>> sol = root_scalar(lambda x: x**3 - 2, x0=1.0)
    >>> print(round(sol.root, 10), sol.method)
    1.2599210499 newton
    >>> root_scalar(lambda x: x.cos() - x, x0=1.0, method="halley").converged
    True
    """
    optimize = scipy_module("optimize", "wengert.scipy.root_scalar")
    if not isinstance(args, tuple):
        args = (args,)
    chosen = method
    if chosen is None and bracket is None and x1 is None and x0 is not None:
        chosen = "halley" if fprime2 is not None else "newton"
    order = {"newton": 1, "halley": 2}.get(str(chosen).lower(), 0)
    own = callable(fprime) and (order < 2 or callable(fprime2))
    function = Scalar(f, Nesting(0.0, "x", at_least_1d=False), (), label="f")

    def value(x: float, *more: Any) -> float:
        function.args = more
        return function.value(np.array([x]))

    def derivatives(x: float, *more: Any) -> tuple[float, ...]:
        function.args = more
        return _derivatives(function, x, order)

    given: dict[str, Any] = {}
    if order and not own:
        given["fprime"] = True
        if order == 2:
            given["fprime2"] = True
    elif order:
        given["fprime"], given["fprime2"] = fprime, fprime2 if order == 2 else None
    return optimize.root_scalar(
        derivatives if order and not own else value,
        args=args,
        method=chosen,
        bracket=bracket,
        x0=x0,
        x1=x1,
        xtol=xtol,
        rtol=rtol,
        maxiter=maxiter,
        options=options,
        **given,
    )


def _derivatives(function: Scalar, x: float, order: int) -> tuple[float, ...]:
    """Return the value and the first or both derivatives at `x`."""
    function.keep = order == 2
    value, gradient = function.value_and_gradient(np.array([x]))
    if order == 1:
        return value, float(gradient[0])
    return value, float(gradient[0]), float(function.hessp(np.array([x]), np.ones(1))[0])
