"""Test native loops with branches, whose blocks run in order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("llvmlite")

from wengert.compiler.backends import control_flow

STRICT = {"measure": False}


class Ends(list[int]):
    """The numbers of the blocks at which native runs have ended, and how often they were called."""

    calls = 0


@pytest.fixture
def driven(monkeypatch: pytest.MonkeyPatch) -> Ends:
    """What native runs came to: -1 stands for an error, -2 for an outcome that was not known."""
    ends = Ends()
    run = control_flow.NativeGraph.run

    def noted(self: Any, arrays: Any) -> Any:
        call = self._call

        def counted(*given: Any) -> Any:
            ends.calls += 1
            return call(*given)

        monkeypatch.setattr(self, "_call", counted)
        ended = run(self, arrays)
        monkeypatch.setattr(self, "_call", call)
        ends.append(-1 if ended is None else -2 if ended[1] is None else ended[0])
        return ended

    monkeypatch.setattr(control_flow.NativeGraph, "run", noted)
    return ends


def compiled(function: Callable[..., Any]) -> Any:
    return wg.compile(function, backend="llvm", options=STRICT)


def exchange(a: Any, b: Any) -> Any:
    """What one round finds, the next one finds in another place."""
    while a.sum() < 100:
        a, b = b, a + b
    return a, b


def three_in_turn(a: Any, b: Any) -> Any:
    c = a * b
    while a.abs().max() < 50:
        a, b, c = b, c, a + 1
    return a - b + c


def swapped(a: Any, b: Any) -> Any:
    a, b, rounds = a + 1, b - 1, wg.zeros(())
    while rounds < 5:
        a, b, rounds = b, a, rounds + 1
    return a, b


def nested(a: Any, b: Any) -> Any:
    while a.sum() < 100:
        inner = b
        while inner.sum() < 10:
            inner = inner * 2 + 1
        a = a + inner
    return a


def two_ways(a: Any, b: Any) -> Any:
    """Collatz's rule, on whole numbers."""
    n = (a.sum().abs() + 6).long()
    steps = wg.zeros((), dtype=wg.int64)
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps = steps + 1
    return steps, n


def on_numbers(a: Any, b: Any) -> Any:
    """Decisions on floats and integers themselves."""
    left = wg.tensor(5)
    while left:
        left = left - 1
        b = b / 2
    rest = b.abs().floor().sum()
    while rest:
        rest = (rest - 1).clamp(min=0)
    return b, left, rest


def leaves_early(a: Any, b: Any) -> Any:
    while a.sum() < 1000:
        a = a * 2
        if a.max() > 30:
            break
    else:
        return a - 1
    return a + b


def keeps_inputs(a: Any, b: Any) -> Any:
    first, x = a, a * 1
    while x.sum() < 20:
        x = x + 1
    return first, x, b * 0 + 1


def over_range(a: Any, b: Any) -> Any:
    for direction in [wg.ones(3, dtype=a.dtype), -wg.ones(3, dtype=a.dtype)]:
        a = a + direction
        while a.sum() < 3:
            a = a + b * b + 1
    return a


