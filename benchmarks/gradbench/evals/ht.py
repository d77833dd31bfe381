"""ht: hand tracking, the distances of measured points to a hand in a pose.

`theta` has the rotation and the translation of the hand and four angles of each finger. The hand is
a mesh that 22 bones move, each vertex with the bones' weights. A measured point belongs to a vertex
or, where `us` is given, to a place in a triangle that two further parameters choose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg

from ._types import Compile, Functions

BONES = [2 + 4 * finger + joint for finger in range(5) for joint in (0, 0, 1, 2)]
AXES = [0, 1, 0, 0] * 5
"""The bone that each of the fingers' angles turns, and about which axis: only the first joints turn
about two."""


def arguments(input: Mapping[str, Any]) -> tuple[Any, ...]:
    data = input["data"]
    model = data["model"]
    chosen = wg.tensor(data["correspondences"], dtype=wg.int64)
    us = None
    if len(input["us"]):
        us = wg.tensor(input["us"], dtype=wg.float64)
        chosen = wg.tensor(model["triangles"], dtype=wg.int64)[chosen]
    names = ("base_relatives", "inverse_base_absolutes", "base_positions", "weights")
    hand = (wg.tensor(model[name], dtype=wg.float64) for name in names)
    points = wg.tensor(data["points"], dtype=wg.float64)
    parents = tuple(int(parent) for parent in model["parents"])
    mirror = -1.0 if model["is_mirrored"] else 1.0
    theta = wg.tensor(input["theta"], dtype=wg.float64)
    return theta, us, *hand, chosen, points, parents, mirror


def matrices(*rows: tuple[Any, Any, Any]) -> Any:
    """Matrices of the elements, which are numbers or vectors with an element for each matrix."""
    return wg.stack([wg.stack(wg.broadcast_tensors(*row), -1) for row in rows], -2)


def euler_rotations(angles: Any) -> Any:
    (cx, cz, cy), (sx, sz, sy) = angles.cos().unbind(1), angles.sin().unbind(1)
    zero, one = wg.zeros_like(cx), wg.ones_like(cx)
    about_x = matrices((one, zero, zero), (zero, cx, -sx), (zero, sx, cx))
    about_y = matrices((cy, zero, sy), (zero, one, zero), (-sy, zero, cy))
    about_z = matrices((cz, -sz, zero), (sz, cz, zero), (zero, zero, one))
    return about_z @ about_y @ about_x


def axis_rotation(axis: Any) -> Any:
    angle = axis.norm()
    if angle < 1e-4:
        return wg.eye(3, dtype=wg.float64)
    x, y, z = (axis / angle).unbind()
    zero, cos, sin = wg.zeros_like(x), angle.cos(), angle.sin()
    unit = wg.stack((x, y, z))
    cross = matrices((zero, -z, y), (z, zero, -x), (-y, x, zero))
    return cos * wg.eye(3, dtype=wg.float64) + (1 - cos) * wg.outer(unit, unit) + sin * cross


def objective(
    theta: Any,
    us: Any,
    base_relatives: Any,
    inverse_base_absolutes: Any,
    base_positions: Any,
    weights: Any,
    chosen: Any,
    points: Any,
    parents: tuple[int, ...],
    mirror: float,
) -> Any:
    bones = len(parents)
    angles = theta.new_zeros(bones, 3).index_put((wg.tensor(BONES), wg.tensor(AXES)), theta[6:])
    corner = wg.tensor([0.0, 0.0, 0.0, 1.0], dtype=wg.float64).diag()
    turns = wg.nn.functional.pad(euler_rotations(angles), (0, 1, 0, 1)) + corner
    relatives = base_relatives @ turns
    absolutes: list[Any] = []
    for relative, parent in zip(relatives, parents, strict=True):
        absolutes.append(relative if parent == -1 else absolutes[parent] @ relative)
    transforms = (wg.stack(absolutes) @ inverse_base_absolutes)[:, :3]

    blended = (weights @ transforms.reshape(bones, 12)).reshape(-1, 3, 4)
    positions = (blended @ base_positions[..., None]).squeeze(-1)
    positions = positions * wg.tensor([mirror, 1.0, 1.0], dtype=wg.float64)
    positions = positions @ axis_rotation(theta[:3]).T + theta[3:6]

    found = positions[chosen]
    if us is not None:
        shares = wg.cat((us, 1 - us.sum(1, keepdim=True)), dim=1)
        found = (shares[..., None] * found).sum(1)
    return points - found


def gradient(theta: Any, us: Any, *hand: Any) -> Any:
    """The Jacobian: a row for each coordinate; the columns of a point's own `us` come first."""
    if us is None:
        return wg.func.jacfwd(objective)(theta, us, *hand).flatten(0, 1)

    def moved(by: Any) -> Any:
        return objective(theta + by[2:], us + by[:2], *hand)

    return wg.func.jacfwd(moved)(theta.new_zeros(2 + len(theta))).flatten(0, 1)


def functions(compile: Compile) -> Functions:
    return {"objective": compile(objective), "jacobian": compile(gradient)}


def answer(name: str, output: Any) -> Any:
    return output.ravel() if name == "objective" else output
