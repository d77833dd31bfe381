"""ba: bundle adjustment, the errors of points seen by cameras, and their sparse Jacobian.

A camera has 11 parameters: three of rotation, three of its centre, the focal length, two of the
principal point, two of radial distortion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg

from ._types import Compile, Functions

SHOWN = 30
"""How much of the lists of a Jacobian is shown: its first two rows."""


def arguments(input: Mapping[str, Any]) -> tuple[Any, ...]:
    n, m, p = input["n"], input["m"], input["p"]
    cameras = wg.tensor(input["cam"], dtype=wg.float64).repeat(n, 1)
    points = wg.tensor(input["x"], dtype=wg.float64).repeat(m, 1)
    weights = wg.full((p,), input["w"], dtype=wg.float64)
    seen = wg.tensor(input["feat"], dtype=wg.float64).repeat(p, 1)
    observation = wg.arange(p)
    return cameras, points, weights, observation % n, observation % m, seen


def rotated(points: Any, axis: Any) -> Any:
    """Points turned about an axis whose length is the angle."""
    squared = axis.square().sum(-1, keepdim=True)
    turns = squared > 0
    angle = wg.where(turns, squared, 1.0).sqrt()
    unit, cos, sin = axis / angle, angle.cos(), angle.sin()
    along = (unit * points).sum(-1, keepdim=True)
    across = wg.linalg.cross(unit, points)
    turned = points * cos + across * sin + unit * along * (1 - cos)
    return wg.where(turns, turned, points + wg.linalg.cross(axis, points))


def projection_errors(camera: Any, point: Any, weight: Any, seen: Any) -> Any:
    rotation, centre, focal, principal, radial = camera.split((3, 3, 1, 2, 2), dim=-1)
    x = rotated(point - centre, rotation)
    flat = x[:, :2] / x[:, 2:]
    squared = flat.square().sum(-1, keepdim=True)
    distortion = 1 + radial[:, :1] * squared + radial[:, 1:] * squared.square()
    return weight[:, None] * (flat * distortion * focal + principal - seen)


def objective(
    cameras: Any, points: Any, weights: Any, camera: Any, point: Any, seen: Any
) -> tuple[Any, Any]:
    errors = projection_errors(cameras[camera], points[point], weights, seen)
    return errors, 1 - weights.square()


def gradient(
    cameras: Any, points: Any, weights: Any, camera: Any, point: Any, seen: Any
) -> tuple[Any, Any]:
    """What is not 0 of the Jacobian: two rows of 15 for each observation; one for each weight."""

    def totals(*observed: Any) -> Any:
        # an observation has parameters of its own, so the sum's Jacobian holds everybody's
        return projection_errors(*observed, seen).sum(0)

    observed = cameras[camera], points[point], weights
    by_camera, by_point, by_weight = wg.func.jacrev(totals, argnums=(0, 1, 2))(*observed)
    blocks = wg.cat((by_camera, by_point, by_weight[..., None]), dim=-1).transpose(0, 1)
    return blocks, -2 * weights


def structure(n: int, m: int, camera: Any, point: Any) -> tuple[Any, Any]:
    """The rows' ends and the columns of the Jacobian, as compressed rows have them."""
    p = len(camera)
    weight = 11 * n + 3 * m + wg.arange(p)
    of_camera = 11 * camera[:, None] + wg.arange(11)
    of_point = 11 * n + 3 * point[:, None] + wg.arange(3)
    columns = wg.cat((of_camera, of_point, weight[:, None]), dim=1)
    ends = wg.cat((15 * wg.arange(2 * p + 1), 30 * p + 1 + wg.arange(p)))
    return ends, wg.cat((columns[:, None].expand(p, 2, 15).ravel(), weight))


def jacobian(
    cameras: Any, points: Any, weights: Any, camera: Any, point: Any, seen: Any
) -> tuple[Any, Any, Any]:
    """The sparse Jacobian: the rows' ends, the columns, and what is not 0."""
    blocks, last = gradient(cameras, points, weights, camera, point, seen)
    rows, columns = structure(len(cameras), len(points), camera, point)
    return rows, columns, wg.cat((blocks.ravel(), last))


def functions(compile: Compile) -> Functions:
    return {"objective": compile(objective), "jacobian": compile(jacobian)}


def answer(name: str, output: Any) -> Any:
    """What the suite wants to see: of the Jacobian's lists the first elements and the last one."""
    if name == "jacobian":
        parts = [[*part[:SHOWN].tolist(), part[-1].item()] for part in output]
        return dict(zip(("rows", "cols", "vals"), parts, strict=True))
    errors, weights = output
    return {
        "reproj_error": {"elements": errors[0], "repeated": len(errors)},
        "w_err": {"element": weights[0], "repeated": len(weights)},
    }
