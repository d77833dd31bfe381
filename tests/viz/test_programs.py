"""Test pictures of compiled programs."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as wg
from wengert.viz import draw_program


def test_steps_decisions_and_results_have_boxes() -> None:
    def f(x: Any) -> Any:
        y = x.sin()
        return y * 2 if y.sum() > 0 else y

    compiled = wg.compile(f, backend="numpy", options={"measure": False})
    compiled(wg.ones(3))
    compiled(-wg.ones(3))
    picture = draw_program(compiled).picture
    titles = [box.title for box in picture.boxes]
    assert titles.count("decide") == 1
    assert titles.count("result") == 2
    assert {"sin", "sum_dim", "mul_scalar"} <= set(titles)
    (decision,) = [box for box in picture.boxes if box.title == "decide"]
    assert decision.lines == ["met: True, False"]
    assert "<svg" in draw_program(compiled).svg()


def test_long_repetition_is_one_box() -> None:
    def f(x: Any, w: Any) -> Any:
        for _ in range(200):
            x = wg.tanh(w @ x)
        return x

    compiled = wg.compile(f, backend="numpy", options={"measure": False})
    compiled(wg.ones(3), wg.eye(3))
    loops = [b for b in draw_program(compiled).picture.boxes if b.title == "loop"]
    assert loops
    assert loops[0].count > 100


def test_functions_that_are_not_compiled_are_refused() -> None:
    with pytest.raises(TypeError, match=r"must be what wengert\.compile returned, not function"):
        draw_program(lambda x: x)


def test_before_the_first_call_the_picture_says_so() -> None:
    def f(x: Any) -> Any:
        return x + 1

    picture = draw_program(wg.compile(f, backend="numpy")).picture
    assert picture.boxes == [] and "call f() once" in picture.notes[0]
