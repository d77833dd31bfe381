"""Typical lines of typed programs for MXNet, which type checkers must accept."""

from __future__ import annotations

from wengert.compat.mxnet import autograd, gluon, init, metric, nd
from wengert.compat.mxnet.gluon import nn


class Net(gluon.Block):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(4, activation="relu", in_units=3)
        self.drop = nn.Dropout(0.5)
        self.last = nn.Dense(1, weight_initializer=init.Normal(0.1))

    def forward(self, x: nd.NDArray) -> nd.NDArray:
        outputs: nd.NDArray = self.last(self.drop(self.first(x)))
        return outputs


def step(net: gluon.Block, x: nd.NDArray, y: nd.NDArray) -> float:
    net.initialize(init.Xavier(magnitude=2.0))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    loss, error = gluon.loss.L2Loss(weight=1.0), metric.MSE(name="error")
    with autograd.record():
        found = loss(net(x), y)
    found.backward()
    trainer.step(x.shape[0])
    error.update([y], [net(x)])
    return float(found.mean().asscalar())


def slope(x: nd.NDArray) -> nd.NDArray:
    x.attach_grad()
    with autograd.record():
        y = nd.sum(nd.exp(x) * 2.0 + x[0], axis=0)
    y.backward()
    gradient: nd.NDArray = x.grad
    return gradient


def pieces() -> list[int]:
    a = nd.array([[1.0, 2.0], [3.0, 4.0]])
    first, second = nd.split(a, 2, axis=0)
    b = nd.concat(first, second, nd.zeros((1, 2)), dim=0)
    numbers: list[int] = b.reshape((-1,)).astype("int32").asnumpy().tolist()
    return numbers
