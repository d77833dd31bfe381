"""Layer 9 · compat: ``mxnet.np.linalg``.

>>> from wengert.compat.mxnet import np
>>> np.linalg.norm(np.array([3.0, 4.0]))
array(5.)
"""

from wengert.compat.mxnet.base import public as _public
from wengert.compat.mxnet.numpy.functions import function_of as _function_of
from wengert.numpy import linalg as _linalg

_NAMES = [name for name in dir(_linalg) if name != "LinAlgError"]
globals().update({name: _function_of(f"linalg.{name}") for name in _NAMES})
__all__ = _public(globals(), " ".join(_NAMES))
