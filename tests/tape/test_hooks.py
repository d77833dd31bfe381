"""Test tensor hooks that write to the gradient they are given; semantics has the others."""

import numpy as np
import pytest

import wengert as wg


def leaf(values):
    return wg.tensor(values, dtype=wg.float64, requires_grad=True)


def doubling(g):
    g.mul_(2)


class Handing(wg.autograd.Function):
    """Hands a tensor of the user's on as the gradient."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(y)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[0], None


def test_a_hook_that_writes_to_memory_that_is_not_numpys_writes_to_that_tensor():
    x = leaf([3.0, 4.0])
    y = wg.from_numpy(np.frombuffer(bytearray(16)))
    z = x * y
    z.register_hook(doubling)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.reshape(2, 1).backward(y.reshape(2, 1))


@pytest.mark.parametrize("shape", [(2,), (1, 2)])
def test_a_hook_that_writes_to_the_gradient_that_was_given_writes_to_that_tensor(shape):
    x = leaf([3.0, 4.0])
    y = x * 1
    z = (y * y).reshape(shape)
    z.register_hook(doubling)
    given = y.detach()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward(given.reshape(shape))
    assert (given.tolist(), y._version, x.grad) == ([6.0, 8.0], 1, None)


def test_a_hook_that_writes_to_what_another_hook_gave_writes_to_that_tensor():
    x = leaf([3.0, 4.0])
    y = x * 1
    z = y * y
    z.register_hook(lambda g: y.detach())
    z.register_hook(doubling)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_a_hook_that_writes_to_what_a_function_gave_writes_to_that_tensor():
    x = leaf([3.0, 4.0])
    y = x * 1
    z = y * y
    z.register_hook(doubling)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        Handing.apply(z, y.detach()).sum().backward()


def test_a_function_that_writes_to_the_gradient_that_was_given_writes_to_that_tensor():
    class Doubling(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g.mul_(2)

    x = leaf([3.0, 4.0])
    y = x * 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        Doubling.apply(y * y).backward(y.detach())
    given = wg.ones(2, dtype=wg.float64)
    Doubling.apply(x * x).backward(given)
    assert (x.grad.tolist(), given.tolist(), given._version) == ([12.0, 16.0], [2.0, 2.0], 1)
