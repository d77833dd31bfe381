"""Test that compiled functions match uncompiled ones over several calls, whatever they hold."""

from __future__ import annotations

import functools
import importlib.util
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from worlds import World, compare, randn

import wengert as wg
from wengert.nn import functional as F

BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]
COMPILED: dict[str, Callable[[], World]] = {}
EAGER: dict[str, Callable[[], World]] = {}


def compiled(world: Callable[[], World]) -> Callable[[], World]:
    """A world whose function compiles."""
    COMPILED[world.__name__] = world
    return world


def eager(world: Callable[[], World]) -> Callable[[], World]:
    """A world whose function runs as it is, since a trace could not say what it does."""
    EAGER[world.__name__] = world
    return world


def calls(count: int, make: Callable[[], tuple[Any, ...]]) -> Callable[[], Any]:
    return lambda: (make() for _ in range(count))


@compiled
def a_training_step() -> World:
    w = randn(3, 4, requires_grad=True)
    b = wg.zeros(3, dtype=wg.float64, requires_grad=True)

    def step(x: Any, y: Any) -> Any:
        loss = ((x @ w.T + b - y) ** 2).mean()
        w.grad = None
        b.grad = None
        loss.backward()
        with wg.no_grad():
            w.sub_(0.1 * w.grad)
            b.sub_(0.1 * b.grad)
        return loss

    return step, calls(5, lambda: (randn(6, 4), randn(6, 3))), [w, b]


@compiled
def a_wrapped_function_without_a_module() -> World:
    names: dict[str, Any] = {}
    exec("def doubled(x): return x * 2", names)
    return wg.no_grad()(names["doubled"]), calls(3, lambda: (randn(3),)), []


@compiled
def gradients_that_accumulate() -> World:
    w = randn(3, requires_grad=True)

    def step(x: Any) -> Any:
        loss = (w * x).sum()
        loss.backward()
        return loss.detach()

    return step, calls(5, lambda: (randn(3),)), [w]


@compiled
def data_that_is_replaced() -> World:
    w = randn(3, requires_grad=True)

    def step(x: Any) -> Any:
        loss = (w * x).exp().sum()
        loss.backward()
        w.data = w.data - 0.1 * w.grad
        w.grad.zero_()
        return loss.item()

    return step, calls(5, lambda: (randn(3),)), [w]


@compiled
def data_that_is_written_to() -> World:
    w = randn(3, requires_grad=True)

    def step(x: Any) -> Any:
        loss = (w * x).exp().sum()
        loss.backward()
        w.data -= 0.1 * w.grad
        w.grad.zero_()
        return loss.item()

    return step, calls(5, lambda: (randn(3),)), [w]


@compiled
def a_decision_on_a_value() -> World:
    def f(x: Any) -> Any:
        if x.sum() > 0:
            return x * 2
        return x - 1

    return f, calls(10, lambda: (randn(3),)), []


@compiled
def numbers_read_off_tensors() -> World:
    def f(x: Any) -> Any:
        s = x.sum().item()
        return x * s + (s * 2 + 1), s, s - 3, -s, abs(s), s / 2, 1 / (2 + s * s)

    return f, calls(6, lambda: (randn(3),)), []


@compiled
def numbers_that_python_compares() -> World:
    def f(x: Any) -> Any:
        s = x.sum().item()
        return x * 2 if s > 0.5 else x * 3

    return f, calls(8, lambda: (randn(3),)), []


@compiled
def floats_that_are_returned() -> World:
    def f(x: Any) -> Any:
        return float(x.sum()), [x.mean().item(), float(x[0] * 2)]

    return f, calls(12, lambda: (randn(3),)), []


@compiled
def arrays_that_are_returned() -> World:
    def f(x: Any) -> Any:
        return (x * 2).numpy()

    return f, calls(5, lambda: (randn(3),)), []


@eager
def numbers_that_mathematics_needs() -> World:
    def f(x: Any) -> Any:
        return x * math.sin(x.sum().item())

    return f, calls(12, lambda: (randn(3),)), []


@compiled
def a_counter() -> World:
    state = {"n": 0}

    def f(x: Any) -> Any:
        state["n"] += 1
        return x * state["n"]

    return f, calls(6, lambda: (randn(3),)), []


@compiled
def printing() -> World:
    def f(x: Any) -> Any:
        print(end="")
        return x + 1

    return f, calls(3, lambda: (randn(3),)), []


@compiled
def a_list_that_grows() -> World:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x * 2)
        return x + 1

    return f, calls(4, lambda: (randn(3),)), kept


