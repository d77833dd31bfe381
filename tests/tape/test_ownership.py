"""Test that gradients own their memory, and are copied only where it may be shared."""

import weakref

import numpy as np
import pytest

import wengert as wg
from wengert.nn import functional as F
from wengert.tape import accumulate, backward


@pytest.fixture
def copies(monkeypatch):
    """The shapes of the gradients that are copied."""
    seen = []
    private = accumulate.private

    def counting(g):
        seen.append(g.shape)
        return private(g)

    if type(accumulate.add_gradients) is not type(counting):
        pytest.skip("compiled modules do not look their functions up")
    # what other tests have left alive makes walks take the longer way
    monkeypatch.setattr(backward, "WATCHED", weakref.WeakSet())
    monkeypatch.setattr(backward, "USER_CODE", weakref.WeakSet())
    monkeypatch.setattr(accumulate, "private", counting)
    monkeypatch.setattr(backward, "private", counting)
    return seen


def leaf(*shape):
    values = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    return wg.tensor(values, requires_grad=True)


PROGRAMS = {
    "products of matrices": lambda: (leaf(4, 3) @ leaf(3, 5)).pow(2).sum(),
    "a transposed matrix": lambda: (leaf(4, 3) @ leaf(5, 3).T).pow(2).sum(),
    "a linear layer": lambda: F.linear(leaf(4, 3), leaf(5, 3), leaf(5)).pow(2).sum(),
    "broadcasting": lambda: (leaf(4, 3) * leaf(3) + leaf(1, 3)).pow(2).sum(),
    "a batch of products": lambda: (leaf(2, 4, 3) @ leaf(3, 5)).pow(2).sum(),
    "another shape": lambda: leaf(4, 3).reshape(12).pow(2).sum(),
    "convolution": lambda: F.conv2d(leaf(2, 3, 8, 8), leaf(2, 3, 3, 3)).pow(2).sum(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_nobody_else_holds_is_not_copied(name, copies):
    PROGRAMS[name]().backward()
    assert copies == []


def test_grad_copies_nothing_that_nobody_else_holds(copies):
    x, y = leaf(4, 3), leaf(3, 5)
    z = x @ y
    wg.autograd.grad((z * z).sum(), [x, z, y])
    assert copies == []


def test_one_gradient_of_two_leaves_is_copied_for_one(copies):
    x, y = leaf(3), leaf(3)
    (x + y).pow(2).sum().backward()
    assert copies == [(3,)]
    assert not np.shares_memory(x.grad.numpy(), y.grad.numpy())


def test_parts_of_one_array_are_copied(copies):
    x, y = leaf(2, 3), leaf(4, 3)
    wg.cat([x, y]).pow(2).sum().backward()
    assert sorted(copies) == [(2, 3), (4, 3)]


def test_the_cotangent_of_the_user_stays_the_users():
    x = leaf(2, 3)
    g = wg.ones(6, dtype=wg.float64)
    x.reshape(6).backward(g)
    x.reshape(6).backward(g)
    assert x.grad.tolist() == [[2.0] * 3] * 2
    assert g.tolist() == [1.0] * 6
    (given,) = wg.autograd.grad(x.reshape(6), x, g)
    given.zero_()
    assert g.tolist() == [1.0] * 6


def test_what_a_hook_keeps_is_not_written_to():
    x = leaf(3)
    kept = []
    y = x * 2
    y.register_hook(lambda g: kept.append(g))
    (y.reshape(3, 1).reshape(3) + x.reshape(3)).sum().backward()
    before = kept[0].tolist()
    x.grad.zero_()
    (x * 5).sum().backward()
    assert kept[0].tolist() == before


def test_what_was_saved_is_not_written_to():
    x, y = leaf(3), leaf(3)
    # the rule of a product gives what was saved when the cotangent is 1
    z = (x * y).sum()
    z.backward(retain_graph=True)
    x.grad.zero_()
    y.grad.zero_()
    z.backward()
    assert x.grad.tolist() == y.grad.tolist() == [1.0, 2.0, 3.0]


def test_an_input_that_stands_twice_has_two_gradients():
    x = leaf(3)
    first, second, third = wg.autograd.grad((x * x).sum(), [x, x, x])
    first.zero_()
    second.mul_(3)
    assert third.tolist() == [2.0, 4.0, 6.0] and second.tolist() == [6.0, 12.0, 18.0]


def test_a_gradient_that_is_the_output_itself_is_another_array():
    x = leaf(3)
    y = x * 2
    g = wg.ones(3, dtype=wg.float64)
    (same,) = wg.autograd.grad(y, y, g)
    same.zero_()
    assert g.tolist() == [1.0, 1.0, 1.0]


def test_gradients_of_views_of_a_shared_array_are_apart():
    x, y = leaf(3), leaf(3)
    both = wg.stack([x, y])
    both.pow(2).sum().backward()
    x.grad.zero_()
    assert y.grad.tolist() == [2.0, 4.0, 6.0]


def test_a_sum_gives_memory_of_its_own():
    x = leaf(3)
    x.sum().backward()
    x.grad[0] = 5.0
    assert x.grad.tolist() == [5.0, 1.0, 1.0]
