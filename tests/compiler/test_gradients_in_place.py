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


class _Square(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.kept = x.detach()
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.kept * g


def _on_one_path_alone(x, c, d, write):
    a = x * 1
    y = a * a if c > 0 else a * 3
    turn = wg.zeros(())
    while turn < 3:
        y = y * 1.1
        turn = turn + 1
    if d > 0:
        write(a)
    return y.sum() + a.sum()


def _after_the_last_turn(x, c, d, write):
    a, b, turn = x, x, wg.zeros(())
    while turn < c + 3:
        a = a.tanh()
        b = a.data
        turn = turn + 1
    write(b)
    return a.sum()


def _of_what_a_function_keeps(x, c, d, write):
    a, b, turn = x, x, wg.zeros(())
    while turn < d + 3:
        b = a * 1
        a = _Square.apply(b)
        turn = turn + 1
    write(b)
    return a.sum()


def _before_the_next_turn(x, c, d, write):
    a, kept, turn = x, x * 2, wg.zeros(())
    while turn < c + d + 2:
        write(kept)
        a = a * kept
        turn = turn + 1
    return a.sum()


def _in_silence(a):
    with wg.no_grad():
        a.mul_(2)


def _unseen(a):
    a.data.mul_(2)


@pytest.mark.parametrize("write", [_in_silence, _unseen], ids=lambda f: f.__name__[1:])
@pytest.mark.parametrize(
    "function",
    [_on_one_path_alone, _after_the_last_turn, _of_what_a_function_keeps, _before_the_next_turn],
    ids=lambda f: f.__name__[1:],
)
def test_blocks_that_write_to_what_others_have_saved_are_no_graph(function, write):
    def seen(f, c, d):
        x = wg.tensor([0.5, 0.2], dtype=wg.float64, requires_grad=True)
        try:
            f(x, wg.tensor(c), wg.tensor(d), write).backward()
        except RuntimeError as error:
            return str(error)[:40]
        return x.grad.numpy().round(9).tolist()

    f = wg.compile(function, backend="numpy", options={"measure": False})
    for c, d in [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, 1.0)]:
        assert seen(f, c, d) == seen(function, c, d)
