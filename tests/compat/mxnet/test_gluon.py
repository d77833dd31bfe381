"""Test ``mxnet.gluon``: blocks, parameters, losses, trainers, data."""

import numpy
import pytest

from wengert.compat import mxnet as mx
from wengert.compat.mxnet import autograd, gluon, init, nd, np, npx
from wengert.compat.mxnet.gluon import nn


def regression(count=64):
    rng = numpy.random.default_rng(0)
    features = rng.normal(size=(count, 2)).astype("float32")
    labels = features @ [2.0, -3.4] + 4.2
    return np.array(features), np.array(labels.astype("float32"))


@pytest.mark.parametrize("legacy", [False, True])
def test_a_linear_model_learns(legacy):
    features, labels = regression()
    if legacy:
        npx.reset_np()
        features, labels = nd.array(features.asnumpy()), nd.array(labels.asnumpy())
    net = nn.Sequential()
    net.add(nn.Dense(1))
    net.initialize(init.Normal(sigma=0.01))
    net.hybridize()
    loss = gluon.loss.L2Loss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2})
    for _ in range(10):
        data = gluon.data.DataLoader(
            gluon.data.ArrayDataset(features, labels), batch_size=16, shuffle=True
        )
        for X, y in data:
            with autograd.record():
                error = loss(net(X), y)
            error.backward()
            trainer.step(X.shape[0])
    assert net[0].weight.data().asnumpy().ravel() == pytest.approx([2, -3.4], abs=0.02)
    assert net[0].bias.data().asnumpy() == pytest.approx([4.2], abs=0.02)
    assert type(net[0].weight.data()) is (nd.NDArray if legacy else np.ndarray)


def test_a_classifier_with_convolutions_and_normalisation_learns():
    mx.random.seed(0)
    rng = numpy.random.default_rng(1)
    labels = rng.integers(0, 2, 32)
    images = rng.normal(0, 0.3, (32, 1, 8, 8)) + labels[:, None, None, None] * numpy.eye(8)
    X, y = np.array(images.astype("float32")), np.array(labels)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(4, kernel_size=3, padding=1),
        nn.BatchNorm(),
        nn.Activation("relu"),
        nn.MaxPool2D(2, 2),
        nn.Flatten(),
        nn.Dropout(0.1),
        nn.Dense(2),
    )
    net.initialize(init.Xavier())
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    for _ in range(25):
        with autograd.record():
            error = loss(net(X), y)
        error.backward()
        trainer.step(32)
    accuracy = mx.metric.Accuracy()
    accuracy.update(y, net(X))
    assert accuracy.get() == ("accuracy", 1.0)


def test_parameters_wait_for_the_first_batch():
    net = nn.Dense(3)
    net.initialize()
    assert net.weight.shape == (3, -1)
    with pytest.raises(gluon.DeferredInitializationError, match="forward pass"):
        net.weight.data()
    net(np.ones((2, 5)))
    assert net.weight.data().shape == (3, 5)
    with pytest.raises(mx.MXNetError, match="Shape inconsistent"):
        net(np.ones((2, 4)))


def test_a_parameter_that_was_not_initialized_says_so():
    with pytest.raises(RuntimeError, match="has not been initialized"):
        gluon.Parameter("w", shape=(2,)).data()


def test_stale_gradients_are_refused_and_nothing_is_updated():
    a, b = nn.Dense(1, in_units=1), nn.Dense(1, in_units=1)
    for block in (a, b):
        block.initialize(init.One())
    trainer = gluon.Trainer(
        {**a.collect_params(), **b.collect_params()}, "sgd", {"learning_rate": 1.0}
    )
    with autograd.record():
        y = a(np.ones((1, 1)))
    y.backward()
    with pytest.raises(UserWarning, match="has not been updated by backward"):
        trainer.step(1)
    assert a.weight.data().item() == 1
    trainer.step(1, ignore_stale_grad=True)
    assert (a.weight.data().item(), b.weight.data().item()) == (0, 1)


def test_a_parameter_can_be_frozen_and_gradients_added():
    net = nn.Sequential()
    net.add(nn.Dense(2, in_units=1), nn.Dense(1, in_units=2))
    net.initialize(init.One())
    net[0].weight.grad_req = "null"
    net[1].weight.grad_req = "add"
    for _ in range(2):
        with autograd.record():
            y = net(np.ones((1, 1)))
        y.backward()
    with pytest.raises(RuntimeError, match="grad_req='null'"):
        net[0].weight.grad()
    assert net[1].weight.grad().tolist() == [[2, 2]]
    net.collect_params().zero_grad()
    assert net[1].weight.grad().tolist() == [[0, 0]]