FUNCTIONS = [
    *(exchange, three_in_turn, swapped, nested, two_ways, on_numbers, leaves_early, keeps_inputs),
    over_range,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_values_are_those_of_python(function: Callable[..., Any], driven: Ends) -> None:
    call = compiled(function)
    rng = np.random.default_rng(5)
    for _ in range(9):
        arrays = 1 + rng.random((2, 3)) * 6
        given = [wg.tensor(array) for array in arrays]
        for ours, theirs in zip(_flat(call(*given)), _flat(function(*given)), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-12)
        for tensor, array in zip(given, arrays, strict=True):
            np.testing.assert_array_equal(tensor.numpy(), array)
    if function is not over_range:
        assert len(driven) > 4


def _flat(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def test_a_run_goes_on_after_python_has_looked_for_signals(
    driven: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_flow, "_BACK_EDGES", 3)
    call = compiled(nested)
    given = wg.tensor([0.5, 0.25]), wg.tensor([0.5, 0.5])
    for _ in range(4):
        np.testing.assert_array_equal(call(*given).numpy(), nested(*given).numpy())
    assert len(driven) == 3 and min(driven) >= 0
    assert driven.calls > 3


def test_results_have_memory_of_their_own(driven: Ends) -> None:
    call = compiled(exchange)
    given = wg.tensor([1.0]), wg.tensor([2.0])
    first, second, third = ([part.numpy() for part in call(*given)] for _ in range(3))
    assert first == second == third
    for part in third:
        part += 1
    assert first == second == [part.numpy() for part in call(*given)]
    assert len(driven) == 3


def test_threads_run_at_the_same_time(driven: Ends) -> None:
    call = compiled(two_ways)
    expected = {}
    for k in range(2, 30):
        given = wg.tensor([float(k)]), wg.zeros(1)
        expected[k] = two_ways(*given)[0].item()
        call(*given)
    wrong: list[int] = []

    def work() -> None:
        for k, steps in expected.items():
            if call(wg.tensor([float(k)]), wg.zeros(1))[0].item() != steps:
                wrong.append(k)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(driven) > 8 * len(expected)


def test_what_eager_code_raises_is_raised(driven: Ends) -> None:
    def counted(a: Any, k: Any) -> Any:
        while a.sum() < 10:
            a = a + 1
            k = 12 // (k - 1)
        return a, k

    call = compiled(counted)
    small = wg.tensor([7.0]), wg.tensor(4)
    for _ in range(3):
        assert [part.item() for part in call(*small)] == [part.item() for part in counted(*small)]
    with pytest.raises(RuntimeError) as ours:
        call(wg.tensor([7.0]), wg.tensor(1))
    with pytest.raises(RuntimeError) as theirs:
        counted(wg.tensor([7.0]), wg.tensor(1))
    assert str(ours.value) == str(theirs.value)
    assert driven[-1] == -1


def test_large_values_are_not_copied_from_block_to_block(driven: Ends) -> None:
    call = compiled(exchange)
    given = wg.full((100_000,), 1e-6), wg.full((100_000,), 2e-6)
    for _ in range(3):
        for ours, theirs in zip(call(*given), exchange(*given), strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-5)
    assert not driven


def test_a_history_is_noted_block_by_block(driven: Ends) -> None:
    call = compiled(nested)
    for _ in range(3):
        a = wg.tensor([0.5, 0.25], requires_grad=True)
        b = wg.tensor([0.5, 0.5], requires_grad=True)
        found = wg.autograd.grad(call(a, b).sum(), (a, b))
        for ours, theirs in zip(found, wg.autograd.grad(nested(a, b).sum(), (a, b)), strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-12)
    assert not driven


def newton(t: Any) -> Any:
    """A root, by steps along a slope that is computed each time."""
    x = wg.ones_like(t)
    slope = wg.func.grad(lambda x, t: (x**3 / 3 - t * x).sum())
    while (gap := slope(x, t)).abs() > 1e-9:
        x = x - gap / (2 * x)
    return x


def test_forward_mode_of_a_loop_is_a_loop(driven: Ends) -> None:
    slope = wg.func.jacfwd(newton)
    call = compiled(slope)
    for value in (2.0, 3.0, 50.0, 0.1):
        t = wg.tensor(value, dtype=wg.float64)
        np.testing.assert_allclose(call(t).item(), slope(t).item(), 1e-12)
        # a step less exact than the root
        np.testing.assert_allclose(call(t).item(), 0.5 / value**0.5, 1e-6)
    assert driven


def filtered(x: Any) -> Any:
    """A loop whose blocks read constants and numbers from a table."""
    taps = wg.tensor([[[0.5, 1.0, -0.75]]], dtype=wg.float64)
    while (x * wg.linspace(1.0, 2.0, 9)).square().sum() < 1000:
        x = 2 * x - wg.arange(9.0) if x.sum() > 0 else 3 - x
        x = wg.nn.functional.conv1d(x[None], taps, padding=1)[0]
    return x


def test_blocks_with_constants_read_their_own_numbers(driven: Ends) -> None:
    call = compiled(filtered)
    for seed in range(6):
        x = wg.tensor(np.random.default_rng(seed).normal(size=(1, 9)))
        for _ in range(2):
            np.testing.assert_allclose(call(x).numpy(), filtered(x).numpy(), 1e-10)
    assert driven


def test_explain_and_llvm_show_the_linked_function() -> None:
    call = compiled(nested)
    for _ in range(2):
        call(wg.tensor([0.5, 0.25]), wg.tensor([0.5, 0.5]))
    assert "from block to block by itself" in str(call.explain())
    assert "@graph(" in call.llvm()
