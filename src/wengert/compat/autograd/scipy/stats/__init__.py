"""Layer 9 · compat: ``autograd.scipy.stats``: densities and distribution functions.

On boxes, densities are formulas that are differentiable in all arguments, to any order;
distribution functions are differentiable in the arguments in which SciPy's special functions are.
On NumPy's own arrays, SciPy's functions run.

>>> import wengert.compat.autograd.numpy as np
>>> from wengert.compat.autograd import grad
>>> from wengert.compat.autograd.scipy.stats import norm
>>> grad(norm.logpdf, (0, 1, 2))(1.0, 0.0, 2.0)
(np.float64(-0.25), np.float64(0.25), np.float64(-0.375))
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from wengert.compat.autograd.scipy.dispatch import named_by
from wengert.compat.autograd.scipy.stats.formulas import FORMULAS


def _module(name: str) -> ModuleType:
    """Return a distribution as a module that can be imported from."""
    made = ModuleType(f"{__name__}.{name}", f"The distribution `{name}`, with SciPy's names.")
    space = vars(made)
    space["__getattr__"], space["__dir__"] = named_by(space, "stats", name, FORMULAS[name])
    return sys.modules.setdefault(made.__name__, made)


globals().update({name: _module(name) for name in FORMULAS})


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: there are {', '.join(sorted(FORMULAS))}; "
        "write the density of others with autograd.numpy"
    )


def __dir__() -> list[str]:
    return sorted(FORMULAS)
