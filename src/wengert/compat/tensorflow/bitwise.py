"""Layer 9 · compat: ``tf.bitwise``: functions of the bits of whole numbers."""

from __future__ import annotations

from typing import Any as _Any

from wengert.compat.tensorflow.functions.comparisons import (
    bitwise_and as bitwise_and,
)
from wengert.compat.tensorflow.functions.comparisons import (
    bitwise_or as bitwise_or,
)
from wengert.compat.tensorflow.functions.comparisons import (
    bitwise_xor as bitwise_xor,
)
from wengert.compat.tensorflow.functions.comparisons import (
    invert as invert,
)
from wengert.compat.tensorflow.functions.comparisons import (
    left_shift as left_shift,
)
from wengert.compat.tensorflow.functions.comparisons import (
    right_shift as right_shift,
)
from wengert.compat.tensorflow.refusal import refusal as _refusal

__all__ = sorted(name for name in globals() if name[0] != "_" and name != "annotations")


def __getattr__(name: str) -> _Any:
    raise _refusal("bitwise", name)
