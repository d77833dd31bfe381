"""Test that traces never bake in values that NumPy reads or writes."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import wengert as wg

pytestmark = pytest.mark.filterwarnings("ignore:.*is not compiled")
BACKENDS = ["numpy", "llvm"]
STRICT = {"measure": False}
World = tuple[Callable[..., Any], Iterable[tuple[Any, ...]], Any]
WORLDS: dict[str, tuple[Callable[[], World], str | None]] = {}


def world(reason: str | None) -> Callable[[Callable[[], World]], Callable[[], World]]:
    """Note a world, with a part of why it is not compiled."""

    def note(make: Callable[[], World]) -> Callable[[], World]:
        WORLDS[make.__name__] = make, reason
        return make

    return note


def x(*values: float) -> Any:
    return wg.tensor(values or (1.0, 2.0), dtype=wg.float64)


def arrays(count: int = 5) -> list[tuple[Any, ...]]:
    return [(x(), np.arange(2.0) + k) for k in range(count)]


def simple(name: str, function: Callable[..., Any], reason: str | None = None) -> None:
    WORLDS[name] = (lambda: (function, arrays(), [])), reason


def add_one(x: Any, A: Any) -> Any:
    A[0] += 1
    return x * 1


def add_into(x: Any, A: Any) -> Any:
    np.add(A, 1, out=A)
    return x * 1


def add_in_tensor(x: Any, A: Any) -> Any:
    wg.from_numpy(A).add_(1)
    return x * 1


def decide(x: Any, A: Any) -> Any:
    return x * 2 if A[0] > 2 else x


def repeat(x: Any, A: Any) -> Any:
    for _ in range(int(A[0])):
        x = x + 1
    return x


simple("element", lambda x, A: x * A[0])
simple("sum", lambda x, A: x * A.sum())
simple("item", lambda x, A: x * A.item(0))
simple("product", lambda x, A: x * (A @ A))
simple("maximum", lambda x, A: x * int(A.max()))
simple("range", repeat)
simple("decision", decide)
simple("operand", lambda x, A: x * A)
simple("operand on the left", lambda x, A: A * x)
simple("matrix product", lambda x, A: x @ A)
simple("from_numpy", lambda x, A: wg.from_numpy(A) * x)
simple("as_tensor", lambda x, A: wg.as_tensor(A).sum() * x)
simple("tensor", lambda x, A: wg.tensor(A) * x)
simple("its shape", lambda x, A: (x * A).sum() * A.shape[0])
simple("cast", lambda x, A: x * A.astype(np.float32))
simple("write", add_one, "changes objects other than tensors")
simple("write of a function", add_into, "changes objects other than tensors")
simple("write of a tensor", add_in_tensor, "writes to an array of NumPy")


@world("shares its memory")
def a_tensor_that_NumPy_writes_to() -> World:
    A = np.arange(2.0)

    def f(x: Any) -> Any:
        t = wg.from_numpy(A)
        before = t * 2
        A[0] += 5
        after = t * x
        A[0] -= 5
        return before + after

    return f, [(x(),)] * 4, A


@world("shares its memory")
def an_outer_tensor_that_NumPy_writes_to() -> World:
    A = np.arange(2.0)
    t = wg.from_numpy(A)

    def f(x: Any) -> Any:
        before = t * 2
        A[0] += 5
        after = t * x
        A[0] -= 5
        return before + after

    return f, [(x(),)] * 4, A


@world("writes to an array")
def a_view_that_NumPy_writes_to() -> World:
    A = np.arange(2.0)
    B = A[:]

    def f(x: Any) -> Any:
        B[0] += 5
        y = x * A
        B[0] -= 5
        return y

    return f, [(x(),)] * 4, A


@world("writes to an array of NumPy")
def a_tensor_writes_to_what_NumPy_reads() -> World:
    A = np.arange(2.0)
    t = wg.from_numpy(A)

    def f(x: Any) -> Any:
        t.mul_(x)
        return x * A[1]

    return f, [(x(k, k),) for k in range(1, 5)], A


@world(None)
def an_element_that_is_as_before() -> World:
    A = np.arange(2.0)

    def f(x: Any) -> Any:
        A[0] += 1
        y = x * A[0]
        A[0] -= 1
        return y

    return f, [(x(),)] * 4, A


@world("arrays come from outside")
def two_branches_of_which_one_is_NumPy_s() -> World:
    def f(x: Any, A: Any) -> Any:
        y = x if x.sum() > 2 else 2.0
        return x + y * A

    given = [(x(), 0), (x(), 1), (x(0, 0), 1), (x(0, 0), 2), (x(), 2), (x(0, 0), 3)]
    return f, [(t, np.arange(2.0) + k) for t, k in given], []


@world("it changes objects other than tensors")
def an_array_in_an_array() -> World:
    A = np.array([np.arange(2.0), None], object)

    def f(x: Any) -> Any:
        A[0][1] += 1
        return x * A[0][1]

    return f, [(x(),)] * 4, A


@world(None)
def arrays_that_are_one() -> World:
    one, other = np.arange(2.0), np.arange(2.0)

    def f(x: Any, A: Any, B: Any) -> Any:
        return x * A if A is B else x + A

    return f, [(x(), one, other), (x(), one, one), (x(), other, one), (x(), other, other)], []


@world(None)
def scalars_of_NumPy() -> World:
    def f(x: Any, s: Any) -> Any:
        return x * s + float(s)

    return f, [(x(), np.float64(k)) for k in (1, 2, np.nan, -0.0, 0.0)], []


@world("65536 bytes")
def more_than_is_compared() -> World:
    A = np.ones(20_000)

    def f(x: Any) -> Any:
        A[0] += 1
        return x * A.sum()

    return f, [(x(),)] * 3, []


@world(None)
def a_large_operand() -> World:
    A = np.ones(20_000)

    def f(x: Any) -> Any:
        return (wg.from_numpy(A) * x.sum()).sum() * A.shape[0]

    return f, [(x(k),) for k in range(3)], []


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:.*given NumPy array is not writable")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", WORLDS)
def test_what_NumPy_does_is_done_in_each_call(name: str, backend: str) -> None:
    make, reason = WORLDS[name]
    stories = []
    for way in (None, backend):
        function, calls, state = make()
        used: Any = function
        if way is not None:
            used = wg.compile(function, backend=way, options=STRICT)
        stories.append([(str(used(*args)), str(args), str(state)) for args in calls])
    assert stories[0] == stories[1]
    found = None if used.reason is None else str(used.reason)
    assert (found is None) if reason is None else (found is not None and reason in found)


@pytest.mark.parametrize("backend", BACKENDS)
def test_operands_of_ours_are_inputs_of_one_trace(backend: str) -> None:
    compiled = wg.compile(lambda x, A: x * A, backend=backend, options=STRICT)
    for k in range(20):
        assert compiled(x(), np.full(2, float(k))).tolist() == [k, 2 * k]
    assert compiled.explain().traces == 1


def test_arrays_are_not_kept_alive() -> None:
    compiled = wg.compile(lambda x, A: x * A[0], backend="numpy", options=STRICT)
    given = np.arange(2.0)
    compiled(x(), given)
    alive = weakref.ref(given)
    del given
    gc.collect()
    assert alive() is None
