"""Layer 8 · compiler: the table of steps whose elements are found by their place."""

from __future__ import annotations

from collections.abc import Mapping

from wengert.compiler.backends.pull import Pull
from wengert.compiler.backends.pull_elements import ELEMENTS
from wengert.compiler.backends.pull_pieces import PIECES
from wengert.compiler.backends.pull_views import VIEWS

__all__ = ["PULLS"]

PULLS: Mapping[str, Pull] = {**VIEWS, **PIECES, **ELEMENTS}
"""How elements are found (NOTE [pulling]), by the name of the primitive."""
