"""Layer 9 · compat: ``autograd.scipy.misc``, where `logsumexp` was in old programs."""

from __future__ import annotations

from wengert.compat.autograd.scipy.special import logsumexp

__all__ = ["logsumexp"]
