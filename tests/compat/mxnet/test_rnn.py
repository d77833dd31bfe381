"""Test ``gluon.rnn``: layers and cells against each other and against `wengert.nn`."""

import numpy
import pytest

import wengert as wg
from wengert.compat.mxnet import autograd, gluon, init, nd, np, npx
from wengert.compat.mxnet.gluon import rnn


@pytest.fixture(autouse=True)
def numpy_arrays():
    npx.set_np()
    yield
    npx.reset_np()


def values(shape, seed=0):
    return numpy.random.default_rng(seed).normal(size=shape).astype("float32")


def filled(block, *shape):
    block.initialize(init.Uniform(0.5))
    block(*shape)
    for i, param in enumerate(block.collect_params().values()):
        param.set_data(np.array(values(param.shape, i + 3)))
    return block


@pytest.mark.parametrize(
    ("kind", "same"), [(rnn.LSTM, wg.nn.LSTM), (rnn.GRU, wg.nn.GRU), (rnn.RNN, wg.nn.RNN)]
)
def test_layers_are_those_of_wengert(kind, same):
    x = values((5, 2, 3))
    options = {"activation": "tanh"} if kind is rnn.RNN else {}
    layer = filled(kind(4, 2, bidirectional=True, **options), np.array(x))
    other = same(3, 4, 2, bidirectional=True)
    for mine, theirs in zip(layer.collect_params().values(), other.parameters(), strict=True):
        assert mine.shape == tuple(theirs.shape)
        with wg.no_grad():
            theirs.copy_(wg.from_numpy(mine.data().asnumpy()))
    names = list(layer.collect_params())
    assert names[0].endswith("_l0_i2h_weight")
    assert names[-1].endswith("_r1_h2h_bias")
    output, states = layer(np.array(x), layer.begin_state(batch_size=2))
    wanted, last = other(wg.from_numpy(x))
    numpy.testing.assert_allclose(output.asnumpy(), wanted.detach().numpy(), rtol=1e-5, atol=1e-6)
    last = last if isinstance(last, tuple) else (last,)
    for mine, theirs in zip(states, last, strict=True):
        numpy.testing.assert_allclose(mine.asnumpy(), theirs.detach().numpy(), atol=1e-6)
    # without states there is the output alone, and batches may come first
    other_way = filled(
        kind(4, 2, layout="NTC", bidirectional=True, **options), np.array(x.swapaxes(0, 1))
    )
    first = other_way(np.array(x.swapaxes(0, 1)))
    numpy.testing.assert_array_equal(first.asnumpy().swapaxes(0, 1), output.asnumpy())


@pytest.mark.parametrize(
    ("layer", "cell"),
    [
        (lambda: rnn.LSTM(4), lambda: rnn.LSTMCell(4)),
        (lambda: rnn.GRU(4), lambda: rnn.GRUCell(4)),
        (lambda: rnn.RNN(4, activation="relu"), lambda: rnn.RNNCell(4, "relu")),
    ],
)
def test_a_cell_step_by_step_is_the_layer(layer, cell):
    x = np.array(values((5, 2, 3)))
    layer = filled(layer(), x)
    cell = cell()
    cell.initialize()
    cell(x[0], cell.begin_state(batch_size=2))
    for a, b in zip(cell.collect_params().values(), layer.collect_params().values(), strict=True):
        a.set_data(b.data())
    outputs, states = cell.unroll(5, x, layout="TNC")
    numpy.testing.assert_allclose(outputs.asnumpy(), layer(x).asnumpy(), rtol=1e-5, atol=1e-6)
    assert [tuple(s.shape) for s in states] == [(2, 4)] * len(states)
    with autograd.record():
        loss = (layer(x) ** 2).sum()
        other = (cell.unroll(5, x, layout="TNC")[0] ** 2).sum()
    loss.backward()
    other.backward()
    for a, b in zip(cell.collect_params().values(), layer.collect_params().values(), strict=True):
        numpy.testing.assert_allclose(a.grad().asnumpy(), b.grad().asnumpy(), rtol=1e-4, atol=1e-5)
        assert numpy.abs(a.grad().asnumpy()).max() > 0


def test_cells_stand_in_one_another():
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(3))
    stack.add(rnn.DropoutCell(0.5))
    stack.add(rnn.ResidualCell(rnn.GRUCell(3)))
    stack.add(rnn.RNNCell(3))
    stack.initialize()
    x = np.array(values((2, 4, 3)))
    outputs, states = stack.unroll(4, x, merge_outputs=False)
    assert len(outputs) == 4
    assert len(states) == 4
    with autograd.train_mode():
        assert stack.unroll(4, x)[0].shape == (2, 4, 3)
    both = rnn.BidirectionalCell(rnn.GRUCell(2), rnn.LSTMCell(2))
    both.initialize()
    outputs, states = both.unroll(4, x)
    assert outputs.shape == (2, 4, 4)
    assert len(states) == 3
    flipped = np.array(x.asnumpy()[:, ::-1])
    again, _ = both.r_cell.unroll(4, flipped)
    numpy.testing.assert_allclose(outputs.asnumpy()[:, ::-1, 2:], again.asnumpy(), atol=1e-6)
    with pytest.raises(NotImplementedError, match="unroll"):
        both(x[:, 0], states)


def test_states_of_a_wrong_shape_and_options_are_refused():
    layer = rnn.GRU(4)
    layer.initialize()
    with pytest.raises(ValueError, match="Invalid recurrent state shape"):
        layer(np.ones((5, 2, 3)), np.ones((1, 3, 4)))
    with pytest.raises(ValueError, match="not offered"):
        rnn.LSTMCell(3, activation="relu")
    with pytest.raises(AssertionError, match="Invalid layout"):
        rnn.GRU(3, layout="CTN")
    with pytest.raises(AttributeError, match="DropoutCell"):
        rnn.VariationalDropoutCell  # noqa: B018
    npx.reset_np()
    legacy = gluon.rnn.RNN(3)
    legacy.initialize()
    output, (state,) = legacy(nd.ones((2, 1, 3)), legacy.begin_state(1))
    assert isinstance(output, nd.NDArray)
    assert state.shape == (1, 1, 3)
