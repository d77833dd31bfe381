"""Layer 5 · ops: the named tuple of `frexp`."""

from __future__ import annotations

from operator import itemgetter

from wengert.ops.return_types import Results


class frexp(Results):
    """Mantissas and exponents of 2."""

    __slots__ = ()
    __match_args__ = ("mantissa", "exponent")
    mantissa = property(itemgetter(0))
    exponent = property(itemgetter(1))
