"""Layer 8 · utils: tools around a graph, under torch.utils' names."""

from __future__ import annotations

from wengert.utils import checkpoint

__all__ = ["checkpoint"]
