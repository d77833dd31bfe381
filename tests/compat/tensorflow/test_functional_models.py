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
