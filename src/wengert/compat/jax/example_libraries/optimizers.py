"""Layer 9 · compat: optimisers as triples of functions, as in ``jax.example_libraries.optimizers``.

Each returns ``init_fun(params) -> state``, ``update_fun(step, grads, state) -> state`` and
``get_params(state) -> params``, on nested containers.

>>> from wengert.compat.jax.example_libraries import optimizers
>>> init, update, get_params = optimizers.sgd(0.1)
>>> get_params(update(0, jnp.ones(1), init(jnp.zeros(1))))
Array([-0.1], dtype=float32)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.trees import register, tree_flatten, tree_leaves, tree_map
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined

Schedule = Callable[[Any], Any]


class OptimizerState(NamedTuple):
    """The states of all parameters: their leaves, and the containers that hold them."""

    packed_state: Any
    tree_def: Any
    subtree_defs: Any


register(
    OptimizerState,
    lambda state: ((state.packed_state,), (state.tree_def, state.subtree_defs)),
    lambda kept, parts: OptimizerState(parts[0], *kept),
)


def _packed(states: list[Any], tree) -> OptimizerState:
    parts = [tree_flatten(state) for state in states]
    return OptimizerState(
        tuple([tuple(leaves) for leaves, _ in parts]), tree, tuple([t for _, t in parts])
    )


def _unpacked(opt_state: OptimizerState) -> list[Any]:
    pairs = zip(opt_state.subtree_defs, opt_state.packed_state, strict=True)
    return [subtree.unflatten(leaves) for subtree, leaves in pairs]


class Optimizer(NamedTuple):
    """The functions of an optimiser."""

    init_fn: Callable[[Any], OptimizerState]
    update_fn: Callable[[Any, Any, OptimizerState], OptimizerState]
    params_fn: Callable[[OptimizerState], Any]


def optimizer(opt_maker: Callable[..., Any]) -> Callable[..., Optimizer]:
    """Make an optimizer of arrays work on nested containers of arrays.

    Parameters
    ----------
    opt_maker : callable. Returns ``init(x0)``, ``update(step, grad, state)`` and
        ``get_params(state)``, on arrays.
    """

    @functools.wraps(opt_maker)
    def tree_opt_maker(*args, **kwargs) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        def tree_init(x0_tree) -> OptimizerState:
            leaves, tree = tree_flatten(x0_tree)
            return _packed([init(x) for x in leaves], tree)

        def tree_update(i, grad_tree, opt_state: OptimizerState) -> OptimizerState:
            grads, tree = tree_flatten(grad_tree)
            if tree != opt_state.tree_def:
                raise refusal(TypeError, "optimizer update function was", opt_state.tree_def, tree)
            pairs = zip(grads, _unpacked(opt_state), strict=True)
            new = _packed([update(i, g, state) for g, state in pairs], tree)
            for now, before in zip(new.subtree_defs, opt_state.subtree_defs, strict=True):
                if now != before:
                    raise refusal(TypeError, "optimizer update function produced", before, now)
            return new

        def tree_get_params(opt_state: OptimizerState) -> Any:
            return opt_state.tree_def.unflatten(map(get_params, _unpacked(opt_state)))

        return Optimizer(tree_init, tree_update, tree_get_params)

    return tree_opt_maker


# -- optimisers ------------------------------------------------------------------------------------


def _of_arrays(step_size, count: int, update: Callable[..., Any]) -> Any:
    """Build an optimizer of an array with `count` state arrays of its shape, initially zero.

    ``update(i, step, g, x, *kept)`` returns the new array and the new state arrays.
    """
    step_of = make_schedule(step_size)

    def init(x0) -> Any:
        return (jnp.asarray(x0), *[jnp.zeros_like(x0) for _ in range(count)])

    def updated(i, g, state) -> Any:
        return update(i, step_of(i), g, *state)

    return init, updated, lambda state: state[0]


@optimizer
def sgd(step_size) -> Any:
    """Build gradient descent; `step_size` is a number or a function of the step number."""
    step_of = make_schedule(step_size)
    return jnp.asarray, lambda i, g, x: x - step_of(i) * g, lambda x: x


def _by_velocity(step_size, mass, ahead: bool) -> Any:
    def update(i, step, g, x, velocity) -> Any:
        velocity = mass * velocity + g
        return x - step * (mass * velocity + g if ahead else velocity), velocity

    return _of_arrays(step_size, 1, update)


@optimizer
def momentum(step_size: Schedule, mass) -> Any:
    """Build gradient descent with momentum."""
    return _by_velocity(step_size, mass, False)


@optimizer
def nesterov(step_size: Schedule, mass) -> Any:
    """Build momentum SGD with Nesterov's lookahead."""
    return _by_velocity(step_size, mass, True)


def _over_root(g, squares) -> Any:
    """Divide a gradient by the square root of a sum of squares, with 0 where the sum is 0."""
    there = squares > 0
    return jnp.where(there, g / jnp.sqrt(jnp.where(there, squares, 1)), 0.0)


@optimizer
def adagrad(step_size, momentum=0.9) -> Any:
    """Build AdaGrad: steps divided by the root of the sum of squared gradients."""

    def update(i, step, g, x, squares, moving) -> Any:
        squares = squares + jnp.square(g)
        moving = (1.0 - momentum) * _over_root(g, squares) + momentum * moving
        return x - step * moving, squares, moving

    return _of_arrays(step_size, 2, update)


@optimizer
def rmsprop(step_size, gamma=0.9, eps=1e-8) -> Any:
    """Build RMSProp: steps divided by the root of a running mean of squared gradients."""

    def update(i, step, g, x, squares) -> Any:
        squares = squares * gamma + jnp.square(g) * (1.0 - gamma)
        return x - step * g / jnp.sqrt(squares + eps), squares

    return _of_arrays(step_size, 1, update)


