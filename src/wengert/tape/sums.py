"""Layer 4 · tape: the sum of cotangents, into an array that the engine owns."""

import operator
from collections.abc import Callable
from typing import Any

__all__ = ["add_into"]

add_into: Callable[[Any, Any], Any] = operator.iadd
"""``add_into(have, more)`` adds to the array `have` in place."""
