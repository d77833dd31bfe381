"""Test the functions of ``tf.keras.backend``, as custom losses and layers call them."""

import inspect

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

K = tf.keras.backend
X = np.array([[1.0, -2.0, 0.5], [0.25, 4.0, -1.0]], np.float32)


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-6)


def dice(y_true, y_pred):
    both = K.sum(K.flatten(y_true) * K.flatten(y_pred))
    return 1 - (2 * both + K.epsilon()) / (K.sum(y_true) + K.sum(y_pred) + K.epsilon())


def divergence(mean, logarithm):
    return -0.5 * K.sum(1 + logarithm - K.square(mean) - K.exp(logarithm), axis=-1)


def test_losses_written_by_it_have_gradients():
    mask, mean = tf.Variable(np.abs(X)), tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        overlap, apart = (
            dice(tf.constant([[1.0, 0, 1], [0, 1, 0]]), mask),
            divergence(mean, 0 * mean),
        )
    close(overlap, 1 - 2 * 5.5 / (3 + 8.75))
    close(tape.gradient(apart, mean), X)
    assert np.isfinite(tape.gradient(overlap, mask).numpy()).all()


def test_products():
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(2, 4, 5)
    close(K.batch_dot(a, b), a @ b)
    close(K.batch_dot(X, X, axes=1), (X * X).sum(1, keepdims=True))
    close(K.batch_dot(a, a, axes=(2, 2)), a @ a.swapaxes(1, 2))
    close(K.dot(tf.constant(a), tf.constant(b)), np.dot(a, b))
    with pytest.raises(ValueError, match="batch_dot over axis 0"):
        K.batch_dot(a, a, axes=0)


def test_defaults_are_those_of_keras():
    x = tf.constant(X)
    close(K.argmax(x), [0, 1])
    close(K.concatenate([x, x]), np.concatenate([X, X], 1))
    close(K.cumsum(x), X.cumsum(0))
    close(K.mean(x > 0), 4 / 6)
    close(K.sqrt(x), np.sqrt(np.maximum(X, 0)))
    close(K.hard_sigmoid(x), np.clip(0.2 * X + 0.5, 0, 1))
    close(K.clip(x, None, 0.5), np.minimum(X, 0.5))
    close(K.binary_crossentropy([[1.0, 0.0]], [[0.25, 0.25]]), -np.log([[0.25, 0.75]]))
    assert K.arange(3).dtype == tf.int32
    assert K.dtype(K.random_normal((2,), seed=1)) == K.floatx() == K.dtype(K.constant([1, 2]))


def test_conditions_take_values_functions_and_masks():
    x, y = tf.constant(X), tf.zeros([2, 3])
    close(K.switch(tf.constant(False), lambda: x, lambda: y), 0 * X)
    close(K.switch(x > 0, x, lambda: y), np.maximum(X, 0))
    close(K.switch(tf.constant([True, False]), x, y), X * [[1], [0]])


def test_variables():
    v = K.variable([1.0, 2.0])
    K.update_add(v, [1.0, 1.0])
    close(v, [2, 3])
    K.set_value(v, [4, 5])
    close(K.get_value(v), [4, 5])
    assert isinstance(K.ones((2, 2)), tf.Variable)


def test_every_function_has_its_parameters_and_a_docstring():
    assert str(inspect.signature(K.mean)) == "(x, axis=None, keepdims=False)"
    assert all(getattr(K, name).__doc__ for name in K.__all__)
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        K.mean(axis=1)
