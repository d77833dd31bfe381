"""Jitted functions: what a hot call takes, of the JAX idiom beside JAX itself.

The programs are written in JAX's public names, and are run by both libraries from the very same
code. Each is called until it has been compiled, the results are compared, and then both take turns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from _measure import OURS, Row, arguments, chosen, clock, measure, optional, ratio, report, rows

# isort: split
import numpy as np

from wengert.compat import jax as ours

ENOUGH = 2e-3
"""Seconds that a round of one contestant takes at least."""
CALLS = 6
"""How often a function is called before it is measured, and its results are compared."""

Call = Callable[[], Any]


class Case(NamedTuple):
    """A jitted function, and what it is called with."""

    function: Callable[..., Any]
    args: tuple[Any, ...]


def numbers(*shape: int, seed: int = 0, scale: float = 1.0) -> Any:
    draw = np.random.default_rng((seed, *shape)).standard_normal
    return (scale * draw(shape)).astype(np.float32)


# -- functions -------------------------------------------------------------------------------------


def rosenbrock(jnp: Any, x: Any) -> Any:
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def bumps(jnp: Any, x: Any) -> Any:
    return jnp.sum(jnp.sin(x[1:] * x[:-1]) * jnp.exp(-(x[:-1] ** 2))) + jnp.prod(jnp.cos(x))


def layers(*sizes: int) -> dict[str, dict[str, Any]]:
    """The parameters of a perceptron, in dictionaries."""
    made = {}
    for k, (inputs, outputs) in enumerate(pairwise(sizes)):
        weight = numbers(inputs, outputs, seed=k, scale=inputs**-0.5)
        made[f"dense{k}"] = {"w": weight, "b": np.zeros(outputs, np.float32)}
    return made


def perceptron(jnp: Any, params: Any, x: Any) -> Any:
    *inner, last = (params[name] for name in sorted(params))
    for layer in inner:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]


def squared_error(jnp: Any, params: Any, x: Any, y: Any) -> Any:
    return jnp.mean((perceptron(jnp, params, x) - y) ** 2)


# -- cases -----------------------------------------------------------------------------------------


def scalar_gradient(jax: Any) -> Case:
    return Case(jax.grad(lambda x: jax.numpy.tanh(x) * x**2), (jax.numpy.float32(0.5),))


def rosenbrock_gradient(jax: Any, size: int) -> Case:
    f = partial(rosenbrock, jax.numpy)
    return Case(jax.grad(f), (jax.numpy.asarray(numbers(size)),))


def rosenbrock_hessian(jax: Any, size: int) -> Case:
    f = partial(rosenbrock, jax.numpy)
    return Case(jax.hessian(f), (jax.numpy.asarray(numbers(size)),))


def forward_jacobian(jax: Any, size: int) -> Case:
    f = jax.grad(partial(bumps, jax.numpy))
    return Case(jax.jacfwd(f), (jax.numpy.asarray(numbers(size)),))


def many_gradients(jax: Any, size: int) -> Case:
    f = jax.vmap(jax.grad(partial(bumps, jax.numpy)))
    return Case(f, (jax.numpy.asarray(numbers(size, 10)),))


def per_example_gradients(jax: Any) -> Case:
    f = jax.vmap(jax.grad(partial(squared_error, jax.numpy)), in_axes=(None, 0, 0))
    data = (numbers(32, 8), numbers(32, 1))
    return Case(f, jax.tree.map(jax.numpy.asarray, (layers(8, 16, 1), *data)))


def perceptron_gradient(jax: Any, *sizes: int, batch: int = 32) -> Case:
    f = jax.value_and_grad(partial(squared_error, jax.numpy))
    data = (numbers(batch, sizes[0]), numbers(batch, sizes[-1]))
    return Case(f, jax.tree.map(jax.numpy.asarray, (layers(*sizes), *data)))


def recurrence(jax: Any, carry: Any, xs: Any) -> Any:
    def step(c: Any, x: Any) -> Any:
        c = jax.numpy.tanh(0.9 * c + x)
        return c, c * x

    return jax.lax.scan(step, carry, xs)


def scanned(jax: Any, length: int) -> Case:
    args = (jax.numpy.float32(0.1), jax.numpy.asarray(numbers(length)))
    return Case(partial(recurrence, jax), args)


def gradient_of_scan(jax: Any, length: int) -> Case:
    def loss(carry: Any, xs: Any) -> Any:
        carry, ys = recurrence(jax, carry, xs)
        return carry + jax.numpy.sum(ys)

    args = (jax.numpy.float32(0.1), jax.numpy.asarray(numbers(length)))
    return Case(jax.grad(loss, argnums=(0, 1)), args)


def gradient_of_cell(jax: Any) -> Case:
    """A recurrent cell with matrices, through a `scan`."""
    jnp = jax.numpy

    def loss(params: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = jnp.tanh(h @ params["h"] + x @ params["x"])
            return h, jnp.sum(h)

        return jnp.mean(jax.lax.scan(step, jnp.zeros(16), xs)[1])

    params = {"h": numbers(16, 16, scale=0.2), "x": numbers(4, 16, scale=0.2)}
    return Case(jax.grad(loss), jax.tree.map(jnp.asarray, (params, numbers(20, 4))))


def newtons_root(jax: Any) -> Case:
    def root(a: Any) -> Any:
        def going(x: Any) -> Any:
            return abs(x * x - a) > 1e-3

        return jax.lax.while_loop(going, lambda x: 0.5 * (x + a / x), a)

    return Case(root, (jax.numpy.float32(1234.5),))


def power_iteration(jax: Any) -> Case:
    jnp = jax.numpy

    def power(a: Any, x: Any) -> Any:
        def turn(_: Any, x: Any) -> Any:
            x = a @ x
            return x / jnp.sqrt(jnp.sum(x * x))

        return jax.lax.fori_loop(0, 20, turn, x)

    return Case(power, (jnp.asarray(numbers(16, 16)), jnp.asarray(numbers(16))))


def conditional(jax: Any) -> Case:
    def f(x: Any) -> Any:
        return jax.lax.cond(jax.numpy.sum(x) > 0, lambda x: 2 * x, lambda x: x**3, x)

    return Case(jax.grad(lambda x: jax.numpy.sum(f(x))), (jax.numpy.asarray(numbers(10)),))


class Ball(NamedTuple):
    """The state of something that moves: a pytree."""

    place: Any
    speed: Any


def named_tuples(jax: Any) -> Case:
    def step(balls: list[Ball], dt: Any) -> list[Ball]:
        moved = []
        for ball in balls:
            speed = ball.speed - dt * ball.place
            moved.append(Ball(ball.place + dt * speed, speed))
        return moved

    balls = [Ball(numbers(3, seed=k), numbers(3, seed=k + 9)) for k in range(4)]
    return Case(step, (jax.tree.map(jax.numpy.asarray, balls), 0.01))


def sgd(jax: Any) -> Case:
    """A step of training: gradients, and momentum."""
    loss = partial(squared_error, jax.numpy)

    def step(params: Any, velocity: Any, x: Any, y: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params, x, y)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
        return value, jax.tree.map(lambda p, v: p - 0.01 * v, params, velocity), velocity

    params = layers(8, 32, 32, 1)
    args = (params, jax.tree.map(np.zeros_like, params), numbers(32, 8), numbers(32, 1))
    return Case(step, jax.tree.map(jax.numpy.asarray, args))


class AdamState(NamedTuple):
    """What Adam keeps, as optax does."""

    count: Any
    mu: Any
    nu: Any


def adam(jax: Any) -> Case:
    """A step of training in the manner of optax: gradients are transformed, then applied."""
    jnp, loss = jax.numpy, partial(squared_error, jax.numpy)

    def update(grads: Any, state: AdamState) -> tuple[Any, AdamState]:
        mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state.mu, grads)
        nu = jax.tree.map(lambda n, g: 0.999 * n + 0.001 * g**2, state.nu, grads)
        count = state.count + 1
        fixed = 1 - 0.9**count, 1 - 0.999**count
        updates = jax.tree.map(
            lambda m, n: -0.01 * (m / fixed[0]) / (jnp.sqrt(n / fixed[1]) + 1e-8), mu, nu
        )
        return updates, AdamState(count, mu, nu)

    def step(params: Any, state: AdamState, x: Any, y: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params, x, y)
        updates, state = update(grads, state)
        return jax.tree.map(lambda p, u: p + u, params, updates), state, value

    params = layers(8, 32, 32, 1)
    zeros = jax.tree.map(np.zeros_like, params)
    args = (params, AdamState(np.zeros((), np.int32), zeros, zeros))
    data = (numbers(32, 8), numbers(32, 1))
    return Case(step, jax.tree.map(jnp.asarray, (*args, *data)))


CASES: dict[str, Callable[[Any], Case]] = {
    "gradient, a number": scalar_gradient,
    "gradient, Rosenbrock 10": partial(rosenbrock_gradient, size=10),
    "gradient, Rosenbrock 10,000": partial(rosenbrock_gradient, size=10_000),
    "gradient, perceptron 8-16-1": lambda jax: perceptron_gradient(jax, 8, 16, 1),
    "gradient, perceptron 64-128-128-10": lambda jax: perceptron_gradient(jax, 64, 128, 128, 10),
    "vmap(grad), 32 of 10": partial(many_gradients, size=32),
    "vmap(grad), 1,000 of 10": partial(many_gradients, size=1000),
    "vmap(grad), perceptron": per_example_gradients,
    "hessian, Rosenbrock 10": partial(rosenbrock_hessian, size=10),
    "hessian, Rosenbrock 100": partial(rosenbrock_hessian, size=100),
    "jacfwd(grad), 10": partial(forward_jacobian, size=10),
    "jacfwd(grad), 50": partial(forward_jacobian, size=50),
    "scan of 32": partial(scanned, length=32),
    "scan of 500": partial(scanned, length=500),
    "gradient of a scan of 32": partial(gradient_of_scan, length=32),
    "gradient of a recurrent cell, 20": gradient_of_cell,
    "while_loop, Newton": newtons_root,
    "fori_loop, power iteration": power_iteration,
    "gradient of a cond": conditional,
    "named tuples": named_tuples,
    "SGD step": sgd,
    "Adam step": adam,
}


def jitted(jax: Any, name: str) -> Call:
    """A call that returns when its results are there."""
    case = CASES[name](jax)
    function, args = jax.jit(case.function), case.args
    block = jax.block_until_ready
    return lambda: block(function(*args))


def leaves(jax: Any, value: Any) -> list[Any]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(value)]


def contestants(name: str, peers: str | None) -> dict[str, Call]:
    """The calls, with the first ones behind them; leave with a message where results differ."""
    libraries: dict[str, Any] = {OURS: ours}
    jax = optional("jax")
    if jax is not None:
        libraries["jax"] = jax
    calls = {who: jitted(lib, name) for who, lib in chosen(libraries, peers).items()}
    truth: list[Any] | None = None
    for who, call in calls.items():
        for _ in range(CALLS):
            found = leaves(libraries[who], call())
        truth = found if truth is None else truth
        for a, b in zip(truth, found, strict=True):
            if not np.allclose(a, b, rtol=1e-3, atol=1e-4):
                sys.exit(f"{name}: the results of {who} differ")
    return calls


def runner(call: Call) -> Callable[[], Mapping[str, float]]:
    start = clock()
    for _ in range(5):
        call()
    repeats = max(1, round(ENOUGH / max((clock() - start) / 5, 1e-6)))

    def run() -> dict[str, float]:
        start = clock()
        for _ in range(repeats):
            call()
        return {"call": (clock() - start) / repeats}

    return run


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", metavar="TEXT", help="only cases whose name holds the text")


def main() -> None:
    options = arguments(__doc__, more)
    lines: list[Row] = []
    for name in CASES:
        if options.only is None or options.only in name:
            calls = contestants(name, options.peers)
            times = measure({who: runner(call) for who, call in calls.items()}, options.rounds)
            lines += rows(name, times)
    report("Jitted functions, a hot call", "µs", 1e6, lines, options.json)
    if not options.json and lines and all("jax" in line.times for line in lines):
        parts = [ratio(line.times[OURS], line.times["jax"]) for line in lines]
        print(f"\n{np.exp(np.mean(np.log(parts))):.2f} of JAX's time in the geometric mean")


if __name__ == "__main__":
    main()
