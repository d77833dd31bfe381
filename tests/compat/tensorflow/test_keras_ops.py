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


FOUR = np.arange(2 * 5 * 4 * 2, dtype=np.float32).reshape(2, 5, 4, 2) % 7


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_convolutions_are_those_of_layers(padding):
    layers = keras.layers
    for layer, call in (
        (layers.Conv2D(3, 2, 2, padding), lambda x, k, *_: ops.conv(x, k, 2, padding)),
        (
            layers.Conv2DTranspose(3, 3, 2, padding, output_padding=1),
            lambda x, k, *_: ops.conv_transpose(x, k, 2, padding, 1),
        ),
        (
            layers.DepthwiseConv2D(2, 1, padding),
            lambda x, k, *_: ops.depthwise_conv(x, k, 1, padding),
        ),
        (
            layers.SeparableConv2D(3, 2, 1, padding),
            lambda x, k, p, *_: ops.separable_conv(x, k, p, 1, padding),
        ),
        (layers.MaxPooling2D(2, 1, padding), lambda x: ops.max_pool(x, 2, 1, padding)),
        (
            layers.AveragePooling2D(2, None, padding),
            lambda x: ops.average_pool(x, 2, None, padding),
        ),
    ):
        wanted = layer(FOUR)
        np.testing.assert_allclose(call(FOUR, *layer.get_weights()), wanted, rtol=1e-5, atol=1e-5)
    first = np.moveaxis(FOUR, -1, 1)
    kernel = np.ones((2, 2, 2, 3), np.float32)
    found = ops.conv(first, kernel, padding=padding, data_format="channels_first")
    np.testing.assert_allclose(
        np.moveaxis(found.numpy(), 1, -1), ops.conv(FOUR, kernel, 1, padding)
    )


def test_parts_of_networks():
    layer = keras.layers.LayerNormalization(axis=(1, 2), gamma_initializer="ones")
    wanted = layer(FOUR)
    np.testing.assert_allclose(
        ops.layer_normalization(FOUR, np.ones((5, 4)), axis=(1, 2), epsilon=1e-3), wanted, atol=1e-5
    )
    np.testing.assert_allclose(
        ops.rms_normalization(X, epsilon=0.0),
        X / np.sqrt((X**2).mean(-1, keepdims=True)),
        rtol=1e-6,
    )
    np.testing.assert_allclose(
        ops.normalize(X, order=1).numpy().__abs__().sum(-1), [1, 1], rtol=1e-6
    )
    q = FOUR[..., None, :].reshape(2, 20, 1, 2)
    weights = np.tril(np.ones((20, 20))) * np.exp(q[:, :, 0] @ q[:, :, 0].swapaxes(1, 2) / 2**0.5)
    wanted = weights / weights.sum(-1, keepdims=True) @ q[:, :, 0]
    found = ops.dot_product_attention(q, q, q, is_causal=True)
    np.testing.assert_allclose(found[:, :, 0], wanted, rtol=1e-4)
    np.testing.assert_array_equal(ops.multi_hot([[0, 2], [1, 1]], 3), [[1, 0, 1], [0, 1, 0]])
    np.testing.assert_allclose(ops.sparsemax([1.0, 0.5, -1.0]), [0.75, 0.25, 0.0])
    np.testing.assert_array_equal(ops.sparse_plus([-2.0, 0.0, 3.0]), [0.0, 0.25, 3.0])


def test_arrays_and_transforms():
    values, places, counts = ops.unique([3, 1, 3], return_inverse=True, return_counts=True)
    assert [x.numpy().tolist() for x in (values, places, counts)] == [[1, 3], [1, 0, 1], [1, 2]]
    np.testing.assert_array_equal(ops.unique([3, 1, 3], size=4), [1, 3, 0, 0])
    np.testing.assert_array_equal(ops.slice_update([1, 2, 3, 4], [1], [8, 9]), [1, 8, 9, 4])
    np.testing.assert_array_equal(ops.associative_scan(lambda a, b: a + b, WHOLE), [3, 4, 6])
    result, slope = ops.jvp(lambda a, b: a * b, (2.0, 3.0), (1.0, 0.5))
    assert (float(result), float(slope)) == (6.0, 4.0)
    assert int(ops.switch(7, [lambda x: x, lambda x: -x], tf.constant(2))) == -2
    spectrum = np.fft.rfft(X, 4)
    real, imag = ops.rfft(X, 4)
    np.testing.assert_allclose(real.numpy() + 1j * imag.numpy(), spectrum, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ops.irfft((real, imag), 4)[:, :3], X, atol=1e-6)
    np.testing.assert_allclose(ops.cdist(X, X)[0], [0, np.linalg.norm(X[0] - X[1])], rtol=1e-6)
    lower = np.linalg.cholesky(X @ X.T)
    np.testing.assert_allclose(ops.cholesky_inverse(lower), np.linalg.inv(X @ X.T), rtol=1e-4)
    np.testing.assert_allclose(ops.hanning(5), np.hanning(5), atol=1e-7)


