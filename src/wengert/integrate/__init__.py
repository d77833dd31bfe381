"""Layer 8 · integrate: differential equations on SciPy's solvers, with derivatives."""

from __future__ import annotations

from wengert.base.names import shows
from wengert.integrate.solvers import OdeResult, odeint, solve_ivp

__all__ = ["OdeResult", "odeint", "solve_ivp"]
__dir__ = shows(__all__)
