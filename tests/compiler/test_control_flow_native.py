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

    def noted(self: Any, arrays: Any, tape: Any = None) -> Any:
        call = self._call

        def counted(*given: Any) -> Any:
            ends.calls += 1
            return call(*given)

        monkeypatch.setattr(self, "_call", counted)
        ended = run(self, arrays, tape)
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


# -- gradients ------------------------------------------------------------------------------------


def grown(a: Any, b: Any) -> Any:
    """Results of which some do not depend on some arguments."""
    x, y = a.sin(), b * 1
    while x.sum().abs() < 50:
        y = y + 1 if x.sum() > 10 else y * a.cos()
        x = x * 1.25 + a
    return x, y, b.exp()


def forgets(a: Any, b: Any) -> Any:
    """The cotangents end in the middle of a run."""
    while a.sum() < 100:
        a = a.detach() * 2 + b if a.sum() > 20 else a * b + 1
    return a


DIFFERENTIABLE = [exchange, three_in_turn, swapped, nested, leaves_early, keeps_inputs]
DIFFERENTIABLE += [over_range, grown, forgets]


def gradients(function: Callable[..., Any], arrays: Any, which: Any = None) -> list[Any]:
    """The gradients of the results `which`, by both arguments."""
    given = [wg.tensor(array, requires_grad=True) for array in arrays]
    results = [r for r in _flat(function(*given)) if r.grad_fn is not None]
    if which is not None:
        results = [results[which % len(results)]]
    seeds = [wg.arange(1.0, 1 + r.numel(), dtype=r.dtype).reshape(r.shape) for r in results]
    found = wg.autograd.grad(results, given, seeds, allow_unused=True)
    return [None if g is None else g.numpy() for g in found]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("function", DIFFERENTIABLE, ids=lambda f: f.__name__)
def test_gradients_are_those_of_python(function: Callable[..., Any], driven: Ends) -> None:
    call = compiled(function)
    rng = np.random.default_rng(5)
    for n in range(12):
        arrays = 1 + rng.random((2, 3)) * 6
        which = None if n % 2 else n // 2
        found, expected = (gradients(f, arrays, which) for f in (call, function))
        for ours, theirs in zip(found, expected, strict=True):
            assert (ours is None) == (theirs is None)
            if theirs is not None:
                np.testing.assert_allclose(ours, theirs, 1e-12)
    if function is not over_range:
        # a run and its backward pass
        assert len(driven) > 8


def squared(a: Any, b: Any) -> Any:
    while a.sum() < 100:
        a = a * a + b
    return a


def climbed(a: Any, b: Any) -> Any:
    """A loop whose turns differentiate."""
    slope = wg.func.grad(lambda x: (x**3 * b).sum())
    while a.sum() < 100:
        a = a + 0.1 * slope(a)
    return a * b


def test_loops_whose_turns_differentiate_are_differentiated_natively(driven: Ends) -> None:
    call = compiled(climbed)
    arrays = np.array([[1.0, 2.0], [0.5, 1.0]])
    for scale in (1.0, 1.0, 1.5, 0.7):
        found, expected = (gradients(f, scale * arrays) for f in (call, climbed))
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, 1e-12)
    assert len(driven) >= 4


@pytest.mark.parametrize("function", [squared, climbed], ids=lambda f: f.__name__)
def test_the_compiled_gradient_of_a_loop_is_native(
    function: Callable[..., Any], driven: Ends
) -> None:
    gradient = wg.func.grad(lambda a, b: function(a, b).sum(), argnums=(0, 1))
    call = compiled(gradient)
    for scale in (1.0, 1.0, 1.5, 0.7):
        given = [scale * wg.tensor(x, dtype=wg.float64) for x in ([1.0, 2.0], [0.5, 1.0])]
        for ours, theirs in zip(call(*given), gradient(*given), strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-12)
    # a run and its backward pass, from the third call on
    assert len(driven) >= 4
    call.forget()
    assert call(*given)[0].shape == (2,)


def test_masks_of_a_loop_hide_nan_in_what_it_is_computed_from(driven: Ends) -> None:
    def doubled(y: Any) -> Any:
        while y.sum() < 100:
            y = wg.where(y > 0.5, y * 2, wg.zeros_like(y))
        return y

    call = compiled(doubled)
    for _ in range(3):
        x = wg.tensor([0.0, 4.0], requires_grad=True)
        call(x.sqrt()).sum().backward()
        assert x.grad.tolist() == [0.0, 16.0]
    assert len(driven) >= 4


def test_a_tape_gets_longer_while_a_run_pauses(
    driven: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_flow, "_BACK_EDGES", 7)
    call = compiled(lambda a, b: exchange(a * 1e-20, b * 1e-22))
    arrays = np.ones((2, 3))
    for scale in (1.0, 1e9, 1e-9, 1e15):
        for _ in range(2):
            found, expected = (
                gradients(f, scale * arrays)
                for f in (call, lambda a, b: exchange(a * 1e-20, b * 1e-22))
            )
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(ours, theirs, 1e-12)
    # neither ends within as many back edges
    assert driven.calls > 2 * len(driven) > 6


