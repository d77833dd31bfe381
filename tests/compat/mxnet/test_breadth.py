"""Test images, test utilities, and star imports."""

import gzip
import os
import sys

import numpy
import pytest

from wengert.compat import mxnet as mx
from wengert.compat.mxnet import autograd, gluon, nd, np, npx
from wengert.compat.mxnet.gluon.data.vision import transforms


@pytest.fixture(autouse=True)
def numpy_arrays():
    npx.set_np()
    yield
    npx.reset_np()


def test_pictures_from_files_are_transformed_in_batches(tmp_path):
    images = numpy.arange(3 * 28 * 28, dtype=numpy.uint8).reshape(3, 28, 28)
    head = bytes([0, 0, 8, 3]) + b"".join(n.to_bytes(4, "big") for n in images.shape)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + images.tobytes()))
    labels = bytes([0, 0, 8, 1]) + (3).to_bytes(4, "big") + bytes([7, 8, 9])
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(labels)
    data = gluon.data.vision.FashionMNIST(tmp_path)
    assert data[1][0].shape == (28, 28, 1)
    assert data[1][1] == 8
    both = transforms.Compose([transforms.Resize(14), transforms.ToTensor()])
    (X, y), *_ = gluon.data.DataLoader(data.transform_first(both), 2)
    assert X.shape == (2, 1, 14, 14)
    assert X.dtype == numpy.float32
    assert float(X.max()) <= 1.0
    assert y.asnumpy().tolist() == [7, 8]
    with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
        gluon.data.vision.MNIST(tmp_path, train=False)


def test_transforms_of_pictures():
    picture = np.array(numpy.arange(48).reshape(4, 4, 3), dtype="uint8")
    cut = transforms.CenterCrop(2)(picture)
    numpy.testing.assert_array_equal(cut.asnumpy(), picture.asnumpy()[1:3, 1:3])
    small = transforms.Resize((2, 1))(picture)
    assert small.shape == (1, 2, 3)
    assert small.dtype == numpy.uint8
    assert small.asnumpy()[0, :, 0].tolist() == [20, 26] or small.asnumpy()[0, 0, 0] in (19, 20)
    channels = transforms.ToTensor()(picture)
    scaled = transforms.Normalize((0.5, 0.25, 0.0), (1.0, 2.0, 4.0))(channels)
    numpy.testing.assert_allclose(
        scaled.asnumpy()[1], (channels.asnumpy()[1] - 0.25) / 2, rtol=1e-6
    )
    flipped = transforms.RandomFlipLeftRight(p=1.0)(picture)
    numpy.testing.assert_array_equal(flipped.asnumpy(), picture.asnumpy()[:, ::-1])
    assert transforms.RandomResizedCrop(3)(picture).shape == (3, 3, 3)
    plain = picture.astype("float32")
    jitter = transforms.RandomColorJitter(0.5, 0.5, 0.5)
    assert jitter(plain).shape == (4, 4, 3)
    still = transforms.RandomColorJitter(1e-9, 1e-9, 1e-9)(plain)
    numpy.testing.assert_allclose(still.asnumpy(), plain.asnumpy(), atol=1e-4)
    turned = transforms.RandomHue(0.5)(plain)
    grey = mx.np.array([0.299, 0.587, 0.114])
    numpy.testing.assert_allclose((turned * grey).sum(-1), (plain * grey).sum(-1), atol=1e-4)


def test_star_imports_hand_out_what_the_original_does():
    names = {}
    exec("from wengert.compat.mxnet.autograd import *", names)
    exec("from wengert.compat.mxnet.test_utils import *", names)
    assert names["mx"] is mx
    assert names["np"] is numpy
    assert names["NDArray"] is nd.NDArray
    for name in ("record", "grad", "get_symbol", "assert_almost_equal", "environment"):
        assert callable(names[name])


