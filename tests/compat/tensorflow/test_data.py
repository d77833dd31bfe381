"""Test tf.data: creation, transformation and repeated iteration of datasets."""

import collections

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

Dataset = tf.data.Dataset


def listed(dataset):
    return [np.asarray(x).tolist() for x in dataset.as_numpy_iterator()]


def test_slices_keep_structures_and_dtypes():
    dataset = Dataset.from_tensor_slices({"a": np.arange(3.0), "b": ([1, 2, 3], [4, 5, 6])})
    first = next(iter(dataset))
    assert first["a"].dtype is tf.float64
    assert [int(part) for part in first["b"]] == [1, 4]
    assert len(dataset) == 3
    with pytest.raises(ValueError, match="not compatible"):
        Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))


def test_batches_and_what_is_left_over():
    assert listed(Dataset.range(5).batch(2)) == [[0, 1], [2, 3], [4]]
    assert listed(Dataset.range(5).batch(2, drop_remainder=True)) == [[0, 1], [2, 3]]
    assert len(Dataset.range(5).batch(2)) == 3
    pairs = Dataset.from_tensor_slices(([1, 2, 3], [4, 5, 6])).batch(3)
    x, y = next(iter(pairs))
    assert x.numpy().tolist() == [1, 2, 3] and y.numpy().tolist() == [4, 5, 6]
    assert listed(Dataset.range(4).batch(2).unbatch()) == [0, 1, 2, 3]


def test_a_dataset_can_be_gone_through_again():
    dataset = Dataset.range(3).map(lambda x: x * 2)
    assert listed(dataset) == listed(dataset) == [0, 2, 4]


def test_map_filter_take_skip_repeat_zip_enumerate():
    assert listed(Dataset.range(6).filter(lambda x: x % 2 == 0)) == [0, 2, 4]
    assert listed(Dataset.range(6).skip(1).take(3)) == [1, 2, 3]
    assert listed(Dataset.range(2).repeat(2)) == [0, 1, 0, 1]
    assert listed(Dataset.range(2).repeat().take(5)) == [0, 1, 0, 1, 0]
    assert listed(Dataset.range(2).concatenate(Dataset.range(1))) == [0, 1, 0]
    both = Dataset.zip((Dataset.range(2), Dataset.range(5, 7)))
    assert [(int(a), int(b)) for a, b in both] == [(0, 5), (1, 6)]
    assert [(int(i), int(x)) for i, x in Dataset.range(5, 7).enumerate()] == [(0, 5), (1, 6)]
    assert [int(x) for x in Dataset.from_tensor_slices(([1], [2])).map(lambda a, b: a + b)] == [3]


def test_shuffle_follows_its_seed_and_changes_with_each_iteration():
    tf.random.set_seed(0)
    dataset = Dataset.range(20).shuffle(20, seed=1)
    first, second = listed(dataset), listed(dataset)
    assert sorted(first) == list(range(20)) and first != second
    tf.random.set_seed(0)
    assert listed(Dataset.range(20).shuffle(20, seed=1)) == first
    fixed = Dataset.range(20).shuffle(5, reshuffle_each_iteration=False)
    assert listed(fixed) == listed(fixed)


def test_cache_computes_once():
    calls = []

    def noted(x):
        calls.append(int(x))
        return x

    dataset = Dataset.range(3).map(noted).cache()
    listed(dataset), listed(dataset)
    assert calls == [0, 1, 2]


def test_cardinality_and_specs():
    assert int(Dataset.range(3).cardinality()) == 3
    assert int(Dataset.range(3).repeat().cardinality()) == tf.data.INFINITE_CARDINALITY
    assert int(Dataset.range(3).filter(lambda x: True).cardinality()) == -2
    with pytest.raises(TypeError, match="infinite"):
        len(Dataset.range(3).repeat())
    spec = Dataset.from_tensor_slices(np.ones((3, 2), np.float32)).element_spec
    assert spec.shape == (2,) and spec.dtype is tf.float32


