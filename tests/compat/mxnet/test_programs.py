"""Test programs in the style of MXNet's tutorials on autograd."""

import itertools
import math

import numpy
import pytest

from wengert.compat import mxnet as mx
from wengert.compat.mxnet import autograd, nd, np, npx


def test_control_flow_decides_what_is_recorded():
    def f(a):
        b = a * 2
        while np.linalg.norm(b) < 1000:
            b = b * 2
        return b if b.sum() > 0 else 100 * b

    for value in (0.37, -1.2):
        a = np.array(value)
        a.attach_grad()
        with autograd.record():
            d = f(a)
        d.backward()
        assert a.grad == d / a


def test_a_number_of_steps_that_depends_on_the_value():
    def f(x):
        y = x
        if x < 0.75:
            for _ in range(math.floor(1 / (1 - x.asscalar()))):
                y = y * x
        else:
            y = y * 0
        return y

    def slope(x):
        x.attach_grad()
        with autograd.record():
            y = f(x)
        y.backward()
        return x.grad.asscalar()

    xs = nd.array([0.1, 0.55, 0.7, 0.9])
    assert [slope(x) for x in xs] == pytest.approx([0.2, 3 * 0.55**2, 4 * 0.7**3, 0], rel=1e-5)


def test_head_gradients_are_the_chain_rule():
    x = nd.array([[1, 2], [3, 4]])
    x.attach_grad()
    with autograd.record():
        y = x * 2
        z = y * x
    z.backward(nd.array([[10, 1], [0.1, 0.01]]))
    assert x.grad.asnumpy() == pytest.approx(numpy.array([[40, 8], [1.2, 0.16]]))


def test_linear_regression_from_scratch():
    mx.random.seed(1)
    X = np.random.normal(0, 1, (200, 2))
    y = np.dot(X, np.array([2, -3.4])) + 4.2
    w, b = np.random.normal(0, 0.01, (2, 1)), np.zeros(1)
    w.attach_grad()
    b.attach_grad()
    for _ in range(4):
        for i in range(0, 200, 10):
            with autograd.record():
                loss = (np.dot(X[i : i + 10], w) + b - y[i : i + 10].reshape(-1, 1)) ** 2 / 2
            loss.backward()
            for param in (w, b):
                param[:] = param - 0.1 * param.grad / 10
    assert w.asnumpy().ravel() == pytest.approx([2, -3.4], abs=0.01)
    assert b.item() == pytest.approx(4.2, abs=0.01)


def test_softmax_regression_from_scratch():
    mx.random.seed(2)
    X = np.random.normal(0, 1, (120, 3))
    labels = np.argmax(X, axis=1)
    W, b = np.zeros((3, 3)), np.zeros(3)
    params = [W, b]
    for p in params:
        p.attach_grad()

    def softmax(X):
        X_exp = np.exp(X)
        return X_exp / X_exp.sum(1, keepdims=True)

    def net(X):
        return softmax(np.dot(X.reshape((-1, W.shape[0])), W) + b)

    for _ in range(60):
        with autograd.record():
            y_hat = net(X)
            loss = -np.log(y_hat[range(len(y_hat)), labels])
        loss.backward()
        for p in params:
            p -= 1.0 * p.grad / len(X)
    accuracy = float((net(X).argmax(axis=1).astype(labels.dtype) == labels).sum()) / len(X)
    assert accuracy > 0.95


def test_a_multilayer_perceptron_from_scratch():
    mx.random.seed(0)
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    y = np.array([0, 1, 1, 0])
    sizes = (2, 16, 2)
    params = []
    for n, m in itertools.pairwise(sizes):
        params += [np.random.normal(0, 0.7, (n, m)), np.zeros(m)]
    for p in params:
        p.attach_grad()
    W1, b1, W2, b2 = params
    for _ in range(200):
        with autograd.record():
            out = np.dot(npx.relu(np.dot(X, W1) + b1), W2) + b2
            loss = -npx.pick(npx.log_softmax(out), y)
        loss.backward()
        for p in params:
            p[:] = p - 0.3 * p.grad / 4
    assert out.argmax(axis=1).tolist() == [0, 1, 1, 0]


