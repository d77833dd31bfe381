"""Layer 5 · ops: the named tuple of `frexp`."""

from wengert.ops.return_types import Results


class frexp(Results, fields="mantissa exponent"):
    """Mantissas and exponents of 2."""

    __slots__ = ()
