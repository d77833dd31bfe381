"""Layer 8 · scipy: constraints on nested parameters, with their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.scipy.nesting import Nesting
from wengert.scipy.objective import Vector


def flat_constraints(
    constraints: Any, nesting: Nesting, optimize: Any, recorded: bool, second: bool
) -> Any:
    """Return constraints on the vector, with derivatives unless the user gave them.

    Parameters
    ----------
    constraints: One or a sequence of dicts, `NonlinearConstraint`, `LinearConstraint` or `Bounds`.
    optimize: The module `scipy.optimize`.
    recorded: Whether the method uses derivatives.
    second: Whether it uses second derivatives.
    """
    wiring = (nesting, optimize, recorded, second)
    if isinstance(constraints, list | tuple):
        return [
            _flat(constraint, f"constraints[{i}]", *wiring)
            for i, constraint in enumerate(constraints)
        ]
    return _flat(constraints, "constraints", *wiring)


def _flat(
    constraint: Any, name: str, nesting: Nesting, optimize: Any, recorded: bool, second: bool
) -> Any:
    if isinstance(constraint, dict):
        if second and constraint.get("type") in ("eq", "ineq") and "fun" in constraint:
            # SciPy would approximate its second derivatives
            high = 0.0 if constraint["type"] == "eq" else np.inf
            args = tuple(constraint.get("args", ()))
            theirs = constraint.get("jac")
            made = optimize.NonlinearConstraint(
                lambda x: constraint["fun"](x, *args),
                0.0,
                high,
                jac=(lambda x: theirs(x, *args)) if callable(theirs) else "2-point",
            )
            return _nonlinear(made, nesting, optimize, recorded, second, f"{name}['fun']")
        return _of_dict(constraint, nesting, recorded, name)
    if isinstance(constraint, optimize.NonlinearConstraint):
        return _nonlinear(constraint, nesting, optimize, recorded, second, f"{name}.fun")
    return constraint


def _of_dict(
    constraint: dict[str, Any], nesting: Nesting, recorded: bool, name: str
) -> dict[str, Any]:
    if "fun" not in constraint or "type" not in constraint:
        raise KeyError(f"{name} must have the keys 'type' ('eq' or 'ineq') and 'fun'")
    args = constraint.get("args", ())
    function = Vector(
        constraint["fun"], nesting, tuple(args), label=f"{name}['fun']", recorded=recorded
    )
    theirs = constraint.get("jac")
    if not recorded:
        return {"type": constraint["type"], "fun": function.value}
    if callable(theirs):
        jac: Any = lambda x: _rows(theirs(nesting.values(x), *args), nesting)  # noqa: E731
    else:
        jac = function.jacobian
    return {"type": constraint["type"], "fun": function.value, "jac": jac}


def _nonlinear(
    constraint: Any, nesting: Nesting, optimize: Any, recorded: bool, second: bool, name: str
) -> Any:
    function = Vector(constraint.fun, nesting, label=name, recorded=recorded)
    jac: Any = function.jacobian
    hess = constraint.hess
    # the default; SciPy warns that any other value is ignored
    if second and (hess is None or type(hess) is optimize.BFGS or isinstance(hess, str)):
        hess = function.hessian
    if not recorded:
        jac = "2-point"
    elif callable(constraint.jac):
        jac = lambda x: _rows(constraint.jac(nesting.values(x)), nesting)  # noqa: E731
    if callable(constraint.hess):
        hess = lambda x, v: constraint.hess(nesting.values(x), v)  # noqa: E731
    return optimize.NonlinearConstraint(
        function.value,
        constraint.lb,
        constraint.ub,
        jac=jac,
        hess=hess,
        keep_feasible=constraint.keep_feasible,
    )


def _rows(jacobian: Any, nesting: Nesting) -> Any:
    """Return a Jacobian of the user as an array with a column for each element."""
    return np.asarray(jacobian, np.float64).reshape(-1, nesting.size)
