"""Layer 11 · cli: formulas of derivatives, found by running their rules on symbols."""

from __future__ import annotations

from wengert.interp.formulas import cotangent, generic, pulled
from wengert.prims.record import Primitive

_LONGEST = 120
"""A longer formula says less than the rule itself."""


def formulas_of(prim: Primitive, kind: str = "f") -> dict[str, str | None]:
    """Return each argument's cotangent as a formula of ``g``; None where there is no short one.

    Parameters
    ----------
    kind: The kind of the arguments' dtype: some rules are another for complex numbers, ``"c"``.

    Examples
    --------
    >>> from wengert.cli.formulas import formulas_of
    >>> from wengert.prims.table import TABLE
    >>> formulas_of(TABLE["div"])
    {'self': 'g / other', 'other': '-g * self / other ** 2'}
    """
    g, values = cotangent(prim), generic(prim, kind)
    found: dict[str, str | None] = {}
    for place, (arg, rule) in enumerate(zip(prim.args, prim.rules, strict=True)):
        if rule is not None:
            made = pulled(prim, place, g, values)
            text = None if made is None else str(made)
            found[arg] = text if text is not None and len(text) <= _LONGEST else None
    return found
