"""Layer 8 · implicit: the solver decorators `root`, `fixed_point` and `argmin`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.autograd.elements import each, followed, in_batch, without_tangent
from wengert.autograd.local import leaf, products
from wengert.base.containers import aligned, flatten, paths
from wengert.base.dtypes import is_differentiable
from wengert.implicit.equation import Equation, tensors_of
from wengert.implicit.functions import ImplicitSolution
from wengert.implicit.linear import SOLVERS
from wengert.tape.base import new_tensor
from wengert.tape.inference import is_inference_mode_enabled
from wengert.tape.modes import enable_grad, is_recording, no_grad
from wengert.tape.sites import warn
from wengert.tensor.tensor import Tensor


def root(
    optimality_fun: Callable[..., Any],
    has_aux: bool = False,
    solve: Any = None,
    *,
    tol: float | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a solver of ``optimality_fun(z, *params) = 0`` differentiable; a decorator.

    The solver may be any function ``solver(init, *params, **options)``: one of SciPy's, a loop, a
    formula. Nothing in it is recorded. Derivatives of the solution with respect to the parameters,
    of any order, follow from the equation alone, by the implicit function theorem.

    Parameters
    ----------
    optimality_fun : callable. Takes the unknowns as the solver returns them, and the parameters,
        and returns as many numbers as there are unknowns, by recorded operations. Gradients also
        flow to tensors that it closes over.
    has_aux : bool. Whether the solver returns ``(solution, aux)``; `aux` comes back as it is.
    solve : {"dense", "cg", "bicgstab", "gmres"} or callable, optional. The solver of linear systems
        with the Jacobian with respect to the unknowns. "dense" forms the Jacobian as a matrix; the
        others are SciPy's and need only its products with vectors. A callable takes ``(matvec,
        b)``, a `LinearMap` and a vector, and returns a vector. Default: "dense" for up to 500
        unknowns, else "gmres".
    tol : float, optional. The tolerance for the residual, relative to the largest unknown or 1; a
        larger residual gives a warning. Default: the fourth root of the dtype's precision, 1e-4 for
        doubles.

    Returns
    -------
    callable: The decorator. The decorated solver gets tensors without history for `init` and the
        parameters, also inside lists, tuples and dicts. It may return a tensor, an array, a number,
        or containers of them, or a result of `scipy.optimize`, whose ``x`` or ``root`` is then the
        solution. All are returned as tensors, differentiable with respect to the parameters, but
        not to `init`.

    Raises
    ------
    ValueError: If the number of equations differs from the number of unknowns.
    LinAlgError: In the backward pass, if the Jacobian is singular.
    TypeError: If a tensor that requires a gradient is passed to the solver by name.

    Warns
    -----
    UserWarning: If the solution leaves a residual larger than `tol` allows.

    References
    ----------
    Blondel et al., "Efficient and modular implicit differentiation", NeurIPS 2022.

    Examples
    --------
    >>> @wg.implicit.root(lambda x, a: x * x - a)
    ... def square_root(init, a):
    ...     x = init
    ...     for _ in range(20):
    ...         x = (x + a / x) / 2
    ...     return x
    >>> a = wg.tensor(4.0, requires_grad=True)
    >>> square_root(wg.tensor(1.0), a).backward()
    >>> a.grad
    tensor(0.2500)
    """
    return _decorator(optimality_fun, optimality_fun, has_aux, solve, tol, "gmres")


