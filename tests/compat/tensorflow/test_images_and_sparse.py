"""Test images, sparse tensors and the loss of alignments; numbers are those of TensorFlow 2.21."""

import numpy as np
import pytest

import wengert.compat.tensorflow as tf


def ramp(*shape):
    return tf.constant(np.arange(np.prod(shape), dtype="f").reshape(shape) * np.float32(0.37) % 1)


def flat(x):
    return np.asarray(x).ravel()


def test_structural_similarity_and_its_gradient():
    a, b = tf.Variable(ramp(2, 12, 13, 2)), tf.constant(ramp(2, 12, 13, 2).numpy()[:, ::-1])
    with tf.GradientTape() as tape:
        found = tf.image.ssim(a, b, 1.0)
    np.testing.assert_allclose(found, [-0.03897, 0.05181], atol=1e-4)
    np.testing.assert_allclose(np.abs(tape.gradient(found, a)).sum(), 6.03076, rtol=1e-4)
    narrow = tf.image.ssim(a, b, 1.0, 5, 0.8, 0.02, 0.05)
    np.testing.assert_allclose(narrow, [0.0675, 0.11897], atol=1e-4)
    each = tf.image.ssim(a, b, 1.0, return_index_map=True)
    assert each.shape == (2, 2, 3)
    np.testing.assert_allclose(tf.reduce_mean(each, [1, 2]), found, atol=1e-6)
    bytes_ = np.arange(144, dtype="u1").reshape(12, 12, 1)
    assert float(tf.image.ssim(bytes_, bytes_[::-1], 255)) == pytest.approx(-0.81081, abs=1e-4)
    x = ramp(1, 25, 27, 2)
    scales = tf.image.ssim_multiscale(x, x * 0.8, 1.0, (0.3, 0.5), 5)
    np.testing.assert_allclose(scales, [0.96904], atol=1e-4)


def test_edges_colours_and_patches():
    edges = tf.image.sobel_edges(ramp(1, 3, 3, 1))
    np.testing.assert_allclose(edges[0, 0, :, 0], [[0, 0], [0, 2.96], [0, 0]], atol=1e-5)
    down, right = tf.image.image_gradients(ramp(1, 2, 2, 1))
    np.testing.assert_allclose(flat(down), [0.74, -0.26, 0, 0], atol=1e-6)
    np.testing.assert_allclose(flat(right), [0.37, 0, -0.63, 0], atol=1e-6)
    for name, wanted in (
        ("rgb_to_yuv", [0.4559, 0.2185, -0.2245]),
        ("yuv_to_rgb", [1.2259, -0.5199, 1.216]),
        ("rgb_to_yiq", [0.4559, -0.3073, 0.061]),
        ("yiq_to_rgb", [1.2367, -0.5185, 1.1804]),
    ):
        found = getattr(tf.image, name)([[[0.2, 0.5, 0.9]]])
        np.testing.assert_allclose(flat(found), wanted, atol=1e-4)
    x = tf.reshape(tf.range(20), (1, 4, 5, 1))
    found = tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 3, 1], [1, 2, 1, 1], "SAME")
    wanted = [[[[0, 1, 10, 11], [3, 4, 13, 14]], [[10, 11, 0, 0], [13, 14, 0, 0]]]]
    assert found.numpy().tolist() == wanted


def test_random_images_draw_the_numbers_of_tensorflow():
    tf.random.set_seed(4)
    grey, colour = ramp(2, 3, 1), ramp(1, 2, 3)
    found = tf.image.random_brightness(grey, 0.5, seed=1)
    np.testing.assert_allclose(flat(found)[:2], [0.2332, 0.6032], atol=1e-4)
    found = tf.image.random_contrast(grey, 0.2, 0.9, seed=1)
    np.testing.assert_allclose(flat(found)[:2], [0.2012, 0.396], atol=1e-4)
    found = tf.image.random_hue(colour, 0.3, seed=1)
    np.testing.assert_allclose(flat(found)[:3], [0.0, 0.0683, 0.74], atol=1e-4)
    found = tf.image.random_saturation(colour, 0.3, 0.9, seed=1)
    np.testing.assert_allclose(flat(found)[:3], [0.3116, 0.5258, 0.74], atol=1e-4)
    found = tf.image.random_crop(grey, (1, 2, 1), seed=1)
    np.testing.assert_allclose(flat(found), [0.37, 0.74], atol=1e-6)
    seed = (3, 4)
    found = tf.image.stateless_random_brightness(grey, 0.5, seed=seed)
    np.testing.assert_allclose(flat(found)[:2], [-0.2567, 0.1133], atol=1e-4)
    found = tf.image.stateless_random_contrast(grey, 0.2, 0.9, seed)
    np.testing.assert_allclose(flat(found)[:2], [0.2676, 0.4046], atol=1e-4)
    found = tf.image.stateless_random_hue(colour, 0.3, seed)
    np.testing.assert_allclose(flat(found)[:3], [0.0, 0.74, 0.4261], atol=1e-4)
    found = tf.image.stateless_random_crop(grey, (1, 2, 1), seed)
    np.testing.assert_allclose(flat(found), [0.0, 0.37], atol=1e-6)
    with pytest.raises(ValueError, match=r"Need value.shape >= size"):
        tf.image.random_crop(grey, (1, 4, 1))


