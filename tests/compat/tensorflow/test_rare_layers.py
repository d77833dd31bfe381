"""Test rare layers of Keras, and functions of TensorFlow that few programs use."""

from __future__ import annotations

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

keras = tf.keras
layers = keras.layers
RNG = np.random.RandomState(0)
X = RNG.rand(3, 6, 6, 3).astype(np.float32) * 255


def _filled(layer, x):
    layer(x)
    rng = np.random.RandomState(1)
    layer.set_weights([(rng.randn(*w.shape) * 0.3).astype(w.dtype) for w in layer.get_weights()])
    return layer


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"strides": 2}, {"dilation_rate": 2, "padding": "same"}])
def test_recurrent_convolutions_are_their_equations(d, options):
    x = RNG.randn(2, 3, *[5] * d, 2).astype(np.float32)
    layer = _filled(getattr(layers, f"ConvLSTM{d}D")(4, 2, return_state=True, **options), x)
    last, h, c = layer(x)
    np.testing.assert_array_equal(last, h)
    kernel, inner, bias = layer.get_weights()
    convolve = keras.ops.conv
    state = memory = 0.0
    for step in range(3):
        z = convolve(
            x[:, step], kernel, options.get("strides", 1), options.get("padding", "valid"),
            dilation_rate=options.get("dilation_rate", 1),
        ) + bias  # fmt: skip
        if step:
            z = z + convolve(state, inner, padding="same")
        i, f, new, o = tf.split(z, 4, -1)
        memory = tf.sigmoid(f) * memory + tf.sigmoid(i) * tf.tanh(new)
        state = tf.sigmoid(o) * tf.tanh(memory)
    np.testing.assert_allclose(h, state, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(c, memory, rtol=1e-4, atol=1e-5)


def test_recurrent_convolutions_repeat_what_is_masked_and_train():
    x = RNG.randn(2, 3, 5, 1).astype(np.float32)
    layer = _filled(layers.ConvLSTM1D(2, 2, return_sequences=True), x)
    found = layer(x, mask=np.array([[True, True, False], [True, False, False]]))
    np.testing.assert_array_equal(found[0, 2], found[0, 1])
    np.testing.assert_array_equal(found[1, 2], found[1, 0])
    np.testing.assert_allclose(found[0, :2], layer(x)[0, :2], rtol=1e-6)
    model = keras.Sequential([keras.Input((3, 5, 1)), layers.ConvLSTM1D(2, 2, dropout=0.2)])
    model.compile("sgd", "mse")
    assert model.fit(x, np.zeros((2, 4, 2)), verbose=0).history["loss"][0] > 0
    copy = layers.ConvLSTM1D.from_config(layer.get_config())
    assert copy.cell.kernel_size == (2,)


def test_brightness_and_contrast_are_drawn_as_by_keras():
    bright = layers.RandomBrightness(0.3, seed=1)(X).numpy()
    np.testing.assert_allclose(bright.min() >= 0, bright.max() <= 255)
    moved = bright - X
    inner = (bright > 0) & (bright < 255)
    for image, change, kept in zip(X, moved, inner, strict=True):
        assert np.ptp(change[kept]) < 1e-3
        assert abs(change[kept][0]) <= 0.3 * 255
        assert image.shape == change.shape
    wide = layers.RandomContrast((0.0, 1.0), value_range=(-1e9, 1e9), seed=2)(X).numpy()
    ratio = (wide - wide.mean((1, 2), keepdims=True)) / (X - X.mean((1, 2), keepdims=True))
    assert np.ptp(ratio, (1, 2, 3)).max() < 1e-3
    assert 1 <= ratio.min() < ratio.max() <= 2
    np.testing.assert_array_equal(layers.RandomContrast(0.5)(X, training=False), X)


def test_dropout_of_selu_keeps_mean_and_variance():
    x = RNG.randn(200, 200).astype(np.float32)
    found = layers.AlphaDropout(0.3, seed=1)(x, training=True).numpy()
    np.testing.assert_allclose([found.mean(), found.std()], [0, 1], atol=0.02)
    np.testing.assert_array_equal(layers.AlphaDropout(0.3)(x), x)


def test_kernels_are_divided_by_their_greatest_singular_value():
    layer = layers.SpectralNormalization(layers.Dense(4), power_iterations=50)
    layer(np.ones((1, 6)), training=True)
    assert np.linalg.svd(layer.layer.kernel.numpy())[1][0] == pytest.approx(1, rel=1e-3)
    assert len(layer.trainable_weights) == 2


@pytest.mark.parametrize("d", [1, 2, 3])
def test_pooling_to_a_size(d):
    x = RNG.rand(2, *[6] * d, 3).astype(np.float32)
    for kind in ("Average", "Max"):
        wanted = getattr(layers, f"{kind}Pooling{d}D")(3)(x)
        found = getattr(layers, f"Adaptive{kind}Pooling{d}D")(2)(x)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_dilation_and_erosion_of_images(padding):
    x = RNG.randn(1, 5, 4, 2).astype(np.float32)
    filters = RNG.randn(2, 2, 2).astype(np.float32)
    found = tf.nn.dilation2d(x, filters, [1, 1, 1, 1], padding, "NHWC", [1, 1, 1, 1]).numpy()
    wide = np.pad(x, ((0, 0), (0, 1), (0, 1), (0, 0)), constant_values=-np.inf)
    parts = [wide[:, i : i + 5, j : j + 4] + filters[i, j] for i in (0, 1) for j in (0, 1)]
    wanted = np.max(parts, 0)
    np.testing.assert_allclose(found, wanted if padding == "SAME" else wanted[:, :4, :3], rtol=1e-6)
    flipped = tf.nn.erosion2d(-x, filters[::-1, ::-1], [1, 1, 1, 1], padding, "NHWC", [1, 1, 1, 1])
    np.testing.assert_allclose(-flipped.numpy(), found, rtol=1e-6)
    v = tf.Variable(filters)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.dilation2d(x, v, [1, 1, 1, 1], padding, "NHWC", [1, 1, 1, 1]))
    assert float(tf.reduce_sum(tape.gradient(y, v))) == found.size


def test_the_incomplete_beta_function():
    pytest.importorskip("scipy")
    x = tf.constant([0.25, 0.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.betainc(1.0, 2.0, x)
    np.testing.assert_allclose(y, 1 - (1 - x.numpy()) ** 2, rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(y, x), 2 * (1 - x.numpy()), rtol=1e-6)
