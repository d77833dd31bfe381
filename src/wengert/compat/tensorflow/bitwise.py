"""Layer 9 · compat: ``tf.bitwise``: functions of the bits of whole numbers."""

from __future__ import annotations

from typing import Any as _Any

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.refusal import refusal as _refusal

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    functions.comparisons: bitwise_and bitwise_or bitwise_xor invert left_shift right_shift
    """,
)


def __getattr__(name: str) -> _Any:
    raise _refusal("bitwise", name)
