"""Layer 8 · scipy: `minimize` and `minimize_scalar`, with the derivatives that a method uses."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.base.extras import scipy_module
from wengert.scipy.bounds import flat_bounds
from wengert.scipy.constraints import flat_constraints
from wengert.scipy.nesting import Nesting
from wengert.scipy.objective import Scalar
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.modes import no_grad

_NO_GRADIENT = frozenset({"nelder-mead", "powell", "cobyla", "cobyqa"})
_PRODUCTS = frozenset({"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"})
_HESSIAN = frozenset({"trust-exact", "dogleg"})
_NUMERIC = ("2-point", "3-point", "cs")


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[..., Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Minimise a function of nested parameters by `scipy.optimize.minimize`, with derivatives.

    Each method gets the derivatives that it uses: BFGS, CG, L-BFGS-B, TNC and SLSQP the gradient;
    Newton-CG, trust-ncg, trust-krylov and trust-constr the gradient and products with the Hessian;
    trust-exact and dogleg the Hessian; Nelder-Mead, Powell, COBYLA and COBYQA values only. `fun` is
    called once for each point, and nothing is differentiated numerically.

    Parameters
    ----------
    fun : callable. ``fun(x, *args)``, the function to minimise, returns one number. It gets float64
        tensors in the nesting of `x0`, and computes with operations of wengert or NumPy.
    %(start)s
    args : tuple. Further arguments of `fun`.
    method : str or callable, optional. As in SciPy.
    jac, hess, hessp : callable, optional. Your own derivatives instead of ours, called with `x` as
        nested NumPy arrays, and `args` (`hessp` gets a vector before them). `hess` may also be a
        `scipy.optimize.HessianUpdateStrategy`, or ``"sparse"``: ours, computed in few passes as a
        sparse array (see `wengert.sparse`), which trust-constr accepts.
    bounds : optional. As in SciPy, for all elements in order; or nested like `x0`, with a pair
        ``(low, high)`` for each array, of numbers, arrays or None; keys missing in a dict are
        unbounded.
    constraints : dict, constraint, or list of these. As in SciPy; the functions get the arguments
        of `fun`, may return arrays of any shape, and are differentiated, too. A LinearConstraint
        applies to the flat vector.
    tol, options : optional. As in SciPy.
    callback : callable, optional. ``callback(intermediate_result)``, or ``callback(x)``, as in
        SciPy, with `x` nested; StopIteration ends the search.

    Returns
    -------
    scipy.optimize.OptimizeResult: With ``x`` in the nesting and the kinds of `x0`, and ``x_flat``,
        SciPy's vector; the other attributes are SciPy's, and flat.

    Raises
    ------
    RuntimeError: If the result of `fun` has no graph that leads to the parameters.
    FloatingPointError: If `fun` is not finite at `x0`, or its gradient is not finite where `fun`
        is; the message names the parameter.
    ValueError: If `fun` does not return one number, or SciPy refuses an argument.
    %(error_scipy)s

    Examples
    --------
    >>> from wengert.scipy import minimize
    >>> def rosenbrock(x):
    ...     return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    >>> res = minimize(rosenbrock, np.array([1.3, 0.7, 0.8, 1.9, 1.2]), method="BFGS")
    >>> print(res.x.round(4), res.nfev == res.njev)
    [1. 1. 1. 1. 1.] True
    >>> start = {"centre": np.zeros(2), "scale": 3.0}
    >>> def f(p):
    ...     return ((p["centre"] - np.array([1.0, 2.0])) ** 2).sum() + (p["scale"] - 1) ** 2
    >>> res = minimize(f, start, method="trust-exact")
    >>> print(res.x["centre"].round(6), round(res.x["scale"], 6))
    [1. 2.] 1.0
    """
    given = {"method": method, "tol": tol, "options": options}
    optimize, nesting, args = started("minimize", x0, args, callback, given)
    objective = Scalar(fun, nesting, args)
    kind = method.lower() if isinstance(method, str) else method
    if bounds is not None:
        given["bounds"] = flat_bounds(bounds, nesting, optimize.Bounds)
    if not _is_empty(constraints):
        given["constraints"] = flat_constraints(
            constraints, nesting, optimize, kind not in _NO_GRADIENT, kind == "trust-constr"
        )
    if kind in _NO_GRADIENT:
        found = optimize.minimize(objective.value, nesting.vector, **given)
        return nested_result(found, nesting)
    _wire_hessian(given, kind, objective, hess, hessp, optimize)
    if jac is None or jac is True:
        given["jac"] = True
        function: Callable[..., Any] = objective.value_and_gradient
    elif callable(jac):
        given["jac"] = lambda x: nesting.flatten(jac(nesting.values(x), *args), "jac(x)")
        function = objective.value
    else:
        raise ValueError(refused_derivative("jac", jac, "minimize"))
    return nested_result(optimize.minimize(function, nesting.vector, **given), nesting)


def _wire_hessian(
    given: dict[str, Any], kind: Any, objective: Scalar, hess: Any, hessp: Any, optimize: Any
) -> None:
    nesting, args = objective.nesting, objective.args
    if callable(hessp):
        given["hessp"] = lambda x, p: nesting.flatten(
            hessp(nesting.values(x), p, *args), "hessp(x, p)"
        )
    elif callable(hess):
        given["hess"] = lambda x: hess(nesting.values(x), *args)
    elif isinstance(hess, str) and hess == "sparse":
        objective.keep = True
        given["hess"] = objective.sparse_hessian
    elif isinstance(hess, optimize.HessianUpdateStrategy):
        given["hess"] = hess
    elif hess is not None:
        raise ValueError(refused_derivative("hess", hess, "minimize"))
    elif kind in _PRODUCTS:
        objective.keep = True
        given["hessp"] = objective.hessp
    elif kind in _HESSIAN:
        objective.keep = True
        given["hess"] = objective.hessian
    elif callable(kind):
        objective.keep = True
        given["hess"] = objective.hessian
        given["hessp"] = objective.hessp


