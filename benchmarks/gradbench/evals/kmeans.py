"""kmeans: the cost of a clustering, and the step of Newton's method towards a better one.

The Hessian of the cost is diagonal, so its product with ones is its diagonal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg

from ._types import Compile, Functions


def arguments(input: Mapping[str, Any]) -> tuple[Any, Any]:
    names = ("centroids", "points")
    centroids, points = (wg.tensor(input[name], dtype=wg.float64) for name in names)
    return centroids, points


def objective(centroids: Any, points: Any) -> Any:
    distances = (
        points.square().sum(1, keepdim=True) - 2 * points @ centroids.T + centroids.square().sum(1)
    )
    return distances.min(1).values.sum()


def gradient(centroids: Any, points: Any) -> Any:
    slope = wg.func.grad(lambda c: objective(c, points))
    first, second = wg.func.jvp(slope, (centroids,), (wg.ones_like(centroids),))
    return first / second


def functions(compile: Compile) -> Functions:
    return {"cost": compile(objective), "dir": compile(gradient)}
