"""Layer 8 · compiler: all index maps."""

from __future__ import annotations

from wengert.compiler.backends import gather_maps, join_maps, view_maps
from wengert.compiler.backends.index_maps import INDEX_MAPS

__all__ = ["INDEX_MAPS", "gather_maps", "join_maps", "view_maps"]
