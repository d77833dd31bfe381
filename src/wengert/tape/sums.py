"""Layer 4 · tape: small loops over what the engine meets: sums of cotangents, a look at values."""

import operator
from collections.abc import Callable
from typing import Any

from wengert.tape.finite import all_finite

add_into: Callable[[Any, Any], Any] = operator.iadd
"""``add_into(have, more)`` adds to the array `have` in place."""
is_finite: Callable[[Any], bool] = all_finite
"""``is_finite(payload)``: whether all elements are finite."""
