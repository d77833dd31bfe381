"""Test that calls with many sizes share native code, and match eager code."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.compiler.ir.programs import Program, Step, Value
from wengert.func import vmap
from wengert.prims import records

QUIET: dict[str, Any] = {"options": {"measure": False, "quiet": True}}
ROWS = np.random.default_rng(0).normal(size=(80, 6))
SIZES = (64, 17, 40, 9, 5, 1)


def perceptron(x: Any, w: Any) -> Any:
    """A step of training, with an update in place."""
    hidden = wg.tanh(x @ w)
    loss = (hidden @ w.T - x).square().mean()
    (g,) = wg.autograd.grad(loss, [w])
    with wg.no_grad():
        w.sub_(0.1 * g)
    return loss


def attention(x: Any, w: Any) -> Any:
    keys = x @ w
    return wg.softmax(keys @ keys.T / x.shape[0], -1) @ x


def differences(x: Any, w: Any) -> Any:
    v = x[:, 0]
    return wg.cat([v[1:] - v[:-1], v.flip(0), wg.zeros(3)]).cumsum(0), (v * v).sum() / v.shape[0]


def reductions(x: Any, w: Any) -> Any:
    scaled = x / (1 + x.abs().amax(0)) - x.mean(1, keepdim=True)
    return scaled.sum(1), scaled.argmax(0), (scaled > 0).sum(), wg.where(x > 0, x, w.sum())


def written(x: Any, w: Any) -> Any:
    """Writes to its argument through views."""
    x[1:].add_(x[:-1].clone())
    x[:, 0].mul_(2)
    return x.sum(0), x.T[2] * 1


def singles(x: Any, w: Any) -> Any:
    y = x.to(wg.float32)
    return (y * y).sum(), y.exp().mean(0), (y.T @ y), y[:, 0] @ y[:, 1]


PROGRAMS = (perceptron, attention, differences, reductions, written, singles)


def compared(f: Any, compiled: Any, n: int) -> None:
    """Call both with equal arguments; results, and what is written to arguments, must agree."""
    found = []
    for function in (f, compiled):
        x = wg.tensor(ROWS[:n].copy())
        w = wg.tensor(ROWS[:6, :6].copy(), requires_grad=f is perceptron)
        made = function(x, w)
        found.append([x, w, *(made if isinstance(made, tuple) else [made])])
    for one, other in zip(*found, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        tolerance = 1e-5 if one.dtype == wg.float32 else 1e-11
        wg.testing.assert_close(other.detach(), one.detach(), rtol=tolerance, atol=tolerance)


def machines(compiled: Any) -> int:
    """How many pieces of native code there are."""
    return len({m for _, entry in compiled.entries for m in entry.tree.machines()})


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_every_size_gives_what_eager_code_gives(f: Any, backend: str) -> None:
    compiled = wg.compile(f, backend=backend, **QUIET)
    for n in [n for size in SIZES for n in (size, size)] + random.Random(0).choices(SIZES, k=6):
        compared(f, compiled, n)
    assert compiled.reason is None


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_two_pieces_of_code_do_for_batches_of_some_size(f: Any) -> None:
    compiled = wg.compile(f, backend="llvm", **QUIET)
    for n in (64, 37, 40, 40, 53, 53, 64, 37):
        compared(f, compiled, n)
    assert len(compiled.entries) == 4
    assert machines(compiled) == 2


def test_loops_that_are_rolled_up_run_as_often_as_each_length_says() -> None:
    def f(x: Any) -> Any:
        y = x[0]
        for row in x[1:]:
            y = wg.tanh(y * 0.5 + row)
        return y

    compiled = wg.compile(f, backend="llvm", **QUIET)
    for n in (70, 60, 50, 50, 65, 65, 70):
        assert np.allclose(compiled(wg.tensor(ROWS[:n])), f(wg.tensor(ROWS[:n])), rtol=1e-12)


def test_a_third_size_is_traced_when_it_comes_again() -> None:
    compiled = wg.compile(lambda x: x * 2, **QUIET)
    for n, entries in ((1, 1), (2, 2), (3, 2), (4, 2), (3, 3), (5, 3), (3, 3), (4, 4)):
        assert compiled(wg.ones(n)).tolist() == [2] * n
        assert len(compiled.entries) == entries


def test_where_a_table_of_sizes_is_full_others_run_as_they_are() -> None:
    compiled = wg.compile(lambda x: x + 1, backend="numpy", **QUIET)
    for n in range(70):
        for _ in range(2):
            assert compiled(wg.zeros(n)).tolist() == [1] * n
    assert len(compiled.entries) == 64
    assert compiled.reason is None


def test_what_differs_in_more_than_sizes_is_limited_as_before() -> None:
    compiled = wg.compile(lambda x, n: x * n, backend="numpy", **QUIET)
    for n in range(9):
        compiled(wg.ones(2), n)
    assert "more than 8 kinds" in str(compiled.reason)


def test_batches_of_transforms_share_code_too() -> None:
    def f(x: Any) -> Any:
        return wg.softmax(wg.sin(x), -1) * x

    compiled = wg.compile(f, backend="llvm", **QUIET)
    for n in (64, 64, 40, 40, 33, 33, 64):
        x = wg.tensor(ROWS[:n])
        assert np.allclose(vmap(compiled)(x), vmap(f)(x), rtol=1e-12)


def test_programs_whose_unused_inputs_differ_are_no_family() -> None:
    def f(x: Any) -> Any:
        y = x - x.mean()
        total = 0.0
        for row in y:
            # what one branch computes is an input of a program that only returns it
            total = total + row.sum() if row.sum() > 0 else total - 1
        return y

    compiled = wg.compile(f, **QUIET)
    for seed in (0, 1, 2, 0, 1, 3):
        x = wg.tensor(np.random.default_rng(seed).standard_normal((3, 1)))
        np.testing.assert_allclose(compiled(x), f(x))


def test_an_input_that_no_step_reads_may_have_other_dimensions():
    sizes = pytest.importorskip("wengert.compiler.backends.sizes")
    families, kind = sizes.Families(), np.dtype(float)

    def program(*shape):
        unread, x, out = Value(kind, shape), Value(kind, (3,)), Value(kind, (3,))
        return Program((unread, x), [Step(records.exp, (x,), {}, (out,))], [out])

    assert not families.mark(program(2))
    assert not families.mark(program(2, 2))
    assert families.mark(program(4))


def test_a_trace_agrees_with_blocks_that_native_code_has_marked():
    def f(x, y):
        part = x[:2] if y.sum() > 0 else x[1:]
        return part * (1.0 if (part * 2).sum() > 0 else 2.0), part.unflatten(0, (1, 2)) * 0.5

    compiled, x = wg.compile(f, **QUIET), wg.tensor([1.0, 2.0, 0.1])
    for mine, yours in ((1, 1), (1, -1), (-1, -1), (-1, 1), (1, 1)):
        assert str(compiled(x * mine, x * yours)) == str(f(x * mine, x * yours))
    assert compiled.reason is None
