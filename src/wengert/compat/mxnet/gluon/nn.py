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

from __future__ import annotations

from wengert.compat.kit.namespaces import gathered
from wengert.compat.mxnet.base import absence

__all__ = gathered(
    globals(),
    "wengert.compat.mxnet.gluon",
    """
    basic_layers: Activation BatchNorm Dense Dropout ELU Embedding Flatten GELU GroupNorm
        HybridLambda HybridSequential Identity InstanceNorm Lambda LayerNorm LeakyReLU PReLU
        ReflectionPad2D SELU Sequential Swish SyncBatchNorm
    block: Block HybridBlock
    basic_layers: AvgPool1D AvgPool2D AvgPool3D Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D
        Conv3DTranspose GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D
        GlobalMaxPool2D GlobalMaxPool3D MaxPool1D MaxPool2D MaxPool3D
    """,
)


__getattr__ = absence("wengert.compat.mxnet.gluon.nn")
