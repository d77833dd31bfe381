"""Two worlds with equal state: one runs a function uncompiled, the other compiled."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import wengert as wg
from wengert.base.containers import flatten
from wengert.compiler import Compiled

STRICT = {"measure": False}
World = tuple[Callable[..., Any], Callable[[], Iterable[tuple[Any, ...]]], Any]
"""A function, what it is called with, one call after the other, and what else it may change."""


def randn(*shape: int, **options: Any) -> Any:
    """Double-precision numbers from the stream that both worlds start again."""
    return wg.randn(shape, dtype=wg.float64, **options)


def seen(leaf: Any) -> Any:
    """What can be told of a leaf."""
    if not isinstance(leaf, wg.Tensor):
        return leaf
    gradient = None if leaf._ext is None else leaf._ext.grad
    return (
        leaf.detach().numpy().copy(),
        None if gradient is None else gradient.detach().numpy().copy(),
        (leaf.dtype, tuple(leaf.shape), leaf.requires_grad, type(leaf)),
    )


def run(world: Callable[[], World], backend: str | None) -> tuple[list[list[Any]], Any]:
    """Everything that can be seen after each call, and the compiled function if there is one."""
    wg.manual_seed(0)
    np.random.seed(0)
    function, calls, state = world()
    used: Any = function
    if backend is not None:
        used = wg.compile(function, backend=backend, options=STRICT)
    story = []
    for args in calls():
        try:
            result = used(*args)
        except Exception as error:
            result = (type(error), str(error))
        leaves = [*flatten(result)[0], *flatten(state)[0], *flatten(args)[0]]
        story.append([seen(leaf) for leaf in leaves])
    return story, used


def same(one: Any, other: Any) -> bool:
    """Whether two things that were seen are equal, numbers up to rounding."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        exact = one.dtype.kind not in "fc"
        close = np.allclose(one, other, rtol=1e-10, atol=1e-12, equal_nan=True)
        return bool(np.array_equal(one, other) if exact else close)
    if isinstance(one, float) and isinstance(other, float):
        return one == other or abs(one - other) <= 1e-10 * abs(one) or (one != one != other)
    return type(one) is type(other) and bool(one == other)


def compare(world: Callable[[], World], backend: str) -> Compiled:
    """Check that both worlds have the same story; gives the compiled function."""
    expected, _ = run(world, None)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is not compiled, but runs as it is")
        found, compiled = run(world, backend)
    assert len(found) == len(expected)
    for call, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        assert len(ours) == len(theirs), f"call {call}"
        for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            assert same(one, other), f"call {call}, leaf {i}: {one!r} instead of {other!r}"
    assert isinstance(compiled, Compiled)
    return compiled
