"""Test ``autograd.Function``: operations with a user-defined derivative."""

import warnings

import numpy
import pytest

from wengert.compat.mxnet import autograd, nd, np


class Sigmoid(autograd.Function):
    def forward(self, x):
        y = 1 / (1 + np.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy):
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


def attached(*values):
    x = np.array(values)
    x.attach_grad()
    return x


def test_the_backward_of_a_function_is_used():
    x = attached(0.0, 1.0)
    with autograd.record():
        y = Sigmoid()(x)
    y.backward()
    s = 1 / (1 + numpy.exp(-numpy.array([0.0, 1.0])))
    assert x.grad.asnumpy() == pytest.approx(s * (1 - s), rel=1e-5)


def test_a_function_is_differentiated_twice_by_what_it_saved():
    x = attached(0.5)
    with autograd.record():
        (dx,) = autograd.grad(Sigmoid()(x), x, create_graph=True)
    dx.backward()
    s = 1 / (1 + numpy.exp(-0.5))
    assert x.grad.item() == pytest.approx(s * (1 - s) * (1 - 2 * s), rel=1e-5)


def test_several_arguments_and_results():
    class Both(autograd.Function):
        def forward(self, x, y):
            self.save_for_backward(x, y)
            return x * y, x + y

        def backward(self, dp, ds):
            x, y = self.saved_tensors
            return dp * y + ds, dp * x + ds

    x, y = attached(2.0), attached(5.0)
    with autograd.record():
        product, total = Both()(x, y)
        z = product + 10 * total
    z.backward()
    assert (x.grad.item(), y.grad.item()) == (15, 12)


def test_forward_and_backward_run_without_recording():
    seen = []

    class Asks(autograd.Function):
        def forward(self, x):
            seen.append(autograd.is_recording())
            return x * 2

        def backward(self, dy):
            seen.append(autograd.is_recording())
            return dy * 2

    x = attached(1.0)
    with autograd.record():
        y = Asks()(x)
        assert autograd.is_recording()
    y.backward()
    assert seen == [False, False]


def test_outside_of_record_a_function_only_computes():
    x = attached(0.0)
    y = Sigmoid()(x)
    assert y.item() == 0.5
    assert type(y) is np.ndarray
    with pytest.raises(RuntimeError):
        y.backward()


def test_an_instance_is_called_once():
    function = Sigmoid()
    function(np.ones(2))
    with pytest.raises(AssertionError, match="can only be called once"):
        function(np.ones(2))


def test_a_wrong_number_of_gradients_names_the_function():
    class Generous(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            return dy, dy

    x = attached(1.0)
    with autograd.record():
        y = Generous()(x)
    with pytest.raises(AssertionError, match=r"Generous\.backward must return.*Expecting 1 got 2"):
        y.backward()


def test_gradients_must_be_arrays():
    class Plain(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            return dy.asnumpy()

    x = attached(1.0)
    with autograd.record():
        y = Plain()(x)
    with pytest.raises(AssertionError, match="must return NDArrays"):
        y.backward()


def test_numpy_may_compute_inside():
    class Sine(autograd.Function):
        def forward(self, x):
            self.angle = x.asnumpy()
            return nd.array(numpy.sin(self.angle))

        def backward(self, dy):
            return dy * nd.array(numpy.cos(self.angle))

    x = nd.array([0.0, 1.0])
    x.attach_grad()
    with autograd.record():
        y = Sine()(x) * 2
    y.backward()
    assert x.grad.asnumpy() == pytest.approx(2 * numpy.cos([0.0, 1.0]), rel=1e-5)


def test_an_intermediate_value_that_is_kept_gives_no_second_derivative_silently():
    class Kept(autograd.Function):
        def forward(self, x):
            self.e = np.exp(x)
            return self.e * 1

        def backward(self, dy):
            return self.e * dy

    x = attached(1.0)
    with autograd.record(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (dx,) = autograd.grad(Kept()(x), x, create_graph=True)
    with pytest.raises(RuntimeError, match="Cannot differentiate node"):
        dx.backward()


def test_recording_is_restored_when_forward_raises():
    class Fails(autograd.Function):
        def forward(self, x):
            raise KeyError("x")

    with autograd.record():
        with pytest.raises(KeyError):
            Fails()(attached(1.0))
        assert autograd.is_recording()
    assert not autograd.is_recording()
