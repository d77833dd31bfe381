"""Layer 8 · scipy: `least_squares` and `curve_fit`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wengert.base.extras import scipy_module
from wengert.scipy.bounds import flat_limits
from wengert.scipy.minimise import nested_result, refused_derivative, started
from wengert.scipy.nesting import Nesting
from wengert.scipy.objective import Vector


def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    jac: Any = None,
    bounds: Any = (-np.inf, np.inf),
    method: str = "trf",
    *,
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    x_scale: Any = None,
    callback: Callable[..., Any] | None = None,
    **options: Any,
) -> Any:
    """Minimise a sum of squares by `scipy.optimize.least_squares`, with the Jacobian.

    Parameters
    ----------
    fun : callable. ``fun(x, *args, **kwargs)`` computes the residuals: it gets float64 tensors in
        the nesting of `x0`, and returns a tensor of any shape, or tensors in a list, tuple or dict.
    %(start)s
    jac : callable, {"rows", "columns", "sparse"}, optional. Your own Jacobian, called with `x` as
        nested NumPy arrays, and the other arguments; or how to compute ours: by default, rows or
        columns, whichever are fewer. ``"sparse"`` finds its pattern and colours it at `x0` (see
        `wengert.sparse`), for problems with many parameters.
    bounds : pair, or scipy.optimize.Bounds. Lower and upper bounds, each a number, or nested like
        `x0`; parts that are None, or missing in a dict, are unbounded.
    method, ftol, xtol, gtol, loss, f_scale, tr_solver, tr_options, max_nfev, verbose: As in SciPy.
    x_scale : {"jac"}, number, or nested like `x0`. As in SciPy.
    args, kwargs: Further arguments of `fun`.
    callback : callable, optional. ``callback(intermediate_result)`` or ``callback(x)``, in versions
        of SciPy that have it.

    Returns
    -------
    %(solution)s

    Examples
    --------
    >>> from wengert.scipy import least_squares
    >>> t = np.linspace(0, 1, 20)
    >>> y = 2.5 * np.exp(-1.3 * t)
    >>> def residuals(p):
    ...     return p["amplitude"] * np.exp(-p["rate"] * t) - y
    >>> res = least_squares(residuals, {"amplitude": 1.0, "rate": 0.0})
    >>> print({name: round(value, 6) for name, value in res.x.items()})
    {'amplitude': 2.5, 'rate': 1.3}
    """
    optimize, nesting, args = started("least_squares", x0, args, callback, options)
    function = Vector(fun, nesting, args, kwargs)
    jacobian: Callable[[Any], Any] = function.jacobian
    if callable(jac):
        more = dict(kwargs or {})

        def jacobian(x: Any) -> Any:
            return jac(nesting.values(x), *args, **more)

    elif jac == "sparse":
        jacobian = function.sparse_jacobian
    elif jac in ("rows", "columns"):
        function.mode = jac
    elif jac is not None:
        raise ValueError(refused_derivative("jac", jac, "least_squares"))
    if x_scale is not None:
        scaled = isinstance(x_scale, str)
        options["x_scale"] = x_scale if scaled else nesting.spread(x_scale, 1.0, "x_scale")
    found = optimize.least_squares(
        function.value,
        nesting.vector,
        jac=jacobian,
        bounds=flat_limits(bounds, nesting, optimize.Bounds),
        method=method,
        **options,
    )
    return nested_result(found, nesting)


def curve_fit(
    f: Callable[..., Any],
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    check_finite: bool | None = None,
    bounds: Any = (-np.inf, np.inf),
    method: str | None = None,
    jac: Any = None,
    *,
    full_output: bool = False,
    nan_policy: str | None = None,
    **kwargs: Any,
) -> Any:
    """Fit a function to data by `scipy.optimize.curve_fit`, with the Jacobian.

    Parameters
    ----------
    f : callable. ``f(xdata, a, b, ...)`` takes 0-d float64 tensors; with a nested `p0`, ``f(xdata,
        p)``. The result has the shape of `ydata`.
    p0 : sequence of numbers, or dict, list or tuple of arrays, nested, optional. The initial guess;
        default: 1 for each parameter of `f`.
    bounds : pair, or scipy.optimize.Bounds. Lower and upper bounds, each one number, or one for
        each parameter, nested like `p0`.
    jac : callable, {"rows", "columns"}, optional. Your own Jacobian, as in SciPy; or how to compute
        ours: by default, rows or columns, whichever are fewer.
    xdata, ydata, sigma, absolute_sigma, check_finite, method, full_output, nan_policy, **kwargs: As
        in SciPy.

    Returns
    -------
    popt : ndarray, or nested like p0. The parameters.
    pcov : ndarray. Their covariance, in flat order.
    infodict, mesg, ier: With `full_output`, as in SciPy.

    Raises
    ------
    RuntimeError: If no fit is found, or if the result of `f` has no graph that leads to the
        parameters.
    %(error_scipy)s

    Examples
    --------
    >>> from wengert.scipy import curve_fit
    >>> x = np.linspace(0, 4, 50)
    >>> y = 2.5 * np.exp(-1.3 * x) + 0.5
    >>> popt, pcov = curve_fit(lambda x, a, b, c: a * np.exp(-b * x) + c, x, y)
    >>> print(popt.round(6))
    [2.5 1.3 0.5]
    """
    optimize = scipy_module("optimize", "wengert.scipy.curve_fit")
    nested = p0 is not None and (isinstance(p0, dict) or np.ndim(_first_of(p0)) > 0)
    model = _Model(f, Nesting(p0, "p0") if nested else None)
    if isinstance(jac, str) and jac in ("rows", "columns"):
        model.mode = jac
    elif jac is not None and not callable(jac):
        raise ValueError(refused_derivative("jac", jac, "curve_fit"))
    if model.nesting is not None:
        p0 = model.nesting.vector
        bounds = flat_limits(bounds, model.nesting, optimize.Bounds)
    found = optimize.curve_fit(
        model.wrapped(),
        xdata,
        ydata,
        p0,
        sigma,
        absolute_sigma,
        check_finite,
        bounds,
        method,
        jac if callable(jac) else model.jacobian,
        full_output=full_output,
        nan_policy=nan_policy,
        **kwargs,
    )
    if model.nesting is None:
        return found
    return (model.nesting.values(found[0]), *found[1:])


def _first_of(p0: Any) -> Any:
    """Return a value with dimensions if `p0` is more than a sequence of numbers."""
    if isinstance(p0, list | tuple):
        return next((item for item in p0 if isinstance(item, dict) or np.ndim(item)), 0.0)
    return np.zeros(()) if np.ndim(p0) < 2 else p0


class _Model:
    """The function of `curve_fit`, which SciPy calls with the data and numbers."""

    def __init__(self, f: Callable[..., Any], nesting: Nesting | None) -> None:
        self.f = f
        self.nesting = nesting
        self.mode: str | None = None
        self._vector: Vector | None = None

    def wrapped(self) -> Callable[..., Any]:
        """Return the function for SciPy, which counts the parameters of `f` by its signature."""

        @functools.wraps(self.f)
        def value(x: Any, *params: Any) -> Any:
            return self._at(x, params).value(np.array(params, np.float64))

        return value

    def jacobian(self, x: Any, *params: Any) -> Any:
        """Return the Jacobian of the values with respect to the parameters."""
        return self._at(x, params).jacobian(np.array(params, np.float64))

    def _at(self, x: Any, params: tuple[Any, ...]) -> Vector:
        vector = self._vector
        if vector is None:
            f, nesting = self.f, self.nesting
            if nesting is None:
                nesting = Nesting(np.array(params, np.float64), "p")

                def fun(p: Any, x: Any) -> Any:
                    return f(x, *p)
            else:

                def fun(p: Any, x: Any) -> Any:
                    return f(x, p)

            vector = self._vector = Vector(fun, nesting, label="f")
            vector.mode = self.mode
        vector.args = (x,)
        return vector
