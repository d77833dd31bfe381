"""The objectives and their derivatives in JAX, as its users write them for `jit`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import logsumexp, multigammaln

from ..evals._descent import TOLERANCE
from ..evals.det import choices
from ..evals.ht import AXES, BONES
from ..evals.particle import STEP as EULER
from ..further.nbody import SOFT, STEP
from ..further.network import RATE

jax.config.update("jax_enable_x64", True)

Array = Any
Function = Callable[..., Any]


def hello(x: Array) -> Array:
    return x * x


def lse(x: Array) -> Array:
    largest = x.max()
    return largest + jnp.log(jnp.exp(x - largest).sum())


def llsq(x: Array, n: int) -> Array:
    t = jnp.linspace(-1, 1, n)
    residuals = jnp.sign(t) - jnp.vander(t, len(x), increasing=True) @ x
    return jnp.square(residuals).sum() / 2


def ode(x: Array, s: int) -> Array:
    h = 2 / s

    def slope(y: Array) -> Array:
        return x * jnp.concatenate((jnp.ones(1), y[:-1]))

    def step(_: int, y: Array) -> Array:
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return lax.fori_loop(0, s, step, jnp.zeros_like(x))


def gmm(alpha: Array, mu: Array, q: Array, low: Array, x: Array, gamma: float, m: int) -> Array:
    n, d = x.shape
    column, row = jnp.triu_indices(d, 1)
    factors = jax.vmap(jnp.diag)(jnp.exp(q)).at[:, row, column].set(low)

    whitened = (x - mu[:, None]) @ factors.mT
    log_volumes = q.sum(1)
    terms = alpha + log_volumes - jnp.square(whitened).sum(-1).T / 2
    likelihood = logsumexp(terms, 1).sum() - n * logsumexp(alpha)

    freedom = d + m + 1
    scale = freedom * d * (math.log(gamma) - math.log(2) / 2)
    prior = m * log_volumes.sum() - gamma**2 / 2 * jnp.square(factors).sum()
    constant = len(alpha) * (scale - multigammaln(freedom / 2, d))
    return likelihood + prior - n * d / 2 * math.log(2 * math.pi) + constant


def kmeans(centroids: Array, points: Array) -> Array:
    distances = (
        jnp.square(points).sum(1, keepdims=True)
        - 2 * points @ centroids.T
        + jnp.square(centroids).sum(1)
    )
    return distances.min(1).sum()


def kmeans_step(centroids: Array, points: Array) -> Array:
    slope = jax.grad(lambda c: kmeans(c, points))
    first, second = jax.jvp(slope, (centroids,), (jnp.ones_like(centroids),))
    return first / second


def det(a: Array, ell: int) -> Array:
    a = a.reshape(ell, ell)
    minors = a[-1]
    for k in range(2, ell + 1):
        columns, without = choices(ell, k)
        signs = jnp.resize(jnp.array((1.0, -1.0)), k)
        minors = (signs * a[ell - k][columns] * minors[without]).sum(1)
    return minors[0]


def lstm(main_params: Array, extra_params: Array, state: Array, sequence: Array) -> Array:
    layers = main_params.reshape(-1, 8, sequence.shape[1])
    in_weight, out_weight, out_bias = extra_params

    def step(carry: tuple[Array, Array], x: Array) -> tuple[tuple[Array, Array], Array]:
        hidden, cell = [*carry[0]], [*carry[1]]
        for i, (wf, wi, wo, wc, bf, bi, bo, bc) in enumerate(layers):
            keep = jax.nn.sigmoid(x * wf + bf)
            enter = jax.nn.sigmoid(hidden[i] * wi + bi)
            leave = jax.nn.sigmoid(x * wo + bo)
            change = jnp.tanh(hidden[i] * wc + bc)
            cell[i] = cell[i] * keep + enter * change
            x = hidden[i] = leave * jnp.tanh(cell[i])
        return (jnp.stack(hidden), jnp.stack(cell)), x

    _, outputs = lax.scan(step, (state[0::2], state[1::2]), sequence[:-1] * in_weight)
    predicted = outputs * out_weight + out_bias
    normalised = predicted - jnp.log(jnp.exp(predicted).sum(1, keepdims=True) + 2)
    return -(sequence[1:] * normalised).mean()


def _rotated(points: Array, axis: Array) -> Array:
    squared = jnp.square(axis).sum(-1, keepdims=True)
    turns = squared > 0
    angle = jnp.sqrt(jnp.where(turns, squared, 1.0))
    unit, cos, sin = axis / angle, jnp.cos(angle), jnp.sin(angle)
    along = (unit * points).sum(-1, keepdims=True)
    turned = points * cos + jnp.cross(unit, points) * sin + unit * along * (1 - cos)
    return jnp.where(turns, turned, points + jnp.cross(axis, points))


def _projection_errors(camera: Array, point: Array, weight: Array, seen: Array) -> Array:
    rotation, centre, focal, principal, radial = jnp.split(camera, (3, 6, 7, 9), axis=-1)
    x = _rotated(point - centre, rotation)
    flat = x[:, :2] / x[:, 2:]
    squared = jnp.square(flat).sum(-1, keepdims=True)
    distortion = 1 + radial[:, :1] * squared + radial[:, 1:] * jnp.square(squared)
    return weight[:, None] * (flat * distortion * focal + principal - seen)


def ba(
    cameras: Array, points: Array, weights: Array, camera: Array, point: Array, seen: Array
) -> tuple[Array, Array]:
    errors = _projection_errors(cameras[camera], points[point], weights, seen)
    return errors, 1 - jnp.square(weights)


def ba_blocks(
    cameras: Array, points: Array, weights: Array, camera: Array, point: Array, seen: Array
) -> tuple[Array, Array]:
    def totals(*observed: Array) -> Array:
        return _projection_errors(*observed, seen).sum(0)

    observed = cameras[camera], points[point], weights
    by_camera, by_point, by_weight = jax.jacrev(totals, argnums=(0, 1, 2))(*observed)
    blocks = jnp.concatenate((by_camera, by_point, by_weight[..., None]), axis=-1)
    return blocks.swapaxes(0, 1), -2 * weights


def _matrices(*rows: tuple[Any, Any, Any]) -> Array:
    return jnp.stack([jnp.stack(jnp.broadcast_arrays(*row), -1) for row in rows], -2)


def _euler_rotations(angles: Array) -> Array:
    (cx, cz, cy), (sx, sz, sy) = jnp.cos(angles).T, jnp.sin(angles).T
    zero, one = jnp.zeros_like(cx), jnp.ones_like(cx)
    about_x = _matrices((one, zero, zero), (zero, cx, -sx), (zero, sx, cx))
    about_y = _matrices((cy, zero, sy), (zero, one, zero), (-sy, zero, cy))
    about_z = _matrices((cz, -sz, zero), (sz, cz, zero), (zero, zero, one))
    return about_z @ about_y @ about_x


def _axis_rotation(axis: Array) -> Array:
    squared = jnp.square(axis).sum()
    turns = squared >= 1e-8
    angle = jnp.sqrt(jnp.where(turns, squared, 1.0))
    x, y, z = unit = axis / angle
    zero, cos, sin = jnp.zeros_like(x), jnp.cos(angle), jnp.sin(angle)
    cross = _matrices((zero, -z, y), (z, zero, -x), (-y, x, zero))
    turned = cos * jnp.eye(3) + (1 - cos) * jnp.outer(unit, unit) + sin * cross
    return jnp.where(turns, turned, jnp.eye(3))


def ht(
    theta: Array,
    us: Array,
    base_relatives: Array,
    inverse_base_absolutes: Array,
    base_positions: Array,
    weights: Array,
    chosen: Array,
    points: Array,
    parents: tuple[int, ...],
    mirror: float,
) -> Array:
    bones = len(parents)
    angles = jnp.zeros((bones, 3)).at[jnp.array(BONES), jnp.array(AXES)].set(theta[6:])
    turns = jnp.zeros((bones, 4, 4)).at[:, 3, 3].set(1)
    relatives = base_relatives @ turns.at[:, :3, :3].set(_euler_rotations(angles))
    absolutes: list[Array] = []
    for relative, parent in zip(relatives, parents, strict=True):
        absolutes.append(relative if parent == -1 else absolutes[parent] @ relative)
    transforms = (jnp.stack(absolutes) @ inverse_base_absolutes)[:, :3]

    blended = (weights @ transforms.reshape(bones, 12)).reshape(-1, 3, 4)
    positions = (blended @ base_positions[..., None])[..., 0] * jnp.array([mirror, 1.0, 1.0])
    positions = positions @ _axis_rotation(theta[:3]).T + theta[3:6]
    found = positions[chosen]
    if us is not None:
        shares = jnp.concatenate((us, 1 - us.sum(1, keepdims=True)), axis=1)
        found = (shares[..., None] * found).sum(1)
    return points - found


def ht_jacobian(theta: Array, us: Array, *hand: Any) -> Array:
    if us is None:
        return jax.jacfwd(ht)(theta, us, *hand).reshape(-1, len(theta))

    def moved(by: Array) -> Array:
        return ht(theta + by[2:], us + by[:2], *hand)

    return jax.jacfwd(moved)(jnp.zeros(2 + len(theta))).reshape(-1, 2 + len(theta))


def _potential(x: Array, w: Array) -> Array:
    fixed, moved = jnp.array([10.0, 0.0]), jnp.stack((jnp.full_like(w, 10.0), 10 - w))
    return 1 / jnp.linalg.norm(x - fixed) + 1 / jnp.linalg.norm(x - moved)


def particle(w: Array) -> Array:
    def flying(state: tuple[Array, Array]) -> Array:
        x, v = state
        return (x + EULER * v)[1] > 0

    def step(state: tuple[Array, Array]) -> tuple[Array, Array]:
        x, v = state
        return x + EULER * v, v - EULER * jax.grad(_potential)(x, w)

    x, v = lax.while_loop(flying, step, (jnp.array([0.0, 8.0]), jnp.array([0.75, 0.0])))
    return (x - x[1] / v[1] * v)[0] ** 2


def _argmin(f: Function, x: Array) -> Array:
    gradient = jax.grad(f)

    def going(state: Any) -> Array:
        return ~state[-1]

    def step(state: Any) -> Any:
        x, value, slope, rate, taken, _ = state
        moved = x - rate * slope
        new = f(moved)
        flat = jnp.square(slope).sum() <= TOLERANCE**2
        quicker = ~flat & (taken == 10)
        close = ~quicker & (jnp.square(moved - x).sum() <= TOLERANCE**2)
        better = ~flat & ~quicker & ~close & (new < value)
        rate = jnp.where(quicker, 2 * rate, jnp.where(better, rate, rate / 2))
        x, value = jnp.where(better, moved, x), jnp.where(better, new, value)
        slope = lax.cond(better, gradient, lambda _: slope, x)
        return x, value, slope, rate, jnp.where(better, taken + 1, 0), flat | close

    return lax.while_loop(going, step, (x, f(x), gradient(x), 1e-5, 0, False))[0]


def saddle(start: Array) -> Array:
    return _highest(start, start)


def _highest(x: Array, start: Array) -> Array:
    def height(y: Array) -> Array:
        return jnp.square(x).sum() - jnp.square(y).sum()

    return height(_argmin(lambda y: -height(y), start))


def network(w1: Array, w2: Array, x: Array, y: Array) -> Array:
    return jnp.square(jax.nn.relu(x @ w1) @ w2 - y).sum()


def network_step(w1: Array, w2: Array, x: Array, y: Array) -> tuple[Array, Array]:
    by_w1, by_w2 = jax.grad(network, argnums=(0, 1))(w1, w2, x, y)
    return w1 - RATE * by_w1, w2 - RATE * by_w2


def rosenbrock(x: Array) -> Array:
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def _apart(x: Array) -> tuple[Array, Array]:
    vectors = x[:, None] - x
    return vectors, lax.rsqrt(jnp.square(vectors).sum(-1) + SOFT)


def nbody(x: Array, v: Array, masses: Array) -> Array:
    vectors, inverse = _apart(x)
    v = v - STEP * ((masses * inverse**3)[..., None] * vectors).sum(1)
    _, inverse = _apart(x + STEP * v)
    kinetic = (masses * jnp.square(v).sum(1)).sum()
    return (kinetic - masses @ inverse @ masses) / 2


DERIVATIVES: dict[str, Function] = {
    "hello": jax.grad(hello),
    "lse": jax.grad(lse),
    "llsq": jax.grad(llsq),
    "ode": jax.grad(lambda x, s: ode(x, s)[-1]),
    "gmm": jax.grad(gmm, argnums=(0, 1, 2, 3)),
    "kmeans": kmeans_step,
    "det": jax.grad(det),
    "lstm": jax.grad(lstm, argnums=(0, 1)),
    "ba": ba_blocks,
    "ht": ht_jacobian,
    # JAX has no reverse mode through a loop of unknown length
    "particle": jax.jacfwd(particle),
    "saddle": lambda start: jax.jacfwd(_highest)(start, start),
    "network": network_step,
    "rosenbrock": jax.grad(rosenbrock),
    "nbody": jax.grad(nbody, argnums=(0, 1)),
}