def refused_derivative(name: str, value: Any, function: str) -> str:
    """Return the error message for a derivative that is neither an option nor a function."""
    why = (
        "finite differences are SciPy's own: call scipy.optimize." + function
        if value is False or value in _NUMERIC
        else f"got {value!r}"
    )
    return (
        f"{name} must be None, since derivatives are computed here, or a function of yours: {why}"
    )


def _is_empty(constraints: Any) -> bool:
    return constraints is None or (
        isinstance(constraints, Sequence) and not isinstance(constraints, str) and not constraints
    )


def started(
    name: str, x0: Any, args: Any, callback: Any, given: dict[str, Any]
) -> tuple[Any, Nesting, tuple[Any, ...]]:
    """Return SciPy's module, the nesting of `x0`, and `args`; put the callback into `given`."""
    optimize, nesting = scipy_module("optimize", f"wengert.scipy.{name}"), Nesting(x0)
    if callback is not None:
        given["callback"] = nested_callback(callback, nesting)
    return optimize, nesting, args if isinstance(args, tuple) else (args,)


def nested_result(result: Any, nesting: Nesting) -> Any:
    """Return SciPy's result with the parameters nested."""
    result.x_flat = np.array(result.x, np.float64)
    result.x = nesting.values(result.x_flat)
    return result


def nested_callback(callback: Callable[..., Any], nesting: Nesting) -> Callable[..., Any]:
    """Wrap `callback` for SciPy, which chooses its argument by the parameter's name."""
    if set(inspect.signature(callback).parameters) == {"intermediate_result"}:

        def nested(intermediate_result: Any) -> Any:
            if not hasattr(intermediate_result, "x"):
                # some methods pass only the vector
                return callback(nesting.values(intermediate_result))
            shown = type(intermediate_result)(intermediate_result)
            return callback(intermediate_result=nested_result(shown, nesting))

        return nested

    def nested_x(xk: Any, *rest: Any) -> Any:
        return callback(nesting.values(xk), *rest)

    return nested_x


class Callables(NamedTuple):
    """A function and its derivatives, for solvers other than SciPy's: see `callables`."""

    fun: Callable[[Any], float]
    jac: Callable[[Any], Any]
    value_and_grad: Callable[[Any], tuple[float, Any]]
    hess: Callable[[Any], Any]
    hessp: Callable[[Any, Any], Any]
    x0: Any
    unflatten: Callable[[Any], Any]


def callables(fun: Callable[..., Any], x0: Any, args: Any = ()) -> Callables:
    """Turn a function of nested parameters into functions of a vector: value, gradient, Hessian.

    For solvers that take separate functions (cyipopt, iminuit, NLopt, ...). `fun` is still called
    only once for each point.

    Parameters
    ----------
    fun, x0, args: As for `minimize`.

    Returns
    -------
    Callables: A named tuple: ``fun(x)`` returns a Python number, ``jac(x)`` the gradient,
        ``value_and_grad(x)`` both, ``hess(x)`` the Hessian, ``hessp(x, p)`` its product with a
        vector, each a new array of float64; ``x0`` is the first vector, ``unflatten(x)`` nests one.

    Examples
    --------
    >>> from wengert.scipy import callables
    >>> f = callables(lambda p: p["a"] ** 2 * p["b"], {"a": 3.0, "b": 2.0})
    >>> f.x0, f.fun(f.x0), f.jac(f.x0), f.unflatten(f.x0)
    (array([3., 2.]), 18.0, array([12.,  9.]), {'a': 3.0, 'b': 2.0})
    >>> f.hess(f.x0)
    array([[4., 6.],
           [6., 0.]])
    """
    nesting = Nesting(x0)
    args = args if isinstance(args, tuple) else (args,)
    first, objective = Scalar(fun, nesting, args), Scalar(fun, nesting, args)
    # separate calls need the last points, with their recorded values
    objective.keep = True
    return Callables(
        fun=lambda x: objective.value_and_gradient(x)[0],
        jac=lambda x: objective.value_and_gradient(x)[1],
        value_and_grad=first.value_and_gradient,
        hess=objective.hessian,
        hessp=objective.hessp,
        x0=nesting.vector.copy(),
        unflatten=nesting.values,
    )


def minimize_scalar(
    fun: Callable[..., Any],
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Minimise a function of one number by `scipy.optimize.minimize_scalar`.

    The methods need no derivatives. `fun` gets a 0-d tensor, so the same function works in solvers
    that differentiate it.

    Parameters
    ----------
    fun : callable. ``fun(x, *args)`` takes a 0-d float64 tensor and returns one number.
    bracket, bounds, args, method, tol, options: As in SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult: SciPy's result.

    Examples
    --------
    >>> from wengert.scipy import minimize_scalar
    >>> res = minimize_scalar(lambda x: (x - 2).cosh(), bounds=(0, 5), method="bounded")
    >>> round(float(res.x), 4)
    2.0
    """
    optimize = scipy_module("optimize", "wengert.scipy.minimize_scalar")

    def value(x: Any, *more: Any) -> float:
        with no_grad():
            result = fun(new_tensor(np.asarray(x, np.float64), LEAF), *more)
        return float(result._payload if isinstance(result, TensorBase) else result)

    return optimize.minimize_scalar(
        value, bracket=bracket, bounds=bounds, args=args, method=method, tol=tol, options=options
    )
