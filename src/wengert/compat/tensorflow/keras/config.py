"""Layer 9 · compat: ``tf.keras.config``: global settings.

>>> tf.keras.config.floatx()
'float32'
"""

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.words import refusing as _refusing

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow.keras",
    """
    globals: backend epsilon floatx image_data_format set_epsilon set_floatx
    policies: dtype_policy set_dtype_policy
    """,
)
__getattr__ = _refusing("keras.config")
