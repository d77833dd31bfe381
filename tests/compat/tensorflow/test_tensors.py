"""Test tensors: printing, dtype promotion, and errors."""

import copy
import pickle

import numpy as np
import pytest

import wengert.compat.tensorflow as tf


def refuses(error, match):
    return pytest.raises(error, match=match)


InvalidArgument = tf.errors.InvalidArgumentError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, "<tf.Tensor: shape=(), dtype=float32, numpy=1.5>"),
        (0.1, "<tf.Tensor: shape=(), dtype=float32, numpy=0.10000000149011612>"),
        (3, "<tf.Tensor: shape=(), dtype=int32, numpy=3>"),
        (2**40, "<tf.Tensor: shape=(), dtype=int64, numpy=1099511627776>"),
        (True, "<tf.Tensor: shape=(), dtype=bool, numpy=True>"),
        (2j, "<tf.Tensor: shape=(), dtype=complex128, numpy=2j>"),
        (
            [1, 2.5],
            "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1. , 2.5], dtype=float32)>",
        ),
        (np.arange(2), "<tf.Tensor: shape=(2,), dtype=int64, numpy=array([0, 1])>"),
        (np.float64(1), "<tf.Tensor: shape=(), dtype=float64, numpy=1.0>"),
        ([], "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>"),
        (
            [[1, 2], [3, 4]],
            "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n"
            "       [3, 4]], dtype=int32)>",
        ),
    ],
)
def test_constants_have_tensorflows_types_and_text(value, text):
    assert repr(tf.constant(value)) == text
    assert repr(tf.convert_to_tensor(value)) == text


def test_str_is_tensorflows():
    assert str(tf.constant([1.0, 2.0])) == "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"
    assert str(tf.constant(4)) == "tf.Tensor(4, shape=(), dtype=int32)"
    text = "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"
    assert str(tf.constant([[1, 2], [3, 4]])) == text
    assert f"{tf.constant(1.25):.1f} {tf.constant(2)}" == "1.2 2"


def test_constants_of_a_given_type_and_shape():
    assert tf.constant([1, 2], tf.float32).dtype is tf.float32
    assert tf.constant(np.array([1.7]), "int32").numpy().tolist() == [1]
    assert tf.constant(2, shape=(2, 2)).numpy().tolist() == [[2, 2], [2, 2]]
    assert tf.constant([1, 2, 3, 4], shape=[2, 2]).shape == (2, 2)
    with refuses(TypeError, "unsupported shape"):
        tf.constant([1, 2, 3], shape=(2, 2))
    with refuses(TypeError, r"^Cannot convert 1.5 to EagerTensor of dtype int32"):
        tf.constant(1.5, tf.int32)
    with refuses(TypeError, r"^Expected tensor 1.0 with dtype 'int32', but got dtype tf.float32"):
        tf.constant(tf.constant(1.0), tf.int32)


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [
        ([[1, 2], [3]], ValueError, "^Can't convert non-rectangular Python sequence to Tensor"),
        ([True, 1], ValueError, "^Can't convert Python sequence with mixed types to Tensor"),
        (None, ValueError, r"^Attempt to convert a value \(None\) with an unsupported type"),
        (object(), ValueError, "^Attempt to convert a value"),
    ],
)
def test_what_no_tensor_is_made_of(value, error, match):
    with refuses(error, match):
        tf.constant(value)


def test_lists_of_tensors_become_tensors_that_are_recorded():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.convert_to_tensor([[x[0], 3.0], [4.0, x[1] * x[1]]])
        z = tf.reduce_sum(y * y)
    assert y.numpy().tolist() == [[1.0, 3.0], [4.0, 4.0]]
    assert tape.gradient(z, x).numpy().tolist() == [2.0, 32.0]
    with refuses(InvalidArgument, "Shapes of all inputs must match"):
        tf.convert_to_tensor([x, x[0]])


def test_conversion_gives_a_tensor_itself_and_refuses_another_type():
    x = tf.constant([1.0])
    assert tf.convert_to_tensor(x) is x
    with refuses(ValueError, "^Tensor conversion requested dtype float64 for Tensor with dtype "):
        tf.convert_to_tensor(x, tf.float64)
    assert tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype is tf.float32
    assert tf.convert_to_tensor(1.5, dtype_hint=tf.int32).dtype is tf.float32
    assert tf.is_tensor(x)
    assert not tf.is_tensor([1.0])


# -- dtypes meet -----------------------------------------------------------------------------------

