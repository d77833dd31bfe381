"""What TensorFlow and Keras refuse, and values that were wrong without a word."""

from __future__ import annotations

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

L, M = tf.keras.layers, tf.keras.metrics
_ROW, _IMAGE = np.ones((1, 5)), np.ones((1, 5, 5, 2))
_REFUSED = {
    "filters": lambda: L.Conv2D(0, 3),
    "kernel_size": lambda: L.Conv2D(4, 0),
    "strides > 1": lambda: L.Conv2D(4, 3, strides=2, dilation_rate=2),
    "evenly divisible": lambda: L.Conv2D(5, 3, groups=2),
    "pool_size": lambda: L.MaxPooling1D(0),
    "units": lambda: L.LSTM(0),
    "rate": lambda: L.SpatialDropout1D(1.5),
    "stddev": lambda: L.GaussianNoise(2.0),
    "noise_shape": lambda: L.Dropout(0.5, noise_shape=(2, -1)),
    "padding": lambda: L.ZeroPadding2D(-1),
    "cropping": lambda: L.Cropping1D((1, 2, 3)),
    "should be smaller": lambda: L.Cropping2D(3)(_IMAGE),
    "`n`": lambda: L.RepeatVector(-1),
    "size": lambda: L.UpSampling2D(0),
    "consecutive": lambda: L.Permute((0, 1)),
    "target_shape": lambda: L.Reshape((2, -5)),
    "max_value": lambda: L.ReLU(max_value=-1),
    "groups": lambda: L.GroupNormalization(-3),
    "exactly 2": lambda: L.Subtract()([_ROW] * 3),
    r"\[-ndim, ndim\)": lambda: L.Normalization(axis=2)(_ROW),
    "empty iterable": lambda: L.Normalization().adapt(iter(())),
    "thresholds": lambda: M.TruePositives(thresholds=[-1, 0.5]),
    "num_thresholds": lambda: M.AUC(num_thresholds=1),
    "summation": lambda: M.AUC(summation_method="other"),
    "specificity": lambda: M.SensitivityAtSpecificity(specificity=2),
    "beta": lambda: M.FBetaScore(beta=-1.0),
    "average": lambda: M.F1Score(average="other"),
    "`weight_decay` must be a float": lambda: tf.keras.optimizers.AdamW(weight_decay=None),
    "decay_steps": lambda: tf.keras.optimizers.schedules.InverseTimeDecay(0.1, 0, 0.5),
    "convolution filter must be 4-dim": lambda: tf.nn.conv2d_transpose(
        _IMAGE, _IMAGE[0], (1, 5, 5, 2), 1
    ),
    "degenerates": lambda: tf.keras.optimizers.Lion(beta_1=-0.1),
    r"batch_dot .* axes=\[5, 5\]": lambda: L.Dot(5)([_IMAGE, _IMAGE]),
    r"batch_dot .* axes=\[1, 3\]": lambda: tf.keras.backend.batch_dot(_IMAGE, _IMAGE, (1, 3)),
    "non-negative": lambda: tf.pad(_ROW, [[0, 0], [-1, 0]]),
    "size_splits": lambda: tf.split(_ROW[0], [2, 3], num=3),
    "divisible": lambda: tf.nn.space_to_depth(_IMAGE, 1),
}


@pytest.mark.parametrize("words", _REFUSED)
def test_wrong_arguments_are_refused(words):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=words):
        _REFUSED[words]()


def test_values_of_one_hot_have_one_dtype():
    with pytest.raises(TypeError, match="one dtype"):
        tf.one_hot([0], 2, on_value=tf.constant(1.0), dtype=tf.int32)


@pytest.mark.parametrize("target", [[2, 2], [2]])
def test_batch_jacobian_needs_more_than_a_batch(target):
    x, y = tf.ones([2] if len(target) == 2 else [2, 2]), tf.ones(target)
    with tf.GradientTape() as tape:
        tape.watch(x)
    with pytest.raises(ValueError, match="must have rank at least 2"):
        tape.batch_jacobian(y, x)


def test_the_greatest_predictions_count_whatever_their_threshold():
    y, p = [[0, 1, 1, 0, 0]], [[0.2, 0.1, 0.5, 0.0, 0.2]]
    assert float(M.Precision(top_k=3)(y, p)) == pytest.approx(1 / 3)
    recall = M.Recall(top_k=3)
    assert float(recall(y, p)) == pytest.approx(0.5)
    assert recall.true_positives.numpy().tolist() == recall.false_negatives.numpy().tolist() == [1]


