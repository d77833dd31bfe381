"""Layer 9 · compat: where programs import `ArrayBox` from."""

from wengert.compat.autograd.boxes import ArrayBox

__all__ = ["ArrayBox"]
