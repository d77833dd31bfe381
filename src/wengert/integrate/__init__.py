"""Layer 8 · integrate: differentiable solvers of differential equations, based on SciPy."""

from wengert.base.names import shows
from wengert.integrate.solvers import OdeResult, odeint, solve_ivp

__all__ = ["OdeResult", "odeint", "solve_ivp"]
__dir__ = shows(__all__)