@eager
def random_numbers_of_numpy() -> World:
    def f(x: Any) -> Any:
        return x * np.random.randn(3)

    return f, calls(4, lambda: (randn(3),)), []


@eager
def a_generator_of_numpy() -> World:
    rng = np.random.default_rng(0)

    def f(x: Any) -> Any:
        return x * rng.standard_normal(3)

    return f, calls(4, lambda: (randn(3),)), []


@compiled
def random_numbers() -> World:
    def f(x: Any) -> Any:
        return x * wg.randn(3, dtype=wg.float64) + wg.rand(3, dtype=wg.float64)

    return f, calls(4, lambda: (randn(3),)), []


@compiled
def dropout() -> World:
    def f(x: Any) -> Any:
        return F.dropout(x, 0.5) * 2

    return f, calls(4, lambda: (randn(8, requires_grad=True),)), []


@eager
def as_many_random_numbers_as_there_are_negative_ones() -> World:
    def f(x: Any) -> Any:
        return F.rrelu(x, training=True) * 2

    return f, calls(4, lambda: (randn(8, requires_grad=True),)), []


@compiled
def random_slopes_in_evaluation() -> World:
    def f(x: Any) -> Any:
        return F.rrelu(x) * 2

    return f, calls(4, lambda: (randn(8, requires_grad=True),)), []


@compiled
def writes_through_views() -> World:
    def f(x: Any) -> Any:
        y = wg.zeros(4, dtype=wg.float64)
        y[1:3] = x
        y[0] += 5
        v = y.view(2, 2)
        v.mul_(3)
        v[:, 1] += x
        return y * 1, v.T + 0

    return f, calls(4, lambda: (randn(2),)), []


@compiled
def writes_to_an_argument() -> World:
    def f(x: Any, i: Any) -> Any:
        x.add_(1)
        x[0] = i.sum()
        return x

    return f, calls(4, lambda: (randn(4), randn(2))), []


@compiled
def writes_to_a_part_of_an_argument() -> World:
    def f(x: Any) -> Any:
        v = x[1:3]
        v.mul_(2)
        return v.clone()

    return f, calls(4, lambda: (randn(4),)), []


@compiled
def an_array_that_changes() -> World:
    a = np.ones(3)

    def f(x: Any) -> Any:
        return x * a

    def each() -> Any:
        for _ in range(5):
            yield (randn(3),)
            a[:] += 1

    return f, each, []


@compiled
def an_array_that_numpy_computes_with() -> World:
    a = np.ones(3)

    def f(x: Any) -> Any:
        return x * np.sin(a)

    def each() -> Any:
        for i in range(6):
            yield (randn(3),)
            a[:] += i > 2

    return f, each, []


@compiled
def a_number_of_the_enclosing_function() -> World:
    scale = 2.0

    def f(x: Any) -> Any:
        return x * scale

    def each() -> Any:
        nonlocal scale
        for _ in range(4):
            yield (randn(3),)
            scale += 1.0

    return f, each, []


@compiled
def a_tensor_that_is_replaced() -> World:
    held = {"w": randn(3)}

    def f(x: Any) -> Any:
        return x * held["w"]

    def each() -> Any:
        for _ in range(4):
            yield (randn(3),)
            held["w"] = randn(3)

    return f, each, []


class Model:
    """An object that holds what a function computes with."""

    def __init__(self) -> None:
        self.w = randn(3, 3, requires_grad=True)
        self.scale = 1.5

    def forward(self, x: Any) -> Any:
        return (self.w @ x * self.scale).tanh()


@compiled
def a_method() -> World:
    model = Model()

    def each() -> Any:
        for i in range(6):
            yield (randn(3),)
            if i == 3:
                model.scale = 2.5

    return model.forward, each, []


@compiled
def a_gradient_inside() -> World:
    def f(x: Any) -> Any:
        return wg.func.grad(lambda v: (v**3).sum())(x)

    return f, calls(4, lambda: (randn(3),)), []


@compiled
def a_map_over_a_batch_inside() -> World:
    w = randn(3, 3)

    def f(x: Any) -> Any:
        return wg.func.vmap(lambda v: (w @ v).tanh())(x)

    return f, calls(4, lambda: (randn(5, 3),)), []


@compiled
def per_example_gradients_inside() -> World:
    def f(w: Any, x: Any) -> Any:
        return wg.func.vmap(wg.func.grad(lambda w, x: (w @ x).sin().sum()), (None, 0))(w, x)

    return f, calls(4, lambda: (randn(2, 3), randn(5, 3))), []


