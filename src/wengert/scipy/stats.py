"""Layer 8 · scipy: distributions under the names of `scipy.stats`, with derivatives.

Each has the functions among ``logpdf``, ``pdf``, ``cdf``, ``logcdf``, ``sf``, ``logsf``, ``ppf``
and ``isf`` (``logpmf``, ``pmf`` for integers) for which the tables of `wengert.scipy.densities` and
`wengert.scipy.further` have a formula. They take numbers, arrays and tensors, and compute in double
precision unless all arrays have another precision. Densities are differentiable in the value,
``loc``, ``scale`` and the shape parameters; distribution functions in the arguments in which
SciPy's special functions are.

>>> import wengert.scipy.stats as stats
>>> x = wg.tensor([0.5, 1.5], dtype=wg.float64, requires_grad=True)
>>> stats.gamma.logpdf(x, 2.0, scale=0.5).sum().backward()
>>> x.grad
tensor([ 0.0000, -1.3333], dtype=torch.float64)
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from wengert.base.extras import scipy_module
from wengert.base.sections import fill_sections
from wengert.scipy.densities import TABLE, Functions, functions
from wengert.scipy.further import FURTHER
from wengert.scipy.operands import operands

ROWS = TABLE | FURTHER
"""The distributions, by SciPy's names."""

__all__ = sorted(ROWS)


class Distribution(SimpleNamespace):
    """A distribution of `scipy.stats`, with the functions that have derivatives here."""

    def __getattr__(self, name: str) -> Any:
        own = vars(self)
        raise AttributeError(
            f"{own['name']} has no {name} here: it has "
            f"{', '.join(sorted(key for key in own if key != 'name'))}"
        )


class _Special:
    """SciPy's special functions, which handle tensors by NumPy's protocol."""

    def __getattr__(self, name: str) -> Any:
        return getattr(scipy_module("special", f"scipy.special.{name}"), name)


_F = Functions(np, _Special(), operands)


def __getattr__(name: str) -> Any:
    """Make a distribution when it is first used."""
    if name not in ROWS:
        raise AttributeError(
            f"module 'wengert.scipy.stats' has no attribute {name!r}: it has {', '.join(__all__)}; "
            "wengert.distributions has more, under PyTorch's names"
        )
    # a density of 0 has the logarithm -inf without a warning
    quiet = np.errstate(divide="ignore", invalid="ignore", over="ignore")
    made = {key: quiet(function) for key, function in functions(name, _F, ROWS[name]).items()}
    for key, function in made.items():
        function.__name__ = function.__qualname__ = key
        function.__doc__ = (
            f"Compute ``{key}`` of the distribution `{name}` (see `scipy.stats.{name}`)."
        )
    return globals().setdefault(name, Distribution(name=name, **made))


def __dir__() -> list[str]:
    return list(__all__)


fill_sections(globals())
