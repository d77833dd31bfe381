"""Test tf.nn: convolutions with channels last, pooling, losses from logits."""

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

Invalid = tf.errors.InvalidArgumentError


def by_hand(x, w, stride, pads):
    x = np.pad(x, [(0, 0), *pads, (0, 0)])
    kh, kw = w.shape[:2]
    rows = (x.shape[1] - kh) // stride + 1
    columns = (x.shape[2] - kw) // stride + 1
    result = np.zeros((x.shape[0], rows, columns, w.shape[3]))
    for i in range(rows):
        for j in range(columns):
            part = x[:, i * stride : i * stride + kh, j * stride : j * stride + kw]
            result[:, i, j] = np.tensordot(part, w, 3)
    return result


@pytest.mark.parametrize(
    "size, stride, padding, pads",
    [
        (5, 1, "SAME", [(1, 1), (1, 1)]),
        (5, 2, "SAME", [(1, 1), (1, 1)]),
        (6, 2, "SAME", [(0, 1), (0, 1)]),
        (6, 2, "VALID", [(0, 0), (0, 0)]),
    ],
)
def test_a_convolution_is_what_its_definition_says(size, stride, padding, pads):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, size, size, 3)), rng.normal(size=(3, 3, 3, 4))
    found = tf.nn.conv2d(x, w, stride, padding)
    np.testing.assert_allclose(found.numpy(), by_hand(x, w, stride, pads), atol=1e-12)


def test_a_transposed_convolution_is_the_gradient_of_a_convolution():
    rng = np.random.default_rng(1)
    x = tf.constant(rng.normal(size=(1, 6, 5, 2)))
    w = tf.constant(rng.normal(size=(3, 3, 2, 4)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.conv2d(x, w, 2, "SAME")
    g = tf.constant(rng.normal(size=tuple(y.shape)))
    expected = tape.gradient(y, x, output_gradients=g)
    found = tf.nn.conv2d_transpose(g, w, [1, 6, 5, 2], 2, "SAME")
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-12)
    with pytest.raises(Invalid, match="Size of out_backprop doesn't match computed"):
        tf.nn.conv2d_transpose(g, w, [1, 9, 9, 2], 2, "SAME")


def test_convolutions_refuse_what_does_not_fit():
    x = tf.ones([1, 4, 4, 2])
    with pytest.raises(Invalid, match="input depth must be evenly divisible by filter depth"):
        tf.nn.conv2d(x, tf.ones([2, 2, 3, 1]), 1, "SAME")
    with pytest.raises(Invalid, match="Value for attr 'padding'"):
        tf.nn.conv2d(x, tf.ones([2, 2, 2, 1]), 1, "HALF")
    with pytest.raises(Invalid, match="Computed output size would be negative"):
        tf.nn.conv2d(x, tf.ones([9, 9, 2, 1]), 1, "VALID")
    with pytest.raises(Invalid, match="batch and depth"):
        tf.nn.conv2d(x, tf.ones([2, 2, 2, 1]), [2, 1, 1, 1], "SAME")


def test_channels_may_come_first():
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(1, 5, 4, 2)), rng.normal(size=(2, 2, 2, 3))
    last = tf.nn.conv2d(x, w, [1, 2, 1, 1], "SAME")
    first = tf.nn.conv2d(np.moveaxis(x, -1, 1), w, [1, 1, 2, 1], "SAME", data_format="NCHW")
    np.testing.assert_allclose(np.moveaxis(first.numpy(), 1, -1), last.numpy())


def test_averages_do_not_count_what_was_added():
    found = tf.nn.avg_pool2d(tf.ones([1, 3, 3, 1]), 2, 2, "SAME")
    assert (found.numpy() == 1).all()
    assert tf.nn.max_pool2d(-tf.ones([1, 3, 3, 1]), 2, 2, "SAME").numpy().max() == -1


def test_losses_from_logits():
    logits = tf.constant([[1.0, 2.0, -1.0], [1000.0, 0.0, 0.0]])
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0], logits=logits)
    dense = tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot([1, 0], 3), logits=logits)
    np.testing.assert_allclose(sparse.numpy(), dense.numpy(), rtol=1e-6)
    assert sparse.numpy()[1] == 0
    with pytest.raises(Invalid, match="Received a label value of 3 which is outside the valid"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 3], logits=logits)
    with pytest.raises(ValueError, match="must have the same shape"):
        tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[1.0, 2.0])
    big = tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[200.0, -200.0])
    assert big.numpy().tolist() == [0.0, 0.0]


def test_the_gradient_of_softmax_cross_entropy_is_softmax_minus_labels():
    logits, labels = tf.constant([[1.0, 2.0, -1.0]]), tf.constant([[0.0, 1.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    expected = tf.nn.softmax(logits) - labels
    np.testing.assert_allclose(tape.gradient(loss, logits).numpy(), expected.numpy(), rtol=1e-5)


def test_dropout_keeps_the_mean_and_follows_the_seed():
    x = tf.ones([10000])
    found = tf.nn.dropout(x, 0.25, seed=1)
    assert set(np.unique(found.numpy())) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(float(tf.reduce_mean(found)) - 1) < 0.05
    same = tf.nn.dropout(tf.ones([4, 6]), 0.5, noise_shape=[4, 1])
    assert (same.numpy() == same.numpy()[:, :1]).all()
    with pytest.raises(ValueError, match="`rate` must be"):
        tf.nn.dropout(x, 1.0)


def test_batch_normalization_with_its_moments_has_mean_0_and_variance_1():
    x = tf.constant(np.random.default_rng(0).normal(3.0, 2.0, (100, 4)))
    mean, variance = tf.nn.moments(x, [0])
    y = tf.nn.batch_normalization(x, mean, variance, None, None, 0.0)
    np.testing.assert_allclose(y.numpy().mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(y.numpy().var(0), 1)


def test_rows_are_looked_up():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.embedding_lookup(table, [[1, 1], [0, 1]]))
    dense = tf.convert_to_tensor(tape.gradient(y, table))
    assert dense.numpy().tolist() == [[1.0, 1.0], [3.0, 3.0]]


def test_labels_of_any_dtype_are_probabilities():
    labels, logits = np.array([[0, 1], [1, 0]]), [[1.0, 2.0], [3.0, 5.0]]
    whole = tf.nn.softmax_cross_entropy_with_logits(tf.constant(labels), logits)
    floats = tf.nn.softmax_cross_entropy_with_logits(labels.astype(np.float32), logits)
    np.testing.assert_array_equal(whole, floats)


def test_the_least_bfloat16_is_below_all_others():
    pytest.importorskip("ml_dtypes")
    x = tf.cast(tf.reshape([-4.0, -3.0, -2.0, -1.0], [1, 2, 2, 1]), tf.bfloat16)
    largest = tf.nn.max_pool2d(x, 2, 2, "SAME")
    assert largest.dtype == tf.bfloat16 and float(largest[0, 0, 0, 0]) == -1
    of_none = tf.math.unsorted_segment_max(tf.cast([1.0], tf.bfloat16), [0], 2)
    assert float(of_none[1]) == float(tf.bfloat16.min)
    clamped = tf.saturate_cast(tf.constant([1e39], tf.float64), tf.bfloat16)
    assert float(clamped[0]) == float(tf.bfloat16.max)
