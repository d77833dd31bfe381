"""Test strings, images, sparse tensors, strategies, concrete functions against TensorFlow 2.21."""

import pickle

import numpy as np
import pytest

import wengert.compat.tensorflow as tf


def test_tensors_of_strings_are_labels():
    one, many = tf.constant("Gray wolf"), tf.constant(["Gray wolf", "Lamb"])
    assert repr(one) == "<tf.Tensor: shape=(), dtype=string, numpy=b'Gray wolf'>"
    assert str(many) == "tf.Tensor([b'Gray wolf' b'Lamb'], shape=(2,), dtype=string)"
    assert isinstance(many, tf.Tensor)
    assert many.dtype == tf.string == tf.as_dtype("string")
    assert not tf.string.is_floating
    assert many[1].numpy() == b"Lamb"
    assert [x.numpy() for x in many] == [b"Gray wolf", b"Lamb"]
    assert (many == "Lamb").numpy().tolist() == [False, True]
    assert (many + "!").numpy().tolist() == [b"Gray wolf!", b"Lamb!"]
    assert pickle.loads(pickle.dumps(many)).numpy().tolist() == many.numpy().tolist()
    assert tf.constant("a", shape=(2,)).shape == (2,)
    assert tf.convert_to_tensor(many) is many
    assert tf.constant(np.array(["é"])).numpy()[0] == "é".encode()


def test_strings_are_refused_where_numbers_are_needed():
    x = tf.constant(["a"])
    for function in (tf.exp, tf.reduce_sum, lambda x: tf.add(x, x), lambda x: tf.cast(x, tf.int32)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="strings are labels"):
            function(x)
    with pytest.raises(TypeError, match=r"use tf\.strings"):
        x * 2
    for make in (
        lambda: tf.zeros([2], tf.string),
        lambda: tf.cast([1.0], tf.string),
        lambda: tf.constant([1, 2], tf.string),
        lambda: tf.constant(["a", 1]),
        lambda: tf.constant("a", tf.float32),
        lambda: tf.Variable([1.0], dtype=tf.string),
    ):
        with pytest.raises((TypeError, ValueError)):
            make()


