"""Layer 9 · compat: ``tf.bitwise``: bitwise functions of integers."""

from __future__ import annotations

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.refusal import refusing as _refusing

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    functions.binary: bitwise_and bitwise_or bitwise_xor invert left_shift right_shift
    """,
)


__getattr__ = _refusing("bitwise")