def test_settings_of_the_environment_come_back(monkeypatch):
    monkeypatch.setenv("WENGERT_ONE", "kept")
    monkeypatch.delenv("WENGERT_TWO", raising=False)
    with (
        pytest.raises(KeyError),
        mx.test_utils.environment({"WENGERT_ONE": None, "WENGERT_TWO": 2}),
    ):
        assert "WENGERT_ONE" not in os.environ
        assert os.environ["WENGERT_TWO"] == "2"
        raise KeyError
    assert os.environ["WENGERT_ONE"] == "kept"
    assert "WENGERT_TWO" not in os.environ


def test_the_standard_error_is_dropped(capsys):
    with mx.test_utils.discard_stderr():
        print("dropped", file=sys.stderr)
    print("kept", file=sys.stderr)
    assert capsys.readouterr().err == "kept\n"


def test_numeric_gradients_are_compared():
    check = mx.test_utils.check_numeric_gradient
    point = [np.array([[0.5, -1.0]]), np.array([[2.0, 0.25]])]
    check(lambda a, b: np.sin(a) * b, point)
    check(lambda b, a: a * a * b, {"a": point[0], "b": point[1]})

    class Wrong(autograd.Function):
        def forward(self, x):
            return x * x

        def backward(self, dy):
            return dy

    with pytest.raises(AssertionError, match="NUMERICAL_argument 0"):
        check(lambda x: Wrong()(x), point[:1])
    with pytest.raises(TypeError, match="no symbols"):
        check("sym", point)


def test_comparisons_are_as_near_as_the_dtypes():
    near = mx.test_utils.almost_equal
    assert near(np.array([1.0]), np.array([1.00005]))
    assert not near(numpy.array([1.0]), numpy.array([1.00005]))
    assert not near([numpy.nan], [numpy.nan])
    assert near([numpy.nan], [numpy.nan], equal_nan=True)
    with pytest.raises(AssertionError, match="did not raise"):
        mx.test_utils.assert_exception(lambda: None, ValueError)
    assert mx.test_utils.rand_ndarray((2, 3)).shape == (2, 3)


def test_the_graph_of_an_array_names_what_it_began_with():
    x, z = nd.ones((1,)), nd.ones((1,))
    x.attach_grad()
    z.attach_grad()
    with autograd.record():
        y, w = x * x + 2 * x - 1, x * x + 2 * z - 1
    assert len(autograd.get_symbol(y).list_arguments()) == 1
    assert len(autograd.get_symbol(w).list_arguments()) == 2
    with pytest.raises(mx.MXNetError, match=r"autograd\.record"):
        autograd.get_symbol(x * 2)
    with pytest.raises(AttributeError, match=r"wengert\.viz"):
        autograd.get_symbol(y).tojson()


def test_pick_takes_one_index_per_row():
    data = mx.nd.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert mx.nd.pick(data, mx.nd.array([2, 0])).asnumpy().tolist() == [3.0, 4.0]
    for index, axis in (([0, 1], 0), ([1], 1), ([[0, 1, 2]], 1)):
        with pytest.raises(mx.MXNetError, match="one index per row"):
            mx.nd.pick(data, mx.nd.array(index), axis=axis)


def test_schedules_check_their_steps():
    schedules = mx.lr_scheduler
    for make in (
        lambda: schedules.MultiFactorScheduler([5, 3]),
        lambda: schedules.MultiFactorScheduler([0, 3]),
        lambda: schedules.MultiFactorScheduler([1, 3], factor=2.0),
        lambda: schedules.PolyScheduler(0),
        lambda: schedules.CosineScheduler(0),
    ):
        with pytest.raises(ValueError, match=r"increasing|no more than 1|strictly positive"):
            make()


def test_products_of_whole_numbers_keep_the_dtype_by_both_names():
    numbers = np.array([1, 2, 3], dtype="int32")
    assert np.prod(numbers).dtype == np.product(numbers).dtype == "int32"
