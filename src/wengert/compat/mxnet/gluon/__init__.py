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

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.mxnet.base import absence as _absence

__all__ = _gathered(
    globals(),
    "wengert.compat.mxnet.gluon",
    """
    block: Block HybridBlock
    parameter: Constant DeferredInitializationError Parameter ParameterDict
    trainer: Trainer
    """,
    "data loss nn rnn utils",
)


__getattr__ = _absence("wengert.compat.mxnet.gluon")
