"""Layer 3 · interp: which namespace computes with which values.

NOTE [choice of F]
A namespace gives every primitive a meaning: K computes on raw arrays, T records on the tape. Each
kind of value but the raw array carries its namespace (``value.namespace``) and its level
(``value.level``). A rule runs in the namespace of the highest-levelled value among its cotangent
*and everything saved*, since any of them may be the one that a transform follows. At one level a
tensor stands above the payload that it wraps. Every namespace takes the values of every lower one.
"""

from __future__ import annotations

from typing import Any, Protocol

from wengert.interp.eager import K

__all__ = ["Namespace", "Value", "namespace_of"]


class Namespace(Protocol):
    """The vocabulary of derivative rules: every primitive of the table as an attribute.

    Arrays are passed by position, parameters by keyword, in every namespace.
    """

    def __getattr__(self, name: str) -> Any: ...


class Value(Protocol):
    """What a value that is not a raw array says of itself."""

    namespace: Namespace
    level: int
    wraps: bool


def namespace_of(*values: Any) -> Namespace:
    """The namespace of the highest-levelled among `values` (see NOTE [choice of F])."""
    best: Namespace = K
    height = -1
    for value in values:
        own = getattr(value, "namespace", None)
        if own is not None:
            rank = 2 * value.level + value.wraps
            if rank > height:
                best, height = own, rank
    return best
