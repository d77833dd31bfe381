"""Layer 9 · compat: ``autograd.scipy.stats``: densities and distribution functions.

Of boxes they are formulas that differentiate by all arguments, to any order; distribution functions
differentiate by those by which SciPy's special functions do. On NumPy's own arrays everything is
SciPy's.

>>> import wengert.compat.autograd.numpy as np
>>> from wengert.compat.autograd import grad
>>> from wengert.compat.autograd.scipy.stats import norm
>>> grad(norm.logpdf, (0, 1, 2))(1.0, 0.0, 2.0)
(np.float64(-0.25), np.float64(0.25), np.float64(-0.375))
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = frozenset(
    (
        "bernoulli",
        "beta",
        "chi2",
        "dirichlet",
        "expon",
        "gamma",
        "multivariate_normal",
        "norm",
        "poisson",
        "t",
        "uniform",
    )
)


def __getattr__(name: str) -> Any:
    """Distributions are imported when they are first named."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: there are {', '.join(sorted(_MODULES))}; "
        "write the density of others with autograd.numpy"
    )


def __dir__() -> list[str]:
    return sorted(_MODULES)
