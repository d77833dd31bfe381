"""Layer 9 · compat: solutions of equations, differentiated by the equations: of `jax.lax`.

NOTE [corrections of solutions]
Let x₀ solve f(x) = 0, found in whatever way, as a constant. A step of Newton's, x₁ = x₀ - J⁻¹f(x₀),
changes no value, since f(x₀) is zero; but its derivatives by what f uses are those of the solution
by the implicit function theorem. J⁻¹ is the user's solver, which is called and never differentiated
through: it is its own tangent, and its transpose is given. So it counts as a constant, and each
further step gives the derivatives of one order more; those of a higher order are refused. What the
value f(x₀) lacks of zero is taken out again, so that the values stay those that the solver found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.autograd.function import Function
from wengert.base.sections import fill_sections
from wengert.compat.jax.classes import is_traced
from wengert.compat.jax.forward import jvp
from wengert.compat.jax.lax_elementwise import ELEMENTWISE
from wengert.compat.jax.reverse import linear_transpose
from wengert.compat.jax.tracing import Leaves, Results, argument, conjugated
from wengert.compat.jax.trees import tree_flatten, tree_leaves, tree_map

_ORDERS = 3
_stop = ELEMENTWISE["stop_gradient"]


class _Ordered(Function):
    """Values whose derivatives are known up to an order."""

    generate_vmap_rule = True

    @staticmethod
    def forward(order: int, *values) -> Any:
        """Give the values."""
        return tuple(map(_stop, values))

    @staticmethod
    def setup_context(ctx, inputs: tuple[Any, ...], output) -> None:
        """Keep the order."""
        ctx.order = inputs[0]

    @staticmethod
    def backward(ctx, *cotangents) -> Any:
        """Give what is known up to an order less."""
        return None, *_lower(ctx.order, cotangents)

    @staticmethod
    def jvp(ctx, _, *tangents) -> Any:
        return _lower(ctx.order, tangents)


def _lower(order: int, values) -> Any:
    if not order:
        raise NotImplementedError(
            "custom_root and custom_linear_solve have derivatives up to the "
            f"{['first', 'second', 'third'][_ORDERS - 1]} order"
        )
    return _Ordered.apply(order - 1, *values)


class _Solver:
    """A linear function that solves, with its transpose; it is not differentiated through.

    Parameters
    ----------
    solve : callable. Takes and returns a pytree.
    transpose : callable. Takes an argument as an example, and returns the transposed solver.
    """

    def __init__(self, solve: Callable[[Any], Any], transpose: Callable[[Any], _Solver]) -> None:
        self.solve = solve
        self.transpose = transpose

    def __call__(self, value) -> Any:
        leaves, results = Leaves((value,)), Results()
        return results.give(_Solved.apply(self, leaves, results, *leaves.tensors))


class _Solved(Function):
    """What a `_Solver` gives."""

    generate_vmap_rule = True

    @staticmethod
    def forward(solver: _Solver, leaves: Leaves, results: Results, *tensors) -> Any:
        """Call the solver."""
        (value,) = leaves.with_tensors(tensors)
        return tuple(results.take(_stop(solver.solve(value)), "Output")[0])

    @staticmethod
    def setup_context(ctx, inputs: tuple[Any, ...], output) -> None:
        """Keep the solver."""
        ctx.solver, ctx.leaves, ctx.results, *_ = inputs

    @staticmethod
    def backward(ctx, *cotangents) -> Any:
        """Solve the transposed equation."""
        (example,) = ctx.leaves.structure.unflatten(ctx.leaves.arrays)
        given = ctx.results.derivatives([conjugated(g) for g in cotangents], lambda _: None)
        found = ctx.solver.transpose(example)(given)
        return None, None, None, *map(conjugated, tree_flatten(found)[0])

    @staticmethod
    def jvp(ctx, solver, leaves, results, *tangents) -> Any:
        (given,) = ctx.leaves.with_tensors(tangents)
        return tuple(tree_flatten(ctx.solver(given))[0])


def _corrected(x, equation: Callable[[Any], Any], inverse: Callable[[Any], Any]) -> Any:
    """A solution with its derivatives; ``inverse(x)`` gives the solver of the linear equation."""
    x = _stop(tree_map(argument, x))
    for _ in range(_ORDERS):
        residual = equation(x)
        if not any(map(is_traced, tree_leaves(residual))):
            return x
        step = inverse(x)(residual)
        x = tree_map(lambda value, change: value - (change - _stop(change)), x, step)
    results = Results()
    outputs, others = results.take(x, "Output")
    return results.give(_Ordered.apply(_ORDERS, *outputs), others)


def custom_root(
    f: Callable[..., Any],
    initial_guess,
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

    def inverse(x) -> _Solver:
        slope = lambda y: jvp(f, (x,), (y,))[1]  # noqa: E731
        return _by_itself(lambda y: tangent_solve(slope, y))

    x = _corrected(x, f, inverse)
    return (x, _stop(aux)) if has_aux else x


def _by_itself(solve: Callable[[Any], Any]) -> _Solver:
    """A solver whose transpose is found by differentiating it."""
    return _Solver(solve, lambda like: _by_itself(lambda y: linear_transpose(solve, like)(y)[0]))


def custom_linear_solve(
    matvec: Callable[..., Any],
    b,
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
        equation, for reverse mode; it may be left out for forward mode, and if `symmetric`.
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

    def plain(y) -> Any:
        found = solve(matvec, y)
        return found[0] if has_aux else found

    def transposed(like) -> _Solver:
        if symmetric:
            return inverse
        if transpose_solve is None:
            raise TypeError(
                "transpose_solve required for backwards mode automatic differentiation of "
                "custom_linear_solve"
            )
        solver, pull = transpose_solve, linear_transpose(matvec, x)

        def solved(y) -> Any:
            found = solver(lambda v: pull(v)[0], y)
            return found[0] if has_aux else found

        return _Solver(solved, lambda _: inverse)

    inverse = _Solver(plain, transposed)
    x = _corrected(
        x, lambda x: tree_map(lambda value, y: value - y, matvec(x), right), lambda _: inverse
    )
    return (x, _stop(aux)) if has_aux else x


SOLVERS: dict[str, Callable[..., Any]] = {
    "custom_linear_solve": custom_linear_solve,
    "custom_root": custom_root,
}

fill_sections(globals())