def test_blocks_share_parameters():
    shared = nn.Dense(2, in_units=2)
    net = nn.Sequential()
    net.add(shared, nn.Dense(2, in_units=2, params=shared.params))
    net.initialize()
    net[0].weight.data()[0, 0] = 100
    assert net[1].weight.data()[0, 0] == 100
    assert len(net.collect_params()) == 2


def test_parameters_are_saved_and_loaded(tmp_path):
    def make():
        net = nn.Sequential()
        net.add(nn.Dense(3, in_units=2, activation="tanh"), nn.Dense(1, in_units=3))
        return net

    net, twin = make(), make()
    net.initialize()
    net.save_parameters(tmp_path / "net")
    twin.load_parameters(tmp_path / "net")
    X = np.ones((2, 2))
    assert (net(X) == twin(X)).all()
    other = nn.Sequential()
    other.add(nn.Dense(3, in_units=2))
    with pytest.raises(AssertionError, match="not present"):
        other.load_parameters(tmp_path / "net")


def test_blocks_of_ones_own():
    class Scaled(nn.HybridBlock):
        def __init__(self, units):
            super().__init__()
            with self.name_scope():
                self.scale = self.params.get("scale", shape=(units,), init="ones")
                self.dense = nn.Dense(units)

        def hybrid_forward(self, F, x, scale):
            return F.npx.relu(self.dense(x)) * scale

    class Net(nn.Block):
        def __init__(self):
            super().__init__()
            self.first = Scaled(2)
            self.constant = self.params.get_constant("c", np.array([2.0]))

        def forward(self, x):
            return self.first(x) * self.constant.data() if x.sum() > 0 else x

    net = Net()
    net.initialize(init.One())
    seen = []
    net.register_forward_hook(lambda block, inputs, output: seen.append(output.shape))
    with autograd.record():
        y = net(np.ones((1, 3)))
    y.backward()
    assert y.tolist() == [[6, 6]]
    assert net.first.scale.grad().tolist() == [6, 6]
    assert seen == [(1, 2)]
    assert [name.split("_")[-1] for name in net.collect_params()] == [
        "c", "scale", "weight", "bias",
    ]  # fmt: skip


def test_running_statistics_are_used_in_prediction():
    bn = nn.BatchNorm(momentum=0.5)
    bn.initialize()
    X = np.array([[0.0, 2.0], [4.0, 6.0]])
    with autograd.record():
        y = bn(X)
    y.backward()
    assert y.asnumpy() == pytest.approx(numpy.array([[-1, -1], [1, 1]]), abs=1e-4)
    assert bn.running_mean.data().tolist() == [1, 2]
    assert bn.running_var.data().tolist() == [2.5, 2.5]
    assert bn(X).asnumpy()[0, 0] == pytest.approx(-1 / 2.5**0.5, rel=1e-3)


def test_dropout_is_for_training():
    drop, x = nn.Dropout(0.5), np.ones((20, 20))
    assert (drop(x) == x).all()
    with autograd.record():
        kept = drop(x)
    assert set(kept.asnumpy().ravel().tolist()) == {0.0, 2.0}
    with autograd.record(train_mode=False):
        assert (drop(x) == x).all()
    with autograd.train_mode():
        rows = nn.Dropout(0.5, axes=(1,))(x).asnumpy()
    assert all(len(set(row)) == 1 for row in rows.tolist())


def test_examples_are_weighted():
    loss = gluon.loss.L2Loss()
    weights = np.array([[0.0], [2.0]])
    result = loss(np.array([[1.0], [1.0]]), np.array([[0.0], [0.0]]), weights)
    assert result.tolist() == [0, 1]
    with pytest.raises(TypeError, match="label must be an NDArray"):
        loss(np.ones(2), [0, 0])


def test_data_sets_and_batches():
    data = gluon.data.ArrayDataset(np.arange(10).reshape(5, 2), list(range(5)))
    assert [len(y) for _, y in gluon.data.DataLoader(data, 2)] == [2, 2, 1]
    loader = gluon.data.DataLoader(data, 2, last_batch="discard")
    assert (len(loader), len(list(loader))) == (2, 2)
    doubled = data.transform_first(lambda x: x * 2)
    assert doubled[1][0].tolist() == [4, 6]
    order = [int(y) for _, ys in gluon.data.DataLoader(data, 1, shuffle=True) for y in ys]
    assert sorted(order) == [0, 1, 2, 3, 4]
    with pytest.raises(AssertionError, match="same length"):
        gluon.data.ArrayDataset(np.ones(2), np.ones(3))