def test_a_recurrent_network_with_a_state_that_is_carried_on():
    mx.random.seed(0)
    W, U, state = np.random.normal(0, 0.5, (3, 3)), np.ones((1, 3)), np.zeros((1, 3))
    W.attach_grad()
    grads = []
    for t in range(3):
        state = state.detach()
        with autograd.record():
            state = np.tanh(np.dot(state, W) + U * t)
            loss = (state**2).sum()
        loss.backward()
        grads.append(W.grad.copy())
    assert (grads[0] == 0).all()
    assert not (grads[2] == 0).all()


def test_the_gradient_by_an_image_raises_a_score():
    mx.random.seed(4)
    net_W = np.random.normal(0, 1, (5, 4))
    x = np.zeros((1, 4))
    x.attach_grad()
    for _ in range(5):
        with autograd.record():
            score = npx.softmax(np.dot(x, net_W.T))[0, 3]
        score.backward()
        x += 0.5 * np.sign(x.grad)
    assert score.item() > 0.5


def test_newtons_method_by_second_derivatives():
    x = np.array([1.2], dtype="float64")
    x.attach_grad()
    for _ in range(8):
        with autograd.record():
            y = np.exp(x) + np.exp(-2 * x)
            (slope,) = autograd.grad(y, x, create_graph=True)
        (curve,) = autograd.grad(slope, x)
        x[:] = x - slope / curve
    assert slope.item() == pytest.approx(0, abs=1e-8)


def test_a_penalty_on_a_gradient():
    mx.random.seed(5)
    w, x = np.random.normal(size=(3,)), np.random.normal(size=(4, 3))
    for v in (w, x):
        v.attach_grad()
    with autograd.record():
        critic = np.tanh(np.dot(x, w)).sum()
        (dx,) = autograd.grad(critic, x, create_graph=True, retain_graph=True)
        penalty = (np.linalg.norm(dx, axis=1) - 1) ** 2
    penalty.backward()

    def value(w):
        t = numpy.tanh(x.asnumpy().astype(float) @ w)
        return ((numpy.abs(1 - t**2) * numpy.linalg.norm(w) - 1) ** 2).sum()

    w0 = w.asnumpy().astype(float)
    steps = numpy.eye(3) * 1e-5
    expected = [(value(w0 + s) - value(w0 - s)) / 2e-5 for s in steps]
    assert w.grad.asnumpy() == pytest.approx(expected, rel=2e-3, abs=1e-4)


def test_padded_sequences_are_masked():
    scores = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 5.0]])
    scores.attach_grad()
    with autograd.record():
        weights = npx.softmax(scores, np.array([2, 1]), use_length=True)
        y = (weights * np.array([1.0, 2.0, 3.0])).sum()
    y.backward()
    assert weights[0, 2] == 0
    assert weights[1].tolist() == [1, 0, 0]
    assert scores.grad[:, 2].tolist() == [0, 0]
    X = np.ones((2, 3))
    masked = npx.sequence_mask(X, np.array([1, 3]), True, value=-1, axis=1)
    assert masked.tolist() == [[1, -1, -1], [1, 1, 1]]


def test_a_softmax_layer_that_knows_its_loss():
    x = nd.array([[1.0, 2.0, 3.0]])
    x.attach_grad()
    with autograd.record():
        y = nd.SoftmaxOutput(x, nd.array([0]))
    y.backward()
    expected = y.asnumpy() - [[1, 0, 0]]
    assert x.grad.asnumpy() == pytest.approx(expected)


def test_layers_as_legacy_operators():
    x = nd.ones((2, 1, 4, 4))
    w, b = nd.ones((3, 1, 3, 3)), nd.zeros((3,))
    for v in (x, w, b):
        v.attach_grad()
    with autograd.record():
        h = nd.Convolution(x, w, b, kernel=(3, 3), num_filter=3)
        h = nd.Pooling(nd.Activation(h, act_type="relu"), pool_type="avg", kernel=(2, 2))
        y = nd.FullyConnected(h, nd.ones((1, 3)), no_bias=True, num_hidden=1)
    y.backward()
    assert y.asnumpy().ravel().tolist() == [27, 27]
    assert b.grad.asnumpy().tolist() == [2, 2, 2]
