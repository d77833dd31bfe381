"""Layer 9 · compat: the chi-squared distribution, with SciPy's names."""

from __future__ import annotations

from wengert.compat.autograd.scipy.dispatch import named_by
from wengert.compat.autograd.scipy.stats.formulas import FORMULAS

__getattr__, __dir__ = named_by(globals(), "stats", "chi2", FORMULAS["chi2"])
