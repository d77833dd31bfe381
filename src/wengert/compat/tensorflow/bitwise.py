"""Layer 9 · compat: ``tf.bitwise``: bitwise functions of integers."""

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.words import refusing as _refusing

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    functions.binary: *_shift bitwise_* invert
    """,
)


__getattr__ = _refusing("bitwise")
