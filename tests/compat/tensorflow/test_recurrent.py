"""Test Keras's recurrent layers: TensorFlow's numbers, configurations, and errors."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

layers = tf.keras.layers
SPEC = importlib.util.spec_from_file_location(
    "recurrent_cases", Path(__file__).with_name("recurrent_cases.py")
)
cases = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(cases)


def test_recurrent_layers_compute_what_keras_computes():
    recorded = json.loads(cases.RECORDED.read_text())
    found = dict(cases.cases(tf))
    assert list(found) == list(recorded)
    for name, arrays in found.items():
        assert len(arrays) == len(recorded[name]), name
        for array, wanted in zip(arrays, recorded[name], strict=True):
            np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=2e-5, err_msg=name)


def test_weights_lie_as_in_keras():
    for make, shapes in (
        (layers.SimpleRNN, [(4, 3), (3, 3), (3,)]),
        (layers.LSTM, [(4, 12), (3, 12), (12,)]),
        (layers.GRU, [(4, 9), (3, 9), (2, 9)]),
    ):
        layer = make(3)
        layer(tf.ones([2, 5, 4]))
        assert [w.shape for w in layer.get_weights()] == shapes
        assert [w.name for w in layer.weights] == ["kernel", "recurrent_kernel", "bias"]
        kernel = layer.get_weights()[1]
        if make is layers.SimpleRNN:
            np.testing.assert_allclose(kernel @ kernel.T, np.eye(3), atol=1e-5)
    assert layers.LSTM(3).unit_forget_bias
    with pytest.raises(AttributeError, match="nothing"):
        layers.LSTM(3).nothing  # noqa: B018


@pytest.mark.parametrize("name", ["SimpleRNN", "LSTM", "GRU"])
def test_configurations_make_equal_layers(name):
    layer = getattr(layers, name)(
        3, activation="relu", dropout=0.5, return_sequences=True, name="one", use_bias=False
    )
    config = json.loads(json.dumps(tf.keras.saving.serialize_keras_object(layer)))
    again = tf.keras.saving.deserialize_keras_object(config)
    assert json.dumps(again.get_config()) == json.dumps(layer.get_config())
    both = layers.Bidirectional(layer, merge_mode="sum")
    both(tf.ones([1, 2, 3]))
    config = json.loads(json.dumps(tf.keras.saving.serialize_keras_object(both)))
    same = tf.keras.saving.deserialize_keras_object(config)
    same.set_weights(both.get_weights())
    x = tf.constant(np.random.default_rng(0).normal(size=(1, 2, 3)), tf.float32)
    np.testing.assert_array_equal(same(x), both(x))


def test_dropout_stays_the_same_through_a_sequence():
    cell = layers.SimpleRNNCell(
        6,
        activation="linear",
        dropout=0.5,
        kernel_initializer="ones",
        recurrent_initializer="zeros",
    )
    layer = layers.RNN(cell, return_sequences=True)
    x = tf.ones([3, 5, 8])
    result = layer(x, training=True).numpy()
    assert np.ptp(result, axis=1).max() == 0
    assert np.ptp(result[:, 0, 0]) > 0 or np.ptp(layer(x, training=True).numpy()[:, 0, 0]) > 0
    np.testing.assert_array_equal(layer(x).numpy(), np.full((3, 5, 6), 8.0))
    for name in ("SimpleRNN", "LSTM", "GRU"):
        gated = getattr(layers, name)(4, dropout=0.5, recurrent_dropout=0.5)
        assert np.isfinite(gated(x, training=True).numpy()).all()


def test_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match="expected a positive integer"):
        layers.LSTM(0)
    with pytest.raises(ValueError, match="should have a `state_size`"):
        layers.RNN(layers.Dense(2))
    with pytest.raises(ValueError, match="Invalid merge mode"):
        layers.Bidirectional(layers.LSTM(2), merge_mode="max")
    with pytest.raises(ValueError, match="different `go_backwards`"):
        layers.Bidirectional(layers.LSTM(2), backward_layer=layers.LSTM(2))


def test_merged_inputs_count_where_one_of_them_does():
    table = layers.Embedding(4, 2, mask_zero=True)
    table(tf.constant([[0]]))
    table.set_weights([np.arange(8.0).reshape(4, 2)])
    plain = tf.ones((1, 3, 2))

    def merged(kind, *places, **options):
        parts = [table(tf.constant([one])) if isinstance(one, list) else one for one in places]
        found = getattr(layers, kind)(**options)(parts)
        mask = getattr(found, "_keras_mask", None)
        return found.numpy().tolist(), None if mask is None else mask.numpy().tolist()

    one, two = [1, 0, 0], [2, 3, 0]
    shown = [[True, True, False]]
    assert merged("Add", one, two)[1] == merged("Concatenate", one, two)[1] == shown
    assert merged("Add", one, plain)[1] is None
    # what one input masks is left out, what all mask is 0
    assert merged("Multiply", one, two) == ([[[8, 15], [6, 7], [0, 0]]], shown)
    assert merged("Multiply", one, plain)[0] == [[[2, 3], [1, 1], [1, 1]]]
    assert merged("Maximum", one, two)[0] == [[[4, 5], [6, 7], [0, 1]]]
    assert merged("Minimum", plain, one)[0] == [[[1, 1], [1, 1], [1, 1]]]
    long = merged("Concatenate", one, two, axis=1)[1]
    assert long == [[True, False, False, True, True, False]]
    assert merged("Dot", one, two, axes=2)[1] is None
    asked = layers.Concatenate().compute_mask([plain, plain], [None, tf.constant([[True] * 3])])
    assert asked.numpy().tolist() == [[True, True, True]]


class Sum(layers.Layer):
    """A cell whose state is not in a list."""

    state_size = 2

    def call(self, x, states):
        (before,) = states
        return before + x, [before + x]


def test_time_may_come_first():
    x = np.random.default_rng(0).normal(size=(3, 5, 4)).astype(np.float32)
    mask = np.arange(5) < np.array([[5], [2], [4]])
    for sequences in (True, False):
        plain = layers.GRU(2, return_sequences=sequences, return_state=True)
        first = layers.GRU(2, return_sequences=sequences, return_state=True, time_major=True)
        wanted, wanted_state = plain(tf.constant(x), mask=tf.constant(mask))
        first(tf.constant(x.swapaxes(0, 1)))
        first.set_weights(plain.get_weights())
        found, state = first(tf.constant(x.swapaxes(0, 1)), mask=tf.constant(mask.T))
        found = found.numpy().swapaxes(0, 1) if sequences else found
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
        np.testing.assert_allclose(state, wanted_state, rtol=1e-5)


def test_stacked_cells_get_a_single_state_in_a_list():
    x = tf.ones((1, 3, 2))
    outputs, first, second = layers.RNN([Sum(), Sum()], return_state=True)(x)
    assert outputs.numpy().tolist() == [[6.0, 6.0]]  # 1 + 2 + 3
    assert first.numpy().tolist() == [[3.0, 3.0]]
    assert second.numpy().tolist() == [[6.0, 6.0]]


def test_states_of_a_stateful_layer_are_not_weights():
    layer = layers.LSTM(2, stateful=True)
    one, two = layer(tf.ones((1, 3, 2))), layer(tf.ones((1, 3, 2)))
    assert not np.allclose(one, two)
    assert [w.name for w in layer.weights] == ["kernel", "recurrent_kernel", "bias"]
    assert len(layer.states) == 2
    layer.reset_state()
    np.testing.assert_allclose(layer(tf.ones((1, 3, 2))), one)
