"""Test state and numbers that reach a function in unusual ways.

Each program is called several times, compiled and uncompiled, while its state changes in between;
its results and side effects must be equal.
"""

from __future__ import annotations

import contextlib
import functools
import math
import statistics
import types
import typing
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import wengert as wg

STATE = types.SimpleNamespace(log=[], factor=1.0, count=0)
W = wg.ones(2, dtype=wg.float64, requires_grad=True)
SHOWN = wg.ones(2, dtype=wg.float64)


@contextlib.contextmanager
def guarded() -> typing.Iterator[float]:
    STATE.log.append("in")
    yield STATE.factor
    STATE.log.append("out")


class Entered(contextlib.ContextDecorator):
    def __enter__(self) -> None:
        STATE.log.append("enter")

    def __exit__(self, *info: object) -> None:
        STATE.log.append("exit")


@Entered()
def decorated(x):
    return x * STATE.factor


@functools.singledispatch
def dispatched(x):
    STATE.log.append("called")
    return x * STATE.factor


def managed(x):
    with guarded() as factor:
        return x * factor


def of_one_gradient(x):
    W.grad.mul_(2).add_(x)
    return x + SHOWN


def on_bits(x):
    STATE.count += 1
    n = STATE.count
    return x * ((n << 1) ^ (n & 1) | (9 >> n)), ~n, n.imag, wg.ones(n + 1).shape


def of_its_type(x):
    return x * 2, type(x.sum().item()) is float


def averaged(x):
    return statistics.mean([x.sum().item(), 1.0])


class Counted:
    def __init__(self, part) -> None:
        self.part = part

    def __del__(self) -> None:
        STATE.log.append("gone")


def decided(x):
    while x.sum() < 5:
        x = x * x + 1
    return x


def of_a_dropped_tensor(x):
    y = W * x
    known = weakref.ref(y)
    x = decided(x) + y.sum()
    del y
    return x * (1 if known() is None else 2)


def of_a_dropped_object(x):
    held = Entered()
    held.part = x  # type: ignore[attr-defined]
    known = weakref.WeakValueDictionary(one=held)
    x = decided(x)
    del held
    return x * len(known)


def of_an_end(x):
    held = Counted(x)
    x = decided(x)
    del held
    STATE.log.append("after")
    return x


def of_a_reference(x):
    HELD[:] = [] if STATE.factor > 1 else HELD
    return x if REFERENCE() is None else -x


def of_more_memory(x):
    STATE.count += 1
    GROWING.resize_(2 + STATE.count).fill_(1.0)
    return x * GROWING.sum()


def of_a_longer_array(x):
    STATE.count += 1
    LONGER.resize(2 + STATE.count)
    return x * len(LONGER)


HELD: list[object] = []
REFERENCE: object = None
GROWING = wg.ones(2, dtype=wg.float64)
LONGER = np.ones(2)


PROGRAMS: list[Callable[..., object]] = [
    managed,
    decorated,
    dispatched,
    of_one_gradient,
    on_bits,
    of_its_type,
    averaged,
    of_a_dropped_tensor,
    of_a_dropped_object,
    of_an_end,
    of_a_reference,
    of_more_memory,
    of_a_longer_array,
    lambda x: math.sqrt(x.sum()),
    lambda x: (x * 2, math.hypot(x[0].item(), 3), float(x[1])),
    lambda x: np.float64(x[0].item()),
]


def seen(function: Callable[..., object]) -> list[str]:
    STATE.log, STATE.factor, STATE.count = [], 1.0, 0
    W.grad = wg.ones(2, dtype=wg.float64)
    globals()["SHOWN"] = W.grad
    HELD[:] = [wg.ones(2)]
    globals()["REFERENCE"] = weakref.ref(HELD[0])
    globals()["GROWING"] = wg.ones(2, dtype=wg.float64)
    globals()["LONGER"] = np.ones(2)
    found = []
    for turn in range(5):
        found.append(repr(function(wg.tensor([turn + 0.5, 2.0], dtype=wg.float64))))
        found.append(repr((STATE.log, STATE.count, W.grad, SHOWN)))
        if turn % 2:
            STATE.factor += 1
        if turn == 2:
            # SHOWN and the gradient are two tensors from here on
            W.grad = wg.zeros(2, dtype=wg.float64)
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f"{f.__name__}-{f.__code__.co_names}")
def test_compiled_it_sees_what_it_sees_uncompiled(program: Callable[..., object]) -> None:
    compiled = wg.compile(program, backend="numpy", options={"measure": False, "quiet": True})
    assert seen(compiled) == seen(program)


def of(backward: Callable[..., object]) -> type[wg.autograd.Function]:
    """A Function that doubles, with its own backward pass."""
    body = {"forward": staticmethod(lambda ctx, a: a * 2), "backward": staticmethod(backward)}
    return type("Doubled", (wg.autograd.Function,), body)


def counting(ctx, g):
    STATE.count += 1
    return g * STATE.count


def noting(ctx, g):
    STATE.log.append("backward")
    return g * 2


def writing(ctx, g):
    W.data.add_(g)
    return g * 2


def raising(ctx, g):
    raise ValueError("there is no derivative")


def straight(ctx, g):
    made = g.clone()
    made[made > 3] = 0
    return made.clamp_(-1, 1)


def packed(x):
    with wg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (STATE.log.append(1), t)[1]):
        return x * x


BACKWARD: list[tuple[Callable[..., object], bool]] = [
    *((of(rule).apply, False) for rule in (counting, noting, writing)),
    (of(lambda ctx, g: g * wg.rand(2, dtype=wg.float64)).apply, False),
    (packed, False),
    (of(straight).apply, True),
    (of(raising).apply, False),
]


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize(("function", "compiles"), BACKWARD, ids=range(len(BACKWARD)))
def test_code_of_a_backward_pass_runs_where_somebody_asks_for_one(function, compiles, asked):
    def told(call: Callable[..., object]) -> list[str]:
        STATE.log, STATE.count = [], 0
        W.data = wg.ones(2, dtype=wg.float64)
        wg.manual_seed(0)
        found = []
        for turn in range(4):
            x = wg.tensor([turn + 0.5, 2.0], dtype=wg.float64, requires_grad=True)
            y = call(x)
            try:
                if asked:
                    (y * y).sum().backward()
            except ValueError as error:
                found.append(str(error))
            found.append(repr((y.tolist(), x.grad, STATE.log, STATE.count, W, wg.rand(1))))
        return found

    def plain(x):
        return function(x * 1)

    compiled = wg.compile(plain, backend="numpy", options={"measure": False, "quiet": True})
    assert told(compiled) == told(plain)
    assert (compiled.reason is None) is compiles


def test_a_trace_keeps_no_memory_of_tensors_that_it_was_made_with():
    held = wg.ones(3)
    compiled = wg.compile(lambda x: x * held.sum(), backend="numpy", options={"measure": False})
    compiled(wg.ones(3))
    # which refuses where others hold the memory
    held.resize_(5)[:] = 2.0
    assert compiled(wg.ones(3)).tolist() == [10.0] * 3