def test_one_run_has_several_backward_passes(driven: Ends) -> None:
    call = compiled(squared)
    a, b = (wg.tensor([0.5, 0.25], requires_grad=True) for _ in range(2))
    for _ in range(3):
        result = call(a, b)
    expected = [g.numpy() for g in wg.autograd.grad(squared(a, b).sum(), (a, b))]
    for _ in range(3):
        found = wg.autograd.grad(result.sum(), (a, b), retain_graph=True)
        np.testing.assert_allclose([g.numpy() for g in found], expected, 1e-6)
    # the vectors of a batch are pulled back together, not natively
    batched = wg.autograd.grad(
        *(result, (a, b), wg.eye(2)), is_grads_batched=True, retain_graph=True
    )
    np.testing.assert_allclose([g.sum(0).numpy() for g in batched], expected, 1e-6)
    second = wg.autograd.grad(result.sum(), a, create_graph=True)[0]
    np.testing.assert_allclose(second.detach().numpy(), expected[0], 1e-6)
    first = wg.autograd.grad(squared(a, b).sum(), a, create_graph=True)[0]
    found, expected = (wg.autograd.grad(g.sum(), a)[0].numpy() for g in (second, first))
    np.testing.assert_allclose(found, expected, 1e-6)
    assert len(driven) >= 6
    result.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        result.sum().backward()


def test_writes_to_what_a_tape_holds_are_noticed(driven: Ends) -> None:
    def saved(a: Any, b: Any) -> Any:
        early = a.exp()
        while a.sum() < 10:
            a = a * b
        return early, a.exp(), a + 1

    call = compiled(saved)
    for f in (saved, call, call, call):
        for i, what in enumerate(["early", "late", "free", "b"]):
            a, b = (wg.tensor([2.0, 1.5], requires_grad=True) for _ in range(2))
            results = f(a, b)
            with wg.no_grad():
                (*results, b)[i].mul_(2)
            if what == "free":
                sum(r.sum() for r in results).backward()
                continue
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                sum(r.sum() for r in results).backward()
    assert driven


def test_new_blocks_do_not_disturb_the_backward_pass_of_earlier_runs(driven: Ends) -> None:
    call = compiled(two_sided)
    arrays = np.array([[1.0, 2.0], [0.5, 1.0]])
    for _ in range(3):
        gradients(call, arrays)
    a, b = (wg.tensor(array, requires_grad=True) for array in arrays)
    early = call(a, b)
    expected = gradients(two_sided, arrays)
    other = -arrays
    for _ in range(3):
        for ours, theirs in zip(gradients(call, other), gradients(two_sided, other), strict=True):
            np.testing.assert_allclose(ours, theirs, 1e-12)
    seed = wg.arange(1.0, 3.0, dtype=early.dtype)
    for ours, theirs in zip(wg.autograd.grad(early, (a, b), seed), expected, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs, 1e-12)


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_gradients_lead_through_blocks_of_traces_whose_results_have_no_history(
    backend: str,
) -> None:
    def f(x: Any, keeps: Any) -> Any:
        while x.sum() < 100:
            x = x * 2 if x[0] > 3 else x + 1
        return x if keeps > 0 else x.detach() * 1

    call = wg.compile(f, backend=backend, options=STRICT)
    # the first trace doubles and returns no history, the second one adds and returns one
    for start, keeps in (([4.0, 1.0], -1.0), ([1.0, 96.0], 1.0), ([2.5, 5.0], 1.0)):
        for _ in range(2):
            x = wg.tensor(start, requires_grad=True)
            result, expected = (g(x, wg.tensor(keeps)) for g in (call, f))
            assert result.requires_grad == expected.requires_grad
            if keeps > 0:
                ours, theirs = (wg.autograd.grad(y.sum(), x)[0] for y in (result, expected))
                assert ours.tolist() == theirs.tolist()


def two_sided(a: Any, b: Any) -> Any:
    while a.abs().sum() < 100:
        a = a * 2 + b if a.sum() > 0 else a * 3 - b.exp()
    return a


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


def test_blocks_that_share_code_for_several_sizes_are_linked(driven: Ends) -> None:
    def f(a: Any, b: Any) -> Any:
        while a.sum() < 10:
            a = (a * 1.5).exp()
            if b.sum() < 10:
                b = (b * 1.5).exp()
        return a, b

    call = compiled(f)
    for _ in range(3):
        given = [wg.full((n,), 0.1, dtype=wg.float64, requires_grad=True) for n in (3, 5)]
        found, expected = (
            wg.autograd.grad([r.sum() for r in function(*given)], given) for function in (call, f)
        )
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-12)
    assert driven