def test_sizes_that_batches_may_change_are_unknown():
    rows = Dataset.from_tensor_slices((np.ones((5, 3), np.float32), np.arange(5)))
    batches = rows.shuffle(5).batch(2).map(lambda x, y: (2 * x, y)).prefetch(1)
    assert [one.shape.as_list() for one in batches.element_spec] == [[None, 3], [None]]
    pairs = Dataset.zip((batches, batches))
    assert pairs.element_spec[1][0].shape.as_list() == [None, 3]
    whole = rows.batch(2, drop_remainder=True).repeat().take(3)
    assert [one.shape.as_list() for one in whole.element_spec] == [[2, 3], [2]]
    assert [one.shape.as_list() for one in batches.unbatch().element_spec] == [[3], []]
    padded = Dataset.range(1, 4).map(lambda n: tf.fill([n], n)).padded_batch(2)
    assert padded.element_spec.shape.as_list() == [None, None]
    assert batches.batch(2, True).element_spec[0].shape.as_list() == [None, None, 3]
    assert Dataset.from_tensor_slices(np.ones((0, 2))).element_spec.shape == (2,)


def test_an_iterator_says_when_it_has_ended():
    iterator = iter(Dataset.range(1))
    assert int(iterator.get_next()) == 0
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        iterator.get_next()


def test_a_training_loop_over_batches_learns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 2)).astype(np.float32)
    y = x @ np.array([[2.0], [-1.0]], np.float32)
    dataset = Dataset.from_tensor_slices((x, y)).shuffle(64).batch(16).prefetch(tf.data.AUTOTUNE)
    w = tf.Variable(tf.zeros([2, 1]))
    for _ in range(20):
        for inputs, targets in dataset:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((inputs @ w - targets) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, w))
    np.testing.assert_allclose(w.numpy().ravel(), [2.0, -1.0], atol=0.05)


def values(dataset):
    return [x.tolist() if hasattr(x, "tolist") else x for x in dataset.as_numpy_iterator()]


def test_windows_cycles_and_groups():
    D = tf.data.Dataset
    windows = D.range(7).window(3, shift=2, stride=2)
    assert [values(one) for one in windows] == [[0, 2, 4], [2, 4, 6], [4, 6], [6]]
    assert len(windows) == 4 and len(D.range(7).window(3, 1, drop_remainder=True)) == 5
    pairs = D.zip((D.range(4), D.range(10, 14))).window(2)
    assert [(values(a), values(b)) for a, b in pairs] == [([0, 1], [10, 11]), ([2, 3], [12, 13])]

    def again(x):
        return D.from_tensors(x).repeat(3)

    turns = D.range(3).interleave(again, cycle_length=2, block_length=2)
    assert values(turns) == [0, 0, 1, 1, 0, 1, 2, 2, 2]
    assert values(D.range(4).scan(np.int64(0), lambda s, x: (s + x, s * x))) == [0, 0, 2, 9]
    assert values(D.range(9).take_while(lambda x: x < 3)) == [0, 1, 2]
    assert values(D.from_tensor_slices([3, 1, 3]).unique()) == [3, 1]
    assert values(D.range(6).batch(4).rebatch(3)) == [[0, 1, 2], [3, 4, 5]]
    assert values(D.range(7).batch(4).rebatch([2, 1])) == [[0, 1], [2], [3, 4], [5], [6]]
    assert values(D.range(7).batch(4).rebatch([2, 1], True)) == [[0, 1], [2], [3, 4], [5]]
    with pytest.raises(TypeError, match="Batch size takes integers"):
        D.range(4).batch([2, 1])
    grouped = D.range(5).group_by_window(lambda x: x % 2, lambda k, d: d.batch(2), window_size=2)
    assert values(grouped) == [[0, 2], [1, 3], [4]]
    chosen = D.choose_from_datasets([D.range(3), D.range(10, 13)], D.from_tensor_slices([0, 1, 1]))
    assert values(chosen) == [0, 10, 11]
    drawn = D.sample_from_datasets([D.range(3), D.range(10, 13)], weights=[0.9, 0.1], seed=1)
    assert sorted(values(drawn)) == [0, 1, 2, 10, 11, 12]


