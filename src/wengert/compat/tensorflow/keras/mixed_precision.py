"""Layer 9 · compat: ``tf.keras.mixed_precision`` (NOTE [mixed precision]).

>>> tf.keras.mixed_precision.Policy("mixed_float16").compute_dtype
'float16'
"""

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.words import refusing as _refusing

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow.keras",
    """
    policies: DTypePolicy Policy=DTypePolicy dtype_policy global_policy=dtype_policy
        set_dtype_policy set_global_policy=set_dtype_policy
    optimizers: LossScaleOptimizer
    """,
)
__getattr__ = _refusing("keras.mixed_precision")
