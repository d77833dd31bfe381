"""Layer 11 · cli: what a user asked for in vain."""

from __future__ import annotations


class BadRequest(Exception):
    """The command makes no sense as it was given; the message says why and what would."""
