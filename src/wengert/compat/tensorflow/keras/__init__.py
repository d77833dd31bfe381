"""Layer 9 · compat: ``tf.keras``: the part that tutorials on differentiation and training use.

>>> layers = [tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)]
>>> model = tf.keras.Sequential(layers)
>>> model(tf.ones([4, 3])).shape
TensorShape([4, 1])
"""

from __future__ import annotations

from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import offered
from wengert.compat.tensorflow import initializers as initializers
from wengert.compat.tensorflow import random as random
from wengert.compat.tensorflow.keras import activations as activations
from wengert.compat.tensorflow.keras import backend as backend
from wengert.compat.tensorflow.keras import callbacks as callbacks
from wengert.compat.tensorflow.keras import constraints as constraints
from wengert.compat.tensorflow.keras import layers as layers
from wengert.compat.tensorflow.keras import losses as losses
from wengert.compat.tensorflow.keras import metrics as metrics
from wengert.compat.tensorflow.keras import models as models
from wengert.compat.tensorflow.keras import optimizers as optimizers
from wengert.compat.tensorflow.keras import regularizers as regularizers
from wengert.compat.tensorflow.keras import saving as saving
from wengert.compat.tensorflow.keras import utils as utils
from wengert.compat.tensorflow.keras.layers import Input as Input
from wengert.compat.tensorflow.keras.layers import Layer as Layer
from wengert.compat.tensorflow.keras.losses import Loss as Loss
from wengert.compat.tensorflow.keras.metrics import Metric as Metric
from wengert.compat.tensorflow.keras.models import Model as Model
from wengert.compat.tensorflow.keras.models import Sequential as Sequential
from wengert.compat.tensorflow.keras.optimizers import Optimizer as Optimizer
from wengert.compat.tensorflow.keras.regularizers import Regularizer as Regularizer
from wengert.compat.tensorflow.refusal import refusing as _refusing
from wengert.compat.tensorflow.variable import Variable as Variable

__getattr__ = _refusing("keras")


_MODULES = """
    activations backend callbacks constraints initializers layers losses metrics models optimizers
    random regularizers saving utils
    """
__all__ = offered(globals(), "wengert.compat.tensorflow", _MODULES)
fill_sections(globals())
