"""Layer 9 · compat: ``autograd.misc``: `flatten`, optimizers, fixed points."""

from wengert.compat.autograd.misc.flatten import flatten

__all__ = ["flatten"]
