"""Test ``tf.io``, ``tf.lookup``, records and examples: values and bytes as of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

import wengert.compat.tensorflow as tf
from wengert.compat.tensorflow.wire import framed

Feature, Example = tf.train.Feature, tf.train.Example


@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "int64", "uint8", "bool"])
def test_tensors_as_strings_and_back(kind):
    x = tf.cast([[1, 2], [3, 0]], kind)
    text = tf.io.serialize_tensor(x)
    np.testing.assert_array_equal(tf.io.parse_tensor(text, kind), x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Type mismatch"):
        tf.io.parse_tensor(text, tf.int16)


def test_the_bytes_are_those_of_tensorflow():
    text = tf.io.serialize_tensor(tf.constant([1, 2], tf.uint8))
    assert text.numpy() == b"\x08\x04\x12\x04\x12\x02\x08\x02\x22\x02\x01\x02"
    text = tf.io.serialize_tensor(tf.constant(["a", "bc"]))
    assert text.numpy() == b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x02bc"
    assert tf.io.parse_tensor(text, tf.string).numpy().tolist() == [b"a", b"bc"]
    with pytest.raises(tf.errors.DataLossError, match="Could not parse"):
        tf.io.parse_tensor(text.numpy()[:-1], tf.string)


def test_files(tmp_path):
    path = str(tmp_path / "a" / "b.txt")
    tf.io.write_file(path, "one\n")
    assert tf.io.read_file(path).numpy() == b"one\n"
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.io.read_file(tmp_path / "c")
    gfile = tf.io.gfile
    assert gfile.glob(str(tmp_path / "a" / "*.txt")) == [path]
    assert tf.io.matching_files(str(tmp_path / "a" / "*")).numpy().tolist() == [path.encode()]
    gfile.copy(path, path + "2")
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(path, path + "2")
    gfile.rename(path + "2", path, overwrite=True)
    with gfile.GFile(path) as file:
        assert (file.read(2), file.readline(), file.size()) == ("on", "e\n", 4)
    assert gfile.exists(path)
    assert not gfile.exists(path + "2")


def test_columns_of_text_and_raw_numbers():
    columns = tf.io.decode_csv(['1,2.5,"x,y"', ",3,z"], [7, tf.constant([], tf.float32), ""])
    assert [c.numpy().tolist() for c in columns] == [[1, 7], [2.5, 3.0], [b"x,y", b"z"]]
    assert [c.dtype.name for c in columns] == ["int32", "float32", "string"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 2 fields but have 1"):
        tf.io.decode_csv(["1"], [0, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="required but missing"):
        tf.io.decode_csv([","], [tf.constant([], tf.int32), 0])
    (last,) = tf.io.decode_csv(["1,2"], [0], select_cols=[1])
    assert last.numpy().tolist() == [2]
    np.testing.assert_array_equal(tf.io.decode_raw([b"\x01\x00\x02\x01"], tf.int16), [[1, 258]])
    assert tf.io.decode_base64(tf.io.encode_base64("abc?d")).numpy() == b"abc?d"


def _example(count: int) -> Example:
    features = {
        "n": Feature(int64_list=tf.train.Int64List(value=[count, -2, 300])),
        "x": Feature(float_list=tf.train.FloatList(value=[0.5] * count)),
        "s": Feature(bytes_list=tf.train.BytesList(value=[b"xy"])),
    }
    return Example(features=tf.train.Features(feature=features))


def test_examples(tmp_path):
    made = _example(2)
    text = made.SerializeToString()
    assert Example.FromString(text) == made
    assert Example.FromString(text) != _example(1)
    only = Feature(int64_list=tf.train.Int64List(value=[2, -2, 300]))
    one = Example(features=tf.train.Features(feature={"n": only}))
    assert one.SerializeToString().hex() == "0a180a160a016e12111a0f0a0d02feffffffffffffffff01ac02"
    spec = {
        "n": tf.io.FixedLenFeature([3], tf.int64),
        "s": tf.io.FixedLenFeature([], tf.string),
        "x": tf.io.VarLenFeature(tf.float32),
        "d": tf.io.FixedLenFeature([2], tf.int64, default_value=[8, 9]),
    }
    found = tf.io.parse_single_example(text, spec)
    assert found["n"].numpy().tolist() == [2, -2, 300]
    assert found["s"].numpy() == b"xy"
    assert found["d"].numpy().tolist() == [8, 9]
    assert tf.sparse.to_dense(found["x"]).numpy().tolist() == [0.5, 0.5]
    both = tf.io.parse_example([text, _example(1).SerializeToString()], spec)
    assert both["n"].numpy().tolist() == [[2, -2, 300], [1, -2, 300]]
    assert tf.sparse.to_dense(both["x"]).numpy().tolist() == [[0.5, 0.5], [0.5, 0.0]]
    for wrong, words in (
        (tf.io.FixedLenFeature([], tf.int64), "required but could not be found"),
        (tf.io.FixedLenFeature([2], tf.int64), "values != expected"),
        (tf.io.FixedLenFeature([3], tf.float32), "Data types don't match"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            tf.io.parse_single_example(text, {"z" if "found" in words else "n": wrong})


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_files_of_records(tmp_path, compression):
    path = str(tmp_path / "a.tfrecord")
    options = tf.io.TFRecordOptions(compression_type=compression)
    with tf.io.TFRecordWriter(path, options) as writer:
        for count in range(3):
            writer.write(_example(count).SerializeToString())
        writer.write("text")
    dataset = tf.data.TFRecordDataset([path], compression)
    assert [Example.FromString(r.numpy()) for r in dataset.take(3)] == [
        _example(n) for n in range(3)
    ]
    assert list(dataset)[-1].numpy() == b"text"
    if compression is None:
        data = bytearray((tmp_path / "a.tfrecord").read_bytes())
        assert data[-8:] == b"text" + bytes(data[-4:])
        data[-6] ^= 1
        (tmp_path / "a.tfrecord").write_bytes(bytes(data))
        with pytest.raises(tf.errors.DataLossError, match="corrupted record"):
            list(dataset)


def test_the_frame_of_a_record_is_that_of_tensorflow(tmp_path):
    path = tmp_path / "a"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"hello")
    assert path.read_bytes().hex() == "0500000000000000eab2043e68656c6c6fbb1f1c19"


def test_tables(tmp_path):
    lookup = tf.lookup
    init = lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
    table = lookup.StaticHashTable(init, default_value=-1)
    assert table.lookup(tf.constant([["a"], ["q"]])).numpy().tolist() == [[1], [-1]]
    assert (int(table.size()), int(table["b"])) == (2, 2)
    with pytest.raises(TypeError, match="Dtype of argument `keys` must be string, received: int32"):
        table.lookup(tf.constant([1]))
    back = lookup.StaticHashTable(
        lookup.KeyValueTensorInitializer([3, 4], ["x", "y"], tf.int64), "?"
    )
    assert back.lookup(tf.constant([4, 5], tf.int64)).numpy().tolist() == [b"y", b"?"]
    (tmp_path / "v.txt").write_text("cat\ndog\n")
    index = lookup.TextFileIndex
    words = lookup.TextFileInitializer(
        tmp_path / "v.txt", tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
    )
    vocabulary = lookup.StaticVocabularyTable(words, 1)
    assert vocabulary.lookup(tf.constant(["dog", "cow"])).numpy().tolist() == [1, 2]
    assert int(vocabulary.size()) == 3
    with pytest.raises(ValueError, match="num_oov_buckets is 1"):
        lookup.StaticVocabularyTable(words, 3)
    changing = lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
    changing.insert(["a", "b"], [5, 6])
    changing.remove(["a"])
    assert [part.numpy().tolist() for part in changing.export()] == [[b"b"], [6]]


@pytest.mark.parametrize("size", [0, 3, 4091, 4092, 4093, 5000, 70000])
def test_records_have_the_checksum_of_their_bytes(size):
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert framed(data)[-4:] == masked.to_bytes(4, "little")
