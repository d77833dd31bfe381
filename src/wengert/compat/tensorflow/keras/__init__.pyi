"""What `wengert.compat.tensorflow.keras` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from builtins import str as _str
from wengert.compat.tensorflow import initializers as initializers
from wengert.compat.tensorflow.environment import name_scope as name_scope
from wengert.compat.tensorflow.keras import activations as activations, backend as backend, callbacks as callbacks, config as config, constraints as constraints, layers as layers, losses as losses, metrics as metrics, mixed_precision as mixed_precision, models as models, ops as ops, optimizers as optimizers, random as random, regularizers as regularizers, saving as saving, tree as tree, utils as utils
from wengert.compat.tensorflow.keras.layer import Layer as Layer
from wengert.compat.tensorflow.keras.layers import Input as Input
from wengert.compat.tensorflow.keras.losses import Loss as Loss
from wengert.compat.tensorflow.keras.means import Metric as Metric
from wengert.compat.tensorflow.keras.models import Model as Model, Sequential as Sequential
from wengert.compat.tensorflow.keras.optimizers import Optimizer as Optimizer
from wengert.compat.tensorflow.keras.policies import DTypePolicy as DTypePolicy
from wengert.compat.tensorflow.keras.regularizers import Regularizer as Regularizer
from wengert.compat.tensorflow.keras.symbols import Symbol as KerasTensor
from wengert.compat.tensorflow.typing import Variable as Variable

__version__: _str
