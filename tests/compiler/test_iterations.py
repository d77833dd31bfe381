"""Test loops with known iterations, which run without being traced, and blocks that share code."""

from __future__ import annotations

import asyncio.queues
import contextlib
import enum
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.compiler.objects.bytecode import Flow
from wengert.compiler.objects.frames import hidden_on
from wengert.compiler.tracing import state
from wengert.compiler.tracing.iterations import Iterations

STRICT = {"measure": False}


def compiled(function: Callable[..., Any]) -> Any:
    return wg.compile(function, backend="numpy", options=STRICT)


def agree(function: Callable[..., Any], *values: float, grad: bool = False) -> Any:
    """Compare a function with what it is compiled, call by call; gives that."""
    made = compiled(function)
    for value in values:
        found = []
        for f in (function, made):
            x = wg.tensor([value, 0.5 * value], dtype=wg.float64, requires_grad=grad)
            result = f(x)
            if grad:
                result.sum().backward()
                result = [result.detach(), x.grad]
            found.append(repr(result))
        assert found[0] == found[1]
    return made


def traces(made: Any) -> list[int]:
    return [entry.tree.traces for _, entry in made.entries]


@pytest.fixture
def skipped(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps each trace has computed without going through them."""
    found: list[int] = []
    end = Iterations.end

    def noted(turns: Iterations) -> None:
        if turns.skipped:
            found.append(turns.skipped)
        end(turns)

    monkeypatch.setattr(Iterations, "end", noted)
    return found


def test_turns_of_a_while_loop_run_in_python_a_few_times(skipped: list[int]) -> None:
    def f(x: Any) -> Any:
        while x.sum() < 1000:
            x = x * 1.001
        return x

    made = agree(f, 1.0, 100.0, 0.5)
    assert traces(made) == [1]
    # one multiplication, one sum, one comparison in some six thousand turns
    assert len(skipped) == 1 and skipped[0] > 15_000


def test_nested_loops_and_branches(skipped: list[int]) -> None:
    def f(x: Any) -> Any:
        total = x.sum() * 0
        while total < 300:
            y = x
            while y.sum() < 20:
                y = y * 1.1 if y[0] > 3 else y * 1.2 + 0.01
            total = total + y.sum()
            if total > 250:
                total = total + 1
            x = x * 1.1
        return total, x

    agree(f, 0.3, 5.0, 30.0, 0.01)
    assert skipped


def test_a_loop_that_is_called_in_a_for_loop(skipped: list[int]) -> None:
    def grow(x: Any) -> Any:
        while x.sum() < 100:
            x = x * 1.05
        return x

    def f(x: Any) -> Any:
        total = x * 0
        for k in range(1, 4):
            total = total + grow(x * k)
        return total

    assert traces(agree(f, 1.0, 0.1, 3.0)) == [1]
    assert skipped
    # what a list holds that is being made is not to be seen
    agree(lambda x: wg.stack([grow(x * k) for k in range(1, 4)]).sum(0), 1.0, 0.1, 3.0)


def test_what_a_for_loop_is_about_belongs_to_the_state() -> None:
    # the same variables in every round, but another part of the tuple comes next
    def f(x: Any) -> Any:
        for factor in (2.0, 3.0, 5.0):
            x = x * factor
            del factor
            if x.sum() > 40:
                x = x * 0.1
        return x

    agree(f, 1.0, 10.0, 0.01, 100.0, 4.0)


def test_numbers_of_python_that_change_end_the_repetition() -> None:
    def f(x: Any) -> Any:
        n = 0
        while x.sum() < 50:
            x, n = x * 1.3 + 0.1 * n, n + 1
        return x * n

    agree(f, 1.0, 1.0, 3.0)


def test_a_gradient_that_a_tensor_carries_is_part_of_the_state() -> None:
    def f(x: Any) -> Any:
        while x.sum() < 1000:
            x = x * 1.1
            x.grad = x * 2
        return x.grad * 1

    agree(f, 1.0, 10.0)


def test_attributes_of_tensors_are_no_part_of_a_state() -> None:
    def f(x: Any) -> Any:
        x = x * 1
        x.note = 0
        while x.sum() < 1000:
            note = x.note + 1
            x = x * 1.1
            x.note = note
        return x * x.note

    agree(f, 1.0, 10.0)


def test_the_class_of_a_tensor_is_part_of_the_state() -> None:
    def f(x: wg.Tensor, c: wg.Tensor) -> Any:
        made = wg.nn.Parameter(x.clone()) if c > 0 else x.clone().requires_grad_()
        total = x.sum() * 0
        while total < 5:
            total = total + 1.1
        return (made * total).detach(), isinstance(made, wg.nn.Parameter)

    g = wg.compile(f, backend="numpy")
    for number in (1.0, -1.0, 2.0, -2.0):
        x, c = wg.ones(2), wg.tensor(number)
        assert g(x, c)[1] is f(x, c)[1] is (number > 0)
    assert g.reason is None


def test_variables_that_share_memory_for_some_turns_only() -> None:
    def f(x: Any) -> Any:
        m = x.clone()
        row = m[1:]
        while m.abs().sum() < 50:
            m[0] += 0.7
            row.mul_(1.1)
            m = m * 1.05
        return m + row.sum()

    agree(f, 1.0, 0.1, 3.0)


def test_what_lies_on_the_stack_while_a_loop_runs() -> None:
    def grow(x: Any) -> Any:
        while x.sum() < 30:
            x = x * 1.1
        return x

    def f(x: Any) -> Any:
        total = x * 0
        while total.sum() < 200:
            x = x + 0.1
            total = (x * 2) * grow(x) + total
        return (total, grow(x * 0.1))[0]

    agree(f, 1.0, 0.1, 3.0)


def test_a_decision_with_something_on_the_stack() -> None:
    def f(x: Any) -> Any:
        def check(double: Any, small: bool) -> bool:
            seen[0] = double
            return small

        seen = [x]
        while check(x * 2, bool(x.sum() < 100)):
            x = x * 1.1
        return x, seen[0]

    agree(f, 1.0, 0.1, 3.0)


def test_turns_that_differentiate(skipped: list[int]) -> None:
    def slope(x: Any) -> Any:
        return wg.func.grad(lambda u: (u**4).sum() + (u * u).sum())(x)

    def f(x: Any) -> Any:
        while (x * x).sum() > 1e-3:
            x = x - 0.01 * slope(x).clamp(-3, 3)
        return x

    assert traces(agree(f, 1.0, 0.3, 2.0)) == [1]
    assert len(skipped) == 1 and skipped[0] > 1000


def history_of_inputs(x: Any, t: Any, v: Any) -> Any:
    return (x * x).sum() * 3 if t < 50 else v


def history_that_saves_the_turn(x: Any, t: Any, v: Any) -> Any:
    return (x * t).sum()


def history_that_saves_a_number(x: Any, t: Any, v: Any) -> Any:
    return (x * float(t)).sum()


def history_that_saves_written_memory(x: Any, t: Any, v: Any) -> Any:
    return (x * t.new_ones(2).add_(t)).sum()


def history_of_two_forms(x: Any, t: Any, v: Any) -> Any:
    return (x * x).sum() if (t * 10).floor() % 3 == 0 else (x * 5).sum()


def history_that_grows(x: Any, t: Any, v: Any) -> Any:
    return v * 1.01


@pytest.mark.parametrize(
    ("turn", "skips"),
    [
        (history_of_inputs, True),
        (history_that_saves_the_turn, False),
        (history_that_saves_a_number, False),
        (history_that_saves_written_memory, False),
        (history_of_two_forms, True),
        (history_that_grows, False),
    ],
)
def test_turns_are_left_out_where_histories_save_nothing_of_them(
    turn: Callable[..., Any], skips: bool, skipped: list[int]
) -> None:
    def last(x: Any) -> Any:
        t, v = wg.tensor(1.0, dtype=wg.float64), x.sum()
        while t < 100:
            t = t * 1.07
            v = turn(x, t, v)
        return v

    agree(wg.func.grad(last), 1.0, 0.3, 2.0)
    assert bool(skipped) == skips


def test_a_pass_goes_no_further_back_than_the_call() -> None:
    def f(x: Any) -> Any:
        for _ in range(3):
            y = (x * x).sum()
            (g,) = wg.autograd.grad(y, x)
            x = x - 0.1 * g
        z = (x * kept).sum()
        (g,) = wg.autograd.grad(z, x if len(found) < 1 else leaf)
        return g

    found: list[int] = []
    leaf = wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)
    kept = leaf * 3
    made = compiled(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for more in ((), (1,)):
            found += more
            x = wg.tensor([1.0, 0.5], dtype=wg.float64, requires_grad=True)
            with wg.enable_grad():
                kept = leaf * 3
                expected = f(x)
                kept = leaf * 3
                assert made(x).tolist() == expected.tolist()
    assert any("goes on to what was recorded before" in str(one.message) for one in caught)


def test_arguments_are_left_alone(skipped: list[int]) -> None:
    def f(x: Any) -> Any:
        best = x
        while best.sum() < 1000:
            best = best * 1.01 if best[0] < 500 else x * 700
        return best

    x = wg.tensor([1.0, 0.5], dtype=wg.float64)
    made = compiled(f)
    assert made(x).tolist() == f(x).tolist()
    assert x.tolist() == [1.0, 0.5]
    assert skipped


def test_writes_to_arguments_are_made_in_every_turn() -> None:
    def f(x: Any) -> Any:
        while x.sum() < 1000:
            x.mul_(1.01)
        return x * 1

    made = compiled(f)
    for value in (1.0, 2.0, 900.0):
        mine, yours = (wg.tensor([value], dtype=wg.float64) for _ in range(2))
        assert f(mine).tolist() == made(yours).tolist()
        assert mine.tolist() == yours.tolist()


def test_random_numbers_are_drawn_in_every_turn() -> None:
    def f(x: Any) -> Any:
        while x.sum() < 100:
            x = x + wg.rand(2)
        return x

    made = compiled(f)
    for value in (1.0, 50.0, 3.0):
        x = wg.tensor([value, 0.0])
        wg.manual_seed(3)
        expected = f(x).tolist(), wg.rand(2).tolist()
        wg.manual_seed(3)
        assert (made(x).tolist(), wg.rand(2).tolist()) == expected


def test_errors_come_from_the_turn_that_raises() -> None:
    def f(x: Any) -> Any:
        n = wg.tensor([6, 4])
        while x.sum() < 1000:
            n = n - 1
            x = x * 1.1 + (n // (n[0] * n[0])).sum()
        return x

    x = wg.tensor([1.0, 2.0])
    for call in (f, compiled(f)):
        with pytest.raises(RuntimeError, match=r"[zZ]ero"):
            call(x)


def test_loops_with_a_history_are_differentiated() -> None:
    def f(x: Any) -> Any:
        while x.sum() < 100:
            x = x * 1.1 + 0.01
        return x

    assert traces(agree(f, 1.0, 0.1, 30.0, grad=True)) == [1]


def test_a_graph_that_a_later_trace_does_not_fit() -> None:
    def f(x: Any) -> Any:
        y = x
        while y.sum() < 20:
            y = y * 1.5
        if y[0] > 25:
            # states are not known below a transform that records
            y = wg.func.grad(lambda u: (u * u).sum() if u.sum() > 0 else u.sum())(y)
        return y

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agree(f, 1.0, 100.0, 3.0, 2.0, 60.0)


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_blocks_that_differ_in_numbers_share_their_code(backend: str) -> None:
    if backend == "llvm":
        pytest.importorskip("llvmlite")

    def f(x: Any) -> Any:
        for n in range(40):
            x = x * 1.01 + 0.1 * n
            if x.sum() > 5e3:
                return x / (n + 1)
        return x * 2

    made = wg.compile(f, backend=backend, options=STRICT)
    for kind in (wg.float64, wg.float32):
        for value in (1.0, 1.0, 4800.0, 4950.0, 1.0):
            x = wg.tensor([value, 0.5], dtype=kind)
            assert np.allclose(
                made(x).numpy(), f(x).numpy(), rtol=1e-12 if kind is wg.float64 else 1e-5
            )
    blocks = [block for _, entry in made.entries for block in entry.tree.blocks()]
    assert len(blocks) > 80
    assert len({id(block.executable) for block in blocks}) < 14


def test_signs_of_zeros_tell_blocks_apart() -> None:
    def f(x: Any) -> Any:
        found = []
        for zero in (0.0, -0.0, 0, 1.0):
            if x.sum() > 0:
                x = x * zero
                found.append(1 / x)
                x = x + 1
        return found

    with np.errstate(all="ignore"):
        agree(f, 1.0, 1.0)


def offsets_of(function: Callable[..., Any]) -> list[bool]:
    """What is said of the stack at each call of `note` that `function` makes."""
    found: list[bool] = []

    def note(*_: Any) -> int:
        frame = sys._getframe(1)
        found.append(not hidden_on(frame))
        return 1

    function(note)
    return found


def test_what_is_known_of_the_stack() -> None:
    def plain(note: Any) -> None:
        note()
        value = note(1, 2)
        print_ = [value]
        while note() and print_:
            print_.pop()
        if note() and not note(note(3)):
            return

    def computed(note: Any) -> None:
        _ = [note.__class__, note()]
        _ = (note.__class__ is None) + note()
        for _ in range(2):
            note()

    def loaded(note: Any) -> None:
        int(note())
        max(1, note())
        np.abs(note())

    assert all(offsets_of(plain)[:-2])
    assert not any(offsets_of(computed))
    assert all(offsets_of(loaded))


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from codes(part)


@pytest.mark.parametrize("module", [contextlib, enum, asyncio.queues])
def test_the_stack_is_known_in_whole_modules(module: Any) -> None:
    text = inspect.getsource(module)
    for code in codes(compile(text, module.__file__, "exec")):
        known = Flow(code).before
        assert known
        assert max(map(len, known.values())) <= code.co_stacksize


def test_a_number_in_the_place_of_an_input_is_another_kind_of_block():
    def early(a):
        for n in range(4):
            if a.abs().sum() > 6 + n:
                return a - n
            a = a * 2
        return a

    def f(x):
        early(wg.ones_like(x))
        return x

    for shape in ((), (2,)):
        run = wg.compile(f, backend="numpy", options={"measure": False})
        for _ in range(3):
            x = wg.rand(shape)
            assert run(x) is x
        assert run.reason is None


def test_a_loop_whose_decisions_never_come_in_one_state_twice_runs_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def f(x: Any, n: int) -> Any:
        turns = 0
        for i in range(n):
            x = x * 0.9 if x.sum() > i else x + 0.01
            turns += 1
        return x, turns

    monkeypatch.setattr(state, "MOST_STATES", 30)
    for n, ends in ((20, False), (60, True)):
        compiled = wg.compile(f, options={"quiet": True})
        for _ in range(2):
            found, turns = compiled(wg.ones(3) * 100, n)
            assert turns == n
            assert found.tolist() == f(wg.ones(3) * 100, n)[0].tolist()
        assert ("too many states" in str(compiled.reason)) == ends


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_tests_joined_by_and_are_two_decisions(backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")

    def joined(x, y):
        while x < 9 and not (y > 0).any():
            x = x + 1.1
        return x

    def chained(x, y):
        while y.min() < x < 9:
            x = x + 1.1
        return x

    def either(x, y):
        while (y > 0).all() or x < 9:
            x = x + 1.1
            y = y - x
        return x + y

    for function in (joined, chained, either):
        f = wg.compile(function, backend=backend)
        for start in (1.0, 3.0, 8.5, 10.0):
            x, y = wg.tensor(start), wg.tensor([-1.0, -2.0])
            assert wg.equal(f(x, y), function(x, y))
            assert wg.equal(f(x, y + 3), function(x, y + 3))


def by_kind(x: Any, y: Any) -> Any:
    return y * (2 if type(y.grad_fn).__name__.startswith("Add") else 3)


def by_edge(x: Any, y: Any) -> Any:
    return y * (2 if "Add" in wg.autograd.graph.get_gradient_edge(y).node.name() else 3)


def by_depth(x: Any, y: Any) -> Any:
    node, depth = y.grad_fn, 0
    while node.next_functions:
        node, depth = node.next_functions[0][0], depth + 1
    return y * depth


@pytest.mark.parametrize("looks", [by_kind, by_edge, by_depth])
def test_what_a_function_sees_of_the_history_of_a_loop_is_not_fixed(
    looks: Callable[..., Any],
) -> None:
    def seen(x: Any) -> Any:
        y = x * 1
        while y.sum() < 100:
            y = y * 1.05 + 0.01 * y.sin()
        return looks(x, y)

    made = compiled(seen)
    for value in (1.0, 100.0, 0.1, 3.0, 200.0, 1.0):
        x = wg.tensor([value, 0.5 * value], dtype=wg.float64, requires_grad=True)
        np.testing.assert_allclose(made(x).detach(), seen(x).detach(), rtol=1e-12)
    assert made.reason is None
