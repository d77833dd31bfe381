"""Layer 9 · compat: distributions under the names of ``jax.scipy.stats``.

Each is a module of functions: ``logpdf``, ``pdf``, ``cdf``, ... (``logpmf``, ``pmf`` for integers),
differentiable in the arguments in which the distribution is continuous.

>>> jax.scipy.stats.norm.logpdf(0.0)
Array(-0.9189385, dtype=float32, weak_type=True)
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.jax.scipy.stats import several as _several

_DISTRIBUTIONS = _several.DISTRIBUTIONS


def _module(name: str, functions: dict[str, Any]) -> ModuleType:
    """Build a module of functions that can be imported from."""
    made = ModuleType(f"{__name__}.{name}", f"The distribution `{name}`: {', '.join(functions)}.")
    for key, function in functions.items():
        function.__name__ = function.__qualname__ = key
        function.__module__ = made.__name__
        function.__doc__ = f"``{key}`` of the distribution `{name}`: see `scipy.stats.{name}`."
        setattr(made, key, function)
    sys.modules[made.__name__] = made
    return made


_MODULES = {name: _module(name, functions) for name, functions in _DISTRIBUTIONS.items()}
globals().update(_MODULES)
mode, rankdata, sem = _several.mode, _several.rankdata, _several.sem


def __getattr__(name: str) -> Any:
    if name == "gaussian_kde":
        return importlib.import_module(f"{__name__}.kde").gaussian_kde
    raise AttributeError(f"module 'jax.scipy.stats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_MODULES, "gaussian_kde", "mode", "rankdata", "sem"])


fill_sections(globals())
