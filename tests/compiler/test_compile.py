"""Test the contract of `compile` beyond equal results: traces, errors and reports."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.compiler import CompileError
from wengert.compiler.tracing.graph import Graph

NUMPY: dict[str, Any] = {"backend": "numpy", "options": {"measure": False}}


def double(x: Any) -> Any:
    return x * 2


def traces(compiled: Any) -> int:
    return int(compiled.explain().traces)


def test_compile_is_a_decorator_with_and_without_options() -> None:
    @wg.compile
    def f(x: Any) -> Any:
        """Twice."""
        return x * 2

    @wg.compile(backend="numpy", fullgraph=True)
    def g(x: Any) -> Any:
        return x * 3

    assert f(wg.ones(2)).tolist() == [2, 2]
    assert g(wg.ones(2)).tolist() == [3, 3]
    assert f.__doc__ == "Twice."
    assert f.__name__ == "f"


def test_a_function_is_traced_once_for_each_kind_of_arguments() -> None:
    def count(x: Any) -> Any:
        return x * 2

    f = wg.compile(count, **NUMPY)
    for shape in ((2,), (3,), (2,), (3,), (2,)):
        f(wg.ones(*shape))
    assert traces(f) == 2
    f(wg.ones(2, dtype=wg.float64))
    assert traces(f) == 3
    f(wg.ones(2, requires_grad=True))
    assert traces(f) == 4
    with wg.no_grad():
        f(wg.ones(2))
    assert traces(f) == 5


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_python_numbers_are_conditions_with_their_types_and_signs() -> None:
    def f(x: Any, n: Any) -> Any:
        return x / n

    g = wg.compile(f, **NUMPY)
    x = wg.ones(1)
    for n in (1, 1.0, True, 0.0, -0.0, float("nan"), float("nan")):
        assert str(g(x, n)) == str(f(x, n))
    assert traces(g) == 6


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize(
    "use",
    [
        *(lambda x, s: x * s, lambda x, s: x + s, lambda x, s: s / x, lambda x, s: x - s),
        *(lambda x, s: x.clamp(max=s), lambda x, s: wg.lerp(x, x * 2, s), lambda x, s: x * (s + 1)),
    ],
)
def test_numbers_read_off_tensors_are_computed_with_in_one_trace(use: Any, grad: bool) -> None:
    def f(x: Any) -> Any:
        return use(x, x.sum().item())

    g = wg.compile(f, **NUMPY)
    for n in range(12):
        x, y = (wg.tensor([n + 0.5, 2.0], requires_grad=grad) for _ in range(2))
        ours, theirs = g(x), f(y)
        assert ours.tolist() == pytest.approx(theirs.tolist())
        if grad:
            ours.sin().sum().backward()
            theirs.sin().sum().backward()
            assert x.grad.tolist() == pytest.approx(y.grad.tolist())
    assert g.reason is None
    assert traces(g) == 1


def test_one_tensor_in_two_places_is_another_program_than_two_that_are_equal() -> None:
    def function(a: Any, b: Any) -> Any:
        return a * 2 if a is b else b * 3

    compiled = wg.compile(function, **NUMPY)
    x, y = wg.ones(3), wg.ones(3)
    for _ in range(2):
        assert compiled(x, y).tolist() == [3.0] * 3
        assert compiled(x, x).tolist() == [2.0] * 3
        assert compiled(y, x).tolist() == [3.0] * 3
        assert compiled(y, y).tolist() == [2.0] * 3
    assert traces(compiled) == 2
    z = wg.tensor([1.0, 2.0], requires_grad=True)
    product = wg.compile(lambda a, b: (a * b.detach()).sum(), **NUMPY)
    for other in (wg.ones(2), z, wg.ones(2), z):
        z.grad = None
        product(z, other).backward()
        assert z.grad.tolist() == other.tolist()


def test_the_default_dtype_is_a_condition() -> None:
    def function(x: Any) -> Any:
        return x + wg.zeros(2), wg.tensor(0.5), wg.arange(2) / 2

    compiled = wg.compile(function, **NUMPY)
    before = wg.get_default_dtype()
    try:
        for _ in range(2):
            for kind in (wg.float32, wg.float64, wg.float16):
                wg.set_default_dtype(kind)
                # a number, so that the argument says nothing of dtypes
                assert [r.dtype for r in compiled(1.0)] == [kind] * 3
                assert [r.dtype for r in function(1.0)] == [kind] * 3
    finally:
        wg.set_default_dtype(before)


def test_copies_of_tensors_and_their_pickles_end_a_trace() -> None:
    W = wg.tensor([0.5, -1.0], requires_grad=True)

    def function(x: Any) -> Any:
        before = copy.deepcopy(W.detach())
        W.data.mul_(2)
        return x * before

    compiled = wg.compile(function, **NUMPY)
    with pytest.warns(UserWarning, match="is not compiled"):
        found = [compiled(wg.ones(2)).tolist() for _ in range(3)]
    assert found == [[0.5, -1.0], [1.0, -2.0], [2.0, -4.0]]


def test_a_constant_that_is_returned_may_be_written_to() -> None:
    def function(x: Any) -> Any:
        made = wg.tensor([1.0, 2.0])
        return made, made.detach()

    compiled = wg.compile(function, **NUMPY)
    for _ in range(4):
        one, same = compiled(wg.ones(2))
        assert one.tolist() == same.tolist() == [1.0, 2.0]
        one.mul_(3)
        assert one.tolist() == same.tolist() == [3.0, 6.0]


def test_a_history_is_made_for_inputs_that_overlap() -> None:
    W = wg.tensor([0.5, -1.0, 2.0], requires_grad=True)
    compiled = wg.compile(lambda x, y: W.sum() * 2, **NUMPY)
    memory = np.ones(4)
    for _ in range(3):
        W.grad = None
        compiled(wg.from_numpy(memory[:3]), wg.from_numpy(memory[1:])).backward()
        assert W.grad.tolist() == [2.0] * 3


def test_gradients_that_a_call_leaves_have_memory_of_their_own() -> None:
    W = wg.tensor([0.5, -1.0, 2.0], requires_grad=True)

    def function(x: Any) -> Any:
        (W.sum() * 2).backward()
        return W * x

    compiled = wg.compile(function, **NUMPY)
    for _ in range(3):
        W.grad = None
        made = compiled(wg.ones(3))
        assert W.grad.stride() == (1,)
        (made * made.detach()).sum().backward()
        assert W.grad.tolist() == [2.5, 1.0, 4.0]


def test_outcomes_of_decisions_grow_a_tree_and_too_many_end_it() -> None:
    def f(x: Any) -> Any:
        return x * int(x.sum())

    g = wg.compile(f, limit=3, **NUMPY)
    for k in range(3):
        for _ in range(2):
            assert g(wg.tensor([k])).tolist() == [k * k]
    assert traces(g) == 3
    with pytest.warns(UserWarning, match=r"f\(\) is not compiled.*more than 3 outcomes"):
        g(wg.tensor([3]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert g(wg.tensor([4])).tolist() == [16]
    assert "more than 3 outcomes" in str(g.explain())
    assert "x * int(x.sum())" in str(g.explain())


def test_the_warning_says_why_and_where() -> None:
    def f(x: Any) -> Any:
        y = x + 1
        return sum(y.tolist())

    with pytest.warns(UserWarning, match=r"tolist\(\) takes values .*test_compile.py:\d+"):
        wg.compile(f, **NUMPY)(wg.ones(100))


def test_fullgraph_raises_where_a_warning_would_be_given() -> None:
    def f(x: Any) -> Any:
        print(x.shape)
        return x

    with pytest.raises(CompileError, match=r"calls print\(\)"):
        wg.compile(f, fullgraph=True, backend="numpy")(wg.ones(2))


def test_explain_counts_programs_as_pytorch_does() -> None:
    found = wg._dynamo.explain(lambda x: x.sin() + 1)(wg.ones(2))
    assert (found.graph_count, found.graph_break_count, found.break_reasons) == (1, 0, [])
    decided = wg._dynamo.explain(lambda x: x * 2 if x.sum() > 0 else x)(wg.ones(2))
    assert decided.graph_break_count == decided.graph_count - 1 == len(decided.break_reasons) == 1


def test_explain_names_decisions_with_their_lines() -> None:
    def f(x: Any) -> Any:
        if x.sum() > 0:
            return x
        return -x

    g = wg.compile(f, **NUMPY)
    g(wg.ones(2))
    g(-wg.ones(2))
    found = g.explain()
    assert found.traces == 2
    ((place, outcomes),) = found.decisions
    assert place[0] == __file__
    assert sorted(outcomes) == [False, True]
    assert "if x.sum() > 0:" in str(found)
    assert "sum_dim" in g.program


def test_disabled_functions_are_never_traced() -> None:
    assert wg.compile(double, disable=True) is double
    assert wg.compile(double, backend="eager") is double

    @wg.compiler.disable(reason="it counts")
    def g(x: Any) -> Any:
        return x + 1

    f = wg.compile(lambda x: g(x) * 2, **NUMPY)
    with pytest.warns(UserWarning, match=r"g\(\) is not to be compiled: it counts"):
        assert f(wg.ones(1)).tolist() == [4]


def test_is_compiling_is_true_while_a_function_is_traced() -> None:
    def f(x: Any) -> Any:
        return x * (2 if wg.compiler.is_compiling() else 3)

    assert not wg.compiler.is_compiling()
    assert wg.compile(f, **NUMPY)(wg.ones(1)).tolist() == [2]


def test_reset_forgets_traces_and_reasons() -> None:
    f = wg.compile(double, **NUMPY)
    f(wg.ones(2))
    wg.compiler.reset()
    assert traces(f) == 0
    f(wg.ones(2))
    assert traces(f) == 1


def test_options_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="backend must be"):
        wg.compile(double, backend="cuda")
    with pytest.raises(RuntimeError, match="Unexpected optimization option tune, known"):
        wg.compile(double, options={"tune": 1})
    with pytest.raises(RuntimeError, match="Unrecognized mode=fast, should be one of: default"):
        wg.compile(double, mode="fast")
    with pytest.raises(RuntimeError, match="Either mode or options can be specified"):
        wg.compile(double, mode="default", options={})


def test_compiled_functions_are_pickled_without_their_traces() -> None:
    f = wg.compile(double, **NUMPY)
    f(wg.ones(2))
    g = pickle.loads(pickle.dumps(f))
    assert traces(g) == 0
    assert g(wg.ones(2)).tolist() == [2, 2]


class Scaled:
    def __init__(self, by: float) -> None:
        self.by = by

    @wg.compile(**NUMPY)
    def __call__(self, x: Any) -> Any:
        return x * self.by


def test_methods_are_compiled_for_what_their_objects_hold() -> None:
    two, three = Scaled(2.0), Scaled(3.0)
    for _ in range(2):
        assert two(wg.ones(1)).item() == 2
        assert three(wg.ones(1)).item() == 3
    two.by = 5.0
    assert two(wg.ones(1)).item() == 5


def test_threads_may_call_one_function() -> None:
    f = wg.compile(lambda x: (x.sin() * x).sum(), **NUMPY)
    given = [wg.randn(100, dtype=wg.float64) for _ in range(8)]
    expected = [float((x.sin() * x).sum()) for x in given]
    found: list[Any] = [None] * 8

    def work(i: int) -> None:
        for _ in range(50):
            found[i] = float(f(given[i]))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.allclose(found, expected, rtol=1e-12)


def test_a_compiled_call_leaves_one_node_that_can_be_differentiated_again() -> None:
    f = wg.compile(lambda x: (x.sin() * x).sum(), **NUMPY)
    x = wg.randn(3, dtype=wg.float64, requires_grad=True)
    f(x)
    y = f(x)
    assert y.grad_fn.name() == "CompiledBackward"
    (g,) = wg.autograd.grad(y, x, create_graph=True)
    assert np.allclose(g.detach(), (x.cos() * x + x.sin()).detach())
    (h,) = wg.autograd.grad(g.sum(), x)
    assert np.allclose(h, (2 * x.cos() - x * x.sin()).detach())
    assert wg.autograd.gradcheck(f, x)
    assert wg.autograd.gradgradcheck(f, x)


def test_the_node_can_be_walked_once_unless_its_graph_is_kept() -> None:
    f = wg.compile(lambda x: x.exp().sum(), **NUMPY)
    x = wg.ones(2, requires_grad=True)
    f(x)
    y = f(x)
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_arguments_that_were_written_to_since_are_noticed() -> None:
    f = wg.compile(lambda x: (x * x).sum(), **NUMPY)
    x = wg.ones(2, requires_grad=True)
    f(x)
    y = f(x)
    with wg.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_transforms_of_compiled_functions_are_those_of_the_functions() -> None:
    f = wg.compile(lambda x: (x**3).sum(), **NUMPY)
    x = wg.randn(4, 3, dtype=wg.float64)
    f(x[0])
    assert np.allclose(wg.func.grad(f)(x[0]), 3 * x[0] ** 2)
    assert np.allclose(wg.func.vmap(f)(x), (x**3).sum(1))
    assert np.allclose(wg.func.hessian(f)(x[0]), np.diag(6 * x[0]))
    assert wg.func.jvp(f, (x[0],), (x[1],))[1].item() == pytest.approx(
        float((3 * x[0] ** 2 * x[1]).sum())
    )


def test_compiled_functions_call_each_other() -> None:
    f = wg.compile(double, **NUMPY)
    g = wg.compile(lambda x: f(x) + 1, **NUMPY)
    for _ in range(3):
        assert g(wg.ones(1)).item() == 3
    assert traces(g) == 1


def test_what_a_function_raises_is_raised_and_leaves_tensors_as_they_were() -> None:
    w = wg.ones(2, requires_grad=True)

    def f(x: Any) -> Any:
        y = w * x
        raise KeyError(y.shape)

    g = wg.compile(f, **NUMPY)
    with pytest.raises(KeyError):
        g(wg.ones(2))
    assert isinstance(w._payload, np.ndarray)
    assert not wg.compiler.is_compiling()
    assert (w * 2).tolist() == [2, 2]


def test_tensors_that_a_function_keeps_are_plain_ones() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x * 2)
        return x

    compiled = wg.compile(f, **NUMPY)
    for turn in range(3):
        compiled(wg.full((2,), float(turn)))
    assert [tensor.tolist() for tensor in kept] == [[0, 0], [2, 2], [4, 4]]
    assert all(isinstance(tensor._payload, np.ndarray) for tensor in kept)


def test_tensors_that_are_kept_when_an_error_is_raised_are_plain_ones() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x * 2)
        raise KeyError

    with pytest.raises(KeyError):
        wg.compile(f, **NUMPY)(wg.ones(2))
    assert isinstance(kept[0]._payload, np.ndarray)


@pytest.mark.parametrize("fullgraph", [False, True])
def test_what_costs_more_to_call_than_it_computes_runs_as_it_is(fullgraph: bool) -> None:
    f = wg.compile(double, backend="numpy", fullgraph=fullgraph)
    x = wg.ones(2)
    for _ in range(3):
        assert f(x).tolist() == [2, 2]
    assert (f.reason is None) is fullgraph
    assert ("it is not quicker" in str(f.explain())) is not fullgraph


def test_what_one_trace_gains_is_gained_for_all() -> None:
    def f(x: Any, deep: bool) -> Any:
        for _ in range(30 * deep):
            x = x.sin()
        return x

    compiled = wg.compile(f, backend="numpy")
    compiled(wg.ones(2), False), compiled(wg.ones(2), True), compiled(wg.ones(2), False)
    assert compiled.reason is None
    assert "estimated 0.0 times as quick as uncompiled" in str(compiled.explain())


def test_random_numbers_are_drawn_from_the_stream_as_uncompiled() -> None:
    f = wg.compile(lambda x: x + wg.randn(3), **NUMPY)
    x = wg.zeros(3)
    f(x)
    wg.manual_seed(7)
    found = [f(x), f(x)]
    wg.manual_seed(7)
    expected = [wg.randn(3), wg.randn(3)]
    assert all(bool((a == b).all()) for a, b in zip(found, expected, strict=True))
    assert not bool((found[0] == found[1]).all())


def test_second_derivatives_see_what_was_detached_and_custom_rules() -> None:
    class Twice(wg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x * g

    def f(x: Any) -> Any:
        return (x.detach() * x).sum() + Twice.apply(x).sum()

    g = wg.compile(f, **NUMPY)
    x = wg.randn(3, dtype=wg.float64, requires_grad=True)
    for _ in range(2):
        (first,) = wg.autograd.grad(g(x), x, create_graph=True)
        (second,) = wg.autograd.grad(first.sum(), x)
        assert np.allclose(first.detach(), 4 * x.detach())
        assert np.allclose(second, 3)


@pytest.mark.parametrize("dtype", [wg.bfloat16, wg.float32])
def test_nan_among_saved_values_does_not_count_as_a_change(dtype: Any) -> None:
    g = wg.compile(lambda x: (x * x.sin()).sum(), **NUMPY)
    x = wg.tensor([1.0, float("nan")], dtype=dtype, requires_grad=True)
    for _ in range(2):
        (first,) = wg.autograd.grad(g(x), x, create_graph=True)
        (second,) = wg.autograd.grad(first[0], x)
        assert second[0] > 0


def test_second_derivatives_that_would_need_other_random_numbers_are_refused() -> None:
    f = wg.compile(lambda x: (x**2 * wg.rand(3)).sum(), **NUMPY)
    x = wg.ones(3, requires_grad=True)
    f(x)
    (first,) = wg.autograd.grad(f(x), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"cannot be differentiated twice.*random numbers"):
        first.sum().backward()


def test_second_derivatives_by_several_tensors_are_refused_with_the_same_words() -> None:
    f = wg.compile(lambda x, w: (w @ x * wg.rand(2)).sum(), **NUMPY)
    x, w = wg.ones(3, requires_grad=True), wg.ones(2, 3, requires_grad=True)
    by_x, by_w = wg.autograd.grad(f(x, w), (x, w), create_graph=True)
    with pytest.raises(RuntimeError, match="cannot be differentiated twice"):
        ((by_x**2).sum() + (by_w**2).sum()).backward()


def test_first_derivatives_are_taken_where_there_are_no_second_ones() -> None:
    weight, seen = wg.tensor([1.0, 2.0], requires_grad=True), []

    def logs(x: Any) -> Any:
        loss = ((x * weight) ** 2).sum()
        seen.append(loss.detach())
        return loss

    def draws(x: Any) -> Any:
        return (x * weight * wg.rand(2)).sum()

    def passes_on(x: Any) -> Any:
        seen.append(x.detach().sum())
        return x + 1

    for function in (logs, draws, passes_on):
        told = []
        for f in (function, wg.compile(function, **NUMPY)):
            wg.manual_seed(0)
            story: list[Any] = [f(wg.ones(2, requires_grad=True)).sum().item() for _ in range(3)]
            for _ in range(2):
                found = wg.func.grad(lambda x, f=f: f(x).sum())(wg.ones(2))
                story += [found.tolist(), found.requires_grad]
                value, pull = wg.func.vjp(f, wg.ones(2))
                seed = wg.full_like(value.detach(), 2)
                (found,) = pull(seed)
                seed.mul_(3)
                story += [value.tolist(), value.requires_grad, found.tolist(), found.requires_grad]
            told.append((story, [t.tolist() for t in seen]))
            seen.clear()
        assert told[0] == told[1]


def test_a_loop_may_run_no_time_after_it_has_run() -> None:
    def f(a: Any) -> Any:
        b = a * 2
        while b.norm() < 1000:
            b = b * 2
        return b if b.sum() > 0 else 100 * b

    g = wg.compile(f, **NUMPY)
    for value, slope in ((0.3, 4096.0), (2000.0, 2.0), (-3000.0, 200.0), (4.0, 256.0)):
        a = wg.tensor(value, requires_grad=True)
        g(a).backward()
        assert a.grad.item() == slope


def test_nothing_of_a_call_is_kept_alive() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        while y.sum() < 10:
            y = y * 2
        return y

    g = wg.compile(f, **NUMPY)
    for _ in range(2):
        x = wg.ones(3, requires_grad=True)
        alive = weakref.ref(x)
        y = g(x)
        del x, y
        gc.collect()
        assert alive() is None


def test_loops_that_read_an_argument_each_time_have_its_gradient_once_for_each() -> None:
    def f(a: Any, w: Any) -> Any:
        b = a * 2
        while b.sum() < 100:
            b = b * 1.5 + w * a
        return b.sum()

    g = wg.compile(f, **NUMPY)
    for scale in (1.0, 3.0, 0.5):
        a = wg.tensor([0.5, 1.0], dtype=wg.float64, requires_grad=True)
        w = wg.tensor([scale, 2.0], dtype=wg.float64, requires_grad=True)
        found = wg.autograd.grad(g(a, w), (a, w))
        expected = wg.autograd.grad(f(a, w), (a, w))
        assert all(np.allclose(x, y) for x, y in zip(found, expected, strict=True))


def test_nothing_stands_between_a_call_and_a_function_that_runs_as_it_is():
    def function(x):
        globals()
        return x * 2

    compiled = wg.compile(function, backend="numpy")
    with pytest.warns(UserWarning, match="runs as it is"):
        compiled(wg.ones(2))
    assert isinstance(compiled, wg.compiler.Compiled)
    assert type(compiled).__call__.__get__(compiled) is function
    assert compiled(x=wg.ones(2)).tolist() == [2.0, 2.0]
    compiled.forget()
    assert compiled.reason is None and type(compiled) is wg.compiler.Compiled


def test_the_line_of_what_cannot_be_looked_through() -> None:
    def f(x: Any) -> Any:
        y = x + 1
        globals()
        return y

    g = wg.compile(f, **NUMPY)
    with pytest.warns(UserWarning, match=r"it calls globals\(\) \(test_compile.py:\d+\)"):
        g(wg.ones(2))
    assert "\n    globals()\n" in str(g.explain())


def test_many_ways_through_few_decisions_are_not_many_outcomes() -> None:
    def f(x: Any) -> Any:
        if x.sum() > 100:
            return x
        for k in range(4):
            x = x * 2 if x[k] > 0 else x
        return x

    g = wg.compile(f, **NUMPY)
    with pytest.warns(UserWarning, match="went more than 8 ways in all"):
        for n in range(16):
            g(wg.tensor([1.0 if n >> k & 1 else -1.0 for k in range(4)]))
    assert "x = x * 2 if x[k] > 0 else x" in str(g.explain())


def test_a_call_whose_traces_were_dropped_is_traced_again() -> None:
    g = wg.compile(lambda x: x.exp() * 2, **NUMPY)
    for _ in range(3):
        g(wg.ones(2))
    ((_, entry),) = g.entries
    # as where a trace contradicts the others, and has skipped iterations
    entry.tree = Graph(entry.tree.inputs, entry.options)
    g._quick = []
    for _ in range(3):
        assert g(wg.zeros(2)).tolist() == [2.0, 2.0]


def test_an_explanation_counts_arguments_that_look_alike():
    f = wg.compile(lambda *xs: sum(x.sum() for x in xs), backend="numpy")
    f(*[wg.ones(2) for _ in range(3)], wg.ones(4))
    assert "with float32[2] (3x), float32[4]" in str(f.explain())
