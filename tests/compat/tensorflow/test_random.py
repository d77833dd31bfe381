"""Test tf.random: seeds, shapes, distributions, and derivatives by the parameters."""

import numpy as np
import pytest

import wengert.compat.tensorflow as tf


def test_the_global_seed_repeats_everything():
    tf.random.set_seed(1)
    first = [tf.random.normal([3]), tf.random.uniform([3]), tf.random.normal([3], seed=7)]
    tf.random.set_seed(1)
    again = [tf.random.normal([3]), tf.random.uniform([3]), tf.random.normal([3], seed=7)]
    for a, b in zip(first, again, strict=True):
        assert a.numpy().tolist() == b.numpy().tolist()
    tf.random.set_seed(2)
    assert tf.random.normal([3]).numpy().tolist() != first[0].numpy().tolist()


def test_calls_with_one_seed_go_on_with_one_stream():
    tf.random.set_seed(1)
    a, b = tf.random.uniform([2], seed=5), tf.random.uniform([2], seed=5)
    assert a.numpy().tolist() != b.numpy().tolist()


def test_stateless_functions_depend_on_their_seed_alone():
    a = tf.random.stateless_normal([3], seed=[1, 2])
    tf.random.normal([10])
    assert a.numpy().tolist() == tf.random.stateless_normal([3], seed=[1, 2]).numpy().tolist()
    assert a.numpy().tolist() != tf.random.stateless_normal([3], seed=[2, 1]).numpy().tolist()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"seed must have shape \[2\]"):
        tf.random.stateless_uniform([3], seed=1)


def test_generators_have_states_of_their_own():
    g = tf.random.Generator.from_seed(3)
    a = g.normal([2])
    g.reset_from_seed(3)
    assert g.normal([2]).numpy().tolist() == a.numpy().tolist()
    left, right = g.split(2)
    assert left.uniform([2]).numpy().tolist() != right.uniform([2]).numpy().tolist()
    copy = tf.random.Generator(copy_from=g)
    assert copy.normal([2]).numpy().tolist() == g.normal([2]).numpy().tolist()
    with pytest.raises(ValueError, match="from_seed"):
        tf.random.Generator()


def test_dtypes_and_ranges():
    assert tf.random.normal([2]).dtype is tf.float32
    assert tf.random.uniform([2], dtype=tf.float64).dtype is tf.float64
    whole = tf.random.uniform([100], 2, 5, tf.int32)
    assert set(whole.numpy()) <= {2, 3, 4} and whole.dtype is tf.int32
    with pytest.raises(ValueError, match="Must specify maxval for integer dtype"):
        tf.random.uniform([2], dtype=tf.int32)
    assert abs(tf.random.truncated_normal([1000]).numpy()).max() <= 2
    assert tf.random.poisson([2], [1.0, 2.0]).shape == (2, 2)
    assert tf.random.gamma([3], [1.0, 2.0]).shape == (3, 2)
    assert tf.random.categorical([[0.0, -1e9]], 4).numpy().tolist() == [[0, 0, 0, 0]]


def test_samples_have_the_moments_of_their_distribution():
    tf.random.set_seed(0)
    x = tf.random.normal([20000], 3.0, 2.0).numpy()
    assert abs(x.mean() - 3) < 0.1 and abs(x.std() - 2) < 0.1
    g = tf.random.gamma([20000], 2.0, 4.0).numpy()
    assert abs(g.mean() - 0.5) < 0.05
    p = tf.random.poisson([20000], 3.0).numpy()
    assert abs(p.mean() - 3) < 0.1


def test_normal_numbers_are_differentiable_in_their_parameters():
    mean, stddev = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.random.normal([1000], mean, stddev)
        loss = tf.reduce_mean(y)
    slopes = tape.gradient(loss, [mean, stddev])
    assert slopes[0].numpy() == pytest.approx(1.0)
    expected = (loss.numpy() - 1) / 2
    assert slopes[1].numpy() == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_shuffle_keeps_the_rows():
    x = np.arange(12).reshape(6, 2)
    found = tf.random.shuffle(x).numpy()
    assert sorted(found[:, 0].tolist()) == x[:, 0].tolist()
    assert (found[:, 1] == found[:, 0] + 1).all()


def test_initializers_have_their_scale():
    tf.random.set_seed(0)
    w = tf.keras.initializers.GlorotUniform()((200, 100)).numpy()
    assert abs(w).max() <= np.sqrt(6 / 300) and abs(w).max() > 0.9 * np.sqrt(6 / 300)
    he = tf.keras.initializers.HeNormal()((3, 3, 50, 60)).numpy()
    assert he.std() == pytest.approx(np.sqrt(2 / 450), rel=0.05)
    q = tf.keras.initializers.Orthogonal()((5, 5)).numpy()
    np.testing.assert_allclose(q @ q.T, np.eye(5), atol=1e-5)
    assert tf.zeros_initializer()([2]).numpy().tolist() == [0.0, 0.0]


def test_initializers_of_one_seed_agree():
    kind = tf.keras.initializers.GlorotUniform
    assert (kind(seed=1)([2, 2]).numpy() == kind(seed=1)([2, 2]).numpy()).all()
    assert (kind()([2, 2]).numpy() != kind()([2, 2]).numpy()).all()


def test_layers_of_noise_with_a_seed_draw_other_numbers_at_each_step():
    x = tf.ones([8])
    for kind in (tf.keras.layers.GaussianNoise, tf.keras.layers.GaussianDropout):
        layer = kind(0.5, seed=1)
        assert (layer(x, training=True).numpy() != layer(x, training=True).numpy()).all()