def test_gradients_are_clipped_by_their_common_norm():
    arrays = [np.array([3.0]), np.array([4.0])]
    assert gluon.utils.clip_global_norm(arrays, 1.0) == pytest.approx(5)
    assert [a.item() for a in arrays] == pytest.approx([0.6, 0.8], rel=1e-5)
    assert gluon.utils.split_and_load(np.arange(4), [mx.cpu()])[0].shape == (4,)
    with pytest.raises(ValueError, match="evenly"):
        gluon.utils.split_data(np.arange(3), 2)


# options, and a parameter that starts at 1 after two and after six steps of MXNet 1.9.1
UPDATES = {
    "sgd": (
        {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01},
        [[0.7173, 1.557], [-0.26453, 3.4915]],
    ),
    "nag": ({"learning_rate": 0.1, "momentum": 0.9}, [[0.5751, 1.8498], [-0.25488, 3.50977]]),
    "adam": ({"learning_rate": 0.1, "wd": 0.1}, [[0.80041, 1.1998], [0.41423, 1.59374]]),
    "adagrad": ({"learning_rate": 0.1, "wd": 0.1}, [[0.81462, 1.14816], [0.61929, 1.28409]]),
    "rmsprop": (
        {"learning_rate": 0.1, "clip_gradient": 0.5},
        [[0.45436, 1.54564], [0.05694, 2.21062]],
    ),
    "adadelta": ({"rho": 0.9}, [[0.97979, 1.02024], [0.93827, 1.06225]]),
}


@pytest.mark.parametrize("name", UPDATES)
def test_the_rules_of_updates_are_mxnets(name):
    options, expected = UPDATES[name]
    w = gluon.Parameter("w", shape=(2,))
    w.initialize(init.One())
    trainer = gluon.Trainer([w], name, options)
    have = []
    for _ in range(6):
        with autograd.record():
            loss = ((w.data() - np.array([0.0, 3.0])) ** 2).sum()
        loss.backward()
        trainer.step(2)
        have.append(w.data().tolist())
    assert have[1] == pytest.approx(expected[0], abs=2e-5)
    assert have[5] == pytest.approx(expected[1], abs=2e-5)
    assert trainer.learning_rate == options.get("learning_rate", 0.01)


def test_a_trainer_updates_parameters_by_their_names():
    # what optimizers share between weights, as the schedule of Nadam, depends on the order
    net = nn.Sequential()
    net.add(nn.Dense(2, in_units=2), nn.Dense(1, in_units=2))
    names = sorted(net.collect_params().keys())
    trainer = gluon.Trainer(net.collect_params(), "nadam")
    assert [parameter.name for parameter in trainer._params] == names
    assert [name.rpartition("_")[2] for name in names] == ["bias", "weight"] * 2


def test_a_trainer_takes_parameters_only():
    with pytest.raises(ValueError, match="list or dict of Parameters"):
        gluon.Trainer([np.ones(2)], "sgd")
    with pytest.raises(ValueError, match="Cannot find optimizer"):
        gluon.Trainer([], "newton")
    with pytest.raises(TypeError, match="unexpected keyword argument 'rate'"):
        gluon.Trainer([], "sgd", {"rate": 1})


def test_names_say_what_a_layer_does():
    kinds = {
        "conv": (nn.Conv1D(1, 1), nn.Conv2DTranspose(1, 1)),
        "pool": (nn.MaxPool2D(), nn.GlobalAvgPool2D()),
        "relu": (nn.Activation("relu"),),
        "dense": (nn.Dense(2),),
    }
    for kind, layers in kinds.items():
        assert all(layer.name.rstrip("0123456789") == kind for layer in layers)


def test_pooling_takes_wide_padding():
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    most = nn.MaxPool2D((2, 3), padding=(1, 2), strides=(2, 3))(x)
    assert most.asnumpy().tolist() == [[[[0, 3], [8, 11], [12, 15]]]]
    mean = nn.AvgPool2D(1, padding=1, strides=4)(x)
    assert mean.asnumpy().tolist() == [[[[0, 0], [0, 15]]]]


def near(found, wanted):
    numpy.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


def test_layers_without_a_bias_have_no_parameter_for_it():
    net = nn.Dense(1, use_bias=False, in_units=1)
    assert [name.rpartition("_")[2] for name in net.collect_params()] == ["weight"]
    assert len(nn.Conv2D(2, 3, use_bias=False, in_channels=1).collect_params()) == 1


