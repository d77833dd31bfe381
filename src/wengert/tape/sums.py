"""Layer 4 · tape: small loops of the engine: sums of cotangents, checks for finite values."""

import operator
from collections.abc import Callable
from typing import Any

from wengert.tape.finite import all_finite

add_into: Callable[[Any, Any], Any] = operator.iadd
"""``add_into(have, more)`` adds to the array `have` in place."""
is_finite: Callable[[Any], bool] = all_finite
"""``is_finite(payload)`` returns whether all elements are finite."""
