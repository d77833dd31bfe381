"""Test ``mx.operator``: custom operators registered by name."""

import numpy
import pytest

from wengert.compat import mxnet as mx
from wengert.compat.mxnet import autograd, gluon, nd


class Sigmoid(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        y = 1 / (1 + numpy.exp(-in_data[0].asnumpy()))
        self.assign(out_data[0], req[0], nd.array(y))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        y = out_data[0].asnumpy()
        self.assign(in_grad[0], req[0], nd.array(out_grad[0].asnumpy() * y * (1 - y)))


@mx.operator.register("a_sigmoid")
class SigmoidProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Sigmoid()


class Affine(mx.operator.CustomOp):
    def __init__(self, bias):
        self.bias = bias

    def forward(self, is_train, req, in_data, out_data, aux):
        x, w = in_data
        self.assign(out_data[0], req[0], nd.dot(x, w, transpose_b=True) + self.bias)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        x, w = in_data
        self.assign(in_grad[0], req[0], nd.dot(out_grad[0], w))
        self.assign(in_grad[1], req[1], nd.dot(out_grad[0], x, transpose_a=True))


@mx.operator.register("an_affine_map")
class AffineProp(mx.operator.CustomOpProp):
    def __init__(self, bias):
        super().__init__(True)
        assert bias == "0.5"  # texts, as in MXNet
        self.bias = float(bias)

    def list_arguments(self):
        return ["data", "weight"]

    def infer_shape(self, in_shape):
        return in_shape, [(in_shape[0][0], in_shape[1][0])], []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Affine(self.bias)


def test_a_registered_operator_computes_and_differentiates():
    x = nd.array([0, 1])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="a_sigmoid") * 3
    y.backward()
    s = 1 / (1 + numpy.exp([0, -1]))
    assert x.grad.asnumpy() == pytest.approx(3 * s * (1 - s), rel=1e-5)
    assert nd.Custom(x, op_type="a_sigmoid").asnumpy() == pytest.approx(s, rel=1e-5)


def test_shapes_of_results_and_arguments_by_name():
    x, w = nd.ones((2, 3)), nd.ones((4, 3))
    for v in (x, w):
        v.attach_grad()
    with autograd.record():
        y = nd.Custom(x, weight=w, bias=0.5, op_type="an_affine_map")
    y.backward()
    assert y.shape == (2, 4)
    assert (y.asnumpy() == 3.5).all()
    assert (x.grad.asnumpy() == 4).all()
    assert (w.grad.asnumpy() == 2).all()


def test_a_second_derivative_is_refused():
    x = nd.array([1.0])
    x.attach_grad()
    with autograd.record():
        (dx,) = autograd.grad(nd.Custom(x, op_type="a_sigmoid"), x, create_graph=True)
    with pytest.raises(mx.MXNetError, match="once_differentiable"):
        dx.backward()


def test_operators_that_are_not_there_and_arguments_that_are_missing():
    with pytest.raises(mx.MXNetError, match="Cannot find custom operator other"):
        nd.Custom(nd.ones(1), op_type="other")
    with pytest.raises(mx.MXNetError, match=r"\['data', 'weight'\], and 1 were given"):
        nd.Custom(nd.ones(1), bias=0.5, op_type="an_affine_map")
    with pytest.raises(TypeError, match="subclass of CustomOpProp"):
        mx.operator.register("wrong")(Sigmoid)


def test_a_loss_of_ones_own():
    class Margin(gluon.loss.Loss):
        def __init__(self, margin, weight=None, batch_axis=0):
            super().__init__(weight, batch_axis)
            self.margin = margin

        def hybrid_forward(self, F, pred, label):
            return F.relu(self.margin - pred * label).sum(axis=1)

    pred = nd.array([[2.0, 0.5], [-1.0, 3.0]])
    pred.attach_grad()
    with autograd.record():
        loss = Margin(1.0)(pred, nd.ones((2, 2)))
    loss.backward()
    assert loss.asnumpy().tolist() == [0.5, 2]
    assert pred.grad.asnumpy().tolist() == [[0, -1], [-1, 0]]


def test_operators_find_out_the_shapes_of_parameters():
    class Layer(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.weight = self.params.get("weight", shape=(3, 0), init="ones")
            self.kernel = self.params.get("kernel", shape=(2, 0, 2, 2), init="ones")
            self.lost = self.params.get("lost", shape=(0,), init="ones")
            self.uses_lost = False

        def hybrid_forward(self, F, x, weight, kernel, lost):
            h = F.Convolution(x, kernel, kernel=(2, 2), num_filter=2, no_bias=True)
            y = F.FullyConnected(h, weight, num_hidden=3, no_bias=True)
            return y * lost.sum() if self.uses_lost else y

    mx.npx.reset_np()
    layer = Layer()
    layer.initialize()
    assert layer(nd.ones((1, 1, 3, 3))).asnumpy().tolist() == [[32, 32, 32]]
    assert (layer.weight.shape, layer.kernel.shape) == ((3, 8), (2, 1, 2, 2))
    layer.uses_lost = True
    with pytest.raises(gluon.DeferredInitializationError, match="lost"):
        layer(nd.ones((1, 1, 3, 3)))


# by MXNet 1.9.1, for the updates 1, 6, 12 and 25
SCHEDULES = {
    "factor": (mx.lr_scheduler.FactorScheduler(10, 0.5, base_lr=1.0), [1, 1, 0.5, 0.25]),
    "several": (
        mx.lr_scheduler.MultiFactorScheduler([5, 15], 0.1, base_lr=1.0),
        [1, 0.1, 0.1, 0.01],
    ),
    "power": (mx.lr_scheduler.PolyScheduler(20, base_lr=1.0), [0.9025, 0.49, 0.16, 0]),
    "cosine": (
        mx.lr_scheduler.CosineScheduler(20, base_lr=1.0, final_lr=0.1),
        [0.99446, 0.8145, 0.41094, 0.1],
    ),
    "warmed": (
        mx.lr_scheduler.CosineScheduler(20, 1.0, warmup_steps=5, warmup_begin_lr=0.1),
        [0.28, 0.98907, 0.55226, 0],
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_of_learning_rates(name):
    schedule, expected = SCHEDULES[name]
    assert [schedule(i) for i in (1, 6, 12, 25)] == pytest.approx(expected, abs=1e-5)


def test_a_trainer_follows_a_schedule():
    w = gluon.Parameter("w", shape=(1,))
    w.initialize(mx.init.One())
    schedule = mx.lr_scheduler.FactorScheduler(2, 0.5)
    trainer = gluon.Trainer([w], "sgd", {"learning_rate": 0.5, "lr_scheduler": schedule})
    rates = []
    for _ in range(4):
        with autograd.record():
            y = w.data() * 1
        y.backward()
        trainer.step(1)
        rates.append(trainer.learning_rate)
    assert rates == [0.5, 0.5, 0.25, 0.25]
    with pytest.raises(UserWarning, match="LRScheduler"):
        trainer.set_learning_rate(1)
