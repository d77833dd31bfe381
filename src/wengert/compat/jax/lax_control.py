"""Layer 9 · compat: control flow of `jax.lax`, run as Python control flow.

Only the taken branch is called, loops stop when their condition fails, and everything is
differentiable, in reverse mode too. Under `vmap`, if a condition differs among the elements of the
batch, all branches are computed and selected from, and loops run until every element is done.
"""

from __future__ import annotations

import contextlib
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.autograd.function import Function
from wengert.compat.jax.array import asarray, convert, made
from wengert.compat.jax.batching import vmap
from wengert.compat.jax.classes import is_traced
from wengert.compat.jax.effects import Once, taken
from wengert.compat.jax.lax_elementwise import stop_gradient as _stop
from wengert.compat.jax.reverse import jvp, transposed_at_zero
from wengert.compat.jax.tracing import (
    Leaves,
    Results,
    argument,
    conjugated,
    result_of,
    short,
    staged,
)
from wengert.compat.jax.trees import (
    PyTreeDef,
    differences,
    leaves_with_paths,
    tree_flatten,
    tree_leaves,
    tree_map,
)
from wengert.compat.jax.values import differs
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import functions_of
from wengert.tape.modes import decisions_taken
from wengert.tape.record import T


def _arrays(tree) -> Any:
    """Return a tree with its leaves as arrays."""
    return tree_map(argument, tree)


def _outputs(tree, fun, what: str) -> Any:
    return tree_map(lambda value: result_of(value, fun, what), tree)


def _chosen(which, on_true, on_false) -> Any:
    """Select one of two trees by a 0-d array, element by element."""
    a, structure = tree_flatten(on_true)
    b, other = tree_flatten(on_false)
    if structure != other:
        _, *both, why = next(differences(on_true, on_false))
        raise refusal(TypeError, "cond branch outputs must", *both, why)
    for types in ((short(x), short(y)) for x, y in zip(a, b, strict=True)):
        if types[0] != types[1]:
            raise refusal(TypeError, "cond branches must have equal", *types)
    return structure.unflatten(_selected(which, a, b))


