"""Inputs in the form that the suite sends, with arrays in place of lists, of any size.

The same call gives the same input.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Input = Any


def _generator(*size: int) -> np.random.Generator:
    return np.random.default_rng((2024, *size))


def hello() -> Input:
    return 3.0


def gmm(d: int, k: int, n: int) -> Input:
    rng = _generator(d, k, n)
    return {
        "d": d,
        "k": k,
        "n": n,
        "alpha": rng.normal(size=k),
        "mu": rng.uniform(size=(k, d)),
        "q": rng.normal(size=(k, d)),
        "l": rng.normal(size=(k, d * (d - 1) // 2)),
        "x": rng.normal(size=(n, d)),
        "gamma": 1.0,
        "m": 0,
    }


def ba(n: int, m: int, p: int) -> Input:
    rng = _generator(n, m, p)
    rotation, centre = 0.1 * rng.normal(size=3), rng.normal(size=3)
    focal, principal, radial = [500.0], 5 * rng.normal(size=2), 1e-2 * rng.normal(size=2)
    return {
        "n": n,
        "m": m,
        "p": p,
        "cam": np.concatenate((rotation, centre, focal, principal, radial)),
        "x": np.array([0.5, -0.4, 8.0]) + 0.1 * rng.normal(size=3),
        "w": 0.7,
        "feat": 20 * rng.normal(size=2),
    }


def _hand(rng: np.random.Generator, vertices: int) -> dict[str, Any]:
    """Bones from the wrist to five fingers of four, and a forearm; a mesh around them."""
    parents = (
        [-1]
        + [0 if joint == 0 else 4 * finger + joint for finger in range(5) for joint in range(4)]
        + [0]
    )
    bones = len(parents)
    turns = np.linalg.qr(rng.normal(size=(bones, 3, 3)))[0]
    relatives = np.zeros((bones, 4, 4))
    relatives[:, :3, :3] = turns * np.linalg.det(turns)[:, None, None]
    relatives[:, :3, 3] = rng.normal(size=(bones, 3))
    relatives[:, 3, 3] = 1
    absolutes: list[Any] = []
    for relative, parent in zip(relatives, parents, strict=True):
        absolutes.append(relative if parent == -1 else absolutes[parent] @ relative)
    weights = rng.uniform(size=(vertices, bones)) * (rng.uniform(size=(vertices, bones)) < 0.2)
    weights[:, 0] += 0.1
    positions = np.ones((vertices, 4))
    positions[:, :3] = rng.normal(size=(vertices, 3))
    return {
        "bone_count": bones,
        "bone_names": [f"bone{i}" for i in range(bones)],
        "parents": np.array(parents),
        "base_relatives": relatives,
        "inverse_base_absolutes": np.linalg.inv(np.array(absolutes)),
        "base_positions": positions,
        "weights": weights / weights.sum(1, keepdims=True),
        "triangles": rng.integers(0, vertices, size=(2 * vertices, 3)),
        "is_mirrored": False,
    }


def ht(vertices: int, points: int, triangles: bool) -> Input:
    rng = _generator(vertices, points)
    model = _hand(rng, vertices)
    kinds = 2 * vertices if triangles else vertices
    return {
        "theta": 0.3 * rng.normal(size=26),
        "data": {
            "model": model,
            "correspondences": rng.integers(0, kinds, size=points),
            "points": rng.normal(size=(points, 3)),
        },
        "us": rng.uniform(size=(points, 2)) / 2 if triangles else [],
    }


def lstm(layers: int, characters: int) -> Input:
    bits = 14
    rng = _generator(layers, characters)
    return {
        "main_params": rng.uniform(size=(2 * layers, 4 * bits)),
        "extra_params": rng.uniform(size=(3, bits)),
        "state": rng.uniform(size=(2 * layers, bits)),
        "sequence": rng.integers(0, 2, size=(characters, bits)).astype(float),
    }


def kmeans(k: int, n: int, d: int) -> Input:
    points = _generator(k, n, d).uniform(size=(n, d))
    # so that no cluster is empty
    return {"points": points, "centroids": points[-k:]}


def ode(n: int, s: int) -> Input:
    return {"x": _generator(n, s).uniform(size=n), "s": s}


def llsq(n: int, m: int) -> Input:
    return {"x": _generator(n, m).uniform(size=m), "n": n}


def lse(n: int) -> Input:
    return {"x": _generator(n).uniform(-100, 100, size=n)}


def det(ell: int) -> Input:
    return {"A": _generator(ell).uniform(size=ell * ell), "ell": ell}


def particle() -> Input:
    return {"w": 0.0}


def saddle() -> Input:
    return {"start": [1.0, 1.0]}


def network(samples: int, inputs: int, hidden: int, outputs: int) -> Input:
    rng = _generator(samples, inputs, hidden, outputs)
    shapes = {
        "w1": (inputs, hidden),
        "w2": (hidden, outputs),
        "x": (samples, inputs),
        "y": (samples, outputs),
    }
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def rosenbrock(n: int) -> Input:
    return {"x": _generator(n).uniform(0.5, 1.5, size=n)}


def nbody(n: int) -> Input:
    rng = _generator(n)
    x, v = rng.normal(size=(2, n, 3))
    return {"x": x, "v": v, "masses": rng.uniform(size=n)}


def plain(input: Any) -> Any:
    """The input as it goes over the wire: lists for arrays."""
    if isinstance(input, Mapping):
        return {name: plain(value) for name, value in input.items()}
    return input.tolist() if isinstance(input, np.ndarray) else input
