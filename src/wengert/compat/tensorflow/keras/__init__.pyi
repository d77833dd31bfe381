"""What `wengert.compat.tensorflow.keras` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from builtins import str as _str

from wengert.compat.tensorflow.keras.layers import Input as Input
from wengert.compat.tensorflow.keras.layer import Layer as Layer
from wengert.compat.tensorflow.keras.losses import Loss as Loss
from wengert.compat.tensorflow.keras.means import Metric as Metric
from wengert.compat.tensorflow.keras.models import Model as Model
from wengert.compat.tensorflow.keras.optimizers import Optimizer as Optimizer
from wengert.compat.tensorflow.keras.regularizers import Regularizer as Regularizer
from wengert.compat.tensorflow.keras.models import Sequential as Sequential
from wengert.compat.tensorflow.typing import Variable as Variable
from wengert.compat.tensorflow.keras import activations as activations
from wengert.compat.tensorflow.keras import backend as backend
from wengert.compat.tensorflow.keras import callbacks as callbacks
from wengert.compat.tensorflow.keras import constraints as constraints
from wengert.compat.tensorflow import initializers as initializers
from wengert.compat.tensorflow.keras import layers as layers
from wengert.compat.tensorflow.keras import losses as losses
from wengert.compat.tensorflow.keras import metrics as metrics
from wengert.compat.tensorflow.keras import models as models
from wengert.compat.tensorflow.keras import ops as ops
from wengert.compat.tensorflow.keras import optimizers as optimizers
from wengert.compat.tensorflow.keras import random as random
from wengert.compat.tensorflow.keras import regularizers as regularizers
from wengert.compat.tensorflow.keras import saving as saving
from wengert.compat.tensorflow.keras import utils as utils
__version__: _str