def test_normalization_takes_batches_and_statistics_of_several_dimensions():
    layer = L.Normalization()
    layer.adapt([np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]])])
    assert layer.mean.numpy().tolist() == [[2.5]]
    assert layer(np.array([[1.0]])).numpy() == pytest.approx(-1.3416407)
    layer.adapt(np.array([[float(n)]]) for n in range(5))
    assert layer.mean.numpy().tolist() == [[2.0]]
    layer.adapt(tf.data.Dataset.from_tensor_slices(([[1.0], [5.0]], [0, 1])))
    assert layer.mean.numpy().tolist() == [[3.0]]
    mean = np.arange(6.0).reshape(2, 3)
    layer = L.Normalization(axis=(1, 2), mean=mean, variance=np.ones((2, 3)))
    again = L.Normalization.from_config(layer.get_config())
    assert layer(np.zeros((1, 2, 3, 4))).numpy()[0, :, :, 0].tolist() == (-mean).tolist()
    assert again(np.zeros((1, 2, 3, 4))).numpy()[0, :, :, 3].tolist() == (-mean).tolist()


def test_einsum_dense_with_elided_dimensions():
    layer = L.EinsumDense("...b,bc->...c", output_shape=4, bias_axes="c")
    x = np.arange(6.0, dtype="f").reshape(1, 2, 3)
    assert layer(x).numpy() == pytest.approx(x @ layer.kernel.numpy(), rel=1e-5)
    assert layer.kernel.shape == (3, 4) and layer.bias.shape == (4,)
    assert L.EinsumDense("ab,b->a", output_shape=())(np.ones((5, 32), "f")).shape == (5,)


def test_softmax_along_several_dimensions():
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype("f")
    wide = np.exp(x) / np.exp(x).sum((0, 2), keepdims=True)
    assert tf.keras.activations.softmax(x, (0, 2)).numpy() == pytest.approx(wide, rel=1e-6)
    assert tf.keras.ops.log_softmax(x, (2, 0)).numpy() == pytest.approx(np.log(wide), rel=1e-5)


def test_saturated_casts_keep_to_both_ranges():
    big = [1e300, -1e300, np.inf, 2.0]
    most = float(np.finfo(np.float32).max)
    assert tf.saturate_cast(np.array(big), tf.float32).numpy().tolist() == [most, -most, most, 2]
    pair = np.array([complex(1e300, -1e300)])
    assert tf.saturate_cast(pair, tf.complex64).numpy()[0] == complex(most, -most)
    half = tf.saturate_cast(np.array([np.inf], np.float16), tf.int32)
    assert half.numpy().tolist() == [65504]
    whole = tf.saturate_cast(np.array([1e30, -1e30], np.float32), tf.int64).numpy()
    assert whole.tolist() == [2**63 - 2**39, -(2**63)]


def test_an_array_is_a_list_of_its_rows():
    rows = np.arange(6.0).reshape(2, 3)
    assert tf.stack(rows).shape == (2, 3)
    assert tf.add_n(rows).numpy().tolist() == [3.0, 5.0, 7.0]
    assert tf.constant([np.array(65, np.float16), np.array(16, np.float16)]).dtype == tf.float16


def test_means_of_whole_numbers_do_not_overflow():
    for kind in (np.uint8, np.int8, np.int16, np.int32):
        most = np.iinfo(kind).max
        many = np.full((2, 300), most, kind)
        assert tf.reduce_mean(many).numpy() == most
        assert tf.reduce_mean(many[:, :256], 1).numpy().tolist() == [most] * 2
    assert tf.reduce_mean([-1, -2, -2]).numpy() == -1


def test_the_dimensions_of_tensordot_are_checked():
    a, b = np.ones((2, 3)), np.ones((3, 2))
    assert tf.tensordot(a, b, [[-1], [0]]).shape == (2, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="dimension"):
        tf.tensordot(a, b, [[0], [7]])
    with pytest.raises(ValueError, match="Different number"):
        tf.tensordot(a, b, [[1], []])
    with pytest.raises(ValueError, match="at least 0"):
        tf.tensordot(a, b, -1)


def test_a_table_of_embeddings_may_be_in_parts():
    table = np.arange(12.0, dtype=np.float32).reshape(4, 3)
    whole = tf.nn.embedding_lookup(table, [1, 3]).numpy().tolist()
    assert tf.nn.embedding_lookup([table], [1, 3]).numpy().tolist() == whole
    assert tf.nn.embedding_lookup([table[:2], table[2:]], [1, 3]).numpy().tolist() == whole


def test_optimizers_assign_the_gradients_of_some_variables():
    layer = L.Layer()
    scale = layer.add_weight((2,), "ones", overwrite_with_gradient=True)
    weight = layer.add_weight((2,), "ones")
    optimizer = tf.keras.optimizers.SGD(0.1, clipvalue=0.5, weight_decay=0.5)
    gradient = tf.constant([5.0, 6.0])
    optimizer.apply_gradients([(gradient, scale), (gradient, weight)])
    assert scale.numpy().tolist() == [5.0, 6.0]
    np.testing.assert_allclose(weight.numpy(), [0.9, 0.9], rtol=1e-6)
