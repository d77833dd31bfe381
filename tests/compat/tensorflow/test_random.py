"""Test tf.random: seeds, shapes, distributions, and derivatives with respect to the parameters."""

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
    limit = np.float32(np.sqrt(6 / 300))  # as rounded, which draws may reach
    assert 0.9 * limit < abs(w).max() <= limit
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


def test_numbers_are_tensorflows():
    def shows(value, *wanted):
        assert np.allclose(np.ravel(value), wanted, rtol=2e-5, atol=1e-7), value

    # printed by TensorFlow 2.21
    draw = tf.random
    shows(draw.stateless_uniform([3], [1, 2]), 0.8440604, 0.19204533, 0.9962232)
    shows(draw.stateless_normal([3], [1, 2]), 0.5441101, 0.20738031, 0.07356433)
    shows(draw.stateless_uniform([3], [1, 2], maxval=10, dtype=tf.int32), 0, 9, 4)
    shows(draw.stateless_uniform([2], [1, 2], dtype=tf.float64), 0.75248375, 0.96978577)
    stream = draw.Generator.from_seed(3)
    shows(stream.normal([2]), -0.43640924, -1.9633987)
    shows(stream.uniform([2]), 0.28796744, 0.8532672)
    shows(stream.state, 1027, 0, 0)
    stream.skip(3)
    wanted = 0.5788246, 1.044768, 0.5767472, -0.1078955, -0.00530344, -0.35174793
    shows(stream.truncated_normal([6]), *wanted)
    tf.random.set_seed(5)
    shows(draw.normal([3]), -0.18030666, -0.95028627, -0.03964049)
    shows(draw.normal([2]), 0.22652864, 0.8106553)
    shows(draw.normal([3], seed=1), -1.3768897, -0.01258316, -0.169515)
    shows(draw.normal([2], seed=1), 0.38683587, -0.4637197)
    shows(draw.shuffle([0, 1, 2, 3, 4], seed=3), 0, 4, 1, 3, 2)
    shows(draw.shuffle([0, 1, 2, 3, 4], seed=3), 4, 0, 3, 2, 1)


def test_layers_begin_with_the_numbers_of_keras():
    tf.keras.utils.set_random_seed(7)
    shown = tf.keras.layers.Dense(2)(tf.ones((1, 3))).numpy()
    assert np.allclose(shown, [[0.348485, 0.16696835]], rtol=1e-5)
    drop = tf.keras.layers.Dropout(0.5, seed=1)
    masks = [drop(tf.ones((2, 5)), training=True).numpy().tolist() for _ in range(2)]
    assert masks[0] == [[2, 0, 2, 0, 0], [0, 0, 2, 0, 2]]
    assert masks[1] == [[0, 0, 0, 0, 0], [0, 2, 2, 2, 0]]
    begun = tf.keras.initializers.Orthogonal(seed=3)
    wanted = [[-0.5795933, 0.8149058], [-0.8149058, -0.5795934]]
    assert np.allclose(begun((2, 2)), wanted, atol=2e-6)
    assert np.array_equal(begun((2, 2)), begun((2, 2)))


def test_positions_and_spreads_where_tensorflow_differs():
    nan = np.nan
    assert tf.argmax([[1, nan], [nan, 4.0]]).numpy().tolist() == [0, 1]
    assert tf.argmin([nan, 2.0, 1.0]).numpy() == 2
    assert tf.math.in_top_k([0, 2], [[1.0, 1, 1], [nan, 1, 2]], 2).numpy().tolist() == [True, False]
    assert tf.math.reduce_variance([1.0, 3.0], axis=[]).numpy().tolist() == [0, 0]
    mean, spread = tf.nn.moments(tf.constant([1.0, 3.0]), [])
    assert mean.numpy().tolist() == [1, 3] and spread.numpy().tolist() == [0, 0]
    assert np.isnan(tf.math.l2_normalize([nan, 1.0])).all()


def test_initializers_of_the_top_level_draw_in_turn_unless_they_have_a_seed():
    # the numbers are those of TensorFlow 2.21
    tf.random.set_seed(0)
    uniform, normal = tf.random_uniform_initializer(-1, 1), tf.random_normal_initializer()
    np.testing.assert_allclose(uniform([2]), [-0.41604972, -0.5868671], rtol=1e-5)
    np.testing.assert_allclose(uniform([2]), [0.11082816, -0.55741405], rtol=1e-5)
    np.testing.assert_allclose(normal([2]), [-0.09020644, -0.00557673], rtol=1e-5)
    seeded = tf.random_normal_initializer(seed=3)
    for _ in range(2):
        np.testing.assert_allclose(seeded([2]), [-0.03357924, 0.08380252], rtol=1e-5)


KERAS_DRAWS = {
    "normal((2,), seed=3)": [-0.671585, 1.67605],
    "uniform((2,), 1.0, 3.0, seed=5)": [1.123707, 2.663338],
    "randint((3,), 0, 10, seed=2)": [7, 5, 7],
    "shuffle(np.arange(5), seed=1)": [4, 3, 1, 2, 0],
    "dropout(np.ones(4, np.float32), 0.5, seed=4)": [2, 2, 0, 2],
    "truncated_normal((2,), seed=2)": [-0.639429, -0.187006],
}


@pytest.mark.parametrize("call", KERAS_DRAWS)
def test_a_number_as_a_seed_of_keras_gives_the_same_numbers_each_time(call):
    for _ in range(2):  # the numbers are those of Keras 3
        drawn = eval(
            call, {"np": np}, {n: getattr(tf.keras.random, n) for n in tf.keras.random.__all__}
        )
        np.testing.assert_allclose(drawn, KERAS_DRAWS[call], rtol=1e-5)


def test_calls_of_keras_without_a_seed_share_a_generator():
    tf.keras.utils.set_random_seed(4)
    draws = [tf.keras.random.normal((2,)) for _ in range(2)]
    np.testing.assert_allclose(
        draws, [[-0.5389687, -0.7476448], [-0.8096061, -0.107682]], rtol=1e-5
    )
    generator = tf.keras.random.SeedGenerator(3)
    first, second = (tf.keras.random.normal((2,), seed=generator) for _ in range(2))
    np.testing.assert_allclose(first, [-0.671585, 1.67605], rtol=1e-5)
    assert not np.array_equal(first, second)
    for draw in (tf.keras.random.gamma((2,), 2.0), tf.keras.random.beta((2,), 2.0, 3.0)):
        assert (draw.numpy() > 0).all()
    assert tf.keras.random.categorical(np.zeros((2, 3)), 4).shape == (2, 4)
