"""Layer 9 · compat: the module that programs import `ArrayBox` from."""

from wengert.compat.autograd.boxes import ArrayBox

__all__ = ["ArrayBox"]