def test_each_image_of_a_batch_is_flipped_by_its_own_number():
    x = ramp(5, 1, 2, 1).numpy()
    tf.random.set_seed(4)
    for turned, flips in (
        (tf.image.random_flip_left_right(x, seed=1), [True, False, True, True, False]),
        (tf.image.stateless_random_flip_left_right(x, (3, 4)), [False, True, False, False, True]),
    ):
        for image, before, flip in zip(turned, x, flips, strict=True):
            np.testing.assert_array_equal(image, before[:, ::-1] if flip else before)


def test_loss_of_alignments():
    logits = tf.Variable(ramp(5, 2, 4) * 3.0)
    with tf.GradientTape() as tape:
        found = tf.nn.ctc_loss([[1, 2, 2], [3, 0, 0]], logits, [3, 1], [5, 4], blank_index=0)
    np.testing.assert_allclose(found, [4.9516, 4.0686], atol=1e-4)
    sizes = np.abs(tape.gradient(found, logits)).sum((0, 2))
    np.testing.assert_allclose(sizes, [4.9308, 4.749], atol=1e-3)
    rows = np.swapaxes(logits.numpy(), 0, 1)[:1]
    last = tf.nn.ctc_loss([[1, 2]], rows, [2], [5], logits_time_major=False, blank_index=-1)
    np.testing.assert_allclose(last, [4.7073], atol=1e-4)


def dense(s):
    return tf.sparse.to_dense(s).numpy().tolist()


def test_sparse_tensors_are_joined_cut_and_reshaped():
    values = tf.Variable([-1.0, 2.0, 3.0, -4.0])
    with tf.GradientTape(persistent=True) as tape:
        s = tf.SparseTensor([[0, 1], [1, 0], [1, 2], [2, 2]], values, [4, 3])
        joined = tf.sparse.concat(0, [s, tf.sparse.eye(2, 3)])
        cut = tf.sparse.slice(joined, [1, 1], [4, 9])
        total = tf.reduce_sum(cut.values**2)
        shares = tf.sparse.softmax(s)
        first = shares.values[1]
    assert dense(cut) == [[0, 3], [0, -4], [0, 0], [0, 0]]
    np.testing.assert_allclose(tape.gradient(total, values), [0, 0, 6, -8])
    share = 1 / (1 + np.e)
    np.testing.assert_allclose(shares.values, [1, share, 1 - share, 1], rtol=1e-6)
    slope = share * (1 - share)
    np.testing.assert_allclose(tape.gradient(first, values), [0, slope, -slope, 0], atol=1e-6)
    assert dense(tf.sparse.reshape(s, [2, -1])) == [[0, -1, 0, 2, 0, 3], [0, 0, -4, 0, 0, 0]]
    assert dense(tf.sparse.retain(s, [True, False, False, True]))[2] == [0, 0, -4]
    assert tf.sparse.expand_dims(s, 1).shape == (4, 1, 3)
    assert tf.sparse.expand_dims(s).shape == (4, 3, 1)
    assert dense(tf.sparse.map_values(tf.add, s, 5.0))[0] == [0, 4, 0]
    assert tf.sparse.concat(-1, [s, s]).shape == (4, 6)
    assert tf.sparse.concat(0, [s, tf.sparse.eye(2)], expand_nonconcat_dims=True).shape == (6, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shapes to match"):
        tf.sparse.concat(0, [s, tf.sparse.eye(2)])
    with pytest.raises(ValueError, match="No SparseTensor in argument list"):
        tf.sparse.map_values(tf.add, 1.0, 5.0)


def test_sums_and_maxima_of_sparse_tensors():
    s = tf.SparseTensor([[0, 1], [1, 0], [1, 2], [2, 2]], [-1.0, 2.0, 3.0, -4.0], [4, 3])
    assert tf.sparse.reduce_max(s, 1).numpy().tolist() == [-1, 3, -4, 0]
    assert tf.sparse.reduce_max(s, 0, keepdims=True).numpy().tolist() == [[2, -1, 3]]
    assert float(tf.sparse.reduce_max(s)) == 3
    totals = tf.sparse.reduce_sum(s, 1, output_is_sparse=True)
    assert totals.indices.numpy().ravel().tolist() == [0, 1, 2]
