"""What `wengert.compat.mxnet` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from builtins import str as _str
from wengert.compat.mxnet import autograd as autograd, base as base, context as context, gluon as gluon, image as image, image as img, initializer as init, initializer as initializer, lr_scheduler as lr_scheduler, metric as metric, ndarray as nd, ndarray as ndarray, numpy as np, numpy as numpy, numpy_extension as npx, numpy_extension as numpy_extension, operator as operator, optimizer as optimizer, random as random, test_utils as test_utils, util as util
from wengert.compat.mxnet.base import MXNetError as MXNetError
from wengert.compat.mxnet.context import Context as Context, cpu as cpu, cpu_pinned as cpu_pinned, current_context as current_context, gpu as gpu
from wengert.compat.mxnet.util import is_np_array as is_np_array, is_np_shape as is_np_shape, np_array as np_array, np_shape as np_shape, use_np as use_np

__version__: _str