@compiled
def a_hessian_inside() -> World:
    def f(x: Any) -> Any:
        return wg.func.hessian(lambda v: (v.exp() * v).sum())(x)

    return f, calls(4, lambda: (randn(3),)), []


@compiled
def jacobians_inside() -> World:
    def g(v: Any) -> Any:
        return v.sin().cumsum(0)

    def f(x: Any) -> Any:
        return wg.func.jacrev(g)(x), wg.func.jacfwd(g)(x)

    return f, calls(4, lambda: (randn(3),)), []


@compiled
def a_second_derivative_inside() -> World:
    def f(x: Any) -> Any:
        y = (x**3).sum()
        (g,) = wg.autograd.grad(y, x, create_graph=True)
        z = (g**2).sum()
        z.backward()
        return z.detach()

    return f, calls(4, lambda: (randn(3, requires_grad=True),)), []


class Square(wg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * g


@compiled
def a_custom_function() -> World:
    def f(x: Any) -> Any:
        return Square.apply(x).sum()

    return f, calls(4, lambda: (randn(3, requires_grad=True),)), []


@compiled
def functions_of_numpy() -> World:
    def f(x: Any) -> Any:
        return np.sin(x) * np.exp(x) + np.dot(np.ones((3, 3)), x)

    return f, calls(4, lambda: (randn(3),)), []


@compiled
def masks() -> World:
    def f(x: Any) -> Any:
        return x[x > 0].sum(), wg.where(x > 0, x, x * 2), wg.nonzero(x > 0)

    return f, calls(6, lambda: (randn(3),)), []


@compiled
def errors_that_are_raised() -> World:
    def f(x: Any) -> Any:
        if x.sum() > 0:
            raise ValueError("positive")
        return x * 2

    return f, calls(6, lambda: (randn(3),)), []


@compiled
def several_shapes() -> World:
    def f(x: Any) -> Any:
        return x.reshape(-1).sum() / x.shape[0]

    return f, lambda: ((randn(i, 2),) for i in (2, 3, 2, 3)), []


@compiled
def nested_containers() -> World:
    def f(p: Any) -> Any:
        return {"a": p["w"] * 2, "b": [p["b"], (p["w"].sum(), 3, None)]}

    return f, calls(4, lambda: ({"w": randn(3), "b": randn(2)},)), []


@compiled
def indices() -> World:
    def f(x: Any, i: Any) -> Any:
        return x[i], x.gather(0, i), wg.cat([x, x[i]]), wg.stack([x[0], x[1]])

    return f, calls(4, lambda: (randn(5), wg.randint(0, 5, (3,)))), []


@compiled
def arguments_with_a_history() -> World:
    def f(x: Any, y: Any) -> Any:
        return x * y, (x + y).sum()

    def each() -> Any:
        for _ in range(4):
            yield randn(3, requires_grad=True) * 2, randn(3, requires_grad=True)

    return f, each, []


@compiled
def results_that_are_arguments_or_constants() -> World:
    def f(x: Any) -> Any:
        return x, wg.ones(2), 3, "text", None

    return f, calls(3, lambda: (randn(3),)), []


@compiled
def one_result_in_two_places() -> World:
    def f(x: Any) -> Any:
        y = x * 2
        return y, [y]

    return f, calls(3, lambda: (randn(3),)), []


@compiled
def no_elements() -> World:
    def f(x: Any) -> Any:
        return x * 2, x.sum(), wg.cat([x, wg.ones(2, dtype=wg.float64)])

    return f, calls(3, lambda: (randn(0),)), []


@compiled
def values_that_are_no_numbers() -> World:
    def f(x: Any) -> Any:
        return x / x, x.log(), wg.maximum(x / 0, x), wg.where(x > 0, x.log(), -x)

    given = [[0.0, 1.0, -1.0], [math.nan, math.inf, -math.inf], [-0.0, 2.0, math.nan]]
    return f, lambda: ((wg.tensor(v, dtype=wg.float64),) for v in given), []


@compiled
def a_loop_of_python() -> World:
    def f(x: Any, w: Any) -> Any:
        h = x
        for _ in range(20):
            h = wg.tanh(w @ h + x)
        return h

    return f, calls(4, lambda: (randn(3, requires_grad=True), randn(3, 3, requires_grad=True))), []


@compiled
def a_loop_whose_count_varies() -> World:
    def f(a: Any) -> Any:
        b = a * 2
        while b.norm() < 1000:
            b = b * 2
        return b if b.sum() > 0 else 100 * b

    return f, calls(30, lambda: (randn(requires_grad=True),)), []


@compiled
def a_loop_with_a_decision_inside() -> World:
    w = randn(3, 3)

    def f(x: Any) -> Any:
        steps = wg.zeros((), dtype=wg.float64)
        while x.norm() < 100:
            x = x * 1.5 + w @ x.sin() if x[0] > 0 else 2 * x - x.detach() * 0.25
            steps = steps + 1
        return x, steps

    return f, calls(25, lambda: (randn(3, requires_grad=True),)), []


@compiled
def a_loop_that_counts_in_python() -> World:
    def f(x: Any) -> Any:
        n = 0
        while x.norm() < 4:
            x = x * 2
            n += 1
        return x * n

    return f, calls(6, lambda: (randn(3, requires_grad=True),)), []


@compiled
def a_loop_that_writes() -> World:
    w = randn(3, requires_grad=True)

    def f(x: Any) -> Any:
        loss = ((w - x) ** 2).sum()
        while loss.detach() > 0.1:
            (g,) = wg.autograd.grad(loss, w)
            with wg.no_grad():
                w.sub_(0.2 * g)
            loss = ((w - x) ** 2).sum()
        return loss.detach()

    return f, calls(12, lambda: (randn(3),)), [w]


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", COMPILED)
def test_compiled_functions_do_what_they_do_uncompiled(name: str, backend: str) -> None:
    found = compare(COMPILED[name], backend)
    assert found.reason is None, str(found.reason)
    assert found.entries


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", EAGER)
def test_functions_that_do_more_than_compute_run_as_they_are(name: str, backend: str) -> None:
    found = compare(EAGER[name], backend)
    assert found.reason is not None


def compared(world: Callable[[], World]) -> Any:
    found = compare(world, "numpy")
    assert found.reason is None, str(found.reason)
    return found.explain()


def test_a_loop_needs_no_trace_for_each_count() -> None:
    assert compared(a_loop_whose_count_varies).traces <= 4
    assert compared(a_loop_with_a_decision_inside).traces <= 8
    assert compared(a_loop_that_writes).traces <= 4


def test_a_cache_that_is_emptied_and_filled_again_is_another():
    held = [2.0]

    @functools.cache
    def factor(n):
        return held[0] * n

    compiled = wg.compile(lambda x: x * factor(3), options={"measure": False}, fullgraph=True)
    for _ in range(4):
        assert compiled(wg.ones(2)).tolist() == [6.0, 6.0]
    assert compiled.entries
    held[0] = 5.0
    assert compiled(wg.ones(2)).tolist() == [6.0, 6.0], "what is in the cache stays"
    factor.cache_clear()
    assert factor(3) == 15.0
    assert compiled(wg.ones(2)).tolist() == [15.0, 15.0]


def test_a_cached_function_that_raises_is_called_again():
    held = [False]

    @functools.cache
    def factor(n):
        if not held[0]:
            raise LookupError
        return n

    def f(x):
        try:
            return x * factor(3)
        except LookupError:
            return x

    compiled = wg.compile(f, options={"measure": False})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            assert compiled(wg.ones(2)).tolist() == [1.0, 1.0]
        held[0] = True
        for _ in range(3):
            assert compiled(wg.ones(2)).tolist() == [3.0, 3.0]


def test_a_result_that_was_written_to_takes_the_quick_way():
    def f(x):
        y = x * 2
        y += 1
        z = y[:]
        return y, z.sum()[None][0]

    compiled = wg.compile(f, options={"measure": False})
    for _ in range(4):
        y, z = compiled(wg.ones(3))
        assert y._version == f(wg.ones(3))[0]._version == 1
        assert z._version == 0
    assert compiled._quick


def test_a_function_may_import_relatively(tmp_path, monkeypatch):
    (tmp_path / "of_mine" / "inner").mkdir(parents=True)
    (tmp_path / "of_mine" / "__init__.py").write_text("factor = 2.0\n")
    (tmp_path / "of_mine" / "other.py").write_text("offset = 1.0\n")
    (tmp_path / "of_mine" / "inner" / "__init__.py").write_text(
        "def f(x):\n"
        "    from .. import factor, other\n"
        "    from ..other import offset\n"
        "    return x * factor + offset * other.offset\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    mine, inner = (importlib.import_module(name) for name in ("of_mine", "of_mine.inner"))
    importlib.import_module("of_mine.other")
    x, compiled = wg.tensor([1.0, 2.0]), wg.compile(inner.f, fullgraph=True)
    for mine.factor, mine.other.offset in ((2.0, 1.0), (2.0, 1.0), (3.0, 1.0), (3.0, -1.0)):
        assert compiled(x).tolist() == inner.f(x).tolist()
