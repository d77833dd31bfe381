"""Test functional models: operators between symbolic tensors, and errors about inputs."""

from __future__ import annotations

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

keras = tf.keras
layers = keras.layers


def test_operators_between_inputs_are_layers_that_are_saved(tmp_path):
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    joined = layers.concatenate([2.0 - a, (a * b)[:, 1:], -b @ np.ones((3, 1), np.float32)])
    model = keras.Model({"a": a, "b": b}, {"first": joined, "second": a / 2.0})
    x = {"a": np.float32([[1, 2, 3]]), "b": np.float32([[4, 5, 6]])}
    model.save(tmp_path / "model.keras")
    for one in (model, keras.models.load_model(tmp_path / "model.keras")):
        found = one(x)
        np.testing.assert_array_equal(found["first"], [[1, 0, -1, 10, 18, -15]])
        np.testing.assert_array_equal(found["second"], [[0.5, 1, 1.5]])
    with pytest.raises(TypeError, match="not iterated"):
        list(a)


def test_layers_know_their_inputs_and_outputs_in_the_graph():
    model = keras.Sequential(
        [layers.Input((4,)), layers.Dense(3, name="one"), layers.Dense(2, name="two")]
    )
    parts = keras.Model(model.inputs, [layer.output for layer in model.layers])
    assert [tuple(part.shape) for part in parts(np.ones((5, 4), np.float32))] == [(5, 3), (5, 2)]
    assert (model.input_shape, model.output_shape) == ((None, 4), (None, 2))
    kinds = [type(layer).__name__ for layer in parts.layers]
    assert kinds == ["InputLayer", "Dense", "Dense"] and parts.get_layer(index=1).name == "one"
    end = keras.Model(model.get_layer("two").input, model.output)
    assert end.input_shape == (None, 3)
    model.pop()
    assert model.output_shape == (None, 3) and len(model.weights) == 2
    with pytest.raises(ValueError, match="never been called"):
        _ = layers.Dense(1).output


def branches():
    """Return a model whose layers are made in another order than Keras lists them."""
    left, right = keras.Input((3,), name="left"), keras.Input((2,), name="right")
    near = layers.Dense(4, name="near")(left)
    far = layers.Dense(4, name="far")(layers.Dense(5, name="first")(right))
    both = layers.Add(name="both")([near, far])
    ends = {"b": layers.Dense(1, name="b")(both), "a": layers.Dense(2, name="a")(both)}
    return keras.Model([left, right], ends)


def test_layers_and_weights_are_in_the_order_of_keras():
    # as Keras 3.15 lists them: the farthest from the outputs first, and outputs by name
    model = branches()
    names = ["right", "left", "first", "near", "far", "both", "a", "b"]
    assert [layer.name for layer in model.layers] == names
    shapes = [(2, 5), (5,), (3, 4), (4,), (5, 4), (4,), (4, 2), (2,), (4, 1), (1,)]
    assert [tuple(weight.shape) for weight in model.weights] == shapes
    assert keras.Model(model.inputs, model.outputs).name.startswith("functional")


def test_layers_that_are_used_twice_are_listed_once():
    entry = keras.Input((2,), name="entry")
    shared = layers.Dense(2, name="shared")
    once = shared(entry)
    model = keras.Model(entry, layers.Add(name="sum")([once, shared(once)]))
    assert [layer.name for layer in model.layers] == ["entry", "shared", "sum"]


def test_predictions_have_the_structure_of_the_outputs():
    model = branches()
    given = [np.ones((5, 3), np.float32), np.ones((5, 2), np.float32)]
    found = model.predict(given, batch_size=2, verbose=0)
    assert {name: part.shape for name, part in found.items()} == {"a": (5, 2), "b": (5, 1)}
    whole = model(given)
    np.testing.assert_allclose(found["a"], whole["a"].numpy(), rtol=1e-5)


def test_the_summary_is_the_table_that_keras_prints():
    tf.keras.backend.clear_session()
    entry = tf.keras.Input((6,), name="a")
    hidden = tf.keras.layers.Dense(4, name="h")(entry)
    total = tf.keras.layers.add([hidden, tf.keras.layers.Dense(4, name="g")(entry)])
    found = []
    tf.keras.Model(entry, total, name="f").summary(print_fn=found.append, line_length=76)
    lines = found[0].splitlines()
    assert lines[1].count("┳") == 3 and {len(line) for line in lines[1:-3]} == {76}
    assert lines[4] == (
        "│ a (InputLayer)      │ (None, 6)         │          0 │ -                 │"
    )
    assert lines[10] == (
        "│ add (Add)           │ (None, 4)         │          0 │ h[0][0], g[0][0]  │"
    )
    assert lines[-3:] == [
        " Total params: 56 (224.00 B)",
        " Trainable params: 56 (224.00 B)",
        " Non-trainable params: 0 (0.00 B)",
    ]
    model = tf.keras.Sequential([tf.keras.layers.BatchNormalization()], name="s")
    model.summary(print_fn=found.append, line_length=76)
    assert "│ batch_normalization             │ ?                      │   0 (unb" in found[1]
    model.build((None, 300))
    model.summary(print_fn=found.append, line_length=76)
    assert "\n│ (BatchNormalization)            │                        │         " in found[2]
    assert " Total params: 1,200 (4.69 KB)" in found[2]


def test_calls_with_symbols_change_neither_averages_nor_seeds():
    inputs = keras.Input((4,))
    norm, drop, twin = (
        layers.BatchNormalization(),
        layers.Dropout(0.5, seed=3),
        layers.Dropout(0.5, seed=3),
    )
    drop(norm(inputs, training=True), training=True)
    np.testing.assert_array_equal(norm.moving_variance, np.ones(4))
    x = np.ones((2, 6), np.float32)
    np.testing.assert_array_equal(drop(x, training=True), twin(x, training=True))


def test_windows_fit_into_dimensions_of_unknown_size():
    x = layers.Conv2D(2, 3)(keras.Input((None, None, 3)))
    x = layers.MaxPooling2D(2)(x)
    assert x.shape == (None, None, None, 2)
    model = keras.Sequential([keras.Input((None, 5)), layers.Conv1D(2, 3), layers.LSTM(4)])
    assert model.output_shape == (None, 4)
    assert model(np.zeros((2, 9, 5), np.float32)).shape == (2, 4)


def test_in_a_graph_attention_takes_no_masks_away():
    inputs = keras.Input((3,), dtype="int32")
    x = layers.Embedding(9, 4, mask_zero=True)(inputs)
    summed = layers.Add()([x, layers.MultiHeadAttention(2, 2)(x, x)])
    model = keras.Model(inputs, [summed, layers.GlobalAveragePooling1D()(summed)])
    steps, mean = model(np.array([[1, 2, 0]]))
    np.testing.assert_allclose(mean, steps.numpy()[:, :2].mean(1), rtol=1e-5)
