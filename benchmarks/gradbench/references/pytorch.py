"""The objectives and their derivatives in PyTorch, eager, as its users write them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from ..evals._descent import argmax
from ..evals.det import choices
from ..evals.ht import AXES, BONES
from ..evals.particle import STEP as EULER
from ..further.nbody import SOFT, STEP
from ..further.network import RATE

Tensor = Any
Function = Callable[..., Any]
DOUBLE = torch.float64


def gradient_of(f: Function, count: int = 1) -> Function:
    """The gradients of `f` with respect to its first `count` arguments."""

    def gradient(*args: Any) -> Any:
        leaves = [arg.detach().requires_grad_() for arg in args[:count]]
        return torch.autograd.grad(f(*leaves, *args[count:]), leaves)

    return gradient


def hello(x: Tensor) -> Tensor:
    return x * x


def lse(x: Tensor) -> Tensor:
    largest = x.max()
    return largest + (x - largest).exp().sum().log()


def llsq(x: Tensor, n: int) -> Tensor:
    t = torch.linspace(-1, 1, n, dtype=DOUBLE)
    residuals = t.sign() - torch.linalg.vander(t, N=len(x)) @ x
    return residuals.square().sum() / 2


def ode(x: Tensor, s: int) -> Tensor:
    one = x.new_ones(1)

    def slope(y: Tensor) -> Tensor:
        return x * torch.cat((one, y[:-1]))

    h = 2 / s
    y = torch.zeros_like(x)
    for _ in range(s):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def gmm(
    alpha: Tensor, mu: Tensor, q: Tensor, low: Tensor, x: Tensor, gamma: float, m: int
) -> Tensor:
    n, d = x.shape
    column, row = torch.triu_indices(d, d, 1)
    factors = q.exp().diag_embed()
    factors[:, row, column] = low

    whitened = (x - mu[:, None]) @ factors.mT
    log_volumes = q.sum(1)
    terms = alpha + log_volumes - whitened.square().sum(-1).T / 2
    likelihood = terms.logsumexp(1).sum() - n * alpha.logsumexp(0)

    freedom = d + m + 1
    scale = freedom * d * (math.log(gamma) - math.log(2) / 2)
    spread = torch.mvlgamma(torch.tensor(freedom / 2, dtype=DOUBLE), d)
    prior = m * log_volumes.sum() - gamma**2 / 2 * factors.square().sum()
    return likelihood + prior - n * d / 2 * math.log(2 * math.pi) + len(alpha) * (scale - spread)


def kmeans(centroids: Tensor, points: Tensor) -> Tensor:
    distances = (
        points.square().sum(1, keepdim=True) - 2 * points @ centroids.T + centroids.square().sum(1)
    )
    return distances.min(1).values.sum()


def kmeans_step(centroids: Tensor, points: Tensor) -> Tensor:
    leaf = centroids.detach().requires_grad_()
    (first,) = torch.autograd.grad(kmeans(leaf, points), leaf, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), leaf)
    return first.detach() / second


def det(a: Tensor, ell: int) -> Tensor:
    a = a.reshape(ell, ell)
    minors = a[-1]
    for k in range(2, ell + 1):
        columns, without = choices(ell, k)
        signs = torch.tensor([1.0, -1.0] * ell, dtype=DOUBLE)[:k]
        minors = (signs * a[ell - k][columns] * minors[without]).sum(1)
    return minors[0]


def lstm(main_params: Tensor, extra_params: Tensor, state: Tensor, sequence: Tensor) -> Tensor:
    width = sequence.shape[1]
    layers = [rows.unbind() for rows in main_params.reshape(-1, 8, width)]
    in_weight, out_weight, out_bias = extra_params
    hidden, cell = [*state[0::2]], [*state[1::2]]
    outputs = []
    for x in sequence[:-1] * in_weight:
        for i, (wf, wi, wo, wc, bf, bi, bo, bc) in enumerate(layers):
            keep = (x * wf + bf).sigmoid()
            enter = (hidden[i] * wi + bi).sigmoid()
            leave = (x * wo + bo).sigmoid()
            change = (hidden[i] * wc + bc).tanh()
            cell[i] = cell[i] * keep + enter * change
            x = hidden[i] = leave * cell[i].tanh()
        outputs.append(x)
    predicted = torch.stack(outputs) * out_weight + out_bias
    normalised = predicted - (predicted.exp().sum(1, keepdim=True) + 2).log()
    return -(sequence[1:] * normalised).mean()


def _rotated(points: Tensor, axis: Tensor) -> Tensor:
    squared = axis.square().sum(-1, keepdim=True)
    turns = squared > 0
    angle = torch.where(turns, squared, 1.0).sqrt()
    unit, cos, sin = axis / angle, angle.cos(), angle.sin()
    along = (unit * points).sum(-1, keepdim=True)
    across = torch.linalg.cross(unit, points)
    turned = points * cos + across * sin + unit * along * (1 - cos)
    return torch.where(turns, turned, points + torch.linalg.cross(axis, points))


def _projection_errors(camera: Tensor, point: Tensor, weight: Tensor, seen: Tensor) -> Tensor:
    rotation, centre, focal, principal, radial = camera.split((3, 3, 1, 2, 2), dim=-1)
    x = _rotated(point - centre, rotation)
    flat = x[:, :2] / x[:, 2:]
    squared = flat.square().sum(-1, keepdim=True)
    distortion = 1 + radial[:, :1] * squared + radial[:, 1:] * squared.square()
    return weight[:, None] * (flat * distortion * focal + principal - seen)


def ba(
    cameras: Tensor, points: Tensor, weights: Tensor, camera: Tensor, point: Tensor, seen: Tensor
) -> tuple[Tensor, Tensor]:
    errors = _projection_errors(cameras[camera], points[point], weights, seen)
    return errors, 1 - weights.square()


def ba_blocks(
    cameras: Tensor, points: Tensor, weights: Tensor, camera: Tensor, point: Tensor, seen: Tensor
) -> tuple[Tensor, Tensor]:
    observed = [t.detach().requires_grad_() for t in (cameras[camera], points[point], weights)]
    horizontal, vertical = _projection_errors(*observed, seen).sum(0)
    rows = (
        torch.autograd.grad(horizontal, observed, retain_graph=True),
        torch.autograd.grad(vertical, observed),
    )
    blocks = [torch.cat((c, p, w[:, None]), dim=-1) for c, p, w in rows]
    return torch.stack(blocks, dim=1), -2 * weights


def _matrices(*rows: tuple[Any, Any, Any]) -> Tensor:
    return torch.stack([torch.stack(torch.broadcast_tensors(*row), -1) for row in rows], -2)


def _euler_rotations(angles: Tensor) -> Tensor:
    (cx, cz, cy), (sx, sz, sy) = angles.cos().unbind(1), angles.sin().unbind(1)
    zero, one = torch.zeros_like(cx), torch.ones_like(cx)
    about_x = _matrices((one, zero, zero), (zero, cx, -sx), (zero, sx, cx))
    about_y = _matrices((cy, zero, sy), (zero, one, zero), (-sy, zero, cy))
    about_z = _matrices((cz, -sz, zero), (sz, cz, zero), (zero, zero, one))
    return about_z @ about_y @ about_x


def _axis_rotation(axis: Tensor) -> Tensor:
    angle = axis.norm()
    if angle < 1e-4:
        return torch.eye(3, dtype=DOUBLE)
    x, y, z = (axis / angle).unbind()
    zero, cos, sin = torch.zeros_like(x), angle.cos(), angle.sin()
    unit = torch.stack((x, y, z))
    cross = _matrices((zero, -z, y), (z, zero, -x), (-y, x, zero))
    eye = torch.eye(3, dtype=DOUBLE)
    return cos * eye + (1 - cos) * torch.outer(unit, unit) + sin * cross


def ht(
    theta: Tensor,
    us: Tensor,
    base_relatives: Tensor,
    inverse_base_absolutes: Tensor,
    base_positions: Tensor,
    weights: Tensor,
    chosen: Tensor,
    points: Tensor,
    parents: tuple[int, ...],
    mirror: float,
) -> Tensor:
    bones = len(parents)
    where = torch.tensor(BONES), torch.tensor(AXES)
    angles = theta.new_zeros(bones, 3).index_put(where, theta[6:])
    corner = torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=DOUBLE).diag()
    turns = torch.nn.functional.pad(_euler_rotations(angles), (0, 1, 0, 1)) + corner
    relatives = base_relatives @ turns
    absolutes: list[Tensor] = []
    for relative, parent in zip(relatives, parents, strict=True):
        absolutes.append(relative if parent == -1 else absolutes[parent] @ relative)
    transforms = (torch.stack(absolutes) @ inverse_base_absolutes)[:, :3]

    blended = (weights @ transforms.reshape(bones, 12)).reshape(-1, 3, 4)
    positions = (blended @ base_positions[..., None]).squeeze(-1)
    positions = positions * torch.tensor([mirror, 1.0, 1.0], dtype=DOUBLE)
    positions = positions @ _axis_rotation(theta[:3]).T + theta[3:6]
    found = positions[chosen]
    if us is not None:
        shares = torch.cat((us, 1 - us.sum(1, keepdim=True)), dim=1)
        found = (shares[..., None] * found).sum(1)
    return points - found


def ht_jacobian(theta: Tensor, us: Tensor, *hand: Any) -> Tensor:
    if us is None:
        return torch.func.jacfwd(ht)(theta, us, *hand).flatten(0, 1)

    def moved(by: Tensor) -> Tensor:
        return ht(theta + by[2:], us + by[:2], *hand)

    return torch.func.jacfwd(moved)(theta.new_zeros(2 + len(theta))).flatten(0, 1)


def _potential(x: Tensor, w: Tensor) -> Tensor:
    fixed = torch.tensor([10.0, 0.0], dtype=DOUBLE)
    moved = torch.stack((torch.full_like(w, 10.0), 10 - w))
    return 1 / (x - fixed).norm() + 1 / (x - moved).norm()


def particle(w: Tensor) -> Tensor:
    x = torch.tensor([0.0, 8.0], dtype=DOUBLE, requires_grad=True)
    v = torch.tensor([0.75, 0.0], dtype=DOUBLE)
    while (there := x + EULER * v)[1] > 0:
        (slope,) = torch.autograd.grad(_potential(x, w), x, create_graph=w.requires_grad)
        x, v = there, v - EULER * slope
        if not w.requires_grad:
            x = x.detach().requires_grad_()
    return (x - x[1] / v[1] * v)[0] ** 2


def _height(x: Tensor, y: Tensor) -> Tensor:
    return x.square().sum() - y.square().sum()


def _highest(x: Tensor, start: Tensor) -> Tensor:
    def slope(y: Tensor) -> Tensor:
        leaf = y.detach().requires_grad_() if not y.requires_grad else y
        graph = x.requires_grad
        return torch.autograd.grad(_height(x, leaf), leaf, create_graph=graph)[0]

    def f(y: Tensor) -> Tensor:
        return _height(x, y)

    return f(argmax(f, slope, start))


def saddle(start: Tensor) -> Tensor:
    return _highest(start, start.detach())


def network(w1: Tensor, w2: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return ((x @ w1).relu() @ w2 - y).square().sum()


def network_step(w1: Tensor, w2: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    by_w1, by_w2 = gradient_of(network, 2)(w1, w2, x, y)
    return w1 - RATE * by_w1, w2 - RATE * by_w2


def rosenbrock(x: Tensor) -> Tensor:
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def _apart(x: Tensor) -> tuple[Tensor, Tensor]:
    vectors = x[:, None] - x
    return vectors, (vectors.square().sum(-1) + SOFT).rsqrt()


def nbody(x: Tensor, v: Tensor, masses: Tensor) -> Tensor:
    vectors, inverse = _apart(x)
    v = v - STEP * ((masses * inverse**3)[..., None] * vectors).sum(1)
    _, inverse = _apart(x + STEP * v)
    kinetic = (masses * v.square().sum(1)).sum()
    return (kinetic - masses @ inverse @ masses) / 2


DERIVATIVES: dict[str, Function] = {
    "hello": gradient_of(hello),
    "lse": gradient_of(lse),
    "llsq": gradient_of(llsq),
    "ode": gradient_of(lambda x, s: ode(x, s)[-1]),
    "gmm": gradient_of(gmm, 4),
    "kmeans": kmeans_step,
    "det": gradient_of(det),
    "lstm": gradient_of(lstm, 2),
    "ba": ba_blocks,
    "ht": ht_jacobian,
    "particle": gradient_of(particle),
    "saddle": gradient_of(saddle),
    "network": network_step,
    "rosenbrock": gradient_of(rosenbrock),
    "nbody": gradient_of(nbody, 2),
}
