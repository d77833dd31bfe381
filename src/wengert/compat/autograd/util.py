"""Layer 9 · compat: tuples with some values replaced."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from wengert.tape.sites import warn

__all__ = ["func", "subval", "subvals", "toposort"]

_OLD = {"flatten": "misc.flatten", "flatten_func": "misc.flatten", "getval": "tracer"}
"""The current modules of the names that old programs import from here."""


def subvals(x: Sequence[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """Return `x` as a tuple, with other values at some positions.

    Examples
    --------
    >>> from wengert.compat.autograd.util import subvals
    >>> subvals((1, 2, 3), [(0, "a"), (2, "c")])
    ('a', 2, 'c')
    """
    made = list(x)
    for i, value in ivs:
        made[i] = value
    return tuple(made)


def subval(x: Sequence[Any], i: int, v) -> tuple[Any, ...]:
    """Return `x` as a tuple, with another value at one position."""
    return subvals(x, [(i, v)])


def func(f) -> Any:
    """Return `f` itself."""
    return f


def toposort(
    end_node, parents: Callable[[Any], Iterable[Any]] = attrgetter("parents")
) -> Iterator[Any]:
    """Yield the nodes that lead to one, each before its parents.

    Examples
    --------
    >>> from wengert.compat.autograd.util import toposort
    >>> edges = {"d": ["b", "c"], "b": ["a"], "c": ["a"], "a": []}
    >>> list(toposort("d", edges.get))
    ['d', 'c', 'b', 'a']
    """
    counts: dict[Any, int] = {}
    stack = [end_node]
    while stack:
        node = stack.pop()
        if node in counts:
            counts[node] += 1
        else:
            counts[node] = 1
            stack.extend(parents(node))
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            if counts[parent] == 1:
                ready.append(parent)
            else:
                counts[parent] -= 1


def quick_grad_check(
    fun: Callable[..., Any],
    arg0,
    extra_args: Sequence[Any] = (),
    kwargs: dict[str, Any] | None = None,
    **_,
) -> None:
    """Check the gradient of `fun` in its first argument; an old name for `test_util.check_grads`.

    Raises
    ------
    AssertionError: If it differs from finite differences.
    """
    warn(
        "The quick_grad_check function is deprecated. Write "
        "autograd.test_util.check_grads(fun, modes=['rev'], order=1)(arg0)",
        UserWarning,
    )
    check_grads = importlib.import_module("wengert.compat.autograd.test_util").check_grads

    def of_one(x) -> Any:
        return fun(x, *extra_args, **(kwargs or {}))

    check_grads(of_one, modes=["rev"], order=1)(arg0)


def __getattr__(name: str) -> Any:
    """Return a name that old programs import from here."""
    if name in _OLD:
        home = importlib.import_module(f"wengert.compat.autograd.{_OLD[name]}")
        return getattr(home, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
