"""Layer 9 · compat: solutions of equations, differentiated by the equations: of `jax.lax`.

NOTE [corrections of solutions]
Let x₀ solve f(x) = 0, found in whatever way, as a constant. A step of Newton's, x₁ = x₀ - J⁻¹f(x₀),
changes no value, since f(x₀) is zero; but its derivatives by what f uses are those of the solution
by the implicit function theorem. Each further step doubles the order up to which they are right:
two steps give all up to the third. What the value f(x₀) lacks of zero is taken out again, so that
the values stay those that the solver found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.jax.array import is_traced
from wengert.compat.jax.custom import custom_vjp
from wengert.compat.jax.forward import jvp
from wengert.compat.jax.lax_elementwise import ELEMENTWISE
from wengert.compat.jax.reverse import linear_transpose
from wengert.compat.jax.tracing import argument
from wengert.compat.jax.trees import tree_leaves, tree_map

__all__ = ["SOLVERS"]

_STEPS = 2
_stop = ELEMENTWISE["stop_gradient"]


def _corrected(x: Any, step: Any) -> Any:
    """`x` less a step whose value counts as zero."""
    return tree_map(lambda value, change: value - (change - _stop(change)), x, step)


def custom_root(
    f: Callable[..., Any],
    initial_guess: Any,
    solve: Callable[..., Any],
    tangent_solve: Callable[..., Any],
    has_aux: bool = False,
) -> Any:
    """The root of a function, found by a solver, with the derivative of the root.

    Parameters
    ----------
    f : callable. Takes a pytree like `initial_guess` and returns one; what it uses from outside may
        be differentiated by.
    initial_guess: Where to begin.
    solve : callable. ``solve(f, initial_guess)`` returns the root; it need not be differentiable.
    tangent_solve : callable. ``tangent_solve(g, y)`` solves the linear equation ``g(x) = y``.
    has_aux : bool. Whether `solve` returns a pair of the root and of anything else.

    Examples
    --------
    >>> def root(a):
    ...     newton = lambda f, x: jax.lax.fori_loop(0, 9, lambda i, x: (x + a / x) / 2, x)
    ...     return jax.lax.custom_root(lambda x: x**2 - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> root(4.0), jax.grad(root)(4.0)
    (Array(2., dtype=float32, weak_type=True), Array(0.25, dtype=float32, weak_type=True))
    """
    found = solve(f, tree_map(argument, initial_guess))
    x, aux = found if has_aux else (found, None)
    x, aux = _stop(tree_map(argument, x)), _stop(aux)
    for _ in range(_STEPS):
        residual = f(x)
        if not any(map(is_traced, tree_leaves(residual))):
            break
        x = _corrected(x, tangent_solve(_slope(f, x), residual))
    return (x, aux) if has_aux else x


def _slope(f: Callable[..., Any], x: Any) -> Callable[[Any], Any]:
    return lambda y: jvp(f, (x,), (y,))[1]


def custom_linear_solve(
    matvec: Callable[..., Any],
    b: Any,
    solve: Callable[..., Any],
    transpose_solve: Callable[..., Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The solution of a linear equation, found by a solver, with its derivative.

    Parameters
    ----------
    matvec : callable. The linear function; what it uses from outside may be differentiated by.
    b: The right side: a pytree.
    solve : callable. ``solve(matvec, b)`` returns the solution; it need not be differentiable.
    transpose_solve : callable, optional. ``transpose_solve(vecmat, x)`` solves the transposed
        equation, for reverse mode. Without it, and unless `symmetric`, `solve` itself is
        differentiated.
    symmetric : bool. Whether the linear function is its own transpose.
    has_aux : bool. Whether `solve` returns a pair of the solution and of anything else.

    Examples
    --------
    >>> def third(b):
    ...     solve = lambda matvec, b: b / matvec(1.0)
    ...     return jax.lax.custom_linear_solve(lambda x: 3 * x, b, solve, symmetric=True)
    >>> third(6.0), jax.grad(third)(6.0)
    (Array(2., dtype=float32, weak_type=True), Array(0.33333334, dtype=float32, weak_type=True))
    """
    right = tree_map(argument, b)
    found = solve(matvec, _stop(right))
    x, aux = found if has_aux else (found, None)
    x, aux = _stop(tree_map(argument, x)), _stop(aux)
    inverse = _inverse(matvec, solve, transpose_solve, symmetric, has_aux)
    for _ in range(_STEPS):
        residual = tree_map(lambda value, target: value - target, matvec(x), right)
        if not any(map(is_traced, tree_leaves(residual))):
            break
        x = _corrected(x, inverse(residual))
    return (x, aux) if has_aux else x


def _inverse(
    matvec: Callable[..., Any],
    solve: Callable[..., Any],
    transpose_solve: Callable[..., Any] | None,
    symmetric: bool,
    has_aux: bool,
) -> Callable[[Any], Any]:
    """The inverse of a linear function, as a function with a rule."""

    def plain(y: Any) -> Any:
        found = solve(matvec, y)
        return found[0] if has_aux else found

    if symmetric:
        return _ruled(plain, lambda shape: plain)
    if transpose_solve is None:
        return plain

    def transposed(like: Any) -> Callable[[Any], Any]:
        pull = linear_transpose(matvec, like)
        solver = transpose_solve
        assert solver is not None
        found = lambda y: solver(lambda v: pull(v)[0], y)  # noqa: E731
        return (lambda y: found(y)[0]) if has_aux else found

    return _ruled(plain, transposed)


def _ruled(
    plain: Callable[[Any], Any], transposed: Callable[[Any], Callable[[Any], Any]]
) -> Callable[[Any], Any]:
    @custom_vjp
    def inverse(y: Any) -> Any:
        return plain(y)

    def forward(y: Any) -> Any:
        solution = plain(y)
        return solution, solution

    def backward(solution: Any, cotangent: Any) -> Any:
        return (transposed(solution)(cotangent),)

    inverse.defvjp(forward, backward)
    return inverse


SOLVERS: dict[str, Callable[..., Any]] = {
    "custom_linear_solve": custom_linear_solve,
    "custom_root": custom_root,
}

fill_sections(globals())