_KINDS = {
    "float": tf.constant([1.0, 2.0]),
    "double": tf.constant([1.0, 2.0], tf.float64),
    "int32": tf.constant([1, 2]),
    "int64": tf.constant([1, 2], tf.int64),
    "complex64": tf.constant([1.0, 2.0], tf.complex64),
}


@pytest.mark.parametrize("first", _KINDS)
@pytest.mark.parametrize("second", _KINDS)
def test_dtypes_are_not_promoted(first, second):
    a, b = _KINDS[first], _KINDS[second]
    if first == second:
        assert (a * b).dtype is a.dtype
        return
    text = (
        rf"^cannot compute Mul as input #1\(zero-based\) was expected to be a {first} tensor but "
        rf"is a {second} tensor \[Op:Mul\]"
    )
    with refuses(InvalidArgument, text) as caught:
        a * b
    assert "tf.cast" in caught.value.message
    for operation, name in ((lambda: a + b, "AddV2"), (lambda: a == b, "Equal")):
        with refuses(InvalidArgument, f"cannot compute {name}"):
            operation()
    with refuses(TypeError, "`x` and `y` must have the same dtype"):
        a / b


def test_numbers_and_arrays_become_the_tensors_type():
    f32, i32 = _KINDS["float"], _KINDS["int32"]
    for other in (2, 2.5, True, np.float64(2), np.array([1.0, 2.0]), [1, 2], np.int64(2)):
        assert (f32 * other).dtype is tf.float32
        assert (other * f32).dtype is tf.float32
        assert isinstance(other * f32, tf.Tensor)
    assert (i32 * np.array([1.5, 2.5])).numpy().tolist() == [1, 4]
    with refuses(TypeError, "^Cannot convert 1.5 to EagerTensor of dtype int32"):
        i32 * 1.5
    with refuses(InvalidArgument, "^cannot compute AddV2 as input #1"):
        i32 + 1.5
    with refuses(TypeError, "^Cannot convert 1j to EagerTensor of dtype float"):
        f32 * 1j
    with refuses(ValueError, r"^Attempt to convert a value \(None\)"):
        f32 * None
    assert (_KINDS["complex64"] * 2j).dtype is tf.complex64


