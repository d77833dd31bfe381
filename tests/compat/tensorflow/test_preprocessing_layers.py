"""Test Keras's preprocessing layers against values that Keras 3.15 computed."""

from __future__ import annotations

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

keras = tf.keras
layers = keras.layers


def test_texts_become_the_indices_of_their_words():
    layer = layers.TextVectorization(max_tokens=20, output_sequence_length=5)
    layer.adapt(["the cat sat", "the dog sat down"])
    assert layer.get_vocabulary() == ["", "[UNK]", "the", "sat", "down", "dog", "cat"]
    assert layer(["the cat barked", "Sat!"]).numpy().tolist() == [[2, 6, 1, 0, 0], [3, 0, 0, 0, 0]]
    assert layer(tf.constant("dog")).numpy().tolist() == [5, 0, 0, 0, 0]


def test_pairs_of_words_are_counted():
    layer = layers.TextVectorization(ngrams=2, max_tokens=6, output_mode="count")
    layer.adapt(tf.data.Dataset.from_tensor_slices(["a b a", "b a c"]).batch(1))
    assert layer.get_vocabulary() == ["[UNK]", "a", "b a", "b", "c", "a c"]
    found = layer(["a b", "c c z"])
    assert found.dtype == tf.int64
    assert found.numpy().tolist() == [[1, 1, 0, 1, 0, 0], [3, 0, 0, 0, 2, 0]]


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ({"split": "character", "vocabulary": ["a", "b"]}, ["Ab!a", "z"], [[2, 3, 2], [1, 0, 0]]),
        (
            {
                "standardize": tf.strings.lower,
                "vocabulary": ["x", "y!"],
                "output_mode": "multi_hot",
            },
            ["X y!"],
            [[0, 1, 1]],
        ),
        ({"split": None, "vocabulary": ["a b"]}, ["A b"], [[2]]),
    ],
)
def test_texts_are_split_and_simplified_as_asked(options, text, expected):
    assert layers.TextVectorization(**options)(text).numpy().tolist() == expected


def test_numbers_have_vocabularies():
    layer = layers.IntegerLookup(vocabulary=[10, 20], mask_token=0)
    assert layer([10, 30, 20, 0]).numpy().tolist() == [2, 1, 3, 0]
    assert layer.get_vocabulary() == [0, -1, 10, 20]
    found = layers.IntegerLookup(vocabulary=[10, 20], output_mode="one_hot")([10, 30])
    assert found.numpy().tolist() == [[0, 1, 0], [1, 0, 0]]
    layer = layers.IntegerLookup()
    layer.adapt([3, 3, 1, 2, 2, 3])
    assert layer.get_vocabulary() == [-1, 3, 2, 1]


def test_strings_become_indices_and_come_back():
    layer = layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot")
    assert layer([["a", "z"], ["b", "a"]]).numpy().tolist() == [[1, 1, 0], [0, 1, 1]]
    back = layers.StringLookup(vocabulary=["a", "b"], invert=True)([1, 2, 0])
    assert back.numpy().tolist() == [b"a", b"b", b"[UNK]"]
    layer = layers.StringLookup(vocabulary=["a", "b"], num_oov_indices=0, mask_token="")
    assert layer(["b", "a", ""]).numpy().tolist() == [2, 1, 0]
    with pytest.raises(ValueError, match="OOV"):
        layer(["c"])
    with pytest.raises(ValueError, match="repeated"):
        layers.StringLookup(vocabulary=["a", "a"])


def test_lookups_are_rebuilt_from_their_configuration():
    layer = layers.StringLookup(vocabulary=["a", "b"], mask_token="")
    again = layers.StringLookup.from_config(layer.get_config())
    assert again.get_vocabulary() == ["", "[UNK]", "a", "b"]


def test_intervals_are_found_or_given():
    layer = layers.Discretization(num_bins=3, epsilon=0.1)
    layer.adapt(np.arange(1.0, 9.0)[None])
    np.testing.assert_allclose(layer.bin_boundaries, [2.6667, 5.3333], atol=1e-4)
    assert layer([[1.5, 4.0, 8.0]]).numpy().tolist() == [[0, 1, 2]]
    layer = layers.Discretization(num_bins=4)
    layer.adapt(np.random.default_rng(0).normal(size=1000))
    np.testing.assert_allclose(layer.bin_boundaries, [-0.691, -0.076, 0.613], atol=1e-3)
    found = layers.Discretization([0.0, 1.0], output_mode="one_hot")([[0.5], [2.0]])
    assert found.numpy().tolist() == [[0, 1, 0], [0, 0, 1]]


