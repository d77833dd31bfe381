"""Layer 9 · compat: the functions that define custom derivatives.

>>> import numpy
>>> from wengert.compat.autograd.extend import defvjp, primitive
>>> @primitive
... def logsumexp(x):
...     largest = numpy.max(x)
...     return largest + numpy.log(numpy.sum(numpy.exp(x - largest)))
>>> defvjp(logsumexp, lambda ans, x: lambda g: np.full(x.shape, g) * np.exp(x - ans))
>>> grad(logsumexp)(np.array([0.0, 0.0]))
array([0.5, 0.5])
"""

from wengert.compat.autograd.internals import internals
from wengert.compat.kit.namespaces import gathered

__all__ = gathered(
    globals(),
    "wengert.compat.autograd",
    """
    boxes: Box
    primitives: def_linear defjvp defjvp_argnum defjvp_argnums defvjp defvjp_argnum defvjp_argnums
        notrace_primitive primitive register_notrace
    vspaces: VSpace vspace
    """,
)
__getattr__ = internals(globals(), "JVPNode SparseObject VJPNode", "primitive, defvjp and defjvp")
