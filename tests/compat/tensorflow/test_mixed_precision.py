"""Test Keras's dtype policies, scaled losses, and functions of nested containers."""

from __future__ import annotations

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

keras = tf.keras
mixed = keras.mixed_precision
X = np.random.RandomState(0).randn(8, 6, 6, 3).astype(np.float32)
Y = np.arange(8) % 4


@pytest.fixture(params=["mixed_float16", "mixed_bfloat16"])
def policy(request):
    mixed.set_global_policy(request.param)
    yield mixed.global_policy()
    mixed.set_global_policy("float32")


def test_layers_compute_in_one_dtype_and_keep_weights_in_another(policy):
    layers = keras.layers
    every = [
        layers.Conv2D(4, 3, activation="relu"),
        layers.BatchNormalization(),
        layers.GroupNormalization(2),
        layers.LayerNormalization(),
        layers.Reshape((16, 4)),
        layers.LSTM(3, return_sequences=True),
        layers.Flatten(),
        layers.Dense(4),
    ]
    model = keras.Sequential([keras.Input((6, 6, 3)), *every, layers.Softmax(dtype="float32")])
    for layer in every:
        assert layer.compute_dtype == policy.compute_dtype == layer.output.dtype
        assert all(weight.dtype == "float32" for weight in layer.weights)
    assert model(X).dtype == "float32"
    attended = layers.MultiHeadAttention(2, 3)(X[:, 0], X[:, 0])
    assert attended.dtype == policy.compute_dtype
    model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy")
    scaled = isinstance(model.optimizer, mixed.LossScaleOptimizer)
    assert scaled == (policy.name == "mixed_float16")
    before = model.evaluate(X, Y, verbose=0)
    model.fit(X, Y, epochs=3, verbose=0)
    assert model.evaluate(X, Y, verbose=0) < before
    copy = keras.Sequential.from_config(model.get_config())
    assert copy.layers[0].dtype_policy == policy


def test_steps_are_as_without_a_scale_and_left_out_where_gradients_overflow():
    plain, scaled = (tf.Variable([1.0, 2.0]) for _ in range(2))
    optimizer = mixed.LossScaleOptimizer(keras.optimizers.Adam(0.1), 8.0, dynamic_growth_steps=2)
    other = keras.optimizers.Adam(0.1)
    for _ in range(2):
        for w, o in ((plain, other), (scaled, optimizer)):
            with tf.GradientTape() as tape:
                loss = o.scale_loss(tf.reduce_sum(w**3))
            o.apply_gradients([(tape.gradient(loss, w), w)])
    np.testing.assert_allclose(scaled.numpy(), plain.numpy(), rtol=1e-6)
    assert float(optimizer.dynamic_scale) == 16.0
    optimizer.apply_gradients([(tf.constant([np.inf, 0.0]), scaled)])
    assert float(optimizer.dynamic_scale) == 8.0
    assert int(optimizer.iterations) == 2
    np.testing.assert_allclose(scaled.numpy(), plain.numpy(), rtol=1e-6)


def test_a_fixed_scale_of_the_loss_does_not_change_the_steps_of_fit():
    found = []
    for factor in (None, 64.0):
        model = keras.Sequential(
            [keras.Input((3,)), keras.layers.Dense(1, kernel_initializer="ones")]
        )
        model.compile(keras.optimizers.SGD(0.1, loss_scale_factor=factor), "mse")
        model.fit(X[:, 0, 0], X[:, 0, 0, :1], verbose=0)
        found.append(model.get_weights()[0])
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_arguments_after_the_first_are_tensors_as_well():
    class Both(keras.layers.Layer):
        def call(self, x, y, z=None):
            return x + y.shape[0] + tf.reduce_sum(z)

    result = Both()(np.ones(2), np.ones(3), z=np.ones(2))
    assert result.dtype == "float32"
    np.testing.assert_array_equal(result, [6.0, 6.0])


def test_trees():
    tree = keras.tree
    nested = {"b": [1, (2,)], "a": 3}
    assert tree.flatten_with_path(nested) == [(("a",), 3), (("b", 0), 1), (("b", 1, 0), 2)]
    assert tree.traverse(lambda x: 0 if isinstance(x, tuple) else None, nested) == {
        "b": [1, 0],
        "a": 3,
    }
    assert tree.lists_to_tuples(nested) == {"b": (1, (2,)), "a": 3}
    assert tree.map_structure(lambda x: -x, nested) == {"b": [-1, (-2,)], "a": -3}
    assert keras.config.backend() == "tensorflow"