def test_padded_batches():
    D = tf.data.Dataset
    data = D.range(1, 4).map(lambda n: (tf.fill([n], n), n))
    rows, _ = next(iter(data.padded_batch(3, padded_shapes=([4], []), padding_values=(-1, 0))))
    assert rows.numpy().tolist() == [[1, -1, -1, -1], [2, 2, -1, -1], [3, 3, 3, -1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="larger"):
        next(iter(data.padded_batch(3, padded_shapes=([2], []))))
    utils = tf.keras.utils
    cut = utils.pad_sequences([[1, 2, 3], [4]], maxlen=2, padding="post", truncating="post")
    assert cut.tolist() == [[1, 2], [4, 0]]
    series = utils.timeseries_dataset_from_array(
        np.arange(9), np.arange(9)[4:], 3, sampling_rate=2, sequence_stride=2, batch_size=None
    )
    assert [(x.numpy().tolist(), int(y)) for x, y in series] == [
        ([0, 2, 4], 4), ([2, 4, 6], 6), ([4, 6, 8], 8)
    ]  # fmt: skip


def checked(values):
    return Dataset.from_tensor_slices(values).map(lambda x: tf.debugging.check_numerics(x, "x"))


def test_an_iteration_goes_on_behind_an_error():
    bad = checked([1.0, np.nan, 3.0, 4.0])
    assert listed(bad.map(lambda x: 2 * x).filter(lambda x: x > 1).prefetch(2).ignore_errors()) == [
        2.0, 6.0, 8.0
    ]  # fmt: skip
    assert listed(bad.batch(2).ignore_errors()) == [[3.0, 4.0]]
    stream = iter(bad)
    assert float(next(stream)) == 1
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(stream)
    assert float(next(stream)) == 3
    with pytest.raises(RuntimeError, match="before what shuffles"):
        listed(bad.shuffle(2).ignore_errors())


def test_datasets_of_one_seed_agree():
    def shuffled():
        return Dataset.range(20).shuffle(20, seed=1, reshuffle_each_iteration=False)

    assert sorted(listed(shuffled().take(12)) + listed(shuffled().skip(12))) == list(range(20))
    drawn = Dataset.random(seed=3, rerandomize_each_iteration=True).take(4)
    assert listed(drawn) != listed(drawn)


def test_sizes_named_elements_and_strings():
    assert len(Dataset.range(5).padded_batch(2, drop_remainder=True)) == 2
    assert [len(Dataset.range(7).shard(3, i)) for i in range(3)] == [3, 2, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="between 0 and 1"):
        Dataset.range(5).shard(2, 3)
    pair = collections.namedtuple("pair", "a b")
    named = Dataset.from_tensor_slices(pair([1, 2], [3, 4]))
    assert listed(named.map(lambda p: p.a + p.b)) == [4, 6]
    words = Dataset.from_generator(
        lambda: iter(["a", "b"]), output_signature=tf.TensorSpec((), tf.string)
    )
    assert listed(words) == [b"a", b"b"]


def test_older_names_of_cardinalities():
    old = tf.data.experimental
    assert old.AUTOTUNE == tf.data.AUTOTUNE
    assert old.cardinality(tf.data.Dataset.range(5)).numpy() == 5
    assert old.cardinality(tf.data.Dataset.range(5).repeat()).numpy() == old.INFINITE_CARDINALITY


def orders(dataset, turns):
    return [[int(value) for value in dataset] for _ in range(turns)]


def test_shuffled_elements_come_in_the_order_of_tensorflow():
    # the numbers are those of TensorFlow 2.21
    tf.random.set_seed(7)
    numbers = tf.data.Dataset.range(11)
    wide = numbers.shuffle(20, seed=3)
    assert orders(wide, 2) == [
        [7, 5, 2, 4, 0, 9, 6, 10, 3, 1, 8],
        [3, 8, 4, 7, 1, 0, 5, 2, 6, 10, 9],
    ]
    assert orders(numbers.shuffle(5, seed=3), 2) == [
        [4, 5, 6, 0, 1, 8, 2, 10, 7, 9, 3],
        [1, 3, 6, 4, 7, 5, 0, 8, 2, 10, 9],
    ]
    assert orders(numbers.shuffle(4), 1) == [[0, 2, 1, 6, 7, 8, 9, 10, 5, 4, 3]]
    same = numbers.shuffle(3, seed=1, reshuffle_each_iteration=False)
    assert orders(same, 2) == [[0, 1, 4, 3, 5, 2, 6, 9, 7, 8, 10]] * 2
    assert orders(tf.data.Dataset.random(seed=4).take(2), 2) == [[3004760025, 2982476881]] * 2
    other = tf.data.Dataset.random(seed=4, rerandomize_each_iteration=True).take(2)
    assert orders(other, 2) == [[1522362835, 723421984], [421822199, 3471736299]]


def test_elements_of_files_and_buckets(tmp_path):
    dataset = tf.data.Dataset.from_tensor_slices({"x": [[1.0], [2.0]], "s": ["ab", ""]})
    dataset.save(tmp_path / "saved")
    read = list(tf.data.Dataset.load(tmp_path / "saved"))
    assert [(e["x"].numpy().tolist(), e["s"].numpy()) for e in read] == [
        ([1.0], b"ab"),
        ([2.0], b""),
    ]
    made = []
    kept = tf.data.Dataset.range(2).map(lambda x: made.append(0) or x).snapshot(tmp_path / "kept")
    for _ in range(2):
        assert [int(x) for x in kept] == [0, 1]
    assert len(made) == 2
    for name in "ba":
        (tmp_path / f"{name}.txt").write_text("")
    found = tf.data.Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)
    assert [one.numpy()[-5:] for one in found] == [b"a.txt", b"b.txt"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched"):
        tf.data.Dataset.list_files(str(tmp_path / "*.csv"))
    rows = tf.data.Dataset.range(1, 8).map(lambda n: tf.fill([n], n))
    batches = rows.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2])
    assert [x.shape.as_list() for x in batches] == [[2, 2], [2, 4], [2, 6], [1, 7]]
    assert [int(x) for x in tf.data.Dataset.counter(3, 2).take(2)] == [3, 5]


def test_classes_that_are_resampled_occur_as_often_as_asked_for():
    dataset = tf.data.Dataset.range(500).map(lambda x: tf.cast(x % 10 == 0, tf.int32))
    for initial in (None, [0.9, 0.1]):
        found = [int(c) for c, _ in dataset.rejection_resample(lambda x: x, [0.5, 0.5], initial, 3)]
        assert 0.4 < np.mean(found) < 0.6
        assert sum(found) > 40


def test_a_generator_yields_what_its_signature_says():
    spec = tf.TensorSpec((None, 2), tf.float32)
    dataset = tf.data.Dataset.from_generator(
        lambda: iter([np.zeros((3, 2)), np.zeros((2, 3))]), output_signature=spec
    )
    assert dataset.element_spec == spec
    elements = iter(dataset)
    assert next(elements).dtype == "float32"
    with pytest.raises(tf.errors.InvalidArgumentError, match="was expected"):
        next(elements)


def test_optional_elements():
    iterator = iter(tf.data.Dataset.range(1))
    first, second = (iterator.get_next_as_optional() for _ in range(2))
    assert int(first.get_value()) == 0
    assert not second.has_value()
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        second.get_value()
