"""Layer 9 · compat: ``mxnet.random``: `seed`, and the legacy distributions.

>>> mx.random.seed(42)
"""

from wengert.compat.kit.namespaces import gathered

__all__ = gathered(globals(), "wengert.compat.mxnet", "ndarray.random: *\nsampling: seed")
