"""Layer 8 · scipy: SciPy's solvers, with derivatives of functions written in wengert.

The functions have the names, arguments and results of `scipy.optimize`. They differentiate the
functions that they are given, so no solver uses finite differences; parameters may be nested.
"""

from wengert.base.names import shows
from wengert.scipy.equations import root as root
from wengert.scipy.equations import root_scalar as root_scalar
from wengert.scipy.fit import curve_fit as curve_fit
from wengert.scipy.fit import least_squares as least_squares
from wengert.scipy.minimise import Callables as Callables
from wengert.scipy.minimise import callables as callables
from wengert.scipy.minimise import minimize as minimize
from wengert.scipy.minimise import minimize_scalar as minimize_scalar

__all__ = [
    "Callables",
    "callables",
    "curve_fit",
    "least_squares",
    "minimize",
    "minimize_scalar",
    "root",
    "root_scalar",
]
__dir__ = shows(__all__)
