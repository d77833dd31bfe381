"""Test the fast path of calls: nested results, decisions, and its fallbacks."""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import pytest

import wengert as wg
from wengert.compiler.runtime.entry import Entry

CALLS = 5


class Pair(NamedTuple):
    left: object
    right: object


def compiled(function):
    return wg.compile(function, fullgraph=True, options={"measure": False})


def test_nested_results_are_made_each_time():
    f = compiled(lambda x: {"a": [x + 1, (x * 2, None)], 3: Pair(x - 1, {"deep": x * x}), "b": ()})
    x = wg.arange(3.0)
    found = [f(x) for _ in range(CALLS)]
    assert f._quick
    for made in found:
        assert list(made) == ["a", 3, "b"]
        assert type(made[3]) is Pair
        assert made["a"][1][1] is None
        assert made["b"] == ()
        assert made[3].right["deep"].tolist() == [0.0, 1.0, 4.0]
    found[-1]["a"].append(1)
    assert len(f(x)["a"]) == 2


def test_each_way_of_a_decision_has_results_of_its_own_structure():
    def f(x):
        if x.sum() > 0:
            return OrderedDict(a=x * 2, b=x)
        return OrderedDict(c=x * 3, d=x + 1)

    jitted = compiled(f)
    for _ in range(CALLS):
        assert list(jitted(wg.ones(3))) == ["a", "b"]
        assert list(jitted(-wg.ones(3))) == ["c", "d"]
    assert jitted._quick


def test_decisions_are_taken_as_values_say():
    def f(x):
        if x.sum() > 0:
            if x.max() > 5:
                return {"large": x}
            return [x * 2, x.sum()]
        return Pair(x + 1, "negative")

    jitted = compiled(f)
    for first in (1.0, -3.0, 1.0, 9.0, -3.0, 2.0, 9.0, float("nan")) * CALLS:
        x = wg.tensor([first, 0.5])
        assert repr(jitted(x)) == repr(f(x))
    assert jitted._quick
    assert len(jitted.entries) == 1


def test_what_requires_gradients_has_its_history():
    def f(x):
        return x * 3 if x.sum() > 0 else x * x

    jitted = compiled(f)
    for value in (2.0, -2.0) * CALLS:
        for needs in (True, False):
            x = wg.tensor(value, requires_grad=needs)
            y = jitted(x)
            assert y.requires_grad is needs
            if needs:
                y.backward()
                assert x.grad.item() == (3.0 if value > 0 else 2 * value)


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_recorded_calls_are_quick_too(backend, monkeypatch):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    scale = wg.tensor(2.0, dtype=wg.float64, requires_grad=True)

    def f(x, y):
        z = (x * scale).exp()
        if z.sum() > 10:
            return z, (z * y).sum(), y + 1
        return z.sum(), x * y

    jitted = wg.compile(f, backend=backend, options={"measure": False})
    starts = [(0.1, 0.2), (2.0, 3.0)]
    for start in starts * CALLS:
        jitted(*[wg.tensor(start, dtype=wg.float64, requires_grad=True) for _ in range(2)])
    assert jitted._quick
    # the general path is not taken any more
    monkeypatch.setattr(Entry, "run", None)
    for start in starts:
        for present in range(1, 8):
            found = []
            for function in (f, jitted):
                x, y = (wg.tensor(start, dtype=wg.float64, requires_grad=True) for _ in range(2))
                results = function(x, y)
                chosen = [r for k, r in enumerate(results) if present >> k & 1]
                if chosen:
                    wg.autograd.backward([r.sum() for r in chosen])
                found.append([*results, x.grad, y.grad, scale.grad])
                scale.grad = None
            for ours, theirs in zip(*found, strict=True):
                assert (ours is None) == (theirs is None)
                if ours is not None:
                    wg.testing.assert_close(ours, theirs, rtol=1e-12, atol=0)
    result, *_ = jitted(*[wg.tensor([2.0, 3.0], dtype=wg.float64, requires_grad=True)] * 2)
    with wg.no_grad():
        result.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def scalar():
    """A leaf whose payload is a scalar of NumPy, which has no memory to share."""
    x = wg.ones(3).sum().requires_grad_()
    assert type(x._payload) is np.float32
    return x


def test_arguments_without_dimensions_are_memory_that_the_tape_notices():
    jitted = compiled(lambda x: x * x)
    for _ in range(CALLS):
        jitted(scalar())
    assert jitted._quick
    x = scalar()
    result = jitted(x)
    # looking at the memory is no write
    assert x.detach().numpy() == 3.0
    result.backward(retain_graph=True)
    assert x.grad.item() == 6.0
    # no version counts this write, which the tape shows as eager code does
    x.data.mul_(2)
    result.backward(retain_graph=True)
    assert x.grad.item() == 6.0 + 12.0
    with wg.no_grad():
        x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.backward()


def test_results_without_dimensions_are_scalars_unless_the_tape_holds_them():
    def f(x):
        y = (x * x).sum()
        return y, y.exp()

    jitted = compiled(f)
    for _ in range(CALLS):
        for x in (wg.ones(3), wg.ones(3, requires_grad=True)):
            y, z = jitted(x)
            assert type(y._payload) is np.float32
            # the derivative of exp() reads its result, which writes through .data must reach
            assert (type(z._payload) is np.ndarray) is x.requires_grad
    assert jitted._quick


def test_effects_happen_on_either_side_of_a_decision():
    def f(x):
        if x.sum() > 0:
            x.mul_(2)
        return x + 0

    jitted, x = compiled(f), wg.tensor([1.0])
    assert [jitted(x).item() for _ in range(CALLS)] == [2.0, 4.0, 8.0, 16.0, 32.0]
    y = wg.tensor([-1.0])
    assert [jitted(y).item() for _ in range(CALLS)] == [-1.0] * CALLS
    assert y.item() == -1.0


def test_compile_says_nothing_if_it_is_to_be_quiet(recwarn):
    f = wg.compile(lambda x: (print(end=""), x)[1], options={"quiet": True})
    assert [f(wg.ones(1)).item() for _ in range(CALLS)] == [1.0] * CALLS
    assert not recwarn
    with pytest.raises(RuntimeError, match="Unexpected optimization option loud"):
        wg.compile(lambda x: x, options={"loud": True})
