"""Layer 8 · compiler: the facet of steps whose elements are found by their place, all said."""

from __future__ import annotations

from wengert.compiler.backends import pull_elements, pull_joined, pull_views
from wengert.compiler.backends.pull import PULLS

__all__ = ["PULLS", "pull_elements", "pull_joined", "pull_views"]