def test_short_time_transforms():
    signal = np.sin(np.arange(32.0)).astype(np.float32)
    window = np.pad(np.hanning(7)[:-1], 1)
    padded = np.pad(signal, 4, mode="reflect")
    wanted = np.stack([np.fft.rfft(padded[n : n + 8] * window) for n in range(0, 33, 4)])
    real, imag = ops.stft(np.stack([signal, -signal])[:, None], 6, 4, 8)
    assert real.shape == (2, 1, 9, 5)
    np.testing.assert_allclose((real.numpy() + 1j * imag.numpy())[1, 0], -wanted, atol=1e-5)
    back = ops.istft((real, imag), 6, 4, 8)
    np.testing.assert_allclose(back[0, 0], signal, atol=1e-5)
    x = tf.Variable(signal)
    with tf.GradientTape() as tape:
        loss = ops.sum(ops.stft(x, 8, 8, 8, window=None, center=False)[0][:, 0])
    np.testing.assert_allclose(tape.gradient(loss, x), np.ones(32), rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="hann"):
        ops.stft(signal, 8, 4, 8, window="kaiser")


def test_rearrange():
    x = np.arange(24.0).reshape(2, 6, 2).astype(np.float32)
    wanted = x.reshape(2, 2, 3, 2).transpose(0, 3, 1, 2).reshape(2, 4, 3)
    found = ops.rearrange(x, "b (h w) c -> b (c h) w", w=3)
    np.testing.assert_array_equal(found, wanted)
    for pattern in ("a b -> b a", "a b c -> a b", "a (b d) c -> a b c d", "a (b e) c -> a b c e"):
        with pytest.raises(ValueError, match="rearrange"):
            ops.rearrange(x, pattern, e=4)
    symbol = keras.Input((6, 2), batch_size=2)
    model = keras.Model(symbol, ops.rearrange(symbol, "b (h w) c -> b (c h) w", w=3))
    np.testing.assert_array_equal(model(x), wanted)


def test_ctc_decode():
    scores = np.zeros((2, 4, 3), np.float32)
    for sample, labels in enumerate([(1, 1, 0, 1), (2, 1, 1, 2)]):
        scores[sample, range(4), labels] = [1.0, 2.0, 3.0, 4.0]
    (labels,), total = ops.ctc_decode(scores, [4, 3])
    np.testing.assert_array_equal(labels, [[1, 1, -1, -1], [2, 1, -1, -1]])
    np.testing.assert_array_equal(total, [[-10.0], [-6.0]])
    (labels,), _ = ops.ctc_decode(scores, [4, 3], merge_repeated=False, mask_index=-1)
    np.testing.assert_array_equal(labels, [[1, 1, 0, 1], [1, 1, -1, -1]])
    with pytest.raises(NotImplementedError, match="greedy"):
        ops.ctc_decode(scores, [4, 3], "beam_search")


def test_images():
    image = ops.image
    patches = image.extract_patches(FOUR, 2)
    np.testing.assert_array_equal(patches[1, 1, 1], FOUR[1, 2:4, 2:4].ravel())
    padded = image.pad_images(FOUR, 1, 2, target_height=8, target_width=7)
    np.testing.assert_array_equal(padded, np.pad(FOUR, ((0, 0), (1, 2), (2, 1), (0, 0))))
    cropped = image.crop_images(padded, 1, 2, bottom_cropping=2, right_cropping=1)
    np.testing.assert_array_equal(cropped, FOUR)
    with pytest.raises(ValueError, match="exactly two"):
        image.pad_images(FOUR, 1)
    places = [[0.5, 2.0, -1.0], [1.0, 0.25, 1.0]]
    found = image.map_coordinates(FOUR[0, :, :, 0], places, 1, fill_value=-3.0)
    half = FOUR[0, :2, 1, 0].mean()
    quarter = 0.75 * FOUR[0, 2, 0, 0] + 0.25 * FOUR[0, 2, 1, 0]
    np.testing.assert_allclose(found, [half, quarter, -3.0], rtol=1e-6)
    whole = image.resize(FOUR.astype(np.uint8), (3, 3))
    assert whole.dtype == "uint8"
    np.testing.assert_array_equal(whole, np.round(image.resize(FOUR, (3, 3)).numpy()))
    assert image.gaussian_blur(FOUR[0]).shape == (5, 4, 2)
