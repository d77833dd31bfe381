"""Layer 9 · compat: ``gluon.nn``: layers.

>>> from wengert.compat.mxnet import np, npx
>>> from wengert.compat.mxnet.gluon import nn
>>> npx.set_np()
>>> net = nn.HybridSequential()
>>> net.add(nn.Dense(3, activation="relu"), nn.Dense(1))
>>> net.initialize()
>>> net(np.ones((2, 4))).shape
(2, 1)
>>> net
HybridSequential(
  (0): Dense(4 -> 3, Activation(relu))
  (1): Dense(3 -> 1, linear)
)
"""

from wengert.compat.kit.namespaces import gathered
from wengert.compat.mxnet.base import absence

__all__ = gathered(
    globals(),
    "wengert.compat.mxnet.gluon",
    """
    basic_layers: * -Stack -called
    block: Block HybridBlock
    """,
)


__getattr__ = absence("wengert.compat.mxnet.gluon.nn")
