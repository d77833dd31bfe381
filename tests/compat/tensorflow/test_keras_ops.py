"""Test the functions of ``tf.keras.ops``: values, dtypes, gradients, and functional models."""

import numpy as np
import pytest

import wengert.compat.tensorflow as tf
from wengert.compat.tensorflow import keras

ops = keras.ops
X = np.array([[1.0, -2.0, 0.5], [0.25, 4.0, -1.0]], np.float32)
WHOLE = np.array([3, 1, 2], np.int32)


@pytest.mark.parametrize(
    ("name", "args", "dtype"),
    [
        ("add", (WHOLE, 2), "int32"),
        ("add", (WHOLE, 2.5), "float32"),
        ("multiply", (X, WHOLE), "float32"),
        ("divide", (WHOLE, WHOLE), "float32"),
        ("matmul", (X, WHOLE), "float32"),
        ("mean", (WHOLE,), "float32"),
        ("exp", (WHOLE,), "float32"),
        ("sum", (WHOLE,), "int32"),
        ("sum", (X > 0,), "int32"),
        ("argmax", (X,), "int32"),
        ("sum", ([1, 2],), "int32"),
        ("mean", ([1.0, 2.0],), "float32"),
        ("mean", (np.ones(2),), "float64"),
        ("stack", ([WHOLE, 2.5 * WHOLE],), "float64"),
        ("zeros", ((2,),), "float32"),
        ("arange", (3,), "int32"),
        ("linspace", (0, 1, 3), "float32"),
    ],
)
def test_dtypes_are_those_of_keras(name, args, dtype):
    found = getattr(ops, name)(*args)
    assert found.dtype.name == dtype
    if name not in ("zeros", "arange", "linspace"):
        np.testing.assert_allclose(found.numpy(), getattr(np, name)(*args), rtol=1e-6)


def test_a_loss_written_by_them_has_a_gradient():
    w = tf.Variable(X)
    with tf.GradientTape() as tape:
        loss = ops.mean(ops.sum(ops.square(ops.subtract(w, 1.0)), axis=-1))
    np.testing.assert_allclose(tape.gradient(loss, w), X - 1)


def test_they_are_layers_of_functional_models():
    x = keras.Input((3,))
    y = ops.concatenate([ops.relu(x), ops.expand_dims(ops.max(x, axis=1), 1)], axis=-1)
    assert y.shape == (None, 4)
    model = keras.Model(x, ops.einsum("bi->bi", y))
    wanted = np.concatenate([np.maximum(X, 0), X.max(1, keepdims=True)], 1)
    np.testing.assert_allclose(model(tf.constant(X)), wanted)


def test_a_layer_may_call_them():
    class Scaled(keras.Layer):
        def build(self, shape):
            self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")

        def call(self, x):
            return ops.multiply(x, ops.softplus(self.scale))

    layer = Scaled()
    np.testing.assert_allclose(layer(tf.constant(X)), X * np.log1p(np.e), rtol=1e-6)


def test_positions_and_conditions():
    np.testing.assert_array_equal(ops.where(X > 0, X, 0.0), np.maximum(X, 0))
    rows, columns = ops.where(tf.constant(X) > 0)
    assert (rows.numpy().tolist(), columns.dtype) == ([0, 0, 1, 1], tf.int32)
    assert ops.shape(tf.constant(X)) == (2, 3)
    assert float(ops.fori_loop(0, 4, lambda i, total: total + i, tf.constant(0.0))) == 6
    np.testing.assert_allclose(
        ops.batch_normalization(X, [0.0, 1.0], [1.0, 4.0], 0, epsilon=0.0)[1], (X[1] - 1) / 2
    )


def test_segments_and_scans():
    np.testing.assert_array_equal(ops.segment_sum(WHOLE, [0, 2, 2]), [3, 0, 3])
    np.testing.assert_array_equal(ops.segment_max(X, [1, 0], num_segments=2), X[::-1])
    carry, sums = ops.scan(lambda c, x: (c + x["a"], {"s": c}), np.float32(0), {"a": X[0]})
    assert float(carry) == X[0].sum()
    np.testing.assert_array_equal(sums["s"], [0, 1, -1])
    carry, backwards = ops.scan(lambda c, x: (c + x, c), np.float32(0), X[0], reverse=True)
    np.testing.assert_array_equal(backwards, [-1.5, 0.5, 0])
    assert ops.scan(lambda c, _: (c * 2, c), np.int32(1), None, length=3)[1].numpy().tolist() == [
        *(1, 2, 4)
    ]


def test_cross_entropies_take_double_precision():
    found = ops.binary_crossentropy(np.array([1.0, 0.0]), np.array([0.9, 0.2]))
    np.testing.assert_allclose(found, -np.log([0.9, 0.8]), atol=2e-7)
    assert found.dtype == tf.float64
