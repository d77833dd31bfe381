"""nbody: the energy of bodies that attract each other, a step later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg

SOFT = 0.01
"""Keeps the forces between bodies that meet finite."""
STEP = 0.01


def arguments(input: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(wg.from_numpy(input[name]) for name in ("x", "v", "masses"))


def apart(x: Any) -> tuple[Any, Any]:
    """The vectors between all pairs, and their inverse lengths."""
    vectors = x[:, None] - x
    return vectors, (vectors.square().sum(-1) + SOFT).rsqrt()


def objective(x: Any, v: Any, masses: Any) -> Any:
    vectors, inverse = apart(x)
    v = v - STEP * ((masses * inverse**3)[..., None] * vectors).sum(1)
    _, inverse = apart(x + STEP * v)
    kinetic = (masses * v.square().sum(1)).sum()
    return (kinetic - masses @ inverse @ masses) / 2


gradient = wg.func.grad(objective, argnums=(0, 1))
