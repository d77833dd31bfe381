"""Layer 9 · compat: Python's infix operators, with the functions of NumPy that they stand for."""

from __future__ import annotations

from wengert.prims.facet import OPERATOR

__all__ = ["ALONE", "ARITHMETIC", "COMPARISONS", "PRIMITIVES"]


def _named(text: str) -> dict[str, str]:
    pairs = (one.partition("=") for one in text.split())
    return {symbol: name or symbol for symbol, _, name in pairs}


ARITHMETIC = _named(
    "add sub=subtract mul=multiply truediv=true_divide floordiv=floor_divide mod=remainder divmod "
    "pow=power matmul and=bitwise_and or=bitwise_or xor=bitwise_xor lshift=left_shift "
    "rshift=right_shift"
)
"""The names in NumPy of ``+``, ``-``, ... of two operands, whose forms ``__radd__`` are reflected.

The keys are the names of the methods without underscores, as for all operators here.
"""
COMPARISONS = _named("eq=equal ne=not_equal lt=less le=less_equal gt=greater ge=greater_equal")
"""The names in NumPy of ``==``, ``!=``, ..."""
ALONE = _named("neg=negative abs=absolute invert")
"""The names in NumPy of operators of one operand."""
PRIMITIVES = {symbol: prim.name for prim, symbol in OPERATOR.items() if symbol}
"""The primitives of operators, by their records."""
