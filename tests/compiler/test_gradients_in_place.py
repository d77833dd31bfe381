"""Test gradients that compiled functions accumulate, replace or write to, and their memory."""

from __future__ import annotations

import warnings

import pytest

import wengert as wg

BACKENDS = ["numpy", "llvm"]


def turned(grad, leaf):
    grad.transpose_(0, 1)
    return [grad]


def other_data(grad, leaf):
    grad.data = leaf.grad.t().data
    return [grad.contiguous(), grad * 2]


def a_copy_for_data(grad, leaf):
    grad.data = leaf.grad.t().clone()
    return [grad]


def data_that_is_returned(grad, leaf):
    fresh = leaf.grad * 3
    grad.data = fresh
    return [fresh, grad]


def views_before_and_after(grad, leaf):
    before = leaf.grad[0]
    (leaf * leaf).sum().backward()
    after = leaf.grad.t()
    (3 * leaf).sum().backward()
    return [before, after]


def a_first_gradient(grad, leaf):
    leaf.grad = None
    (leaf * leaf).sum().backward()
    view = leaf.grad[:, 0]
    leaf.sum().backward()
    return [view]


def written_between(grad, leaf):
    (leaf * 2).sum().backward()
    grad.mul_(10)
    (leaf * 2).sum().backward()
    return [grad]


COLUMNS = {
    turned: 3,
    other_data: 2,
    a_copy_for_data: 2,
    data_that_is_returned: 2,
    views_before_and_after: 3,
    a_first_gradient: 3,
    written_between: 3,
}


def story(function, columns):
    found = []
    for k in range(4):
        leaf = wg.full((2, columns), k + 1.0, requires_grad=True)
        leaf.grad = grad = wg.arange(2.0 * columns).reshape(2, columns)
        known = [grad, grad[0]]
        known += function(grad, leaf)
        for one in (grad, leaf.grad, *known[2:]):
            one.add_(100)
            found.append([(t.tolist(), t.stride(), t._version) for t in (*known, leaf.grad)])
        found.append(leaf.grad is grad)
    return found


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", COLUMNS)
def test_gradients_are_what_they_are_uncompiled(function, backend):
    columns = COLUMNS[function]
    compiled = wg.compile(function, backend=backend, options={"measure": False})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert story(compiled, columns) == story(function, columns)
