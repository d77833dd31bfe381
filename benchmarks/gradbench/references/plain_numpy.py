"""The objectives in NumPy: what a value costs without a library that differentiates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..evals._descent import argmax
from ..evals.det import choices
from ..evals.ht import AXES, BONES
from ..evals.particle import STEP as EULER
from ..further.nbody import SOFT, STEP

Array = Any


def hello(x: Array) -> Array:
    return x * x


def lse(x: Array) -> Array:
    largest = x.max()
    return largest + np.log(np.exp(x - largest).sum())


def llsq(x: Array, n: int) -> Array:
    t = np.linspace(-1, 1, n)
    residuals = np.sign(t) - np.vander(t, len(x), increasing=True) @ x
    return np.square(residuals).sum() / 2


def ode(x: Array, s: int) -> Array:
    def slope(y: Array) -> Array:
        return x * np.concatenate(([1.0], y[:-1]))

    h = 2 / s
    y = np.zeros_like(x)
    for _ in range(s):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def _logsumexp(x: Array) -> Array:
    largest = x.max(-1, keepdims=True)
    return (largest + np.log(np.exp(x - largest).sum(-1, keepdims=True)))[..., 0]


def gmm(alpha: Array, mu: Array, q: Array, low: Array, x: Array, gamma: float, m: int) -> Array:
    (n, d), k = x.shape, len(alpha)
    column, row = np.triu_indices(d, 1)
    factors = np.zeros((k, d, d))
    factors[:, np.arange(d), np.arange(d)] = np.exp(q)
    factors[:, row, column] = low

    whitened = (x - mu[:, None]) @ factors.mT
    terms = alpha + q.sum(1) - np.square(whitened).sum(-1).T / 2
    likelihood = _logsumexp(terms).sum() - n * _logsumexp(alpha)

    freedom = d + m + 1
    scale = freedom * d * (math.log(gamma) - math.log(2) / 2)
    spread = d * (d - 1) / 4 * math.log(math.pi)
    spread += sum(math.lgamma((freedom - j) / 2) for j in range(d))
    prior = m * q.sum() - gamma**2 / 2 * np.square(factors).sum()
    return likelihood + prior - n * d / 2 * math.log(2 * math.pi) + k * (scale - spread)


def kmeans(centroids: Array, points: Array) -> Array:
    distances = (
        np.square(points).sum(1, keepdims=True)
        - 2 * points @ centroids.T
        + np.square(centroids).sum(1)
    )
    return distances.min(1).sum()


def det(a: Array, ell: int) -> Array:
    a = a.reshape(ell, ell)
    minors = a[-1]
    for k in range(2, ell + 1):
        columns, without = choices(ell, k)
        signs = np.resize((1.0, -1.0), k)
        minors = (signs * a[ell - k][columns] * minors[without]).sum(1)
    return minors[0]


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def lstm(main_params: Array, extra_params: Array, state: Array, sequence: Array) -> Array:
    layers = main_params.reshape(-1, 8, sequence.shape[1])
    in_weight, out_weight, out_bias = extra_params
    hidden, cell = [*state[0::2]], [*state[1::2]]
    outputs = []
    for x in sequence[:-1] * in_weight:
        for i, (wf, wi, wo, wc, bf, bi, bo, bc) in enumerate(layers):
            keep = _sigmoid(x * wf + bf)
            enter = _sigmoid(hidden[i] * wi + bi)
            leave = _sigmoid(x * wo + bo)
            change = np.tanh(hidden[i] * wc + bc)
            cell[i] = cell[i] * keep + enter * change
            x = hidden[i] = leave * np.tanh(cell[i])
        outputs.append(x)
    predicted = np.stack(outputs) * out_weight + out_bias
    normalised = predicted - np.log(np.exp(predicted).sum(1, keepdims=True) + 2)
    return -(sequence[1:] * normalised).mean()


def _rotated(points: Array, axis: Array) -> Array:
    squared = np.square(axis).sum(-1, keepdims=True)
    turns = squared > 0
    angle = np.sqrt(np.where(turns, squared, 1.0))
    unit, cos, sin = axis / angle, np.cos(angle), np.sin(angle)
    along = (unit * points).sum(-1, keepdims=True)
    turned = points * cos + np.cross(unit, points) * sin + unit * along * (1 - cos)
    return np.where(turns, turned, points + np.cross(axis, points))


def ba(
    cameras: Array, points: Array, weights: Array, camera: Array, point: Array, seen: Array
) -> tuple[Array, Array]:
    parts = np.split(cameras[camera], (3, 6, 7, 9), axis=-1)
    rotation, centre, focal, principal, radial = parts
    x = _rotated(points[point] - centre, rotation)
    flat = x[:, :2] / x[:, 2:]
    squared = np.square(flat).sum(-1, keepdims=True)
    distortion = 1 + radial[:, :1] * squared + radial[:, 1:] * np.square(squared)
    errors = weights[:, None] * (flat * distortion * focal + principal - seen)
    return errors, 1 - np.square(weights)


def _matrices(*rows: tuple[Any, Any, Any]) -> Array:
    return np.stack([np.stack(np.broadcast_arrays(*row), -1) for row in rows], -2)


def _euler_rotations(angles: Array) -> Array:
    (cx, cz, cy), (sx, sz, sy) = np.cos(angles).T, np.sin(angles).T
    about_x = _matrices((1, 0, 0 * cx), (0, cx, -sx), (0, sx, cx))
    about_y = _matrices((cy, 0, sy), (0, 1, 0 * cy), (-sy, 0, cy))
    about_z = _matrices((cz, -sz, 0), (sz, cz, 0), (0, 0, 1 + 0 * cz))
    return about_z @ about_y @ about_x


def _axis_rotation(axis: Array) -> Array:
    angle = np.linalg.norm(axis)
    if angle < 1e-4:
        return np.eye(3)
    unit = axis / angle
    cross = np.cross(np.eye(3), unit)
    cos, sin = np.cos(angle), np.sin(angle)
    return cos * np.eye(3) + (1 - cos) * np.outer(unit, unit) + sin * cross


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
    angles = np.zeros((bones, 3))
    angles[BONES, AXES] = theta[6:]
    turns = np.zeros((bones, 4, 4))
    turns[:, :3, :3] = _euler_rotations(angles)
    turns[:, 3, 3] = 1
    relatives = base_relatives @ turns
    absolutes: list[Array] = []
    for relative, parent in zip(relatives, parents, strict=True):
        absolutes.append(relative if parent == -1 else absolutes[parent] @ relative)
    transforms = (np.stack(absolutes) @ inverse_base_absolutes)[:, :3]

    blended = (weights @ transforms.reshape(bones, 12)).reshape(-1, 3, 4)
    positions = (blended @ base_positions[..., None])[..., 0] * [mirror, 1.0, 1.0]
    positions = positions @ _axis_rotation(theta[:3]).T + theta[3:6]
    found = positions[chosen]
    if us is not None:
        shares = np.concatenate((us, 1 - us.sum(1, keepdims=True)), axis=1)
        found = (shares[..., None] * found).sum(1)
    return points - found


def particle(w: Array) -> Array:
    charges = np.array([[10.0, 0.0], [10.0, 10.0 - w]])
    x, v = np.array([0.0, 8.0]), np.array([0.75, 0.0])
    while (there := x + EULER * v)[1] > 0:
        away = x - charges
        force = (away / np.linalg.norm(away, axis=1, keepdims=True) ** 3).sum(0)
        x, v = there, v + EULER * force
    return (x - x[1] / v[1] * v)[0] ** 2


def saddle(start: Array) -> Array:
    """The greatest height over y, at x: what `evals.saddle.objective` finds, slopes by hand."""

    def height(y: Array) -> Array:
        return np.square(start).sum() - np.square(y).sum()

    return height(argmax(height, lambda y: -2 * y, start))


def network(w1: Array, w2: Array, x: Array, y: Array) -> Array:
    return np.square(np.maximum(x @ w1, 0) @ w2 - y).sum()


def rosenbrock(x: Array) -> Array:
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def _apart(x: Array) -> tuple[Array, Array]:
    vectors = x[:, None] - x
    return vectors, 1 / np.sqrt(np.square(vectors).sum(-1) + SOFT)


def nbody(x: Array, v: Array, masses: Array) -> Array:
    vectors, inverse = _apart(x)
    v = v - STEP * ((masses * inverse**3)[..., None] * vectors).sum(1)
    _, inverse = _apart(x + STEP * v)
    kinetic = (masses * np.square(v).sum(1)).sum()
    return (kinetic - masses @ inverse @ masses) / 2
