"""Layer 9 · compat: the module that programs import the vector spaces of arrays from."""

from wengert.compat.autograd.vspaces import ArrayVSpace, ComplexArrayVSpace

__all__ = ["ArrayVSpace", "ComplexArrayVSpace"]
