"""Test that compiled functions see every change to the objects that they reach."""

from __future__ import annotations

import decimal
import functools
import types
import warnings
from typing import Any

import numpy as np
import pytest
from kinds import BACK, CALL, KINDS, LOCAL, LOOP, PLACES, World

import wengert as wg
from wengert.compiler.objects import walker as objects


def told(world: World, backend: str | None) -> list[Any]:
    """What a function gives, with changes between some of the calls."""
    decimal.setcontext(decimal.Context(prec=5))
    used: Any = world.function
    if backend is not None:
        used = wg.compile(used, backend=backend, options={"measure": False})
    found: list[Any] = []
    for call in range(6):
        # where there is a loop, what is traced first takes few turns
        given = 2.0 if call in (2, 3) else (15.0 if call < 2 else 9.0)
        try:
            made = used(wg.tensor([1.0, given], dtype=wg.float64))
            found.append(made.tolist())
        except Exception as error:
            found.append(repr(error))
        if call % 3 and not world.resets:
            world.step()
    return found


def compare(name: str, place: str, backend: str, body: str = CALL) -> None:
    expected = told(World(place, name, body), None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = told(World(place, name, body), backend)
    assert found == expected
    assert len(set(map(str, expected))) > 1, "nothing changes"


STATEFUL = [name for name, kind in KINDS.items() if kind.step and name != "array operand"]
NUMPY = [(place, "numpy") for place in PLACES]
LLVM = [("globally", "llvm"), ("attribute", "llvm")]


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("place", "backend"), NUMPY + LLVM)
@pytest.mark.parametrize("name", KINDS)
def test_what_changes_between_calls_is_seen(name: str, place: str, backend: str) -> None:
    compare(name, place, backend)


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("place", "backend"), NUMPY[:3] + LLVM)
@pytest.mark.parametrize("name", STATEFUL)
def test_what_changes_in_a_loop_is_seen(name: str, place: str, backend: str) -> None:
    compare(name, place, backend, LOOP)


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("place", "backend"), NUMPY[:3] + LLVM)
@pytest.mark.parametrize("name", STATEFUL)
def test_what_is_as_before_after_a_loop_is_seen(name: str, place: str, backend: str) -> None:
    compare(name, place, backend, BACK)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("name", STATEFUL)
def test_what_a_call_makes_and_changes_is_seen(name: str, backend: str) -> None:
    compare(name, "globally", backend, LOCAL)


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("limit", [None, 4])
@pytest.mark.parametrize("held", ["array", "tensor", "list"])
def test_what_a_cache_hands_out_may_be_written_to(
    held: str, limit: int | None, backend: str
) -> None:
    @functools.lru_cache(limit)
    def table(size: int) -> Any:
        if held == "list":
            return [float(i) for i in range(size)]
        return np.arange(float(size)) if held == "array" else wg.arange(float(size))

    def function(x: wg.Tensor) -> wg.Tensor:
        made = table(3)
        return x * (made if held == "tensor" else wg.tensor(made)) + x

    table(2)
    compiled = wg.compile(function, backend=backend, options={"measure": False})
    x = wg.ones(3)
    for _ in range(3):
        assert compiled(x).tolist() == [1.0, 2.0, 3.0]
    assert compiled.entries
    table(3)[0] = 7.0
    for _ in range(2):
        assert compiled(x).tolist() == [8.0, 2.0, 3.0]


def test_all_attributes_that_objects_may_have_are_seen() -> None:
    free = {kind for kind in objects._READERS if kind.__dictoffset__}
    seen = {types.FunctionType, types.ModuleType, type, functools.partial}
    assert free == (free & objects._ATTRIBUTES.keys()) | seen


def test_an_attribute_of_a_function_of_numpy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(np.add, "__dict__"):
        pytest.skip("functions of this NumPy have no attributes")
    monkeypatch.setattr(np.add, "scale", 2.0, raising=False)
    compiled = wg.compile(lambda x: x * np.add.scale, options={"measure": False})
    with pytest.warns(UserWarning, match="a function of NumPy has an attribute scale"):
        assert compiled(wg.ones(1)).item() == 2.0
    monkeypatch.setattr(np.add, "scale", 3.0)
    assert compiled(wg.ones(1)).item() == 3.0


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_what_a_cache_has_answered_is_not_compared_with_what_it_came_from(backend: str) -> None:
    numbers = np.arange(100_000.0)

    @functools.cache
    def table(size: int) -> wg.Tensor:
        return wg.tensor(numbers[:size])

    table(3)
    compiled = wg.compile(lambda x: x * table(3), backend=backend, fullgraph=True)
    numbers[1] = 5.0
    for _ in range(3):
        assert compiled(wg.ones(3)).tolist() == [0.0, 1.0, 2.0]
    table.cache_clear()
    assert compiled(wg.ones(3)).tolist() == [0.0, 5.0, 2.0]


@pytest.mark.parametrize("ask", ["table.__wrapped__(0)", "getattr(table, name)(0)"])
def test_what_is_behind_a_cache_is_seen_where_code_asks_for_it(ask: str) -> None:
    held = [1.0]
    table = functools.cache(lambda place: held[place])
    space: dict[str, Any] = {"table": table, "name": "__wrapped__"}
    exec(f"def function(x):\n    return x * {ask}", space)
    compiled = wg.compile(space["function"], options={"measure": False}, fullgraph=True)
    for value in (1.0, 1.0, 2.0, 3.0):
        held[0] = value
        assert compiled(wg.ones(1)).tolist() == [value]


def test_a_cache_that_was_emptied_answers_other_questions() -> None:
    held = [1]
    table = functools.cache(lambda place: held[0] if place == 3 else 1)
    assert table(3) == 1
    compiled = wg.compile(lambda x: x * table(3), options={"measure": False}, fullgraph=True)
    for _ in range(2):
        assert compiled(wg.ones(1)).tolist() == [1.0]
    held[0] = 7
    table.cache_clear()
    assert table(4) == 1
    assert compiled(wg.ones(1)).tolist() == [7.0]
