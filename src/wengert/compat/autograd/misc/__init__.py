"""Layer 9 · compat: ``autograd.misc``: `flatten`, optimizers, fixed points."""

from wengert.compat.autograd.misc.flatten import flatten
from wengert.compat.autograd.misc.tracers import const_graph

__all__ = ["const_graph", "flatten"]
