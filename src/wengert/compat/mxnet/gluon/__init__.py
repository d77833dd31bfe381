"""Layer 9 · compat: ``mxnet.gluon``: a small set of layers, losses, trainers and data loaders.

>>> from wengert.compat.mxnet import autograd, gluon, init, np, npx
>>> from wengert.compat.mxnet.gluon import nn
>>> npx.set_np()
>>> net = nn.Sequential()
>>> net.add(nn.Dense(1))
>>> net.initialize(init.Normal(sigma=0.01))
>>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
>>> X = np.array([[1.0], [2.0]])
>>> with autograd.record():
...     loss = gluon.loss.L2Loss()(net(X), 2 * X)
>>> loss.backward()
>>> trainer.step(batch_size=2)
"""

from __future__ import annotations

from wengert.compat.mxnet.base import absence as _absence
from wengert.compat.mxnet.gluon import data as data
from wengert.compat.mxnet.gluon import loss as loss
from wengert.compat.mxnet.gluon import nn as nn
from wengert.compat.mxnet.gluon import rnn as rnn
from wengert.compat.mxnet.gluon import utils as utils
from wengert.compat.mxnet.gluon.block import Block as Block
from wengert.compat.mxnet.gluon.block import HybridBlock as HybridBlock
from wengert.compat.mxnet.gluon.parameter import Constant as Constant
from wengert.compat.mxnet.gluon.parameter import (
    DeferredInitializationError as DeferredInitializationError,
)
from wengert.compat.mxnet.gluon.parameter import Parameter as Parameter
from wengert.compat.mxnet.gluon.parameter import ParameterDict as ParameterDict
from wengert.compat.mxnet.gluon.trainer import Trainer as Trainer

_CURES = {
    "SymbolBlock": "models are Python functions here: write a Block",
    "contrib": "write the layer as a Block",
    "model_zoo": "there are no trained models here",
}


__getattr__ = _absence("wengert.compat.mxnet.gluon", _CURES)
