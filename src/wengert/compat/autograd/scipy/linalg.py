"""Layer 9 · compat: ``autograd.scipy.linalg``: the functions of `wengert.scipy.linalg` on boxes.

>>> from wengert.compat.autograd.scipy.linalg import solve_triangular
>>> a = np.array([[2.0, 0.0], [1.0, 1.0]])
>>> np.tril(grad(lambda a: solve_triangular(a, np.ones(2), lower=True)[1])(a))
array([[ 0.25,  0.  ],
       [-0.5 , -0.5 ]])
"""

from wengert.compat.autograd.scipy.dispatch import named_by
from wengert.scipy import linalg as _linalg

__getattr__, __dir__ = named_by(
    globals(), "linalg", "", {name: getattr(_linalg, name) for name in _linalg.__all__}
)
