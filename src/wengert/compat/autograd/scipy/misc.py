"""Layer 9 · compat: ``autograd.scipy.misc``, from which old programs import `logsumexp`."""

from wengert.compat.autograd.scipy.special import logsumexp

__all__ = ["logsumexp"]
