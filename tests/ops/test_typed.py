"""Test legacy constructors, the default tensor type, and NumPy's name of `dim`."""

import numpy as np
import pytest

import wengert as wg


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("FloatTensor", wg.float32),
        ("DoubleTensor", wg.float64),
        ("HalfTensor", wg.float16),
        ("ByteTensor", wg.uint8),
        ("CharTensor", wg.int8),
        ("ShortTensor", wg.int16),
        ("IntTensor", wg.int32),
        ("LongTensor", wg.int64),
        ("BoolTensor", wg.bool),
    ],
)
def test_a_typed_constructor_makes_tensors_of_its_dtype(name, dtype):
    made = getattr(wg, name)
    x = made([[1, 0], [1, 1]])
    assert type(x) is wg.Tensor
    assert (x.dtype, x.tolist()) == (dtype, [[1, 0], [1, 1]])
    assert made(2, 3).shape == made(wg.Size([2, 3])).shape == (2, 3)
    assert made().shape == (0,)
    assert x.type() == f"torch.{name}"
    assert repr(made) == f"<class 'torch.{name}'>"


def test_isinstance_asks_for_the_dtype():
    x = wg.ones(2)
    assert isinstance(x, wg.FloatTensor)
    assert isinstance(wg.nn.Parameter(x), wg.FloatTensor)
    assert not isinstance(x, wg.LongTensor)
    assert not isinstance(1.0, wg.FloatTensor)


@pytest.mark.parametrize(
    "kind", ["torch.LongTensor", "LongTensor", wg.LongTensor, wg.int64, np.int64]
)
def test_type_converts_to_a_type_by_any_of_its_names(kind):
    assert wg.tensor([1.7]).type(kind).tolist() == [1]


def test_the_constructors_of_tensors_take_sizes_and_sequences():
    assert wg.Tensor(2, 3).shape == wg.Tensor(wg.Size([2, 3])).shape == (2, 3)
    assert wg.Tensor((2, 3)).tolist() == wg.Tensor([2, 3]).tolist() == [2.0, 3.0]
    x = wg.ones(2, dtype=wg.int64)
    assert x.new([1.5, 2]).tolist() == [1, 2]
    assert x.new(4, 1).shape == (4, 1)
    assert x.new(x).tolist() == [1, 1]
    with pytest.raises(TypeError, match="expected a tensor of dtype"):
        x.new(wg.ones(2))


def test_an_array_of_the_dtype_shares_its_memory():
    array = np.zeros(2, np.float32)
    x, y = wg.FloatTensor(array), wg.DoubleTensor(array)
    array[0] = 1
    assert (x.tolist(), y.tolist()) == ([1.0, 0.0], [0.0, 0.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wg.Tensor(2.5), r"new\(\): data must be a sequence \(got float\)"),
        (lambda: wg.FloatTensor(2.0, 3), "argument 1 is float"),
        (lambda: wg.Tensor("ab"), "invalid data type 'str'"),
        (lambda: wg.FloatTensor(wg.ones(2, dtype=wg.int64)), r"got torch.int64"),
        (lambda: wg.cuda.FloatTensor([1.0]), "torch.cuda.FloatTensor not available"),
        (lambda: wg.set_default_tensor_type("torch.IntTensor"), "only floating-point types"),
        (lambda: wg.set_default_tensor_type("foo"), "invalid type object: 'foo'"),
        (lambda: wg.set_default_tensor_type(wg.float32), "such as FloatTensor, not dtype"),
    ],
)
def test_what_the_constructors_refuse(call, message):
    with pytest.raises(TypeError, match=message):
        call()
    assert wg.get_default_dtype() is wg.float32


def test_a_type_that_no_tensor_has():
    with pytest.raises(ValueError, match=r"^invalid type: 'float'$"):
        wg.ones(2).type("float")


def test_the_default_type_by_its_old_name():
    wg.set_default_tensor_type("torch.DoubleTensor")
    try:
        assert wg.tensor(1.5).dtype is wg.Tensor([1]).dtype is wg.float64
    finally:
        wg.set_default_tensor_type(wg.FloatTensor)
    assert wg.tensor(1.5).dtype is wg.float32


@pytest.mark.parametrize(
    "name",
    [
        *("cumsum", "cumprod", "softmax", "log_softmax", "squeeze", "unsqueeze", "unbind"),
        *("aminmax",),
    ],
)
def test_axis_is_another_name_of_dim(name):
    x = wg.arange(6.0).reshape(2, 1, 3)
    by_dim, by_axis = getattr(x, name)(dim=1), getattr(x, name)(axis=1)
    for one, other in zip(by_dim, by_axis, strict=True):
        assert wg.equal(one, other)


def test_axis_of_what_joins_and_parts():
    x = wg.arange(4.0).reshape(2, 2)
    for join in (wg.cat, wg.concat, wg.concatenate):
        assert join([x, x], axis=1).shape == (2, 4)
    assert wg.stack([x, x], axis=2).shape == (2, 2, 2)
    assert [part.tolist() for part in x.chunk(2, axis=1)] == [[[0.0], [2.0]], [[1.0], [3.0]]]
    assert x.repeat_interleave(2, axis=1).tolist() == [[0, 0, 1, 1], [2, 2, 3, 3]]


def test_without_a_dimension_nothing_is_computed():
    for name in ("cumsum", "cumprod", "softmax", "log_softmax", "unsqueeze"):
        with pytest.raises(TypeError, match=r"missing 1 required positional arguments: \"dim\""):
            getattr(wg.ones(2), name)()


def test_one_position_without_a_dimension_names_a_place_of_a_vector():
    x, where = wg.zeros(3), wg.tensor(1)
    assert x.scatter(0, where, 5.0).tolist() == [0, 5, 0]
    assert x.scatter(0, where, wg.tensor(5.0)).tolist() == [0, 5, 0]
    assert x.scatter(0, where, wg.tensor([5.0]), reduce="add").tolist() == [0, 5, 0]
    assert x.scatter_add(0, where, wg.tensor(5.0)).tolist() == [0, 5, 0]
    assert x.scatter_reduce(0, where, wg.tensor(5.0), "amax").tolist() == [0, 5, 0]
    assert x.clone().scatter_(0, where, value=1).tolist() == [0, 1, 0]
    picked = wg.arange(3.0).requires_grad_().gather(0, where)
    assert (picked.shape, picked.item()) == ((), 1)
