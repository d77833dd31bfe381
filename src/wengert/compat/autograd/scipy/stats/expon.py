"""Layer 9 · compat: the exponential distribution, with SciPy's names."""

from __future__ import annotations

from wengert.compat.autograd.scipy.dispatch import named_by
from wengert.compat.autograd.scipy.stats.formulas import FORMULAS

__getattr__, __dir__ = named_by(globals(), "stats", "expon", FORMULAS["expon"])
