"""Layer 11 · cli: the error for invalid requests."""


class BadRequest(Exception):
    """An invalid command; the message says why, and what would work."""
