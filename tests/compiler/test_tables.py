"""Test loops that were traced branch by branch, and their backward passes."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.compiler.tracing import tables

STRICT = {"measure": False}
BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]


@pytest.fixture
def widths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many arrays programs took that got more from those that ran them."""
    taken: list[int] = []
    make = tables.Tabled.__init__

    def noted(self: Any, executable: Any, single: Any, rows: Any) -> None:
        taken.append(len(single) + len(rows))
        make(self, executable, single, rows)

    monkeypatch.setattr(tables, "_MANY", 64)
    monkeypatch.setattr(tables.Tabled, "__init__", noted)
    return taken


def falling(w: Any) -> Any:
    """Some hundred steps, each with a decision."""
    x, v = wg.tensor([0.0, 1.5], dtype=w.dtype), wg.stack((w, w * 0))
    while x[1] > 0:
        x = x + 0.03 * v
        v = v - 0.03 * wg.stack((x[0].sin(), 1 + x.norm() / 10))
    return (x * x).sum()


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_within_go_back_through_tables(backend: str, widths: list[int]) -> None:
    slope = wg.func.grad(falling)
    call = wg.compile(slope, backend=backend, options=STRICT)
    w = wg.tensor(0.7, dtype=wg.float64)
    for _ in range(3):
        np.testing.assert_allclose(call(w).item(), slope(w).item(), 1e-10)
    assert len(widths) == 1
    assert widths[0] < 40


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_from_outside_go_back_through_tables(backend: str, widths: list[int]) -> None:
    @wg.compile(backend=backend, options=STRICT)
    def call(w: Any) -> Any:
        # a list that grows is a state of its own each time, so that this is no loop to compile
        places = []
        x, v = wg.tensor([0.0, 1.5], dtype=w.dtype), wg.stack((w, w * 0))
        while x[1] > 0:
            x = x + 0.03 * v
            v = v - 0.03 * wg.stack((x[0].sin(), 1 + x.norm() / 10))
            places.append(x)
        return (places[-1] * places[-1]).sum()

    w = wg.tensor(0.7, dtype=wg.float64, requires_grad=True)
    expected = wg.autograd.grad(falling(w), w)[0]
    for _ in range(3):
        np.testing.assert_allclose(wg.autograd.grad(call(w), w)[0].item(), expected.item(), 1e-10)
    assert len(widths) == 1
    assert widths[0] < 40


def recurrent(rows: Any, w: Any) -> Any:
    """A loop without decisions, whose backward pass reads values of every iteration."""
    h, states = rows[0] * 0, []
    for row in rows:
        h = (row @ w + h).tanh()
        states.append(h)
    return (h * h).sum(), states[100], states[150]


@pytest.mark.parametrize("backend", BACKENDS)
def test_values_that_are_saved_by_every_iteration_are_rows_of_stacks(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    make = tables.Stacked.__init__

    def noted(self: Any, executable: Any, values: Any, rows: Any) -> None:
        made.append({place for place, _ in rows})
        make(self, executable, values, rows)

    monkeypatch.setattr(tables.Stacked, "__init__", noted)
    call = wg.compile(recurrent, backend=backend, options=STRICT)
    rows, w = wg.randn(400, 3, dtype=wg.float64), wg.randn(3, 3, dtype=wg.float64)
    w.requires_grad_()
    expected = wg.autograd.grad(recurrent(rows, w)[0], w)[0]
    for _ in range(3):
        total, one, other = call(rows, w)
        np.testing.assert_allclose(wg.autograd.grad(total, w, retain_graph=True)[0], expected)
        # what is returned has memory of its own
        assert one.untyped_storage().nbytes() == other.untyped_storage().nbytes() == 24
        before = other.tolist()
        one.detach().mul_(2)
        assert other.tolist() == before
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            total.backward()
    # the rows that are returned are no rows of the stacks that are saved
    assert len(made) == 2
    assert len(made[0]) < 12
    total = call(rows, w)[0]
    assert len(total.grad_fn.saved) < 12
    (slope,) = wg.autograd.grad(total, w, create_graph=True)
    (once,) = wg.autograd.grad(recurrent(rows, w)[0], w, create_graph=True)
    found, known = (wg.autograd.grad((g * g).sum(), w)[0] for g in (slope, once))
    np.testing.assert_allclose(found, known, rtol=1e-9)
