"""Whatever a function reaches, and however that changes, compiled it gives what it gives eagerly."""

from __future__ import annotations

import decimal
import warnings
from typing import Any

import pytest
from kinds import BACK, KINDS, LOOP, PLACES, World

import wengert as wg

BACKENDS = ["numpy", "llvm"]


def told(world: World, backend: str | None, calls: int = 6) -> list[Any]:
    """What a function gives, with changes between some of the calls."""
    decimal.setcontext(decimal.Context(prec=5))
    used: Any = world.function
    if backend is not None:
        used = wg.compile(used, backend=backend, options={"measure": False, "forgiving": False})
    found: list[Any] = []
    for call in range(calls):
        try:
            made = used(wg.tensor([1.0, 2.0], dtype=wg.float64))
            found.append(made.tolist())
        except Exception as error:
            found.append(repr(error))
        if call % 3:
            world.step()
    if world.place == "default":
        world.function.__defaults__ = None
    return found


def compare(name: str, place: str, backend: str, **options: Any) -> None:
    expected = told(World(place, name, **options), None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = told(World(place, name, **options), backend)
    assert found == expected
    assert len(set(map(str, expected))) > 1, "nothing changes"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", KINDS)
def test_what_changes_between_calls_is_seen(name: str, place: str, backend: str) -> None:
    compare(name, place, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.step])
def test_what_changes_in_a_call_is_seen(name: str, place: str, backend: str) -> None:
    compare(name, place, backend, body=LOOP)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("place", ["globally", "enclosed"])
@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.step])
def test_what_a_call_makes_and_changes_is_seen(name: str, place: str, backend: str) -> None:
    compare(name, place, backend, body=BACK)
