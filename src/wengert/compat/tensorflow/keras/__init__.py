"""Layer 9 · compat: ``tf.keras``: the part that tutorials on differentiation and training use.

>>> layers = [tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)]
>>> model = tf.keras.Sequential(layers)
>>> model(tf.ones([4, 3])).shape
TensorShape([4, 1])
"""

from __future__ import annotations

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.refusal import refusing as _refusing

__version__ = "3.15.1"
__getattr__ = _refusing("keras")
__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    keras.layers: Input Layer
    keras.losses: Loss
    keras.metrics: Metric
    keras.models: Model Sequential
    keras.optimizers: Optimizer
    keras.regularizers: Regularizer
    variable: Variable
    """,
    """
    initializers random keras.activations keras.backend keras.callbacks keras.constraints
    keras.layers keras.losses keras.metrics keras.models keras.ops keras.optimizers
    keras.regularizers keras.saving keras.utils
    """,
)