def test_losses_of_pairs_and_counts():
    a, b = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[2.0, 2.0], [0.0, -1.0]])
    loss = gluon.loss
    near(loss.TripletLoss()(a, b, a), [2, 5])
    near(loss.TripletLoss(margin=0.5)(a, a, b), [0, 0])
    cosine = 6 / numpy.sqrt(5 * 8)
    near(loss.CosineEmbeddingLoss()(a, b, np.array([1, -1])), [[1 - cosine], [0]])
    near(loss.CosineEmbeddingLoss(margin=-1.5)(a, b, np.array([-1, -1])), [[cosine + 1.5], [0.5]])
    near(loss.SquaredHingeLoss()(a, np.array([[1.0, -1.0], [1.0, 1.0]])), [4.5, 0.5])
    rates, counts = np.array([1.0, 2.0]), np.array([3.0, 1.0])
    near(loss.PoissonNLLLoss(from_logits=False)(rates, counts), (1 + 2 - numpy.log(2)) / 2)
    near(loss.PoissonNLLLoss()(rates, counts), (numpy.e - 3 + numpy.e**2 - 2) / 2)
    full = 3 * numpy.log(3) - 3 + 0.5 * numpy.log(6 * numpy.pi)
    near(
        loss.PoissonNLLLoss(compute_full=True)(rates, counts), (numpy.e + numpy.e**2 - 5 + full) / 2
    )


def test_metrics_by_name():
    y, p = np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    both = mx.metric.create(["acc", mx.metric.TopKAccuracy(top_k=2)])
    both.update([y], [p])
    assert both.get() == (["accuracy", "top_k_accuracy_2"], [2 / 3, 1.0])
    f1 = mx.metric.create("f1")
    f1.update([y], [p])
    assert f1.get() == ("f1", 2 / 3)
    for name, value in (("ce", -numpy.log([0.9, 0.2, 0.7]).mean()), ("rmse", None)):
        metric = mx.metric.create(name)
        metric.update([y], [p if value else np.array([1.0, 1.0, 3.0])])
        assert metric.get()[1] == pytest.approx(numpy.sqrt(5 / 3) if value is None else value)
    perplexity = mx.metric.Perplexity(ignore_label=1)
    perplexity.update([y], [p])
    assert perplexity.get()[1] == pytest.approx(1 / 0.9)
    with pytest.raises(ValueError, match="Cannot find metric"):
        mx.metric.create("nothing")


class Pair(nn.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.first, self.second = nn.Dense(5, in_units=5), nn.Dense(5, in_units=5)

    def forward(self, x):
        return self.second(self.first(x))


def test_children_share_the_parameters_that_their_block_shares():
    one = Pair(prefix="one_")
    other = Pair(prefix="other_", params=one.collect_params())
    one.initialize()
    assert other.second.weight is one.second.weight
    assert other(np.ones((2, 5))).tolist() == one(np.ones((2, 5))).tolist()


def test_blocks_stay_blocks_and_lists_of_them_are_warned_of():
    block = Pair()
    with pytest.raises(TypeError, match="not allowed"):
        block.first = 3
    block.more = [block.first]
    block.collect_params()
    block.more = [nn.Dense(2)]
    with pytest.warns(UserWarning, match="unregistered container"):
        block.collect_params()


def test_several_contexts_are_refused():
    with pytest.raises(mx.base.MXNetError, match="2 contexts"):
        nn.Dense(2).initialize(ctx=[mx.cpu(0), mx.cpu(1)])


def test_parts_of_a_batch_that_does_not_divide():
    for size, expected in ((11, [4, 4, 3]), (3, [1, 1, 1, 0, 0])):
        parts = gluon.utils.split_data(np.arange(size), len(expected), even_split=False)
        assert [len(part) for part in parts] == expected
        assert [value for part in parts for value in part.asnumpy().tolist()] == [*range(size)]


def test_scores_of_batches():
    right, said = np.array([1, 0]), np.array([[0.1, 0.9], [0.2, 0.8]])
    for average, expected in (("macro", (2 / 3 + 1) / 2), ("micro", 0.8)):
        metric = mx.metric.create("f1", average=average)
        metric.update([right], [said])
        metric.update([right[:1]], [said[:1]])
        assert metric.get()[1] == pytest.approx(expected)
    metric.reset()
    metric.update([np.zeros(2)], [1 - said])
    assert metric.get() == ("f1", 0)
    accuracy = mx.metric.Accuracy()
    accuracy.update([np.array([[1, 0]])], [said])
    assert accuracy.get() == ("accuracy", 0.5)