@optimizer
def rmsprop_momentum(step_size, gamma=0.9, eps=1e-8, momentum=0.9) -> Any:
    """Build RMSProp with momentum."""

    def update(i, step, g, x, squares, moving) -> Any:
        squares = squares * gamma + jnp.square(g) * (1.0 - gamma)
        moving = momentum * moving + step * g / jnp.sqrt(squares + eps)
        return x - moving, squares, moving

    return _of_arrays(step_size, 2, update)


@optimizer
def adam(step_size, b1=0.9, b2=0.999, eps=1e-8) -> Any:
    """Build Adam: running means of gradients and of their squares."""

    def update(i, step, g, x, m, v) -> Any:
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * jnp.square(g) + b2 * v
        mean = m / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))
        spread = v / (1 - jnp.asarray(b2, m.dtype) ** (i + 1))
        return x - step * mean / (jnp.sqrt(spread) + eps), m, v

    return _of_arrays(step_size, 2, update)


@optimizer
def adamax(step_size, b1=0.9, b2=0.999, eps=1e-8) -> Any:
    """Build Adamax: Adam with the infinity norm of the gradients."""

    def update(i, step, g, x, m, u) -> Any:
        m = (1 - b1) * g + b1 * m
        u = jnp.maximum(b2 * u, jnp.abs(g))
        return x - step / (1 - jnp.asarray(b1, m.dtype) ** (i + 1)) * m / (u + eps), m, u

    return _of_arrays(step_size, 2, update)


@optimizer
def sm3(step_size, momentum=0.9) -> Any:
    """Build SM3: steps divided by the root of bounds on squared gradients, per row and column."""

    def of_row(i: int, ndim: int) -> Any:
        return tuple(slice(None) if j == i else None for j in range(ndim))

    def update(i, step, g, x, m, rows) -> Any:
        bounds = [row[of_row(j, x.ndim)] for j, row in enumerate(rows)]
        squares = functools.reduce(jnp.minimum, bounds) + jnp.square(g)
        m = (1.0 - momentum) * _over_root(g, squares) + momentum * m
        others = [tuple(k for k in range(x.ndim) if k != j) for j in range(x.ndim)]
        return x - step * m, m, [squares.max(axes) for axes in others]

    start, updated, get_params = _of_arrays(step_size, 1, update)
    lines = lambda x: [jnp.zeros(n, x.dtype) for n in x.shape]  # noqa: E731
    return lambda x0: (*start(x0), lines(jnp.asarray(x0))), updated, get_params


# -- schedules -------------------------------------------------------------------------------------


def constant(step_size) -> Schedule:
    """Build a schedule of constant step size."""
    return lambda i: step_size


def exponential_decay(step_size, decay_steps, decay_rate) -> Schedule:
    """Build a schedule that shrinks by a factor every `decay_steps`."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(step_size, decay_steps, decay_rate, staircase: bool = False) -> Schedule:
    """Build a schedule that shrinks as 1 / (1 + rate * i / steps)."""
    whole = jnp.floor if staircase else jnp.asarray
    return lambda i: step_size / (1 + decay_rate * whole(i / decay_steps))


def polynomial_decay(step_size, decay_steps, final_step_size, power=1.0) -> Schedule:
    """Build a schedule that decays to a final step size with a power of the time left."""
    span = step_size - final_step_size
    left = lambda i: 1 - jnp.minimum(i, decay_steps) / decay_steps  # noqa: E731
    return lambda i: left(i) ** power * span + final_step_size


def piecewise_constant(boundaries, values) -> Schedule:
    """Build a schedule of step sizes that change at given steps."""
    ends, sizes = jnp.array(boundaries), jnp.array(values)
    if not ends.ndim == sizes.ndim == 1:
        raise ValueError("boundaries and values must be sequences")
    if ends.shape[0] != sizes.shape[0] - 1:
        raise ValueError("boundaries length must be one shorter than values length")
    return lambda i: sizes[jnp.sum(i > ends)]


def make_schedule(scalar_or_schedule) -> Schedule:
    """Return a number as a schedule; return a schedule unchanged."""
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if not jnp.ndim(scalar_or_schedule):
        return constant(scalar_or_schedule)
    raise TypeError(type(scalar_or_schedule))


# -- gradients -------------------------------------------------------------------------------------


def l2_norm(tree) -> Any:
    """Return the Euclidean norm of all arrays in a container together."""
    return jnp.sqrt(sum(jnp.vdot(x, x) for x in tree_leaves(tree)))


def clip_grads(grad_tree, max_norm) -> Any:
    """Scale gradients together so that their norm is at most `max_norm`."""
    length = l2_norm(grad_tree)
    return tree_map(lambda g: jnp.where(length < max_norm, g, g * (max_norm / length)), grad_tree)


class JoinPoint:
    """The state of one parameter as a leaf (see `unpack_optimizer_state`)."""

    def __init__(self, subtree) -> None:
        self.subtree = subtree

    def __iter__(self) -> Any:
        yield self.subtree


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """Unpack a state into a container like the parameters', with a `JoinPoint` for each."""
    return opt_state.tree_def.unflatten(map(JoinPoint, _unpacked(opt_state)))


def pack_optimizer_state(marked_pytree) -> OptimizerState:
    """Pack the result of `unpack_optimizer_state` again."""
    points, tree = tree_flatten(marked_pytree)
    if not all(isinstance(point, JoinPoint) for point in points):
        raise TypeError("pack_optimizer_state takes what unpack_optimizer_state gave")
    return _packed([point.subtree for point in points], tree)


__all__ = defined(globals())
