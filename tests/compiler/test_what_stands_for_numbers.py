"""Test that code which can tell a number from its traced proxy gets the number."""

import datetime
import itertools
import math
import operator
import types

import numpy as np
import pytest

import wengert as wg

SINGLE = np.ones(2, np.float32)
SECOND = datetime.timedelta(seconds=1)
ADD, WHERE, KIND, SCALE = float.__add__, np.where, type, (1.5).__mul__
ASKS = {
    "a method of a class": lambda x, n: x * float.__add__(1.0, n),
    "a method of a constant": lambda x, n: x * (1.0).__rsub__(n),
    "a method by another name": lambda x, n: x * ADD(2.0, n),
    "a bound method by another name": lambda x, n: x * SCALE(n),
    "a method by its name": lambda x, n: x * operator.methodcaller("__add__", n)(2.0),
    "a power with a modulus": lambda x, n: x * pow(2, n, 5) if isinstance(n, int) else x,
    "a type by another name": lambda x, n: x * (3 if KIND(n) is float else 4),
    "types as keys": lambda x, n: x * {float: 3, int: 4}[type(n)],
    "a function of C": lambda x, n: x * math.ldexp(2.0, n) if isinstance(n, int) else x,
    "a counter": lambda x, n: x * next(itertools.count(1j, n)).imag,
    "weak numbers of NumPy": lambda x, n: wg.from_numpy(np.where(SINGLE > 0, SINGLE, n)),
    "a choice by another name": lambda x, n: wg.from_numpy(WHERE(SINGLE > 0, SINGLE, n)),
    "a dtype of NumPy": lambda x, n: x * len(np.result_type(np.float32, n).name),
    "a duration": lambda x, n: x * (SECOND * n + n * SECOND).total_seconds(),
    "a field of what is read only": lambda x, n: x * (slice(None, n).stop + 1),
}


def of_elements(ask):
    return lambda x, y: ask(x, y.item())


def of_counters(ask):
    held = types.SimpleNamespace(n=0)

    def function(x, y):
        held.n = held.n + 1 if y.dtype is wg.int64 else held.n + 0.5
        return ask(x, held.n)

    return function


@pytest.mark.parametrize("make", [of_elements, of_counters])
@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
@pytest.mark.filterwarnings("ignore")
def test_numbers_are_numbers_where_somebody_may_ask(ask, make):
    plain = make(ask)
    compiled = wg.compile(make(ask), backend="numpy", options={"measure": False})
    for number in (2, 3, 4, 2.0, 3.5, 2.25):
        x, y = wg.ones(2), wg.tensor(number, dtype=wg.int64 if number is int(number) else None)
        wanted, found = plain(x, y), compiled(x, y)
        assert found.dtype is wanted.dtype
        assert wg.equal(found, wanted)


def test_numbers_that_are_left_in_slices_are_numbers():
    kept = []

    def function(x):
        kept.append(slice(None, x.item()))
        return x * 2

    f = wg.compile(function, backend="numpy", options={"measure": False, "quiet": True})
    for k in range(3):
        f(wg.tensor(k + 0.5, dtype=wg.float64))
    assert [type(part.stop) for part in kept] == [float] * 3
    assert [part.stop for part in kept] == [0.5, 1.5, 2.5]


def test_values_are_returned_beside_subclasses_that_override_functions():
    class Seen(wg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    assert type(wg.ones(2).as_subclass(Seen) + 1) is Seen
    for read in (lambda x: (x * 2).numpy(), lambda x: float(x.sum()), lambda x: x.sum().item()):
        compiled = wg.compile(read)
        for k in range(12):
            compiled(wg.ones(3) * k)
        assert compiled.reason is None or "not quicker" in compiled.reason.what


@pytest.mark.filterwarnings("ignore:.* is not compiled, but runs as it is")
def test_a_number_that_outlives_its_trace_where_nothing_finds_it_is_plain_to_numpy():
    held = []

    def f(x):
        held.append(itertools.repeat(x[0].item()))
        return x * 2

    wg.compile(f, backend="numpy")(wg.tensor([3.0, 1.0]))
    number = next(held[0])
    assert (np.ones(2) * number).tolist() == [3.0, 3.0]
    assert np.add(number, number) == 6.0