def test_functions_that_move_elements_take_strings():
    x, grid = tf.constant(["a", "b", "c"]), tf.constant([["a", ""], ["c", "d"]])
    for found, wanted in (
        (tf.gather(x, [2, 0]), [b"c", b"a"]),
        (tf.gather_nd(grid, [[1, 0]]), [b"c"]),
        (tf.reshape(grid, [4]), [b"a", b"", b"c", b"d"]),
        (tf.transpose(grid), [[b"a", b"c"], [b"", b"d"]]),
        (tf.concat([x, x[:1]], 0), [b"a", b"b", b"c", b"a"]),
        (tf.stack([x[0], "z"]), [b"a", b"z"]),
        (tf.where(x == "a", x, "z"), [b"a", b"z", b"z"]),
        (tf.where([True, False], "p", "q"), [b"p", b"q"]),
        (tf.boolean_mask(x, [True, False, True]), [b"a", b"c"]),
        (tf.fill([2], "a"), [b"a", b"a"]),
        (tf.zeros_like(x), [b"", b"", b""]),
        (tf.identity(x), [b"a", b"b", b"c"]),
        (tf.split(x, [1, 2], name="parts")[1], [b"b", b"c"]),
        (tf.unique(["b", "a", "b"]).y, [b"b", b"a"]),
    ):
        assert found.dtype == tf.string
        assert found.numpy().tolist() == wanted
    assert tf.equal(x, "a").numpy().tolist() == [True, False, False]
    assert tf.not_equal(x, "a").dtype == tf.bool
    assert tf.shape(input=grid, out_type="int64").numpy().tolist() == [2, 2]
    assert tf.unique(["b", "a", "b"]).idx.numpy().tolist() == [0, 1, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="strings are labels"):
        tf.ones_like(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
        tf.gather(x, [3])


def test_functions_of_strings():
    s = tf.strings
    assert s.split(tf.constant("a b c")).numpy().tolist() == [b"a", b"b", b"c"]
    assert s.split(["a,b", "c,d"], ",").numpy().tolist() == [[b"a", b"b"], [b"c", b"d"]]
    with pytest.raises(ValueError, match="no ragged tensors"):
        s.split(["a b", "c"])
    np.testing.assert_array_equal(s.to_number(s.split("1 10 100")), [1.0, 10.0, 100.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
        s.to_number("x")
    assert s.length("アヒル", unit="UTF8_CHAR").numpy() == 3
    assert s.length("アヒル").numpy() == 9
    assert s.join(["a", tf.constant(["b", "c"])], "-").numpy().tolist() == [b"a-b", b"a-c"]
    assert s.regex_replace("a1b2", r"([a-z])\d", r"\1").numpy() == b"ab"
    assert s.reduce_join([["a", "b"], ["c", "d"]], 0, separator="+").numpy().tolist() == [
        b"a+c",
        b"b+d",
    ]
    assert s.as_string([True]).numpy()[0] == b"true"
    assert s.as_string(1.5).numpy() == b"1.500000"


def test_data_sets_carry_strings(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"one\r\ntwo\nthree")
    lines = tf.data.TextLineDataset([str(path)])
    assert [x.numpy() for x in lines] == [b"one", b"two", b"three"]
    sizes = lines.map(tf.strings.length)
    assert [int(x) for x in sizes] == [3, 3, 5]
    pairs = tf.data.Dataset.from_tensor_slices((["a", "b", "c"], [1, 2, 3])).batch(2)
    labels, numbers = next(iter(pairs))
    assert labels.numpy().tolist() == [b"a", b"b"]
    assert numbers.numpy().tolist() == [1, 2]


def test_pictures_are_resized_cut_and_turned():
    image = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    small = tf.image.resize(image, [3, 2]).numpy()
    np.testing.assert_allclose(small[..., 0], [[1.5, 7.5], [7.5, 13.5], [13.5, 19.5]], rtol=1e-6)
    near = tf.image.resize(image.astype(np.uint8), [1, 2], "nearest")
    assert near.dtype == tf.uint8
    assert near.numpy()[..., 0].tolist() == [[15, 21]]
    assert tf.image.rot90(image).shape == (4, 2, 3)
    np.testing.assert_array_equal(tf.image.flip_left_right(image), image[:, ::-1])
    np.testing.assert_array_equal(tf.image.central_crop(image, 0.5), image[0:2, 1:3])
    boxed = tf.image.resize_with_crop_or_pad(image, 4, 2).numpy()
    np.testing.assert_array_equal(boxed[1:3], image[:, 1:3])
    assert boxed[[0, 3]].max() == 0
    standard = tf.image.per_image_standardization(image).numpy()
    assert abs(standard.mean()) < 1e-6
    assert abs(standard.std() - 1) < 1e-5
    grey = tf.image.rgb_to_grayscale(np.full((1, 1, 3), 200, np.uint8))
    assert grey.numpy().item() == 200
    assert tf.image.adjust_brightness(np.uint8([[[250]]]), 0.1).numpy().item() == 255
    x = tf.constant(image)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.image.resize(x, [1, 1]))
    np.testing.assert_allclose(tape.gradient(y, x).numpy().sum(), 3.0, rtol=1e-6)
    with pytest.raises(ValueError, match="not offered"):
        tf.image.resize(image, [1, 1], "bicubic")
    with pytest.raises(ValueError, match="within the image"):
        tf.image.crop_to_bounding_box(image, 1, 0, 2, 2)


def test_sparse_tensors_have_values_that_are_differentiated():
    values = tf.Variable([2.0, 3.0])
    dense = tf.Variable([[1.0], [10.0], [100.0]])
    with tf.GradientTape() as tape:
        s = tf.sparse.SparseTensor([[0, 1], [1, 2]], values, [2, 3])
        product = tf.sparse.sparse_dense_matmul(s, dense)
        loss = tf.reduce_sum(product)
    assert product.numpy().tolist() == [[20.0], [300.0]]
    by_values, by_dense = tape.gradient(loss, [values, dense])
    assert by_values.numpy().tolist() == [10.0, 100.0]
    assert np.asarray(by_dense).tolist() == [[0.0], [2.0], [3.0]]
    both = tf.sparse.add(s, tf.sparse.from_dense([[0.0, 1.0, 0.0], [5.0, 0.0, 0.0]]))
    assert tf.sparse.to_dense(both).numpy().tolist() == [[0.0, 3.0, 0.0], [5.0, 0.0, 3.0]]
    turned = tf.sparse.transpose(both)
    assert tf.sparse.to_dense(turned).numpy().tolist() == [[0.0, 5.0], [3.0, 0.0], [0.0, 3.0]]
    assert tf.sparse.reduce_sum(both, 1).numpy().tolist() == [3.0, 8.0]
    back = tf.sparse.sparse_dense_matmul(tf.ones([1, 2]), both)
    assert back.numpy().tolist() == [[5.0, 3.0, 3.0]]
    doubled = tf.SparseTensor([[0, 0], [0, 0]], [1.0, 1.0], [1, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order or repeated"):
        tf.sparse.to_dense(doubled)
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        tf.SparseTensor([[0, 3]], [1.0], [1, 3])


def test_the_strategy_is_that_of_one_device():
    strategy = tf.distribute.MirroredStrategy()
    assert not tf.distribute.has_strategy()
    with strategy.scope():
        assert tf.distribute.get_strategy() is strategy
    assert tf.distribute.get_strategy() is not strategy
    assert strategy.run(lambda x: x + 1, args=(2,)) == 3
    assert strategy.reduce(tf.distribute.ReduceOp.SUM, 4.0, axis=None) == 4.0
    with pytest.raises(ValueError, match="one device"):
        tf.distribute.MirroredStrategy(["a", "b"])


def test_concrete_functions_hold_what_their_arguments_are_like():
    @tf.function
    def power(a, b):
        return a**b

    concrete = power.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2.0)
    assert float(concrete(tf.constant(3.0))) == 9.0
    assert len(concrete.inputs) == 1
    with pytest.raises(TypeError, match="Can not cast"):
        concrete(tf.constant(3))
    with pytest.raises(TypeError, match="missing the argument 'a'"):
        concrete()
    with pytest.raises(TypeError, match="takes the arguments"):
        concrete(tf.constant(3.0), c=1)

    class Line(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def __call__(self, x):
            return self.w * x

    line = Line()
    assert float(line(3)) == 6.0
    assert float(line.__call__.get_concrete_function()(4.0)) == 8.0


class Stack(tf.Module):
    def __init__(self):
        super().__init__("stack")
        self.layers = [tf.Variable([[2.0]]), tf.Variable([[3.0]], trainable=False)]
        self.again = {"first": self.layers[0]}
        self.rate = 0.5

    @tf.function
    def __call__(self, x):
        return tf.matmul(tf.matmul(x, self.layers[0]), self.layers[1]) * self.rate


def test_modules_are_saved_without_code(tmp_path):
    stack = Stack()
    stack.layers[0].assign([[4.0]])
    tf.saved_model.save(stack, tmp_path / "m")
    same = tf.saved_model.load(tmp_path / "m")
    assert type(same) is Stack
    assert same.again["first"] is same.layers[0]
    assert len(same.trainable_variables) == 1
    assert same(tf.ones([1, 1])).numpy().item() == 6.0
    stack.bad = object()
    with pytest.raises(TypeError, match=r"Stack\.bad is"):
        tf.saved_model.save(stack, tmp_path / "n")
    with pytest.raises(OSError, match="does not exist"):
        tf.saved_model.load(tmp_path / "n")
    Stack.__qualname__ = "Elsewhere"
    try:
        with pytest.raises(ValueError, match="is not known here"):
            tf.saved_model.load(tmp_path / "m")
    finally:
        Stack.__qualname__ = "Stack"
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    tf.saved_model.save(model, tmp_path / "k")
    x = tf.ones([1, 2])
    np.testing.assert_array_equal(tf.saved_model.load(tmp_path / "k")(x), model(x))


def test_pictures_are_resized_by_wide_filters():
    image = np.arange(8, dtype=np.float32).reshape(2, 4, 1) ** 2
    cubic = tf.image.resize(image, [2, 8], "bicubic").numpy()[0, :, 0]
    wanted = [
        -0.08823530,
        0.12408759,
        0.57251906,
        1.5625,
        3.0625,
        5.31297731,
        8.11678791,
        9.44117737,
    ]
    np.testing.assert_allclose(cubic, wanted, rtol=1e-5, atol=1e-6)
    small = tf.image.resize(image, [1, 2], "lanczos3", antialias=True)
    np.testing.assert_allclose(np.ravel(small), [10.55668449, 24.02290344], rtol=1e-5)
    flat = tf.image.resize(image, [1, 2], antialias=True)
    np.testing.assert_allclose(np.ravel(flat), [11.8571434, 22.8571434], rtol=1e-5)
    for method, size in (("bicubic", [1, 8]), ("lanczos3", [2, 3]), ("area", [4, 8])):
        with pytest.raises(ValueError, match="not offered"):
            tf.image.resize(image, size, method)


def test_pictures_are_resized_in_proportion_and_padded():
    x = tf.reshape(tf.range(8.0), (4, 2, 1))
    found = tf.image.resize_with_pad(x, 8, 8, "nearest")
    assert found.shape == (8, 8, 1)
    assert found.numpy()[0, :, 0].tolist() == [0, 0, 0, 0, 1, 1, 0, 0]
    assert tf.image.resize_with_pad(x, 4, 1).shape == (4, 1, 1)
    # the margin is half of what the whole number of pixels before rounding leaves
    wide = tf.image.resize_with_pad(tf.ones([4, 6, 1]), 5, 9).numpy()[0, :, 0]
    assert wide.tolist() == [1] * 7 + [0, 0]


def test_colours_turn_and_fade():
    image = tf.constant([[[1.0, 0.0, 0.0], [0.25, 0.5, 0.75], [0.5, 0.5, 0.5]]])
    hsv = tf.image.rgb_to_hsv(image)
    np.testing.assert_allclose(hsv[0], [[0, 1, 1], [7 / 12, 2 / 3, 0.75], [0, 0, 0.5]], rtol=1e-6)
    np.testing.assert_allclose(tf.image.hsv_to_rgb(hsv), image, atol=1e-6)
    turned = tf.image.adjust_hue(image, 1 / 3)
    np.testing.assert_allclose(turned[0, :2], [[0, 1, 0], [0.75, 0.25, 0.5]], atol=1e-6)
    np.testing.assert_allclose(tf.image.adjust_saturation(image, 0.0)[0, 1], [0.75] * 3, atol=1e-6)
    np.testing.assert_allclose(tf.image.adjust_gamma(image, 2.0), image**2)
    with tf.GradientTape() as tape:
        tape.watch(image)
        value = tf.reduce_sum(tf.image.rgb_to_hsv(image)[..., 2])
    np.testing.assert_allclose(tape.gradient(value, image)[0, :2], [[1, 0, 0], [0, 0, 1]])


def test_a_case_of_tests_compares_tensors():
    case = tf.test.TestCase()
    case.assertAllClose({"a": tf.ones(2)}, {"a": np.ones(2)})
    case.assertAllEqual(tf.constant([1, 2]), [1, 2])
    case.assertEqual(case.evaluate({"a": tf.constant(3)}), {"a": 3})
    for wrong in ([1.0, 1.1], [1.0]):
        with pytest.raises(AssertionError):
            case.assertAllClose(tf.ones(2), wrong)
    with pytest.raises(AssertionError):
        case.assertAllClose({"a": tf.ones(2)}, {"b": tf.ones(2)})
    assert not tf.test.is_gpu_available() and not tf.test.gpu_device_name()
    assert tf.__version__ == tf.version.VERSION
    assert tf.autograph.experimental.do_not_convert(len) is len
    assert tf.autograph.experimental.do_not_convert()(len) is len
