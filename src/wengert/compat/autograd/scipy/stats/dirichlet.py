"""Layer 9 · compat: the Dirichlet distribution, with SciPy's names."""

from __future__ import annotations

from typing import Any

from wengert.compat.autograd.scipy.dispatch import found
from wengert.compat.autograd.scipy.stats.formulas import FORMULAS


def __getattr__(name: str) -> Any:
    made = found(__name__, "stats", "dirichlet", name, FORMULAS["dirichlet"])
    return globals().setdefault(name, made)
