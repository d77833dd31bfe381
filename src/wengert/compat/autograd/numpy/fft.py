"""Layer 9 · compat: discrete Fourier transforms, of NumPy's own arrays and of boxes.

>>> grad(lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 2))(np.array([1.0, 0.0, -1.0, 0.0]))
array([ 4.,  0., -4.,  0.])
"""

import numpy as _np

from wengert.compat.autograd.numpy.dispatch import function_of as _function_of
from wengert.compat.autograd.numpy.dispatch import of_numpy as _of_numpy
from wengert.compat.kit.namespaces import lazy as _lazy

__getattr__, __dir__ = _lazy(
    globals(), _of_numpy(__name__, _np.fft, "fft.", _function_of), lambda: dir(_np.fft)
)
