"""Test the first call of a compiled function: one-time work, and unchanged state."""

import gc
import sys

import numpy as np
import pytest
from programs import Writer

import wengert as wg
from wengert.compiler import api
from wengert.compiler.passes.repeats import labels
from wengert.compiler.passes.unrolled import Unrolled
from wengert.compiler.runtime import entry
from wengert.compiler.tracing.collector import seldom
from wengert.tape import record, specialise


@pytest.fixture
def finished(monkeypatch):
    """The programs for which something that runs them is made."""
    seen = []
    build = entry.Options.build

    def noted(self, program):
        seen.append(program)
        return build(self, program)

    monkeypatch.setattr(entry.Options, "build", noted)
    return seen


def compiled(function, **settings):
    return wg.compile(function, backend="numpy", options={"measure": False}, **settings)


def test_blocks_that_do_the_same_are_compiled_once(finished):
    def last(x):
        for _ in range(12):
            if x.sum() > 0:
                x = (x * 0.5).sin()
        return x

    f = compiled(last)
    x = wg.tensor([1.0, 2.0])
    f(x)
    assert np.array_equal(f(x), last(x))
    blocks = [block for block in f.entries[0][1].tree.blocks() if block.executable is not None]
    assert len(blocks) == 13
    # the first has but the sum, the last but what is left after it
    assert len(finished) == len({id(block.executable) for block in blocks}) == 3


def test_blocks_that_differ_in_a_number_are_not_taken_for_the_same(finished):
    def last(x):
        for i in range(6):
            if x.sum() > 0:
                x = x * (i + 0.5)
        return x

    f = compiled(last)
    x = wg.tensor([1.0, 2.0])
    f(x)
    assert np.array_equal(f(x), last(x))
    # the first has but the sum, the last none; of the others one knows its number, and all that
    # come after it are given theirs
    assert len(finished) == 4


def test_more_decisions_than_python_recurses():
    count = sys.getrecursionlimit() + 200

    def last(x):
        for _ in range(count):
            if x > 0:
                x = x * 0.999
        return x

    f = compiled(last)
    x = wg.tensor(2.0)
    f(x)
    assert f(x).item() == last(x).item()
    assert f.reason is None


def test_a_result_with_a_history_is_compiled_once(finished):
    f = compiled(lambda x: (x * x).sin())
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(2):
        x.grad = None
        f(x).sum().backward()
        assert np.allclose(x.grad, 2 * x.detach() * (x.detach() ** 2).cos())
    # forwards, and backwards
    assert len(finished) == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda x: wg.func.jacrev(lambda x: x.sin() * x[0])(x),
        lambda x: wg.func.jacfwd(lambda x: x[:2] * x[2])(x),
        lambda x: wg.linalg.vander(x, N=3),
    ],
    ids=["jacrev", "jacfwd", "vander"],
)
def test_arrays_that_follow_from_shapes_need_no_second_trace(function):
    f = compiled(function)
    x = wg.tensor([0.5, 1.5, 2.5])
    f(x)
    assert f.entries[0][1].verified
    assert np.allclose(f(x), function(x))


@pytest.mark.filterwarnings("ignore:.*is not compiled")
def test_the_collector_is_as_it_was_after_a_call_that_raises(monkeypatch):
    before = gc.get_threshold()
    met = []
    capture = api.Compiled._capture

    def captured(*args):
        met.append(gc.get_threshold())
        return capture(*args)

    monkeypatch.setattr(api.Compiled, "_capture", staticmethod(captured))

    @compiled
    def broken(x):
        raise KeyError("x")

    with pytest.raises(KeyError):
        broken(wg.ones(2))
    assert gc.get_threshold() == before != met[0]


def test_the_collector_waits_until_the_last_of_several_has_ended():
    before = gc.get_threshold()
    with seldom():
        inside = gc.get_threshold()
        with seldom():
            pass
        assert gc.get_threshold() == inside != before
    assert gc.get_threshold() == before


def test_a_collector_that_was_set_meanwhile_is_left_alone():
    before = gc.get_threshold()
    try:
        with seldom():
            gc.set_threshold(123, 4, 5)
        assert gc.get_threshold() == (123, 4, 5)
    finally:
        gc.set_threshold(*before)


def test_steps_have_equal_labels_if_dtypes_shapes_and_parameters_are_equal():
    w = Writer(np.ones(3), np.ones(3), np.ones((2, 3)))
    a, b, c = w.inputs
    w.mul(a, b)
    w.mul(b, b)
    w.mul(c, a)
    w.mul(a, c)
    w.add(a, b)
    w.mul_scalar(a, other=2.0)
    w.mul_scalar(b, other=3.0)
    w.sum_dim(c, dim=(0,), keepdim=False)
    w.sum_dim(c, dim=(1,), keepdim=False)
    marks = labels(Unrolled(w.program())).tolist()
    assert marks[0] == marks[1]
    assert marks[5] == marks[6]
    assert len(set(marks)) == 7


def test_traced_operations_are_recorded_by_generated_code(monkeypatch):
    asked = []
    general, rules = record.run, specialise.apply_rules

    def noted(prim, *given, **more):
        asked.append(prim.name)
        return general(prim, *given, **more)

    def noted_rules(node, *given):
        asked.append(node.label)
        return rules(node, *given)

    monkeypatch.setattr(record, "run", noted)
    monkeypatch.setattr(specialise, "apply_rules", noted_rules)
    monkeypatch.setattr(specialise, "_TRACED", {})

    def loss(x, w):
        y = (x.matmul(w).tanh() * 3 + 1.5 - x).exp()
        first, second, third = y.unbind(0)
        return (1 - first / y.sum(0) + second * third).square().mean()

    x, w = wg.rand(3, 3), wg.rand(3, 3)
    gradient = compiled(wg.func.grad(loss, argnums=(0, 1)))(x, w)
    assert asked == []
    for found, plain in zip(gradient, wg.func.grad(loss, argnums=(0, 1))(x, w), strict=True):
        assert np.allclose(found, plain)
