"""Layer 2 · prims: how native code computes one element of an element-wise operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Scalar(NamedTuple):
    """The scalar form of an element-wise primitive.

    Attributes
    ----------
    rule: ``rule(lane, *operands, **params)``, which emits instructions and returns the result.
    cost: Rough cycles per element, when vectorised.
    kinds: The dtype kinds in which it computes.
    inside: The source of that dtype: "result", "arguments" or "bool".
    vectors: The dtype kinds in which it is vectorised.
    params: Whether it takes the given parameters in a dtype kind.
    bits: The size of the only dtype in which it computes, if there is one.
    """

    rule: Callable[..., str]
    cost: int = 1
    kinds: str = "f"
    inside: str = "result"
    vectors: str = "f"
    params: Callable[[Mapping[str, Any], str], bool] | None = None
    bits: int | None = None
