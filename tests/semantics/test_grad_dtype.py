"""Test `grad_dtype`: gradients of leaves in another dtype than their own."""

import pytest


@pytest.fixture
def widened(t):
    """A Function whose gradients are in double precision."""

    class Widened(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad.to(t.float64) * 2

    return Widened.apply


def test_gradients_come_in_the_dtype_that_is_set(t, widened):
    for kind, found in ((t.float16, t.float16), (None, t.float64), (t.float32, t.float32)):
        x = t.ones(2, requires_grad=True)
        _ = x.clone()
        x.grad_dtype = kind
        assert x.grad_dtype is kind
        widened(x).sum().backward()
        assert x.grad.dtype is found and x.grad.tolist() == [2.0, 2.0]
        assert t.autograd.grad(widened(x).sum(), x)[0].dtype is found


def test_the_default_is_the_leafs_own_dtype(t, widened):
    x = t.ones(2, dtype=t.float16, requires_grad=True)
    assert x.grad_dtype is t.float16
    widened(x).sum().backward()
    assert x.grad.dtype is t.float16


def test_what_is_added_has_the_dtype_of_what_is_there(t):
    x = t.tensor([3.0, 4.0], requires_grad=True, dtype=t.float16)
    x.grad_dtype = None
    (x * 2).sum().backward()
    x.grad = x.grad.to(t.float32)
    (x * 3).sum().backward()
    assert x.grad.dtype is t.float32 and x.grad.tolist() == [5.0, 5.0]


def test_hooks_see_the_dtype_that_is_set(t):
    x, seen = t.ones(2, requires_grad=True), []
    x.grad_dtype = t.float16
    x.register_hook(lambda grad: seen.append(grad.dtype))
    (x * x).sum().backward()
    assert seen == [t.float16] and x.grad.dtype is t.float16
    (first,) = t.autograd.grad((x * x).sum(), x, create_graph=True)
    (second,) = t.autograd.grad(first.sum(), x)
    assert first.dtype is second.dtype is t.float16 and second.tolist() == [2.0, 2.0]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_gradients_with_a_graph_have_it_too(t):
    x = t.ones(2, requires_grad=True)
    x.grad_dtype = t.float16
    (x * x).sum().backward(create_graph=True)
    assert x.grad.dtype is t.float16 and x.grad.tolist() == [2.0, 2.0]
    assert t.autograd.grad(x.grad.sum(), x)[0].tolist() == [2.0, 2.0]


def test_gradients_of_other_dtypes_are_not_assigned(t):
    x = t.ones(2, requires_grad=True)
    x.grad_dtype = t.float16
    with pytest.raises(RuntimeError, match=r"dtype 'float' to a tensor with grad_dtype 'Half'"):
        x.grad = t.ones(2)
    x.grad_dtype = None
    x.grad = t.ones(2, dtype=t.float64)
    with pytest.raises(RuntimeError, match="Cannot set grad_dtype to 'Half' because there is"):
        x.grad_dtype = t.float16
    x.grad = None
    x.grad_dtype = t.float16


def test_only_leaves_have_one(t):
    y = t.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="can only be accessed on leaf tensors"):
        y.grad_dtype  # noqa: B018
    with pytest.raises(RuntimeError, match="can only be set on leaf tensors"):
        y.grad_dtype = None
    with pytest.raises(RuntimeError, match=r"must be a torch\.dtype or None, but got int"):
        t.ones(2, requires_grad=True).grad_dtype = 3