def _selected(which, a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """Select among pairs; where both are one array, it stays outside of the batch of `which`."""
    return [x if x is y else jnp.where(which, x, y) for x, y in zip(a, b, strict=True)]


def _choice(value, what: str, expected: str) -> Any:
    """Return the predicate of `cond` or the index of `switch` as a 0-d array."""

    def wrong(of: str) -> TypeError:
        # written only if it is raised: to print a value costs, and a compiled function cannot
        return TypeError(f"{what} must be {'a ' * (what == 'Pred')}scalar, got {value} of {of}")

    try:
        array = argument(value)
    except TypeError:
        if isinstance(value, Sequence) and (what == "Pred" or not isinstance(value, str)):
            of = f"type {type(value)}" if what == "Pred" else f"shape {np.shape(value)}."
            raise wrong(of) from None
        kind = what.removeprefix("Branch ").capitalize()
        raise TypeError(f"{kind} type must be {expected}, got {value}.") from None
    if array._payload.ndim:
        raise wrong(f"shape {tuple(array._payload.shape)}.")
    return array


def cond(pred, true_fun, false_fun, *operands, **more) -> Any:
    """Return the result of one of two functions, chosen by a condition; only that one is called.

    Parameters
    ----------
    pred : bool or Array. The condition, a scalar.
    true_fun, false_fun : callable. Take the operands.
    *operands: Pytrees.

    Examples
    --------
    >>> jax.lax.cond(True, lambda x: x + 1, lambda x: x - 1, 1.0)
    Array(2., dtype=float32, weak_type=True)
    """
    given: tuple[Any, ...] = operands
    if "operand" in more:
        given = (more.pop("operand"),)
    more.pop("linear", None)
    if more:
        raise TypeError(f"cond got an unexpected keyword argument {min(more)!r}")
    if not callable(true_fun) and callable(false_fun) and len(given) == 2 and callable(given[1]):
        # the old form, with an operand for each branch
        true_arg, true_fun, (false_arg, false_fun) = true_fun, false_fun, given
        return cond(pred, lambda _: true_fun(true_arg), lambda _: false_fun(false_arg), None)
    for fun in (true_fun, false_fun):
        if not callable(fun):
            raise TypeError(f"lax.cond: true_fun and false_fun arguments should be callable: {fun}")
    if pred is None:
        raise TypeError("cond predicate is None")
    which = _choice(pred, "Pred", "either boolean or number")
    arrays = _arrays(given)
    if differs(which._payload):
        yes = _outputs(true_fun(*arrays), true_fun, "cond")
        no = _outputs(false_fun(*arrays), false_fun, "cond")
        return _chosen(which != 0, yes, no)
    at = 0 if which else 1
    branches = (true_fun, false_fun)
    return _outputs(taken(branches, at, arrays), branches[at], "cond")


def switch(index, branches: Sequence[Callable[..., Any]], *operands, **more) -> Any:
    """Return the result of one of several functions, chosen by an index that is clamped to bounds.

    Examples
    --------
    >>> jax.lax.switch(1, [lambda x: x, lambda x: 2 * x], 3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    given = (more["operand"],) if "operand" in more else operands
    if not branches:
        raise ValueError("Empty branch sequence")
    if not all(callable(branch) for branch in branches):
        raise TypeError("lax.switch: branches argument should be a sequence of callables.")
    which = _choice(index, "Branch index", "an integer")
    if which._payload.dtype.kind not in "iu":
        raise TypeError(f"Index type must be an integer, got {which._payload.dtype.name}.")
    arrays = _arrays(given)
    if differs(which._payload):
        results = [_outputs(branch(*arrays), branch, "switch") for branch in branches]
        chosen = results[-1]
        for number in range(len(branches) - 2, -1, -1):
            chosen = _chosen(which <= number, results[number], chosen)
        return chosen
    at = max(0, min(int(which), len(branches) - 1))
    return _outputs(taken(branches, at, arrays), branches[at], "switch")


# -- loops -----------------------------------------------------------------------------------------


class _Carry:
    """The loop carry, as a structure and leaves; dtypes and shapes must not change.

    A weakly typed leaf may change its dtype in the first iteration, as in JAX's trace.
    """

    def __init__(self, value, what: str, fun: Callable[..., Any], place: int = 0) -> None:
        self.leaves, self.structure = tree_flatten(_arrays(value))
        self.what, self.name = what, "carry"
        with contextlib.suppress(TypeError, ValueError, IndexError):
            self.name = list(inspect.signature(fun).parameters)[place]
        self.strong = [not leaf.weak_type for leaf in self.leaves]

    @property
    def value(self) -> Any:
        """The tree of values."""
        return self.structure.unflatten(self.leaves)

    def taken(self, value) -> list[Any]:
        """Return the leaves of the next value, checked."""
        leaves, structure = tree_flatten(_arrays(value))
        if structure != self.structure:
            remedy = "the carry output has the same pytree structure as the carry input"
            wrong = [
                f"{'component ' * bool(path)}{self.name}{path} is a {old} but the corresponding "
                f"component of the carry output is a {new}, so {why}"
                for path, old, new, why in differences(self.value, value)
            ]
            raise TypeError(self._refused("the same pytree structure", wrong, remedy))
        made_ = []
        wrong = []
        for i, (old, new) in enumerate(zip(self.leaves, leaves, strict=True)):
            same = old._payload.dtype == new._payload.dtype
            grows = not self.strong[i] and jnp.result_type(old, new) == new._payload.dtype
            apart = ["dtypes"] * (not (same or grows))
            apart += ["shapes"] * (old._payload.shape != new._payload.shape)
            if apart:
                why = ", and ".join(f"the {what} do not match" for what in apart)
                path, _ = leaves_with_paths(self.value, None, False)[0][i]
                steps = "".join([str(step) for step in path])
                name = f"{'component ' * bool(path)}{self.name}{steps}"
                wrong.append(
                    f"{name} has type {short(old)} but the corresponding output carry component "
                    f"has type {short(new)}, so {why}"
                )
                continue
            if self.strong[i]:
                new = made(convert(new, old._payload.dtype))
            elif not same:
                new = made(new)
            self.strong[i] = self.strong[i] or not new.weak_type
            made_.append(new)
        if wrong:
            remedy = "all output types match the corresponding input types"
            raise TypeError(self._refused("equal types", wrong, remedy))
        return made_

    def _refused(self, what: str, wrong: list[str], remedy: str) -> str:
        start, sep = ("The", "") if len(wrong) == 1 else ("  * the", ";\n")
        listed = sep.join(f"{start} input carry {text}" for text in wrong)
        return (
            f"{self.what} function carry input and carry output must have {what}, but they differ:"
            f"\n\n{listed}.\n\nRevise the function so that {remedy}."
        )


def _holds(cond_fun: Callable[..., Any], value) -> Any:
    """Return whether the loop continues."""
    leaves, structure = tree_flatten(cond_fun(value))
    array = argument(leaves[0], "Output") if structure == _LEAF else None
    if array is None or array._payload.ndim or array._payload.dtype.kind != "b":
        got = f"pytree {structure}" if array is None else f"output type(s) [{array.aval}]"
        raise TypeError(f"cond_fun must return a boolean scalar, but got {got}.")
    return array


_LEAF = tree_flatten(0)[1]


def while_loop(cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val) -> Any:
    """Apply a function to a value repeatedly while a condition holds, and return the last value.

    Parameters
    ----------
    cond_fun : callable. Takes the value, and returns whether to continue.
    body_fun : callable. Takes the value, and returns the next one, of the same structure, shapes
        and dtypes.
    init_val: The first value: a pytree.

    Returns
    -------
    pytree: The last value. Unlike in JAX, it is differentiable in reverse mode, too.

    Examples
    --------
    >>> jax.lax.while_loop(lambda x: x < 10, lambda x: 2 * x, 1)
    Array(16, dtype=int32, weak_type=True)
    """
    for fun in (cond_fun, body_fun):
        if not callable(fun):
            raise TypeError("lax.while_loop: body_fun and cond_fun arguments should be callable.")
    carry = _Carry(init_val, "while_loop body", body_fun)
    cond_fun, body_fun = Once(cond_fun), Once(body_fun)
    going = _holds(cond_fun, carry.value)
    while bool(going._payload.any()):
        new = carry.taken(body_fun(carry.value))
        if differs(going._payload):
            new = _selected(going, new, carry.leaves)
        carry.leaves = new
        still = _holds(cond_fun, carry.value)
        going = going & still if differs(going._payload) else still
    return carry.value


def fori_loop(lower, upper, body_fun: Callable[..., Any], init_val, *, unroll=None) -> Any:
    """Apply a function to a value for each index from `lower` up to `upper`, exclusive.

    Parameters
    ----------
    lower, upper : int. The bounds of the index; `upper` is exclusive.
    body_fun : callable. Takes the index and the value, and returns the next value.
    init_val: The first value: a pytree.

    Examples
    --------
    >>> jax.lax.fori_loop(0, 4, lambda i, total: total + i, 0)
    Array(6, dtype=int32, weak_type=True)
    """
    if not callable(body_fun):
        raise TypeError("lax.fori_loop: body_fun argument should be callable.")
    first, last = argument(lower), argument(upper)
    for bound in (first, last):
        if bound._payload.ndim or bound._payload.dtype.kind not in "iuf":
            shown = bound.aval.str_short()
            raise refusal(TypeError, "lower and upper arguments to fori_loop must be", shown)
    kinds = [bound.dtype.name for bound in (first, last) if not bound.weak_type]
    if len(set(kinds)) > 1:
        raise refusal(TypeError, "lower and upper arguments to fori_loop must have", *kinds)

    def looped(*state) -> Any:
        step = lambda state: (state[0] + 1, body_fun(*state))  # noqa: E731
        return while_loop(lambda state: state[0] < last, step, state)[1]

    fractions = "f" in (first.dtype.kind, last.dtype.kind)
    if fractions or differs(first._payload) or differs(last._payload):
        return looped(first, init_val)
    carry, decisions = _Carry(init_val, "scan body", body_fun, 1), decisions_taken()
    body_fun = Once(body_fun)
    for i in range(int(first), int(last)):
        number = made(convert(asarray(i), first.dtype), True)
        if i == int(first) + 1 and int(last) - i > _LONG and _is_simple(carry.leaves, decisions):
            return looped(number, carry.value)
        carry.leaves = carry.taken(body_fun(number, carry.value))
    return carry.value


_LONG = 200
"""Loops with more iterations are not unrolled in a trace."""


def _is_simple(leaves: Sequence[Any], decisions: int | None) -> bool:
    """Return whether a loop is worth tracing: its first iteration made no decision.

    If gradients are recorded it is not: the history differs after each iteration.
    """
    same = decisions is not None and decisions == decisions_taken()
    return same and all(leaf._edge is None for leaf in leaves)


def scan(
    f: Callable[..., Any],
    init,
    xs=None,
    length: int | None = None,
    reverse: bool = False,
    unroll=1,
    _split_transpose: bool = False,
) -> Any:
    """Loop over the first axis of arrays, carrying a value and collecting results.

    Parameters
    ----------
    f : callable. Takes the carry and an element, and returns the next carry and a result.
    init: The initial carry: a pytree.
    xs: A pytree of arrays, to loop over the first axis of; or None, if `length` is given.
    reverse : bool. Whether to loop from the last element to the first; results keep their
        positions.

    Returns
    -------
    carry: The last carry.
    ys: The results, stacked along the first axis.

    Examples
    --------
    >>> jax.lax.scan(lambda c, x: (c + x, c * x), 0.0, jax.numpy.arange(4.0))
    (Array(6., dtype=float32), Array([0., 0., 2., 9.], dtype=float32))
    """
    if not callable(f):
        raise TypeError("lax.scan: f argument should be a callable.")
    if unroll < 0:
        raise ValueError("`unroll` must be a `bool` or a nonnegative `int`.")
    leaves, structure = tree_flatten(_arrays(xs))
    count = _length(leaves, length)
    rows = [list(T.unbind(leaf, dim=0)) if count else [] for leaf in leaves]
    for leaf, row in zip(leaves, rows, strict=True):
        for part in row:
            made(part, leaf.weak_type)
    carry = _Carry(init, "scan body", f)
    f = Once(f)
    collected: list[Any] = [None] * count
    for i in range(count)[::-1] if reverse else range(count):
        value, collected[i] = _pair(f(carry.value, structure.unflatten([row[i] for row in rows])))
        carry.leaves = carry.taken(value)
    if not count:
        return carry.value, _nothing(f, carry.value, leaves, structure)
    return carry.value, stacked(collected)


def _length(leaves: list[Any], length: int | None) -> int:
    for leaf in leaves:
        if not leaf._payload.ndim:
            raise refusal(ValueError, "scan got value with no", leaf.aval.str_short())
    sizes = [int(leaf._payload.shape[0]) for leaf in leaves]
    if length is not None:
        count = operator.index(length)
        if any(size != count for size in sizes):
            raise refusal(ValueError, "scan got `length` argument", count, sizes)
        return count
    if not sizes:
        raise ValueError("scan got no values to scan over and `length` not provided.")
    if len(set(sizes)) > 1:
        shown = ", ".join([str(size) for size in dict.fromkeys(sizes)])
        raise refusal(ValueError, "scan got values with", shown)
    return sizes[0]


def _pair(made_) -> Any:
    if not isinstance(made_, list | tuple) or len(made_) != 2:
        types = tree_map(lambda leaf: short(argument(leaf)), made_)
        raise refusal(TypeError, "scan body output must be", types)
    return made_


def _nothing(f: Callable[..., Any], carry, leaves: list[Any], structure: PyTreeDef) -> Any:
    """Return the results of zero iterations: empty, with the shapes and dtypes of one iteration."""
    zeros = [asarray(np.zeros(leaf.shape[1:], leaf.dtype)) for leaf in leaves]
    _, result = _pair(f(carry, structure.unflatten(zeros)))
    return tree_map(lambda y: jnp.zeros((0, *argument(y).shape), argument(y).dtype), result)


def stacked(results: list[Any]) -> Any:
    """Stack trees of one structure along a new first axis of their leaves."""
    first, structure = tree_flatten(results[0])
    columns: list[list[Any]] = [[leaf] for leaf in first]
    for result in results[1:]:
        leaves, other = tree_flatten(result)
        if other != structure:
            raise refusal(TypeError, "the results of all rounds", structure, other)
        for column, leaf in zip(columns, leaves, strict=True):
            column.append(leaf)
    made_ = []
    for column in columns:
        arrays = [argument(leaf) for leaf in column]
        # the first round is the one that JAX traces
        made_.append(made(asarray(arrays), arrays[0].weak_type))
    return structure.unflatten(made_)


def map(f: Callable[..., Any], xs, *, batch_size: int | None = None) -> Any:
    """Apply a function to each element along the first axis, one at a time, and stack the results.

    Parameters
    ----------
    f : callable. Takes an element of `xs`.
    xs: A pytree of arrays.
    batch_size : int, optional. The number of elements to compute at once, by `vmap`.

    Examples
    --------
    >>> jax.lax.map(lambda x: x**2, jax.numpy.arange(3))
    Array([0, 1, 4], dtype=int32)
    """
    if batch_size is None or batch_size <= 0:
        called = Once(f)
        return scan(lambda _, x: (None, called(x)), None, xs)[1]
    leaves, structure = tree_flatten(_arrays(xs))
    count = _length(leaves, None)
    parts = [
        vmap(f)(structure.unflatten([leaf[i : i + batch_size] for leaf in leaves]))
        for i in range(0, count, batch_size)
    ]
    return tree_map(lambda *rows: jnp.concatenate(rows), *parts)


NAMES = {name: staged(function) for name, function in functions_of(globals(), "stacked").items()}


# -- implicit differentiation of solutions ---------------------------------------------------------

# NOTE [corrections of solutions]
# Let x₀ be a solution of f(x) = 0, computed in any way and constant to derivatives. A Newton step,
# x₁ = x₀ - J⁻¹f(x₀), does not change its value, since f(x₀) is zero; but the derivatives of x₁ with
# respect to the inputs of f are those of the solution, by the implicit function theorem. J⁻¹ is the
# user's solver, which is called and never differentiated through: it is linear, so it is its own
# tangent, and its transpose is given. It counts as constant in those inputs, so each further step
# adds the derivatives of one more order; derivatives of higher orders are refused. The residual
# f(x₀), which is only nearly zero, is subtracted again, so that the values remain those that the
# solver found.

_ORDERS = 3


class _Ordered(Function):
    """A Function whose values have derivatives up to a known order."""

    generate_vmap_rule = True

    @staticmethod
    def forward(order: int, *values) -> Any:
        """Return the values."""
        return tuple([_stop(value) for value in values])

    @staticmethod
    def setup_context(ctx, inputs: tuple[Any, ...], output) -> None:
        """Keep the order."""
        ctx.order = inputs[0]

    @staticmethod
    def backward(ctx, *cotangents) -> Any:
        """Return the derivatives known to one order less."""
        return None, *_lower(ctx.order, cotangents)

    @staticmethod
    def jvp(ctx, _, *tangents) -> Any:
        return _lower(ctx.order, tangents)


def _lower(order: int, values) -> Any:
    if not order:
        raise refusal(NotImplementedError, "custom_root and custom_linear_solve")
    return _Ordered.apply(order - 1, *values)


class _Solver:
    """A linear solve with its transpose; the solver itself is not differentiated.

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
    """Apply a `_Solver`, with its derivative."""

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
        return None, None, None, *[conjugated(x) for x in tree_flatten(found)[0]]

    @staticmethod
    def jvp(ctx, solver, leaves, results, *tangents) -> Any:
        (given,) = ctx.leaves.with_tensors(tangents)
        return tuple(tree_flatten(ctx.solver(given))[0])


def _corrected(x, equation: Callable[[Any], Any], inverse: Callable[[Any], Any]) -> Any:
    """Return a solution with its derivatives; ``inverse(x)`` returns the linear solver at x."""
    x = _stop(tree_map(argument, x))
    for _ in range(_ORDERS):
        residual = equation(x)
        if not any(is_traced(leaf) for leaf in tree_leaves(residual)):
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
    """Find a root of a function with a solver, differentiable by the implicit function theorem.

    Parameters
    ----------
    f : callable. Takes a pytree like `initial_guess` and returns one. The root is differentiable in
        the values that `f` closes over.
    initial_guess: The start of the search.
    solve : callable. ``solve(f, initial_guess)`` returns the root; it need not be differentiable.
    tangent_solve : callable. ``tangent_solve(g, y)`` solves the linear equation ``g(x) = y``.
    has_aux : bool. Whether `solve` returns a pair of the root and auxiliary data.

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
    """Return a solver whose transpose is found by differentiation."""
    return _Solver(
        solve, lambda like: _by_itself(lambda y: transposed_at_zero(solve, (like,))(y)[0])
    )


def custom_linear_solve(
    matvec: Callable[..., Any],
    b,
    solve: Callable[..., Any],
    transpose_solve: Callable[..., Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """Solve a linear equation with a given solver, differentiable implicitly.

    Parameters
    ----------
    matvec : callable. The linear function. The solution is differentiable in the values it closes
        over.
    b: The right side: a pytree.
    solve : callable. ``solve(matvec, b)`` returns the solution; it need not be differentiable.
    transpose_solve : callable, optional. ``transpose_solve(vecmat, x)`` solves the transposed
        equation, for reverse mode; not needed for forward mode, or if `symmetric`.
    symmetric : bool. Whether the linear function is its own transpose.
    has_aux : bool. Whether `solve` returns a pair of the solution and auxiliary data.

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
    alone = operator.itemgetter(0) if has_aux else lambda found: found

    def transposed(like) -> _Solver:
        if symmetric:
            return inverse
        if transpose_solve is None:
            raise refusal(TypeError, "transpose_solve required")
        solver, pull = transpose_solve, transposed_at_zero(matvec, (x,))
        solved = lambda y: alone(solver(lambda v: pull(v)[0], y))  # noqa: E731
        return _Solver(solved, lambda _: inverse)

    inverse = _Solver(lambda y: alone(solve(matvec, y)), transposed)
    x = _corrected(
        x, lambda x: tree_map(lambda value, y: value - y, matvec(x), right), lambda _: inverse
    )
    return (x, _stop(aux)) if has_aux else x


NAMES |= {"custom_linear_solve": custom_linear_solve, "custom_root": custom_root}