def test_operators_compute_what_tensorflows_do():
    a, b = tf.constant([7, -7]), tf.constant([2, 2])
    assert (a // b).numpy().tolist() == [3, -4]
    assert (a % b).numpy().tolist() == [1, 1]
    assert (a / b).numpy().tolist() == [3.5, -3.5]
    assert (a / b).dtype is tf.float64
    assert (a**2).numpy().tolist() == [49, 49]
    assert (2.0 ** tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert (a & 3).numpy().tolist() == [3, 1]
    assert (tf.constant([True, False]) | tf.constant([False, False])).numpy().tolist() == [1, 0]
    assert (~tf.constant([True, False])).numpy().tolist() == [False, True]
    assert (-a).numpy().tolist() == [-7, 7]
    assert abs(a).numpy().tolist() == [7, 7]
    assert (a < b).numpy().tolist() == [False, True]
    assert (1.0 - tf.constant(3.0)).numpy() == -2.0
    assert ([[1.0]] @ tf.constant([[2.0, 3.0]])).numpy().tolist() == [[2.0, 3.0]]


def test_augmented_assignment_makes_a_new_tensor():
    x = y = tf.constant([1.0])
    x += 1.0
    x *= 3
    assert x.numpy().tolist() == [6.0]
    assert y.numpy().tolist() == [1.0]


def test_equality_is_by_element_and_false_for_other_shapes():
    a = tf.constant([1.0, 2.0])
    assert (a == [1.0, 3.0]).numpy().tolist() == [True, False]
    assert (a != [1.0, 3.0]).numpy().tolist() == [False, True]
    assert (a == tf.ones(3)).numpy() == np.False_
    assert (a != tf.ones(3)).numpy() == np.True_
    assert (a == None) is False  # noqa: E711
    assert (a != None) is True  # noqa: E711


@pytest.mark.parametrize(
    ("operation", "error", "match"),
    [
        (lambda x: x + tf.ones(3), InvalidArgument, r"^Incompatible shapes: \[2\] vs. \[3\]"),
        (lambda x: x @ x, InvalidArgument, "ndims must be == 2: 1"),
        (lambda x: tf.ones([2, 3]) @ tf.ones([2, 3]), InvalidArgument, "Matrix size-incompat"),
        (lambda x: x & 1, InvalidArgument, "Value for attr 'T' of float is not in the list"),
        (lambda x: tf.constant([1]) // 0, InvalidArgument, "Integer division by zero"),
        (lambda x: tf.constant(True) - tf.constant(True), InvalidArgument, "of bool is not in"),
        (lambda x: x[5], InvalidArgument, "slice index 5 of dimension 0 out of bounds"),
        (lambda x: x[0, 0], InvalidArgument, "Index out of range using input dim 1"),
        (lambda x: x[1.0], TypeError, "^Only integers, slices"),
        (lambda x: x[[True, False]], TypeError, "^Only integers, slices"),
        (lambda x: bool(x), ValueError, "^The truth value of an array with more than one"),
        (lambda x: float(x), TypeError, "^only 0-dimensional arrays can be converted"),
        (lambda x: len(x[0]), TypeError, r"^Scalar tensor has no `len\(\)`"),
        (lambda x: iter(x[0]), TypeError, "^Cannot iterate over a scalar tensor"),
        (lambda x: hash(x), TypeError, "^Tensor is unhashable. Instead, use tensor.ref"),
        (lambda x: x.name, AttributeError, "^Tensor.name is undefined when eager execution"),
        (lambda x: x.graph, AttributeError, "^Tensor.graph is undefined"),
        (lambda x: x.astype("int32"), AttributeError, "has no attribute 'astype'"),
        (lambda x: x.sum(), AttributeError, "has no attribute 'sum'"),
        (lambda x: x.backward(), AttributeError, "has no attribute 'backward'"),
        (lambda x: x.grad, AttributeError, "has no attribute 'grad'"),
        (lambda x: range(x[0]), TypeError, "only integer scalar"),
        (lambda x: tf.Tensor([1]), TypeError, "tensors are made by"),
    ],
)
def test_refusals(operation, error, match):
    with refuses(error, match):
        operation(tf.constant([1.0, 2.0]))


def test_tensors_of_one_element_are_numbers():
    # NumPy 2.4 refuses them; programs that were written before count on them
    assert int(tf.constant([[7]])) == 7
    assert float(tf.Variable([2.5])) == 2.5


def test_tensors_cannot_be_assigned_to():
    x = tf.constant([1.0, 2.0])
    with refuses(TypeError, "'.*EagerTensor' object does not support item assignment"):
        x[0] = 3.0
    assert x.numpy().tolist() == [1.0, 2.0]
    array = x.numpy()
    array[0] = 9.0
    assert x.numpy().tolist() == [1.0, 2.0]
    source = np.array([1.0, 2.0])
    y = tf.constant(source)
    source[0] = 9.0
    assert y.numpy().tolist() == [1.0, 2.0]


def test_indices_are_tensorflows():
    x = tf.reshape(tf.range(24), [2, 3, 4])
    whole = x.numpy()
    for index in (
        0,
        -1,
        (1, 2),
        (slice(None), 1),
        (..., 0),
        (0, ..., slice(None, None, -2)),
        (tf.newaxis, 1),
        (slice(1, None), None, slice(0, 2), ..., 3),
        (tf.constant(1), tf.constant(0)),
        slice(tf.constant(0), tf.constant(1)),
    ):
        plain = tuple(
            int(part) if isinstance(part, tf.Tensor) else part
            for part in (index if isinstance(index, tuple) else (index,))
            if not isinstance(part, slice) or not isinstance(part.start, tf.Tensor)
        )
        wanted = whole[plain] if plain else whole[0:1]
        assert x[index].numpy().tolist() == wanted.tolist()


def test_gradients_go_through_indices_and_iteration():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x[::-1][0] * x[1:][0] + sum(part * part for part in x)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 7.0, 8.0]


def test_numpys_functions_take_tensors_for_arrays():
    x = tf.constant([1.0, 4.0])
    assert isinstance(np.sqrt(x), np.ndarray)
    assert np.mean(x) == 2.5
    assert np.array([x, x]).shape == (2, 2)
    assert isinstance(np.array([1.0, 2.0]) + x, tf.Tensor)
    assert np.asarray(x, dtype=np.float64).dtype == np.float64


def test_references_are_keys():
    x, y = tf.constant(1.0), tf.constant(1.0)
    found = {x.ref(): "x", y.ref(): "y"}
    assert found[x.ref()] == "x"
    assert x.ref().deref() is x
    assert x.ref() != y.ref()
    assert repr(x.ref()).startswith("<Reference wrapping <tf.Tensor")


def test_copies_and_pickles_have_the_values():
    x = tf.constant([1.0, 2.0])
    assert copy.copy(x) is x
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert isinstance(other, tf.Tensor)
        assert repr(other) == repr(x)


# -- shapes and dtypes -----------------------------------------------------------------------------


def test_shapes_compare_with_sequences():
    shape = tf.ones([2, 3]).shape
    assert repr(shape) == "TensorShape([2, 3])"
    assert str(shape) == "(2, 3)"
    assert shape == (2, 3)
    assert shape == [2, 3]
    assert shape != (3, 2)
    assert shape.as_list() == [2, 3]
    assert (shape.rank, shape.ndims, shape.num_elements(), len(shape)) == (2, 2, 6, 2)
    assert shape[0] == 2
    assert repr(shape[1:]) == "TensorShape([3])"
    assert list(shape) == [2, 3]
    four = [4]
    assert shape + four == (2, 3, 4)
    assert four + shape == (4, 2, 3)
    assert hash(shape) == hash(tf.TensorShape((2, 3)))
    assert tf.zeros(shape).shape == shape
    assert np.zeros(shape).shape == (2, 3)


def test_shapes_may_be_unknown():
    some = tf.TensorShape([None, 3])
    assert str(some) == "(None, 3)"
    assert some.is_compatible_with([2, 3])
    assert not some.is_compatible_with([2, 4])
    assert not some.is_fully_defined()
    assert some.merge_with([2, None]) == (2, 3)
    assert some.num_elements() is None
    unknown = tf.TensorShape(None)
    assert str(unknown) == "<unknown>"
    assert unknown.rank is None
    with pytest.raises(ValueError, match="unknown"):
        len(unknown)
    with pytest.raises(ValueError, match="are incompatible"):
        some.assert_is_compatible_with([1, 2])
    with pytest.raises(ValueError, match="must be >= 0"):
        tf.TensorShape([-1])


def test_dtypes_are_tensorflows():
    assert repr(tf.float32) == "tf.float32"
    assert str(tf.float32) == "<dtype: 'float32'>"
    assert tf.as_dtype("float32") is tf.float32 is tf.as_dtype(np.float32) is tf.as_dtype(float)
    assert tf.as_dtype(int) is tf.int32
    assert tf.float32 == "float32" == tf.float32.name
    assert tf.float32 == np.float32
    assert tf.float32 != tf.float64
    assert tf.float32.as_numpy_dtype is np.float32
    assert tf.float32.is_floating
    assert not tf.int32.is_floating
    assert tf.complex64.is_complex
    assert tf.complex64.real_dtype is tf.float32
    assert tf.bool.is_bool
    assert tf.uint8.is_integer
    assert tf.int32.max == 2**31 - 1
    assert tf.float64.size == 8
    assert np.zeros(2, tf.float64).dtype == np.float64
    assert tf.dtypes.float16 is tf.float16
    assert pickle.loads(pickle.dumps(tf.int64)) is tf.int64
    with pytest.raises(TypeError, match="to a TensorFlow DType"):
        tf.as_dtype("float12")


def test_device_and_other_attributes():
    x = tf.ones([2, 3])
    assert x.device.endswith("CPU:0")
    assert x.ndim == 2
    assert x.get_shape() == [2, 3]
    assert type(x).__name__ == "EagerTensor"
    x.set_shape([2, None])
    with pytest.raises(ValueError, match="not compatible with supplied shape"):
        x.set_shape([3, 3])


def test_names_that_are_not_offered_say_so():
    with pytest.raises(AttributeError, match=r"does not offer tf\.raw_ops; use the functions"):
        tf.raw_ops  # noqa: B018
    with pytest.raises(AttributeError, match=r"does not offer tf\.nonsense"):
        tf.nonsense  # noqa: B018
    assert "GradientTape" in dir(tf)
    assert "reduce_sum" in dir(tf)
    for name in tf.__all__:
        getattr(tf, name)


def test_the_module_of_dtypes_has_what_converts_to_them():
    assert tf.dtypes.cast([1, 2], tf.dtypes.double).dtype is tf.dtypes.float64
    assert tf.dtypes.bool is tf.bool
    with pytest.raises(AttributeError, match="the dtypes are"):
        _ = tf.dtypes.float31


def test_tensors_in_a_list_are_cast_to_the_dtype_that_is_asked_for():
    pair = [tf.constant(1.5), tf.constant(-2.5)]
    packed = tf.convert_to_tensor(pair, tf.int64)
    assert packed.dtype is tf.int64
    assert packed.numpy().tolist() == [1, -2]
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int64"):
        tf.convert_to_tensor(pair[0], tf.int64)