def test_categories_are_counted_with_weights():
    layer = layers.CategoryEncoding(4, output_mode="count")
    assert layer([[0, 1, 1], [2, 3, 3]]).numpy().tolist() == [[1, 2, 0, 0], [0, 0, 1, 2]]
    found = layer([[0, 1], [1, 3]], count_weights=np.array([[0.1, 0.2], [0.3, 0.4]]))
    np.testing.assert_allclose(found, [[0.1, 0.2, 0, 0], [0, 0.3, 0, 0.4]], rtol=1e-6)
    with pytest.raises(ValueError, match="0 <= values < num_tokens"):
        layer([[4]])


IMAGE = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)


@pytest.mark.parametrize(
    ("layer", "row"),
    [
        (layers.RandomRotation((0.25, 0.25)), [3, 7, 11, 15]),
        (layers.RandomTranslation((0.25, 0.25), (-0.25, -0.25)), [1, 2, 3, 3]),
        (layers.RandomZoom((-0.5, -0.5)), [3.75, 4.25, 4.75, 5.25]),
        (layers.RandomZoom((0.5, 0.5), (0.25, 0.25)), [0, 0.875, 2.125, 3]),
    ],
)
def test_images_are_moved_as_keras_moves_them(layer, row):
    np.testing.assert_allclose(layer(IMAGE, training=True)[0, 0, :, 0], row, atol=2e-3)
    np.testing.assert_array_equal(layer(IMAGE, training=False), IMAGE)


def test_each_image_of_a_batch_is_flipped_by_its_own_chance():
    batch = np.repeat(IMAGE, 64, 0)
    flipped = layers.RandomFlip("horizontal", seed=3)(batch).numpy()
    kept = np.isclose(flipped, IMAGE).all((1, 2, 3))
    assert 16 < kept.sum() < 48
    np.testing.assert_allclose(flipped[~kept], batch[~kept][:, :, ::-1], atol=1e-5)


def test_a_model_takes_texts():
    model = keras.Sequential(
        [
            layers.TextVectorization(output_sequence_length=4, vocabulary=["cat", "dog", "sat"]),
            layers.Embedding(6, 2, embeddings_initializer="ones", mask_zero=True),
            layers.GlobalAveragePooling1D(),
            layers.Dense(1, kernel_initializer="ones"),
        ]
    )
    assert model(tf.constant(["the cat sat", "dog"])).numpy().tolist() == [[2.0], [2.0]]
    data = tf.data.Dataset.from_tensor_slices(["the cat sat", "dog"]).batch(2).map(model.layers[0])
    assert next(iter(data)).numpy().tolist() == [[1, 2, 4, 0], [3, 0, 0, 0]]


def test_intervals_are_numbered_in_32_bits():
    assert tf.keras.layers.Discretization([0.0, 1.0])([[-1.0, 0.5]]).dtype == tf.int32


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("RandomFlip('horizontal', seed=1)", [0.1667, 0.1875, 0.6875, 0.6667]),
        ("RandomFlip(seed=2)", [0.1667, 0.1875, 0.6667, 0.6875]),
        ("RandomTranslation(0.3, 0.2, seed=1)", [0.0732, 0.094, 0.6966, 0.7175]),
        ("RandomRotation((-0.1, 0.2), seed=1)", [0.1573, 0.2751, 0.6564, 0.7062]),
        ("RandomZoom(0.3, seed=1)", [0.1501, 0.1757, 0.6684, 0.6888]),
        ("RandomZoom(0.3, (-0.2, 0.1), seed=1)", [0.1542, 0.1715, 0.6698, 0.6874]),
    ],
)
def test_movements_of_a_seed_are_those_of_keras(call, wanted):
    # the numbers are those of Keras 3.15
    images = tf.reshape(tf.range(48.0), (2, 4, 6, 1)) / 48
    moved = eval(call, vars(tf.keras.layers))(images, training=True)
    np.testing.assert_allclose(np.ravel(moved[:, 1, 2:4, 0]), wanted, atol=1e-4)


def test_weighted_counts_of_categories_are_float32():
    layer = tf.keras.layers.CategoryEncoding(num_tokens=3, output_mode="count")
    found = layer([[0, 1], [0, 0]], count_weights=[[0.1, 0.2], [0.1, 0.1]])
    assert found.dtype == tf.float32
    np.testing.assert_allclose(found, [[0.1, 0.2, 0.0], [0.2, 0.0, 0.0]], rtol=1e-6)
