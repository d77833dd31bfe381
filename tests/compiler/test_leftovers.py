"""Test that no tracing object remains in the state of a function."""

from __future__ import annotations

import collections
import functools
import gc
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.compiler.tracing import leftovers
from wengert.compiler.tracing.leftovers import full_collections, instances
from wengert.compiler.tracing.scalar import Scalar
from wengert.compiler.tracing.sym import Sym

pytestmark = pytest.mark.filterwarnings("ignore:.*is not compiled")
BACKENDS = ["numpy", "llvm"]


KINDS = {Sym, Scalar, *Scalar.__subclasses__()}


def left() -> list[Any]:
    """What of traces is alive."""
    gc.collect()
    # by type: they say that they are numbers
    return [thing for thing in gc.get_objects() if type(thing) in KINDS]


class Slots:
    __slots__ = ("a",)


class Keeps(wg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.number = x.sum().item()
        ctx.tensor = x * 2
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.number


class Point(collections.namedtuple("Point", "a b")):
    pass


def in_cell(kept: list[Any], v: Any, t: Any) -> None:
    kept.append(lambda: v)


def in_generator(kept: list[Any], v: Any, t: Any) -> None:
    def values() -> Any:
        w = v * 2
        while True:
            yield w

    kept.append(values())
    next(kept[-1])


def in_default(kept: list[Any], v: Any, t: Any) -> None:
    def values(w: Any = v) -> Any:
        return w

    kept.append(values)


def in_slot(kept: list[Any], v: Any, t: Any) -> None:
    made = Slots()
    made.a = (v, t)
    kept.append(made)


HOLDERS: dict[str, Callable[[list[Any], Any, Any], Any]] = {
    "list": lambda kept, v, t: kept.append(v),
    "tuple": lambda kept, v, t: kept.append((v, (v, [v]))),
    "named tuple": lambda kept, v, t: kept.append(Point(v, (v,))),
    "dict": lambda kept, v, t: kept.append({v: v}),
    "ordered dict": lambda kept, v, t: kept.append(collections.OrderedDict([(1, 2), (v, v)])),
    "set": lambda kept, v, t: kept.append({v, 1.5}),
    "frozenset": lambda kept, v, t: kept.append(frozenset({v, (v,)})),
    "deque": lambda kept, v, t: kept.append(collections.deque([v, v], 5)),
    "namespace": lambda kept, v, t: kept.append(types.SimpleNamespace(v=v, t=t)),
    "slot": in_slot,
    "cell": in_cell,
    "default": in_default,
    "generator": in_generator,
    "partial": lambda kept, v, t: kept.append(functools.partial(max, v, w=v)),
    "array of objects": lambda kept, v, t: kept.append(np.array([v, None], object)),
    "array": lambda kept, v, t: kept.append(np.array([v, 1.0])),
    "payload": lambda kept, v, t: kept.append((t._payload, 1)),
    "tensor": lambda kept, v, t: kept.append([t, {"a": t}]),
    "context": lambda kept, v, t: kept.append(Keeps.apply(t)),
}


def shown(kept: Any) -> Any:
    """What is in a holder, with the types of numbers as they are."""
    kind = type(kept)
    if isinstance(kept, list | tuple | set | frozenset | collections.deque):
        return kind, [shown(part) for part in kept]
    if isinstance(kept, dict):
        return kind, [(shown(key), shown(part)) for key, part in kept.items()]
    if isinstance(kept, types.SimpleNamespace):
        return shown(vars(kept))
    if isinstance(kept, functools.partial):
        return shown((kept.args, kept.keywords))
    if isinstance(kept, types.FunctionType):
        return shown(kept())
    if isinstance(kept, types.GeneratorType):
        return shown(next(kept))
    if isinstance(kept, Slots):
        return shown(kept.a)
    if isinstance(kept, np.ndarray):
        return kind, kept.dtype, kept.tolist()
    return kind, kept.tolist() if isinstance(kept, wg.Tensor) else kept


@pytest.mark.sampled(12)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("fails", [False, True], ids=["returns", "raises"])
@pytest.mark.parametrize("name", HOLDERS)
def test_what_a_function_keeps_is_real(name: str, fails: bool, backend: str) -> None:
    stories = []
    before = len(left())
    for way in (None, backend):
        kept: list[Any] = []

        def f(x: Any, kept: list[Any] = kept) -> Any:
            HOLDERS[name](kept, x.sum().item(), x * 2)
            if fails:
                raise KeyError("x")
            return x + 1

        used = f if way is None else wg.compile(f, backend=way)
        for k in range(5):
            x = wg.tensor([1.0 + k, 2.0], dtype=wg.float64, requires_grad=True)
            try:
                used(x)
            except KeyError:
                assert fails
        stories.append(shown(kept))
    assert stories[0] == stories[1]
    assert len(left()) == before


def test_the_search_keeps_nothing_alive() -> None:
    """What is made before a first call goes with its last reference, without the collector."""
    holder = types.SimpleNamespace(count=0)

    def f(x: Any) -> Any:
        holder.count += 1
        return x * holder.count

    gc.collect()
    gc.disable()
    try:
        other = Slots.__new__(type("Other", (Slots,), {"__slots__": ("__weakref__",)}))
        known = weakref.ref(other)
        wg.compile(f)(wg.ones(3))
        del other
        assert known() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("nested", [False, True])
def test_object_arrays_are_searched_only_for_what_is_in_them(
    nested: bool, monkeypatch: Any
) -> None:
    """A tuple that was replaced holds the number still, but nothing holds the tuple."""
    searched, search = [], leftovers._replace_in_arrays
    monkeypatch.setattr(
        leftovers, "_replace_in_arrays", lambda real: (searched.append(len(real)), search(real))
    )
    kept: list[Any] = []
    array = np.zeros(1, object)

    @wg.compile
    def f(x: Any) -> Any:
        number = x.sum().item()
        kept.append((number,))
        if nested:
            array[0] = number
        return x * 2

    f(wg.ones(3))
    assert kept == [(3.0,)] and type(kept[0][0]) is float
    assert len(searched) == nested and array[0] == 3 * nested
    assert type(array[0]) in (int, float)


def test_what_is_new_is_found_whether_the_collector_has_run_or_not() -> None:
    since = full_collections()
    made = Slots()
    made.a = None
    for _ in range(3):
        assert instances(Slots, since=since) == [made]
        gc.collect()


@pytest.mark.parametrize("backend", BACKENDS)
def test_shapes_and_numbers_are_returned_as_they_are(backend: str) -> None:
    def f(x: Any) -> Any:
        total = x.sum().item()
        return x.shape, total, {"a": x.size(), "b": [total, (total,)]}, x[x > 0].shape

    compiled = wg.compile(f, backend=backend)
    for x in (wg.tensor([1.0, -2.0]), wg.tensor([3.0, 4.0]), wg.tensor([5.0, -4.0])):
        assert shown(list(compiled(x))) == shown(list(f(x)))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="generations are others there")
@pytest.mark.parametrize("writes", [False, True])
def test_a_trace_that_ends_looks_through_what_it_made(monkeypatch: Any, writes: bool) -> None:
    asked = []
    real = gc.get_objects

    def listed(*generation: int) -> Any:
        asked.append(generation)
        return real(*generation)

    w, kept = wg.ones(3), []

    def f(x: Any) -> Any:
        kept.append(x * 2)
        if writes:
            w.add_(x)
        return x * len(x.numpy())

    compiled = wg.compile(f, backend="numpy")
    gc.collect()
    monkeypatch.setattr(gc, "get_objects", listed)
    compiled(wg.ones(3))
    assert compiled.reason is not None
    assert asked
    assert ((None,) in asked) is writes
    assert kept[0].tolist() == [2, 2, 2]
