"""Layer 5 · ops: signatures of functions that forward their arguments, for `inspect`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


class HandsOn:
    """Stands as ``__wrapped__`` of a function that hands its arguments on to `operation`.

    The signature is made when somebody asks for it: a call costs what it did.

    Parameters
    ----------
    operation: Takes the arguments.
    first: How the function calls the first one.
    out: Whether the function takes `out`, whatever `operation` does.
    """

    __slots__ = ("first", "operation", "out")

    def __init__(self, operation: Callable[..., Any], first: str = "self", out: bool = False):
        self.operation = operation
        self.first = first
        self.out = out

    @property
    def __signature__(self) -> inspect.Signature:
        found = inspect.signature(self.operation)
        first, *others = found.parameters.values()
        kept = [first.replace(name=self.first), *(p for p in others if p.name != "out")]
        if self.out:
            out = inspect.Parameter(
                "out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Any"
            )
            at = len(kept) - (kept[-1].kind is inspect.Parameter.VAR_KEYWORD)
            kept.insert(at, out)
        return found.replace(parameters=kept)
