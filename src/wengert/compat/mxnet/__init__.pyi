"""What `wengert.compat.mxnet` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from builtins import str as _str

from wengert.compat.mxnet.context import Context as Context
from wengert.compat.mxnet.base import MXNetError as MXNetError
from wengert.compat.mxnet import autograd as autograd
from wengert.compat.mxnet import base as base
from wengert.compat.mxnet import context as context
from wengert.compat.mxnet.context import cpu as cpu
from wengert.compat.mxnet.context import cpu_pinned as cpu_pinned
from wengert.compat.mxnet.context import current_context as current_context
from wengert.compat.mxnet import gluon as gluon
from wengert.compat.mxnet.context import gpu as gpu
from wengert.compat.mxnet import image as image
from wengert.compat.mxnet import image as img
from wengert.compat.mxnet import initializer as init
from wengert.compat.mxnet import initializer as initializer
from wengert.compat.mxnet.util import is_np_array as is_np_array
from wengert.compat.mxnet.util import is_np_shape as is_np_shape
from wengert.compat.mxnet import lr_scheduler as lr_scheduler
from wengert.compat.mxnet import metric as metric
from wengert.compat.mxnet import ndarray as nd
from wengert.compat.mxnet import ndarray as ndarray
from wengert.compat.mxnet import numpy as np
from wengert.compat.mxnet.util import np_array as np_array
from wengert.compat.mxnet.util import np_shape as np_shape
from wengert.compat.mxnet import numpy_extension as npx
from wengert.compat.mxnet import numpy as numpy
from wengert.compat.mxnet import numpy_extension as numpy_extension
from wengert.compat.mxnet import operator as operator
from wengert.compat.mxnet import optimizer as optimizer
from wengert.compat.mxnet import random as random
from wengert.compat.mxnet import test_utils as test_utils
from wengert.compat.mxnet.util import use_np as use_np
from wengert.compat.mxnet import util as util
__version__: _str
