"""Layer 9 · compat: ``autograd.scipy.stats``: densities and distribution functions.

On boxes, the functions of `wengert.scipy.stats` run; on NumPy's own arrays, SciPy's.

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
from wengert.scipy import stats


class _Formulas:
    """The functions of a distribution, which are made when they are first used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def get(self, key: str) -> Any:
        """Return the function of this name; None if there is none."""
        return vars(getattr(stats, self.name)).get(key)


def _module(name: str) -> ModuleType:
    """Return a distribution as a module that can be imported from."""
    made = ModuleType(f"{__name__}.{name}", f"The distribution `{name}`, with SciPy's names.")
    space = vars(made)
    formulas: Any = FORMULAS.get(name) or _Formulas(name)
    space["__getattr__"], space["__dir__"] = named_by(space, "stats", name, formulas)
    return sys.modules.setdefault(made.__name__, made)


globals().update({name: _module(name) for name in (*FORMULAS, *stats.ROWS)})


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and name in dir(stats):
        return globals().setdefault(name, _module(name))
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: there are {', '.join(__dir__())}; "
        "write the density of others with autograd.numpy"
    )


def __dir__() -> list[str]:
    return sorted({*FORMULAS, *dir(stats)})