def fixed_point(
    fixed_point_fun: Callable[..., Any],
    has_aux: bool = False,
    solve: Any = None,
    *,
    tol: float | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a solver of ``fixed_point_fun(z, *params) = z`` differentiable; a decorator.

    Parameters
    ----------
    fixed_point_fun : callable. Takes the unknowns as the solver returns them, and the parameters,
        and returns tensors in the structure of the unknowns.
    has_aux, solve, tol: As for `root`.

    Returns
    -------
    callable: The decorator; see `root`.

    Raises
    ------
    ValueError, LinAlgError, TypeError: As `root` does.

    Examples
    --------
    >>> @wg.implicit.fixed_point(lambda x, a: (a * x).cos())
    ... def solver(x, a):
    ...     for _ in range(100):
    ...         x = (a * x).cos()
    ...     return x
    >>> a = wg.tensor(1.0, requires_grad=True)
    >>> x = solver(wg.tensor(1.0), a)
    >>> x.backward()
    >>> x.detach(), a.grad
    (tensor(0.7391), tensor(-0.2975))
    """

    def distance(z: Any, *params: Any) -> Any:
        made = fixed_point_fun(z, *params)
        given = tensors_of(made, _name(fixed_point_fun))
        before, _ = flatten(z)
        after = aligned(made, z)
        if after is None or [t.shape for t in after] != [t.shape for t in before]:
            raise ValueError(
                f"{_name(fixed_point_fun)} must return tensors of the structure and shapes of the "
                f"unknowns, {[list(t.shape) for t in before]}, but gave "
                f"{[list(t.shape) for t in given]}"
            )
        return [new - old for new, old in zip(after, before, strict=True)]

    return _decorator(distance, fixed_point_fun, has_aux, solve, tol, "gmres")


def argmin(
    objective: Callable[..., Any],
    has_aux: bool = False,
    solve: Any = None,
    *,
    tol: float | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a minimiser of ``objective(z, *params)`` differentiable; a decorator.

    The equation is that the gradient of the objective with respect to the unknowns vanishes, so no
    bound or constraint may be active at the minimum.

    Parameters
    ----------
    objective : callable. Takes the unknowns as the solver returns them, and the parameters, and
        returns one real number, by operations that can be differentiated twice.
    has_aux, tol: As for `root`; the residual is the gradient of the objective.
    solve : {"dense", "cg", "bicgstab", "gmres"} or callable, optional. As for `root`. The Jacobian
        is the Hessian of the objective, which is symmetric; for many unknowns the default is "cg".

    Returns
    -------
    callable: The decorator; see `root`.

    Raises
    ------
    ValueError, LinAlgError, TypeError: As `root` does.

    Examples
    --------
    >>> @wg.implicit.argmin(lambda x, y, weight: ((x - y) ** 2).sum() + weight * (x * x).sum())
    ... def ridge(init, y, weight):
    ...     return y / (1 + weight)
    >>> weight = wg.tensor(1.0, requires_grad=True)
    >>> x = ridge(None, wg.tensor([1.0, 2.0]), weight)
    >>> wg.autograd.grad(x.sum(), weight)
    (tensor(-0.7500),)
    """
    name = _name(objective)

    def slope(z: Any, *params: Any) -> Any:
        before, _ = flatten(z)
        create_graph = is_recording()
        with enable_grad():
            # without recording around it, the unknowns are leaves of this graph alone
            unknowns = before if create_graph else [leaf(t) for t in before]
            value = objective(z if create_graph else flatten(z)[1](unknowns), *params)
            if not isinstance(value, Tensor) or value.numel() != 1 or value.is_complex():
                shown = (
                    f"a tensor of shape {list(value.shape)}, dtype {value.dtype}"
                    if isinstance(value, Tensor)
                    else type(value).__name__
                )
                raise ValueError(
                    f"{name} must return one real number in a tensor, but returned {shown}"
                )
            one = new_tensor(np.ones(value._payload.shape, value._payload.dtype))
            grads = products([value], unknowns, [one], create_graph)
        return [
            t.new_zeros(t.shape) if g is None else g for g, t in zip(grads, before, strict=True)
        ]

    return _decorator(slope, objective, has_aux, solve, tol, "cg", f"the gradient of {name}")


# -- shared parts --------------------------------------------------------------------------------


def _name(function: Any) -> str:
    return f"{getattr(function, '__name__', type(function).__name__)}()"


def _decorator(
    equation: Callable[..., Any],
    given: Any,
    has_aux: bool,
    solve: Any,
    tol: float | None,
    large: str,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    if not callable(given):
        raise TypeError(f"expected a function of the unknowns, but got {type(given).__name__}")
    if solve is not None and not callable(solve) and solve not in SOLVERS:
        raise ValueError(
            f"solve must be one of {', '.join(map(repr, SOLVERS))} or a callable (matvec, b) -> x, "
            f"but is {solve!r}"
        )

    def decorate(solver: Callable[..., Any]) -> Callable[..., Any]:
        def found(init: Any, params: Any, options: dict[str, Any]) -> tuple[Any, Any]:
            """Run the solver; return the solution and the rest of its result."""
            with no_grad():
                value = solver(_detached(init), *_detached(params), **options)
            aux = None
            if has_aux:
                if not isinstance(value, tuple) or len(value) != 2:
                    raise TypeError(
                        f"with has_aux=True, {_name(solver)} must return (solution, aux), but "
                        f"returned {type(value).__name__}"
                    )
                value, aux = value
            value, complaint = _unwrapped(value)
            arrays, rebuild = _solution(solver, value)
            made = Equation(
                equation, name or _name(given), arrays, rebuild, *flatten(params), solve, large
            )
            return rebuild(_recorded(made, solver, tol, complaint)), aux

        @functools.wraps(solver)
        def solved(init: Any, *params: Any, **options: Any) -> Any:
            _refuse_named(solver, options)
            leaves, rebuild = flatten((init, params))
            tensors = [item for item in leaves if isinstance(item, Tensor)]
            if not in_batch(tensors):
                result, aux = found(init, params, options)
                return (result, aux) if has_aux else result
            structures: list[Any] = []
            extras: list[Any] = []

            def one(parts: list[Any]) -> list[Any]:
                source = iter(parts)
                init, params = rebuild(
                    [next(source) if isinstance(i, Tensor) else i for i in leaves]
                )
                result, aux = found(init, params, options)
                made, structure = flatten(result)
                structures.append(structure)
                extras.append(aux)
                return made

            result = each(one, tensors)
            return (structures[0](result), extras) if has_aux else structures[0](result)

        return solved

    return decorate


def _recorded(equation: Equation, solver: Any, tol: float | None, complaint: str) -> list[Any]:
    """Return the solution as tensors with history, after checking its residual."""
    if is_inference_mode_enabled():
        return equation.start()
    if is_recording():
        results = equation.linearise()
        inputs = [*equation.parameters, *equation.closures]
        recorded = any(followed(t) for t in inputs)
    else:
        with no_grad():
            results = equation.residual(equation.start(), equation.parameters)
        recorded = False
    residual, limit = equation.excess(results, tol)
    if not residual <= limit:
        warn(
            f"what {_name(solver)} returned is not a solution: {equation.name} leaves a residual "
            f"of {residual:.2e} there, and at most {limit:.1e} was expected.{complaint} Values and "
            "gradients are wrong to about that degree. Let the solver go on for longer, or ask it "
            "for a smaller tolerance; if the residual is fine for your purpose, say so with tol=.",
        )
    if not recorded:
        return equation.start()
    equation.check_dependence()
    return list(ImplicitSolution.apply(equation, *inputs))


def _refuse_named(solver: Any, options: dict[str, Any]) -> None:
    for key, value in options.items():
        for path, item in zip(paths(value, key), flatten(value)[0], strict=True):
            if isinstance(item, Tensor) and followed(item) and is_recording():
                raise TypeError(
                    f"{_name(solver)} got the tensor {path} by name, and it requires a gradient. "
                    "Keyword arguments are options of the solver, which the equation does not "
                    "see: pass parameters as positional arguments, after the initial value."
                )


def _detached(value: Any) -> Any:
    """Return `value` with its tensors detached from their history."""
    leaves, rebuild = flatten(value)
    return rebuild([without_tangent(item) if isinstance(item, Tensor) else item for item in leaves])


def _solution(solver: Any, found: Any) -> tuple[list[Any], Any]:
    """Return copies of a solution's parts as arrays, and a function that rebuilds it."""
    leaves, rebuild = flatten(found)
    arrays = []
    for path, item in zip(paths(found, "the solution"), leaves, strict=True):
        array = item.detach()._array() if isinstance(item, Tensor) else np.asarray(item)
        if array.dtype.kind in "OSU" or not is_differentiable(array.dtype):
            raise TypeError(
                f"{_name(solver)} must return floating-point numbers, but {path} is "
                f"{array.dtype if array.dtype != object else type(item).__name__}"
            )
        # copied: the solver may go on using it, and an initial value may be returned as it is
        arrays.append(np.array(array))
    if not arrays:
        raise TypeError(f"{_name(solver)} returned nothing that could be a solution")
    return arrays, rebuild


def _unwrapped(found: Any) -> tuple[Any, str]:
    """Return the solution in a result of `scipy.optimize`, and SciPy's message on failure."""
    if type(found).__name__ not in ("OptimizeResult", "RootResults"):
        return found, ""
    # the residual decides whether it failed: solvers complain about tolerances, too
    good = found.get("success", found.get("converged", True))
    complaint = "" if good else f" SciPy says: {found.get('message', found.get('flag', ''))}."
    return found["root"] if "root" in found else found["x"], complaint
